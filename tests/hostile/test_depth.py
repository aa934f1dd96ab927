"""Markup that nests deeper than it looks: whatever is let through is no deeper in the parser than the bound allows."""

from __future__ import annotations

from random import Random

import pytest
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from honeyguide.adapters.html import guards
from honeyguide.adapters.html.page import parse_page
from honeyguide.core.url.url import Url

PAGE = Url.parse("https://a.example/")
UNITS = 150  # repeated so often
BOUND = 40  # elements that the model may have open; what never nests stands between them, up to three of each
DEEP = UNITS - 10


def depth_of(markup: bytes) -> int:
    """Count how deep the parser's tree is, without recursion."""
    node = LexborHTMLParser(markup, options=LexborDocumentOptions.WO_EVENTS).root
    deepest = depth = 0
    while node is not None:
        deepest = max(deepest, depth)
        if node.first_child is not None:
            node, depth = node.first_child, depth + 1
            continue
        while node is not None and node.next is None:
            node, depth = node.parent, depth - 1
        node = None if node is None or depth <= 0 else node.next
    return deepest


def let_through(markup: bytes, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Tell whether markup is taken for shallow."""
    monkeypatch.setattr(guards, "MAX_DEPTH", BOUND)
    return guards._is_shallow(markup)  # noqa: SLF001 - a small document is not looked at


# Each of these once passed for shallow: an end tag that closes nothing, or text that is none.
FOUND = [
    ("<!-- --!>", "<div>"), ("", "<div><!--!></div>-->"), ("", "<div><!x </div>"), ("", "<div><?x </div>"), ("", "<div></ </div>"),
    ("", "<span><div></span><table></div></table>"), ("", "<form><div></form>"), ("", "<div><table><td></div></table>"),
    ("", "<div><object></div></object>"), ("", "<rp>"), ("", "<rtc>"), ("", "<optgroup>"), ("", "<dt><li>"), ("", "<ruby><li><rtc>"),
    ("<svg>", "<a>"), ("<svg><style>", "<g>"), ("<svg>", "<a x=1/>"), ("<math>", "<title>"), ("<math>", "<svg><foreignObject><title>"), ("", "<svg><![CDATA[</svg>]]>"),
    ("", "</svg><svg></br><rb>"), ("", "<svg><sup><title>"), ("", "<div><svg><tt></noscript><noscript>"), ("", "<frameset><noembed>"),
    ("<select><xmp></select>", "<div>"), ("", "<div><script><!--<script></script></div></script>"), ("", "</foreignObject><foreignObject><dd>"),
    ("", "<rt></basefont><basefont>"), ("", "<svg><foreignObject><p>"), ("", "<span><p><div></span>"), ("", "<section><button></section>"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "unit"), FOUND)
def test_deep_markup_never_passes_for_shallow(
    before: str, unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    markup = (before + unit * UNITS).encode()
    assert depth_of(markup) < DEEP or not let_through(markup, monkeypatch)


TAGS = ["div", "span", "x-y", "p", "li", "a", "table", "tr", "td", "caption", "select", "option", "optgroup", "button", "form", "object", "template", "svg", "math", "g", "foreignObject", "desc", "title", "mi", "annotation-xml", "style", "script", "textarea", "xmp", "noscript", "h1", "ruby", "rt", "dd", "dt", "ul", "pre", "center", "details", "label", "sup", "embed", "img", "frameset", "body", "plaintext"]  # fmt: skip
PIECES = [f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS] + [
    "<svg/>", "<g/>", "<a x=1/>", "<a x='1'/>", "<!--", "-->", "--!>", "<!-->", "<!x ", "<?x ", ">", "</ ", "<![CDATA[", "]]>", "'", '"',
    "<script><!--<script>", "<a x='", "<DIV>", "</DIV>", "<table><tr><td>", "<svg><foreignObject>", "/",
]  # fmt: skip


def test_no_soup_is_deeper_than_it_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(9)  # noqa: S311 - test data
    shallow = 0
    for _ in range(700):
        before = "".join(chance.choices(PIECES, k=chance.choice((0, 0, 1, 2))))
        unit = "".join(chance.choices(PIECES, k=chance.randint(1, 5)))
        markup = guards._plain((before + unit * UNITS).encode())  # noqa: SLF001 - as the parser gets it
        if let_through(markup, monkeypatch):
            shallow += 1
            assert depth_of(markup) < 4 * BOUND, (before, unit)
    assert shallow > 300, "nothing is let through any more"


KEPT = [
    ("icons", b"<div><svg viewBox='0 0 1 1'><g><path d=z /></g><path d=y /></svg><a href=/x>x</a></div>" * 6_000),
    ("items without ends", b"<ul>" + b"<li>x" * 9_000 + b"</ul><table>" + b"<tr><td>x<td>y" * 9_000 + b"</table>"),
    ("styling without ends", b"<p><b>x<p><font color=red>y" * 9_000),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "markup"), KEPT)
def test_what_is_only_large_is_read_to_its_end(shape: str, markup: bytes) -> None:
    page = parse_page(markup + b"<a href=/end>the end</a>", PAGE)
    assert page.links[-1].url.path == "/end", shape
    assert not page.skipped


@pytest.mark.parametrize(
    "unit", [b"<a", b"<!--", b"<!--<", b"<a/", b"<a x='", b"<script><!--", b"</", b"<![CDATA["]
)
def test_what_is_never_closed_is_looked_at_once(unit: bytes) -> None:
    """Looking anew from each `<` took minutes for a megabyte."""
    data = unit * (2_000_000 // len(unit))
    kept, left_out = guards.bound_markup(data)
    assert len(kept) + left_out >= len(data)
