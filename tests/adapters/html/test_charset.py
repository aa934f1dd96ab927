from __future__ import annotations

import codecs

import pytest

from honeyguide.adapters.html.charset import PRESCAN_BYTES, charset_of, codec_of, to_utf8

CYRILLIC = "Привет".encode("cp1251")

DECIDED = [
    # a byte-order mark beats everything
    (b"\xef\xbb\xbf\xff", "text/html; charset=windows-1251", "utf-8"),
    (b"\xff\xfea\0", "text/html; charset=utf-8", "utf-16-le"),
    (b"\xfe\xff\0a", None, "utf-16-be"),
    # then the header
    (b"<meta charset=koi8-r>", "text/html; charset=windows-1251", "cp1251"),
    (b"", 'text/html; CHARSET = "ISO-8859-1"; x=y', "cp1252"),
    (b"", "text/html;charset='shift_jis'", "cp932"),
    (b"<meta charset=koi8-r>", "text/html; charset=nonsense", "koi8-r"),
    (b"<meta charset=koi8-r>", "text/html; charset=utf-7", "koi8-r"),
    (b"<meta charset=koi8-r>", "text/html; charset=", "koi8-r"),
    (b"<meta charset=koi8-r>", "text/html; charset='", "koi8-r"),
    # then a meta element
    (b"<!doctype html><META CharSet=' Latin2 '>", None, "iso8859-2"),
    (b"<meta/charset=latin2 />", None, "iso8859-2"),
    (b"<meta content='text/html; charset=latin2' http-equiv=Content-Type>", None, "iso8859-2"),
    (b"<meta http-equiv=content-type content='charset charset=\"latin2\"'>", None, "iso8859-2"),
    (b"<meta http-equiv=content-type content='charset=\"latin2'>", None, "cp1252"),
    (b"<meta content='text/html; charset=latin2'>", None, "cp1252"),
    (b"<meta name=x><meta charset=nonsense><meta charset=latin2>", None, "iso8859-2"),
    (b"<!-- <meta charset=koi8-r> --><meta charset=latin2>", None, "iso8859-2"),
    (b"<!--><meta charset=latin2>", None, "iso8859-2"),
    (b"<!-- <meta charset=latin2>", None, "cp1252"),
    (b"<p title='<meta charset=koi8-r>'><meta charset=latin2>", None, "iso8859-2"),
    (b"</meta charset=koi8-r><metal charset=koi8-r><?x <meta charset=koi8-r>", None, "cp1252"),
    (b"<meta charset=koi8-r charset=latin2>", None, "koi8-r"),
    (b"<meta charset=latin2", None, "cp1252"),
    (b"<meta charset='latin2", None, "cp1252"),
    (b"<a <meta charset=latin2>", None, "cp1252"),
    (b"<meta charset=utf-16>", None, "utf-8"),
    (b"<meta charset=x-user-defined>", None, "cp1252"),
    (b"<!--" + b"x" * 9000 + b"--><meta charset=latin2>", None, "iso8859-2"),
    (b"x" * PRESCAN_BYTES + b"<meta charset=latin2>", None, "cp1252"),
    # an XML declaration
    (b"<?xml version='1.0' encoding='latin2'?><html>", None, "iso8859-2"),
    (b"<?xml version='1.0' encoding='latin2'?><meta charset=koi8-r>", None, "koi8-r"),
    ("<?xml version='1.0'?>".encode("utf-16-le"), None, "utf-16-le"),
    ("<?xml version='1.0'?>".encode("utf-16-be"), None, "utf-16-be"),
    # then the bytes themselves
    ("Grüße".encode(), None, "utf-8"),
    ("Grüße".encode()[:-2], None, "utf-8"),
    ("Grüße".encode("latin-1"), None, "cp1252"),
    (b"", None, "cp1252"),
    # hints, where they are not UTF-8
    (b"<meta content='text/html; charset=windows-1251'>" + CYRILLIC, None, "cp1251"),
    (b"<html lang=ru>" + CYRILLIC, None, "cp1251"),
    (b"<html lang=en>\xe9t", None, "cp1252"),
    (b"<html lang=ru>" + "Привет".encode(), None, "utf-8"),
]


@pytest.mark.parametrize(("body", "header", "codec"), DECIDED)
def test_the_encoding_is_decided(body: bytes, header: str | None, codec: str) -> None:
    assert charset_of(header, body) == codec


LABELS = [
    ("UTF-8", "utf-8"),
    (" utf8\n", "utf-8"),
    ("ascii", "cp1252"),
    ("iso-8859-9", "cp1254"),
    ("tis-620", "cp874"),
    ("gb2312", "gb18030"),
    ("euc-kr", "cp949"),
    ("x-sjis", "cp932"),
    ("big5", "big5hkscs"),
    ("logical", "iso8859-8"),
    ("macintosh", "mac-roman"),
    ("unicode", "utf-16-le"),
    ("iso-2022-kr", "ascii"),
    ("utf-7", None),
    ("utf-32", None),
    ("idna", None),
    ("rot13", None),
    ("unicode_escape", None),
    ("", None),
    ("İso-8859-1", None),
]


@pytest.mark.parametrize(("label", "codec"), LABELS)
def test_labels_mean_what_they_mean_on_the_web(label: str, codec: str | None) -> None:
    assert codec_of(label) == codec
    assert codec is None or codecs.lookup(codec)


READ = [
    (b"\xef\xbb\xbfa", None, "a"),
    (b"\xff\xfea\0", None, "a"),
    (b"\xfe\xff\0a\0", None, "a\ufffd"),
    (b"\x93\x80\x94", "text/html; charset=iso-8859-1", "“€”"),
    (b'\x1b$B$"\x1b(B', "text/html; charset=iso-2022-jp", "あ"),
    (b"\x1b$)C\x0e!\xff", "text/html; charset=iso-2022-kr", "\x1b$)C\x0e!\ufffd"),
    (b"a\0", "text/html; charset=utf-16le", "a"),
    (b"<p>a", "text/html; charset=gbk", "<p>a"),
    (b"\x83\x65", "text/html; charset=shift_jis", "テ"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "header", "text"), READ)
def test_bytes_become_utf8(body: bytes, header: str | None, text: str) -> None:
    assert to_utf8(body, header).decode() == text


def test_utf8_is_passed_through_untouched() -> None:
    body = "é".encode() + b"\xff"
    assert to_utf8(body, "text/html; charset=utf-8") is body
