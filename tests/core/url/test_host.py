from __future__ import annotations

import pytest

from honeyguide.core.url.host import parse_host
from honeyguide.errors import UrlError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Example.COM", "example.com"),
        ("example.com.", "example.com."),
        ("a..b", "a..b"),
        ("under_score.example", "under_score.example"),
        ("-x-.ab--cd", "-x-.ab--cd"),
        ("ex%41mple.c%6Fm", "example.com"),
        ("b%C3%BCcher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("bu\u0308cher.example", "xn--bcher-kva.example"),
        ("straße.example", "xn--strae-oqa.example"),
        ("♥.example", "xn--g6h.example"),
        ("a。b．c｡d", "a.b.c.d"),
        ("ｅｘａｍｐｌｅ.com", "example.com"),
        ("soft\xadhyphen.example", "softhyphen.example"),
        ("xn--bcher-kva.ü", "xn--bcher-kva.xn--tda"),
        ("xn--not-punycode!", "xn--not-punycode!"),
        ("نامه\u200cای.example", "xn--mgba3gch31f060k.example"),
        ("אבג.example", "xn--4dbcd.example"),
        ("x" * 300, "x" * 300),
    ],
)
def test_names(text: str, expected: str) -> None:
    assert parse_host(text) == expected
    assert parse_host(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\xad",
        "a b",
        "a%20b",
        "a%00b",
        "a\x7fb",
        "a|b",
        "a^b",
        "a<b>",
        "a%",
        "a%zz",
        "a%25b",
        "a:b",
        "a@b",
        "a[b]",
        "%FF",
        "\ufffd",
        "a\ud800",
        "\u0301a",  # starts with a combining mark
        "a\u200db",  # a joiner where nothing joins
        "a\u200d\U000e0fff",
        "א1a",  # right to left and left to right in one label
        "1a.א",  # in a name with right-to-left labels, all labels obey
        "xn--a.ü",  # Punycode that does not decode
        "xn--.ü",
        "xn--abc-.ü",  # Punycode that needed none
        "xn--ü",
        "xn--zn7c.ü",  # stands for something that no name may contain
        "ü" * 2000,
    ],
)
def test_refused_names(text: str) -> None:
    with pytest.raises(UrlError):
        parse_host(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("0x7F000001", "127.0.0.1"),
        ("0177.0.0.01", "127.0.0.1"),
        ("0x.0x0.1", "0.0.0.1"),
        ("1.2.3.4.", "1.2.3.4"),
        ("１２７.０.０.１", "127.0.0.1"),
        ("%31.2.3", "1.2.0.3"),
        ("255.255.65535", "255.255.255.255"),
        ("0" * 5000 + "1", "0.0.0.1"),
        ("1.2.3.4.example", "1.2.3.4.example"),
        ("4.3x", "4.3x"),
        ("0xg", "0xg"),
    ],
)
def test_ipv4(text: str, expected: str) -> None:
    assert parse_host(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "256.0.0.1",
        "1.2.3.4.5",
        "1..2",
        "1.2.3.08",
        "1.2.3.0x100",
        "4294967296",
        "0x100000000",
        "foo.09",
        "9" * 5000,
        "a.0x",
    ],
)
def test_refused_ipv4(text: str) -> None:
    with pytest.raises(UrlError):
        parse_host(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[::]", "[::]"),
        ("[::1]", "[::1]"),
        ("[1::]", "[1::]"),
        ("[2001:DB8:0:0:1:0:0:1]", "[2001:db8::1:0:0:1]"),
        ("[1:0:0:2:0:0:0:3]", "[1:0:0:2::3]"),
        ("[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7:0]"),
        ("[0:1:0:1:0:1:0:1]", "[0:1:0:1:0:1:0:1]"),
        ("[::127.0.0.1]", "[::7f00:1]"),
        ("[::ffff:1.2.3.4]", "[::ffff:102:304]"),
        ("[1:2:3:4:5:6:1.2.3.4]", "[1:2:3:4:5:6:102:304]"),
        ("[00ab::]", "[ab::]"),
    ],
)
def test_ipv6(text: str, expected: str) -> None:
    assert parse_host(text) == expected
    assert parse_host(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "[:]",
        "[:::]",
        "[::1",
        "[1:2:3:4:5:6:7]",
        "[1:2:3:4:5:6:7:8:9]",
        "[1:2:3:4:5:6:7:8::]",
        "[1::2::3]",
        "[12345::]",
        "[g::]",
        "[::1%25eth0]",
        "[1.2.3.4::]",
        "[::1.2.3]",
        "[::1.2.3.256]",
        "[::01.2.3.4]",
        "[::1.2.3.4:5]",
        "[1:2:3:4:5:6:7:1.2.3.4]",
        "[:1]",
        "[1:]",
        "[::1]x",
    ],
)
def test_refused_ipv6(text: str) -> None:
    with pytest.raises(UrlError):
        parse_host(text)
