"""Where a page sends its readers: meta refresh, and a frameset with one frame."""

from __future__ import annotations

import pytest

from honeyguide.adapters.html.page import forward_of, parse_page
from honeyguide.core.url.url import Url

PAGE = Url.parse("https://a.example/x/")


@pytest.mark.parametrize(
    ("markup", "target"),
    [
        ("<meta http-equiv=refresh content='0; url=en/'>", "https://a.example/x/en/"),
        ("<META CONTENT='5;URL=\"https://b.example/\"' HTTP-EQUIV=' Refresh '>", "https://b.example/"),
        ("<meta http-equiv=refresh content='0;/y'>", "https://a.example/y"),
        ("<base href=/z/><meta http-equiv=refresh content='0; url=q'>", "https://a.example/z/q"),
        ("<meta http-equiv=refresh content='10,url=/y'>", "https://a.example/y"),
        ("<frameset rows='100%,*'><frame src=https://b.example/><frame></frameset>", "https://b.example/"),
        # What is no way on: a slow one, the page itself, a script, noscript, comments, text, other documents.
        ("<meta http-equiv=refresh content='11; url=/y'>", None),
        ("<meta http-equiv=refresh content='300'>", None),
        ("<meta http-equiv=refresh content='0; url=/x/#top'>", None),
        ("<meta http-equiv=refresh content='0; url=#top'>", None),
        ("<meta http-equiv=refresh content='0; url=javascript:go()'>", None),
        ("<meta http-equiv=refresh content='0; url=https://a b/'>", None),
        ("<head><noscript><meta http-equiv=refresh content='0; url=/y'></noscript></head>", None),
        ("<!-- <meta http-equiv=refresh content='0; url=/y'> -->", None),
        ("<textarea><meta http-equiv=refresh content='0; url=/y'></textarea>", None),
        ("<meta name=refresh content='0; url=/y'>", None),
        ("<frameset cols=2><frame src=/menu><frame src=/main></frameset>", None),
        ("<iframe src=/y></iframe>", None),
    ],
)
def test_where_a_page_sends_its_readers(markup: str, target: str | None) -> None:
    found = forward_of(markup.encode(), PAGE, "text/html")
    assert (found and found.as_linked) == target


def test_a_text_sends_nobody_anywhere() -> None:
    assert forward_of(b"<meta http-equiv=refresh content='0; url=/y'>", PAGE, "text/plain") is None


@pytest.mark.parametrize(
    "markup",
    [
        b"<meta http-equiv=refresh content='" + b"0" * 500_000 + b";url=/y'>",
        b"<meta http-equiv=refresh content='0;" + b" " * 500_000 + b"url=/y'>",
        b"<meta http-equiv=refresh>" * 20_000,
        b"http-equiv " * 50_000,
        b"<frameset>" * 50_000 + b"<frame src=/y>" * 50_000,
    ],
)
def test_hostile_pages_cost_no_more_than_their_beginning(markup: bytes) -> None:
    assert forward_of(markup, PAGE, None) is None


def test_several_frames_are_links_of_their_page() -> None:
    links = parse_page("<frameset><frame src=/menu name=nav><frame src=/b><frame></frameset>", PAGE).links
    assert [(link.url.path, link.title, link.rel) for link in links] == [
        ("/menu", "nav", "frame"),
        ("/b", "", "frame"),
    ]
