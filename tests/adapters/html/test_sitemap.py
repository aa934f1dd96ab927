"""Sitemaps of all kinds and qualities."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any

import pytest

from honeyguide.adapters.html import sitemaps as sitemap
from honeyguide.adapters.html.sitemaps import MAX_PAGES, read_file, read_sitemap
from honeyguide.errors import InputError

A, B = "https://a.example/a", "https://a.example/b?c=1&d=2"
XML = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<!-- <url><loc>https://a.example/old</loc></url> -->
<url><lastmod>2024-05-01</lastmod><loc> {A} </loc><image:image><image:loc>https://a.example/i.png</image:loc></image:image></url>
<url><loc><![CDATA[https://a.example/b?c=1&d=2]]></loc><lastmod>2024-05-01T10:00:00+02:00</lastmod></url>
</urlset>"""
PAGES = ((A, "2024-05-01"), (B, "2024-05-01T08:00:00Z"))


@pytest.mark.parametrize(
    "data",
    [
        XML.encode(),
        XML.replace("\n", "").encode("utf-16"),
        b"\xef\xbb\xbf" + XML.encode(),
        gzip.compress(XML.encode()),
        gzip.compress(XML[:200].encode()) + gzip.compress(XML[200:].encode()),
        XML.removesuffix("</urlset>").encode(),
    ],
    ids=["xml", "utf-16", "bom", "gzip", "two members", "breaks off"],
)
def test_pages_with_their_lastmod(data: bytes) -> None:
    assert read_sitemap(data).pages == PAGES


def test_plain_text() -> None:
    found = read_sitemap(f"{A}\r\n\r\nnot a url\n{B}\nftp://a.example/\n".encode())
    assert found.pages == ((A, None), (B, None))


def test_an_index_lists_sitemaps_and_no_pages() -> None:
    index = f"<sitemapindex><sitemap><loc>{A}.xml</loc><lastmod>2024</lastmod></sitemap></sitemapindex>"
    found = read_sitemap(index.encode())
    assert (found.pages, found.more) == ((), (f"{A}.xml",))


@pytest.mark.parametrize(
    ("text", "lastmod"),
    [
        ("2024", "2024"),
        ("2024-05", "2024-05"),
        ("2024-05-01", "2024-05-01"),
        ("2024-05-01T10:00Z", "2024-05-01T10:00:00Z"),
        ("2024-05-01T10:00:00", "2024-05-01T10:00:00Z"),
        ("0001-01-01T00:00:00+14:00", None),
        ("yesterday", None),
        ("", None),
        ("2024-13-01", None),
    ],
)
def test_lastmod(text: str, lastmod: str | None) -> None:
    found = read_sitemap(f"<url><loc>{A}</loc><lastmod>{text}</lastmod></url>".encode())
    assert found.pages == ((A, lastmod),)


def test_entities_stay_letters() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
    found = read_sitemap(f"{bomb}<url><loc>https://a.example/&a;&f;&amp;</loc></url>".encode())
    assert found.pages == (("https://a.example/&a;&f;&", None),)


@pytest.mark.parametrize(
    "data",
    [b"", b"\x1f\x8b", b"\x1f\x8b\x08junk", b"\x00" * 100, b"<", b"<url><loc>", b"<!--", bytes(range(256))],
)
def test_nothing_raises(data: bytes) -> None:
    assert read_sitemap(data).pages in ((), (("", None),))


def test_a_bomb_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "MAX_BYTES", 1_000)
    data = gzip.compress(f"{A}\n".encode() * 100_000)
    assert 0 < len(read_sitemap(data).pages) <= 1_000 // len(A)


def test_many_short_members_cost_what_they_weigh(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"{A}{number}\n" for number in range(3_000)]
    data = b"".join(gzip.compress(line.encode()) for line in lines)
    read = 0

    class Counted:
        """A member that counts what it is given to read."""

        def __init__(self, wbits: int) -> None:
            self._member = unpacking(wbits)

        def decompress(self, block: bytes, limit: int) -> bytes:
            nonlocal read
            read += len(block)
            return self._member.decompress(block, limit)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._member, name)

    unpacking = zlib.decompressobj
    monkeypatch.setattr(zlib, "decompressobj", Counted)
    assert len(read_sitemap(data + data[:12]).pages) == len(lines)
    assert read <= (len(lines) + 2) * 4_200


def test_too_many_pages_are_cut() -> None:
    many = "".join(f"<loc>https://a.example/{n}</loc>" for n in range(MAX_PAGES + 5))
    assert len(read_sitemap(many.encode() + b"<").pages) <= MAX_PAGES
    assert len(read_sitemap(f"<urlset>{many}".encode()).pages) == MAX_PAGES


def test_files(tmp_path: Path) -> None:
    (tmp_path / "s.xml").write_text(XML)
    assert read_file(str(tmp_path / "s.xml")).pages == PAGES
    (tmp_path / "empty.xml").write_text("<urlset/>")
    with pytest.raises(InputError, match="lists no page"):
        read_file(str(tmp_path / "empty.xml"))
    with pytest.raises(InputError, match="cannot be read"):
        read_file(str(tmp_path))
    with pytest.raises(InputError, match="not a usable path"):
        read_file("a\0b")


# --- as others write them ---


@pytest.mark.parametrize("prefix", ["sit", "sm-1.0", "ñ"])
def test_names_may_have_a_prefix(prefix: str) -> None:
    p = f"{prefix}:"
    entry = f"<{p}url><{p}loc>{A}</{p}loc><image:loc>{B}</image:loc><{p}lastmod>2024</{p}lastmod></{p}url>"
    listed = f'<?xml version="1.0"?><{p}urlset xmlns:{prefix}="http://www.sitemaps.org/">{entry}</{p}urlset>'
    assert read_sitemap(listed.encode()).pages == ((A, "2024"),)
    index = f"<{p}sitemapindex><{p}sitemap><{p}loc>{A}</{p}loc></{p}sitemap></{p}sitemapindex>"
    assert read_sitemap(index.encode()).more == (A,)
    assert sitemap.is_index(index)
    assert not sitemap.is_index(listed)


@pytest.mark.parametrize("text", ["{}", "<![CDATA[{}]]>", "\n <![CDATA[{}]]> \n", "<![CDATA[{}"])
def test_addresses_may_have_brackets(text: str) -> None:
    url = "https://a.example/x?filter[a]=1&filter[b][]=2"
    listed = f"<url><loc>{text.format(url)}</loc><lastmod>{text.format('2024-05-01')}</lastmod></url>"
    assert read_sitemap(listed.encode()).pages == ((url, "2024-05-01"),)
    item = f"<rss><item><link>{text.format(url)}</link></item></rss>"
    assert read_sitemap(item.encode()).pages == ((url, None),)


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("ISO-8859-1", "latin-1"),
        ("windows-1251", "cp1251"),
        ("UTF-8", "utf-8"),
        ("utf-16", "utf-8"),
        ("no", "utf-8"),
    ],
)
def test_a_declared_encoding_counts(label: str, codec: str) -> None:
    word = "Привет" if codec == "cp1251" else "café"
    text = f'<?xml version="1.0" encoding="{label}"?>\n<urlset><url><loc>{A}/{word}</loc></url></urlset>'
    for data in (text.encode(codec), b"\n" + text.encode(codec), gzip.compress(text.encode(codec))):
        assert read_sitemap(data).pages == ((f"{A}/{word}", None),)
    for wide in ("utf-16", "utf-16-le", "utf-16-be"):  # which shows by itself, with a mark or without
        assert read_sitemap(text.encode(wide)).pages == ((f"{A}/{word}", None),)


def test_what_is_declared_cannot_do_harm() -> None:
    for label in ("zlib", "idna", "punycode", "unicode_escape", "x" * 10_000, "\0"):
        listed = f'<?xml version="1.0" encoding="{label}"?><loc>{A}</loc>'
        assert read_sitemap(listed.encode()).pages == ((A, None),)
