"""RFC 9309, sentence by sentence, as far as reading the file goes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.adapters.http.robots import read_robots
from honeyguide.core.url.url import Url


def allows(text: str | bytes, path: str) -> bool:
    body = text if isinstance(text, bytes) else text.encode()
    return read_robots(body).allows(Url.parse(f"https://site.example{path}"))


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        pytest.param("", "/a", True, id="2.2.2 no group: all allowed"),
        pytest.param("User-agent: *\nDisallow: /", "/a", False, id="2.2.1 the group of everybody"),
        pytest.param("User-agent: *\nDisallow: /", "/robots.txt", True, id="2.2.2 robots.txt itself"),
        pytest.param("User-agent: *\nDisallow:", "/a", True, id="an empty Disallow"),
        pytest.param("User-agent: HoneyGuide\nDisallow: /a", "/a", False, id="2.2.1 case-blind"),
        pytest.param("User-agent: honeyguide/0.9\nDisallow: /a", "/a", False, id="2.2.1 a version is no part"),
        pytest.param("User-agent: honey\nDisallow: /a", "/a", True, id="2.2.1 whole tokens: a prefix is another"),
        pytest.param("User-agent: honeyguide2\nDisallow: /a", "/a", True, id="2.2.1 whole tokens: a longer one too"),
        pytest.param("User-agent: *\nDisallow: /\nUser-agent: honeyguide\nAllow: /", "/a", True, id="our own first"),
        pytest.param("User-agent: honeyguide\nUser-agent: x\nDisallow: /a", "/a", False, id="2.2.1 two in a group"),
        pytest.param(
            "User-agent: honeyguide\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: honeyguide\nDisallow: /c",
            "/c", False, id="2.2.1 groups of one agent are one group",
        ),
        pytest.param("User-agent: *\nAllow: /a/b\nDisallow: /a", "/a/b/c", True, id="2.2.2 the longest match"),
        pytest.param("User-agent: *\nDisallow: /a\nAllow: /a", "/a", True, id="2.2.2 ties allow"),
        pytest.param("User-agent: *\nDisallow: /A", "/a", True, id="2.2.2 paths keep their case"),
        pytest.param("User-agent: *\nDisallow: /*.pdf$", "/x.pdf", False, id="2.2.3 wildcard and end"),
        pytest.param("User-agent: *\nDisallow: /*.pdf$", "/x.pdf?y", True, id="2.2.3 the end is the end"),
        pytest.param("User-agent: *\nDisallow: /*?s=", "/x?s=1", False, id="2.2.2 the query counts"),
        pytest.param("User-agent: *\nDisallow: /caf%C3%A9", "/café", False, id="2.2.2 escapes are compared decoded"),
        pytest.param("User-agent: *\nDisallow: /café", "/caf%c3%a9", False, id="2.2.2 in both directions"),
        pytest.param("User-agent: * # all\nDisallow: /a # hidden", "/a", False, id="2.2.3 comments"),
        pytest.param("\ufeffUser-agent: *\nDisallow: /a", "/a", False, id="2.3 a byte-order mark"),
        pytest.param("User-agent: *\r\nDisallow: /a\r\n", "/a", False, id="2.2 CRLF"),
        pytest.param("User-agent: *\rDisallow: /a", "/a", False, id="2.2 CR"),
        pytest.param(
            "User-agent: honeyguide\nCrawl-delay: 5\nUser-agent: x\nDisallow: /a", "/a", False,
            id="2.2.4 a Crawl-delay ends no group",
        ),
        pytest.param(
            "User-agent: honeyguide\nNoindex: /q\n\nUser-agent: x\nDisallow: /a", "/a", False,
            id="2.2.4 nor does an unknown record",
        ),
        pytest.param("User-agent: honeyguide\nSitemap: /s.xml\nDisallow: /a", "/a", False, id="2.2.4 nor a Sitemap"),
        pytest.param("Disallow: /", "/a", True, id="a rule without a group"),
        pytest.param("<!doctype html><html><body>Not found</body></html>", "/a", True, id="a page in its place"),
        pytest.param(b"\xff\xfe\x00User-agent: *\nDisallow: /", "/a", True, id="bytes that are no text"),
        pytest.param(b"#" * 600_000 + b"\nUser-agent: *\nDisallow: /", "/a", True, id="2.5 what follows 500 KiB"),
        pytest.param(b"User-agent: *\nDisallow: /a\n" + b"#" * 600_000, "/a", False, id="2.5 what precedes it"),
    ],
)  # fmt: skip
def test_rules(text: str | bytes, path: str, expected: bool) -> None:
    assert allows(text, path) is expected


@pytest.mark.parametrize(
    ("text", "delay_s"),
    [
        ("User-agent: *\nCrawl-delay: 2.5\nDisallow:", 2.5),
        ("User-agent: *\nCrawl-delay: 9\nUser-agent: honeyguide\nDisallow: /a", None),
        ("User-agent: honeyguide\nUser-agent: x\nCrawl-delay: 4", 4.0),
        ("User-agent: x\nCrawl-delay: 9", None),
        ("User-agent: *\nCrawl-delay: -1", None),
        ("User-agent: *\nCrawl-delay: nan", None),
        ("User-agent: *\nCrawl-delay: inf", None),
        ("User-agent: *\nCrawl-delay: 1e999", None),
        ("User-agent: *\nCrawl-delay: ten", None),
    ],
)
def test_crawl_delay(text: str, delay_s: float | None) -> None:
    assert read_robots(text.encode()).crawl_delay_s == delay_s


def test_sitemaps_belong_to_no_group_and_are_bounded() -> None:
    assert read_robots(b"Sitemap: https://a.example/s.xml\nUser-agent: x\nSITEMAP: /t.xml # t").sitemaps == (
        "https://a.example/s.xml",
        "/t.xml",
    )
    assert len(read_robots(b"Sitemap: /s\n" * 40_000).sitemaps) == 1000


def test_another_token_reads_its_own_group() -> None:
    assert not read_robots(b"User-agent: finder\nDisallow: /", "Finder").allows(
        Url.parse("https://a.example/b")
    )


@given(st.binary() | st.text(alphabet="User-agent: *honeyguide/Dsl$%\n#\r\t0.").map(str.encode))
def test_no_bytes_raise(body: bytes) -> None:
    robots = read_robots(body)
    robots.allows(Url.parse("https://site.example/a?b=c"))
    assert robots.crawl_delay_s is None or robots.crawl_delay_s >= 0


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        pytest.param("User-agent: *\nDisallow: /*b*c$", "/abxc", False, id="wildcards in order"),
        pytest.param("User-agent: *\nDisallow: /*b*c$", "/cxb", True, id="and not in another"),
        pytest.param("User-agent: *\nDisallow: /ab*b$", "/ab", True, id="no character counts twice"),
        pytest.param("User-agent: *\nDisallow: /*", "/", False, id="a wildcard may be empty"),
        pytest.param("User-agent: *\nDisallow: /a%2Fb", "/a/b", True, id="an escaped slash is no slash"),
        pytest.param("User-agent: *\nDisallow: /a%2Ab", "/axb", True, id="an escaped star is no wildcard"),
        pytest.param("User-agent: *\nDisallow: /a%2Ab", "/a*b", False, id="it is a star"),
        pytest.param("User-agent: *\nDisallow: /a$b", "/a$b", False, id="a dollar inside is a dollar"),
        pytest.param("User-agent: *\nDisallow: /a%0Ab", "/b", True, id="an escaped line end is none"),
        pytest.param("User-agent: *\nDisallow: /é*\nAllow: /*aaaaa", "/éaaaaa", False, id="octets are counted escaped"),
        pytest.param("User-agent: a\nCrawl-delay: 1\nDisallow: /a\nUser-agent: *\nDisallow: /b", "/a", True, id="ended"),
        pytest.param("User-agent *\nDisallow /a", "/a", False, id="without colons"),
        pytest.param("User-agent: *\nDisallowed: /a", "/a", True, id="another word"),
    ],
)  # fmt: skip
def test_patterns(text: str, path: str, expected: bool) -> None:
    assert allows(text, path) is expected


def test_a_delay_belongs_to_those_that_were_named_before_it() -> None:
    text = b"User-agent: honeyguide\nCrawl-delay: 5\nUser-agent: x\nCrawl-delay: 9\nDisallow: /a"
    assert read_robots(text).crawl_delay_s == 5.0
    assert read_robots(text, "x").crawl_delay_s == 9.0
    assert not read_robots(text).allows(Url.parse("https://site.example/a"))


def full(line: bytes) -> bytes:
    """A file of 500 KiB whose rules are all different."""
    count = 500 * 1024 // len(line % 0)
    return b"User-agent: *\n" + b"\n".join(line % n for n in range(count))


@pytest.mark.parametrize(
    "line", [b"allow:/%05x\n", b"allow:*%05x\n", b"allow:/%05x$\n", b"allow:/\xff%05x\n"]
)
def test_a_file_stays_in_memory_about_as_large_as_it_was_sent(line: bytes) -> None:
    rules = read_robots(full(line))
    assert len(rules.rules) < 2 * 500 * 1024  # one run of bytes: no object for each rule
    assert rules.rules.count(b"\n") > 30_000  # all of them are kept (RFC 9309 2.5)


def test_rules_of_others_are_not_kept() -> None:
    assert not read_robots(full(b"Disallow: /%05x\n").replace(b"User-agent: *", b"User-agent: x")).rules


def test_the_steps_of_one_decision_are_bounded() -> None:
    rules = read_robots(full(b"disallow:/*%05x\n"))
    assert rules.allows(Url.parse("https://site.example/a"))
    assert not rules.allows(Url.parse(f"https://site.example/{'a' * 60_000}"))  # it is not compared


@given(
    st.lists(st.sampled_from(["/a", "/a*b", "/a$", "/*a", "/%61", "/b", "*", "/a/"]), max_size=6), st.data()
)
def test_the_longest_rule_that_matches_decides_and_a_tie_allows(
    paths: list[str], data: st.DataObject
) -> None:
    """RFC 9309 2.2.2; the oracle is regular expressions."""
    rules = [(path, data.draw(st.booleans())) for path in paths]
    text = "User-agent: *\n" + "\n".join(f"{'Allow' if ok else 'Disallow'}: {path}" for path, ok in rules)
    for path in ("/", "/a", "/ab", "/b", "/xa", "/a/b"):
        matching = [
            (len(rule.replace("%61", "a")), ok)
            for rule, ok in rules
            if re.match(re.escape(rule.replace("%61", "a")).replace(r"\*", ".*").replace(r"\$", "$"), path)
        ]
        assert allows(text, path) is max(matching, default=(0, True))[1], (text, path)
