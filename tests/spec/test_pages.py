"""Links and pages, row by row: each row names the rule that it proves.

PAGE-1  a link: its URL, anchor text (an image's alternative text stands in), title, rel, position and context
PAGE-2  position: `navigation` (nav, role=navigation, header menus), `footer` (footer, role=contentinfo), `main` (the rest)
PAGE-3  context: the text of the nearest enclosing block around the anchor, white space folded, about 200 characters
PAGE-4  one URL linked several times is one link: its occurrences are merged, in document order
PAGE-5  a page: title, meta description, canonical, language, h1 and h2 headings, visible text, links
URL-8   links resolve against `<base href>`, or the URL of the page as it was linked
URL-9   hrefs that are no pages are set aside, with the rule that put them out
"""

from __future__ import annotations

import pytest

from honeyguide.adapters.html.page import parse_page
from honeyguide.core.page.page import Link, Page
from honeyguide.core.url.url import Url

PAGE = Url.parse("https://acme.example/services/")


def page(html: str | bytes) -> Page:
    return parse_page(html, PAGE)


def only(html: str) -> Link:
    (link,) = page(html).links
    return link


LABELS = [
    ("PAGE-1", "<a href=a>Fire alarms</a>", "Fire alarms"),
    ("PAGE-1", "<a href=a>\n  Fire\t <b>alarms</b>\u00a0 </a>", "Fire alarms"),
    ("PAGE-1", "<a href=a>Fire<br>alarms</a>", "Fire alarms"),
    ("PAGE-1", "<a href=a><h3>Fire</h3><p>Alarms</p></a>", "Fire Alarms"),
    ("PAGE-1", "<a href=a>Fire<i>man</i></a>", "Fireman"),
    ("PAGE-1", "<a href=a>Fire &amp; Safety</a>", "Fire & Safety"),
    ("PAGE-1", "<a href=a>Alarms<script>x()</script><style>b{}</style><!-- c --></a>", "Alarms"),
    ("PAGE-1", "<a href=a>Alarms<span hidden> (new window)</span></a>", "Alarms"),
    ("PAGE-1", "<a href=a><img alt='Our  logo'></a>", "Our logo"),
    ("PAGE-1", "<a href=a><img alt=Logo> Home</a>", "Home"),
    ("PAGE-1", "<a href=a><img src=x><img alt=''><span><img alt=Logo></span></a>", "Logo"),
    ("PAGE-1", "<a href=a><input type=image alt=Search></a>", "Search"),
    ("PAGE-1", "<a href=a><svg><title>Phone</title><path d=''/></svg></a>", "Phone"),
    ("PAGE-1", "<a href=a><svg><title>Phone</title></svg> Call us</a>", "Call us"),
    ("PAGE-1", "<a href=a aria-label='Read more'><i class=icon></i></a>", "Read more"),
    ("PAGE-1", "<a href=a aria-label='Read more'>More</a>", "More"),
    ("PAGE-1", "<a href=a title=Alarms></a>", ""),
    ("PAGE-1", "<map><area href=a alt=Europe></map>", "Europe"),
    ("PAGE-1", "<svg><a href=a><text>Chart</text></a></svg>", "Chart"),
    ("PAGE-1", "<svg><a xlink:href=a><text>Chart</text></a></svg>", "Chart"),
]


@pytest.mark.parametrize(("rule", "html", "anchor"), LABELS)
def test_anchor_text(rule: str, html: str, anchor: str) -> None:
    assert only(html).anchor == anchor, rule


def test_title_and_rel() -> None:
    link = only("<a href=a title=' Fire\nalarms ' rel=' NoFollow  UGC '>x</a>")
    assert (link.title, link.rel) == ("Fire alarms", "nofollow ugc"), "PAGE-1"


POSITIONS = [
    ("PAGE-2", "<a href=a>x</a>", "main"),
    ("PAGE-2", "<main><p><a href=a>x</a></main>", "main"),
    ("PAGE-2", "<nav><ul><li><a href=a>x</a></ul></nav>", "navigation"),
    ("PAGE-2", "<div role=navigation><a href=a>x</a></div>", "navigation"),
    ("PAGE-2", "<x-menu role=Navigation><a href=a>x</a></x-menu>", "navigation"),
    ("PAGE-2", "<header><ul><li><a href=a>x</a></ul></header>", "navigation"),
    ("PAGE-2", "<header><div><ol><li><a href=a>x</a></ol></div></header>", "navigation"),
    ("PAGE-2", "<header><h1><a href=a>x</a></h1></header>", "main"),
    ("PAGE-2", "<ul><li><a href=a>x</a></ul>", "main"),
    ("PAGE-2", "<div class='Main-Menu dark'><a href=a>x</a></div>", "navigation"),
    ("PAGE-2", "<div id=navbar><a href=a>x</a></div>", "navigation"),
    ("PAGE-2", "<div class=site-header><a href=a>x</a></div>", "navigation"),
    ("PAGE-2", "<div class='bg-navy card-footer'><a href=a>x</a></div>", "main"),
    ("PAGE-2", "<body class='menu footer'><a href=a>x</a>", "main"),
    ("PAGE-2", "<footer><p><a href=a>x</a></footer>", "footer"),
    ("PAGE-2", "<div role=contentinfo><a href=a>x</a></div>", "footer"),
    ("PAGE-2", "<div id=colophon><a href=a>x</a></div>", "footer"),
    ("PAGE-2", "<div class=site-footer><div class=menu><a href=a>x</a></div></div>", "footer"),
    ("PAGE-2", "<footer><nav><a href=a>x</a></nav></footer>", "footer"),
    ("PAGE-2", "<nav><footer><a href=a>x</a></footer></nav>", "footer"),
    ("PAGE-2", "<nav></nav><footer></footer><a href=a>x</a>", "main"),
]


@pytest.mark.parametrize(("rule", "html", "position"), POSITIONS)
def test_position(rule: str, html: str, position: str) -> None:
    assert only(html).position == position, rule


CONTEXTS = [
    ("PAGE-3", "<p>We  <a href=a>test</a>\n your alarms.</p><p>Other</p>", "We test your alarms."),
    ("PAGE-3", "<ul><li>Alarms: <a href=a>more</a><li>Other</ul>", "Alarms: more"),
    ("PAGE-3", "<ul><li><a href=a>Alarms</a></ul>", "Alarms"),
    ("PAGE-3", "<table><tr><td>Alarms <a href=a>x</a><td>Other</table>", "Alarms x"),
    ("PAGE-3", "<p>See <b><i><a href=a>this</a></i></b> page</p>", "See this page"),
    ("PAGE-3", "<div><h3>Alarms</h3><p>Tested</p><a href=a>More</a></div>", "Alarms Tested More"),
    ("PAGE-3", "<p>Alarms <script>x()</script><style>b{}</style><a href=a>x</a></p>", "Alarms x"),
    ("PAGE-3", "<p>Read <a href=a>this</a>, then call.</p>", "Read this, then call."),
    ("PAGE-3", "<p>Buy <a href=a><img alt=Alarms></a> here</p>", "Buy here"),
    ("PAGE-3", "Text <a href=a>x</a>", "Text x"),
]


@pytest.mark.parametrize(("rule", "html", "context"), CONTEXTS)
def test_context(rule: str, html: str, context: str) -> None:
    assert only(html).context == context, rule


def test_the_context_in_a_long_block_is_centred_on_the_anchor() -> None:
    words = " ".join(f"word{n}" for n in range(100))
    before, _, after = only(f"<p>{words} <a href=a>the anchor</a> {words}</p>").context.partition(
        "the anchor"
    )
    assert 80 <= len(before) <= 100, "PAGE-3"
    assert 80 <= len(after) <= 100, "PAGE-3"
    assert before.endswith(" word98 word99 "), "PAGE-3"
    assert after.startswith(" word0 word1 "), "PAGE-3"
    assert not before.startswith(("rd", "ord")), "PAGE-3: no halves of words"


def test_each_anchor_of_a_long_block_has_its_own_context() -> None:
    items = "".join(f"<a href=p{n}>more</a> about number{n} and other things, " for n in range(50))
    links = page(f"<div>{items}</div>").links
    assert len(links) == 50, "PAGE-3"
    assert all(f"number{n} " in link.context for n, link in enumerate(links)), "PAGE-3"


def test_occurrences_of_one_url_are_merged_in_document_order() -> None:
    links = page(
        "<nav><a href=/a/ title=T>Menu</a></nav><p><a href=b>B</a>"
        "<p>Our <a href='../a#top'>text</a></p><footer><a rel=nofollow href=HTTPS://acme.example/a>Foot</a></footer>"
    ).links
    assert [link.url.text for link in links] == [
        "https://acme.example/a",
        "https://acme.example/services/b",
    ], "PAGE-4"
    assert [link.order for link in links] == [0, 1], "PAGE-4"
    merged = links[0]
    assert [o.anchor for o in merged.occurrences] == ["Menu", "text", "Foot"], "PAGE-4"
    assert [o.position for o in merged.occurrences] == ["navigation", "main", "footer"], "PAGE-4"
    assert (merged.anchor, merged.title, merged.rel, merged.position) == ("Menu", "T", "nofollow", "main"), (
        "PAGE-4"
    )
    assert merged.url.as_linked == "https://acme.example/a/", "PAGE-4: as it was first linked"


def test_order_is_the_index_of_the_first_occurrence() -> None:
    links = page("<a href=a>1</a><a href=#x>-</a><a href=a>2</a><a href=b>3</a>").links
    assert [link.order for link in links] == [0, 2], "PAGE-4"


RESOLVED = [
    ("URL-8", "<a href=team>x</a>", "https://acme.example/services/team"),
    ("URL-8", "<a href=/team>x</a>", "https://acme.example/team"),
    ("URL-8", "<base href=/other/><a href=team>x</a>", "https://acme.example/other/team"),
    ("URL-8", "<a href=team>x</a><base href=/other/>", "https://acme.example/other/team"),
    ("URL-8", "<base href=https://b.example/c/d><a href=team>x</a>", "https://b.example/c/team"),
    ("URL-8", "<base target=_top><base href=/one/><base href=/two/><a href=team>x</a>", "https://acme.example/one/team"),
    ("URL-8", "<base href='http://[bad'><a href=team>x</a>", "https://acme.example/services/team"),
    ("URL-8", "<base href=data:text/html,x><a href=team>x</a>", "https://acme.example/services/team"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "html", "expected"), RESOLVED)
def test_links_resolve(rule: str, html: str, expected: str) -> None:
    assert only(html).url.as_linked == expected, rule


SKIPPED = [
    ("URL-9", "<a href>x</a>", ("", "empty")),
    ("URL-9", "<a href='  '>x</a>", ("  ", "empty")),
    ("URL-9", "<a href=#top>x</a>", ("#top", "fragment-only")),
    ("URL-9", "<a href=mailto:a@b.example>x</a>", ("mailto:a@b.example", "scheme")),
    ("URL-9", "<a href='javascript:void(0)'>x</a>", ("javascript:void(0)", "scheme")),
    ("URL-9", "<a href='http://[bad'>x</a>", ("http://[bad", "unparsable")),
    ("URL-9", f"<a href='tel:{'1' * 500}'>x</a>", (f"tel:{'1' * 196}", "scheme")),
]


@pytest.mark.parametrize(("rule", "html", "expected"), SKIPPED)
def test_hrefs_that_are_no_pages(rule: str, html: str, expected: tuple[str, str]) -> None:
    parsed = page(html + html)
    assert (parsed.links, parsed.skipped) == ((), (expected,)), rule


PARTS = [
    ("PAGE-5", "title", "<title>\n Fire &amp;  alarms </title><title>Two</title>", "Fire & alarms"),
    ("PAGE-5", "title", "<body><svg><title>Icon</title></svg><title>Late</title>", "Late"),
    ("PAGE-5", "title", "<p>No title", ""),
    ("PAGE-5", "description", "<meta name=Description content=' We  test '>", "We test"),
    ("PAGE-5", "description", "<meta name=keywords content=x><meta property=og:description content=y>", ""),
    ("PAGE-5", "canonical", "<link rel='x CANONICAL' href=../a/>", "https://acme.example/a/"),
    ("PAGE-5", "canonical", "<base href=https://b.example/><link rel=canonical href=a>", "https://b.example/a"),
    ("PAGE-5", "canonical", "<link rel=canonical href='http://[bad'>", None),
    ("PAGE-5", "canonical", "<link rel=canonical href=''>", None),
    ("PAGE-5", "canonical", "<link rel=alternate href=/a>", None),
    ("PAGE-5", "versions", "<link rel=alternate hreflang=de href=/a>", ("https://acme.example/a",)),
    ("PAGE-5", "versions", "<link rel=alternate hreflang=de href='http://[bad'><link rel=alternate href=/a>", ()),
    ("PAGE-5", "versions", "<link rel=alternate hreflang=de href=/a>" * 999, ("https://acme.example/a",) * 300),
    ("PAGE-5", "language", "<html lang=' de-AT '>", "de-at"),
    ("PAGE-5", "language", "<html xml:lang=fr>", "fr"),
    ("PAGE-5", "language", "<meta http-equiv=Content-Language content='DE, en'>", "de"),
    ("PAGE-5", "language", "<p>x", None),
    ("PAGE-5", "h1", "<h1>Fire <span>alarms</span></h1><h2>x</h2><h1> </h1><h1>Two</h1>", ("Fire alarms", "Two")),
    ("PAGE-5", "h2", "<h2>Fire<br>alarms</h2><noscript><h2>Switch scripts on</h2></noscript>", ("Fire alarms",)),
    ("PAGE-5", "text", "<title>T</title><h1>Fire</h1><p>We  <b>te</b>st\n alarms<p>Daily", "Fire\nWe test alarms\nDaily"),
    ("PAGE-5", "text", "<p>a<script>b</script><style>c</style><template>d</template><!--e--><p hidden>f</p>", "a"),
    ("PAGE-5", "text", "a<noscript>b</noscript><iframe>c</iframe><span hidden>d</span>e", "ae"),
    ("PAGE-5", "text", "<ul><li>a<li>b</ul><table><tr><td>c<td>d</table>e<br>f", "a\nb\nc\nd\ne\nf"),
    ("PAGE-5", "text", "<body hidden>shown by a script", "shown by a script"),
    ("PAGE-5", "headings", "<h2>b</h2><h1>a</h1>", ("a", "b")),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "part", "html", "expected"), PARTS)
def test_what_a_page_says(rule: str, part: str, html: str, expected: object) -> None:
    assert getattr(page(html), part) == expected, rule


LINKS = [
    ("PAGE-5", "<noscript><a href=a>x</a></noscript>", ["a"]),
    ("PAGE-5", "<div hidden><a href=a>x</a></div>", ["a"]),
    ("PAGE-5", "<template><a href=a>x</a></template>", []),
    ("PAGE-5", "<!-- <a href=a>x</a> --><script>'<a href=b>'</script><textarea><a href=c></textarea>", []),
    ("PAGE-5", "<a name=x>no link</a><link href=a><form action=b></form>", []),
    ("PAGE-5", "<a href=a>x<a href=b>y", ["a", "b"]),
    ("PAGE-5", "<A HREF=a>x</A>", ["a"]),
]


@pytest.mark.parametrize(("rule", "html", "expected"), LINKS)
def test_what_is_a_link(rule: str, html: str, expected: list[str]) -> None:
    assert [link.url.text.rpartition("/")[2] for link in page(html).links] == expected, rule
