from __future__ import annotations

import pytest

from honeyguide.core.url.scope import LinkKind, Scope, classify, classify_url, not_a_page
from honeyguide.core.url.url import Tracking, Url

PAGE = Url.parse("https://example.com/about/?id=1")
SCOPE = Scope(frozenset({"pdf", "gz"}), Tracking(("utm_*",)))


def test_verdicts_carry_rule_id_and_detail() -> None:
    verdict = classify("/a/Team.Pdf", PAGE, SCOPE)
    assert (verdict.kind, verdict.rule, verdict.id, verdict.detail) == (
        LinkKind.SKIP,
        "extension",
        "URL-9",
        ".pdf",
    )
    assert verdict.url == Url.parse("https://example.com/a/Team.Pdf")
    verdict = classify("//cdn.example:81/x", PAGE, SCOPE)
    assert (verdict.kind, verdict.rule, verdict.id, verdict.detail) == (
        LinkKind.OUTSIDE,
        "other-site",
        "URL-11",
        "cdn.example:81",
    )
    verdict = classify("x", PAGE, SCOPE)
    assert (verdict.kind, verdict.rule, verdict.id, verdict.detail) == (
        LinkKind.INSIDE,
        "same-site",
        "URL-10",
        "example.com",
    )
    verdict = classify("http://a b/", PAGE, SCOPE)
    assert (verdict.rule, verdict.id, verdict.url) == ("unparsable", "URL-9", None)
    assert verdict.detail


def test_the_seed_decides_what_is_inside() -> None:
    seed = Url.parse("https://www.example.com/")
    assert classify("/x", PAGE, SCOPE, seed).kind is LinkKind.OUTSIDE
    assert classify("http://www.example.com/x", PAGE, SCOPE, seed).kind is LinkKind.INSIDE


@pytest.mark.parametrize("href", ["?id=1&utm_source=x", "http://example.com/about?id=1#y", "../about/?id=1"])
def test_same_page(href: str) -> None:
    assert classify(href, PAGE, SCOPE).rule == "same-page"


@pytest.mark.parametrize("href", ["?id=2", "/about", "https://example.com:8443/about/?id=1"])
def test_not_the_same_page(href: str) -> None:
    assert classify(href, PAGE, SCOPE).kind is not LinkKind.SKIP


@pytest.mark.parametrize(
    ("href", "skipped"),
    [
        ("/x.pdf", True),
        ("/x.tar.gz", True),
        ("/x.pdf/", True),  # the trailing slash is no part of the identity
        ("/x.pdf;v=1", True),
        ("/.pdf", True),
        ("/pdf", False),
        ("/x.pdf.html", False),
        ("/x.pdf/y", False),
        ("/x?y.pdf", False),
        ("/x#.pdf", False),
        ("/", False),
        ("https://x.pdf", False),
    ],
)
def test_extension_is_that_of_the_last_segment(href: str, *, skipped: bool) -> None:
    assert (classify(href, PAGE, SCOPE).rule == "extension") is skipped


@pytest.mark.parametrize(
    ("href", "rule", "detail"),
    [
        ("", "empty", ""),
        ("\x00 \t", "empty", ""),
        (" #", "fragment-only", ""),
        ("TEL:1", "scheme", "tel"),
        ("web+x:y", "scheme", "web+x"),
        ("a" * 100 + ":b", "scheme", "a" * 40),
    ],
)
def test_not_a_page(href: str, rule: str, detail: str) -> None:
    verdict = not_a_page(href)
    assert verdict is not None
    assert (verdict.kind, verdict.rule, verdict.id, verdict.detail) == (LinkKind.SKIP, rule, "URL-9", detail)


@pytest.mark.parametrize("href", ["x", "?y", "HTTP:x", "https://x", "1:2", ":x", "./mailto:x", "é:x"])
def test_may_be_a_page(href: str) -> None:
    assert not_a_page(href) is None


def test_classify_url_takes_what_is_resolved() -> None:
    assert classify_url(Url.parse("https://example.com/x"), PAGE, Scope()).kind is LinkKind.INSIDE
    assert classify_url(PAGE, PAGE, Scope()).rule == "same-page"
