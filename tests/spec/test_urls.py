"""URL-1 to URL-12, row by row: each row names the rule that it proves."""

from __future__ import annotations

import pytest

from honeyguide import load_profile
from honeyguide.adapters.files.markdown import parse_markdown_links
from honeyguide.core.page.page import Link, Occurrence
from honeyguide.core.pick.select import merge_by_keys
from honeyguide.core.url.scope import Scope, classify
from honeyguide.core.url.url import Tracking, Url, display, normalize

TRACKING = Tracking(("utm_*", "gclid", "fbclid"))
SCOPE = Scope(frozenset({"pdf", "jpg", "css", "zip", "mp4"}), TRACKING)

NORMALISED = [
    ("URL-1", "HTTP://EXAMPLE.COM/Path?Query=A", "http://example.com/Path?Query=A"),
    ("URL-1", "https://Bücher.example/", "https://xn--bcher-kva.example/"),
    ("URL-1", "https://faß.example/", "https://xn--fa-hia.example/"),
    ("URL-1", "http://0x7f.1/", "http://127.0.0.1/"),
    ("URL-1", "http://[2001:DB8:0:0:0:0:0:1]/", "http://[2001:db8::1]/"),
    ("URL-2", "https://example.com/page#section", "https://example.com/page"),
    ("URL-2", "https://example.com/#", "https://example.com/"),
    ("URL-3", "https://example.com/about/", "https://example.com/about"),
    ("URL-3", "https://example.com/about//", "https://example.com/about"),
    ("URL-3", "https://example.com/about/?page=2", "https://example.com/about?page=2"),
    ("URL-3", "https://example.com/about?next=/", "https://example.com/about?next=/"),
    ("URL-3", "https://example.com/a/b/..", "https://example.com/a"),
    ("URL-3", "https://example.com//", "https://example.com/"),
    ("URL-4", "https://example.com", "https://example.com/"),
    ("URL-4", "https://example.com/", "https://example.com/"),
    ("URL-4", "https://example.com?q", "https://example.com/?q"),
    ("URL-5", "https://example.com:443/page", "https://example.com/page"),
    ("URL-5", "http://example.com:80/page", "http://example.com/page"),
    ("URL-5", "http://example.com:443/page", "http://example.com:443/page"),
    ("URL-5", "http://example.com:/page", "http://example.com/page"),
    ("URL-6", "https://example.com/%7Euser/%41%2d", "https://example.com/~user/A-"),
    ("URL-6", "https://example.com/hello%20world", "https://example.com/hello%20world"),
    ("URL-6", "https://example.com/hello world/é", "https://example.com/hello%20world/%C3%A9"),
    ("URL-6", "https://example.com/%e4%2f%3a", "https://example.com/%E4%2F%3A"),
    ("URL-6", "https://example.com/%252e/100%/%zz", "https://example.com/%252e/100%25/%25zz"),
    ("URL-6", "https://example.com/?a[]={1|2}'", "https://example.com/?a%5B%5D=%7B1%7C2%7D%27"),
    ("URL-8", "https://example.com/a/../b/./c", "https://example.com/b/c"),
    ("URL-8", "https://example.com/a/%2e%2E/b/.%2e/c", "https://example.com/c"),
    ("URL-8", "https:\\\\example.com\\a\\b?c\\d", "https://example.com/a/b?c%5Cd"),
    ("URL-8", "  https://exa\nmple.com/a\t/b\r ", "https://example.com/a/b"),
    ("URL-8", "https:///example.com/a", "https://example.com/a"),
    (
        "URL-1 URL-2 URL-3 URL-5 URL-6 URL-8",
        "HTTP://EXAMPLE.COM:80/a/../b/%7Euser/%e4/hello%20world/?q=A#f",
        "http://example.com/b/~user/%E4/hello%20world?q=A",
    ),
]


@pytest.mark.parametrize(("rule", "text", "expected"), NORMALISED)
def test_normalised(rule: str, text: str, expected: str) -> None:
    assert normalize(text) == expected, rule
    assert normalize(expected) == expected, rule


LINKED = [
    ("URL-8", "https://example.com/about/", "team", "https://example.com/about/team"),
    ("URL-8", "https://example.com/about", "team/", "https://example.com/team/"),
    ("URL-2", "https://example.com/about/", "#x", "https://example.com/about/"),
    ("URL-8", "https://example.com/a/b?q", "../../../c/.", "https://example.com/c/"),
    ("URL-8", "https://example.com/a/b?q", "?", "https://example.com/a/b?"),
    ("URL-8", "http://example.com/a", "//other.example\\x", "http://other.example/x"),
    ("URL-6", "http://example.com/", "/%7Euser/|", "http://example.com/%7Euser/|"),
]


@pytest.mark.parametrize(("rule", "page", "href", "expected"), LINKED)
def test_as_linked(rule: str, page: str, href: str, expected: str) -> None:
    assert Url.parse(href, Url.parse(page)).as_linked == expected, rule


READABLE = [
    ("URL-6", "https://example.com/hello%20world", "https://example.com/hello world"),
    ("URL-6", "https://example.com/%E4%BB%B7", "https://example.com/价"),
    ("URL-6", "https://example.com/a%2Fb%25", "https://example.com/a%2Fb%25"),
]


@pytest.mark.parametrize(("rule", "url", "expected"), READABLE)
def test_readable(rule: str, url: str, expected: str) -> None:
    assert display(Url.parse(url)) == expected, rule


SETS = [
    ("URL-7", ["http://a.example/x", "https://a.example/x/"], ["https://a.example/x"]),
    ("URL-7", ["https://a.example/x", "http://a.example/x"], ["https://a.example/x"]),
    ("URL-7", ["http://a.example/x", "http://a.example/y"], ["http://a.example/x", "http://a.example/y"]),
    (
        "URL-7",
        ["http://a.example:443/", "https://a.example/"],
        ["http://a.example:443/", "https://a.example/"],
    ),
]


@pytest.mark.parametrize(("rule", "urls", "expected"), SETS)
def test_https_wins(rule: str, urls: list[str], expected: list[str]) -> None:
    links = [Link(Url.parse(url), (Occurrence(url),)) for url in urls]
    scope = load_profile("base").scope
    merged = merge_by_keys(links, [scope.key(link.url) for link in links])
    assert [link.url.text for link in merged.values()] == expected, rule


KEYS = [
    ("URL-7", "https://a.example/x?b=1&a=2", "a.example/x?b=1&a=2"),
    ("URL-7", "http://a.example/x?UTM_source=y", "a.example/x"),
    ("URL-7", "http://a.example/x?b=&&gclid=1&c#d", "a.example/x?b=&&c"),
]


@pytest.mark.parametrize(("rule", "url", "expected"), KEYS)
def test_key(rule: str, url: str, expected: str) -> None:
    assert Url.parse(url).key(TRACKING) == expected, rule


# On the page https://example.com/about/ of the site https://example.com.
VERDICTS = [
    ("URL-9", "", "skip", "empty"),
    ("URL-9", " \n", "skip", "empty"),
    ("URL-9", "#team", "skip", "fragment-only"),
    ("URL-9", "../about#team", "skip", "same-page"),
    ("URL-9", "?utm_source=x", "skip", "same-page"),
    ("URL-9", "http://example.com/about", "skip", "same-page"),
    ("URL-9", "mailto:a@b.example", "skip", "scheme"),
    ("URL-9", "tel:+1", "skip", "scheme"),
    ("URL-9", "java\nscript:void(0)", "skip", "scheme"),
    ("URL-9", "data:text/html,x", "skip", "scheme"),
    ("URL-9", "ftp://example.com/", "skip", "scheme"),
    ("URL-9", "http://exa mple.com/", "skip", "unparsable"),
    ("URL-9", "/files/Report.PDF", "skip", "extension"),
    ("URL-9", "/files/report%2Epd%66?x", "skip", "extension"),
    ("URL-9", "https://other.example/a.zip", "skip", "extension"),
    ("URL-9", "/download.php?f=a.pdf", "inside", "same-site"),
    ("URL-9", "/report.pdf/more", "inside", "same-site"),
    ("URL-10", "team", "inside", "same-site"),
    ("URL-10", "http://EXAMPLE.com:80/team", "inside", "same-site"),
    ("URL-11", "https://www.example.com/team", "outside", "other-site"),
    ("URL-11", "https://example.com:8443/team", "outside", "other-site"),
    ("URL-11", "//other.example/", "outside", "other-site"),
]


@pytest.mark.parametrize(("rule", "href", "kind", "slug"), VERDICTS)
def test_verdict(rule: str, href: str, kind: str, slug: str) -> None:
    verdict = classify(href, Url.parse("https://example.com/about/"), SCOPE)
    assert (verdict.kind.value, verdict.rule) == (kind, slug), rule


MARKDOWN = [
    ("URL-12", "[Homepage](/)\n[About Us](/about)", [("Homepage", "/"), ("About Us", "/about")]),
    ("URL-12", "[a [b] c](/d)", [("a [b] c", "/d")]),
    ("URL-12", "[a](/wiki/X_(y))", [("a", "/wiki/X_(y)")]),
    ("URL-12", "[a](</b c> 'title')", [("a", "/b c")]),
    ("URL-12", r"\[no](/x) [a\]](/b\))", [("a]", "/b)")]),
    ("URL-12", "![image](/x.png) [![alt](/y.png)](/z)", [("alt", "/z")]),
    ("URL-12", "`[no](/x)`\n\n```\n[no](/y)\n```\n\n    [no](/z)\n\n[yes](/a)", [("yes", "/a")]),
]


@pytest.mark.parametrize(("rule", "text", "expected"), MARKDOWN)
def test_markdown(rule: str, text: str, expected: list[tuple[str, str]]) -> None:
    assert parse_markdown_links(text) == expected, rule
