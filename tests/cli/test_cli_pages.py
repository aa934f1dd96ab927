"""Commands that read a page: links, score, select."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]

BASE = ("--base", "https://acme.example/")
SELECT_NAMES = [
    "schema", "url", "anchor_text", "title", "base_domain", "head_data", "position", "rank", "category", "bucket", "score", "intrinsic_score",
    "contextual_score", "total_score", "matched", "selection_reason", "reasons", "points", "parts", "rejected", "unknown", "positions",
    "menus", "headings",
]  # fmt: skip

RULES = ("--strategy", "rules")


def _records(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def _by_path(records: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {record["url"].removeprefix("https://acme.example"): record for record in records}


# --- links ------------------------------------------------------------------------------------------------------


def test_links_lists_each_url_once_with_its_verdict(run: Run) -> None:
    found = _by_path(_records(run("links", "home.html", *BASE)))
    team = found["/about/team"]
    assert (team["anchor_text"], team["position"], team["occurrences"]) == ("Team", "main", 2)
    assert team["positions"] == ["navigation", "main"]
    assert (team["verdict"], team["rule"]) == ("inside", "same-site")
    assert found["https://other.example/x"]["verdict"] == "outside"
    assert found["/brochure.pdf"]["rule"] == "extension"
    assert found["mailto:a@acme.example"]["verdict"] == "skip"
    assert len({tuple(record) for record in found.values()}) == 1


def test_links_of_markdown(run: Run) -> None:
    by_name = _records(run("links", "notes.md", *BASE))
    by_flag = _records(
        run("links", "-", "--input-format", "markdown", *BASE, input=Path("notes.md").read_bytes())
    )
    assert by_name == by_flag
    assert [record["anchor_text"] for record in by_name] == ["the team", None]


def test_links_without_base_stand_at_the_canonical_address_or_nowhere(run: Run) -> None:
    canonical = '<link rel="canonical" href="https://acme.example/"><a href="/x">X</a>'
    result = run("links", "-", input=canonical)
    assert _records(result)[0]["url"] == "https://acme.example/x"
    assert "the page says it is https://acme.example/" in result.stderr
    result = run("links", "-", input='<a href="/x">X</a>')
    assert _records(result)[0]["url"] == "https://page.invalid/x"
    assert "no --base is given" in result.stderr


def test_links_of_a_page_without_links(run: Run) -> None:
    result = run("links", "-", *BASE, input="<p>Hello")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert "0 links" in run("links", "-", *BASE, "--format", "table", input="<p>Hello").stdout


def test_links_as_table_show_paths_of_the_own_site(run: Run) -> None:
    shown = run("links", "home.html", *BASE, "--format", "table").stdout
    assert "https://acme.example/about" not in shown
    assert "/about/team" in shown
    assert "outside: other-site" in shown


def test_nothing_from_a_page_reaches_the_terminal_as_markup_or_escape(run: Run) -> None:
    page = '<a href="/a">[bold red]x[/] \x1b[31m \u202eevil :fire: [link=http://e.example]y[/link]</a>'
    shown = run("links", "-", *BASE, "--format", "table", input=page).stdout
    assert "[bold red]x[/]" in " ".join(shown.split())
    assert ":fire:" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_no_cell_of_a_csv_is_a_formula(run: Run) -> None:
    page = "<a href='/a' title='@x'>=HYPERLINK(\"http://e.example\")</a>"
    rows = list(csv.DictReader(io.StringIO(run("links", "-", *BASE, "--format", "csv", input=page).stdout)))
    assert rows[0]["anchor_text"].startswith("'=")
    assert rows[0]["title"] == "'@x"


# --- score ------------------------------------------------------------------------------------------------------


def test_score_link_has_the_record_of_a_link(run: Run) -> None:
    arguments = (
        "--topic",
        "API|接口",
        "--anchor",
        "API reference",
        "--context",
        "All about the API",
        "--position",
        "navigation",
    )
    (record,) = _records(run("score", "link", "https://a.example/docs/x", *arguments))
    assert list(record) == [
        "schema",
        "url",
        "anchor_text",
        "context",
        "relevance_score",
        "relevance_level",
        "action",
        "position",
        "reasons",
        "points",
        "unknown",
    ]
    assert record["relevance_score"] == 10
    assert record["position"] == "navigation"
    assert sum(entry["points"] for entry in record["points"]) == 10
    assert [entry["rule"] for entry in record["points"]][:2] == ["path-hint", "anchor-topic"]


def test_score_link_with_related_terms(run: Run) -> None:
    arguments = ("--topic", "API", "--anchor", "Endpoints", "--position", "footer")
    (without,) = _records(run("score", "link", "https://a.example/x", *arguments))
    (with_,) = _records(run("score", "link", "https://a.example/x", *arguments, "--related", "endpoint"))
    assert (without["relevance_score"], with_["relevance_score"]) == (0, 3)


def test_score_page(run: Run) -> None:
    (record,) = _records(run("score", "page", "home.html", "--topic", "fire", *BASE))
    assert (record["url"], record["title"]) == ("https://acme.example/", "Acme Fire")
    assert [entry["rule"] for entry in record["points"]][:2] == ["title-topic", "heading-topic"]
    shown = run("score", "page", "home.html", "--topic", "fire", "--format", "table").stdout
    assert "of 10  Acme Fire" in shown
    assert "+3" in shown


def test_score_as_csv(run: Run) -> None:
    result = run(
        "score", "link", "https://a.example/api", "--topic", "api", "--position", "main", "--format", "csv"
    )
    (row,) = csv.DictReader(io.StringIO(result.stdout))
    assert "topic in URL (+3)" in row["points"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["link", "https://a.example/", "--topic", "(?=x)"], 1, "look-aheads are not linear-time"),
        (["link", "https://a.example/", "--topic", "a||b"], 1, "remove the extra |"),
        (["link", "nonsense", "--topic", "a"], 1, "Error: 'nonsense' has no http:// or https:// in front\n"),
        (["link", "x:y", "--topic", "a"], 1, "its scheme is x"),
        (
            ["page", "home.html", "--topic", "a", "--base", "b.example"],
            2,
            "'--base': 'b.example' has no http",
        ),
        (["link", "https://a.example/"], 2, "Missing option '--topic'"),
        (["link", "https://a.example/", "--topic", "a", "--position", "sky"], 2, "'sky' is not one of"),
        (["page", "home.html", "--topic", "a", "--profile", "nonsense"], 1, "no profile is named"),
    ],
)
def test_score_refuses(run: Run, arguments: list[str], code: int, sentence: str) -> None:
    result = run("score", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert sentence in result.stderr


# --- select -----------------------------------------------------------------------------------------------------


def test_select_gives_a_record_of_every_link(run: Run) -> None:
    records = _records(run("select", "home.html", *BASE, *RULES))
    assert {tuple(record) for record in records} == {tuple(SELECT_NAMES)}
    chosen = sorted((r for r in records if r["rank"]), key=lambda r: r["rank"])
    top = [(r["url"].removeprefix("https://acme.example"), r["category"], r["score"]) for r in chosen[:3]]
    assert top == [
        ("/services/fire-alarm-installation", "A", 100),
        ("/inspection", "B", 85),
        ("/about/team", "C", 75),
    ]
    assert chosen[0]["points"] == [
        {"rule": "A", "points": 80, "reason": "services hub"},
        {"rule": "A-boost", "points": 20, "reason": "absolute term under the hub: installation"},
    ]
    assert chosen[0]["rejected"] is None


def test_select_says_what_put_the_others_out(run: Run) -> None:
    found = _by_path(_records(run("select", "home.html", *BASE, *RULES)))
    outs = {path: record["rejected"]["rule"] for path, record in found.items() if record["rejected"]}
    expected = {
        "https://other.example/x": "other-site",
        "/brochure.pdf": "extension",
        "/privacy": "disallowed-path",
        "/service-areas": "service-area",
        "mailto:a@acme.example": "scheme",
    }
    assert expected.items() <= outs.items()
    assert found["/privacy"]["score"] is None
    assert found["/privacy"]["points"] == []


def test_select_blend_uses_heads(run: Run) -> None:
    arguments = ("select", "home.html", *BASE, "--strategy", "blend")
    without = _by_path(_records(run(*arguments)))["/inspection"]
    with_ = _by_path(_records(run(*arguments, "--heads", "heads.jsonl")))["/inspection"]
    assert with_["contextual_score"] > without["contextual_score"]
    assert "head_title" in without["unknown"]
    assert "head_title" not in with_["unknown"]
    total = 0.6 * with_["contextual_score"] + 0.04 * with_["intrinsic_score"]
    assert with_["total_score"] == pytest.approx(total, abs=1e-5)


def test_select_cap_include_exclude_query(run: Run) -> None:
    def chosen(*more: str) -> list[str]:
        found = _by_path(_records(run("select", "home.html", *BASE, *RULES, *more)))
        return sorted(path for path, record in found.items() if record["rank"])

    assert len(chosen("--cap", "1")) == 1
    assert chosen("--include", "about|team") == ["/about/team"]
    assert chosen("--include", "zzz", "--include", "about") == ["/about/team"]
    assert chosen("--include", "about", "--exclude", "zzz", "--exclude", "team") == []
    assert "/inspection" not in chosen("--exclude", "inspection")
    assert chosen("--strategy", "blend", "--include", "careers") == []
    assert chosen("--strategy", "blend", "--include", "careers", "--query", "jobs") == ["/careers"]


def test_select_for_people(run: Run) -> None:
    shown = run("select", "home.html", *BASE, *RULES, "--format", "table").stdout
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert lines[0] == "Acme Fire"
    assert "1 100 A services /services/fire-alarm-installation" in lines
    assert "+80 services hub" in lines
    assert "-1 disallowed-path path is never useful: privacy, terms, cookies, legal, single sign-on" in lines
    funnel = lines[lines.index("10 links") :]
    assert funnel[-1] == "4 selected"
    assert sum(int(line.split()[0]) for line in funnel[:-1]) == 4


def test_select_all_lists_every_link(run: Run) -> None:
    brief = run("select", "home.html", *BASE, *RULES, "--format", "table").stdout
    full = run("select", "home.html", *BASE, *RULES, "--all", "--format", "table").stdout
    assert "mailto:a@acme.example" not in brief
    for path in ("mailto:a@acme.example", "/privacy", "https://other.example/x", "/brochure.pdf"):
        assert path in full


def test_select_csv_has_one_row_per_link(run: Run) -> None:
    records = _records(run("select", "home.html", *BASE, *RULES))
    rows = list(
        csv.DictReader(io.StringIO(run("select", "home.html", *BASE, *RULES, "--format", "csv").stdout))
    )
    assert [row["url"] for row in rows] == [record["url"] for record in records]
    assert {row["rejected_rule"] for row in rows} >= {"", "service-area", "other-site"}
    assert "services hub (+80); absolute term under the hub: installation (+20)" in {
        row["points"] for row in rows
    }


def test_select_demo(run: Run) -> None:
    records = _records(run("select", "--demo", *RULES))
    chosen = [record for record in records if record["rank"]]
    assert len(chosen) == 4
    assert {record["bucket"] for record in chosen} <= {"services", "about"}
    assert len(records) >= 25
    assert not any("area" in record["url"] or "location" in record["url"] for record in chosen)


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ([], 2, "Give a PAGE, or --demo"),
        (["--demo", "home.html"], 2, "leave out PAGE"),
        (["home.html"], 2, "give its address with --base"),
        (["home.html", *BASE, "--cap", "0"], 2, "--cap"),
        (["home.html", "--base", "nonsense"], 2, "'--base': 'nonsense' has no http:// or https:// in front."),
        (["known.csv", "--base", "nonsense"], 2, "'--base': 'nonsense' has no http:// or https:// in front."),
        (["home.html", *BASE, "--strategy", "luck"], 1, "has no 'luck'"),
        (["home.html", *BASE, "--profile", "luck"], 1, "no profile is named 'luck'"),
        (["home.html", *BASE, "--exclude", "("], 1, "close the group"),
        (["home.html", *BASE, "--heads", "missing.jsonl"], 1, "missing.jsonl: cannot be read"),
        (["home.html", *BASE, "--heads", "known.csv"], 1, "known.csv line 1: is not JSON"),
    ],
)
def test_select_refuses(run: Run, arguments: list[str], code: int, sentence: str) -> None:
    result = run("select", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert sentence in result.stderr


@pytest.mark.parametrize(
    ("head", "sentence"),
    [
        ('{"title": "x"}', "heads.jsonl line 1, field url"),
        ('{"url": "mailto:x", "title": "x"}', "field url: is not an http(s) URL"),
        ('{"url": "/a", "title": 7}', "field title: should be text"),
        ('{"url": "/a", "description": []}', "field description: should be text"),
    ],
)
def test_select_refuses_heads_that_are_none(run: Run, head: str, sentence: str) -> None:
    Path("heads.jsonl").write_text(head, "utf-8")
    result = run("select", "home.html", *BASE, "--heads", "heads.jsonl")
    assert (result.exit_code, result.stdout) == (1, "")
    assert sentence in result.stderr


def test_a_page_without_an_address_is_one_error_and_no_note(run: Run) -> None:
    result = run("select", "home.html")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "give its address with --base" in result.stderr
    assert "Note:" not in result.stderr


@pytest.mark.parametrize(
    ("cap", "words"), [("1", "1 page before it was taken"), ("2", "2 pages before it were taken")]
)
def test_what_the_cap_leaves_out_may_be_as_good(run: Run, cap: str, words: str) -> None:
    records = _records(run("select", "--demo", "--cap", cap))
    assert {
        record["rejected"]["reason"] for record in records if (record["rejected"] or {}).get("rule") == "cap"
    } == {words}
    table = run("select", "--demo", "--cap", cap, "--format", "table").stdout
    assert f"{cap} of {len(records)} links {'was' if cap == '1' else 'were'} chosen (strategy" in table


def test_eval_says_which_sites_are_good(run: Run) -> None:
    text = " ".join(run("eval", "--help").stdout.split())
    assert "three quarters of --cap are core or acceptable pages, or all such pages if it has fewer" in text
