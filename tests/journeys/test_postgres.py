"""A crawl in PostgreSQL is the crawl in SQLite, byte for byte, and nobody ever sees the password of the database."""

from __future__ import annotations

import hashlib
import json
import logging
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from postgres_server import server

import honeyguide
from honeyguide.app.runs import open_store
from honeyguide.cli.main import root as cli
from honeyguide.demo import serve_demo
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

SECRET = "not-to-be-seen"  # noqa: S105 - of the server of the tests


def made_up(pages: int) -> dict[str, bytes]:
    """Make a site: each page links a few others, some about fire, one of another site, one that is missing."""
    site = {"https://a.example/robots.txt": b"User-agent: *\nCrawl-delay: 2\n"}
    for page in range(pages):
        digest = hashlib.blake2b(str(page).encode(), digest_size=8).digest()
        links = [f"/{'fire' if number % 3 else 'plain'}/{number * 2 % pages}" for number in digest]
        links += [f"https://b{digest[0]}.example/", f"/list?a={digest[1]}&b=2&c={digest[2]}", "/gone"]
        anchors = "".join(f'<p><a href="{link}">fire {link}</a></p>' for link in links)
        words = " ".join(f"word{number} fire" for number in digest)
        body = f"<title>Page {page}</title><main><h1>Page {page}</h1><p>{words}</p>{anchors}</main>".encode()
        for kind in ("fire", "plain"):
            site[f"https://a.example/{kind}/{page}"] = body
    site["https://a.example/"] = site["https://a.example/fire/0"]
    return site


def everything(store_path: str, pages: dict[str, bytes], **settings: Any) -> str:
    """Crawl twice, resuming the second time, then read all that the store says, as text."""
    clock = FrozenClock(1_750_000_000.0)
    said: list[Any] = []
    for most in (max(1, len(pages) // 4), 500):
        crawl = honeyguide.crawl(
            "https://a.example/", topic="fire", store=store_path, max_pages=most, fetcher=FakeFetcher(pages), clock=clock,
            **settings,
        )  # fmt: skip
        said.append([page.record for page in crawl])
        assert crawl.summary is not None
        said.append(crawl.summary)
    with closing(open_store(store_path, read_only=True)) as store:
        (run,) = store.runs.list()
        ledger = store.ledger(run)
        said.append([row._replace(entry=0) for row in ledger.rows()])
        said.append([*store.history.known()])
        said.append(
            [ledger.counts(), sorted(ledger.urls_per_host().items()), run, ledger.learnt("a.example")]
        )
        digests = sorted(known.digest for known in store.history.known())
        said.append([(ledger.find(digest) or (None, None))[1] for digest in digests])
    return json.dumps(said, default=repr, indent=1)


@pytest.mark.parametrize("traversal", ["focused", "hybrid", "bfs"])
def test_one_worker_gives_the_same_as_in_sqlite(tmp_path: Path, traversal: str) -> None:
    pages = made_up(40)
    in_file = everything(str(tmp_path / "h.db"), pages, traversal=traversal)
    assert everything(server().new_database(), pages, traversal=traversal) == in_file


@pytest.mark.slow
def test_five_hundred_pages_give_the_same_as_in_sqlite(tmp_path: Path) -> None:
    pages = made_up(400)
    in_file = everything(str(tmp_path / "h.db"), pages)
    assert everything(server().new_database(), pages) == in_file
    assert in_file.count('"action"') >= 500


def run(*words: str) -> str:
    done = CliRunner().invoke(cli, words)
    assert done.exit_code in (0, 3), done.output
    return done.output


def test_the_commands_work_on_a_database_and_never_show_its_password(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    store = server().new_database()
    said: list[str] = []
    with serve_demo() as root:
        seed = [root, "--allow-private", "--delay", "0", "--topic", "fire|alarm"]
        there = ["--store", store]
        said.append(run("crawl", "-v", *seed, *there, "--max-pages", "5", "-o", str(tmp_path / "p.jsonl")))
        said.append(run("crawl", *seed, *there, "--max-pages", "9", "-o", str(tmp_path / "p.jsonl")))
        said.append(run("runs", *there, "--format", "jsonl"))
        assert json.loads(said[-1])["fetched"] == 9
        said += [run("export", what, *there) for what in ("pages", "links", "out", "external")]
        assert len(run("export", "pages", *there).splitlines()) == 9
        assert len((tmp_path / "p.jsonl").read_text().splitlines()) == 9
        said.append(run("explain", root, *there))
        said.append(run("plan", *there, "--top", "3", "--enqueue"))
        said.append(run("crawl", "--due", *there, "--allow-private", "--delay", "0"))
        said.append(
            run("watch", *there, "--allow-private", "--delay", "0", "--rounds", "1", "--per-hour", "2")
        )
        said.append(run("runs", "compact", *there))
    wrong = CliRunner().invoke(cli, ["runs", "--store", store.replace("/test_", "/missing_")])
    assert wrong.exit_code == 1
    assert "createdb" in wrong.output
    written = [path.read_text() for path in tmp_path.iterdir()]
    assert SECRET not in "".join((*said, wrong.output, caplog.text, *written))


def test_a_database_that_is_not_there_is_one_sentence() -> None:
    pytest.importorskip("psycopg")
    done = CliRunner().invoke(cli, ["runs", "--store", f"postgresql://me:{SECRET}@127.0.0.1:1/web"])
    assert done.exit_code == 1
    assert "postgresql://me@127.0.0.1:1/web" in done.output
    assert "cannot be reached" in done.output
    assert SECRET not in done.output
    assert "Traceback" not in done.output
