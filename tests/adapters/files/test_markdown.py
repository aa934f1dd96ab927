from __future__ import annotations

import re
import sys

import pytest

from honeyguide.adapters.files.markdown import MAX_CHARS, MAX_MARKS, parse_markdown_links, readable

N = 5_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("no links", []),
        ("[a](b) and [c](d)", [("a", "b"), ("c", "d")]),
        ("[a]()", [("a", "")]),
        ("[](b)", [("", "b")]),
        ("[a] (b)", []),
        ("[a](b c)", []),
        ("[a](b", []),
        ("[a](b\nc)", []),
        ("[a\nb](c)", [("a b", "c")]),
        ("[a\n\nb](c)", []),
        ('[a](b "title (x)")', [("a", "b")]),
        ("[a](b (title))", [("a", "b")]),
        ("[a]( b\n  'title\n goes on' )", [("a", "b")]),
        ('[a](b "title)', []),
        ('[a](b"title")', [("a", 'b"title"')]),
        ("[a](<b)", []),
        ("[a](<b\\>c>)", [("a", "b>c")]),
        ("[a](b(c(d))e)", [("a", "b(c(d))e")]),
        ("[a](b(c)", []),
        ("[a](b\\(c)", [("a", "b(c")]),
        ("[a](b?x=1&amp;y=2)", [("a", "b?x=1&y=2")]),
        ("[A &amp; B](c)", [("A & B", "c")]),
        ("[*a* **b** ~~c~~ _d_ e_f 2 * 3](g)", [("a b c d e_f 2 * 3", "g")]),
        ("[`code`](b)", [("code", "b")]),
        ("[a `](b)` c](d)", [("a ](b) c", "d")]),
        ("``[a](b) ` `` [c](d)", [("c", "d")]),
        ("` [a](b)", [("a", "b")]),
        ("\\`[a](b)\\`", [("a", "b")]),
        ("[a [b](c) d](e)", [("b", "c")]),
        ("[a ![b](c) d](e)", [("a b d", "e")]),
        ("![a [b](c) d](e)", []),
        ("![a]\n[b](c)", [("b", "c")]),
        ("!\\[a](b) \\![c](d)", [("c", "d")]),
        ("<a title='[x](y)'>[b](c)</a>", [("b", "c")]),
        ("<!-- [x](y) --> [b](c) <!-- [d](e)", [("b", "c"), ("d", "e")]),
        ("<https://a.example/?x=(y)>", [("https://a.example/?x=(y)", "https://a.example/?x=(y)")]),
        ("<not a link>", []),
        ("a < b [c](d) > e", [("c", "d")]),
    ],
)
def test_inline(text: str, expected: list[tuple[str, str]]) -> None:
    assert parse_markdown_links(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "```\n[no](x)\n```\n[a](b)",
        "```python\n[no](x)\n````\n[a](b)",
        "~~~\n```\n[no](x)\n~~~\n[a](b)",
        "text\n```\n[no](x)\n```\n\n[a](b)",
        "> ```\n> [no](x)\n\n[a](b)",
        "> > ~~~\n> > [no](x)\n> > ~~~\n> [a](b)",
        "- item\n  ```\n  [no](x)\n  ```\n  [a](b)",
        "1. item\n\n       [no](x)\n\n   [a](b)",
        "    [no](x)\n\n    [no](y)\n\n[a](b)",
        "\t[no](x)\n\n[a](b)",
        "[a](b)\n```\n[no](x)",
        "``` `\n[a](b)\n",
        "paragraph\n    [a](b)",
        "- item\n\n  [a](b)",
        "- x\n    - y\n        - [a](b)",
        "# [a](b)",
        "| [a](b) |",
    ],
)
def test_blocks(text: str) -> None:
    assert parse_markdown_links(text) == [("a", "b")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a][r]\n\n[r]: /u 'title'", [("a", "/u")]),
        ("[r]: </u v>\n\n[R][]", [("R", "/u v")]),
        ("[ the  Label ]\n\n[The label]: /u", [("the Label", "/u")]),
        ("[r]\n\n[r]: /first\n[r]: /second", [("r", "/first")]),
        ("[![alt][i]][r]\n\n[r]: /u\n[i]: /i.png", [("alt", "/u")]),
        ("[a][nothing]\n\n[r]: /u", []),
        ("[a](b)[r]\n\n[r]: /u", [("a", "b"), ("r", "/u")]),
        ("note[^1]\n\n[^1]: /u", []),
        ("```\n[r]: /u\n```\n\n[r]", []),
        ("[ ] todo\n[x] done", []),
    ],
)
def test_references(text: str, expected: list[tuple[str, str]]) -> None:
    assert parse_markdown_links(text) == expected


HOSTILE = [
    "[", "]", "[]", "[a](", "[a](<", '[a](b "', "![", "`", "`a``", "<", "<a", "<!--", "<?", ">", "\\", "[a][", "[a]: <",
    "* ", "*a", "_", "~~a", "&#", "- ", "- a\n", "> - a\n", "1. ", "~", "\t", "a**b", "![[]()", "[ (](", "[a](b(",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("before", ["", "[r]: /u\n\n"])
@pytest.mark.slow
def test_work_grows_with_a_hostile_text_and_no_faster(piece: str, before: str) -> None:
    parse_markdown_links("[a](b)")
    assert calls(before + piece * 1_000) < 2.5 * calls(before + piece * 500)


def calls(text: str) -> int:
    """Count the calls that reading a text takes: a measure of work that does not depend on the machine."""
    count = 0

    def note(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(note)
    try:
        parse_markdown_links(text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("piece", HOSTILE)
def test_no_more_of_a_text_is_read_than_the_bounds_allow(piece: str) -> None:
    text = readable(piece * (5_000_000 // len(piece)))
    assert len(text) <= MAX_CHARS
    assert len(re.findall(r"[\n\[\]<`\\&!]", text)) <= MAX_MARKS


def test_brackets_without_end_hide_no_link() -> None:
    assert parse_markdown_links(f"{'[' * N}[a](b)") == [("a", "b")]


def test_hostile_nesting_ends() -> None:
    assert parse_markdown_links("![" * N + "x" * N + "](u)" * N) == []
    assert parse_markdown_links("[" * N + "x](u)" + "](v)" * N) == [("x", "u")]
    assert parse_markdown_links("[a](" + "(" * N + ")" * N + ")") == []


def test_a_character_reference_too_long_to_read_stays_text() -> None:
    reference = f"&#{'9' * 5000};"
    assert parse_markdown_links(f"[{reference}]({reference})") == [(reference, reference)]
