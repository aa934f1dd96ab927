from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide.adapters.files.read import MAX_LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]

NOW = ("--now", "2024-06-15T08:00:00Z")
HEADER = "url,visits,last_visited,last_changed,topic_relevance,hub_depth,is_hub\n"
GOOD = "https://a.example/,1,,,0.5,1,false\n"


def _records(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("file", ["known.csv", "known.jsonl"])
def test_ranks_with_reasons_and_points(run: Run, file: str) -> None:
    records = _records(run("plan", file, *NOW))
    assert [(r["rank"], r["score"], r["level"]) for r in records] == [
        (1, 94, "very high"),
        (2, 50, "medium"),
        (3, 20, "low"),
    ]
    assert records[0]["reasons"] == ["Changed in last 24h", "High topic relevance", "Is a hub page"]
    assert sum(entry["points"] for entry in records[0]["points"]) == 94
    assert list(records[0]) == ["schema", "rank", "url", "score", "level", "reasons", "points", "next_due"]


def test_whole_numbers_have_no_fraction(run: Run) -> None:
    assert '"score": 94,' in run("plan", "known.csv", *NOW).stdout
    assert ".0" not in run("plan", "known.csv", *NOW, "--format", "table").stdout


def test_csv_in_csv_out(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(run("plan", "known.csv", *NOW, "--format", "csv").stdout)))
    assert [row["score"] for row in rows] == ["94", "50", "20"]
    assert (
        rows[0]["points"]
        == "base (+50); Changed in last 24h (+20); High topic relevance (+14); Is a hub page (+10)"
    )


def test_table_for_people(run: Run) -> None:
    shown = run("plan", "known.csv", *NOW, "--format", "table").stdout
    assert "+20 Changed in last 24h" in shown
    assert "50 base" in shown
    assert "3 of 3 URLs" in shown


@pytest.mark.parametrize(
    ("arguments", "ranks"),
    [
        (["--top", "1"], [1]),
        (["--min-score", "50"], [1, 2]),
        (["--level", "low"], [3]),
        (["--level", "low", "--level", "medium", "--top", "1"], [2]),
        (["--min-score", "100"], []),
        (["--max-score", "50"], [3]),
        (["--max-score", "94", "--top", "1"], [2]),
        (["--min-score", "20", "--max-score", "94"], [2, 3]),
    ],
)
def test_filters_keep_the_rank(run: Run, arguments: list[str], ranks: list[int]) -> None:
    assert [record["rank"] for record in _records(run("plan", "known.csv", *NOW, *arguments))] == ranks


def test_standard_input_needs_a_format(run: Run) -> None:
    assert run("plan", "-", input=HEADER + GOOD).exit_code == 2
    assert len(_records(run("plan", "-", "--input-format", "csv", input=HEADER + GOOD))) == 1


def test_times_in_the_future_are_a_note_not_an_error(run: Run) -> None:
    rows = GOOD + "".join(f"https://a.example/{i},1,2030-01-01T00:00:00Z,,0.5,1,false\n" for i in range(2))
    result = run("plan", "-", "--input-format", "csv", *NOW, input=HEADER + rows)
    assert len(_records(result)) == 3
    assert (
        result.stderr
        == "Note: 2 rows have times in the future, counted as just now; the first is row 2 (last_visited)\n"
    )


@pytest.mark.parametrize(
    ("row", "field", "sentence"),
    [
        ("nonsense,1,,,0.5,1,false", "url", "is not an http(s) URL"),
        ("www.a.example,1,,,0,1,no", "url", "'www.a.example' has no scheme; write https://www.a.example\n"),
        ("/services,1,,,0,1,no", "url", "it is relative, and there is no http(s) page"),
        (",1,,,0.5,1,false", "url", "should be an http(s) URL"),
        ("https://a.example/,-1,,,0.5,1,false", "visits", "should be a whole number, 0 or more"),
        ("https://a.example/,1,,yesterday,0.5,1,false", "last_changed", "is not a time"),
        ("https://a.example/,1,,,NaN,1,false", "topic_relevance", "should be a finite number"),
        ("https://a.example/,1,,,1.5,1,false", "topic_relevance", "should lie between 0 and 1"),
        (
            'https://a.example/,1,,,"0,9",1,false',
            "topic_relevance",
            "'0,9' should be a number without a comma; decimals have a point, as in 0.9",
        ),
        ('https://a.example/,"1,000",,,0.5,1,false', "visits", "'1,000' should be a number without a comma"),
        ("https://a.example/,1,,,0.5,x,false", "hub_depth", "should be a number"),
        ("https://a.example/,1,,,0.5,1,maybe", "is_hub", "should be true or false"),
    ],
)
def test_a_wrong_value_names_file_row_and_field_and_prints_nothing(
    run: Run, row: str, field: str, sentence: str
) -> None:
    Path("bad.csv").write_text(HEADER + GOOD + row + "\n", "utf-8")
    result = run("plan", "bad.csv")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"Error: bad.csv line 3, row 2, field {field}: ")
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "bad.csv: has no rows"),
        (HEADER.encode(), "bad.csv: has no rows"),
        (
            b"address,visits\n",
            "its first line names no column url, but address, visits; --column NAME says which one it is\n",
        ),
        (
            b"address;visits\n",
            "its first line names no column url, but address, visits; --column NAME says which one it is\n",
        ),
        (
            HEADER.replace(",", "|").encode(),
            "bad.csv: its columns are separated by bars; save it with commas\n",
        ),
        (HEADER.encode() + b"https://a.example/,1\n", "bad.csv line 2: has 2 fields where the header has 7"),
        (HEADER.encode() + b'"https://a.example/,1\n', "bad.csv line 2: is not CSV"),
        (HEADER.encode() + b'"' + b"x" * 400_000 + b'",1,,,0,1,no\n', "bad.csv line 2: is not CSV"),
        (HEADER.encode() + b"https://a.example/\xff,1,,,0,1,no\n", "bad.csv line 2: is not UTF-8"),
        ((HEADER + GOOD).encode("utf-16"), "bad.csv line 1: is not UTF-8"),
        (HEADER.replace("is_hub", "is_hub,isHub").encode(), "field 'is_hub': is given twice"),
        (HEADER.encode() + b"x" * (MAX_LINE_BYTES + 1), "bad.csv line 2: is longer than 1 MB"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(run: Run, content: bytes, sentence: str) -> None:
    Path("bad.csv").write_bytes(content)
    result = run("plan", "bad.csv")
    assert (result.exit_code, result.stdout) == (1, "")
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "line 2: is not JSON"),
        ("[1]", "line 2: is not a JSON object"),
        ("[" * 100_000, "line 2: is not JSON"),
        ('{"url": ' + "9" * 5000 + "}", "line 2: is not JSON"),
        ('{"visits": 1}', "line 2, row 2, field url: is missing"),
        (
            '{"url": "https://a.example/", "visits": 1, "topic_relevance": NaN, "hub_depth": 1, "is_hub": true}',
            "finite",
        ),
    ],
)
def test_json_lines_that_cannot_be_read(run: Run, line: str, sentence: str) -> None:
    good = (
        '{"url": "https://a.example/", "visits": 1, "topic_relevance": 0, "hub_depth": 1, "is_hub": true}\n'
    )
    result = run("plan", "-", "--input-format", "jsonl", input=good + line)
    assert (result.exit_code, result.stdout) == (1, "")
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_gigabyte_without_a_line_end_is_refused_early(run: Run) -> None:
    with Path("huge.jsonl").open("wb") as file:
        file.truncate(1 << 30)
    assert "huge.jsonl line 1: is longer than 1 MB" in run("plan", "huge.jsonl").stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--now", "today"],
        ["--now", "2024-06-15T08:00:00"],
        ["--now", "2024-06-31"],
        ["--top", "0"],
        ["--level", "huge"],
        ["--min-score", "101"],
        ["--max-score", "101"],
        ["--max-score", "0"],
        ["--max-score", "nan"],
        ["--max-score", "50", "--min-score", "50"],
    ],
)
def test_wrong_options_are_usage_errors(run: Run, arguments: list[str]) -> None:
    result = run("plan", "known.csv", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")


def test_a_date_is_its_midnight_in_utc(run: Run) -> None:
    asked = ("plan", "known.csv", "--now")
    assert run(*asked, "2024-06-15").stdout == run(*asked, "2024-06-15T00:00:00Z").stdout != ""


def test_extra_columns_and_blank_lines_are_fine(run: Run) -> None:
    text = "\ufeff\n" + HEADER.replace("url", "note,url") + "\nx," + GOOD + "\n,,,,,,,\n"
    assert len(_records(run("plan", "-", "--input-format", "csv", input=text))) == 1


def test_more_rows_than_fit_need_top(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("honeyguide.cli.commands.plan.MAX_ROWS", 2)
    result = run("plan", "known.csv")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "has more than 2 rows; ask for the best of them with --top" in result.stderr
    assert len(_records(run("plan", "known.csv", "--top", "3"))) == 3
