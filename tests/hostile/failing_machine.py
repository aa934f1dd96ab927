"""A machine that fails: a small crawl with all that it writes, and faults that strike it at a given moment.

Run as a program, it forks a process for each fault, so that a hundred of them cost no more than a few seconds; see `main`.
`test_store_faults.py` says what must hold afterwards.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.output.page_file import Folder, PageFile, StoredPages
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.config import load_profile
from honeyguide.core.crawl.frontier import State, digest_of
from honeyguide.core.records import Record
from honeyguide.core.url.url import Url
from honeyguide.errors import HoneyguideError, InputError
from honeyguide.jobs.crawl import Crawler, CrawlRequest, PageAttachments
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

SITE = "https://a.example"
SIZE = 14


# --- a small crawl, with all that it writes -----------------------------------------------------------------------


def page_of(number: int) -> bytes:
    words = " ".join(f"word{number}x{n}" for n in range(80))
    links = "".join(
        f'<p><a href="/p{n % SIZE}">{"fire" if n % 3 else "water"} {n % SIZE}</a></p>'
        for n in (2 * number + 1, 2 * number + 2, number + 5)
    )
    more = f'<a href="/file{number}.pdf">file</a> <a href="https://other.example/{number}">other</a> <a href="mailto:x">x</a>'
    return f"<title>Fire {number}</title><main><p>fire {words}</p>{links}{more}</main>".encode()


PAGES = {f"{SITE}/": page_of(0), **{f"{SITE}/p{n}": page_of(n) for n in range(SIZE)}}
PROFILE = load_profile("docs", topic="fire")


@dataclass(frozen=True)
class World:
    """What a crawl meets: a web, a clock, and somebody who looks on."""

    clock: FrozenClock = field(default_factory=FrozenClock)
    web: FakeFetcher = field(default_factory=lambda: FakeFetcher(PAGES))
    look: Callable[[int], None] = lambda _pages: None


def crawl(folder: Path, world: World | None = None) -> None:
    """Crawl into a folder: the store, a file of lines, a folder of files, all as the command line keeps them."""
    store = SqliteStore(folder / "h.db", busy_s=5)
    try:
        lines = PageFile(folder / "p.jsonl", ("markdown",))
        try:
            _crawl(store, lines, Folder(folder / "pages"), world or World())
        finally:
            lines.close()
    finally:
        store.close()


def _crawl(store: SqliteStore, lines: PageFile, folder: Folder, world: World) -> None:
    pages = 0

    def keep(record: Record, arrival: PageAttachments) -> None:
        nonlocal pages
        pages += 1
        world.look(pages)
        text = arrival.page.title if arrival.page else ""
        folder.write(record, text or "")
        lines.append(record, {"markdown": text})

    def begin(run: Any) -> None:
        lines.follow(truth_of(store, run))

    crawler = Crawler(world.web, HtmlReader(), world.clock, store, PROFILE)
    asyncio.run(crawler.crawl(CrawlRequest((Url.parse(f"{SITE}/"),)), keep, begin))
    lines.follow(truth_of(store, store.runs.list()[0]))


def truth_of(store: SqliteStore, run: Any) -> StoredPages:
    frontier = store.queue(run)

    def are_pending(urls: list[str]) -> bool:
        digests = [digest_of(Url.parse(url), PROFILE.scope.tracking) for url in urls]
        known = frontier.known(digests)
        return all(one in known and known[one].state in (State.QUEUED, State.LEASED) for one in digests)

    return StoredPages(lambda: (record for _, record in frontier.pages()), are_pending)


def told(folder: Path) -> dict[str, Any]:
    """Everything that a crawl has to show."""
    store = SqliteStore(folder / "h.db")
    try:
        (run,) = store.runs.list()
        frontier = store.queue(run)
        return {
            "check": store.check(),
            "stopped": run.stopped,
            "fetched": run.fetched,
            "pages": [record for _, record in frontier.pages()],
            "rows": [(row.url, row.state, row.lane, row.depth, row.parent, row.seen, row.claim, row.why) for row in frontier.rows()],
            "counts": frontier.counts(),
            "lines": (folder / "p.jsonl").read_bytes(),
            "files": {path.relative_to(folder).as_posix(): path.read_bytes() for path in (folder / "pages").rglob("*") if path.is_file()},
        }  # fmt: skip
    finally:
        store.close()


# --- faults -------------------------------------------------------------------------------------------------------


def faulty(prepare: Callable[[sqlite3.Connection], None]) -> Any:
    """Have every connection to a database prepared to fail."""
    real = sqlite3.connect

    def connect(*args: Any, **more: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = real(*args, **more)
        prepare(connection)
        return connection

    return patch("sqlite3.connect", connect)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_at_statement(number: int) -> Any:
    """Be killed when the n-th statement is about to run."""
    seen = 0

    def count(_statement: str) -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            die()

    return faulty(lambda connection: connection.set_trace_callback(count))


def kill_inside(number: int) -> Any:
    """Be killed in the middle of a statement, after so many hundreds of steps of the database's machine."""
    seen = 0

    def count() -> int:
        nonlocal seen
        seen += 1
        if seen == number:
            die()
        return 0

    return faulty(lambda connection: connection.set_progress_handler(count, 100))


def at_write(number: int, fail: Callable[[], None]) -> Any:
    """Fail when the n-th line is being written, with a part of it on the disk."""
    seen = 0
    real = os.write

    def write(handle: int, data: Any) -> int:
        nonlocal seen
        seen += 1
        if seen == number:
            real(handle, bytes(data)[: len(data) // 2])
            fail()
        return real(handle, data)

    return patch("os.write", write)


def no_space() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def kill_at_write(number: int) -> Any:
    """Be killed while the n-th line is being written."""
    return at_write(number, die)


def full_at_write(number: int) -> Any:
    """Have no space left for the rest of the n-th line."""
    return at_write(number, no_space)


def full_at_file(number: int) -> Any:
    """Have no space left for the n-th file of the folder."""
    real, seen = Folder.write, 0

    def write(self: Folder, record: Record, markdown: str) -> Path:
        nonlocal seen
        seen += 1
        if seen == number:
            raise InputError("cannot be written: No space left on device", file=str(self.root))
        return real(self, record, markdown)

    return patch.object(Folder, "write", write)


def full_at_pages(number: int) -> Any:
    """Have a disk with room for so many pages of the database."""
    return faulty(lambda connection: connection.execute(f"PRAGMA max_page_count = {number}").close())


def full_at_bytes(number: int) -> Any:
    """Have a disk on which no file may be larger than so many bytes; the system enforces it."""
    import resource  # not everywhere

    resource.setrlimit(resource.RLIMIT_FSIZE, (number, number))
    return faulty(lambda _: None)


FAULTS = {
    one.__name__: one
    for one in (
        kill_at_statement,
        kill_inside,
        kill_at_write,
        full_at_pages,
        full_at_bytes,
        full_at_write,
        full_at_file,
    )
}


def suffer(folder: Path, fault: str, number: int) -> str:
    """Crawl in a process of its own, with a fault; gives how that ended."""
    told_in = folder.with_suffix(".told")
    child = os.fork()
    if child == 0:
        try:
            with FAULTS[fault](number):
                crawl(folder)
            answer = "finished"
        except (HoneyguideError, OSError) as error:
            answer = f"{type(error).__name__}: {error}"
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test wants to see it
            answer = f"unexpected {type(error).__name__}: {error}"
        os.kill(os.getppid(), 0)
        try:
            told_in.write_text(answer)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return "killed" if os.WIFSIGNALED(status) else told_in.read_text()


def main(home: Path, plan: dict[str, list[int]]) -> None:
    """Suffer each fault at each of its numbers, and go on; print how it ended."""
    for fault, numbers in plan.items():
        for number in numbers:
            folder = home / f"{fault}-{number}"
            folder.mkdir()
            ending = suffer(folder, fault, number)
            after = suffer(folder, "full_at_pages", 1 << 30) if ending != "finished" else ending
            sys.stdout.write(json.dumps([fault, number, ending, after]) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
