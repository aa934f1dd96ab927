"""The store and its outputs under fault: killed at any statement, a full disk at any write, commits that never reached
the disk, a clock that jumps. After each, the same crawl goes on, and ends as if nothing had happened.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import failing_machine
import pytest
from click.testing import CliRunner
from failing_machine import PAGES, SITE, SIZE, World, at_write, crawl, no_space, told
from patience import HANG_S

from honeyguide.adapters.output.page_file import PageFile
from honeyguide.adapters.output.pick_file import PickFile, PickRun
from honeyguide.adapters.output.write import RecordFile, replacing
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.cli.main import root
from honeyguide.core.url.url import Url
from honeyguide.demo import serve_demo
from honeyguide.errors import InputError, StoreError
from honeyguide.ports.fetch import Fetched, Headers
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

YEAR_S = 366 * 86_400.0
KILLS = {"kill_at_statement": (560, 18), "kill_inside": (250, 7), "kill_at_write": (SIZE, 5)}
FULLS = {
    "full_at_pages": (38, 5),
    "full_at_bytes": (600_000, 6),
    "full_at_write": (SIZE, 4),
    "full_at_file": (SIZE, 4),
}


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


def spread(last: int, count: int) -> list[int]:
    """Give numbers from 1 to `last`, closer at the beginning."""
    return sorted({1 + round((last - 1) * (n / (count - 1)) ** 1.5) for n in range(count)})


@pytest.fixture(scope="module")
def suffered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[Any]]]:
    """Where all faults have struck, and how each ended: fault, number, ending, and ending of the crawl that went on."""
    if not hasattr(os, "fork"):
        pytest.skip("no such processes there")
    home = tmp_path_factory.mktemp("suffered")
    plan = {fault: spread(*moments) for fault, moments in {**KILLS, **FULLS}.items()}
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, failing_machine.__file__, str(home), json.dumps(plan)]
    done = subprocess.run(command, env=env, capture_output=True, check=True, timeout=HANG_S)  # noqa: S603 - our own program
    return home, [json.loads(line) for line in done.stdout.splitlines()]


def check_fault(suffered: tuple[Path, list[list[Any]]], fault: str, whole: dict[str, Any]) -> list[str]:
    """After a fault, everything is as if it had not been; gives how the processes ended that it struck."""
    home, ended = suffered
    mine = [one for one in ended if one[0] == fault]
    assert {after for *_, after in mine} == {"finished"}, mine
    for _, number, ending, _ in mine:
        result = told(home / f"{fault}-{number}")
        for name, value in whole.items():
            assert result[name] == value, (fault, number, ending, name)
    return [ending for _, _, ending, _ in mine]


@pytest.mark.parametrize("fault", KILLS)
@pytest.mark.slow
def test_killed_anywhere_the_same_crawl_ends_as_if_it_had_not_been(
    suffered: tuple[Path, list[list[Any]]], whole: dict[str, Any], fault: str
) -> None:
    endings = check_fault(suffered, fault, whole)
    assert set(endings) <= {"killed", "finished"}
    assert endings.count("killed") >= len(endings) * 2 // 3, endings  # or it proves little


@pytest.mark.parametrize("fault", FULLS)
@pytest.mark.slow
def test_a_disk_that_is_full_anywhere_is_one_sentence_and_loses_nothing(
    suffered: tuple[Path, list[list[Any]]], whole: dict[str, Any], fault: str
) -> None:
    endings = check_fault(suffered, fault, whole)
    assert not [ending for ending in endings if ending.startswith("unexpected") or "\n" in ending]
    assert sum(ending != "finished" for ending in endings) >= len(endings) // 2, endings


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
@pytest.mark.slow
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
        pages = [record for run in store.runs.list() for _, record in store.queue(run).pages()]
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


@pytest.mark.parametrize("shares", [(0.3, 1.0), (0.3, 0.7), (0.99, 0.99), (0.6, 0.9), (1.0, 0.5)])
def test_a_list_of_sites_goes_on_from_whatever_is_left(tmp_path: Path, shares: tuple[float, float]) -> None:
    path, beside = tmp_path / "p.jsonl", tmp_path / "p.jsonl.journal"
    records = [{"schema": 2, "site": site, "selected": [], "n": index} for index, site in enumerate(SITES)]
    run = PickRun({}, SITES)
    journal = PickFile(path, run)
    head = beside.stat().st_size
    for index in (0, 5, 1, 7, 6, 3, 2):
        journal.add(index, records[index])
    journal.close()
    for file, share, least in zip((path, beside), shares, (0, head), strict=True):
        os.truncate(file, max(least, int(file.stat().st_size * share)))
    journal = PickFile(path, run)
    for index in journal.missing:
        journal.add(index, records[index])
    journal.complete()
    assert [json.loads(line) for line in path.read_text().splitlines()] == records
    assert not beside.exists()


# --- outputs on a full disk ---------------------------------------------------------------------------------------


def test_a_file_that_cannot_be_written_whole_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("old")

    def write() -> None:
        with replacing(path) as part:
            part.write_text("half of the n")
            no_space()

    with pytest.raises(InputError, match=r"r\.csv: cannot be written: No space left"):
        write()
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["r.csv"]


def test_after_a_line_was_torn_nothing_more_is_written(tmp_path: Path) -> None:
    file = RecordFile(tmp_path / "p.jsonl")
    file.append(b"one")
    with at_write(1, no_space), pytest.raises(OSError, match="No space left"):
        file.append(b"second")
    with pytest.raises(OSError, match="run the same command again to resume"):
        file.append(b"third")
    file.close()
    again = RecordFile(tmp_path / "p.jsonl")
    again.cut_torn()
    again.append(b"third")
    again.close()
    assert (tmp_path / "p.jsonl").read_bytes() == b"one\nthird\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("args", [("-o", "/dev/full"), ("--warc", "/dev/full"), ("--store", "/dev/full")])
def test_a_device_is_no_output(args: tuple[str, str], tmp_path: Path) -> None:
    pytest.importorskip("warcio")  # an extra
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


@pytest.mark.skipif(sys.platform == "win32", reason="no such limits there")
@pytest.mark.parametrize("blocks", [8, 400])
@pytest.mark.slow
def test_a_command_on_a_full_disk_says_so_and_goes_on_later(tmp_path: Path, blocks: int) -> None:
    """The system itself allows no file to be larger than so many blocks: the store hits it, or an output does."""
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    with serve_demo() as home:
        flags = ["--topic", "fire", "--allow-private", "--delay", "0", "--quiet", "-o", "p.jsonl"]
        command = [sys.executable, "-m", "honeyguide", "crawl", home, *flags]
        full = ["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", *command]
        first, again = (
            subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, check=False, timeout=HANG_S)  # noqa: S603 - our own program
            for argv in (full, command)
        )
    assert first.returncode == 1
    assert first.stderr.startswith(b"Error: ")
    assert first.stderr.count(b"\n") == 1
    assert (again.returncode, again.stderr) == (0, b"")
    lines = [json.loads(line) for line in (tmp_path / "p.jsonl").read_bytes().splitlines()]
    assert len(lines) == len({line["url"] for line in lines}) > 5


# --- a second process ---------------------------------------------------------------------------------------------


def test_one_output_has_one_writer(tmp_path: Path) -> None:
    first = PageFile(tmp_path / "p.jsonl")
    with pytest.raises(InputError, match="another process is writing it"):
        PageFile(tmp_path / "p.jsonl")
    first.close()
    warc = pytest.importorskip("honeyguide.adapters.output.warc")  # an extra
    pytest.importorskip("warcio")  # an extra
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
            store.runs.begin(store.runs.list()[0].spec, 0.0)
        assert len(list(store.queue(store.runs.list()[0]).pages())) == SIZE + 1  # reading goes on
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
    (run,) = store.runs.list()
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
