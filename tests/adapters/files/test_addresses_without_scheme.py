"""Addresses without a scheme in files of known URLs: people are told what to write."""

from __future__ import annotations

import pytest

from honeyguide.adapters.files.signals import read_signals, without_scheme
from honeyguide.errors import InputError

LONG = "www.a.example/" + "x" * 100


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("www.a.example", "https://www.a.example"),
        (" a.example/x?y=1#z ", "https://a.example/x?y=1#z"),
        ("//a.example/x", "https://a.example/x"),
        ("a.example:8080/x", "https://a.example:8080/x"),
        ("A.Example?x", "https://A.Example?x"),
        ("münchen.example", "https://münchen.example"),
        ("a.xn--p1ai/x", "https://a.xn--p1ai/x"),
        ("a.example/index.html", "https://a.example/index.html"),
        (LONG, "https:// in front"),
    ],
)
def test_a_host_without_a_scheme_gets_one(text: str, written: str) -> None:
    assert without_scheme(text) == f"has no scheme; write {written}"
    with pytest.raises(InputError, match=r"row 3, field url: .* has no scheme; write https://"):
        read_signals({"url": text}, number=3)


@pytest.mark.parametrize(
    "text",
    [
        "/services", "services/", "index.html", "news/a.example", "./a.example", "..", "a", "localhost:80", "v1.2", "1.2.3.4",
        "ftp://a.example", "mailto:me@a.example", "me@a.example", "a.example:secret@b.example", "a b.example", "a..example",
        "-.example.", "a.example:99999", "not a url", "x" * 1_000_000, "a." * 500_000,
    ],
)  # fmt: skip
def test_what_is_no_host_is_told_as_before(text: str) -> None:
    assert without_scheme(text) is None
    with pytest.raises(InputError, match=r"is not an http\(s\) URL: "):
        read_signals({"url": text})
