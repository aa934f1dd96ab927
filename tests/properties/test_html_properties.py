from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.adapters.html import links as about_links
from honeyguide.adapters.html import walk
from honeyguide.adapters.html.charset import charset_of, to_utf8
from honeyguide.adapters.html.guards import bound_markup, strip_highlighting
from honeyguide.adapters.html.links import MAX_SKIPPED_HREF
from honeyguide.adapters.html.page import extract_links, parse_head, parse_page
from honeyguide.core.page.page import Link, Page
from honeyguide.core.url.url import Url

PAGE = Url.parse("https://acme.example/services/")
UTF8 = "text/html; charset=utf-8"

# Pieces that pages are made of, and pieces that have broken parsers.
ANCHORS = [
    "<a href=a>", "<a href=a/>word</a>", "<a href='/b/'>", '<a href="https://c.example/?d=1&amp;e" title="t  u" rel="NoFollow x">',
    "<a href=#f>", "<a href=>", "<a href='mailto:g'>", "<a href=http://[h>", "<a name=i>", "<a href=é hidden>", "</a>", "</a>",
    "<area href=j alt=k>", "<map>", "<img alt='l m'>", "<svg>", "</svg>", "<a xlink:href=y>",
]  # fmt: skip
BLOCKS = [
    "<p>", "</p>", "<div>", "</div>", "<div class=menu>", "<div id=footer>", "<nav>", "</nav>", "<header>", "</header>",
    "<footer>", "</footer>", "<ul>", "<li>", "</ul>", "<table>", "<tr>", "<td>", "</table>", "<h1>", "</h1>", "<h2>", "<br>",
    "<select>", "<option>", "<form>", "<b>", "</b>", "<i class=n>", "<font size=1>", "</font>", "<span hidden>", "</span>",
    "<pre>", "<pre>", "</pre>", "<code><i>", "</code>",
]  # fmt: skip
ABOUT = [
    "<title>", "</title>", "<base href=/o/>", "<base href='http://['>", "<link rel=canonical href=p>", "<html lang=de>",
    "<meta name=description content='q r'>", "<head>", "<body>", "</body>", "</html>",
]  # fmt: skip
TRAPS = [
    "<noscript>", "</noscript>", "<template>", "</template>", "<script>", "</script>", "<style>", "</style>", "<!--", "-->",
    "<![CDATA[", "]]>", "<?", "<frameset>", "<math>", "<foreignObject>", "<textarea>", "<plaintext>", "&amp;", "&lt;", "&#0;",
    "&#xD800;", "&nbsp;", "&copy", "<", ">", '"', "'", "=", "/", "\0", "\x1e",
]  # fmt: skip
WORDS = [" ", "\n", "word", " fire, ", "é", "价"]
PIECES = (
    st.sampled_from(ANCHORS)
    | st.sampled_from(BLOCKS)
    | st.sampled_from(WORDS)
    | st.sampled_from(ABOUT + TRAPS)
)
MARKUP = st.lists(PIECES | st.text(max_size=5), max_size=60).map("".join)


def folded(text: str) -> bool:
    return text == " ".join(text.split())


def check_link(link: Link) -> None:
    assert link.url.as_linked.startswith(("http://", "https://"))
    assert link.occurrences
    for occurrence in link.occurrences:
        assert all(map(folded, (occurrence.anchor, occurrence.title, occurrence.rel, occurrence.context)))
        assert len(occurrence.anchor) <= walk.MAX_LABEL
        assert len(occurrence.context) <= about_links.CONTEXT


def check_page(page: Page) -> None:
    for link in page.links:
        check_link(link)
    orders = [link.order for link in page.links]
    assert orders == sorted(set(orders))
    assert len({link.url for link in page.links}) == len(page.links)
    assert all(len(href) <= MAX_SKIPPED_HREF and rule for href, rule in page.skipped)
    assert all(line and folded(line) for line in page.text.split("\n") if page.text)
    assert all(map(folded, (page.title, page.description, *page.headings)))


@settings(deadline=None, max_examples=300)
@given(MARKUP)
def test_any_markup_gives_a_sane_page(markup: str) -> None:
    page = parse_page(markup, PAGE)
    check_page(page)
    assert extract_links(markup, PAGE) == page.links
    assert parse_page(markup, PAGE) == page
    parse_head(markup)


@settings(deadline=None, max_examples=300)
@given(MARKUP)
def test_short_cuts_through_a_document_lead_to_the_same_page(markup: str) -> None:
    # Where anything is hidden, every element is looked at.
    assert parse_page("<body><p></p>" + markup, PAGE) == parse_page("<body><p hidden></p>" + markup, PAGE)


@settings(deadline=None)
@given(MARKUP, st.integers(0, 400))
def test_markup_may_be_cut_off_anywhere(markup: str, length: int) -> None:
    data = markup.encode("utf-8", "replace")[:length]
    check_page(parse_page(data, PAGE, UTF8))
    parse_head(data, UTF8)


@settings(deadline=None)
@given(MARKUP)
@pytest.mark.slow
def test_bytes_and_text_give_the_same_page(markup: str) -> None:
    data = markup.encode("utf-8", "replace")
    assert parse_page(data, PAGE, UTF8) == parse_page(data.decode(), PAGE)


@settings(deadline=None)
@given(st.binary(max_size=300), st.none() | st.text(max_size=40) | st.just("text/html; charset=shift_jis"))
def test_any_bytes_give_a_sane_page(data: bytes, content_type: str | None) -> None:
    check_page(parse_page(data, PAGE, content_type))
    check_page(parse_page(b"<a href=" + data, PAGE, content_type))
    parse_head(b"<title>" + data, content_type)


@settings(deadline=None)
@given(
    st.binary(max_size=60),
    st.sampled_from(["<meta charset={}>", "<?xml encoding='{}'?>", "<html lang={}>", "{}"]),
    st.sampled_from(["utf-8", "latin1", "gbk", "big5", "euc-jp", "iso-2022-jp", "sjis", "euc-kr", "utf-16", "hz-gb-2312"])
    | st.sampled_from(["ja", "zh-tw", "th", "x"])
    | st.text(max_size=10),
)  # fmt: skip
def test_every_encoding_can_be_read(data: bytes, declaration: str, label: str) -> None:
    body = declaration.format(label).encode("utf-8", "replace") + data
    codec = charset_of(None, body)
    assert codecs.lookup(codec)
    text = to_utf8(body).decode("utf-8", "replace")
    assert codec == "utf-8" or text == body.decode(codec, "replace").removeprefix("\ufeff")


@settings(deadline=None)
@given(st.text(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_text_survives_the_encodings_of_unicode(text: str, codec: str) -> None:
    text = text.encode("utf-8", "replace").decode().removeprefix("\ufeff")
    data = text.encode(codec)
    assert to_utf8(data, UTF8 if codec == "utf-8" else None).decode() == text


@settings(deadline=None, max_examples=50)
@given(MARKUP, st.integers(1, 4000))
def test_taming_is_done_once(markup: str, times: int) -> None:
    data = markup.encode("utf-8", "replace") * times
    tame, _ = bound_markup(data[:200_000])
    assert bound_markup(tame) == (tame, 0)


# Well-formed markup with words in colours of their own, some of them in forms that are left as they are.
COLOURED = st.recursive(
    st.sampled_from(["word", " fire, ", "&lt;b&gt;", " "]),
    lambda inner: st.tuples(
        st.sampled_from([
            ("<span>", "</span>"), ('<span class="n k">', "</span>"), ("<span hidden>", "</span>"), ("<code>", "</code>"),
            ('<code class="x"><span class="pre">', "</span></code>"), ("<i>", "</i>"), ("<pre>", "</pre>"), ("<div>", "</div>"),
            ('<span class="menu"><a href=a>', "</a></span>"), ("<h1>", "</h1>"), ("<table><tr><td>", "</table>"),
        ]),
        st.lists(inner, max_size=3).map("".join),
    ).map(lambda pair: pair[0][0] + pair[1] + pair[0][1]),
    max_leaves=12,
)  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(COLOURED)
def test_a_reader_sees_the_same_without_colours(markup: str) -> None:
    coloured, plain = (walk.Document(data) for data in (markup.encode(), strip_highlighting(markup.encode())))
    assert plain.text() == coloured.text()
    assert plain.headings == coloured.headings
    assert about_links.Links(plain, PAGE).merged() == about_links.Links(coloured, PAGE).merged()
