"""How a visit changes what is remembered: what it says of change, and what it teaches of the page and its site.

Owns: `next_known`, `next_site` and `births_of`. Must not know: how history is kept, the formulas of rates (rate.py,
learning.py). Start reading at `next_known`; what a visit says of change is `compared`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.page.likeness import can_compare
from honeyguide.core.recrawl.ages import AgeClock, clock_by
from honeyguide.core.recrawl.clocks import HOUR_S, DayProfile
from honeyguide.core.recrawl.history import (
    CHANGED,
    NOT_MODIFIED,
    SAME_BYTES,
    SAME_CONTENT,
    UNKNOWN_SITE,
    HistoryEntry,
    Site,
    Trust,
)
from honeyguide.core.recrawl.priors import Priors
from honeyguide.core.recrawl.rate import Rate, chance, changed, changes, timed, unchanged
from honeyguide.core.recrawl.signals import HEADER, SITEMAP, born_at, claims_of

if TYPE_CHECKING:
    from honeyguide.core.recrawl.ages import SiteAges
    from honeyguide.core.recrawl.clocks import ChangeClock
    from honeyguide.core.recrawl.history import Visit

_DAY_H = 24
_PRIORS = Priors()
_UNMODIFIED = 304


def compared(old: HistoryEntry | None, visit: Visit) -> str | None:
    """Say what a visit tells about change; None where there is nothing to compare.

    >>> from honeyguide.core.recrawl.history import Visit
    >>> first = next_known(None, Visit("https://a.example/", 1, 100.0, 200, "x", body=7))
    >>> compared(first, Visit("https://a.example/", 1, 200.0, 304))
    'not-modified'
    >>> compared(first, Visit("https://a.example/", 1, 200.0, 200, "x", body=8))
    'same-content'
    """
    if old is None or old.seen_at is None or visit.is_led_on:
        return None
    if visit.status == _UNMODIFIED:
        return NOT_MODIFIED
    if not has_page(visit):
        return None
    if visit.body is not None and visit.body == old.body:
        return SAME_BYTES
    if not can_compare(old.content, visit.content):
        return None
    return SAME_CONTENT if visit.content == old.content else CHANGED


def has_page(visit: Visit) -> bool:
    """Tell whether a page came with a visit, read or not."""
    return visit.content is not None or visit.body is not None


def next_known(
    old: HistoryEntry | None, visit: Visit, site: Site = UNKNOWN_SITE, run: int | None = None
) -> HistoryEntry:
    """Take one more visit into account; the clock may have run backwards, so times only ever grow.

    >>> from honeyguide.core.recrawl.history import Visit
    >>> first = next_known(None, Visit("https://a.example/", 1, 100.0, 200, "x"))
    >>> again = next_known(first, Visit("https://a.example/", 1, 200.0, 200, "y"))
    >>> (again.visits, again.changed_at, again.changes)
    (2, 200.0, 1)
    """
    before = old or _never(visit)
    verdict = compared(old, visit)
    known = before._replace(
        url=visit.url,
        visits=before.visits + 1,
        visited_at=max(visit.at, before.visited_at),
        status=visit.status,
        failures=before.failures + 1,
        depth=visit.depth,
        hub_depth=0 if before.is_hub else visit.hub_depth,
    )
    if visit.is_moved:
        return known._replace(failures=0, arrived=visit.arrived, is_moved=True)
    if verdict is None and not has_page(visit):
        # A site that leads on has answered, if with another page.
        return known._replace(failures=0) if visit.is_led_on else known
    known = known._replace(
        failures=0,
        seen_at=known.visited_at,
        etag=visit.etag or (before.etag if verdict == NOT_MODIFIED else None),
        last_modified=visit.last_modified or (before.last_modified if verdict == NOT_MODIFIED else None),
        arrived=visit.arrived,
        is_moved=False,
    )
    if verdict is not None:
        known = _learned(before, known, visit, verdict, site)
    is_read = has_page(visit) and not (verdict == SAME_BYTES and visit.content is None)
    return _read(known, visit, run) if is_read else known


def heir_of(moved: HistoryEntry | None, visit: Visit) -> HistoryEntry | None:
    """Give the history that a page brings along which has moved to a new place; None if it had none."""
    if moved is None or moved.seen_at is None or moved.is_moved:
        return None
    return moved._replace(url=visit.url, digest=visit.digest, arrived=None, lastmod=None)


def _never(visit: Visit) -> HistoryEntry:
    """Give what is known of a URL before its first visit."""
    return HistoryEntry(
        visit.url, visit.digest, 0, visit.at, None, 0, 0, None, None, None, 0, 0, False, 0, 0, None, None,
        first_seen=visit.at, kind=visit.kind,
    )  # fmt: skip


def _read(known: HistoryEntry, visit: Visit, run: int | None) -> HistoryEntry:
    """Take over what reading the page gave."""
    is_hub = visit.kind == "hub"
    return known._replace(
        content=visit.content,
        body=visit.body,
        relevance=visit.relevance,
        is_hub=is_hub,
        hub_depth=0 if is_hub else visit.hub_depth,
        kind=visit.kind,
        links=visit.links,
        new_links=visit.new_links,
        link_share=visit.link_share,
        run=run,
    )


# --- what a comparison teaches ---


def clock_in(site: Site, known: HistoryEntry) -> ChangeClock:
    """Look up the clock by which a page is exposed to change."""
    return clock_by(
        known.kind,
        born_at(known.url, known.kind, known.born_at, known.first_seen),
        site=site.clock,
        day=None if known.hours is None else DayProfile.of_counts(known.hours),
        profile=site.aged(known.kind).own,
    )


def believed(known: HistoryEntry, site: Site = UNKNOWN_SITE) -> Rate:
    """Give what is believed of a page's change rate; before two visits could be compared, what its siblings tell."""
    return known.rate or site.priors.get(known.kind) or _PRIORS.of(known.site, known.kind)


class _Lesson(NamedTuple):
    """A comparison with the copy of `since`: by which clock, what was believed before, what was seen, when it changed."""

    since: float
    at: float
    clock: ChangeClock
    rate: Rate
    seen: ChangeObservation
    changed_at: float

    @property
    def after(self) -> Rate:
        """What is believed of the change rate after it."""
        return after_visit(self.rate, self.seen)


def _lesson(before: HistoryEntry, visit: Visit, verdict: str, site: Site) -> _Lesson:
    """Say what there is to be learnt from a comparison."""
    since, at, clock = _seen_at(before), max(visit.at, before.visited_at), clock_in(site, before)
    is_changed = verdict == CHANGED
    source, changed_at = _told(before, visit, site, at) if is_changed else (None, at)
    quiet_h = None if source is None else clock.exposure_h(changed_at, at)
    seen = ChangeObservation(
        clock.exposure_h(since, at), is_changed, quiet_h, was_announced=source == SITEMAP
    )
    return _Lesson(since, at, clock, believed(before, site), seen, changed_at)


def _learned(
    before: HistoryEntry, known: HistoryEntry, visit: Visit, verdict: str, site: Site
) -> HistoryEntry:
    """Learn from a comparison: the change rate, when the change was, how many new links a visit finds."""
    since, at, _, _, seen, changed_at = lesson = _lesson(before, visit, verdict, site)
    rate, found = lesson.after, after_finds(before.found, visit.new_links, (at - since) / HOUR_S)
    is_hub, is_changed = before.kind == "hub", seen.is_changed
    return known._replace(
        changed_at=changed_at if is_changed else before.changed_at,
        changes=before.changes + is_changed,
        unchanged=before.unchanged + (not is_changed),
        exposure_h=before.exposure_h + seen.exposure_h,
        rate_a=rate.a,
        rate_b=rate.b,
        found_a=found.a,
        found_b=found.b,
        hours=_by_hour(before.hours, since, changed_at) if is_hub and is_changed else before.hours,
    )


def _seen_at(known: HistoryEntry) -> float:
    return known.visited_at if known.seen_at is None else known.seen_at


def _told(before: HistoryEntry, visit: Visit, site: Site, at: float) -> tuple[str | None, float]:
    """Give the time of a change and who tells it, if that is somebody who is trusted; else the time of the visit."""
    for claim in claims_of(visit.last_modified, before.lastmod):
        if site.is_trusted(claim.source) and claim.says_changed(_seen_at(before)):
            return claim.source, min(claim.first, at)
    return None, at


def _by_hour(hours: tuple[float, ...] | None, start: float, end: float) -> tuple[float, ...] | None:
    """Count a change in the hours of the day in which it may have been; a whole day of them would tell nothing."""
    span_h = (end - start) / HOUR_S
    if not 0.0 < span_h < _DAY_H:
        return hours
    counts = list(hours or (0.0,) * _DAY_H)
    moment = start
    while moment < end:
        until = min(end, (moment // HOUR_S + 1) * HOUR_S)
        counts[int(moment // HOUR_S) % _DAY_H] += (until - moment) / (end - start)
        moment = until
    return tuple(counts)


def next_site(site: Site, old: HistoryEntry | None, visit: Visit) -> Site:
    """Learn of a site from one visit: whether its word was true, on which days it changes, and what ages count."""
    verdict = compared(old, visit)
    if verdict is None or old is None:
        return site
    is_changed, trust = verdict == CHANGED, dict(site.trust)
    for claim in claims_of(visit.last_modified, old.lastmod):
        said = claim.says_changed(_seen_at(old))
        # A 304 was decided by the header, which is no witness of itself.
        if said is not None and not (claim.source == HEADER and verdict == NOT_MODIFIED):
            known = trust.get(claim.source, Trust())
            trust[claim.source] = known.judged(said=said, is_changed=is_changed)
    if old.kind == "hub":
        return replace(site, trust=trust)
    since, at, clock = _seen_at(old), max(visit.at, old.visited_at), clock_in(site, old)
    ages, aged_h = site.ages, (at - since) / HOUR_S
    if isinstance(clock, AgeClock) and at > since:
        ages = {**ages, old.kind: _aged(site.aged(old.kind), clock, _lesson(old, visit, verdict, site))}
        aged_h = clock.aged_h(since, at)
    days = site.clock
    if old.kind == "page":  # what the age explains is not the days'
        expected = chance(believed(old, site), aged_h)
        days = days.noted(since, at, expected=expected, is_changed=is_changed)
    return replace(site, trust=trust, clock=days, ages=ages)


def _aged(ages: SiteAges, clock: AgeClock, lesson: _Lesson) -> SiteAges:
    """Learn what the ages of a page count; what the days of its site explain is not theirs."""
    since, at, _, rate, seen, _ = lesson
    days = clock.site.exposure_h(since, at) / ((at - since) / HOUR_S)
    return ages.noted(
        clock.age_h(since),
        clock.age_h(at),
        found=changes_of(rate, seen),
        rate=days / lesson.after.mean_interval_h,
    )


def births_of(old: HistoryEntry | None, visit: Visit) -> list[tuple[int, float]]:
    """Say which pages a visit shows to be new, and since when; one that has moved takes the age of its old place along."""
    births = [(digest, visit.at) for digest in visit.newborn]
    if visit.moved_from is not None and old is not None and old.born_at is not None:
        births.append((visit.digest, old.born_at))
    return births


class ChangeObservation(NamedTuple):
    """What a visit found: exposure since the last one, by the page's clock.

    `quiet_h` is the exposure since the last change, where its time is known and the host is honest. `was_announced`: a
    signal, and not the plan, led to the visit.
    """

    exposure_h: float
    is_changed: bool
    quiet_h: float | None = None
    was_announced: bool = False


def after_visit(rate: Rate, seen: ChangeObservation) -> Rate:
    """Learn from a visit.

    A visit that an announcement led to saw a single change, at its end: taken as any other it would inflate the rate.
    Of the time of the last change, what follows it was quiet; what came before it is not known.

    >>> after_visit(Rate(0.5, 100.0), ChangeObservation(50.0, is_changed=False))
    Rate(a=0.5, b=150.0)
    >>> after_visit(Rate(0.5, 100.0), ChangeObservation(50.0, is_changed=True, quiet_h=20.0))
    Rate(a=1.5, b=120.0)
    """
    if not seen.is_changed:
        return unchanged(rate, seen.exposure_h)
    if seen.was_announced:
        return timed(rate, seen.exposure_h)
    if seen.quiet_h is not None:
        return timed(rate, min(seen.quiet_h, seen.exposure_h))
    return changed(rate, seen.exposure_h)


def changes_of(rate: Rate, seen: ChangeObservation) -> float:
    """Count the changes since the last visit by expectation, with what was believed before this one.

    Of one whose time is known, it is known that nothing followed, and not what came before.

    >>> changes_of(Rate(2.0, 10.0), ChangeObservation(90.0, is_changed=True, quiet_h=80.0))
    3.0
    """
    if not seen.is_changed:
        return 0.0
    if seen.was_announced:
        return 1.0
    if seen.quiet_h is not None:
        return 1.0 + max(0.0, seen.exposure_h - seen.quiet_h) / rate.mean_interval_h
    return changes(rate, seen.exposure_h)


def after_finds(found: Rate | None, new_links: int, exposure_h: float) -> Rate:
    """Learn how fast a hub leads to new pages; the first visit to it, where all are new, is not to be counted.

    >>> after_finds(Rate(6.0, 24.0), 4, 8.0)
    Rate(a=10.0, b=32.0)
    """
    a, b = found or (0.0, 24.0)
    return Rate(a + new_links, b + max(0.0, exposure_h))
