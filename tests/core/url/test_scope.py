from __future__ import annotations

import pytest

from honeyguide.config.files import public_suffixes
from honeyguide.core.url.scope import LinkKind, Scope, classify, classify_url, not_a_page, registrable
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


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.acme.com", "acme.com"),
        ("acme.com", "acme.com"),
        ("shop.acme.co.uk", "acme.co.uk"),
        ("acme.co.uk", "acme.co.uk"),
        ("co.uk", "co.uk"),  # a public suffix itself
        ("a.b.acme.city.kawasaki.jp", "city.kawasaki.jp"),  # an exception to *.kawasaki.jp
        ("a.acme.other.kawasaki.jp", "acme.other.kawasaki.jp"),
        ("one.github.io", "one.github.io"),  # two owners, not one
        ("a.xn--55qx5d.cn", "a.xn--55qx5d.cn"),
        ("www.a.xn--55qx5d.cn", "a.xn--55qx5d.cn"),
        ("intranet", "intranet"),
        ("10.0.0.1", "10.0.0.1"),
        ("[::1]", "[::1]"),
        ("a.b.unknown-tld", "b.unknown-tld"),
    ],
)
def test_the_registrable_domain_by_the_bundled_list(host: str, domain: str) -> None:
    assert registrable(host, public_suffixes()) == domain


def test_the_bundled_list_is_whole_and_has_no_longer_rule_than_is_looked_for() -> None:
    rules = public_suffixes()
    assert len(rules) > 8_000
    assert max(rule.count(".") for rule in rules) + 1 == 7
    assert registrable(".".join(["a"] * 100_000) + ".acme.com", rules) == "acme.com"


@pytest.mark.parametrize(
    ("reach", "href", "rule", "detail"),
    [
        ("host", "https://www.example.com/x", "other-site", "www.example.com"),
        ("www", "https://www.example.com/x", "same-www", "www.example.com belongs to example.com"),
        ("www", "https://shop.example.com/x", "other-site", "shop.example.com"),
        ("www", "https://www.example.com:8443/x", "other-site", "www.example.com:8443"),
        ("domain", "https://shop.example.com/x", "same-domain", "shop.example.com belongs to example.com"),
        ("domain", "https://example.org/x", "other-site", "example.org"),
        ("domain", "/x", "same-site", "example.com"),
    ],
)
def test_the_reach_decides_which_hosts_are_one_site(reach: str, href: str, rule: str, detail: str) -> None:
    # URL-10: strictly the host unless the user asks for more; each verdict says why.
    verdict = classify(href, PAGE, Scope(reach=reach, suffixes=public_suffixes))
    assert (verdict.rule, verdict.detail) == (rule, detail)
