"""`honeyguide eval`: figures by labels of one's own, changes between runs, one sentence for bad input."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from honeyguide.cli.commands.evaluate import diff
from honeyguide.cli.commands.evaluate import eval as command

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]


def _page(path: str, rank: int | None, score: float | None = 50, out: str | None = None) -> dict[str, Any]:
    why = None if out is None else {"rule": out, "reason": f"because of {out}"}
    url = f"https://www.acme.example{path}"
    return {"url": url, "rank": rank, "score": score, "bucket": "service", "rejected": why}


def _record(site: str, *pages: dict[str, Any], homepage: str | None = None) -> dict[str, Any]:
    selected = [page for page in pages if page["rank"]]
    return {
        "schema": 2, "site": site, "homepage": homepage, "status": "ok", "selected": selected, "candidates": list(pages),
    }  # fmt: skip


NOW = [
    _record(
        "acme.example",
        _page("/services", 1, 90),
        _page("/about", 2, 70),
        _page("/alarms/", 3),
        _page("/town", None, None, "doorway"),
        homepage="https://www.acme.example/",
    ),
    _record("http://other.example:8080", _page("/town", 1)),
]
BEFORE = [
    _record("acme.example", _page("/services", 1, 80), _page("/about", None, 30, "cap"), _page("/town", 2)),
    _record("other.example:8080", _page("/town", 1)),
]
GOLD = [
    {
        "site": "https://www.acme.example",
        "core": ["/services", "https://www.acme.example/about/"],
        "acceptable": ["alarms.html"],
    },
    {"site": "other.example:8080", "core": ["/services"], "junk": ["/town"]},
]


def _write(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command in a folder with two runs and labels."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    _write("picks.jsonl", NOW)
    _write("before.jsonl", BEFORE)
    _write("gold.jsonl", GOLD)

    def runner(*args: str, **more: str) -> Result:
        words = args or ("picks.jsonl", "--gold", "gold.jsonl")
        return CliRunner().invoke(command, words, input=more.get("input"))

    return runner


def _records(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_record_for_each_site_and_one_for_the_run(judge: Run) -> None:
    acme, other, run = _records(judge())
    assert (acme["site"], acme["verdict"], acme["core"], acme["good"]) == ("www.acme.example", "good", 2, 3)
    assert acme["labels"] == ["core", "core", "acceptable"]
    assert (other["verdict"], other["junk"], other["labels"]) == ("NOT good, with junk", 1, ["junk"])
    assert (run["kind"], run["sites"], run["good_sites"], run["junk"]) == ("total", 2, 1, 1)
    assert (run["precision"], run["coverage"]) == (0.75, 0.6667)
    assert run["buckets"][0] == {
        "bucket": "service",
        "picks": 4,
        "core": 2,
        "good": 3,
        "junk": 1,
        "precision": 0.75,
    }


def test_a_table_says_good_and_not_good_in_words(judge: Run) -> None:
    shown = judge("picks.jsonl", "--gold", "gold.jsonl", "--format", "table").stdout
    rows = [line.split() for line in shown.splitlines()]
    assert ["www.acme.example", "3", "2", "3", "0", "good"] in rows
    assert ["other.example:8080", "1", "0", "0", "1", "NOT", "good,", "with", "junk"] in rows
    assert "1 of 2 sites good (50%, interval 9% to 91%), 1 by core pages alone" in shown
    assert "1 junk in 4 picks (25%, interval 5% to 70%)" in shown
    assert "67% of all core pages" in shown


def test_csv_has_a_row_for_each_site(judge: Run) -> None:
    result = judge("picks.jsonl", "--gold", "gold.jsonl", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["site"], row["verdict"], row["labels"]) for row in rows] == [
        ("www.acme.example", "good", "core; core; acceptable"),
        ("other.example:8080", "NOT good, with junk", "junk"),
    ]


@pytest.mark.usefixtures("judge")  # makes the files
def test_diff_says_what_changed_and_why() -> None:
    found = CliRunner().invoke(diff, ["before.jsonl", "picks.jsonl"], catch_exceptions=False)
    about, alarms, left = _records(found)
    assert about["reason"] == "rank 2; score 30 to 70; was rejected by cap, because of cap"
    assert alarms["reason"] == "rank 3; score 50; was not linked"
    assert left["reason"] == "rank was 2; score 50; is rejected by doorway, because of doorway"


def test_a_cap_judges_fewer(judge: Run) -> None:
    acme, *_ = _records(judge("picks.jsonl", "--gold", "gold.jsonl", "--cap", "1"))
    assert acme["picks"] == 1


def test_picks_beyond_the_usual_cap_are_named_unless_a_cap_is_given(judge: Run) -> None:
    many = [_page(f"/page{rank}", rank) for rank in range(1, 7)]
    _write("picks.jsonl", [_record("acme.example", *many, homepage="https://www.acme.example/"), NOW[1]])
    said = "only the first 4 picks of a site are judged; --cap 6 judges all"
    assert said in judge().stderr
    assert "--cap" not in judge("picks.jsonl", "--gold", "gold.jsonl", "--cap", "4").stderr


def test_labels_may_have_notes_and_a_url_of_another_host_is_named(judge: Run) -> None:
    there = {
        "site": "www.acme.example",
        "core": ["https://acme.exampel/about", "https://shop.acme.example/x"],
    }
    _write(
        "gold.jsonl", [{**there, "notes": "by Ada"}, {**GOLD[1], "acceptable": ["http://other.example/y"]}]
    )
    result = judge()
    assert result.exit_code == 0
    hosts = "https://acme.exampel/about, http://other.example/y"
    assert f"not on the host of its site: {hosts}; only the path counts" in result.stderr


def test_a_label_may_be_of_the_host_to_which_a_site_redirects(judge: Run) -> None:
    _write("gold.jsonl", [{"site": "http://other.example:8080", "core": ["https://new.example/town"]}])
    _write("picks.jsonl", [_record("other.example:8080", homepage="https://www.new.example/")])
    assert judge().stderr == ""


def test_gold_may_be_a_folder_and_picks_standard_input(judge: Run) -> None:
    Path("labels").mkdir()
    for number, row in enumerate(GOLD):
        Path("labels", f"{number}.json").write_text(json.dumps(row, indent=2), "utf-8")
    assert (
        judge("-", "--gold", "labels", input=Path("picks.jsonl").read_text("utf-8")).stdout == judge().stdout
    )


def test_a_labelled_site_without_record_is_exit_code_3(judge: Run) -> None:
    _write("picks.jsonl", NOW[:1])
    result = judge()
    assert result.exit_code == 3
    assert "picks.jsonl has no record of other.example:8080" in result.stderr
    assert json.loads(result.stdout.splitlines()[1])["verdict"] == "NOT good, no record"


def test_a_record_without_labels_is_named_and_not_judged(judge: Run) -> None:
    _write("gold.jsonl", GOLD[:1])
    result = judge()
    assert result.exit_code == 0
    assert "gold.jsonl has no labels of other.example:8080: not judged" in result.stderr
    assert json.loads(result.stdout.splitlines()[-1])["sites"] == 1


def test_a_record_of_what_is_no_address_is_not_judged(judge: Run) -> None:
    _write(
        "picks.jsonl",
        [*NOW, {"site": "not a site", "homepage": None, "status": "unreachable", "selected": []}],
    )
    result = judge()
    assert result.exit_code == 0
    assert "gold.jsonl has no labels of not a site: not judged" in result.stderr


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("picks.jsonl", "{}\n", "picks.jsonl line 1, field site: is missing"),
        ("picks.jsonl", "\n{x\n", "picks.jsonl line 2: is not JSON: Expecting property name"),
        ("picks.jsonl", "[]\n", "picks.jsonl line 1: is not a JSON object; write one object on each line"),
        ("gold.jsonl", '{"site": "a b", "core": []}', "gold.jsonl line 1, field site: is no site: 'a b'"),
        (
            "picks.jsonl",
            '{"site": "a.example", "selected": [1]}\n',
            "field selected: should be a list of objects",
        ),
        (
            "picks.jsonl",
            '{"site": "a.example", "core": []}\n',
            "picks.jsonl line 1: is no record of Honeyguide",
        ),
        ("picks.jsonl", "", "picks.jsonl: has no record; give JSON lines that pick wrote"),
        (
            "picks.jsonl",
            '{"site": "a.example", "selected": []}\n' * 2,
            "picks.jsonl line 2: is a second record of a.example",
        ),
        (
            "picks.jsonl",
            '{"site": "a.example", "selected": []}\n',
            "has no record of a labelled site: it has a.example, labelled are www.acme",
        ),
        ("picks.jsonl", "[" * 100_000, "nested too deeply"),
        ("gold.jsonl", "", "gold.jsonl: has no labels"),
        (
            "gold.jsonl",
            '{"site": "a.example"}',
            "gold.jsonl line 1, field core: should be a list of paths or URLs",
        ),
        ("gold.jsonl", '{"site": "a.example", "core": []}', "gold.jsonl line 1: labels no page; label one"),
        (
            "gold.jsonl",
            '{"site": "a.example", "core": ["/x"], "junks": ["/y"]}',
            "line 1, field 'junks': is no label; did you mean junk?",
        ),
        (
            "gold.jsonl",
            '{"site": "a.example", "core": ["/x"], "Aceptable": []}',
            "field 'Aceptable': is no label; did you mean acceptable?",
        ),
        ("gold.jsonl", '{"site": "a.example", "core": [1]}', "field core: should be a list of paths or URLs"),
        ("gold.jsonl", '{"site": "a.example", "core": ["/x"], "junk": ["/x.html"]}', "'/x.html' is core too"),
        (
            "gold.jsonl",
            '{"site": "a.example", "core": ["/"]}\n' * 2,
            "line 2: labels a.example a second time",
        ),
    ],
)
def test_bad_input_is_one_sentence_with_file_and_line(
    judge: Run, file: str, text: str, sentence: str
) -> None:
    Path(file).write_text(text, "utf-8")
    result = judge()
    assert result.exit_code == 1
    assert result.stdout == ""
    assert sentence in str(result.exception)


def test_bad_files(judge: Run) -> None:
    assert "cannot be read" in str(judge("nothing.jsonl", "--gold", "gold.jsonl").exception)
    for table in ("picks.csv", "picks.xlsx", "picks.parquet"):
        sentence = f"{table}: is a table, of which picks are not read; give JSON lines that pick wrote"
        assert str(judge(table, "--gold", "gold.jsonl").exception) == sentence
    Path("picks.jsonl").write_bytes(b"SQLite format 3\0\x10\xff")
    assert "line 1" not in str(judge().exception)
    assert "picks.jsonl: is a database, such as a store, not a text file" in str(judge().exception)
    Path("picks.jsonl").write_bytes(b'{"site": "\xff"}')
    assert "picks.jsonl line 1: is not UTF-8" in str(judge().exception)
    Path("labels").mkdir()
    Path("labels/a.json").write_text('{\n "site": x}', "utf-8")
    assert "a.json: is not JSON: Expecting value at line 2 column" in str(
        judge("picks.jsonl", "--gold", "labels").exception
    )


def test_strange_values_do_no_harm(judge: Run) -> None:
    text = '{"site": "www.acme.example", "selected": [{"url": "%s", "rank": "x", "score": NaN, "bucket": 3, "rejected": []}]}'
    Path("picks.jsonl").write_text(text % "\\u001b[31m\\ud800", "utf-8")
    result = judge("picks.jsonl", "--gold", "gold.jsonl", "--format", "table")
    assert result.exit_code == 3
    assert "\x1b" not in result.stdout
