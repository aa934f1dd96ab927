from __future__ import annotations

import copy
import pickle
from itertools import pairwise

import pytest

from honeyguide.core.url.steps import MAX_CHARS, STEPS, rewrite
from honeyguide.core.url.url import Tracking, Url, display, explain, normalize
from honeyguide.errors import UrlError

PAGE = "https://example.com/a/b/c?q=1#f"


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("", "https://example.com/a/b/c?q=1"),
        ("#x", "https://example.com/a/b/c?q=1"),
        ("?", "https://example.com/a/b/c?"),
        ("?x", "https://example.com/a/b/c?x"),
        ("d", "https://example.com/a/b/d"),
        ("./d/", "https://example.com/a/b/d/"),
        ("../d", "https://example.com/a/d"),
        ("../../../d", "https://example.com/d"),
        ("../" * 12 + "d", "https://example.com/d"),
        ("..", "https://example.com/a/"),
        (".", "https://example.com/a/b/"),
        (".hidden", "https://example.com/a/b/.hidden"),
        ("d/../e", "https://example.com/a/b/e"),
        ("/d", "https://example.com/d"),
        ("/", "https://example.com/"),
        ("//h.example", "https://h.example/"),
        ("///h.example/d", "https://h.example/d"),
        ("https:d", "https://example.com/a/b/d"),
        ("http:d", "http://d/"),
        ("httpdocs/x", "https://example.com/a/b/httpdocs/x"),
        ("d:e", None),
        ("./d:e", "https://example.com/a/b/d:e"),
        ("d?e=f:g", "https://example.com/a/b/d?e=f:g"),
        ("d//e", "https://example.com/a/b/d//e"),
        (".//e", "https://example.com/a/b//e"),
    ],
)
def test_resolve_as_a_browser_would(href: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(UrlError):
            Url.parse(href, PAGE)
    else:
        assert Url.parse(href, Url.parse(PAGE)).as_linked == expected
        assert Url.parse(href, PAGE).as_linked == expected


def test_relative_links_start_from_the_as_linked_form() -> None:
    about = Url.parse("https://example.com/about/")
    assert about.text == "https://example.com/about"
    assert Url.parse("team", about).text == "https://example.com/about/team"


def test_a_page_that_is_not_settled_still_resolves_exactly() -> None:
    assert normalize("x", "http://example.com/%7euser/{y}/z") == "http://example.com/~user/%7By%7D/x"
    assert (
        Url.parse("x", "http://example.com/%7euser/{y}/z").as_linked == "http://example.com/%7euser/%7By%7D/x"
    )
    assert normalize("x", "http://u%41@example.com/") == "http://uA@example.com/x"
    assert normalize("x/", "http://127.0.0.1:8000/y/") == "http://127.0.0.1:8000/y/x"


@pytest.mark.parametrize("base", [None, "", "about:blank", "mailto:a@b.example", "nothing", "file:///etc/"])
def test_relative_needs_a_page(base: str | None) -> None:
    for href in ("d", "/d", "//h.example/", "?x", ""):
        with pytest.raises(UrlError):
            normalize(href, base)
    assert normalize("http:h.example", base) == "http://h.example/"
    assert normalize("http://h.example", base) == "http://h.example/"


@pytest.mark.parametrize(
    "text",
    [
        "http://",
        "http:///",
        "https://?x",
        "http://:80/",
        "http://user@/",
        "http://h:65536/",
        "http://h:8a/",
        "http://h:" + "9" * 5000 + "/",
        "http://h:٣/",
        "http://a b/",
        "http://a%00b/",
        "http://a\ud800b/",
        "http://[::1/",
        "http://[1:2]/",
        "http://1.2.3.256/",
        "ftp://example.com/",
        "mailto:a@example.com",
        "javascript:void(0)",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(UrlError) as caught:
        normalize(text)
    assert caught.value.text == text
    with pytest.raises(UrlError):
        Url.parse(text)
    with pytest.raises(UrlError):
        explain(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://h:0/", "http://h:0/"),
        ("http://h:00000000080/", "http://h/"),
        ("http://h:0008080/", "http://h:8080/"),
        ("https://user:pass@h/", "https://user:pass@h/"),
        ("https://a:b:c@d@h/", "https://a:b%3Ac%40d@h/"),
        ("https://:@h/", "https://h/"),
        ("https://%7Ea@h/", "https://~a@h/"),
        ("https://h/?", "https://h/?"),
        ("https://h/a\x00b", "https://h/a%00b"),
        ("https://h/\ud800", "https://h/%EF%BF%BD"),
        ("https://h/\ud83c\udf21", "https://h/%F0%9F%8C%A1"),
        ("https://h/%4%31", "https://h/%2541"),
        ("https://h/%%41", "https://h/%25A"),
        ("https://h/%E4%B", "https://h/%E4%25B"),
        ("https://h.example/x?y=%7e", "https://h.example/x?y=~"),
        ("https://h.example/x#%zz", "https://h.example/x"),
        ("https://h.example/x?'", "https://h.example/x?%27"),
        ("https://h.example/x'", "https://h.example/x'"),
        ("https://h.example/.well-known/x", "https://h.example/.well-known/x"),
        ("https://h.example/...", "https://h.example/..."),
    ],
)
def test_corner_cases_settle(text: str, expected: str) -> None:
    assert normalize(text) == expected
    assert normalize(expected) == expected


def test_long_urls_are_refused_on_every_way_in() -> None:
    site = "https://example.com/"
    longest = site + "x" * (MAX_CHARS - len(site))
    assert normalize(longest) == longest
    too_long = [
        longest + "x",
        site + "é" * (MAX_CHARS // 6),  # too long once it is encoded
        site + "%" * (MAX_CHARS // 3),  # too long once it is settled
        site + "x#" + "y" * MAX_CHARS,
        site + "?" + "y" * MAX_CHARS,
    ]
    for text in too_long:
        with pytest.raises(UrlError, match="longer than"):
            normalize(text)
        with pytest.raises(UrlError, match="longer than"):
            Url.parse(text, site)
    with pytest.raises(UrlError, match="longer than"):
        normalize("y" * 3000, longest + "/")
    with pytest.raises(UrlError, match="longer than"):
        normalize("y", site + "/" * MAX_CHARS)


def test_identity_is_the_normalised_text_alone() -> None:
    one, other = Url.parse("https://example.com/a/"), Url.parse("https://EXAMPLE.com/a")
    assert one == other
    assert hash(one) == hash(other)
    assert one.as_linked != other.as_linked
    assert len({one, other}) == 1
    assert one != "https://example.com/a"
    assert str(one) == "https://example.com/a"
    assert pickle.loads(pickle.dumps(one)).as_linked == one.as_linked  # noqa: S301 - our own bytes
    assert copy.copy(one) == one
    with pytest.raises(AttributeError):
        one.text = "x"  # type: ignore[misc]  # what must fail


@pytest.mark.parametrize(
    ("text", "scheme", "site", "host", "target"),
    [
        ("https://u:p@example.com:8443/a/b?c=/d", "https", "example.com:8443", "example.com", "/a/b?c=/d"),
        ("http://[::1]:80/", "http", "[::1]", "[::1]", "/"),
        ("http://[::1]:81/?", "http", "[::1]:81", "[::1]", "/?"),
        ("http://h?x@y:1", "http", "h", "h", "/?x@y:1"),
    ],
)
def test_parts(text: str, scheme: str, site: str, host: str, target: str) -> None:
    url = Url.parse(text)
    assert (url.scheme, url.site, url.host, url.target) == (scheme, site, host, target)
    assert url.path == target.partition("?")[0]
    assert url.query == target.partition("?")[2]
    assert url.segments == tuple(part for part in url.path.split("/") if part)


def test_tracking_names_are_exact_or_prefixes_and_case_blind() -> None:
    tracking = Tracking(("utm_*", "GCLID"))
    assert "UTM_Campaign" in tracking
    assert "gclid" in tracking
    assert "gclid2" not in tracking
    assert "utm" not in tracking
    assert tracking.strip("?") == "?"
    assert tracking.strip("?&a") == "?&a"
    assert tracking.strip("?gclid") == ""
    assert tracking == Tracking(("utm_*", "GCLID"))
    assert Url.parse("http://h/?gclid=1").key(Tracking()) == "h/?gclid=1"


def test_explain_shows_each_step_and_ends_in_the_result() -> None:
    text = " HTTP://EXAMPLE.COM:80/a/../b/%7Euser/%e4/?q=A#f"
    steps = explain(text)
    assert [step.name for step in steps] == ["trim", "resolve", *(step.name for step in STEPS)]
    assert steps[0].before == text
    assert steps[-1].after == normalize(text)
    changed = {step.rule for step in steps if step.changed}
    assert changed == {"URL-1", "URL-2", "URL-3", "URL-5", "URL-6", "URL-8"}
    for earlier, later in pairwise(steps):
        assert earlier.after == later.before


def test_explain_resolves() -> None:
    steps = explain("team", Url.parse("https://example.com/about/"))
    assert steps[1].after == "https://example.com/about/team"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://h/%E2%80%AEgpj.exe", "https://h/%E2%80%AEgpj.exe"),  # a bidi override
        ("https://h/%C2%A0%E2%80%8B%0A", "https://h/%C2%A0%E2%80%8B%0A"),  # spaces that are none
        ("https://h/%FF%C3%A9%C3", "https://h/%FFé%C3"),  # not all of it is UTF-8
        ("https://h/%E3%85%A4", "https://h/%E3%85%A4"),  # a letter that shows nothing
        ("https://xn--bcher-kva.example/b%C3%BCcher", "https://xn--bcher-kva.example/bücher"),
        ("https://%C3%A9@h/%2541", "https://%C3%A9@h/%2541"),
        ("https://h/a b/", "https://h/a b/"),  # text is shown as linked
    ],
)
def test_display_is_safe(text: str, expected: str) -> None:
    assert display(text) == expected


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "01.2.3.4", "256.1.1.1", "1.2.3", "255.255.255.255", "0x7f.1", "1.2.3.4.5", "a.example"],
)
@pytest.mark.parametrize(
    "port",
    ["", ":", ":80", ":443", ":8080", ":0", ":1", ":080", ":4430", ":59999", ":65535", ":65536", ":99999"],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_addresses_and_ports_come_to_what_the_steps_make_of_them(scheme: str, host: str, port: str) -> None:
    text = f"{scheme}://{host}{port}/a/"
    try:
        expected = rewrite(text, None)
    except UrlError:
        with pytest.raises(UrlError):
            Url.parse(text)
    else:
        url = Url.parse(text)
        assert (url.text, url.as_linked) == expected
