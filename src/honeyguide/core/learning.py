"""Learning: what one visit teaches of a page's change rate, of its age, and of a hub's new links.

Owns: which update belongs to which visit. Must not know: the formulas (`core.rate`), stores, the clock.
Start reading at `after_visit`.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.core.rate import Rate, changed, changes, timed, unchanged


class Seen(NamedTuple):
    """What a visit found: exposure since the last one, by the page's clock.

    `quiet_h` is the exposure since the last change, where its time is known and the host is honest. `was_announced`: a
    signal, and not the plan, led to the visit.
    """

    exposure_h: float
    is_changed: bool
    quiet_h: float | None = None
    was_announced: bool = False


def after_visit(rate: Rate, seen: Seen) -> Rate:
    """Learn from a visit.

    A visit that an announcement led to saw a single change, at its end: taken as any other it would inflate the rate.
    Of the time of the last change, what follows it was quiet; what came before it is not known.

    >>> after_visit(Rate(0.5, 100.0), Seen(50.0, is_changed=False))
    Rate(a=0.5, b=150.0)
    >>> after_visit(Rate(0.5, 100.0), Seen(50.0, is_changed=True, quiet_h=20.0))
    Rate(a=1.5, b=120.0)
    """
    if not seen.is_changed:
        return unchanged(rate, seen.exposure_h)
    if seen.was_announced:
        return timed(rate, seen.exposure_h)
    if seen.quiet_h is not None:
        return timed(rate, min(seen.quiet_h, seen.exposure_h))
    return changed(rate, seen.exposure_h)


def changes_of(rate: Rate, seen: Seen) -> float:
    """Count the changes since the last visit by expectation, with what was believed before this one.

    Of one whose time is known, it is known that nothing followed, and not what came before.

    >>> changes_of(Rate(2.0, 10.0), Seen(90.0, is_changed=True, quiet_h=80.0))
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
