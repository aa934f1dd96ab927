"""Files of pages: whose they are, and when something is changed in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from honeyguide.adapters.output.page_file import OPENING, PageFile, StoredPages
from honeyguide.core.records import Record
from honeyguide.errors import InputError


def record(name: str) -> Record:
    return {"schema": 2, "url": f"https://a.example/{name}", "fetched_at": None}


def line(name: str) -> str:
    return f"{json.dumps(record(name))}\n"


def truth(*names: str) -> StoredPages:
    """A store that has these pages, and waits for none."""

    def pages() -> Iterator[Record]:
        return (record(name) for name in names)

    return StoredPages(pages, lambda _: False)


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"',
        "{\n",
        '{\n  "important": true\n}',
        '{\n  "important": true\n}\n',
        "\n",
        "\nimportant notes",
        "\nimportant notes\n",
        '{"schema"\n',
        '{"schema": 2, "site": "a.example"}',
        f"{OPENING[:9].decode()}\n{OPENING.decode()}",
    ],
)
def test_what_is_not_ours_is_refused_and_not_touched(tmp_path: Path, text: str, restart: bool) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match="exists and is no output of this command; choose another -o"):
        PageFile(path, restart=restart)
    assert path.read_text() == text


@pytest.mark.parametrize("text", [line("x") + '{"schema": 2, "ur', line("x") + line("y")])
@pytest.mark.parametrize("pages", [(), ("a",)])
def test_pages_of_another_crawl_are_refused_and_not_touched(
    tmp_path: Path, text: str, pages: tuple[str, ...]
) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(text)
    lines = PageFile(path)
    with pytest.raises(InputError, match="holds pages of another crawl"):
        lines.follow(truth(*pages))
    lines.close()
    assert path.read_text() == text
    assert [one.name for one in tmp_path.iterdir()] == ["p.jsonl"]


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("text", [line("a"), line("a") + '{"schema": 2', '{"schema": 2, "url"', '{"sch'])
def test_nothing_changes_before_the_run_begins(tmp_path: Path, text: str, restart: bool) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(text)
    PageFile(path, restart=restart).close()
    assert path.read_text() == text


@pytest.mark.parametrize("torn", ["", '{"sch', line("b")[:-1]])
@pytest.mark.parametrize("pages", [(), ("a",), ("a", "b")])
def test_what_was_torn_goes_when_the_run_begins(tmp_path: Path, torn: str, pages: tuple[str, ...]) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text((line("a") if pages else "") + torn)
    lines = PageFile(path)
    lines.follow(truth(*pages))
    assert path.read_text() == "".join(map(line, pages))
    lines.append(record("c"), {})
    lines.close()
    assert path.read_text() == "".join(map(line, (*pages, "c")))


def test_a_fresh_file_is_emptied_once_when_the_run_begins(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(line("x") + line("y"))
    lines = PageFile(path, restart=True)
    assert path.read_text() == line("x") + line("y")
    lines.follow(truth())
    assert path.read_text() == ""
    lines.append(record("a"), {})
    lines.follow(truth("a"))
    lines.close()
    assert path.read_text() == line("a")
