from __future__ import annotations

import ada_url
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from honeyguide import load_profile
from honeyguide.adapters.files.markdown import parse_markdown_links
from honeyguide.core.page.page import Link, Occurrence
from honeyguide.core.pick.select import merge_by_keys
from honeyguide.core.url.scope import LinkKind, Scope, classify
from honeyguide.core.url.steps import rewrite
from honeyguide.core.url.url import Tracking, Url, display, explain, normalize
from honeyguide.errors import UrlError

# Pieces that ordinary URLs are made of, and pieces that have broken parsers.
PLAIN = [
    "a",
    "B",
    "about",
    "c-d",
    "index.html",
    "example.com",
    "www.",
    "x=1",
    "&",
    "utm_source=y",
    "~",
    "_",
    "1",
    "é",
    "价",
]
MARKS = [
    "/",
    "//",
    "\\",
    "?",
    "#",
    "@",
    ":",
    ":80",
    ":443",
    ":8080",
    ".",
    "..",
    "./",
    "../",
    ";",
    "=",
    "+",
    "'",
    "(",
    ")",
    ",",
]
ESCAPES = ["%2e", "%2E", "%252e", "%", "%4", "%41", "%7e", "%2F", "%C3%A9", "%e4", "%00", "%zz"]
ODD = [
    "\t",
    "\n",
    " ",
    "\x00",
    "|",
    "^",
    "`",
    "{",
    "}",
    '"',
    "<",
    ">",
    "[",
    "]",
    "[::1]",
    "127.1",
    "0x7f",
    "xn--",
    "ß",
    "\xad",
    "\u3002",
]
HOSTILE = ["\ud800", "\udc00", "\u200d", "א", "\u202e", "\ufeff", "\U000e0001"]
STARTS = [
    "",
    "",
    "/",
    "//",
    "http:",
    "http://",
    "https://",
    "HTTPS://",
    "https://example.com",
    "https://example.com/",
]


def urls(*kinds: list[str]) -> st.SearchStrategy[str]:
    pieces = st.lists(st.sampled_from([piece for kind in kinds for piece in kind]), max_size=10).map("".join)
    return st.tuples(st.sampled_from(STARTS), pieces).map("".join)


texts = urls(PLAIN, MARKS) | urls(PLAIN, MARKS, ESCAPES, ODD, HOSTILE) | st.text(max_size=30)
bases = (
    st.none()
    | st.sampled_from(
        [
            "http://example.com/a/b/?q#f",
            "https://example.com",
            "https://u%41:p@h.example:8443/x//%7e/y",
            "about:blank",
        ]
    )
    | texts
)
many = settings(max_examples=500, deadline=None)


def outcome(text: str, base: str | None) -> tuple[str, str] | None:
    """The two forms by the steps alone."""
    try:
        return rewrite(text, base)
    except UrlError:
        return None


@given(texts, bases)
@example("https://a.example/b//", None)
@example("%4%31", "http://example.com/")
@example("../" * 9 + "x", "http://example.com/a/b/c/d/e/f/g/h/i/j")
@example("x", "http://example.com/" + "y" * 40_000)
@many
def test_the_fast_path_means_what_the_steps_mean(text: str, base: str | None) -> None:
    expected = outcome(text, base)
    if expected is None:
        with pytest.raises(UrlError):
            normalize(text, base)
        with pytest.raises(UrlError):
            Url.parse(text, base)
        return
    url = Url.parse(text, base)
    assert (url.text, url.as_linked) == expected
    assert normalize(text, base) == expected[0]
    assert explain(text, base)[-1].after == expected[0]
    if base is not None:
        assert Url.parse(text, base).as_linked == expected[1]


@given(texts, bases)
@many
def test_normalisation_is_idempotent(text: str, base: str | None) -> None:
    try:
        url = Url.parse(text, base)
    except UrlError:
        return
    assert url.text.isascii()
    assert normalize(url.text) == url.text
    assert Url.parse(url.as_linked).as_linked == url.as_linked
    assert normalize(url.as_linked) == url.text


@given(
    urls(PLAIN, MARKS, ESCAPES, ODD),
    st.sampled_from(["http://example.com/a/b/?q#f", "https://u:p@h.example:8443/x//y"]),
)
@many
def test_as_linked_is_what_browsers_request(text: str, base: str) -> None:
    try:
        parsed = ada_url.URL(text, base)
        expected = parsed.href.partition("#")[0] if parsed.protocol in {"http:", "https:"} else None
    except ValueError:
        expected = None
    try:
        found: str | None = Url.parse(text, base).as_linked
    except UrlError:
        found = None
    if expected is None and "xn--" in text.lower():
        return  # the standard changed: Punycode in a name that is ASCII is no longer checked
    assert found == expected


@given(texts, bases)
@many
def test_parts_add_up(text: str, base: str | None) -> None:
    try:
        url = Url.parse(text, base)
    except UrlError:
        return
    assert url.text.startswith(f"{url.scheme}://")
    assert url.text.endswith(url.site + url.target)
    assert url.target.startswith("/")
    assert url.site.startswith(url.host)
    assert url.key(Tracking()) == url.text.partition("://")[2]
    assert not url.path.endswith("/") or url.path == "/"


@given(texts)
@many
def test_display_shows_nothing_dangerous(text: str) -> None:
    try:
        shown = display(text)
    except UrlError:
        return
    assert shown.isprintable()


@given(st.lists(urls(PLAIN, MARKS), max_size=12))
def test_of_http_and_https_one_is_kept(found: list[str]) -> None:
    parsed = []
    for text in found:
        try:
            parsed.append(Url.parse(text))
        except UrlError:
            continue
    profile = load_profile("base")
    tracking = profile.scope.tracking
    links = [Link(url, (Occurrence(""),)) for url in parsed]
    merged = merge_by_keys(links, [profile.scope.key(url) for url in parsed])
    assert list(merged) == list(dict.fromkeys(url.key(tracking) for url in parsed))
    secure = {url.key(tracking) for url in parsed if url.scheme == "https"}
    assert secure == {key for key, link in merged.items() if link.url.scheme == "https"}
    assert sum(len(link.occurrences) for link in merged.values()) == len(parsed)


@given(texts)
@many
def test_every_href_gets_a_verdict(href: str) -> None:
    verdict = classify(href, Url.parse("https://example.com/about/"), Scope(frozenset({"html"})))
    assert verdict.rule
    assert verdict.id in {"URL-9", "URL-10", "URL-11"}
    assert verdict.url is not None or verdict.kind is LinkKind.SKIP


@given(st.text(st.sampled_from("[]()<>!`\\\"'*_~& \n\t>-1.:#ab/"), max_size=60))
@many
def test_markdown_never_fails(text: str) -> None:
    for anchor, _ in parse_markdown_links(text):
        assert anchor == " ".join(anchor.split())


@given(
    st.from_regex(r"[A-Za-z][A-Za-z ]{0,20}[A-Za-z]", fullmatch=True),
    st.from_regex(r"/[a-z/()]{0,3}[a-z]", fullmatch=True),
)
def test_markdown_finds_what_was_written(anchor: str, path: str) -> None:
    folded = " ".join(anchor.split())
    assert parse_markdown_links(f"See [{anchor}](<{path}>), and ![{anchor}]({path}).") == [(folded, path)]
