"""What the tests of the command line share: a runner, and a folder with the files that the help texts mention."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.cli.main import root
from honeyguide.config import load_profile
from honeyguide.core.url.url import Url
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.testing.fakes import FakeFetcher, FrozenClock, LoopbackServer, response

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from click.testing import Result

HOME = """<!doctype html><title>Acme Fire</title><h1>Fire alarms</h1>
<nav><a href="/services/fire-alarm-installation">Fire alarms</a> <a href="/inspection">Inspection</a>
<a href="/about/team/">Team</a></nav>
<main><p>We care. <a href="/about/team" title="Who we are">The team</a> <a href="/blog/van">Our van</a>
<a href="https://other.example/x">Elsewhere</a> <a href="/brochure.pdf">Brochure</a></p></main>
<footer><a href="/privacy">Privacy</a> <a href="/service-areas">Service areas</a> <a href="/careers">Jobs</a>
<a href="mailto:a@acme.example">Mail</a></footer>"""

KNOWN = (
    "url,visits,lastVisited,lastChanged,topicRelevance,hubDepth,isHub\n"
    "https://news.example/new,0,,,0,1,no\n"
    "https://news.example/world,150,2024-06-10T08:00:00Z,2024-06-14T22:00:00Z,0.9,1,true\n"
    "https://news.example/a/b/c,1,2024-06-15T07:30:00Z,,0.3,5,false\n"
)

DOCS = "https://docs.example.org"
TOPIC = "asyncio|coroutine"


def _doc(title: str, *links: str) -> bytes:
    text = f"All about {title}, in a few words that are its own. " * 9
    listed = " ".join(f'<a href="{link}">{link.rpartition("/")[2]}</a>' for link in links)
    return f"<title>{title}</title><h1>{title}</h1><main><p>{text}</p><p>{listed}</p></main>".encode()


MANUAL = {
    f"{DOCS}/": _doc("Manual", "/library/", "/about", "/logo.png", "https://other.example/x"),
    f"{DOCS}/library/": _doc("Library", "/library/asyncio.html", "/library/socket.html", "/gone"),
    f"{DOCS}/library/asyncio.html": _doc("asyncio", "/library/"),
    f"{DOCS}/library/socket.html": _doc("Sockets", "/library/"),
    f"{DOCS}/about": _doc("About", "/"),
}


@pytest.fixture(scope="session")
def crawled_bytes(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A store with one crawl that is complete: the one of the examples."""
    path = tmp_path_factory.mktemp("store") / "honeyguide.db"
    store = SqliteStore(path)
    crawler = Crawler(
        FakeFetcher(MANUAL), HtmlReader(), FrozenClock(), store, load_profile("docs", topic=TOPIC)
    )
    request = CrawlRequest((Url.parse(f"{DOCS}/"),), command=f"crawl {DOCS}/ --topic '{TOPIC}'")
    summary = asyncio.run(crawler.crawl(request, lambda _record, _arrival: None))
    assert summary.stopped == "complete"
    store.close()
    return path.read_bytes()


@pytest.fixture
def crawled(folder: Path, crawled_bytes: bytes) -> Path:
    """The working directory, with that store under its usual name."""
    (folder / "honeyguide.db").write_bytes(crawled_bytes)
    return folder


@pytest.fixture
def manual() -> Callable[[], LoopbackServer]:
    """A maker of servers of that site, on this machine."""
    return lambda: LoopbackServer({url.removeprefix(DOCS): response(body) for url, body in MANUAL.items()})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with one file of each kind."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home.html").write_text(HOME, "utf-8")
    (tmp_path / "notes.md").write_text(
        "See [the team](/about/team) and [mail](mailto:a@acme.example).\n", "utf-8"
    )
    (tmp_path / "urls.txt").write_text("https://Acme.example/a/\n\nhttps://acme.example/b#c\n", "utf-8")
    (tmp_path / "known.csv").write_text(KNOWN, "utf-8")
    (tmp_path / "visits.csv").write_text("address,crawled\nhttps://news.example/world,2024-06-10\n", "utf-8")
    (tmp_path / "companies.csv").write_text("name,website\nAcme,127.0.0.1:9\n", "utf-8")
    (tmp_path / "links.csv").write_text(
        "page,url,anchor\nhttps://acme.example/,/inspection,Inspection\n", "utf-8"
    )
    changes = (
        f"{page},2024-06-{day:02}T08:00:00Z\n" for page in "abc" for day in range(1, 28, ord(page) - 95)
    )
    (tmp_path / "changes.csv").write_text("page,timestamp\n" + "".join(changes), "utf-8")
    header, *rows = (line.split(",") for line in KNOWN.splitlines())
    lines = (json.dumps(dict(zip(header, row, strict=True))) for row in rows)
    (tmp_path / "known.jsonl").write_text("\n".join(lines), "utf-8")
    head = {"url": "/inspection", "title": "Fire inspection and testing", "description": None}
    (tmp_path / "heads.jsonl").write_text(json.dumps(head), "utf-8")
    profile = 'schema = 1\nextends = "company"\nname = "plumbers"\ndescription = "Plumbers."\n'
    (tmp_path / "plumbers.toml").write_text(profile, "utf-8")
    picks = {
        "site": "acme.example",
        "status": "ok",
        "selected": [{"url": "https://acme.example/inspection", "rank": 1}],
    }
    (tmp_path / "now.jsonl").write_text(json.dumps(picks), "utf-8")
    (tmp_path / "before.jsonl").write_text(json.dumps({**picks, "selected": []}), "utf-8")
    (tmp_path / "gold.jsonl").write_text(
        json.dumps({"site": "acme.example", "core": ["/inspection"]}), "utf-8"
    )
    return tmp_path


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run the command line in the folder; keyword `input` is its standard input."""
    assert folder.exists()
    monkeypatch.setenv("COLUMNS", "100")

    def runner(*args: str, **more: str | bytes) -> Result:
        return CliRunner().invoke(root, args, prog_name="honeyguide", input=more.get("input"))

    return runner


@pytest.fixture
def start(folder: Path) -> Callable[..., subprocess.Popen[bytes]]:
    """Start the program as a process of its own, for what only a real process shows."""
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUNBUFFERED": "1"}

    def starter(
        *args: str, python: Iterable[str] = (), redirect: str = "", **env: str
    ) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        command = [sys.executable, *python, "-m", "honeyguide", *args]
        if redirect:
            command = ["sh", "-c", f'exec "$@" {redirect}', "sh", *command]
        return subprocess.Popen(  # noqa: S603 - our own program
            command, cwd=folder, env={**settings, **env}, stdin=pipe, stdout=pipe, stderr=pipe
        )

    return starter
