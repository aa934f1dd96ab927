"""`honeyguide plan` on Parquet and large files, and the ways to look at a plan."""

from __future__ import annotations

import csv
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide.adapters.files import sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]

pl = pytest.importorskip("polars")  # an extra
NOW = ("--now", "2024-06-15T08:00:00Z")
HEADER = "url,visits,last_visited,last_changed,topic_relevance,hub_depth,is_hub\n"


def rows(count: int) -> str:
    return HEADER + "".join(
        f"https://h{number % 3}.example/{number},{number},,,{number % 11 / 10},{number % 6},{number % 7 == 0}\n"
        for number in range(count)
    )


def records(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def parquet(run: Run) -> str:
    """The file of the examples as Parquet; `run` comes first because it makes the folder."""
    del run
    frame = pl.read_csv("known.csv", try_parse_dates=True)
    frame.with_columns(pl.col("isHub") == "true").write_parquet("known.parquet")
    return "known.parquet"


def test_parquet_in_gives_the_same_as_csv_in(run: Run, parquet: str) -> None:
    assert records(run("plan", parquet, *NOW)) == records(run("plan", "known.csv", *NOW))
    renamed = Path("known").write_bytes(Path(parquet).read_bytes())
    assert renamed
    assert len(records(run("plan", "known", "--input-format", "parquet", *NOW))) == 3


def test_rows_and_columns_print_the_same_bytes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("many.csv").write_text(rows(3000), "utf-8")
    asked = ("plan", "many.csv", *NOW, "--level", "high", "--level", "low", "--top", "50", "--per-host", "20")
    by_columns = run(*asked)
    monkeypatch.setattr(sources, "SMALL_BYTES", 10**9)
    by_rows = run(*asked)
    assert by_columns.exit_code == 0
    assert by_columns.stdout == by_rows.stdout != ""


def test_per_host(run: Run) -> None:
    Path("many.csv").write_text(rows(300), "utf-8")
    found = records(run("plan", "many.csv", *NOW, "--per-host", "2", "--top", "5"))
    hosts = [record["url"].split("/")[2] for record in found]
    assert len(hosts) == 5
    assert max(map(hosts.count, hosts)) == 2
    assert [record["rank"] for record in found] == sorted({record["rank"] for record in found})


def test_levels_are_counted_for_people(run: Run) -> None:
    shown = run("plan", "known.csv", *NOW, "--top", "1", "--format", "table").stdout
    assert "1 of 3 URLs" in shown
    assert [line.split()[-2:] for line in shown.splitlines()[-5:-3]] == [["1", "#" * 40], ["high", "0"]]


def test_skipped_rows_are_in_a_file_and_the_exit_code_says_so(run: Run) -> None:
    text = rows(5) + "nonsense,1,,,0.5,1,no\nhttps://a.example/,-1,,,0.5,1,no\nhttps://a.example/,1\n"
    Path("some.csv").write_text(text, "utf-8")
    result = run("plan", "some.csv", *NOW, "--on-error", "skip")
    assert result.exit_code == 3
    assert len(result.stdout.splitlines()) == 5
    assert result.stderr == "Note: 3 rows are rejected; see some.csv.rejected\n"
    left = [json.loads(line) for line in Path("some.csv.rejected").read_text("utf-8").splitlines()]
    assert [(line["row"], line["field"]) for line in left] == [(6, "url"), (7, "visits"), (8, None)]
    assert left[1]["reason"].endswith("'-1' should be a whole number, 0 or more")
    assert left[1]["given"]["visits"] == "-1"


def test_nothing_skipped_is_done(run: Run) -> None:
    assert run("plan", "known.csv", *NOW, "--on-error", "skip").exit_code == 0
    assert not Path("known.csv.rejected").exists()


def test_standard_input_may_have_skipped_rows(run: Run) -> None:
    result = run("plan", "-", "--input-format", "csv", "--on-error", "skip", input=rows(2) + "x,1,,,0,1,no\n")
    assert result.exit_code == 3
    assert Path("stdin.rejected").exists()


@pytest.mark.parametrize("count", [50, 3000], ids=["by row", "by column"])
def test_standard_input_is_read_like_a_file_and_leaves_none_behind(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, count: int
) -> None:
    place = tmp_path / "copies"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    text = rows(count)
    Path("all.csv").write_text(text, "utf-8")
    piped = run("plan", "-", "--input-format", "csv", *NOW, input=text)
    assert piped.exit_code == 0
    assert piped.stdout == run("plan", "all.csv", *NOW).stdout
    if sys.platform == "linux":
        assert list(place.iterdir()) == []


def test_repeated_urls_are_said_once(run: Run) -> None:
    text = rows(1) + "https://a.example/,1,,,0.9,1,yes\nhttps://a.example/,2,,,0,1,no\n" * 2
    result = run("plan", "-", "--input-format", "csv", *NOW, input=text)
    assert [record["score"] for record in records(result)] == [60, 50]
    assert result.stderr == "Note: 3 rows repeat a URL, and the last of each counts; the first is row 3\n"


@pytest.mark.parametrize("name", ["plan.jsonl", "plan.csv", "plan.parquet"])
def test_a_plan_in_a_file(run: Run, name: str) -> None:
    result = run("plan", "known.csv", *NOW, "-o", name)
    assert (result.exit_code, result.stdout) == (0, "")
    if name.endswith("csv"):
        found = [row["score"] for row in csv.DictReader(Path(name).read_text("utf-8").splitlines())]
        assert found == ["94", "50", "20"]
    else:
        frame = pl.read_parquet(name) if name.endswith("parquet") else pl.read_ndjson(name)
        assert frame["score"].to_list() == [94, 50, 20]
        assert frame["points"][0][0]["rule"] == "base"
    assert not Path(f"{name}.part").exists()


def test_a_file_of_no_known_kind_is_a_usage_error(run: Run) -> None:
    assert run("plan", "known.csv", "-o", "plan.txt").exit_code == 2
    assert run("plan", "known.txt").exit_code == 2
    assert run("plan", "known.csv", "-o", "plan.csv", "--explain", "https://a.example/").exit_code == 2


def test_several_files_and_patterns_are_one_input(run: Run) -> None:
    for number in range(3):
        Path(f"part-{number}.csv").write_text(
            HEADER + f"https://a.example/{number},1,,,0.{number},1,no\n", "utf-8"
        )
    assert len(records(run("plan", "part-*.csv"))) == 3
    assert len(records(run("plan", "part-0.csv", "part-1.csv"))) == 2
    assert "no file matches" in run("plan", "none-*.csv").stderr


# --- explain --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["known.csv", "known.parquet"])
def test_explain_says_rank_signals_and_every_rule(run: Run, parquet: str, file: str) -> None:
    assert parquet
    (found,) = records(run("plan", file, *NOW, "--explain", "https://news.example/a/b/c"))
    assert (found["rank"], found["score"], found["level"]) == (3, 20, "low")
    assert found["signals"]["last_visited"] == "2024-06-15T07:30:00Z"
    paid = {rule["rule"]: rule["points"] for rule in found["rules"]}
    assert paid["visited-1h"] == -30
    assert paid["stale-7d"] is None
    assert found["unknown"] == ["since_change_s"]


def test_explain_for_people(run: Run) -> None:
    shown = run(
        "plan", "known.csv", *NOW, "--explain", "https://news.example/world", "--format", "table"
    ).stdout
    assert "Rank 1, score 94, very high: crawl immediately." in shown
    assert "+20" in shown
    assert "Not visited in 7+ days" in shown


def test_explain_of_a_url_that_is_not_there(run: Run) -> None:
    result = run("plan", "known.csv", "--explain", "https://elsewhere.example/")
    assert (result.exit_code, result.stdout) == (1, "")
    words = "'https://elsewhere.example/' is not in the input; write it as it stands there"
    assert result.stderr == f"Error: known.csv: {words}\n"


@pytest.mark.parametrize("slip", ["lastvisited", "last_vistied", "lastVisit"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_column_with_a_slip_in_its_name_is_told(run: Run, kind: str, slip: str) -> None:
    row = {"url": "https://a.example/", "visits": 1, slip: None, "topic_relevance": 0.5, "hub_depth": 1, "is_hub": True, "title": "x"}  # fmt: skip
    frame = pl.DataFrame([row], schema_overrides={slip: pl.String})
    if kind == "csv":
        frame.write_csv("known.csv")
    elif kind == "jsonl":
        Path("known.jsonl").write_text(json.dumps(row))
    else:
        frame.write_parquet("known.parquet")
    result = run("plan", f"known.{kind}", *NOW)
    assert len(records(result)) == 1
    assert result.stderr == f"Note: known.{kind}: column '{slip}' is not used; did you mean last_visited?\n"


def test_columns_that_are_only_more_are_not_told(run: Run) -> None:
    more = HEADER.strip() + ",title,priority,visited,status\n"
    Path("more.csv").write_text(more + "https://a.example/,1,,,0.5,1,no,t,1,yes,200\n")
    assert run("plan", "more.csv", *NOW).stderr == ""


def test_times_of_a_table_without_a_zone_are_utc_and_that_is_said(run: Run) -> None:
    frame = pl.DataFrame({"url": ["https://a.example/"], "visits": [1], "last_visited": [datetime(2024, 6, 15, 7, 30)],  # noqa: DTZ001 - as tables write them
                          "topic_relevance": [0.5], "hub_depth": [1], "is_hub": [True]})  # fmt: skip
    frame.write_parquet("known.parquet")
    result = run("plan", "known.parquet", *NOW)
    assert "Recently visited (<1h)" in result.stdout
    assert result.stderr == "Note: known.parquet: times without a zone are taken as UTC, in last_visited\n"


def test_a_time_of_a_table_is_written_as_a_person_does(run: Run) -> None:
    frame = pl.DataFrame({"url": ["https://a.example/"], "visits": [1], "last_visited": [datetime(1960, 11, 2, 8, tzinfo=UTC)],
                          "topic_relevance": [0.5], "hub_depth": [1], "is_hub": [True]})  # fmt: skip
    frame.write_parquet("known.parquet")
    result = run("plan", "known.parquet", *NOW)
    assert result.exit_code == 1
    assert "field last_visited: '1960-11-02T08:00:00+00:00' should lie between the years" in result.stderr


def test_a_table_without_urls_is_told_which_columns_it_has(run: Run) -> None:
    pl.DataFrame({"address": ["https://a.example/"], "visits": [1]}).write_parquet("known.parquet")
    sentence = "Error: known.parquet: has no column url; it has address, visits\n"
    assert run("plan", "known.parquet").stderr == sentence
