"""Reading Markdown and writing content takes steps in proportion to the size, whatever is written: counted, not timed.

A step is a call of a function, of Python or of C. Twice the text may take twice the steps and a little more; what is
quadratic takes four times as many.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from honeyguide.adapters.files.markdown import MAX_CHARS, MAX_MARKS, parse_markdown_links, readable
from honeyguide.adapters.html.content import main_content
from honeyguide.adapters.html.page import parse_page
from honeyguide.core.url.url import Url

PAGE = Url.parse("https://a.example/")
SMALL, FACTOR = 8_000, 3  # characters, and how many times as many are compared with them
EACH_ANEW = 1.25  # of a step for each further character, because lists of many sizes are copied and sorted


def steps_of(call: Callable[[], object]) -> int:
    count = 0

    def note(*_: object) -> None:
        nonlocal count
        count += 1

    call()  # what is remembered is remembered before
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count


def filled(piece: str, size: int, start: str = "") -> str:
    return start + piece * ((size - len(start)) // len(piece))


def check_linear(read: Callable[[str], object], piece: str, start: str = "") -> None:
    small = steps_of(lambda: read(filled(piece, SMALL, start)))
    large = steps_of(lambda: read(filled(piece, FACTOR * SMALL, start)))
    assert large <= EACH_ANEW * FACTOR * small + 1_000


@pytest.mark.parametrize(
    "piece",
    [
        "[a](", "[", "]", "![", "[a](/b) ", "*", "**a ", "*a_b", "_", "`", "``a", "`a``", "~", "<", "<a ", "<!--", "&", "&amp", "\\",
        "> ", ">", "- ", "  - a\n", "> a\n", ">> a\n", "1. ", "# a\n", "---\n", "a\n===\n", "```\n", "~~~\n", "    a\n",
        "[a]: /b\n", "[a]: <", "[a][", "[a][b]", "(", "\n", "\n\n", "a\n", "http://", "a **", "[a](<b", "[a](b 'c", "|", "\t",
    ],
)  # fmt: skip
@pytest.mark.slow
def test_markdown_takes_linear_steps(piece: str) -> None:
    check_linear(parse_markdown_links, piece)


def test_of_five_megabytes_of_markdown_only_so_much_is_read() -> None:
    assert len(readable("[" * 5_000_000)) == MAX_MARKS
    assert len(readable("a" * 5_000_000)) == MAX_CHARS
    assert len(readable("[a](" * 1_250_000)) == 4 * MAX_MARKS // 2


@pytest.mark.parametrize(
    "start", ["<main>", "<main><table>", "<main><table><tr>", "<main><ul>", "<main><pre>", ""]
)
@pytest.mark.parametrize(
    "piece",
    [
        "<h2>a</h2>", "<p>a", "<div>", "<div>a</div>", "<ul><li>a", "<blockquote>", "<td>a", "<td>a</td><td>b</td></tr><tr>", "<tr>",
        "<tr><td>", "<td colspan=1000 rowspan=1000>", "<table><tr><td>a", "<a href=/a>b</a>", "<em>a", "<code>`</code>",
        "<img alt=a src=b>", "a<br>", "*_[](", "<article><p>a", "<section><h3>a</h3>", "<dl><dt>a<dd>b", "<hr>",
    ],
)  # fmt: skip
@pytest.mark.slow
def test_content_takes_linear_steps(piece: str, start: str) -> None:
    check_linear(lambda text: main_content(text.encode(), PAGE), piece, start)


@pytest.mark.parametrize(
    "piece", ["<p>a", "<div>", "<a href=/a>b</a>", "<a href=?%d>b</a>", "<ul><li>a", "<font>", "<td>a"]
)
def test_a_page_takes_linear_steps(piece: str) -> None:
    check_linear(lambda text: parse_page(text, PAGE), piece)


def lines_of(call: Callable[[], object]) -> int:
    """Count the lines that run: a loop over attributes of nodes makes no call."""
    count = 0

    def note(_frame: object, event: str, _value: object) -> Any:
        nonlocal count
        count += event == "line"
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("piece", ["<rp>", "<font>", "<svg>", "<a><b>", "<q><i>"])
def test_nested_styling_takes_linear_lines(piece: str) -> None:
    small, large = (lines_of(partial(parse_page, text, PAGE)) for text in (piece * 100, piece * 300))
    assert large <= EACH_ANEW * FACTOR * small + 1_000
