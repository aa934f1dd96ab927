"""Commands that only read a store: they change nothing, need not be able to write, and make no store of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]

READING = (
    ("runs",),
    ("explain", "/about"),
    ("export", "pages"),
    ("export", "links"),
    ("plan", "--top", "3", "--now", "2026-01-01T00:00:00Z"),
    ("plan", "--explain", "https://docs.example.org/about", "--now", "2026-01-01T00:00:00Z"),
    ("simulate", "recrawl"),
)
NO_CHANGE = "no visit has seen a change yet"  # as far as simulate comes with a store of one crawl


def state(folder: Path) -> dict[str, int]:
    return {file.name: file.lstat().st_mtime_ns for file in folder.iterdir()}


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_they_change_nothing_and_need_not_write(
    run: Run, crawled: Path, crawled_bytes: bytes, command: tuple[str, ...]
) -> None:
    before = state(crawled)
    result = run(*command, "--store", "honeyguide.db")
    assert result.exit_code == 0 or NO_CHANGE in result.stderr
    assert state(crawled) == before
    (
        crawled / "honeyguide.db-shm"
    ).mkdir()  # so that SQLite cannot work beside the file, whoever runs the tests
    alone = run(*command, "--store", "honeyguide.db")
    assert (alone.exit_code, alone.stdout, alone.stderr) == (result.exit_code, result.stdout, result.stderr)
    assert (crawled / "honeyguide.db").read_bytes() == crawled_bytes
    assert state(crawled)["honeyguide.db"] == before["honeyguide.db"]


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_they_make_no_store_of_an_empty_file(run: Run, folder: Path, command: tuple[str, ...]) -> None:
    (folder / "empty.db").touch()
    before = state(folder)
    result = run(*command, "--store", "empty.db")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: empty.db: is no Honeyguide store; name another file\n"
    assert state(folder) == before
    assert (folder / "empty.db").read_bytes() == b""


def test_enqueue_writes(run: Run, crawled: Path) -> None:
    before = state(crawled)
    assert run("plan", "--store", "honeyguide.db", "--top", "1", "--enqueue").exit_code == 0
    assert state(crawled) != before
    (crawled / "honeyguide.db-shm").symlink_to("missing/folder")
    result = run("plan", "--store", "honeyguide.db", "--top", "1", "--enqueue")
    assert (result.exit_code, "honeyguide.db: cannot be " in result.stderr) == (1, True)
