"""Files that are replaced as a whole: links stay, and what somebody else has beside them, too."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from honeyguide.adapters.output.page_file import PageFile, StoredPages
from honeyguide.adapters.output.pick_file import PickFile, PickRun
from honeyguide.adapters.output.write import check_replaceable, replacing
from honeyguide.errors import InputError

LINKS = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")


def test_what_stands_beside_is_not_written_over(tmp_path: Path) -> None:
    for name in ("a.csv.part", ".a.csv.part", "p.jsonl.part"):
        (tmp_path / name).write_text("mine")
    with replacing(tmp_path / "a.csv") as part:
        part.write_text("new")
    _reorder(tmp_path / "p.jsonl")
    names = {".a.csv.part": "mine", "a.csv": "new", "a.csv.part": "mine", "p.jsonl.part": "mine"}
    assert names.items() <= {file.name: file.read_text() for file in tmp_path.iterdir()}.items()


@LINKS
@pytest.mark.parametrize("old", ["old", None])
def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path, old: str | None) -> None:
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "real.csv", tmp_path / "a.csv"
    if old is not None:
        target.write_text(old)
    link.symlink_to(target)
    check_replaceable(link, lambda head: head == b"old")
    with replacing(link) as part:
        part.write_text("new")
    assert link.readlink() == target
    assert target.read_text() == "new"
    assert [file.name for file in target.parent.iterdir()] == ["real.csv"]


@LINKS
def test_a_link_to_lines_stays(tmp_path: Path) -> None:
    target, link = tmp_path / "real.jsonl", tmp_path / "p.jsonl"
    target.touch()
    link.symlink_to(target)
    lines = _reorder(link)
    assert link.readlink() == target
    assert [json.loads(line)["url"] for line in target.read_text().splitlines()] == lines


@LINKS
@pytest.mark.parametrize("restart", [False, True])
def test_a_link_to_picks_stays(tmp_path: Path, restart: bool) -> None:
    target, link = tmp_path / "real.jsonl", tmp_path / "picks.jsonl"
    link.symlink_to(target)
    picks = PickFile(link, PickRun({}, ("a.example",)), restart=restart)
    picks.add(0, {"schema": 2, "site": "a.example"})
    picks.complete()
    assert link.readlink() == target
    assert json.loads(target.read_text())["site"] == "a.example"


@LINKS
def test_links_in_a_circle_are_one_sentence(tmp_path: Path) -> None:
    link = tmp_path / "a.jsonl"
    link.symlink_to(link)
    with pytest.raises(InputError, match="jsonl: cannot be written: Too many levels of symbolic links"):
        check_replaceable(link, lambda _: True)
    with pytest.raises(InputError, match="cannot be written"), replacing(link):
        pass
    with pytest.raises(InputError, match="cannot be written"):
        PageFile(link)
    with pytest.raises(InputError, match="cannot be written"):
        PickFile(link, PickRun({}, ("a.example",)))
    assert link.readlink() == link


def _reorder(path: Path) -> list[str]:
    """Have a file of lines written anew, as its order is another than that of the store."""
    first, second = ({"schema": 2, "url": f"https://a.example/{n}", "fetched_at": None} for n in "ab")
    path.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
    lines = PageFile(path)
    lines.follow(StoredPages(lambda: iter([second, first]), lambda _: True))
    lines.close()
    return [str(second["url"]), str(first["url"])]
