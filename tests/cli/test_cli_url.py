from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]


def test_normalize_prints_a_line_each_in_order(run: Run) -> None:
    result = run("url", "normalize", "HTTP://Acme.example:80/%7eanna/", "https://acme.example/a%20b")
    assert result.stdout == "http://acme.example/~anna\nhttps://acme.example/a%20b\n"
    assert (result.stderr, result.exit_code) == ("", 0)


def test_normalize_resolves_against_the_base(run: Run) -> None:
    assert (
        run("url", "normalize", "team", "--base", "https://a.example/about/").stdout
        == "https://a.example/about/team\n"
    )


def test_normalize_reads_standard_input_and_skips_blank_lines(run: Run) -> None:
    result = run("url", "normalize", "-", input="\ufeffhttp://a.example\n\r\n  http://b.example/x/ \r\n")
    assert result.stdout == "http://a.example/\nhttp://b.example/x\n"


def test_normalize_names_what_is_no_url_and_goes_on(run: Run) -> None:
    result = run("url", "normalize", "mailto:a@b.example", "\x1b[31m", "http://a.example/")
    assert result.stdout == "http://a.example/\n"
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 2
    assert "\x1b" not in result.stderr


def test_normalize_refuses_a_base_that_is_no_url(run: Run) -> None:
    result = run("url", "normalize", "a", "--base", "nowhere")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "'--base': 'nowhere' has no http:// or https:// in front." in result.stderr


@pytest.mark.parametrize("command", ["normalize", "explain"])
def test_a_relative_url_without_a_page_says_what_helps(run: Run, command: str) -> None:
    words = "'team/' has no http:// or https:// in front; a relative one needs --base"
    assert words in run("url", command, "team/").stderr
    wrong = run("url", command, "//[", "--base", "https://a.example/").stderr
    assert "not an http(s) URL: '//['" in wrong
    assert "in front" not in wrong


@pytest.mark.parametrize("option", ["--base", "--seed"])
def test_an_address_that_is_none_names_its_option(run: Run, option: str) -> None:
    given = {"--base": "https://a.example/", option: "a.example"}
    result = run("url", "classify", "/x", *(text for pair in given.items() for text in pair))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"'{option}': 'a.example' has no http:// or https:// in front." in result.stderr


@pytest.mark.parametrize(
    ("href", "verdict", "rule", "id_"),
    [
        ("/about", "inside", "same-site", "URL-10"),
        ("https://www.acme.example/", "outside", "other-site", "URL-11"),
        ("mailto:a@b.example", "skip", "scheme", "URL-9"),
        ("#top", "skip", "fragment-only", "URL-9"),
        ("", "skip", "empty", "URL-9"),
        ("/a.PDF", "skip", "extension", "URL-9"),
    ],
)
def test_classify(run: Run, href: str, verdict: str, rule: str, id_: str) -> None:
    result = run("url", "classify", href, "--base", "https://acme.example/")
    record = json.loads(result.stdout)
    assert (record["href"], record["verdict"], record["rule"], record["id"]) == (href, verdict, rule, id_)
    assert record["schema"] == 2
    assert set(record) == {"schema", "href", "url", "verdict", "rule", "id", "detail"}


def test_classify_against_another_seed(run: Run) -> None:
    arguments = ("--base", "https://a.example/", "--seed", "https://b.example/")
    record = json.loads(run("url", "classify", "https://b.example/x", *arguments).stdout)
    assert record["verdict"] == "inside"


def test_classify_as_table_and_csv(run: Run) -> None:
    arguments = ("url", "classify", "/about", "a.pdf", "--base", "https://acme.example/", "--format")
    assert "URL-9" in run(*arguments, "table").stdout
    rows = list(csv.DictReader(io.StringIO(run(*arguments, "csv").stdout)))
    assert [row["verdict"] for row in rows] == ["inside", "skip"]


def test_explain_shows_steps_and_forms(run: Run) -> None:
    text = "HTTP://A.example:80/x/../b%20c/?utm_source=1#top"
    record = json.loads(run("url", "explain", text).stdout)
    assert record["url"] == "http://a.example/b%20c?utm_source=1"
    assert record["key"] == "a.example/b%20c"
    assert record["display"] == "http://a.example/b c?utm_source=1"
    assert record["request_url"] == "http://a.example/b%20c/?utm_source=1"
    assert {"rule": "URL-3", "name": "trailing slash"}.items() <= record["steps"][-1].items()
    assert record["steps"][0]["before"] == text
    assert all(step["before"] != step["after"] for step in record["steps"])


def test_explain_for_people(run: Run) -> None:
    shown = run("url", "explain", "http://a.example/b/", "--format", "table").stdout
    assert "URL-3" in shown
    assert "Normalised  http://a.example/b" in shown
    unchanged = run("url", "explain", "http://a.example/b", "--format", "table")
    assert "nothing changes" in unchanged.stderr
    assert "URL-3" not in unchanged.stdout


def test_explain_as_csv_is_one_row(run: Run) -> None:
    rows = list(
        csv.DictReader(io.StringIO(run("url", "explain", "http://a.example/b/", "--format", "csv").stdout))
    )
    assert [row["url"] for row in rows] == ["http://a.example/b"]
    assert "URL-3" in rows[0]["steps"]


def test_explain_what_is_no_url(run: Run) -> None:
    result = run("url", "explain", "x:y")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "its scheme is x" in result.stderr
