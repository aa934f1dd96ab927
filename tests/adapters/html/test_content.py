"""Main content: Markdown and text of what a page is about, bounded, whatever the markup."""

from __future__ import annotations

import sys

import pytest

from honeyguide.adapters.html.content import (
    MAX_HEADING_CHARS,
    MAX_HEADINGS,
    MAX_MARKDOWN_BYTES,
    load_extractor,
    main_content,
)
from honeyguide.core.url.url import Url
from honeyguide.errors import HoneyguideError
from honeyguide.ports.fetch import Content

URL = Url.parse("https://acme.example/services/sprinklers")
PAGE = """<!doctype html><title>Sprinklers</title>
<nav><a href="/">Home</a> <a href="/blog">Our blog</a></nav>
<main><h1>Sprinkler inspection</h1>
<p>We inspect sprinkler systems every year, in hotels &amp; offices, and write a <b>report</b> that insurers accept.</p>
<h2>What it costs</h2><ul><li>A flat price for each floor of the building</li><li>Nothing for the report</li></ul>
<table><tr><th>Size</th><th>Price</th></tr><tr><td>small | tiny</td><td>100</td></tr></table></main>
<footer><p>All rights reserved by somebody.</p></footer>"""


@pytest.fixture
def trafilatura() -> None:
    """Skip where the extra is not installed."""
    pytest.importorskip("trafilatura", exc_type=ImportError)  # an extra


@pytest.fixture
def no_trafilatura(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the extra missing."""
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    load_extractor.cache_clear()  # it remembers the library of other tests


@pytest.mark.usefixtures("trafilatura")
def test_a_page_as_markdown_text_and_headings() -> None:
    found = main_content(PAGE.encode(), URL)
    assert found.headings == ("Sprinkler inspection", "What it costs")
    assert "## What it costs" in found.markdown
    assert "**report**" in found.markdown
    assert "in hotels & offices, and write a report that insurers accept." in found.text
    assert "small | tiny 100" in found.text
    assert not set("#*\\") & set(found.text)
    assert "Our blog" not in found.markdown
    assert "All rights" not in found.markdown


@pytest.mark.usefixtures("trafilatura")
@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "cp1252"])
def test_bytes_in_any_encoding(codec: str) -> None:
    page = PAGE.replace("hotels", "Löschanlagen für Hôtels")
    meta = f'<meta charset="{codec}">' if codec == "cp1252" else ""
    assert "Löschanlagen für Hôtels" in main_content((meta + page).encode(codec), URL).text


@pytest.mark.usefixtures("trafilatura")
def test_an_encoding_that_only_the_header_names() -> None:
    page = PAGE.replace("hotels", "Пожарная сигнализация").encode("cp1251")
    assert "Пожарная сигнализация" in main_content(page, URL, "text/html; charset=windows-1251").text
    assert "Пожарная сигнализация" not in main_content(page, URL).text


@pytest.mark.usefixtures("trafilatura")
def test_the_visible_text_stands_in_where_nothing_is_found() -> None:
    assert main_content(b"<h1>Hi</h1>", URL) == Content("Hi", "Hi", ("Hi",))


@pytest.mark.usefixtures("trafilatura")
@pytest.mark.parametrize(
    "data", [b"", b" \n", b"%PDF-1.7\x00\x01\x02", b"\x89PNG\r\n\x1a\n\x00\x00", b"\x1f\x8b\x08\x00"]
)
def test_what_is_no_page_has_no_content(data: bytes) -> None:
    assert main_content(data, URL).headings == ()


@pytest.mark.usefixtures("trafilatura")
@pytest.mark.parametrize(
    "markup",
    [
        "<div>" * 20_000 + "deep",
        "<ul><li>a" * 3_000,
        "<table>" * 5_000 + "<tr><td>cell",
        "<p " + "a=b " * 50_000 + ">x",
        "<p>word " * 20_000,
        "<p>" + "word " * 200_000,
        "<h2>"
        + "x" * 5_000
        + "</h2>"
        + "".join(f"<h2>Heading {n}</h2><p>Text of number {n}.</p>" for n in range(500)),
        "<p>\ud800 \x00 \x0b lone</p>" * 50,
        "<!--" * 1_000 + "<script>" * 1_000,
    ],
    ids=["deep", "lists", "tables", "attributes", "paragraphs", "one", "headings", "surrogates", "comments"],
)
def test_hostile_markup_stays_within_bounds(markup: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = markup.encode("utf-8", "surrogatepass")
    found = main_content(data, URL)
    assert max(len(found.markdown.encode()), len(found.text.encode())) <= MAX_MARKDOWN_BYTES
    assert len(found.headings) <= MAX_HEADINGS
    assert max(map(len, found.headings), default=0) <= MAX_HEADING_CHARS
    assert found == main_content(data, URL)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("no_trafilatura")
def test_without_the_extra_one_sentence_says_how_to_get_it() -> None:
    with pytest.raises(HoneyguideError, match=r"pip install 'honeyguide\[content\]'"):
        main_content(PAGE.encode(), URL)
