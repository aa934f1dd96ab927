"""How a visit changes the history of a page and of its site.

Owns: `next_known`, `next_site` and `births_of`. Must not know: how history is stored, the formulas of rates (rate.py).
Start reading at `next_known`; `compare_visit` decides whether a page has changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.page.likeness import can_compare
from honeyguide.core.recrawl import history
from honeyguide.core.recrawl.clocks import HOUR_S, AgeClock, DayProfile, choose_clock
from honeyguide.core.recrawl.history import CHANGED, NOT_MODIFIED, UNKNOWN_SITE, HistoryEntry, Site
from honeyguide.core.recrawl.priors import FIRST_PRIORS
from honeyguide.core.recrawl.rate import (
    SCALARS,
    Rate,
    after_change,
    after_no_change,
    after_timed_change,
    believed,
    chance,
    changes,
    doubt_by,
    forget_by,
)
from honeyguide.core.recrawl.signals import HEADER, SITEMAP, born_at, change_claims

if TYPE_CHECKING:
    from honeyguide.core.recrawl.clocks import ChangeClock
    from honeyguide.core.recrawl.history import Visit
    from honeyguide.core.recrawl.rate import Forgetting

_DAY_H = 24
_UNMODIFIED = 304


def compare_visit(old: HistoryEntry | None, visit: Visit) -> str | None:
    """Compare a visit with the stored copy; None where there is nothing to compare."""
    if old is None or old.seen_at is None or visit.is_redirect_source:
        return None
    if visit.status == _UNMODIFIED:
        return NOT_MODIFIED
    if not has_page(visit):
        return None
    if visit.body is not None and visit.body == old.body:
        return history.SAME_BYTES
    if not can_compare(old.content, visit.content):
        return None
    return history.SAME_CONTENT if visit.content == old.content else CHANGED


def has_page(visit: Visit) -> bool:
    """Tell whether a visit brought a page, read or not."""
    return visit.content is not None or visit.body is not None


def next_known(
    old: HistoryEntry | None, visit: Visit, site: Site = UNKNOWN_SITE, run: int | None = None
) -> HistoryEntry:
    """Add a visit to the history of a URL; times never go back, although the clock may."""
    before = old or HistoryEntry(
        visit.url, visit.digest, visited_at=visit.at, first_seen=visit.at, kind=visit.kind
    )
    verdict = compare_visit(old, visit)
    known = before._replace(
        url=visit.url,
        visits=before.visits + (not visit.is_refused),
        visited_at=max(visit.at, before.visited_at),
        status=visit.status,
        failures=before.failures + 1,
        depth=visit.depth,
        hub_depth=0 if before.is_hub else visit.hub_depth,
    )
    if visit.is_moved:
        return known._replace(failures=0, arrived=visit.arrived, is_moved=True)
    if verdict is None and not has_page(visit):
        # A site that redirects has answered, if with another page.
        return known._replace(failures=0) if visit.is_redirect_source else known
    known = known._replace(
        failures=0,
        seen_at=known.visited_at,
        etag=visit.etag or (before.etag if verdict == NOT_MODIFIED else None),
        last_modified=visit.last_modified or (before.last_modified if verdict == NOT_MODIFIED else None),
        arrived=visit.arrived,
        is_moved=False,
    )
    if verdict is not None:
        known = _with_comparison(before, known, visit, verdict, site)
    if not has_page(visit) or (verdict == history.SAME_BYTES and visit.content is None):  # not read
        return known
    is_hub = visit.kind == "hub"
    return known._replace(
        content=visit.content,
        body=visit.body,
        relevance=before.relevance if visit.relevance is None else visit.relevance,
        is_hub=is_hub,
        hub_depth=0 if is_hub else visit.hub_depth,
        kind=visit.kind,
        links=visit.links,
        new_links=visit.new_links,
        link_share=visit.link_share,
        run=run,
    )


def heir_of(moved: HistoryEntry | None, visit: Visit) -> HistoryEntry | None:
    """Return the history that a moved page takes along to its new place; None if it had none."""
    if moved is None or moved.seen_at is None or moved.is_moved:
        return None
    return moved._replace(url=visit.url, digest=visit.digest, arrived=None, lastmod=None)


def clock_in(site: Site, known: HistoryEntry) -> ChangeClock:
    """Return the clock that measures the exposure of a page of a site."""
    return choose_clock(
        known.kind,
        born_at(known.url, known.kind, known.born_at, known.first_seen),
        site=site.clock,
        day=None if known.hours is None else DayProfile.of_counts(known.hours),
        profile=site.aged(known.kind).own,
    )


def current_rate(known: HistoryEntry, site: Site = UNKNOWN_SITE) -> Rate:
    """Return the change rate of a page: what its visits saw, added to the rate of its siblings."""
    prior = _prior_of(known, site)
    return prior if known.seen is None else believed(prior, known.seen)


def _prior_of(known: HistoryEntry, site: Site) -> Rate:
    return site.priors.get(known.kind) or FIRST_PRIORS.classes[known.kind]


class _Comparison(NamedTuple):
    """A comparison at `at` with the copy of `since`; `changed_at` is what a trusted source claims, else `at`."""

    since: float
    at: float
    clock: ChangeClock
    rate: Rate
    observed: ChangeObservation
    changed_at: float


def _comparison(before: HistoryEntry, visit: Visit, verdict: str, site: Site) -> _Comparison:
    since, at, clock = _seen_at(before), max(visit.at, before.visited_at), clock_in(site, before)
    is_changed, source, changed_at = verdict == CHANGED, None, at
    for claim in change_claims(visit.last_modified, before.lastmod) if is_changed else ():
        if site.is_trusted(claim.source, before.kind) and claim.claims_change(since):
            source, changed_at = claim.source, min(claim.first, at)
            break
    observed = ChangeObservation(
        clock.exposure_h(since, at),
        is_changed,
        quiet_h=None if source is None else clock.exposure_h(changed_at, at),
        was_announced=source == SITEMAP,
    )
    return _Comparison(since, at, clock, current_rate(before, site), observed, changed_at)


def _with_comparison(
    before: HistoryEntry, known: HistoryEntry, visit: Visit, verdict: str, site: Site
) -> HistoryEntry:
    compared = _comparison(before, visit, verdict, site)
    since, at, changed_at = compared.since, compared.at, compared.changed_at
    kept = _remembered(before, compared, site)
    found = after_finds(before.found, visit.new_links, (at - since) / HOUR_S)
    is_hub, is_changed = before.kind == "hub", compared.observed.is_changed
    return known._replace(
        changed_at=changed_at if is_changed else before.changed_at,
        changes=before.changes + is_changed,
        unchanged=before.unchanged + (not is_changed),
        exposure_h=before.exposure_h + compared.observed.exposure_h,
        rate_a=kept.seen[0],
        rate_b=kept.seen[1],
        latest_a=kept.latest[0],
        latest_b=kept.latest[1],
        doubt=kept.doubt,
        forgot_at=at if kept.is_sure else before.forgot_at,
        found_a=found.a,
        found_b=found.b,
        hours=_with_change(before.hours, since, changed_at) if is_hub and is_changed else before.hours,
    )


def _remembered(before: HistoryEntry, compared: _Comparison, site: Site) -> Forgetting:
    """Add a visit to what all visits saw, and to what the latest saw, which may outweigh the earlier ones."""
    observed, latest = compared.observed, believed(_prior_of(before, site), before.latest)
    doubt = before.doubt
    if not observed.was_announced:  # a visit that follows an announcement says nothing of the rate
        visit = observed.exposure_h, observed.is_changed
        doubt = doubt_by(SCALARS, doubt, (latest, compared.rate), visit)
    return forget_by(
        SCALARS,
        doubt,
        _with_visit(before.seen or Rate(0.0, 0.0), compared.rate, observed),
        _with_visit(before.latest, latest, observed),
    )


def _with_visit(seen: Rate, rate: Rate, observed: ChangeObservation) -> Rate:
    """Add to what visits saw what one of them adds to the rate."""
    after = after_visit(rate, observed)
    return Rate(seen.a + max(0.0, after.a - rate.a), seen.b + max(0.0, after.b - rate.b))


def _seen_at(known: HistoryEntry) -> float:
    return known.visited_at if known.seen_at is None else known.seen_at


def _with_change(hours: tuple[float, ...] | None, start: float, end: float) -> tuple[float, ...] | None:
    """Count a change in the hours of the day in which it may have been; a span of a whole day tells nothing."""
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
    """Learn from a visit whether the site's claims were true, on which days it changes, and what ages count."""
    verdict = compare_visit(old, visit)
    if verdict is None or old is None:
        return site
    is_changed, trust = verdict == CHANGED, dict(site.trust)
    for claim in change_claims(visit.last_modified, old.lastmod):
        is_claimed = claim.claims_change(_seen_at(old))
        # A 304 is decided by this header, so it cannot confirm the header.
        if is_claimed is not None and not (claim.source == HEADER and verdict == NOT_MODIFIED):
            for key in (claim.source, history.trust_key(claim.source, old.kind)):
                known = trust.get(key, history.Trust())
                trust[key] = known.with_claim(is_claimed=is_claimed, is_changed=is_changed)
    if old.kind == "hub":
        return replace(site, trust=trust)
    compared = _comparison(old, visit, verdict, site)
    since, at, clock = compared.since, compared.at, compared.clock
    days, ages, aged_h = site.clock, site.ages, (at - since) / HOUR_S
    if isinstance(clock, AgeClock) and at > since:
        # A change that the days of the site explain is not due to the age of the page.
        of_days = clock.site.exposure_h(since, at) / aged_h
        learned = site.aged(old.kind).with_visit(
            clock.age_h(since),
            clock.age_h(at),
            found=changes_of(compared.rate, compared.observed),
            rate=of_days / after_visit(compared.rate, compared.observed).mean_interval_h,
        )
        ages, aged_h = {**ages, old.kind: learned}, clock.aged_h(since, at)
    if old.kind == "page":  # a change that the age explains is not due to the day
        expected = chance(compared.rate, aged_h)
        days = days.with_visit(since, at, expected=expected, is_changed=is_changed)
    return replace(site, trust=trust, clock=days, ages=ages)


def births_of(old: HistoryEntry | None, visit: Visit) -> list[tuple[int, float]]:
    """List the pages that a visit shows to be new, and since when; a moved page keeps the age of its old place."""
    births = [(digest, visit.at) for digest in visit.newborn]
    if visit.moved_from is not None and old is not None and old.born_at is not None:
        births.append((visit.digest, old.born_at))
    return births


class ChangeObservation(NamedTuple):
    """What a visit found: the exposure since the last one, by the page's clock, and whether the page has changed."""

    exposure_h: float
    is_changed: bool
    quiet_h: float | None = None  # the exposure since the last change, where an honest host claims its time
    was_announced: bool = False  # a sitemap, not the plan, led to the visit


def after_visit(rate: Rate, observed: ChangeObservation) -> Rate:
    """Update a change rate."""
    if not observed.is_changed:
        return after_no_change(rate, observed.exposure_h)
    if observed.was_announced:  # a single change, at its end: taken as any other it would inflate the rate
        return after_timed_change(rate, observed.exposure_h)
    if observed.quiet_h is not None:  # since the change the page was quiet; before it, nothing is known
        return after_timed_change(rate, min(observed.quiet_h, observed.exposure_h))
    return after_change(rate, observed.exposure_h)


def changes_of(rate: Rate, observed: ChangeObservation) -> float:
    """Estimate the number of changes since the last visit, by the rate before this one.

    >>> changes_of(Rate(2.0, 10.0), ChangeObservation(90.0, is_changed=True, quiet_h=80.0))
    3.0
    """
    if not observed.is_changed:
        return 0.0
    if observed.was_announced:
        return 1.0
    if observed.quiet_h is not None:
        return 1.0 + max(0.0, observed.exposure_h - observed.quiet_h) / rate.mean_interval_h
    return changes(rate, observed.exposure_h)


def after_finds(found: Rate | None, new_links: int, exposure_h: float) -> Rate:
    """Update the rate of new links of a hub; its first visit, where all links are new, must not be counted."""
    a, b = found or (0.0, 24.0)
    return Rate(a + new_links, b + max(0.0, exposure_h))
