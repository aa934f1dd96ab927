"""What a site sends: HTML, robots.txt, sitemaps, Markdown. What must hold of each.

Owns: pieces, seeds and promises of these formats. Must not know: how cases are run (`running.py`).
"""

from __future__ import annotations

import gzip
import math
from itertools import pairwise
from typing import TYPE_CHECKING

from fuzzing.addresses import PAGE
from fuzzing.documents import Documents, expect, pieces_of, text_of
from honeyguide.adapters.files.markdown import parse_markdown_links
from honeyguide.adapters.html import links
from honeyguide.adapters.html import page as html
from honeyguide.adapters.html import sitemaps as sitemap
from honeyguide.adapters.http import robots
from honeyguide.core.url.url import Url
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from collections.abc import Iterable


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
        (
            b"<!doctype html><html lang=en><head><title>A &amp; B</title><meta name=description content='c d'><base href=/e/></head>"
            b"<body><nav><ul><li><a href=f>F</a></ul></nav><h1>G <b>h</b></h1><p>I <a href='j?k=1&l=2' title=m rel=n>o <i>p</i></a>."
            b"<table><tr><td><a href=//q.example/>q</a></table><footer><a href='mailto:r'>r</a></footer>"
        ),
        b"<html><head><meta charset=shift_jis><title>\x93\xfa\x96{</title></head><a href=\x93\xfa>\x96{</a>",
        b"<svg><a xlink:href=s><title>t</title></a></svg><math><mtext><a href=u>v</a></mtext></math>",
    )
    types = (None, "text/html", "text/html; charset=utf-8", "text/html; charset=gbk", 'text/html;charset="utf-16le"', "x;charset=x")  # fmt: skip

    def make(self) -> tuple[bytes, str | None]:
        """Make a page and its type."""
        return self.maker.document(), self.chance.choice(self.types)

    def given(self, document: bytes) -> Iterable[tuple[bytes, str | None]]:
        """Take a page as it is, and with a charset that it may not have."""
        return ((document, None), (document, "text/html; charset=windows-1252"))

    def check(self, case: tuple[bytes, str | None]) -> None:
        """Read a page."""
        data, content_type = case
        page = html.parse_page(data, PAGE, content_type)
        html.parse_head(data, content_type)
        html.forward_of(data, PAGE, content_type)
        expect(
            len(page.links) <= links.MAX_LINKS and len(page.skipped) <= links.MAX_SKIPPED + 2, "out of bounds"
        )
        expect(all(a.order < b.order for a, b in pairwise(page.links)), "out of order")
        for link in page.links:
            expect(
                Url.parse(link.url.text) == link.url and 0 < len(link.occurrences) <= links.MAX_OCCURRENCES,
                "out of bounds",
            )
        expect(page.canonical is None or Url.parse(page.canonical), "out of bounds")
        for text in (page.title, page.text, page.description, page.language or "", *page.headings):
            text.encode()  # nothing that cannot be written down
        if len(data) < 2_000:
            expect(html.parse_page(data, PAGE, content_type) == page, "not the same twice")
        if content_type is None and data.isascii():
            expect(html.extract_links(data, PAGE) == page.links, "other links without the text")


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
        for text in (
            "/",
            "/b/c/?d=1",
            "/a/b/c.php",
            "/%7e%E4%2f*$",
            "/robots.txt",
            "/index.html",
            "/" + "a/b" * 600,
        )
    )

    def check(self, document: bytes) -> None:
        """Read a file and ask it about some pages."""
        rules = robots.read_robots(document)
        answers = [rules.allows(url) for url in self.urls]
        expect(all(isinstance(answer, bool) for answer in answers), "out of bounds")
        expect(answers[4], "the file itself")
        expect(len(rules.sitemaps) <= 1_000 and len(rules.rules) <= 2 * len(document), "out of bounds")
        delay = rules.crawl_delay_s
        expect(delay is None or (math.isfinite(delay) and delay >= 0), "a delay that cannot be waited for")


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
        expect(len(found.pages) + len(found.more) <= sitemap.MAX_PAGES, "out of bounds")
        for url in (*(url for url, _ in found.pages), *found.more):
            expect(0 < len(url) <= sitemap.MAX_URL_CHARS, "out of bounds")
            try:
                Url.parse(url, PAGE)
            except UrlError:
                continue
        expect(all(lastmod is None or 4 <= len(lastmod) <= 40 for _, lastmod in found.pages), "out of bounds")


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
        expect(len(links) <= len(text), "out of bounds")
        expect(
            all(isinstance(anchor, str) and isinstance(url, str) for anchor, url in links), "out of bounds"
        )
        expect(parse_markdown_links(text) == links, "not the same twice")
