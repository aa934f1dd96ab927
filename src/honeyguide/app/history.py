"""The history of a URL in sentences, for people.

Owns: the words. Must not know: how any of it was learnt (visits.py, learning.py) or is kept; `now` is an argument.
Start reading at `describe_history`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.core.recrawl.clocks import HOUR_S
from honeyguide.core.recrawl.history import UNKNOWN_SITE, Trust
from honeyguide.core.recrawl.policies import often
from honeyguide.core.recrawl.rate import chance
from honeyguide.core.recrawl.signals import (
    HEADER,
    SITEMAP,
    amount,
    drop_reason,
    duration,
    kind_words,
    percent,
    state_of,
)
from honeyguide.core.recrawl.visits import clock_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.core.recrawl.history import HistoryEntry, Site
    from honeyguide.core.rules.profile import Profile


_SOURCES = {SITEMAP: "Sitemaps", HEADER: "Last-Modified headers"}


def describe_history(
    known: HistoryEntry, profile: Profile, now: float, site: Site = UNKNOWN_SITE, not_modified: int = 0
) -> list[str]:
    """Tell what is known of a URL; `not_modified` is how many of its visits were answered with 304."""
    if known.is_moved:
        return [f"It has moved to {known.arrived}; its history goes on there."]
    told = [_visits_told(known, now, not_modified)]
    if known.changes or known.unchanged:
        told += _change_told(known, site, now)
    told += filter(None, [kind_words(known, profile)])
    told += _found_told(known)
    told += _trust_told(known, site)
    if known.failures:
        told.append(_failures_told(known))
    return told


def ago(moment: float, now: float) -> str:
    """Say how long ago something was.

    >>> ago(0.0, 7200.0), ago(5.0, 5.0)
    ('2 hours ago', 'a moment ago')
    """
    return f"{duration((now - moment) / HOUR_S)} ago" if now - moment >= 60.0 else "a moment ago"


def times(count: int) -> str:
    """Count visits.

    >>> times(1), times(2), times(1200)
    ('once', 'twice', '1,200 times')
    """
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def _visits_told(known: HistoryEntry, now: float, not_modified: int) -> str:
    parts = []
    if known.changes or known.unchanged:
        by_304 = f" ({not_modified:,} by 304)" if not_modified else ""
        parts = [f"{known.changes:,} changed", f"{known.unchanged:,} unchanged{by_304}"]
    last = ago(known.visited_at, now)
    when = last if known.visits == 1 else f"first {ago(known.first_seen, now)}, last {last}"
    if known.seen_at is None:
        return f"Asked for {times(known.visits)}, {when}; no page came."
    return f"Visited {times(known.visits)}, {when}{': ' if parts else ''}{', '.join(parts)}."


def _change_told(known: HistoryEntry, site: Site, now: float) -> Iterator[str]:
    """Tell what visits have seen of its changes, and what is believed of them (core/recrawl/rate.py)."""
    if known.changed_at is not None:
        yield f"It last changed {ago(known.changed_at, now)}, as far as visits tell."
    is_unseen = known.changes == 0
    rate, seen_at = known.rate, known.seen_at
    if rate is None or seen_at is None:
        yield from ["No visit has seen it change."] * is_unseen
        return
    clock = clock_in(site, known)
    odds = f"changed with {percent(chance(rate, clock.exposure_h(seen_at, now)))} probability"
    about = f"about {often(rate, clock, now)}"
    # Without a change of its own, the rate is that of its kind, less what its quiet visits say.
    guess = f"No visit has seen it change; going by pages like it, it may change {about}"
    yield f"{guess if is_unseen else f'It changes {about}'}; {odds} since the last visit {ago(seen_at, now)}."


def _found_told(known: HistoryEntry) -> Iterator[str]:
    found = known.found
    if found is not None and found.a > 0:
        daily = amount(24.0 * found.a / found.b)
        yield f"Visits find {daily} new {'page' if daily == '1' else 'pages'} a day there."


def _trust_told(known: HistoryEntry, site: Site) -> Iterator[str]:
    if known.lastmod is not None:
        yield f"Its sitemap says that it last changed {known.lastmod}."
    said = {SITEMAP: known.lastmod, HEADER: known.last_modified}
    for source, text in said.items():
        trust = site.trust.get(source, Trust())
        told = trust.hits + trust.alarms
        if text is not None and told:
            verdict = "they are believed" if trust.is_proved else "so they do not count yet"
            right = f"right {trust.hits:,} of {told:,} times that they said so"
            yield f"{_SOURCES[source]} of {known.site} told of changes and were {right}: {verdict}."


def _failures_told(known: HistoryEntry) -> str:
    dropped = drop_reason(state_of(known))
    if dropped is not None:
        return f"It is visited no more: {dropped.removeprefix('dropped: ')}."
    last = "without a page" if known.status is None else f"answered with {known.status}"
    visits = "visit was" if known.failures == 1 else f"{known.failures:,} visits were"
    return f"The last {visits} {last}."
