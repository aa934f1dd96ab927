"""`honeyguide select FILE`: of each page of a file of links, what `select` chooses of that page alone."""

from __future__ import annotations

import csv
import io
import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import load_profile, parse_page, select_files, select_links
from honeyguide.core.records import candidate_record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    from honeyguide.core.page.page import Page

    Run = Callable[..., Result]
    Row = dict[str, Any]

WORDS = (
    "Fire", "Alarm", "Installation", "Inspection", "Drain", "About", "Team", "Services", "Blog", "Privacy", "Careers",
    "Roof", "Ashford", "Milton", "Kingsbury", "CT", "Über", "接口", "Contact", "Projects",
)  # fmt: skip
FOLDERS = ("", "services/", "blog/", "about/", "locations/", "caf%C3%A9/")
OTHERS = (
    "mailto:a@acme.example",
    "#top",
    "",
    "https://other.example/x",
    "/brochure.pdf",
    "http://[",
    "/?utm_source=x",
)
ACME = "https://acme.example/"


PLACES = {"nav": "navigation", "main": "main", "footer": "footer"}


def made_page(rng: random.Random, number: int, count: int) -> tuple[Page, list[Row]]:
    """Write a homepage with menus, repeated links and hrefs that are none; give it as read, and its links as rows."""
    html, rows, base = [], [], f"https://site{number}.example/"
    for _ in range(count):
        words = rng.choices(WORDS, k=rng.randint(1, 3))
        href = f"/{rng.choice(FOLDERS)}{'-'.join(words).lower()}"
        href = rng.choice(OTHERS) if rng.random() < 0.1 else href
        place, text = rng.choice(list(PLACES)), " ".join(words)
        anchor = f'<a href="{href}" title="{words[0]}" rel="nofollow">{text}</a>'
        html.append(f"<{place}><p>{anchor} here</p></{place}>")
        row = {"page": base, "url": href, "anchor": text, "title": words[0], "rel": "nofollow"}
        rows.append({**row, "position": PLACES[place], "context": f"{text} here"})
    return parse_page("".join(html), base), rows


def write(path: Path, rows: list[Row]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    if path.suffix == ".parquet":
        frame = pytest.importorskip("polars").DataFrame(rows, infer_schema_length=None)  # an extra
        frame.write_parquet(path, row_group_size=100)
    elif path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(rows)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


def records(result: Result) -> list[Row]:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


# --- the same choice ----------------------------------------------------------------------------------------------

PROFILES = ("base", "company", "docs", "fire-protection", "news")
SHIPPED = [(name, strategy) for name in PROFILES for strategy in load_profile(name).strategies]


@pytest.fixture(scope="module")
def made() -> list[tuple[Page, list[Row]]]:
    rng = random.Random(7)  # noqa: S311 - made-up pages
    return [made_page(rng, number, rng.choice((1, 20, 90))) for number in range(60)]


@pytest.mark.parametrize(("profile", "strategy"), SHIPPED)
@pytest.mark.slow
def test_each_page_of_a_file_is_chosen_from_as_alone(
    tmp_path: Path, made: list[tuple[Page, list[Row]]], profile: str, strategy: str
) -> None:
    rows = [row for _, listed in made for row in listed]
    assert len(rows) > 2000
    found = list(select_files(write(tmp_path / "links.jsonl", rows), profile=profile, strategy=strategy))
    for (page, _), one in zip(made, found, strict=True):
        alone = select_links(page.links, page.url, profile=profile, strategy=strategy)
        assert one.selection == alone  # every candidate with its reasons, who was selected, the counts
        assert one.page == replace(page, text="", main=None)


@pytest.mark.slow
def test_the_strategies_that_are_compared_choose_something(made: list[tuple[Page, list[Row]]]) -> None:
    assert {strategy for _, strategy in SHIPPED} == {"portfolio", "rules", "blend"}
    for profile, strategy in SHIPPED:
        chosen = [select_links(page.links, page.url, profile=profile, strategy=strategy) for page, _ in made]
        assert sum(len(one.selected) for one in chosen) > 60, (profile, strategy)


@pytest.mark.parametrize("name", ["links.csv", "links.parquet", "links.ndjson"])
def test_every_format_gives_the_same(tmp_path: Path, made: list[tuple[Page, list[Row]]], name: str) -> None:
    rows = [row for _, listed in made[:20] for row in listed]
    path, reference = write(tmp_path / name, rows), write(tmp_path / "reference.jsonl", rows)
    assert list(select_files(path)) == list(select_files(reference))


def test_what_links_lists_can_be_chosen_from(run: Run, folder: Path) -> None:
    html = "<nav><a href=/about>About us</a> <a href=/drains>Drain cleaning</a></nav> <a href=mailto:a@b.example>Mail</a>"
    (folder / "one.html").write_text(html, "utf-8")
    listed = run("links", "one.html", "--base", ACME, "--format", "jsonl").stdout
    of_rows = records(run("select", "-", "--input-format", "jsonl", "--base", ACME, input=listed))
    of_page = records(run("select", "one.html", "--base", ACME))
    assert [record.pop("page") for record in of_rows] == [ACME] * 3
    assert of_rows == of_page


def test_heads_are_columns(tmp_path: Path) -> None:
    def total(**head: str | None) -> Any:
        row = {"page": ACME, "url": "/services/drain-cleaning", "anchor": "Drains", **head}
        path = write(tmp_path / "links.jsonl", [row])
        ((_, selection),) = select_files(path, strategy="blend", query="drain repair")
        return candidate_record(selection.candidates[0])["total_score"]

    assert total(head_title="Drain repair", head_description="We repair any drain.") > total(
        head_title="Drain repair"
    )
    assert total(head_title="Drain repair") > total(head_title=None)


# --- what comes out -----------------------------------------------------------------------------------------------

TWO = (
    "page,url,anchor\n"
    "https://acme.example/,/about,About us\nhttps://acme.example/,/drain-cleaning,Drain cleaning\n"
    "https://other.example,/about,About\nhttps://other.example/,mailto:a@b.example,Mail\n"
)


def test_records_name_their_page(run: Run, folder: Path) -> None:
    (folder / "links.csv").write_text(TWO, "utf-8")
    found = records(run("select", "links.csv", "--cap", "1"))
    assert [(one["page"], one["url"].rpartition("/")[2], one["rank"]) for one in found] == [
        ("https://acme.example/", "about", 1),
        ("https://acme.example/", "drain-cleaning", None),
        ("https://other.example/", "about", 1),
        ("https://other.example/", "mailto:a@b.example", None),
    ]
    assert list(found[0])[:3] == ["schema", "page", "url"]
    assert [one["rejected"] and one["rejected"]["rule"] for one in found] == [None, "cap", None, "scheme"]
    table = list(csv.DictReader(io.StringIO(run("select", "links.csv", "--format", "csv").stdout)))
    assert [row["page"] for row in table] == [one["page"] for one in found]


def test_people_see_page_after_page(run: Run, folder: Path) -> None:
    (folder / "links.csv").write_text(TWO, "utf-8")
    shown = run("select", "links.csv", "--format", "table").stdout
    assert shown.index("https://acme.example/\n") < shown.index("\nhttps://other.example/\n")
    assert shown.endswith("\n3 of 4 links on 2 pages were chosen\n")
    (folder / "links.csv").write_text("page,url\nhttps://acme.example/,/about\n", "utf-8")
    assert " pages were chosen" not in run("select", "links.csv", "--format", "table").stdout


# --- wrong rows ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("page,link\nhttps://a.example/,/x\n", "links.csv, field url: its first line names no column url"),
        ("url\n/x\n", "links.csv line 2, row 1, field page: is missing; every row needs one"),
        ("page,url\nacme,/x\n", "links.csv line 2, row 1, field page: 'acme' is not an http(s) URL"),
        ("page,url\na.example,/x\n", "field page: 'a.example' has no scheme; write https://a.example"),
        ("page,url,position\nhttps://a.example/,/x,top\n", "field position: 'top' is no position"),
        ("page,url\nhttps://a.example/\n", "has 1 fields where the header has 2"),
        (
            "page,url\nhttps://a.example/,/x\nhttps://b.example/,/x\nhttps://a.example,/y\n",
            "links.csv line 4, row 3, field page: 'https://a.example/' comes again after other pages; sort the rows by page",
        ),
    ],
)
def test_wrong_rows_are_named(run: Run, folder: Path, text: str, words: str) -> None:
    (folder / "links.csv").write_text(text, "utf-8")
    result = run("select", "links.csv")
    assert result.exit_code == 1
    assert words in result.stderr


def test_wrong_rows_can_be_skipped(run: Run, folder: Path) -> None:
    rows = [
        {"page": "https://a.example/", "url": "/about"},
        {"page": "https://a.example/", "url": 7},
        {"page": "https://b.example/", "url": "/about"},
        {"page": "https://a.example/", "url": "/late"},
        {"page": "https://b.example/", "url": "/services"},
        {"url": "/nowhere"},
    ]
    (folder / "links.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + "{\n", "utf-8")
    result = run("select", "links.jsonl", "--on-error", "skip")
    assert result.exit_code == 3
    assert result.stderr == "Note: 4 rows are rejected; see links.jsonl.rejected\n"
    assert [json.loads(line)["url"] for line in result.stdout.splitlines()] == [
        "https://a.example/about",
        "https://b.example/about",
        "https://b.example/services",
    ]
    rejected = (folder / "links.jsonl.rejected").read_text("utf-8").splitlines()
    assert [json.loads(line)["field"] for line in rejected] == ["url", "page", "page", None]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--demo",), "leave out FILE"),
        (("--heads", "heads.jsonl"), "columns head_title and head_description"),
    ],
)
def test_what_is_for_one_page_is_refused(run: Run, more: tuple[str, ...], words: str) -> None:
    result = run("select", "links.csv", *more)
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_parquet_file_without_urls_is_said(run: Run, folder: Path) -> None:
    pl = pytest.importorskip("polars")  # an extra
    pl.DataFrame({"page": [ACME]}).write_parquet(folder / "links.parquet")
    assert "has no column url" in run("select", "links.parquet").stderr
    pl.DataFrame({"page": [ACME], "url": ["/about"], "title": [1]}).write_parquet(folder / "links.parquet")
    assert "row 1, field title: '1' should be text" in run("select", "links.parquet").stderr
    result = run("score", "links", "links.parquet", "--topic", "x")  # which does not read titles
    assert "'/about' should be an absolute http(s) URL" in result.stderr


# --- what honeyguide links lists can be given back -----------------------------------------------------------------

TWICE = """<nav><a href="/siding">Siding</a></nav>
<main><p>We also do <a href="/siding">siding</a> and <a href="/roofing">roofs</a>.</p></main>"""


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_link_at_two_places_scores_the_same_when_given_back(run: Run, folder: Path, kind: str) -> None:
    (folder / "twice.html").write_text(TWICE, "utf-8")
    whole = records(run("select", "twice.html", "--base", ACME, "--format", "jsonl"))
    (folder / f"listed.{kind}").write_text(
        run("links", "twice.html", "--base", ACME, "--format", kind).stdout
    )
    back = records(run("select", f"listed.{kind}", "--base", ACME, "--format", "jsonl"))
    assert whole[0]["positions"] == ["navigation", "main"]
    assert "in the site's navigation" in whole[0]["reasons"]
    for name in ("url", "position", "positions", "score", "reasons", "points"):
        assert [record[name] for record in back] == [record[name] for record in whole]


def test_positions_that_are_none_name_the_row(run: Run, folder: Path) -> None:
    for number, value in enumerate(('"main; top"', '["top"]', "5", '{"a": 1}', "[1]")):
        file = folder / f"{number}.jsonl"
        file.write_text(f'{{"page": "{ACME}", "url": "/x", "positions": {value}}}\n', "utf-8")
        result = run("select", file.name)
        assert result.exit_code == 1
        assert f"{number}.jsonl line 1, row 1, field position" in result.stderr


@pytest.mark.parametrize("content", ["", "page,url\n", "\n"])
@pytest.mark.parametrize(
    "command",
    [("select",), ("score", "links", "--topic", "x"), ("score", "links", "--topic", "x", "--top", "3")],
)
def test_a_file_without_rows_is_told(run: Run, folder: Path, command: tuple[str, ...], content: str) -> None:
    (folder / "empty.csv").write_text(content, "utf-8")
    result = run(*command, "empty.csv", "--format", "jsonl")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: empty.csv: has no rows; give at least one URL\n"


def test_an_empty_file_among_others_is_none_of_their_business(run: Run, folder: Path) -> None:
    (folder / "empty.jsonl").write_text("", "utf-8")
    (folder / "full.jsonl").write_text('{"url": "https://a.example/x"}\n', "utf-8")
    assert (
        len(records(run("score", "links", "empty.jsonl", "full.jsonl", "--topic", "x", "--format", "jsonl")))
        == 1
    )
