from __future__ import annotations

import pytest

from honeyguide.adapters.html import links as about_links
from honeyguide.adapters.html import page as about
from honeyguide.adapters.html import walk
from honeyguide.adapters.html.guards import MANY_TAGS
from honeyguide.adapters.html.page import extract_links, parse_head, parse_page
from honeyguide.core.page.page import Head, Page
from honeyguide.core.url.url import Url

PAGE = Url.parse("https://acme.example/")


def page(data: bytes | str, content_type: str | None = None) -> Page:
    return parse_page(data, PAGE, content_type)


# --- encodings ---


@pytest.mark.parametrize(
    ("data", "content_type"),
    [
        ("<title>Grüße</title>", None),
        ("\ufeff<title>Grüße</title>", None),
        ("<title>Grüße</title>".encode(), None),
        (b"\xef\xbb\xbf<title>Gr\xc3\xbc\xc3\x9fe</title>", "text/html; charset=windows-1252"),
        ("<title>Grüße</title>".encode("utf-16"), None),
        ("<title>Grüße</title>".encode("cp1252"), None),
        ("<title>Grüße</title>".encode("cp1250"), "text/html; charset=windows-1250"),
        ("<meta charset=koi8-r><title>Grüße</title>".encode("cp1252"), "text/html; charset=latin1"),
        ("<meta charset=iso-8859-15><title>Grüße</title>".encode("iso-8859-15"), "text/html"),
        ("<title>Gr&uuml;&#223;e</title>", None),
    ],
)
def test_text_is_read_whatever_its_encoding(data: bytes | str, content_type: str | None) -> None:
    assert page(data, content_type).title == "Grüße"
    assert parse_head(data, content_type).title == "Grüße"


def test_hrefs_are_read_in_the_encoding_of_the_page() -> None:
    (link,) = page("<meta charset=windows-1251><a href='/услуги'>x</a>".encode("cp1251")).links
    assert link.url.text == "https://acme.example/%D1%83%D1%81%D0%BB%D1%83%D0%B3%D0%B8"


# --- what is no page, and what is a broken one ---


@pytest.mark.parametrize(
    "data",
    [
        b"",
        "",
        b" \n\t ",
        b"\0\0\0",
        b"<!-- <a href=x>x</a>",
        b"<!doctype",
        b"</html>",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR<a href=x>x</a>"[:16],
        b"<?xml version='1.0'?><rss><channel><title>x</title><link>https://a.example/</link></channel></rss>",
        b"<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>",
        bytes(range(256)),
        b"<script><a href=x>x</a>",
        b"<template><a href=x>x</a>",
        b"<title></title>",
    ],
)
def test_a_page_with_nothing_in_it(data: bytes | str) -> None:
    assert page(data) == Page(PAGE)
    assert parse_head(data) == Head()
    assert extract_links(data, PAGE) == ()


def test_an_anchor_with_both_kinds_of_href_is_one() -> None:
    (link,) = page("<svg><a href=a xlink:href=b><text>x</text></a></svg>").links
    assert (link.url.target, len(link.occurrences)) == ("/a", 1)


@pytest.mark.parametrize(
    ("hrefs", "targets"),
    [
        (("a", "a#b", "a#c", "a?#d"), ["/a", "/a?"]),
        (("a ", "a #b", "a#c"), ["/a", "/a%20"]),
        (("a#b", "a " + "#" * 70_000, "a#" + "c" * 70_000), ["/a"]),
        (("#b", "?c#d", "?c", " #e"), ["/?c"]),
    ],
)
def test_links_to_parts_of_a_page_are_one(hrefs: tuple[str, ...], targets: list[str]) -> None:
    links = page("".join(f"<a href='{href}'>x</a>" for href in hrefs)).links
    assert [link.url.target for link in links] == targets


def test_a_link_to_a_part_can_be_too_long_where_the_link_to_the_page_is_not() -> None:
    found = page(f"<a href=a>x</a><a href=a#b>y</a><a href=a#{'c' * 70_000}>z</a>")
    assert [occurrence.anchor for occurrence in found.links[0].occurrences] == ["x", "y"]
    assert [rule for _, rule in found.skipped] == ["unparsable"]


def anchors(data: bytes | str) -> list[tuple[str, str]]:
    return [
        (link.url.target, occurrence.anchor) for link in page(data).links for occurrence in link.occurrences
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("<a href=x>x", [("/x", "x")]),
        ("<a href=x>x<a href=y>y", [("/x", "x"), ("/y", "y")]),
        ("<a href='x>x</a>", []),
        ("<a href='x\ny'>x</a>", [("/xy", "x")]),
        ("<a href=x href=y>x</a>", [("/x", "x")]),
        ("<a\nHREF\n=\n' x '\n>x</a\n>", [("/x", "x")]),
        ("<a/href=x/>x", [("/x", "x")]),
        ("<a href=x<b>x</a>", [("/x%3Cb", "x")]),
        ("<a href=&quot;x&amp;y>x</a>", [("/%22x&y", "x")]),
        ("<a href=?a=1&copy=2>x</a>", [("/?a=1&copy=2", "x")]),
        (b"<a href=x>a\0b</a>", [("/x", "ab")]),
        (b"<a href=x>\xff\xfe</a><title>\xc3</title>", [("/x", "ÿþ")]),
        ("<b><p><a href=x><i>x</b>y</a>z", [("/x", "x"), ("/x", "y")]),
        ("<table><a href=x>x</a><tr><td><a href=y>y</table>", [("/x", "x"), ("/y", "y")]),
        ("<table><tr><td><a href=x>x<table><tr><td><a href=y>y", [("/x", "x y"), ("/y", "y")]),
        ("<p><a href=x>x<p>y</a>z", [("/x", "x"), ("/x", "y")]),
        ("<head><noscript><img src=x></noscript><a href=x>x", [("/x", "x")]),
        ("<html><body><html lang=de><body><a href=x>x</body></html><a href=y>y", [("/x", "x"), ("/y", "y")]),
        ("<frameset><frame src=x></frameset><noframes><a href=y>y</a></noframes>", [("/x", "")]),
        ("<select><option><a href=x>x</a></select>", [("/x", "x")]),
        ("<svg><foreignObject><div><a href=x>x</a>", [("/x", "x")]),
        ("<math><a href=x>x</a></math>", [("/x", "x")]),
        ("<p>&lt;a href=x&gt;x&lt;/a&gt;", []),
        ("<![CDATA[<a href=x>x</a>]]><a href=y>y", [("/y", "y")]),
        ("<a href=x>x</a\0>", [("/x", "x")]),
        ("<a href=x\udc80>x</a>", [("/x?", "x")]),
    ],
)
def test_broken_markup_is_read_as_browsers_read_it(
    data: bytes | str, expected: list[tuple[str, str]]
) -> None:
    assert anchors(data) == expected


@pytest.mark.parametrize("hidden", ["", "hidden"])  # where anything is hidden, every element is looked at
@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("<pre>\n<b>def</b> <i>f<u>oo</u></i>(<s>x</s>):\n  <b></b>1<!-- y --></pre>z", "def foo(x): 1\nz"),
        ("<pre>a<b>b<br>c</b><i>d</i></pre>e", "ab\ncd\ne"),
        ("<pre>a<b>b<pre><i>c</i>d</pre>e</b>f</pre>", "ab\ncd\nef"),
        ("<pre>a<b>b<script>c</script></b><svg><title>d</title>e</svg></pre>f", "abe\nf"),
        ("a<pre><b></b><i></i></pre>b", "a\nb"),
        ("<pre>a<b>b<i hidden>c</i></b>d</pre>", "abd"),
        ("a<b><i><u>b</u></i></b>c", "abc"),
        ("a<b><i><u>b</u><s>c</s></i></b>d<p>e", "abcd\ne"),
        ("a<b><i><div>b</div></i></b>c", "a\nb\nc"),
        ("a<b><i><!-- b --></i></b>c<b><i></i></b>d", "acd"),
        ("a<b><i><script>b</script></i></b>c<b><title>d</title></b>", "ac"),
    ],
)
def test_listings_and_styling_are_read_to_the_end(data: str, text: str, hidden: str) -> None:
    assert page(f"<body><p {hidden}></p>{data}").text == text
    (link,) = page(f"<body><p {hidden}></p><h1>{data}<a href=x>y</a></h1>").links
    assert link.anchor == "y"


# --- heads ---


@pytest.mark.parametrize(
    ("data", "title", "description"),
    [
        ("<title>a</title><meta name=description content=b>", "a", "b"),
        ("<meta property=og:title content=a><meta property=og:description content=b>", "a", "b"),
        ("<title>a</title><meta property=og:title content=x><meta name=og:description content=b>", "a", "b"),
        ("<title> </title><meta name=description content=' '>", None, None),
        ("<title>a</title><script>var x = '", "a", None),
        ("<title>a", "a", None),
        ('<title>a</title><meta name=description content="cut o', "a", None),
        ("<html><head><title>a</title><style>b { c", "a", None),
        (b"<meta charset=utf-8><title>Gr\xc3\xbc\xc3", "Grü\ufffd", None),
    ],
)
def test_heads(data: bytes | str, title: str | None, description: str | None) -> None:
    assert parse_head(data) == Head(title, description)


# --- sizes ---


def test_very_deep_nesting_is_no_problem() -> None:
    parsed = page(b"<a href=x>x</a>" + b"<div>" * 100_000 + b"<a href=y>y</a>")
    assert [link.anchor for link in parsed.links] == ["x"]
    assert parsed.skipped == ((f"{5 * (100_000 - MANY_TAGS + 2) + 15} bytes of markup", "limit"),)


def test_deep_nesting_in_a_small_document_is_read_to_the_end() -> None:
    parsed = page(b"<div>" * 5_000 + b"<nav><p>Call <a href=y>us</a>")
    assert [(link.anchor, link.context, link.position) for link in parsed.links] == [
        ("us", "Call us", "navigation")
    ]


def test_blocks_in_blocks_with_anchors_cost_no_more_than_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about_links, "_BLOCK_TEXT_FACTOR", 1)
    parsed = page("".join(f"<div><a href=p{n}>link {n}</a> and some words " for n in range(300)))
    contexts = [link.context for link in parsed.links]
    assert contexts[0].startswith("link 0 and some words link 1")
    assert contexts[-2:] == [
        "",
        "link 299 and some words",
    ]  # the last has one line, which no other block repeats


def test_the_number_of_links_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about_links, "MAX_LINKS", 2)
    parsed = page("<a href=a>1</a><a href=b>2</a><a href=c>3</a><a href=a>4</a><a href=c>5</a>")
    assert [(link.url.target, len(link.occurrences)) for link in parsed.links] == [("/a", 2), ("/b", 1)]
    assert parsed.skipped == (("c", "limit"),)


def test_the_number_of_occurrences_is_bounded() -> None:
    (link,) = page("<a href=a>x</a>" * (about_links.MAX_OCCURRENCES + 5)).links
    assert len(link.occurrences) == about_links.MAX_OCCURRENCES


def test_what_is_skipped_is_counted_beyond_its_bound() -> None:
    parsed = page("".join(f"<a href='tel:{n}'>x</a>" for n in range(about_links.MAX_SKIPPED + 5)))
    assert len(parsed.skipped) == about_links.MAX_SKIPPED + 1
    assert parsed.skipped[-1] == ("5 more", "limit")


def test_texts_are_bounded() -> None:
    long = "word " * 300_000
    parsed = page(
        f"<html lang='{long}'><title>{long}</title><meta name=description content='{long}'>"
        f"<h1>{long}</h1><a href=a title='{long}' rel='{long}'>{long}</a>"
    )
    (link,) = parsed.links
    assert all(
        len(text) <= walk.MAX_LABEL
        for text in (parsed.title, parsed.h1[0], link.anchor, link.title, link.rel)
    )
    assert len(parsed.description) <= about.MAX_DESCRIPTION
    assert len(parsed.text) <= walk.MAX_TEXT
    assert len(link.context) <= about_links.CONTEXT
    assert parsed.language is not None
    assert len(parsed.language) <= walk.MAX_LABEL


def test_the_number_of_headings_is_bounded() -> None:
    assert len(page("<h2>x</h2>" * (walk.MAX_HEADINGS + 5)).h2) == walk.MAX_HEADINGS


def test_an_index_of_many_links_has_a_context_for_each() -> None:
    links = page("<body>" + "".join(f"<a href=p{n}>page {n}</a> of the index, " for n in range(10_000))).links
    assert len(links) == 10_000
    assert all(link.anchor in link.context and len(link.context) <= about_links.CONTEXT for link in links)


def test_anchors_that_cannot_be_found_in_their_block_still_have_a_context() -> None:
    words = "".join(
        f"<svg><a href=o{n}>some words <a href=p{n}>twice {n}</a></a></svg> and " for n in range(50)
    )
    links = page(f"<div>{words}").links
    assert len(links) == 100
    assert all("some words twice" in link.context for link in links)


def test_links_that_nobody_sees_leave_the_others_their_contexts() -> None:
    hidden = "".join(
        f"<span hidden>not <a href=h{n}>here {n}</a></span><a hidden href=i{n}>nor {n}</a>" for n in range(9)
    )
    *unseen, seen = page(f"<div>{'first ' * 50}{hidden}{'then ' * 50}<a href=a>last</a>").links
    assert [link.context for link in unseen] == [
        text for n in range(9) for text in (f"not here {n}", f"nor {n}")
    ]
    assert seen.context.endswith("then last")


@pytest.mark.parametrize(
    ("markup", "text", "context"),
    [
        ("<p>The <b>loop</b>, (<a href=a>run</a>).", "The loop, (run).", "The loop, (run)."),
        ("<nav><a href=a>Home</a><a href=b>About</a></nav>", "Home About", "Home"),
        ("<p><span><a href=a>Home</a></span><span><a href=b><i>About</i></a></span>", "Home About", "Home About"),
        ("<p>Two <a href=a>dog</a>s", "Two dogs", "Two dogs"),
        ("<ul><li><a href=a>One</a> is<ul><li>first<li>last</ul><li>Two</ul>", "One is\nfirst\nlast\nTwo", "One is first last"),
        ("<div>Call <a href=a>us</a><p hidden>never</p> or<p>write</p></div>", "Call us\nor\nwrite", "Call us or write"),
        ("<div>Or <noscript>read <div>the <a href=a>manual</a></div></noscript>", "Or", "the manual"),
        ("<div>Or <noscript>read <a href=a>it</a> all</noscript> now", "Or now", "read it all"),
    ],
)  # fmt: skip
def test_a_context_is_the_text_of_the_nearest_block_as_a_reader_sees_it(
    markup: str, text: str, context: str
) -> None:
    parsed = page(markup)
    assert (parsed.text, parsed.links[0].context) == (text, context)


def test_only_the_links_are_the_same_links() -> None:
    data = "<base href=/b/><nav><a href=a>x</a></nav><p>Words <a href=b>y</a> more<p><a href=#z>z</a><a href=a>w</a>"
    assert extract_links(data, PAGE) == page(data).links
    assert extract_links(data.encode(), PAGE) == page(data).links


def test_what_hrefs_come_to_is_remembered_only_where_pages_of_a_folder_agree() -> None:
    hrefs = (
        "a.html",
        "?q",
        "./?q",
        "//c.example/",
        "/r",
        "a.html #x",
        "http://c.example/s",
        "../t",
    )
    markup = "".join(f'<a href="{href}">x</a>' for href in hrefs)
    sites = ("https://a.example", "http://a.example")
    for page in (
        site + path for site in sites for path in ("/b/one", "/b/two?c/d", "/b/", "/e/one", "/b/one")
    ):
        urls = [Url.parse(href, page) for href in hrefs]
        expected = {url.text: url.as_linked for url in reversed(urls)}
        found = {link.url.text: link.url.as_linked for link in extract_links(markup, Url.parse(page))}
        assert found == expected, page


@pytest.mark.parametrize(
    ("markup", "anchor"),
    [
        ("<a href=a>one <b>two</b> <i>three</i></a>", "one two three"),
        ("<a href=a hidden>one</a>", "one"),
        ("<div hidden><a href=a>one <i hidden>two</i></a></div>", "one"),
        ("<a href=a>one <i hidden>two</i></a>", "one"),
        ("<a href=a>one<script>two</script><p>three</p>four</a>", "one three four"),
        ("<noscript><a href=a>one <b>two</b></a></noscript>", "one two"),
        ("<a href=a><svg><a href=b>one</a><a href=c>two</a></svg> three</a>", "one two three"),
        ("<a name=x>zero</a><a href=a> one\n two </a>", "one two"),
    ],
)
def test_the_text_of_an_anchor_is_what_a_reader_sees_in_it(markup: str, anchor: str) -> None:
    assert extract_links(markup, Url.parse("https://a.example/"))[0].anchor == anchor


def test_in_a_menu_other_links_are_no_context() -> None:
    # TOPIC-1: "Cooking" beside "Event loop" has nothing to do with event loops.
    menu = "<nav><a href=/c>Cooking</a> <a href=/e>Event loop</a></nav><footer><p><a href=/t>Terms</a> | <a href=/e2>Event loop</a></footer>"
    alone = "<nav><ul><li><a href=/s>Sauces</a> for every day</li><li><a href=/b>Bread</a></li></ul></nav>"
    main = "<main><p>Read about the event loop in <a href=/x>this chapter</a> or <a href=/y>that one</a>.</p></main>"
    links = parse_page(menu + alone + main, Url.parse("https://a.example/")).links
    assert [link.context for link in links] == [
        "Cooking",
        "Event loop",
        "Terms",
        "Event loop",
        "Sauces for every day",
        "Bread",
        *["Read about the event loop in this chapter or that one."] * 2,
    ]
