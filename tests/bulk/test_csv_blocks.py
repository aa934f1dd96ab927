"""CSV in blocks: whatever the quotes, line ends and mistakes, the rows are those of the row reader (PLAN-3)."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from honeyguide.adapters.files import rows
from honeyguide.adapters.files.rows import raw_rows
from honeyguide.adapters.files.sources import sources_of
from honeyguide.bulk import csv_blocks
from honeyguide.bulk.csv_blocks import PlainBlock
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from honeyguide.adapters.files.rows import RawRow

HEADER = b"url,visits,note\n"
LINES = (
    b"https://a.example/1,3,plain\n",
    b'https://a.example/2,4,"a ""b"", c"\n',
    b'"https://a.example/3",5,\n',
    b"\n",
    b",,\n",
    b" ,\x1c,\n",
    b"https://a.example/4,6\n",
    b"https://a.example/5,7,x,y\n",
    b"https://a.example/6,8,x\r\n",
    b'https://a.example/7,9,"two\nlines"\n',
    b"https://a.example/8,\xff,x\n",
    b"https://a.example/9,1,\xc3\xa4\n",
    b'https://a.example/10,2,a "quote" inside\n',
    b",5,no address\n",
    b"https://a.example/11;,1,a;b;\tc\n",
)
SIGNS = (",", ";", "\t")


def blocks_and_rows(path: Path) -> tuple[list[RawRow], list[RawRow], int]:
    (source,) = sources_of([str(path)], "csv")
    found, plain, first = [], 0, 0
    for block in csv_blocks.csv_blocks(source):
        if isinstance(block, PlainBlock):
            plain += 1
            found += block.pick(range(first, first + block.frame.height))
        else:
            found += block.rows
        first = len(found)
    return found, list(raw_rows(source)), plain


def shown(given: list[RawRow]) -> list[tuple[int, str, object]]:
    return [
        (row.number, row.where, str(row.values) if isinstance(row.values, InputError) else row.values)
        for row in given
    ]


def separated(text: bytes, sign: str) -> bytes:
    """Write another sign where commas are, and commas in its place."""
    return text.translate(bytes.maketrans(f",{sign}".encode(), f"{sign},".encode()))


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("seed", range(40))
def test_blocks_give_the_rows_of_the_row_reader(
    seed: int, sign: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)  # noqa: S311 - made-up lines
    monkeypatch.setattr(csv_blocks, "BLOCK_BYTES", chance.choice((1, 60, 200, 1 << 20)))
    few = chance.choice((1, 3, len(LINES)))
    lines = [chance.choice(LINES[:few]) for _ in range(chance.randrange(60))]
    file = tmp_path / "known.csv"
    text = separated(HEADER + b"".join(lines).rstrip(b"\n"), sign)
    file.write_bytes(chance.choice((b"", b"\n\n", b"\xef\xbb\xbf")) + text)
    found, by_rows, plain = blocks_and_rows(file)
    assert shown(found) == shown(by_rows)
    assert plain or few == len(LINES) or not lines


@pytest.mark.parametrize(
    "text", [b'https://a.example/,1,"open\n', b'https://a.example/,1,"a"b\n', b"x" * 1_000_001]
)
@pytest.mark.parametrize("sign", SIGNS)
def test_what_is_no_csv_is_the_same_sentence(text: bytes, sign: str, tmp_path: Path) -> None:
    file = tmp_path / "known.csv"
    file.write_bytes(separated(HEADER + LINES[0] * 3 + text, sign))
    (source,) = sources_of([str(file)], "csv")
    with pytest.raises(InputError) as by_rows:
        list(raw_rows(source))
    with pytest.raises(InputError) as by_blocks:
        list(csv_blocks.csv_blocks(source))
    assert str(by_blocks.value) == str(by_rows.value)


@pytest.mark.parametrize(
    ("header", "sign", "names"),
    [
        ("url", ",", ["url"]),
        ("url,a;b;c", ",", ["url", "a;b;c"]),
        ("a;b;c,url", ",", ["a;b;c", "url"]),
        ('"a;b;c",url', ",", ["a;b;c", "url"]),
        ('"x;url;y",url', ",", ["x;url;y", "url"]),
        ('"a;b\nc;d",url', ",", ["a;b\nc;d", "url"]),
        ('url;"a,b,c"', ";", ["url", "a,b,c"]),
        ('a, b, c;"url"', ";", ["a, b, c", "url"]),
        ("url;", ";", ["url", ""]),
        ("\t\na\t url \tb;c", "\t", ["a", "url", "b;c"]),
    ],
)
def test_cells_are_separated_by_what_finds_the_url(
    header: str, sign: str, names: list[str], tmp_path: Path
) -> None:
    file, cells = tmp_path / "known.csv", dict.fromkeys(names, "https://a.example/;,x")
    file.write_text("\n".join([header, sign.join(f'"{cell}"' for cell in cells.values())]), "utf-8")
    found, by_rows, plain = blocks_and_rows(file)
    assert shown(found) == shown(by_rows)
    assert [row.values for row in found] == [cells]
    assert plain == 1


def test_a_named_column_finds_the_sign_too(tmp_path: Path) -> None:
    file = tmp_path / "known.csv"
    file.write_text("address;visits,a,b\nhttps://a.example/;3\n", "utf-8")
    (source,) = sources_of([str(file)], None, {"address": "url"})
    assert [row.values for row in raw_rows(source)] == [{"url": "https://a.example/", "visits,a,b": "3"}]


def test_a_block_holds_columns_of_text_whatever_they_look_like(tmp_path: Path) -> None:
    file = tmp_path / "known.csv"
    file.write_bytes(HEADER + LINES[0] + LINES[2])
    (source,) = sources_of([str(file)], "csv")
    (block,) = csv_blocks.csv_blocks(source)
    assert isinstance(block, PlainBlock)
    assert block.frame.to_dicts() == [
        {"url": "https://a.example/1", "visits": "3", "note": "plain"},
        {"url": "https://a.example/3", "visits": "5", "note": None},
    ]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_file_of_blank_lines_ends_in_a_sentence(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "MAX_BLANK_LINES", 10)
    file = tmp_path / f"known.{kind}"
    file.write_bytes(b"\n" * 11)
    (source,) = sources_of([str(file)], kind)
    with pytest.raises(InputError, match=r"line 11.*comes after 10 blank lines"):
        list(raw_rows(source))
    file.write_bytes(b"\n" * 10)
    assert list(raw_rows(source)) == []


def test_a_sign_too_many_at_the_end_of_a_file_is_an_error_in_blocks_too(tmp_path: Path) -> None:
    file = tmp_path / "known.csv"
    file.write_text("url,visits\nhttps://a.example/1,5\nhttps://a.example/2,5,", "utf-8")
    (source,) = sources_of([str(file)], "csv")
    assert not any(isinstance(block, PlainBlock) for block in csv_blocks.csv_blocks(source))


@pytest.mark.parametrize("last", ["https://a.example/9,4,0.9,", "https://a.example/9,4,,"])
def test_a_cell_too_few_does_not_balance_a_sign_too_many_at_the_end(tmp_path: Path, last: str) -> None:
    file = tmp_path / "known.csv"
    lines = [
        "url,visits,topic_relevance",
        *[f"https://a.example/{n},1,0.5" for n in range(3)],
        "https://a.example/8,4",
        last,
    ]
    file.write_text("\n".join(lines), "utf-8")
    (source,) = sources_of([str(file)], "csv")
    assert not any(isinstance(block, PlainBlock) for block in csv_blocks.csv_blocks(source))
