"""Feeds: RSS, RDF and Atom, as sites write them and as they should not."""

from __future__ import annotations

import pytest

from honeyguide.adapters.html.sitemaps import read_sitemap

A, B = "https://a.example/1", "https://a.example/2"

CASES = [
    (
        "rss",
        f"""<?xml version="1.0"?><rss version="2.0"><channel><title>T</title><link>https://a.example/</link>
        <item><title>One</title><link>{A}</link><pubDate>Mon, 06 May 2024 10:00:00 +0200</pubDate></item>
        <item><link><![CDATA[{B}]]></link><guid>x</guid></item></channel></rss>""",
        ((A, "2024-05-06T08:00:00Z"), (B, None)),
    ),
    (
        "atom",
        f"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://a.example/"/><updated>2024-01-01T00:00:00Z</updated>
        <entry><link rel="self" href="https://a.example/self"/><link rel="alternate" type="text/html" href="{A}"/>
        <published>2024-05-01T00:00:00Z</published><updated>2024-05-02T00:00:00+01:00</updated></entry>
        <entry><link href='{B}?a=1&amp;b=2'/></entry></feed>""",
        ((A, "2024-05-01T23:00:00Z"), (f"{B}?a=1&b=2", None)),
    ),
    (
        "rdf",
        f"""<rdf:RDF xmlns:rdf="x"><channel><link>https://a.example/</link></channel>
        <item rdf:about="{A}"><link>{A}</link><dc:date>2024-05-06</dc:date></item></rdf:RDF>""",
        ((A, "2024-05-06"),),
    ),
    (
        "no time zone",
        f"<rss><item><link>{A}</link><pubDate>6 May 2024 10:00:00 -0000</pubDate>",
        ((A, None),),
    ),
    ("nonsense time", f"<rss><item><link>{A}</link><pubDate>soon</pubDate>", ((A, None),)),
    ("no link", "<rss><item><title>x</title></item>", ()),
    ("commented out", f"<rss><!-- <item><link>{B}</link></item> --><item><link>{A}</link>", ((A, None),)),
    ("too long a link", f"<rss><item><link>https://a.example/{'x' * 3000}</link></item>", ()),
]


@pytest.mark.parametrize(("name", "text", "pages"), CASES)
def test_what_is_read_of_feeds(name: str, text: str, pages: object) -> None:
    assert read_sitemap(text.encode()).pages == pages, name


@pytest.mark.parametrize("size", range(0, 400, 7))
def test_feeds_that_break_off_give_what_they_had(size: int) -> None:
    whole = CASES[1][1]
    found = read_sitemap(whole.encode()[:size]).pages
    assert [url for url, _ in found] in ([], [A], [A, f"{B}?a=1&b=2"])


def test_a_sitemap_is_no_feed() -> None:
    text = f"<urlset><url><loc>{A}</loc></url></urlset><!-- <rss> -->"
    assert read_sitemap(text.encode()).pages == ((A, None),)
