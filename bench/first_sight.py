"""Real crawls of sites that nobody has tuned for: `python -m bench.first_sight FOLDER… [--peers PYTHON]`.

Owns: the server, topics by lot, who takes part, the table. Must not know: how our crawl decides.
Start reading at `main`. Each FOLDER has the HTML files of one site; a file whose name has a `?` answers to that query.

Nobody's own account is trusted: what was fetched is what the server was asked, in its order; the judge is `bench.harvest.is_relevant`, and
pages that say the same count once. Topics are words of titles, drawn by their hash, so that nobody chooses them.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

from bench.crawl import our_command
from bench.harvest import is_relevant
from honeyguide import parse_page
from honeyguide.core.page.likeness import main_digest, page_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from honeyguide.core.page.page import Page

_OURS = ("focused", "focused-fixed", "hybrid", "bfs")
_PEER, _ORACLE = "Crawl4AI best-first", "greedy oracle"
_FETCHES = (100, 300)
_WORD = re.compile(r"[a-z]{5,}")
_LEAST, _MOST = 8, 0.15  # relevant pages of a topic: at least so many, at most this share of the site
_SUFFIXES = (".html", ".htm")


@dataclass(slots=True)
class Site:
    """A site in memory: bodies by target, pages by the key of their URL, what it was asked for."""

    name: str
    bodies: Mapping[str, bytes]
    asked: list[str] = field(default_factory=list)
    pages: dict[str, Page] = field(default_factory=dict)
    contents: dict[str, str] = field(default_factory=dict)
    _links: dict[str, list[str]] = field(default_factory=dict)

    def find(self, target: str) -> str | None:
        """Find what answers a target: as it is, as a folder, or without its query."""
        path = target.partition("?")[0]
        names = (target, path, f"{path.removesuffix('/')}/index.html", f"{path}.html")
        return next((name for name in names if name in self.bodies), None)

    def links(self, name: str) -> list[str]:
        """Give the pages that a page links."""
        if name not in self._links:
            targets = (one.url.target for one in self.pages[name].links if one.url.host == "127.0.0.1")
            self._links[name] = [there for target in targets if (there := self.find(target))]
        return self._links[name]


def read_site(folder: Path) -> Site:
    """Read the HTML files of a folder."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    bodies = {
        f"/{file.relative_to(folder).as_posix()}": file.read_bytes()
        for file in files
        if file.name.partition("?")[0].endswith(_SUFFIXES) or "?" in file.name
    }
    site = Site(folder.name, bodies)
    for name, body in bodies.items():
        site.pages[name] = page = parse_page(body, f"http://127.0.0.1{name}")
        site.contents[name] = str(main_digest(page_text(page).main)) if page.text else name
    return site


def serve(site: Site) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path != "/robots.txt":
                site.asked.append(self.path)
            name = site.find(self.path)
            body = site.bodies[name] if name else b"<title>Not found</title>not found"
            self.send_response(200 if name else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    return server


def draw_topics(site: Site, number: int) -> list[str]:
    """Draw topics among the words of titles, by their hash: those that the judge finds on enough pages, and not on too many."""
    found: Counter[str] = Counter()
    for page in site.pages.values():
        found.update(set(_WORD.findall(page.title.lower())))
    words = sorted(word for word, count in found.items() if count >= _LEAST // 2)
    words.sort(key=lambda word: blake2b(f"{site.name} {word}".encode(), digest_size=8).digest())
    drawn: list[str] = []
    for word in words:
        count = len({site.contents[n] for n, page in site.pages.items() if is_relevant(page, word)})
        if _LEAST <= count <= _MOST * len(site.pages):
            drawn.append(word)
        if len(drawn) == number:
            break
    return drawn


def count_hits(site: Site, asked: Sequence[str], topic: str) -> list[int]:
    """Count the relevant contents among the first fetches."""
    found = []
    for most in _FETCHES:
        names = {name for target in asked[:most] if (name := site.find(target))}
        found.append(len({site.contents[name] for name in names if is_relevant(site.pages[name], topic)}))
    return found


def crawl(site: Site, url: str, who: str, topic: str, peers: str | None) -> list[str]:
    """Let somebody crawl; gives what the site was asked for."""
    site.asked.clear()
    most = max(_FETCHES)
    with tempfile.TemporaryDirectory(prefix="first-sight-", ignore_cleanup_errors=True) as folder:
        if who == _PEER:
            assert peers is not None
            script = str(Path(__file__).with_name("best_first.py"))
            command = [peers, script, url, topic, str(most)]
        else:
            command = our_command(url, topic, most, "--traversal", who)
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - ourselves
        if done.returncode not in (0, 3):
            sys.exit(f"{' '.join(command)}\n{done.stderr[-2000:]}")
    return [*site.asked]


def greedy(site: Site, topic: str) -> list[str]:
    """Crawl as somebody who knows every page: to the nearest relevant page that is new, by the links of what was fetched."""
    relevant = {name for name, page in site.pages.items() if is_relevant(page, topic)}
    fetched: dict[str, None] = {}
    contents: set[str] = set()
    while len(fetched) < max(_FETCHES) and (way := _way(site, relevant, contents, fetched)):
        fetched |= dict.fromkeys(way)
        contents |= {site.contents[name] for name in way}
    return [*fetched]


def _way(site: Site, relevant: set[str], contents: set[str], fetched: Mapping[str, None]) -> list[str]:
    """Find the shortest way from what was fetched to a relevant page that is new; nothing if there is none."""
    ring: list[str] = [*fetched] or [site.find("/") or ""]
    parents: dict[str, str | None] = dict.fromkeys(ring)
    while ring:
        following = []
        for name in ring:
            if name not in fetched and name in relevant and site.contents[name] not in contents:
                way: list[str] = []
                step: str | None = name
                while step is not None:
                    way.append(step)
                    step = parents[step]
                return [one for one in reversed(way) if one not in fetched]
            for there in site.links(name):
                if there not in parents:
                    parents[there] = name
                    following.append(there)
        ring = following
    return []


class Row(NamedTuple):
    """What everybody found on one site for one topic, by name, for each number of fetches."""

    site: str
    pages: int
    topic: str
    counts: Mapping[str, Sequence[int]]


def measure(folder: Path, asked: argparse.Namespace) -> Iterator[Row]:
    """Let everybody crawl one site for each of its topics."""
    site = read_site(folder)
    server = serve(site)
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    for topic in asked.topic or draw_topics(site, asked.topics):
        counts = {_ORACLE: count_hits(site, greedy(site, topic), topic)}
        for who in (*_OURS, *([_PEER] if asked.peers else [])):
            counts[who] = count_hits(site, crawl(site, url, who, topic, asked.peers), topic)
        row = Row(site.name, len(site.pages), topic, counts)
        print(json.dumps(row._asdict()), file=sys.stderr, flush=True)
        yield row
    server.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.first_sight", description="Crawl unseen sites for real."
    )
    parser.add_argument("folder", nargs="+", type=Path)
    parser.add_argument("--topics", type=int, default=4, help="to draw for each site (default %(default)s)")
    parser.add_argument("--topic", action="append", help="a topic instead of those drawn; may be repeated")
    parser.add_argument("--peers", help="a Python that has crawl4ai")
    asked = parser.parse_args()
    rows = [row for folder in asked.folder for row in measure(folder, asked)]
    print("\n".join(table(rows)))


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Write the sums of each site and of all, in 100 / 300 fetches."""
    sites = list(dict.fromkeys(row.site for row in rows))
    yield f"| who | {' | '.join(sites)} | all |"
    yield f"|---|{'---:|' * (len(sites) + 1)}"
    for who in rows[0].counts:
        cells = [_cell([row for row in rows if row.site == site], who) for site in sites]
        yield f"| {who} | {' | '.join([*cells, _cell(rows, who)])} |"
    yield ""
    yield from (f"- {row.site} ({row.pages} pages): {row.topic}" for row in rows)


def _cell(rows: Sequence[Row], who: str) -> str:
    return " / ".join(str(sum(row.counts[who][at] for row in rows)) for at in range(len(_FETCHES)))


if __name__ == "__main__":
    main()
