"""A kill at any byte, at any step, loses no finished record, repeats none and tears none."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.adapters.output.pick_file import PickFile, PickRun
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from honeyguide.core.records import Record

SITES = ("a.example", "b.example", "ü.example", "N/A", "N/A")
SETTINGS = {"strategy": "rules", "profile_hash": "5a", "cap": 4}


def record(index: int, site: str, status: str = "ok") -> Record:
    return {
        "schema": 2,
        "site": site,
        "status": status,
        "strategy": "rules",
        "profile_hash": "5a",
        "selected": [{"rank": index}],
    }


def line(index: int, site: str, status: str = "ok") -> str:
    return json.dumps(record(index, site, status), ensure_ascii=False)


def run_of(sites: tuple[str, ...] = SITES, kind: str = "jsonl", **settings: Any) -> PickRun:
    return PickRun({**SETTINGS, **settings}, sites, kind)


def whole(sites: tuple[str, ...] = SITES) -> str:
    return "".join(line(index, site) + "\n" for index, site in enumerate(sites))


def pick(path: Path, order: tuple[int, ...], kind: str = "jsonl") -> PickFile:
    """Finish sites in this order."""
    picks = PickFile(path, run_of(kind=kind))
    for index in order:
        picks.add(index, record(index, SITES[index]))
    return picks


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (2, 0, 4, 1, 3)])
def test_records_come_out_in_input_order(tmp_path: Path, order: tuple[int, ...]) -> None:
    path = tmp_path / "picks.jsonl"
    pick(path, order).complete()
    assert path.read_text("utf-8") == whole()
    assert [file.name for file in tmp_path.iterdir()] == ["picks.jsonl"]


def test_what_can_be_written_is_written_at_once(tmp_path: Path) -> None:
    path = tmp_path / "picks.jsonl"
    picks = pick(path, (1, 0, 3))
    assert path.read_text("utf-8") == "".join(whole().splitlines(keepends=True)[:2])
    assert picks.missing == [2, 4]
    assert [index for index, _ in picks.lines()] == [0, 1, 3]
    picks.close()


def test_a_table_stays_in_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "picks.csv"
    pick(path, (1, 3), "csv").close()
    picks = pick(path, (0, 2, 4), "csv")
    assert not path.exists()
    assert "".join(f"{text}\n" for _, text in picks.lines()) == whole()
    picks.complete()
    assert list(tmp_path.iterdir()) == []


# --- refusals: one sentence, nothing changed ---


@contextmanager
def unchanged(folder: Path) -> Iterator[None]:
    before = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    yield
    assert {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()} == before


@pytest.mark.parametrize("finished", [(1, 3), (0, 1), (0, 1, 2, 3, 4)])
@pytest.mark.parametrize(
    ("run", "words"),
    [
        (run_of(cap=5), "cap: 4 there, 5 here"),
        (
            run_of(strategy="blend", query="x"),
            "strategy: 'rules' there, 'blend' here; query: none there, 'x' here",
        ),
        (
            run_of((*SITES, "c.example")),
            "(list of sites: '5 sites' there, '6 sites' here); a list may grow only at its end, after -o FILE.jsonl",
        ),
        (run_of(SITES[::-1]), "list of sites: '5 sites, "),
    ],
)
def test_another_run_is_refused(tmp_path: Path, finished: tuple[int, ...], run: PickRun, words: str) -> None:
    path = tmp_path / "picks.jsonl"
    pick(path, finished).close()
    with unchanged(tmp_path), pytest.raises(InputError) as caught:
        PickFile(path, run)
    assert words in str(caught.value)
    assert "use --restart to start over, or another -o" in str(caught.value)


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (run_of(strategy="blend"), "strategy: 'rules' there"),
        (run_of(SITES[1:]), "holds other sites than those asked for"),
    ],
)
def test_another_run_than_the_complete_one_is_refused(tmp_path: Path, run: PickRun, words: str) -> None:
    path = tmp_path / "picks.jsonl"
    pick(path, (0, 1, 2, 3, 4)).complete()
    with unchanged(tmp_path), pytest.raises(InputError, match="use --restart") as caught:
        PickFile(path, run)
    assert words in str(caught.value)


@pytest.mark.parametrize("content", ["my,own,table\n", "{}\n", '{"schema": 2, "site": \n', "x", "\x00" * 30])
@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("has_journal", [False, True])
def test_a_file_that_is_not_ours_is_never_touched(
    tmp_path: Path, content: str, restart: bool, has_journal: bool
) -> None:
    path = tmp_path / "picks.jsonl"
    if has_journal:
        pick(path, (1,)).close()
    path.write_text(content)
    with unchanged(tmp_path), pytest.raises(InputError, match="is no output of this command"):
        PickFile(path, run_of(), restart=restart)


def test_a_journal_that_is_not_ours_is_never_touched(tmp_path: Path) -> None:
    (tmp_path / "picks.jsonl.journal").write_text("dear diary\n")
    with unchanged(tmp_path), pytest.raises(InputError, match="is no journal of this command"):
        PickFile(tmp_path / "picks.jsonl", run_of(), restart=True)


def test_an_edited_output_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "picks.jsonl"
    pick(path, (0, 1, 3)).close()
    path.write_text(line(1, SITES[1]) + "\n" + line(0, SITES[0]) + "\n", "utf-8")
    with unchanged(tmp_path), pytest.raises(InputError, match="line 1 is not the record that belongs there"):
        PickFile(path, run_of())


def test_two_runs_at_once_are_refused(tmp_path: Path) -> None:
    first = pick(tmp_path / "picks.jsonl", (1,))
    with unchanged(tmp_path), pytest.raises(InputError, match="another run is writing it"):
        PickFile(tmp_path / "picks.jsonl", run_of())
    first.close()
    pick(tmp_path / "picks.jsonl", (0,)).close()


def test_a_journal_that_its_owner_removes_meanwhile_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")  # not on every system
    path = tmp_path / "picks.jsonl"
    tries = iter([True])

    def flock(fd: int, how: int) -> None:
        if next(tries, False):
            path.with_name("picks.jsonl.journal").unlink()
        real(fd, how)

    real = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", flock)
    picks = pick(path, (1,))
    with pytest.raises(InputError, match="another run is writing it"):
        PickFile(path, run_of())
    picks.close()


@pytest.mark.parametrize("name", ["no/such/folder/picks.jsonl", "folder", "x" * 5000, "a\0b"])
def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError):
        PickFile(tmp_path / name, run_of())
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


def test_a_full_disk_stops_the_run_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "picks.jsonl"
    picks = pick(path, (0, 2))

    def full(fd: int, data: memoryview) -> int:
        if len(data) > 10:
            return write(fd, data[:10])
        raise OSError(28, "No space left on device")

    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OSError, match=r"No space left on device.*picks\.jsonl"):
            picks.add(1, record(1, SITES[1]))
    with pytest.raises(OSError, match="writing failed before"):
        picks.add(1, record(1, SITES[1]))
    picks.close()
    picks = pick(path, (1, 3, 4))
    picks.complete()
    assert path.read_text("utf-8") == whole()


def test_a_run_without_a_record_leaves_nothing(tmp_path: Path) -> None:
    pick(tmp_path / "picks.jsonl", ()).close()
    assert list(tmp_path.iterdir()) == []


# --- starting over, trying again ---


@pytest.mark.parametrize("finished", [(), (1, 3), (0, 1), (0, 1, 2, 3, 4)])
def test_fresh_starts_over(tmp_path: Path, finished: tuple[int, ...]) -> None:
    path = tmp_path / "picks.jsonl"
    pick(path, finished).close()
    with unchanged(tmp_path):  # a run that never gets to its first record leaves what was there
        picks = PickFile(path, run_of(cap=9), restart=True)
        assert picks.missing == [0, 1, 2, 3, 4]
        assert list(picks.lines()) == []
        picks.close()
    picks = PickFile(path, run_of(cap=9), restart=True)
    picks.add(1, record(1, SITES[1]))
    assert [index for index, _ in picks.lines()] == [1]
    picks.close()
    picks = PickFile(path, run_of(cap=9))
    assert picks.missing == [0, 2, 3, 4]
    picks.close()


def test_starting_over_without_a_site_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "picks.jsonl"
    pick(path, (0, 1, 2, 3, 4)).complete()
    PickFile(path, run_of(()), restart=True).complete()
    assert not path.exists()


def test_a_complete_output_has_nothing_missing_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "picks.jsonl"
    pick(path, (0, 1, 2, 3, 4)).complete()
    with unchanged(tmp_path):
        picks = PickFile(path, run_of())
        assert (picks.is_complete, picks.missing) == (True, [])
        assert "".join(f"{text}\n" for _, text in picks.lines()) == whole()
        picks.complete()


@pytest.mark.parametrize("torn", ["", '{"schema": 2, "site": "c.ex'])
def test_a_list_that_grew_goes_on_where_the_complete_output_ends(tmp_path: Path, torn: str) -> None:
    path, longer = tmp_path / "picks.jsonl", (*SITES, "c.example", "d.example")
    pick(path, (0, 1, 2, 3, 4)).complete()
    with path.open("a", encoding="utf-8") as file:
        file.write(torn)
    picks = PickFile(path, run_of(longer))
    assert (picks.is_complete, picks.missing) == (False, [5, 6])
    picks.add(6, record(6, longer[6]))
    picks.close()
    picks = PickFile(path, run_of(longer))
    assert picks.missing == [5]
    picks.add(5, record(5, longer[5]))
    picks.complete()
    assert path.read_text("utf-8") == whole(longer)
    assert [file.name for file in tmp_path.iterdir()] == ["picks.jsonl"]


def test_a_table_cannot_grow(tmp_path: Path) -> None:
    path = tmp_path / "picks.csv"
    none: dict[str, Any] = dict.fromkeys(
        ("cap", "query", "scope", "include", "exclude", "want", "never", "content", "render")
    )
    picks = PickFile(path, run_of(SITES, "csv", **none))
    for index, site in enumerate(SITES):
        picks.add(index, record(index, site))
    picks.write()
    picks.complete()
    with unchanged(tmp_path), pytest.raises(InputError, match="holds other sites than those asked for"):
        PickFile(path, run_of((*SITES, "c.example"), "csv", **none))


@pytest.mark.parametrize("is_complete", [False, True])
def test_failed_sites_are_tried_again(tmp_path: Path, is_complete: bool) -> None:
    path = tmp_path / "picks.jsonl"
    picks = PickFile(path, run_of())
    for index, site in enumerate(SITES):
        if is_complete or index != 4:
            picks.add(index, record(index, site, "timeout" if index in (1, 3) else "ok"))
    picks.complete() if is_complete else picks.close()
    picks = PickFile(path, run_of())
    picks.forget_failed()
    assert picks.missing == ([1, 3] if is_complete else [1, 3, 4])
    for index in picks.missing:
        picks.add(index, record(index, SITES[index]))
    picks.complete()
    assert path.read_text("utf-8") == whole()
    assert [file.name for file in tmp_path.iterdir()] == ["picks.jsonl"]


# --- kills ---


class Killed(BaseException):
    """The process ends here."""


class Life:
    """So many changes to the files until the kill; the last one happens in part: bytes of a line, or all or nothing."""

    def __init__(self, changes: int, part: float) -> None:
        self.left = changes
        self.part = part

    def write(self, call: Callable[..., int], fd: int, data: memoryview) -> int:
        self.left -= 1
        if self.left == 0:
            call(fd, data[: int(len(data) * self.part)])
        if self.left <= 0:
            raise Killed
        return call(fd, data)

    def change(self, call: Callable[..., Any], *args: Any, **more: Any) -> Any:
        self.left -= 1
        if self.left == 0 and self.part >= 0.5:
            call(*args, **more)
        if self.left <= 0:
            raise Killed
        return call(*args, **more)


@contextmanager
def killed_after(changes: int, part: float) -> Iterator[None]:
    """Let the process live for so long; afterwards no change reaches the disk."""
    life = Life(changes, part)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", partial(life.write, os.write))
        for name in ("ftruncate", "replace", "unlink"):
            patch.setattr(os, name, partial(life.change, getattr(os, name)))
        yield


class World:
    """Lives of one command, one after the other; what `add` returned from is finished."""

    def __init__(self, path: Path, *, in_order: bool, again: bool) -> None:
        self.path = path
        self.in_order = in_order
        self.again = again
        self.finished: set[int] = set()

    def live(self, order: list[int]) -> None:
        picks = PickFile(self.path, run_of(kind="jsonl" if self.in_order else "csv"))
        try:
            if self.again:
                self.finished &= {index for index in self.finished if index % 2}
                picks.forget_failed()
            missing = picks.missing
            assert not self.finished & set(missing)
            for index in sorted(missing, key=order.index):
                picks.add(index, self.record(index))
                self.finished.add(index)
            if self.in_order:
                picks.complete()
        finally:
            picks.close()

    def record(self, index: int) -> Record:
        """In a run that tries again, places with an even number fail while it is killed."""
        return record(index, SITES[index], "timeout" if self.again and index % 2 == 0 else "ok")


LIVES = st.lists(st.tuples(st.integers(1, 25), st.sampled_from((0.0, 0.3, 0.7, 1.0))), max_size=8)
ORDER = st.permutations(range(len(SITES)))


@settings(deadline=None)  # no test depends on the speed of the machine
@given(LIVES, ORDER, st.booleans(), st.booleans())
def test_a_kill_anywhere_loses_nothing(
    lives: list[tuple[int, float]], order: list[int], in_order: bool, again: bool
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "picks.jsonl"
        world = World(path, in_order=in_order, again=again)
        for changes, part in lives:
            try:
                with killed_after(changes, part):
                    world.live(order)
            except Killed:
                continue
        world.again = False
        world.live(order)
        if in_order:
            expected = "".join(line(i, site, _status(path, i)) + "\n" for i, site in enumerate(SITES))
            assert path.read_text("utf-8") == expected
            assert [file.name for file in Path(folder).iterdir()] == ["picks.jsonl"]
        else:
            picks = PickFile(path, run_of(kind="csv"))
            assert [index for index, _ in picks.lines()] == list(range(len(SITES)))
            picks.close()


def _status(path: Path, index: int) -> str:
    status: str = json.loads(path.read_text("utf-8").splitlines()[index])["status"]
    return status


@given(ORDER, st.integers(1, len(SITES)), st.data())
def test_files_cut_at_any_byte_are_a_state_to_go_on_from(
    order: list[int], count: int, data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "picks.jsonl"
        pick(path, tuple(order[:count])).close()
        beside = path.with_name("picks.jsonl.journal")
        victim = data.draw(st.sampled_from([path, beside]))
        os.truncate(victim, data.draw(st.integers(0, victim.stat().st_size)))
        if (
            not beside.read_bytes().endswith(b"\n")
            and b"\n" not in beside.read_bytes()
            and path.stat().st_size
        ):
            return  # the header is on the disk before the output exists: no kill leads here
        picks = PickFile(path, run_of())
        for index in picks.missing:
            picks.add(index, record(index, SITES[index]))
        picks.complete()
        assert path.read_text("utf-8") == whole()
