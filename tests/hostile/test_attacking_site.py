"""One site that attacks with everything at once: crawl and pick finish, say what they refused, and leave valid files."""

from __future__ import annotations

import csv
import gzip
import json
import re
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from patience import HANG_S
from servers import CHUNKED, HEAD, Page, Silent, Site, cut, kept, pour

from honeyguide.adapters.http.client import HttpFetcher
from honeyguide.core.url.url import Url
from honeyguide.ports.fetch import Fetched
from honeyguide.testing.fakes import Script, drip

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only there is 127.0.0.2 a machine"),
    pytest.mark.usefixtures("public_2"),
]

PROSE = " ".join(f"We inspect, repair and explain matter {n}." for n in range(12))
TITLES = {
    "/services/ansi": "\x1b[2J\x1b]0;owned\x07\x1b[31mServices\x1b[8m",
    "/services/formula": "=HYPERLINK(&quot;http://evil.example&quot;,&quot;Services&quot;)",
    "/services/at": "@SUM(1+1)*cmd|' /C calc'!A0",
    "/services/plus": "+1-1",
    "/services/minus": "-1+1\t=1",
    "/services/markup": "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;",
    "/services/bidi": "\u202egnp.exe\u2066\u200bServices",
    "/services/markdown": "](javascript:alert(1)) `---` # Services\n---\ntitle: owned",
    "/services/long": "Services " * 120_000,
    "/services/lines": "a\r\nb\u2028c\u0085d",
}
NAMES = [
    "..%2f..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/up", "....//....//up", "C:%5CWindows%5Csystem.ini", "con", "nul.txt",
    "aux.html", "-rf", ".ssh/authorized_keys", "a%00b", "%0d%0aSet-Cookie:%20x", "x" * 240, "y" * 1500, "tab%09name",
    "dot.", "space%20", "%f0%9f%92%a9", "%ff%fe", "UPPER", "upper", "a:b", "a*b", "%1b%5b2J",
]  # fmt: skip


def page(title: str, body: str = PROSE, *links: str) -> bytes:
    listed = "".join(f'<li><a href="{link}">{link}</a>' for link in links)
    return kept(
        f"<title>{title}</title><h1>{title[:99]}</h1><main><p>{body}<ul>{listed}</ul>".encode(
            "utf-8", "surrogatepass"
        )
    )


def moved(to: str) -> bytes:
    return kept(b"", f"Location: {to}").replace(b"200 OK", b"302 Found")


def bombs() -> dict[str, Page]:
    """What is too large, too slow, or no answer at all."""
    packed = "Content-Encoding: gzip"
    return {
        "/about/bomb": kept(gzip.compress(bytes(30_000_000), 1), packed),
        "/about/broken-gzip": kept(b"\x1f\x8b\x08 no", packed),
        "/about/broken-br": kept(b"no brotli", "Content-Encoding: br"),
        "/about/nested": kept(gzip.compress(gzip.compress(b"x")), "Content-Encoding: gzip, gzip"),
        "/about/endless": pour(HEAD + b"\r\n", b"x" * 65_536),
        "/about/extension": pour(CHUNKED + b"2;a=", b"b" * 65_536),
        "/about/interim": pour(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 999),
        "/about/headers": pour(HEAD, b"X: y\r\n"),
        "/about/drip": drip(HEAD + b"\r\n", b"x", every_s=0.05),
        "/about/reset": cut(HEAD + b"Content-Length: 99\r\n\r\nx"),
        "/about/chunk": cut(CHUNKED + b"zz\r\n"),
        "/about/not-http": _raw(b"SSH-2.0-OpenSSH_9\r\n\r\n"),
        "/about/two": _raw(kept(PROSE.encode()) + kept(b"<title>poison</title>")),
        "/about/picture": kept(b"\x89PNG\r\n\x1a\n" + bytes(99)),
        "/about/pdf": kept(b"%PDF").replace(b"text/html", b"application/pdf"),
        "/about/utf7": kept(b"+ADw-script+AD4-alert(1)").replace(b"text/html", b"text/html; charset=utf-7"),
        "/about/codec": kept(b"\\x3cscript").replace(b"text/html", b"text/html; charset=unicode_escape"),
        "/about/utf16": kept("<title>wide</title>".encode("utf-16-be")),
        "/about/bytes": kept(b"<title>\xff\xfe\xc3\x28</title>" + PROSE.encode() + b"\xed\xa0\x80"),
    }


def _raw(data: bytes) -> Script:
    async def script(writer: Any) -> None:
        writer.write(data)
        await writer.drain()

    return script


def traps(inside: str) -> dict[str, Page]:
    """What leads astray, or inwards, or nowhere."""
    return {
        "/contact/loop": moved("/contact/loop"),
        **{f"/contact/chain{n}": moved(f"/contact/chain{n + 1}") for n in range(12)},
        "/contact/private": moved(f"{inside}/secret"),
        "/contact/metadata": moved("http://169.254.169.254/latest/meta-data/"),
        "/contact/mail": moved("http://127.1:25/"),
        "/contact/script": moved("javascript:alert(1)"),
        "/contact/huge": moved("/" + "a" * 10**6),
        "/contact/base": kept(f'<base href="{inside}/"><a href="x">inside</a>{PROSE}'.encode()),
        "/contact/refresh": kept(f'<meta http-equiv=refresh content="0;url={inside}/">'.encode()),
        "/contact/circle": page("Circle", PROSE, *(f"/contact/circle{'/a/b' * n}" for n in range(30))),
        **{f"/calendar/{n}": page(f"Month {n}", "Nothing.", f"/calendar/{n + 1}") for n in range(60)},
    }


def large() -> dict[str, Page]:
    """What is a page, and more of it than anybody needs."""
    many = "".join(f"<a href=/far/{n % 5_000}>x</a>" for n in range(100_000))
    return {
        "/many": kept(f"<title>Many</title>{PROSE}{many}".encode()),
        "/deep": kept(f"<title>Deep</title>{PROSE}{'<div>' * 100_000}".encode()),
        "/fonts": kept(f"<title>Fonts</title>{PROSE}{'<font size=1>' * 9_000}{'<p>x' * 9_000}".encode()),
        "/attributes": kept(f"<title>Attributes</title>{PROSE}<a {'x=y ' * 99_999} href=/z>".encode()),
    }


def attacker(inside: str) -> dict[str, Page]:
    """Put the whole site together."""
    names = {f"/files/{name}": page(f"File {n}", f"{PROSE} {n}") for n, name in enumerate(NAMES)}
    titles = {path: page(title, f"{PROSE} {path}") for path, title in TITLES.items()}
    pages = {**titles, **names, **bombs(), **traps(inside), **large()}
    links = [
        *(path for path in pages if not re.search(r"chain[1-9]|calendar/[1-9]", path)),
        "/../../../etc/passwd",
        "/forbidden/x",
    ]
    links += [
        f"{inside}/link",
        "http://169.254.169.254/",
        "http://[::1]/",
        "file:///etc/passwd",
        "data:text/html,x",
        "http://a b/",
    ]
    robots = (
        b"\xef\xbb\xbf\0\x1b[2JGarbage\nDisallow: /\nUser-agent: *\nCrawl-delay: nan\nDisallow: /forbidden\nDisallow: *%\n"
        + f"Sitemap: {inside}/s.xml\nSitemap: /bomb.xml.gz\nSitemap: /map.xml\nSitemap: javascript:x\n".encode()
        + b"Nonsense: \xff\n" * 9_999
    )
    listed = "".join(
        f"<url><loc>{url}</loc><lastmod>9999-99-99</lastmod></url>"
        for url in ("/services/ansi", f"{inside}/map", "/" + "a" * 3_000, "&lol;")
    )
    sitemap = f'<!DOCTYPE x [<!ENTITY lol "lol">]><urlset>{listed}</urlset><sitemap><loc>/map.xml</loc></sitemap><sitemap><loc>/gone.xml</loc></sitemap>'
    return {
        **pages,
        "/": page("Home \x1b[31m&lt;b&gt;", PROSE, *links),
        "/robots.txt": kept(robots),
        "/map.xml": kept(sitemap.encode()),
        "/bomb.xml.gz": kept(gzip.compress(b" " * 20_000_000, 1)),
    }


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def check_files(folder: Path) -> None:
    """Nothing outside of the folder, and inside it only plain files of the names that were asked for."""
    assert {entry.name for entry in folder.iterdir()} == {
        "honeyguide.db", "pages.jsonl", "pages.csv", "out.warc.gz", "md", "picks.jsonl", "picks.csv", "picks.html",
        "picks.md", "crawl.html", "plan.html", "plan.jsonl",
    }  # fmt: skip
    files = list((folder / "md").rglob("*"))
    assert len(files) > 20
    for file in files:
        assert file.resolve().is_relative_to((folder / "md").resolve())
        assert not file.is_symlink()
        assert re.fullmatch(r"[\w.%~=+,()@-]{1,240}", file.name, re.ASCII), file.name
        assert not file.name.startswith((".", "-"))


def check_tables(folder: Path) -> None:
    for name in ("pages.csv", "picks.csv"):
        with (folder / name).open(encoding="utf-8", newline="") as file:
            table = list(csv.reader(file))
        assert len(table) > 1
        assert {len(row) for row in table} == {len(table[0])}
        for cell in (cell for row in table[1:] for cell in row):
            assert not cell.startswith(("=", "+", "@", "\t", "\r")), cell[:80]
            assert not re.match(r"-(?!\d+(\.\d+)?$)", cell), cell[:80]


def check_store(folder: Path, pages: list[dict[str, Any]]) -> None:
    with closing(sqlite3.connect(folder / "honeyguide.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("SELECT count(record) FROM visit").fetchone() == (len(pages),)


def check_warc(folder: Path) -> None:
    archive = pytest.importorskip("warcio.archiveiterator")  # an extra
    with (folder / "out.warc.gz").open("rb") as file:
        kinds = Counter(record.rec_type for record in archive.ArchiveIterator(file))
    assert kinds["response"] > 20


def check_parquet(run: Callable[..., Result], folder: Path, pages: list[Any]) -> None:
    pl = pytest.importorskip("polars")  # an extra
    for what in ("pages", "links", "external", "out"):
        result = run("export", what, "-o", f"{what}.parquet")
        assert result.exit_code == 0, result.output
    assert pl.read_parquet(folder / "pages.parquet")["url"].to_list() == [page["url"] for page in pages]


def check_report(text: str) -> None:
    assert "Content-Security-Policy" in text
    assert "<script>alert" not in text
    assert "onerror=alert" not in text.replace("&lt;img src=x onerror=alert", "")
    assert text.rstrip().endswith("</html>")


@pytest.fixture
def _short_for_drip(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait a moment for the page that never ends, and as long as it takes for all others."""
    fetch = HttpFetcher.fetch

    async def chosen(self: HttpFetcher, url: Url, **settings: Any) -> Fetched:
        limit_s = 0.3 if url.path == "/about/drip" else HANG_S
        policy = replace(self._policy, total_timeout_s=limit_s, head_timeout_s=limit_s)
        self._policy = policy  # `fetch` reads it before it waits for anything
        return await fetch(self, url, **settings)

    monkeypatch.setattr(HttpFetcher, "fetch", chosen)


@pytest.mark.slow
@pytest.mark.usefixtures("_short_for_drip")
def test_crawl_and_pick_of_a_site_that_attacks_with_everything(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    manners = ("--delay", "0", "--retries", "0")
    with Silent() as silent:
        site = Site(attacker(f"http://127.0.0.1:{silent.port}"), host="127.0.0.2")
        with site.served() as home:
            whole = (
                "--traversal",
                "bfs",
                "--sitemap",
                "auto",
                "--max-pages",
                "170",
                "--follow-external",
                "20",
            )
            kept_in = (
                "-o",
                "pages.jsonl",
                "--markdown",
                "md",
                "--warc",
                "out.warc.gz",
                "--report",
                "crawl.html",
            )
            crawled = run("crawl", f"{home}/", *whole, *kept_in, *manners)
            picked = run(
                "pick", f"{home}/", "--cap", "40", "-o", "picks.jsonl", "--report", "picks.html", *manners
            )
            again = ("--exclude", "many|drip", "-o", "picks.csv", "--report", "picks.md")  # once is enough
            table = run("pick", f"{home}/", "--cap", "40", *again, *manners)
            exported = run("export", "pages", "-o", "pages.csv")
            planned = run("plan", "--store", "honeyguide.db", "--report", "plan.html", "-o", "plan.jsonl")
            explained = [run("explain", f"{home}{path}") for path in ("/contact/private", "/about/drip")]
    outputs = [crawled, picked, table, exported, planned, *explained]
    assert [one.exit_code for one in outputs if one.exit_code not in (0, 3)] == [], [
        one.output for one in outputs
    ]
    for one in outputs:
        assert "\x1b" not in one.output
        assert "Traceback" not in one.output
        assert "internal error" not in one.output
    assert silent.knocks == []
    assert not any("/forbidden" in path for path in site.paths)

    pages = rows(tmp_path / "pages.jsonl")
    ended = {
        page["url"].partition(site.root)[2]: page["points"][-1]["rule"]
        for page in pages
        if page["action"] == "dropped"
    }
    assert {path: rule for path, rule in ended.items() if path in EXPECTED} == EXPECTED
    for rule in ("too-large", "not-text", "unreachable", "address-refused", "forbidden"):
        assert re.search(rf"^\s+\d+  {rule} ", crawled.output, re.MULTILINE), crawled.output
    refused = (
        r"address-refused: redirects to http://\S+/secret: its address is not on the public web \(loopback\)"
    )
    assert re.search(refused, explained[0].output)
    assert "timed-out: not finished in time" in explained[1].output  # and queued again
    assert not any("poison" in (page["title"] or "") for page in pages)
    check_files(tmp_path)
    check_store(tmp_path, pages)
    check_tables(tmp_path)
    check_warc(tmp_path)
    for name in ("picks.html", "crawl.html", "plan.html"):
        check_report((tmp_path / name).read_text("utf-8"))
    assert rows(tmp_path / "picks.jsonl")[0]["status"] == "ok"
    check_parquet(run, tmp_path, pages)


EXPECTED = {
    "/about/bomb": "too-large",
    "/about/broken-gzip": "not-text",
    "/about/broken-br": "not-text",
    "/about/nested": "not-text",
    "/about/endless": "too-large",
    "/about/extension": "too-large",
    "/about/interim": "too-large",
    "/about/headers": "too-large",
    "/about/not-http": "unreachable",
    "/about/pdf": "not-text",
    "/contact/loop": "unreachable",
    "/contact/chain0": "unreachable",
    "/contact/private": "address-refused",
    "/contact/metadata": "address-refused",
    "/contact/mail": "address-refused",
    "/contact/script": "unreachable",
    "/contact/huge": "too-large",
}


# --- rests ---


def resting(status: str) -> Site:
    """A site of five pages, one of which asks everybody to stay away for a million years."""
    asks = kept(b"", "Retry-After: 31536000000000").replace(b"200 OK", status.encode())
    others = {f"/{name}": page(name, f"{PROSE} {name}") for name in ("a", "b", "c")}
    home = page("Home", PROSE, "/rest", *others)
    return Site({**others, "/": home, "/rest": asks, "/robots.txt": kept(b"")}, host="127.0.0.2")


def test_a_site_that_asks_for_a_million_years_is_asked_again_the_next_day(run: Callable[..., Result]) -> None:
    with resting("503 Busy").served() as home:
        crawled = run(
            "crawl", f"{home}/", "--traversal", "bfs", "--delay", "0", "--concurrency", "1", "-o", "p.jsonl"
        )
        explained = json.loads(run("explain", f"{home}/rest").output)
    assert crawled.exit_code == 3
    assert "its site asks for a pause" in crawled.output
    rest_s = datetime.fromisoformat(explained["due_at"]).timestamp() - time.time()
    assert 3_000 < rest_s <= 86_400


def test_a_page_that_is_gone_has_no_say_in_when_its_site_is_asked_again(run: Callable[..., Result]) -> None:
    site = resting("404 Gone")
    with site.served() as home:
        crawled = run(
            "crawl", f"{home}/", "--traversal", "bfs", "--delay", "0", "--concurrency", "1", "-o", "p.jsonl"
        )
    assert crawled.exit_code == 0, crawled.output
    assert {"/a", "/b", "/c"} <= set(site.paths)
