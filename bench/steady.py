"""A long crawl of a made-up site: `python -m bench.steady --pages 30000 [-o table.md]`.

Owns: a site that is made up as it is asked for, and the samples taken of our crawl meanwhile. Must not know: what the crawl does.
Start reading at `main`; the site is `Site`. Linux only: memory and CPU are read from /proc.

The server counts what it is asked for and looks at the crawl from outside, so the crawl is the command as it is installed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from bench.crawl import our_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EVERY = 1_000  # pages between two samples
TOPIC = "harbour|lantern"
_FAN = 8  # new pages that a page links to
_BACK = 12  # links to any other pages
_TEXT = (
    "anchor apple arrow autumn barley basket beacon birch bottle bridge bronze candle canyon carbon castle cedar cellar chalk "
    "cherry chimney circle cliff clover copper coral cotton cradle crystal current dagger desert dollar dragon drum eagle ember "
    "engine fabric feather fern fiddle flint forest fossil garden garlic ginger glacier granite harbour hazel helmet hollow "
    "honey island ivory jacket jasmine journey juniper kernel kettle ladder lantern leather lemon linen lizard magnet maple "
    "marble meadow mirror mountain mustard needle nickel oak oasis orchard orbit otter oyster paddle pebble pepper pillar pilot "
    "planet plaster pocket poplar prairie quarry quartz rabbit raven ribbon river rocket saddle saffron salmon sandal satin "
    "shadow shelter silver spider spruce stable summer sunset temple thistle thunder timber tunnel turnip valley velvet violet "
    "walnut willow window winter"
)
_WORDS = _TEXT.split()


def page_of(number: int, pages: int) -> bytes:
    """Make a page: a menu that all share, some prose of its own, links down the tree and across."""
    random = Random(number)  # noqa: S311 - the same page each time is what is wanted
    words = random.choices(_WORDS, k=240)
    title = f"{words[0].title()} and {words[1]} {number}"
    below = range(number * _FAN + 1, min(number * _FAN + _FAN + 1, pages))
    across = [random.randrange(pages) for _ in range(_BACK)]
    menu = "".join(f'<li><a href="{path_of(n)}">{_WORDS[n].title()}</a></li>' for n in range(1, 12))
    parts = [" ".join(words[at : at + 20]) for at in range(0, 240, 20)]
    prose = "".join(
        f'<p>{part} <a href="{path_of(n)}">{_WORDS[n % len(_WORDS)]} {n}</a>.</p>'
        for part, n in zip(parts, across, strict=True)
    )
    listed = "".join(f'<li><a href="{path_of(n)}">{words[n % 240]} {n}</a></li>' for n in below)
    html = (
        f"<!doctype html><title>{title}</title><nav><ul>{menu}</ul></nav><main><h1>{title}</h1>"
        f"{prose}<ul>{listed}</ul></main><footer><a href=/>Home</a></footer>"
    )
    return html.encode("ascii")


def path_of(number: int) -> str:
    """Give the path of a page, such as `/cedar/quartz-17`."""
    if number == 0:
        return "/"
    mixed = number * 2_654_435_761 % 2**32
    return f"/{_WORDS[mixed % len(_WORDS)]}/{_WORDS[mixed // 256 % len(_WORDS)]}-{number}"


class Site(asyncio.Protocol):
    """Answers requests of one connection; knows as much HTTP as it takes."""

    def __init__(self, pages: int, on_page: Callable[[], None]) -> None:
        self._pages = pages
        self._on_page = on_page
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *requests, self._rest = (self._rest + data).split(b"\r\n\r\n")
        for request in requests:
            self._answer(request.split(b" ", 2)[1].decode("ascii", "replace"))

    def _answer(self, path: str) -> None:
        number = "0" if path == "/" else path.rpartition("-")[2]
        if number.isdigit() and int(number) < self._pages:
            status, body = "200 OK", page_of(int(number), self._pages)
            self._on_page()
        else:
            status, body = "404 Not Found", b""
        head = f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode("ascii") + body)


@dataclass(frozen=True, slots=True)
class Sample:
    """A look at the crawl from outside."""

    pages: int
    at: float
    cpu_s: float
    memory_mb: float


@dataclass(slots=True)
class Watch:
    """Counts pages, and looks at a process every thousand of them."""

    pid: int = 0
    pages: int = 0
    samples: list[Sample] = field(default_factory=list)

    def count(self) -> None:
        self.pages += 1
        if self.pages % EVERY == 0:
            self.look()

    def look(self) -> None:
        folder = Path(f"/proc/{self.pid}")
        ticks = folder.joinpath("stat").read_text("ascii").rpartition(")")[2].split()[11:13]
        resident = int(folder.joinpath("statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
        cpu_s = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        self.samples.append(Sample(self.pages, time.monotonic(), cpu_s, resident / 2**20))
        print(self.samples[-1], file=sys.stderr)


async def _crawl(pages: int, size: int, folder: str) -> list[Sample]:
    """Serve and crawl; gives the samples."""
    watch = Watch()
    server = await asyncio.get_running_loop().create_server(lambda: Site(size, watch.count), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    command = our_command(f"http://127.0.0.1:{port}/", TOPIC, pages)
    crawl = await asyncio.create_subprocess_exec(*command, cwd=folder)
    watch.pid = crawl.pid
    code = await crawl.wait()
    server.close()
    if code not in (0, 3):
        sys.exit(f"the crawl ended with exit code {code}")
    return watch.samples


def _report(pages: int, size: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="bench-steady-") as folder:
        samples = asyncio.run(_crawl(pages, size, folder))
        store_mb = Path(folder, "honeyguide.db").stat().st_size / 2**20
        records = Path(folder, "pages.jsonl").read_bytes().count(b"\n")
    yield "| pages | pages per s | CPU s per 1,000 pages | memory MB |"
    yield "|---:|---:|---:|---:|"
    steps = list(pairwise(samples))
    stride = max(1, len(samples) // 15)
    for before, after in zip(samples[::stride], samples[stride::stride], strict=False):
        yield f"| {after.pages:,} | {_rate(before, after):.0f} | {_cost(before, after):.2f} | {after.memory_mb:.0f} |"
    tenth = max(1, len(steps) // 10)
    ends = [(part[0][0], part[-1][1]) for part in (steps[:tenth], steps[-tenth:])]
    (first, last), (cheap, dear) = (tuple(f(*end) for end in ends) for f in (_rate, _cost))
    peak = max(sample.memory_mb for sample in samples)
    yield ""
    yield (
        f"Last tenth against first: {last / first:.0%} of the pages per second, {cheap / dear:.0%} of the pages per CPU second. "
        f"Memory at most {peak:.0f} MB; store {store_mb:.0f} MB; {records:,} records."
    )


def _rate(before: Sample, after: Sample) -> float:
    return (after.pages - before.pages) / (after.at - before.at)


def _cost(before: Sample, after: Sample) -> float:
    return (after.cpu_s - before.cpu_s) * 1000 / (after.pages - before.pages)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.steady", description="Crawl a large made-up site.")
    parser.add_argument("--pages", type=int, default=30_000, help="pages to fetch (default %(default)s)")
    parser.add_argument("--size", type=int, default=100_000, help="pages of the site (default %(default)s)")
    parser.add_argument("-o", "--output", type=Path, help="write the Markdown here")
    asked = parser.parse_args()
    report = "\n".join(_report(asked.pages, asked.size)) + "\n"
    if asked.output:
        asked.output.write_text(report, encoding="utf-8")
    else:
        print(report)


if __name__ == "__main__":
    main()
