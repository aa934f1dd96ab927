"""What becomes of the links of a page: plain function calls, no store, no network."""

from __future__ import annotations

from dataclasses import replace

import pytest

from honeyguide import load_profile
from honeyguide.core.crawl.frontier import Discovered, KnownState, Lease, State, digest_of
from honeyguide.core.crawl.judge import Around, CrawlContext, PageJudgement, candidates_of, judge_page
from honeyguide.core.crawl.traps import Traps
from honeyguide.core.page.page import Link, Occurrence, Page
from honeyguide.core.text.pattern import compile_pattern
from honeyguide.core.url.url import Tracking, Url
from honeyguide.core.why import Why

A = "https://a.example"
FIRE = load_profile("docs", topic="fire")
GROUND = CrawlContext(FIRE, FIRE.traversals["focused-fixed"], Traps(FIRE.traps), max_depth=3)
LEASE = Lease(1, 7, Url.parse(f"{A}/here"), "a.example", depth=2)
ABOUT_FIRE = "Fire alarms, and what to do about fire. " * 30


def ground(**changes: object) -> CrawlContext:
    return replace(GROUND, traps=Traps(FIRE.traps), memo={}, **changes)  # type: ignore[arg-type]  # any field


def judged(
    *hrefs: str,
    lease: Lease = LEASE,
    around: Around | None = None,
    context: CrawlContext | None = None,
    text: str = ABOUT_FIRE,
) -> PageJudgement:
    base = Url.parse(f"{A}/here")
    links = tuple(Link(Url.parse(href, base), (Occurrence("fire"),)) for href in hrefs)
    page = Page(lease.url, title=text[:5], h1=(text[:5],), text=text, links=links)
    context = context or ground()
    return judge_page(
        page, lease, candidates_of(page, context), around or Around({}, frozenset({"a.example"})), context
    )


def new(href: str, **more: object) -> Discovered:
    (found,) = judged(href, **more).findings.new  # type: ignore[arg-type]  # any option of `judged`
    return found


def rule(href: str, **more: object) -> str | None:
    out = new(href, **more).out
    return out.rule if out else None


def test_a_link_is_one_deeper_than_its_page_and_deeper_than_that_is_too_deep() -> None:
    found = new("/fire", lease=LEASE._replace(hub_depth=4))
    assert (found.depth, found.hub_depth, found.out) == (3, 5, None)
    assert rule("/fire", lease=LEASE._replace(depth=3)) == "max-depth"
    assert rule("/fire", lease=LEASE._replace(depth=99), context=ground(max_depth=None)) is None


def test_a_link_of_a_hub_is_next_to_it() -> None:
    around = Around({}, frozenset({"a.example"}), is_hub=True)
    assert new("/fire", lease=LEASE._replace(hub_depth=4), around=around).hub_depth == 1


@pytest.mark.parametrize(
    ("href", "why"),
    [
        ("https://b.example/login", "other-site"),  # scope comes before rules that skip
        ("/login?next=/fire/login/login/login/login", "skip"),  # and these before traps
        ("/x/y/x/y/x/y", "TRAP-3"),
        ("/fire", None),
    ],
)
def test_the_first_reason_counts(href: str, why: str | None) -> None:
    found = rule(href)
    assert found == why or (why == "skip" and found in {skip.id for skip in FIRE.skips.rules})


def test_patterns_come_before_traps() -> None:
    context = ground(include=(compile_pattern("fire"),), exclude=(compile_pattern("old"),))
    assert rule("/x/y/x/y/x/y", context=context) == "include"
    assert rule("/fire/old/fire/old/fire/old", context=context) == "exclude"
    assert rule("/fire", context=context) is None


def test_other_sites_are_followed_if_that_is_asked_for() -> None:
    assert rule("https://b.example/fire") == "other-site"
    found = new("https://b.example/fire", context=ground(follow_external=True))
    assert (found.out, found.is_external, found.site) == (None, True, "b.example")
    assert not new("/fire").is_external


def test_what_the_traversal_does_not_follow_has_its_last_reason() -> None:
    found = new("/fire", lease=LEASE._replace(weak_pages=9), text="Water and what it does. " * 30)
    assert found.out == Why("tunnel-end", "10 weak pages in a row lead here")


def test_a_duplicate_is_not_expanded_unless_it_is_a_seed() -> None:
    around = Around({}, frozenset({"a.example"}), copy_of=f"{A}/twin")
    done = judged("/fire", around=around)
    assert (done.action, done.findings.new, done.findings.skipped) == ("duplicate", [], {"TRAP-9": 1})
    seed = judged("/fire", around=around, lease=LEASE._replace(is_seed=True))
    assert (seed.action, len(seed.findings.new)) == ("seed", 1)


@pytest.mark.parametrize(("seen", "is_again"), [(0, False), (FIRE.crawl.sightings, True)])
def test_a_settled_link_is_remembered_with_few_pages_and_counted_from_then_on(
    seen: int, is_again: bool
) -> None:
    digest = digest_of(Url.parse(f"{A}/fire"), FIRE.scope.tracking)
    around = Around(
        {digest: KnownState(State.DONE, 0, seen, None, is_https=True, depth=1)}, frozenset({"a.example"})
    )
    findings = judged("/fire", around=around).findings
    assert (findings.again == [digest], [one for one, _ in findings.sightings] == [digest]) == (
        is_again,
        not is_again,
    )
    revisit = judged("/fire", around=around, lease=LEASE._replace(is_recrawl=True)).findings
    assert (revisit.again, revisit.sightings, revisit.new) == ([], [], [])


@pytest.mark.parametrize(
    ("known", "met", "becomes"),
    [  # the depth that is known, that of the page (one less than by this way), and what a link is queued with
        (1, 2, 1),  # a longer way with better evidence
        (1, 3, 1),  # one that alone would be too deep
        (4, 2, 3),  # a shorter way
        (4, 3, None),
    ],
)
def test_a_known_link_is_as_deep_as_the_shortest_way_to_it(known: int, met: int, becomes: int | None) -> None:
    digest = digest_of(Url.parse(f"{A}/fire"), FIRE.scope.tracking)
    standing = KnownState(State.QUEUED, 2**60, 1, None, is_https=True, depth=known)
    around = Around({digest: standing}, frozenset({"a.example"}))
    findings = judged("/fire", around=around, lease=LEASE._replace(depth=met)).findings
    assert [(one.depth, one.out) for one in findings.better] == ([(becomes, None)] if becomes else [])


def test_a_shorter_way_changes_the_depth_of_a_link_and_not_its_place() -> None:
    digest = digest_of(Url.parse(f"{A}/fire"), FIRE.scope.tracking)
    around = Around(
        {digest: KnownState(State.QUEUED, -(2**60), 9, None, is_https=True, depth=9)},
        frozenset({"a.example"}),
    )
    (found,) = judged("/fire", around=around).findings.better
    assert (found.depth, found.rank) == (3, -(2**60))
    assert judged("/fire", around=around, lease=LEASE._replace(depth=8)).findings.better == []


def test_the_identity_of_a_url_is_the_same_in_every_version() -> None:
    # URL-7; stores contain it.
    assert digest_of(Url.parse("http://a.example/b/"), Tracking()) == 4947719003287183438
