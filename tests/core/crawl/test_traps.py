"""Sites without end, rule by rule: TRAP-1 to TRAP-8."""

from __future__ import annotations

import pytest

from honeyguide import load_profile
from honeyguide.core.crawl.traps import MAX_FAMILIES, Traps, UrlShape, family_of, shape_trap, soft_404
from honeyguide.core.page.likeness import bytes_of, likeness, main_digest, page_text, sketch_of
from honeyguide.core.page.page import Link, Occurrence, Page, Position
from honeyguide.core.rules.profile import TrapLimits
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why

LIMITS = load_profile("docs", topic="x").traps
A = "https://a.example"


def url(path: str) -> Url:
    return Url.parse(A + path)


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("TRAP-1", "/" + "x" * 3000),
        ("TRAP-2", "/" + "/".join(f"s{n}" for n in range(21))),
        ("TRAP-3", "/en/docs/en/docs/en/docs"),
        ("TRAP-3", "/a/a/a"),
        (None, "/2011/11/11/11"),
        (None, "/a/b/a/b"),
        (None, "/"),
    ],
)
def test_urls_that_look_like_traps(rule: str | None, path: str) -> None:
    why = shape_trap(url(path), LIMITS)
    assert (why and why.rule) == rule


@pytest.mark.parametrize(
    ("rule", "paths", "admitted"),
    [
        ("TRAP-4", [f"/page;jsessionid={n:032x}" for n in range(5)], 1),
        ("TRAP-4", [f"/page?PHPSESSID={n:032x}&x=1" for n in range(5)], 1),
        ("TRAP-4", [f"/sid/{n}abc/page" for n in range(5)], 1),
        (
            "TRAP-5",
            [f"/calendar/{year}/{month}" for year in range(2000, 2050) for month in range(1, 13)],
            120,
        ),
        (
            "TRAP-5",
            [f"/events?month={year}-{month:02}" for year in range(2000, 2050) for month in range(1, 13)],
            120,
        ),
        (
            "TRAP-6",
            [f"/shop?color={a}&size={b}&sort={c}" for a in range(9) for b in range(9) for c in range(9)],
            100,
        ),
    ],
)
def test_families_with_a_limit(rule: str, paths: list[str], admitted: int) -> None:
    traps = Traps(LIMITS)
    verdicts = [why if isinstance(why := traps.admit(url(path)), Why) else None for path in paths]
    assert sum(why is None for why in verdicts) == admitted
    assert {why.rule for why in verdicts if why} == {rule}


@pytest.mark.parametrize(
    "paths",
    [
        [
            f"/2024/05/{n:02}/a-story-about-{word}"
            for n in range(1, 29)
            for word in ("fire", "water", "air", "earth", "wood")
        ],
        [f"/product/{n}" for n in range(1000)],
        [f"/index.php?title=Page_{n}" for n in range(1000)],
        [f"/list?page={n}&sort=up" for n in range(500)],
        [f"/inside/page{n}" for n in range(500)],  # `sid` is only part of a name
    ],
)
def test_ordinary_families_have_no_limit(paths: list[str]) -> None:
    traps = Traps(LIMITS)
    assert [why for path in paths if isinstance(why := traps.admit(url(path)), Why)] == []


def text(n: int) -> list[str]:
    return [f"line {n} {m}" for m in range(40)]


def test_a_family_whose_pages_are_alike_is_closed() -> None:
    traps = Traps(LIMITS)
    for n in range(LIMITS.max_alike):
        traps.learn(url(f"/c/{n}"), sketch_of(bytes_of(text(0))))
        assert traps.closed(url("/c/99")) is None
    traps.learn(url("/c/99"), sketch_of(bytes_of(text(0))))
    why = traps.closed(url("/c/99"))
    assert why is not None
    assert (why.rule, why.text) == ("TRAP-7", "the last 6 pages of a.example/c/# were alike")
    assert traps.admit(url("/c/100")) == why
    assert traps.admit(url("/d/100")) == ()


def test_one_page_that_says_something_keeps_its_family_open() -> None:
    traps = Traps(LIMITS)
    for n in range(50):
        traps.learn(url(f"/c/{n}"), sketch_of(bytes_of(text(n if n % 6 == 0 else 0))))
    assert traps.closed(url("/c/100")) is None


@pytest.mark.parametrize(("kinds", "is_closed"), [(1, True), (4, True), (5, False)])
def test_a_page_is_compared_with_the_last_four_kinds(kinds: int, is_closed: bool) -> None:
    # TRAP-7
    traps = Traps(LIMITS)
    for n in range(50):
        traps.learn(url(f"/c/{n}"), sketch_of(bytes_of(text(n % kinds))))
    assert (traps.closed(url("/c/100")) is not None) == is_closed


def test_what_was_learnt_is_carried_over() -> None:
    traps = Traps(LIMITS)
    for n in range(7):
        traps.learn(url(f"/c/{n}"), sketch_of(bytes_of(text(0))))
    again = Traps(LIMITS)
    again.restore(traps.shapes.values())
    assert again.closed(url("/c/9")) == traps.closed(url("/c/9")) is not None


def test_memory_is_bounded() -> None:
    traps = Traps(TrapLimits())
    traps.shapes = {str(n): UrlShape(str(n)) for n in range(MAX_FAMILIES)}
    traps.learn(url("/c/1"), (1,))
    assert len(traps.shapes) == MAX_FAMILIES
    assert "0" not in traps.shapes  # the oldest
    assert traps.shapes["a.example/c/#"] == UrlShape("a.example/c/#", recent=((1,),))


@pytest.mark.parametrize(
    ("is_gone", "title", "heading", "words"),
    [
        (True, "404 Not Found", "", 10),
        (True, "Acme", "Seite nicht gefunden", 10),
        (False, "Acme", "Fire alarms", 10),
        (False, "What to do when a page is not found", "", 1000),
    ],
)
def test_soft_404(is_gone: bool, title: str, heading: str, words: int) -> None:
    page = Page(url("/x"), title=title, h1=(heading,), text="word " * words)
    why = soft_404(page, LIMITS)
    assert (why is not None and why.rule == "TRAP-8") == is_gone


def test_families() -> None:
    assert family_of(url("/a/12/b/0123456789abcdef0123")) == "a.example/a/#/b/*"
    assert family_of(url("/a?b=1&a=2&b=3")) == "a.example/a?a&b"
    assert family_of(url("/")) == "a.example/"
    assert family_of(url("/shop/red/large")) == family_of(url("/shop/blue/small")) == "a.example/shop/… 3"


def test_menus_and_dates_at_the_end_are_no_content() -> None:
    def page(stamp: str, story: str = "A story about fire.") -> Page:
        menu = Link(url("/about"), (Occurrence("About us", position=Position.NAVIGATION),))
        lines = [
            "About us",
            "Title",
            story,
            *(f"paragraph {word}" for word in ("one", "two", "three", "four")),
            stamp,
        ]
        return Page(url("/x"), text="\n".join(lines), links=(menu,))

    def digest(page: Page) -> str | None:
        return main_digest(page_text(page).main)

    assert "About us" not in page_text(page("")).lines
    assert digest(page("Last updated on 15 November 2026")) == digest(
        page("Last updated on 16 November 2026")
    )
    assert digest(page("x")) != digest(page("x", "A story about 2 fires."))
    assert main_digest(b"") is None


def test_likeness_is_an_estimate() -> None:
    half = [*text(0)[:20], *text(1)[:20]]
    assert 0.15 < likeness(sketch_of(bytes_of(text(0))), sketch_of(bytes_of(half))) < 0.55
    assert likeness(sketch_of(bytes_of(text(0))), sketch_of(bytes_of(text(1)))) == 0.0
    assert likeness(sketch_of(b"a short page"), sketch_of(b"a short page")) == 1.0


def test_likeness_is_known_to_a_few_per_cent() -> None:
    page = [f"line {n}" for n in range(400)]
    assert len(sketch_of(bytes_of(page))) == 32
    for kept in (100, 200, 300):
        others = [[*page[:kept], *(f"other {m} {n}" for n in range(400 - kept))] for m in range(30)]
        found = [likeness(sketch_of(bytes_of(page)), sketch_of(bytes_of(other))) for other in others]
        true = kept / (800 - kept)
        assert abs(sum(found) / 30 - true) < 0.1
        assert max(abs(one - true) for one in found) < 0.3
