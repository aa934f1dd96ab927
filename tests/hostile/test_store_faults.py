"""The store and its outputs under fault: killed at any statement, a full disk at any write, commits that never reached
the disk, a clock that jumps. After each, the same crawl goes on, and ends as if nothing had happened.

Run as a program, this file is the machine that fails: it forks a process for each fault, so that a hundred of them cost
no more than a few seconds.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from click.testing import CliRunner

from honeyguide.adapters.documents import Documents
from honeyguide.adapters.folder import Folder
from honeyguide.adapters.journal import Finished, Journal
from honeyguide.adapters.journal import Run as JournalRun
from honeyguide.adapters.lines import LineFile
from honeyguide.adapters.page_lines import Form, PageLines, Truth
from honeyguide.adapters.sqlite import SqliteStore
from honeyguide.adapters.whole import replacing
from honeyguide.cli import root
from honeyguide.config import load_profile
from honeyguide.core.frontier import State, digest_of
from honeyguide.core.records import Record
from honeyguide.core.url import Url
from honeyguide.errors import HoneyguideError, InputError, StoreError
from honeyguide.jobs.crawl import Arrival, Crawler, CrawlRequest
from honeyguide.ports import Fetched, Headers
from honeyguide.testing import FakeFetcher, FrozenClock

SITE = "https://a.example"
SIZE = 14
YEAR_S = 366 * 86_400.0

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no such processes there")


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
        lines = PageLines.open(folder / "p.jsonl", Form(json.dumps, ("markdown",)))
        try:
            _crawl(store, lines, Folder(folder / "pages"), world or World())
        finally:
            lines.close()
    finally:
        store.close()


def _crawl(store: SqliteStore, lines: PageLines, folder: Folder, world: World) -> None:
    pages = 0

    def keep(record: Record, arrival: Arrival) -> None:
        nonlocal pages
        pages += 1
        world.look(pages)
        text = arrival.page.title if arrival.page else ""
        folder.write(record, text or "")
        lines.append(record, {"markdown": text})

    def begin(run: Any) -> None:
        lines.follow(truth_of(store, run))

    crawler = Crawler(world.web, Documents(), world.clock, store, PROFILE)
    asyncio.run(crawler.crawl(CrawlRequest((Url.parse(f"{SITE}/"),)), keep, begin))
    lines.follow(truth_of(store, store.runs()[0]))


def truth_of(store: SqliteStore, run: Any) -> Truth:
    frontier = store.frontier(run)

    def are_pending(urls: list[str]) -> bool:
        digests = [digest_of(Url.parse(url), PROFILE.scope.tracking) for url in urls]
        known = frontier.known(digests)
        return all(one in known and known[one].state in (State.QUEUED, State.LEASED) for one in digests)

    return Truth(lambda: (record for _, record in frontier.pages()), are_pending)


def told(folder: Path) -> dict[str, Any]:
    """Everything that a crawl has to show."""
    store = SqliteStore(folder / "h.db")
    try:
        (run,) = store.runs()
        frontier = store.frontier(run)
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


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What an undisturbed crawl has to show."""
    folder = tmp_path_factory.mktemp("whole")
    crawl(folder)
    result = told(folder)
    assert len(result["pages"]) == SIZE + 1
    assert len(result["files"]) == SIZE + 1
    assert result["check"] == ()
    return result


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


def main(home: Path, fault: str, numbers: list[str]) -> None:
    """Suffer a fault at each number, and go on; print how it ended."""
    for number in numbers:
        folder = home / f"{fault}-{number}"
        folder.mkdir()
        ending = suffer(folder, fault, int(number))
        after = suffer(folder, "full_at_pages", 1 << 30) if ending != "finished" else ending
        sys.stdout.write(json.dumps([int(number), ending, after]) + "\n")


def endings(home: Path, fault: str, numbers: list[int]) -> list[list[Any]]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, __file__, str(home), fault, *map(str, numbers)]
    done = subprocess.run(command, env=env, capture_output=True, check=True, timeout=120)  # noqa: S603 - this very file
    return [json.loads(line) for line in done.stdout.splitlines()]


def spread(last: int, count: int) -> list[int]:
    """Give numbers from 1 to `last`, closer at the beginning, and never the same remainder."""
    return sorted({1 + round((last - 1) * (n / (count - 1)) ** 1.5) for n in range(count)})


def check_all(home: Path, fault: str, whole: dict[str, Any]) -> None:
    for folder in home.glob(f"{fault}-*"):
        if folder.is_dir():
            after = told(folder)
            for name, value in whole.items():
                assert after[name] == value, (folder.name, name)


@needs_fork
@pytest.mark.parametrize(
    ("fault", "last", "count"),
    [("kill_at_statement", 560, 24), ("kill_inside", 250, 12), ("kill_at_write", SIZE, 6)],
)
def test_killed_anywhere_the_same_crawl_ends_as_if_it_had_not_been(
    tmp_path: Path, whole: dict[str, Any], fault: str, last: int, count: int
) -> None:
    found = endings(tmp_path, fault, spread(last, count))
    assert {after for _, _, after in found} == {"finished"}, found
    assert sum(ending == "killed" for _, ending, _ in found) >= count * 2 // 3, found  # or it proves little
    check_all(tmp_path, fault, whole)


@needs_fork
@pytest.mark.parametrize(
    ("fault", "last", "count"),
    [
        ("full_at_pages", 38, 8),
        ("full_at_bytes", 600_000, 10),
        ("full_at_write", SIZE, 5),
        ("full_at_file", SIZE, 5),
    ],
)
def test_a_disk_that_is_full_anywhere_is_one_sentence_and_loses_nothing(
    tmp_path: Path, whole: dict[str, Any], fault: str, last: int, count: int
) -> None:
    found = endings(tmp_path, fault, spread(last, count))
    assert {after for _, _, after in found} == {"finished"}, found
    assert not [one for one in found if one[1].startswith("unexpected")], found
    assert sum(ending != "finished" for _, ending, _ in found) >= count // 2, found
    check_all(tmp_path, fault, whole)


# --- what never reached the disk ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cut_off(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files as they are on the disk in the middle of a crawl, with outputs that know the end of it."""
    folder, copy = tmp_path_factory.mktemp("running"), tmp_path_factory.mktemp("cut") / "files"

    def look(pages: int) -> None:
        if pages == SIZE - 2:
            shutil.copytree(folder, copy)

    crawl(folder, World(look=look))
    for name in ("p.jsonl", "pages"):
        shutil.rmtree(copy / name) if (copy / name).is_dir() else (copy / name).unlink()
        shutil.copytree(folder / name, copy / name) if (folder / name).is_dir() else shutil.copy(
            folder / name, copy / name
        )
    (copy / "h.db-shm").unlink()
    assert (copy / "h.db-wal").stat().st_size > 100_000
    return copy


def _lost(log: bytes, at: int) -> Iterator[tuple[str, bytes]]:
    """Give the log as a power cut may leave it: cut off, with nothing where something should be, with a hole."""
    yield "cut", log[:at]
    yield "zeros", log[:at] + bytes(len(log) - at)
    yield "hole", log[:at] + bytes(512) + log[at + 512 :]


@pytest.mark.parametrize("share", [0.0, 0.00005, 0.02, 0.2, 0.41, 0.7, 0.9, 0.999])
def test_commits_that_the_disk_lost_are_made_again(
    tmp_path: Path, cut_off: Path, whole: dict[str, Any], share: float
) -> None:
    log = (cut_off / "h.db-wal").read_bytes()
    for name, left in _lost(log, int(len(log) * share)):
        folder = tmp_path / name
        shutil.copytree(cut_off, folder)
        (folder / "h.db-wal").write_bytes(left)
        store = SqliteStore(folder / "h.db")
        assert store.check() == ()
        pages = [record for run in store.runs() for _, record in store.frontier(run).pages()]
        store.close()
        assert pages == whole["pages"][: len(pages)]  # a prefix of the commits, and nothing torn
        if not pages:  # nothing says that the lines are of this crawl: they are not thrown away
            with pytest.raises(
                InputError, match=r"p\.jsonl: holds pages of another crawl; choose another -o, or remove it"
            ):
                crawl(folder)
            (folder / "p.jsonl").unlink()
        crawl(folder)
        assert {**told(folder), "lines": b""} == {**whole, "lines": b""}
        assert (folder / "p.jsonl").read_bytes() == whole["lines"]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.95])
def test_lines_that_the_disk_lost_are_written_again(
    tmp_path: Path, whole: dict[str, Any], share: float
) -> None:
    crawl(tmp_path)
    os.truncate(tmp_path / "p.jsonl", int(len(whole["lines"]) * share))
    crawl(tmp_path)
    after, before = (text.splitlines() for text in ((tmp_path / "p.jsonl").read_bytes(), whole["lines"]))
    bare = [{**json.loads(line), "markdown": None} for line in before]
    assert [{**json.loads(line), "markdown": None} for line in after] == bare
    kept = whole["lines"][: int(len(whole["lines"]) * share)].count(b"\n")
    assert after[:kept] == before[:kept]
    assert all(json.loads(line)["markdown"] is None for line in after[kept:])  # the store does not keep it


SITES = tuple(f"s{n}.example" for n in range(12))


def _journal(path: Path) -> Journal:
    def read_back(file: Path) -> Finished | None:
        rows = [
            json.loads(line) for line in file.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")
        ]
        return Finished(tuple(row["site"] for row in rows), {})

    return Journal.open(
        path, JournalRun({"a": 1}, SITES, lambda site: json.dumps({"site": site})[:-1] + ",", read_back)
    )


@pytest.mark.parametrize("shares", [(0.3, 1.0), (0.3, 0.7), (0.99, 0.99), (0.6, 0.9), (1.0, 0.5)])
def test_a_list_of_sites_goes_on_from_whatever_is_left(tmp_path: Path, shares: tuple[float, float]) -> None:
    path, beside = tmp_path / "p.jsonl", tmp_path / "p.jsonl.journal"
    records = [json.dumps({"site": site, "n": index}) for index, site in enumerate(SITES)]
    journal = _journal(path)
    head = beside.stat().st_size
    for index in (0, 5, 1, 7, 6, 3, 2):
        journal.add(index, records[index])
    journal.close()
    for file, share, least in zip((path, beside), shares, (0, head), strict=True):
        os.truncate(file, max(least, int(file.stat().st_size * share)))
    journal = _journal(path)
    for index in journal.missing:
        journal.add(index, records[index])
    journal.complete()
    assert path.read_text().splitlines() == records
    assert not beside.exists()


# --- outputs on a full disk ---------------------------------------------------------------------------------------


def test_a_file_that_cannot_be_written_whole_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("old")

    def write() -> None:
        with replacing(path) as part:
            part.write_text("half of the n")
            no_space()

    with pytest.raises(OSError, match="No space left"):
        write()
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["r.csv"]


def test_after_a_line_was_torn_nothing_more_is_written(tmp_path: Path) -> None:
    file = LineFile(tmp_path / "p.jsonl")
    file.append(b"one")
    with at_write(1, no_space), pytest.raises(OSError, match="No space left"):
        file.append(b"second")
    with pytest.raises(OSError, match="start again to go on"):
        file.append(b"third")
    file.close()
    again = LineFile(tmp_path / "p.jsonl")
    again.cut_torn()
    again.append(b"third")
    again.close()
    assert (tmp_path / "p.jsonl").read_bytes() == b"one\nthird\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("args", [("-o", "/dev/full"), ("--warc", "/dev/full"), ("--store", "/dev/full")])
def test_a_device_is_no_output(args: tuple[str, str], tmp_path: Path) -> None:
    pytest.importorskip("warcio")
    command = [
        "crawl",
        "http://127.0.0.1:9/",
        "--topic",
        "x",
        "--store",
        str(tmp_path / "h.db"),
        "--quiet",
        *args,
    ]
    result = CliRunner().invoke(root, command, prog_name="honeyguide")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: /dev/full: ")
    assert len(result.stderr.splitlines()) == 1


# --- a second process ---------------------------------------------------------------------------------------------


def test_one_output_has_one_writer(tmp_path: Path) -> None:
    form = Form(json.dumps)
    first = PageLines.open(tmp_path / "p.jsonl", form)
    with pytest.raises(InputError, match="another process is writing it"):
        PageLines.open(tmp_path / "p.jsonl", form)
    first.close()
    warc = pytest.importorskip("honeyguide.adapters.warc")
    pytest.importorskip("warcio")
    held = warc.WarcFile(tmp_path / "p.warc.gz", "x")
    with pytest.raises(InputError, match="another process is writing it"):
        warc.WarcFile(tmp_path / "p.warc.gz", "x")
    held.close()
    warc.WarcFile(tmp_path / "p.warc.gz", "x").close()


def test_a_store_that_is_held_for_too_long_is_one_sentence(tmp_path: Path) -> None:
    crawl(tmp_path)
    store = SqliteStore(tmp_path / "h.db", busy_s=0.05)
    with closing(sqlite3.connect(tmp_path / "h.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process has been writing to it for too long"):
            store.begin(store.runs()[0].spec, 0.0)
        assert len(list(store.frontier(store.runs()[0]).pages())) == SIZE + 1  # reading goes on
    store.close()


# --- a clock that jumps -------------------------------------------------------------------------------------------


class Jumping(FrozenClock):
    """A clock that somebody sets, after it was read so many times."""

    def __init__(self, after: int, by: float) -> None:
        super().__init__(2 * YEAR_S)
        self._left = after
        self._by = by

    def now(self) -> float:
        self._left -= 1
        return super().now() + (self._by if self._left < 0 else 0.0)


@pytest.mark.parametrize("by", [YEAR_S, -YEAR_S])
@pytest.mark.parametrize("after", [1, 9, 40, 75])
def test_a_clock_that_jumps_changes_times_and_nothing_else(
    tmp_path: Path, whole: dict[str, Any], after: int, by: float
) -> None:
    crawl(tmp_path, World(Jumping(after, by)))
    result = told(tmp_path)
    assert [page["url"] for page in result["pages"]] == [page["url"] for page in whole["pages"]]
    assert (result["rows"], result["stopped"]) == (whole["rows"], "complete")
    assert result["files"].keys() == whole["files"].keys()
    store = SqliteStore(tmp_path / "h.db")
    (run,) = store.runs()
    assert run.updated_at >= run.started_at
    store.close()


def test_a_clock_that_was_ahead_delays_and_loses_nothing(tmp_path: Path, whole: dict[str, Any]) -> None:
    """What is to be tried again waits until the time that was written down; nobody sits and waits for a year."""
    url = Url.parse(f"{SITE}/p3")
    later = Fetched(url, url, 503, Headers(retry_after="3600"))
    crawl(tmp_path, World(FrozenClock(2 * YEAR_S), FakeFetcher({**PAGES, url.text: later})))
    crawl(tmp_path, World(FrozenClock(YEAR_S)))
    assert told(tmp_path)["stopped"] == "resting"
    crawl(tmp_path, World(FrozenClock(2 * YEAR_S + 3_700)))
    after = told(tmp_path)
    assert after["stopped"] == "complete"
    assert {page["url"] for page in after["pages"]} == {page["url"] for page in whole["pages"]}


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
