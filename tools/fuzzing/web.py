"""What a site sends: URLs, hrefs, HTML, robots.txt, sitemaps, Markdown. What must hold of each.

Owns: pieces, seeds and promises of these formats. Must not know: how cases are run (`running.py`).
Start reading at `Documents`, which the others are.
"""

from __future__ import annotations

import gzip
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from fuzzing.making import Maker
from honeyguide.adapters import html, robots, sitemap
from honeyguide.adapters.inputs import given_sites, unique
from honeyguide.core.markdown import parse_markdown_links
from honeyguide.core.scope import Kind, Scope, classify
from honeyguide.core.url import Tracking, Url, display, explain, normalize, resolve
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

PAGE = Url.parse("https://a.example/b/c/?d=1")
SCOPE = Scope(frozenset({"pdf", "jpg"}), Tracking(("utm_*", "gclid")))
MAX_MESSAGE = 1_000  # characters of an error


class Documents:
    """A format whose documents are bytes; `check` is left to each."""

    name = ""
    pieces: Sequence[bytes] = ()
    seeds: Sequence[bytes] = ()
    most = 25

    def begin(self, chance: Random, corpus: Sequence[bytes]) -> None:
        """Get ready."""
        self.chance = chance
        self.maker = Maker(chance, self.pieces, [*self.seeds, *corpus], self.most)

    def make(self) -> Any:
        """Make the next document."""
        return self.maker.document()

    def given(self, document: bytes) -> Iterable[Any]:
        """Take a document as it is."""
        return (document,)

    def keep(self, case: Any) -> None:
        """Remember a document."""
        self.maker.keep(case)

    def end(self) -> None:
        """Nothing is left behind."""


def text_of(document: bytes) -> str:
    """Read bytes as text; broken ones become half characters, which are hostile, too."""
    return document.decode("utf-8", "surrogateescape")


def pieces_of(*groups: str) -> tuple[bytes, ...]:
    """Cut lines into pieces at spaces; `␣` stands for a space."""
    return tuple(
        piece.replace("␣", " ").encode("utf-8", "surrogatepass") for group in groups for piece in group.split()
    )


URL_PIECES = (
    *pieces_of(
        "http: https: HTTP: // / / / \\ ? # @ : :80 :443 :8080 :65536 . .. ./ ../ %2e %2E%2e %252e % %4 %41 %7e %2f %C3%A9",
        "%00 %ff %uD800 a B c-d example.com xn-- xn--bcher-kva xn--a xn--é 0x7f 0177.1 127.0.0.1 1 256 4294967296 [::1]",
        "[ ] [::ffff:1.2.3.4] [1:2:3:4:5:6:7:8] [::1%25eth0] é ß İ ſ K 价格 א ١ 1 ａ | ^ ` { } \" ' < > ; = & + ~ 🌡 ␣",
        "www. index.html about services/ q=1 utm_source=x // h user:pw@ javascript: mailto: data: file: ftp: blob: a+b.c-d:",
    ),
    *(
        text.encode("utf-8", "surrogatepass")
        for text in "\u200d \u200c \ud800 \udfff \x00 \t \n \r \x0b \x1f \x7f \x85 \u2028 \uff0e \u3002 \xad \ufeff".split(" ")
    ),
)  # fmt: skip


class Urls(Documents):
    """URLs on bases: one spelling that stays, two forms that agree, every property of what was read."""

    name = "urls"
    pieces = URL_PIECES
    seeds = (
        b"https://example.com/a/b/?q=1&r=2#f", b"http://user:pw@h.example:8080/%7Eu/%e4", b"//cdn.example/x", b"../../x?y",
        "https://bücher.example/straße?q=ü".encode(), b"http://[2001:db8::1]:80/", b"http://0x7f.0.0.1/", b"?q", b"x y/../z",
    )  # fmt: skip
    most = 9
    bases = (None, "http://example.com/a/b/?q#f", "https://user:p%41@h.example:8443/x//y/", "http://1.2.3.4/%7e/{x}", "about:blank")  # fmt: skip
    starts = (b"", b"http://", b"https://", b"https://example.com/", b"/", b"http://example.com")

    def begin(self, chance: Random, corpus: Sequence[bytes]) -> None:
        """Get ready; URLs are small, so fewer are pumped up."""
        super().begin(chance, [document for document in corpus if len(document) <= 2_000])
        self.maker.pumped = 0.0002
        self.nth = 0

    def make(self) -> tuple[str, str | None]:
        """Make a URL and its base."""
        chance = self.chance
        return text_of(chance.choice(self.starts) + self.maker.document()), chance.choice(self.bases)

    def given(self, document: bytes) -> Iterable[tuple[str, str | None]]:
        """Take every line for a URL."""
        return ((line, base) for line in text_of(document[:100_000]).split("\n") for base in self.bases[:2])

    def keep(self, case: tuple[str, str | None]) -> None:
        """Remember the URL."""
        self.maker.keep(case[0].encode("utf-8", "surrogateescape"))

    def check(self, case: tuple[str, str | None]) -> None:
        """Read a URL, and what comes out again."""
        text, base = case
        try:
            url = Url.parse(text, base)
        except UrlError as error:
            assert len(str(error)) <= MAX_MESSAGE, "a message without end"
            return
        again, linked = Url.parse(url.text), Url.parse(url.as_linked)
        assert again.text == url.text == linked.text == normalize(text, base), "not the one spelling"
        assert linked.as_linked == url.as_linked, "not what is linked"
        assert url.as_linked.isascii(), "not ASCII"
        assert base is None or resolve(text, base) == url.as_linked, "resolved otherwise"
        self.nth += 1
        if not self.nth & 15:
            assert explain(text, base)[-1].after == url.text, "the long way round"
            assert url.site == again.site and url.host and url.path.startswith("/") and url.scheme in ("http", "https")
            assert display(url).isprintable(), "shows what nobody can see"
            url.key(SCOPE.tracking)


class Hrefs(Urls):
    """Hrefs on pages: a verdict for each, and a site or a sentence for what people write into lists."""

    name = "hrefs"

    def make(self) -> tuple[str, str | None]:
        """Make an href, and perhaps a base element."""
        chance = self.chance
        base = text_of(self.maker.assembled()) if chance.random() < 0.2 else None
        return text_of(self.maker.document()), base

    def check(self, case: tuple[str, str | None]) -> None:
        """Judge an href."""
        href, base = case
        verdict = classify(href, PAGE, SCOPE, None, base)
        assert verdict.rule and verdict.id and len(verdict.detail) <= 70_000
        assert (verdict.url is None) <= (verdict.kind is Kind.SKIP), "inside or outside, but no URL"
        if verdict.url is not None and verdict.kind is not Kind.SKIP:
            assert classify(verdict.url.as_linked, PAGE, SCOPE).kind is verdict.kind, "judged otherwise by itself"
        kept, repeated = unique(given_sites([href, href]))
        assert len(kept) + len(repeated) == 2


HTML_PIECES = (
    *pieces_of(
        "<a␣href=a> <a␣href='/b/'> <a␣href=\"https://c.example/?d=1&amp;e\"␣title='t␣␣u'␣rel=nofollow> <a␣href=#f> <a␣href=>",
        "<a␣href='mailto:g'> <a␣href=http://[h> <a␣name=i> <a␣href=é␣hidden> </a> </a> <area␣href=j␣alt=k> <map> <img␣alt='l␣m'>",
        "<svg> </svg> <a␣xlink:href=y> <p> </p> <div> </div> <div␣class=menu> <div␣id=footer> <nav> </nav> <header> </header>",
        "<footer> </footer> <ul> <li> </ul> <table> <tr> <td> </table> <h1> </h1> <h2> <br> <select> <option> </select> <form>",
        "<b> </b> <i␣class=n> <font␣size=1> </font> <span␣hidden> </span> <title> </title> <base␣href=/o/> <base␣href='http://['>",
        "<link␣rel=canonical␣href=p> <html␣lang=de> <meta␣name=description␣content='q␣r'> <head> <body> </body> </html> <meta␣charset=",
        "utf-16 gbk> shift_jis> iso-2022-jp> x-user-defined> <noscript> </noscript> <template> </template> <script> </script> <style>",
        "</style> <!-- --> <!--> --!> <![CDATA[ ]]> <? <?xml␣version='1.0'?> <frameset> <frame> <math> <mi> <annotation-xml> <desc>",
        "<foreignObject> <textarea> </textarea> <plaintext> <xmp> <iframe> <button> <marquee> <applet> <nobr> <ruby> <rt> <rp> <caption>",
        "<colgroup> <col> <dd> <dt> <image> <isindex> <object> <param> <hr> <pre> <listing> <input␣type=image␣alt=z> <dialog> <search>",
        "&amp; &lt; &#0; &#xD800; &#x110000; &#99999999999; &nbsp; &copy &notit; &ngE; < > </ <a <a␣ \" ' = / word fire, é 价 </p␣",
    ),
    b" ", b"\n", b"\0", b"\x1e", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x80", b"<a " + b"x=y " * 30, b"a" * 600,
)  # fmt: skip


class Html(Documents):
    """Pages: the same twice, links that are URLs, everything within its bounds."""

    name = "html"
    pieces = HTML_PIECES
    seeds = (
        b"<!doctype html><html lang=en><head><title>A &amp; B</title><meta name=description content='c d'><base href=/e/></head>"
        b"<body><nav><ul><li><a href=f>F</a></ul></nav><h1>G <b>h</b></h1><p>I <a href='j?k=1&l=2' title=m rel=n>o <i>p</i></a>."
        b"<table><tr><td><a href=//q.example/>q</a></table><footer><a href='mailto:r'>r</a></footer>",
        b"<html><head><meta charset=shift_jis><title>\x93\xfa\x96{</title></head><a href=\x93\xfa>\x96{</a>",
        b"<svg><a xlink:href=s><title>t</title></a></svg><math><mtext><a href=u>v</a></mtext></math>",
    )
    types = (None, "text/html", "text/html; charset=utf-8", "text/html; charset=gbk", "text/html;charset=\"utf-16le\"", "x;charset=x")  # fmt: skip

    def make(self) -> tuple[bytes, str | None]:
        """Make a page and its type."""
        return self.maker.document(), self.chance.choice(self.types)

    def given(self, document: bytes) -> Iterable[tuple[bytes, str | None]]:
        """Take a page as it is, and with a charset that it may not have."""
        return ((document, None), (document, "text/html; charset=windows-1252"))

    def keep(self, case: tuple[bytes, str | None]) -> None:
        """Remember the page."""
        self.maker.keep(case[0])

    def check(self, case: tuple[bytes, str | None]) -> None:
        """Read a page."""
        data, content_type = case
        page = html.parse_page(data, PAGE, content_type)
        html.parse_head(data, content_type)
        assert len(page.links) <= html.MAX_LINKS and len(page.skipped) <= html.MAX_SKIPPED + 2
        assert all(a.order < b.order for a, b in pairwise(page.links)), "out of order"
        for link in page.links:
            assert Url.parse(link.url.text) == link.url and 0 < len(link.occurrences) <= html.MAX_OCCURRENCES
        assert page.canonical is None or Url.parse(page.canonical)
        for text in (page.title, page.text, page.description, page.language or "", *page.headings):
            text.encode()  # nothing that cannot be written down
        if len(data) < 2_000:
            assert html.parse_page(data, PAGE, content_type) == page, "not the same twice"
        if content_type is None and data.isascii():
            assert html.extract_links(data, PAGE) == page.links, "other links without the text"


class Robots(Documents):
    """robots.txt: an answer for every URL, bounded lists, and a delay that can be waited for."""

    name = "robots"
    pieces = (
        *pieces_of(
            "User-agent: user␣agent:␣ UserAgent␣ User-agent:␣* User-agent:␣honeyguide User-agent:␣Honeyguide/1.0 User-agent:␣x",
            "Disallow: Disallow:␣/ Allow: Allow:␣/a Disallow:␣/*.php$ Disallow:␣/a*b*c Disalow:␣/d Crawl-delay: Crawl-delay:␣1e309",
            "Crawl-delay:␣-1 Crawl-delay:␣nan Crawl-delay:␣5 Request-rate:␣1/0 Visit-time:␣0-9 Sitemap: Sitemap:␣https://a.example/s",
            "Host:␣a Noindex:␣/ # : * $ / %2f %41 %e4 é 价 /b/c/ ? d=1 $$ ** /*/*/*/ .html index.html",
        ),
        b"\n", b"\n", b"\n", b"\n", b"\r", b"\r\n", b" ", b"\t", b"\0", b"\xff", b"\xef\xbb\xbf", b"\x0b", b"\x1c", b"\xe2\x80\xa8",
    )  # fmt: skip
    seeds = (
        b"User-agent: *\nDisallow: /b\nAllow: /b/c\nCrawl-delay: 2\n\nSitemap: https://a.example/sitemap.xml\n",
        b"User-agent: honeyguide\nUser-agent: other\nDisallow: /*?d=\nAllow: /$\nDisallow: /*.pdf$\n",
    )
    urls = tuple(
        Url.parse(text, "https://a.example/")
        for text in ("/", "/b/c/?d=1", "/a/b/c.php", "/%7e%E4%2f*$", "/robots.txt", "/index.html", "/" + "a/b" * 600)
    )

    def check(self, document: bytes) -> None:
        """Read a file and ask it about some pages."""
        rules = robots.read_robots(document)
        answers = [rules.allows(url) for url in self.urls]
        assert all(isinstance(answer, bool) for answer in answers)
        assert answers[4], "the file itself"
        assert len(rules.sitemaps) <= 1_000
        delay = rules.crawl_delay_s
        assert delay is None or (math.isfinite(delay) and delay >= 0), "a delay that cannot be waited for"


class Sitemaps(Documents):
    """Sitemaps: bounded lists of bounded addresses, compressed or not."""

    name = "sitemaps"
    pieces = (
        *pieces_of(
            "<urlset> <urlset␣xmlns='x'> </urlset> <url> </url> <sitemap> </sitemap> <sitemapindex> <loc> </loc> <loc␣a=b> <lastmod>",
            "</lastmod> <image:loc> <LOC> <![CDATA[ ]]> <!-- --> <?xml␣version='1.0'?> <!DOCTYPE <!ENTITY &amp; &lol; &#9999999999; &#x;",
            "https://a.example/ http://b.example/?c=1&d=2 /relative 2024-05-01 2024-05-01T10:00:00+02:00 0001-01-01T00:00+14:00 9999-12-31",
            "2024-W01-1 20240501 1999 12:00 T24:00:00Z . é 价",
        ),
        b"\n", b" ", b"\0", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\x1f\x8b", b"\x1f\x8b\x08\x00", b"&#" + b"9" * 500 + b";",
    )  # fmt: skip
    seeds = (
        b"<?xml version='1.0'?><urlset><url><loc>https://a.example/b?c=1&amp;d=2</loc><lastmod>2024-05-01</lastmod></url></urlset>",
        b"<sitemapindex><sitemap><loc>https://a.example/s1.xml</loc></sitemap><sitemap><loc>s2.xml</loc></sitemap></sitemapindex>",
        b"https://a.example/1\nhttps://a.example/2\n",
    )

    def make(self) -> bytes:
        """Make a sitemap; some are compressed, and some of these broken."""
        document, way = self.maker.document(), self.chance.random()
        if way > 0.1:
            return document
        packed = gzip.compress(document, 1, mtime=0) * self.chance.randint(1, 3)
        return packed if way > 0.05 else packed[: self.chance.randrange(len(packed))] + document[:50]

    def check(self, document: bytes) -> None:
        """Read a sitemap."""
        found = sitemap.read_sitemap(document)
        assert len(found.pages) + len(found.more) <= sitemap.MAX_PAGES
        for url in (*(url for url, _ in found.pages), *found.more):
            assert 0 < len(url) <= sitemap.MAX_URL_CHARS
            try:
                Url.parse(url, PAGE)
            except UrlError:
                continue
        assert all(lastmod is None or 4 <= len(lastmod) <= 40 for _, lastmod in found.pages)


class Markdown(Documents):
    """Markdown: links in order, in time that grows with the text and no faster."""

    name = "markdown"
    pieces = (
        *pieces_of(
            "[ ] ( ) ![ [a](b) [a](<b>) [a](b␣\"c\") [a](b␣'c') [a](b␣(c)) [a]: [a]:␣b [a][a] [a][] [![ ](x)](y) <https://a.example> < >",
            "<b> </b> <a␣href=c> <!-- --> ` `` ``` ~~~ * ** _ __ \\ \\[ \\] &amp; &#35; &#x; a b word - + 1. > # \" ' é 价 : / .",
        ),
        b"\n", b"\n\n", b" ", b"    ", b"\t", b"\r", b"\0", b"\x0c", b"\xc2\x85", b"&#" + b"9" * 5000,
    )  # fmt: skip
    seeds = (
        b"# A\n\nSee [b *c*](/d 'e'), [f][g], ![h](i) and [![j](k)](l).\n\n> - [m](<n o>)\n\n```\n[no](code)\n```\n\n[g]: /p \"q\"\n",
        b"1. [a\\]b](c(d)e) `[x](y)` <https://z.example/?a=b> [r\ns](t)\n\n    [code](no)\n",
    )  # fmt: skip

    def check(self, document: bytes) -> None:
        """Read a text."""
        text = text_of(document)
        links = parse_markdown_links(text)
        assert len(links) <= len(text)
        assert all(isinstance(anchor, str) and isinstance(url, str) for anchor, url in links)
        assert parse_markdown_links(text) == links, "not the same twice"
