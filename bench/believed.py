"""How many visits a store needs to believe in a fast page, or that one fell asleep, and how long one change by chance is remembered.

    python -m bench.believed

Owns: three tables. Visits go through `core.recrawl.visits.next_known`, as those of a store do, with the priors of a new store.
"""

from __future__ import annotations

from honeyguide.core.recrawl.history import HistoryEntry, Visit
from honeyguide.core.recrawl.visits import current_rate, next_known

HOUR_S, DAY_H = 3600.0, 24.0
GAPS = {"daily": 24.0, "every six hours": 6.0, "hourly": 1.0, "every ten minutes": 1 / 6}
NEAR = 2.0  # times the gap: believed
ASLEEP_H = 240.0
MOST = 5000


def visited(known: HistoryEntry | None, hour: float, content: int) -> HistoryEntry:
    """Visit a page that says `content`."""
    visit = Visit("https://a.example/page", 1, hour * HOUR_S, 200, f"2-{content}", body=content)
    return next_known(known, visit)


def visits_until_believed(gap_h: float) -> int:
    """Count the visits after the first, each of which finds a change, until the interval is believed."""
    known = visited(None, 0.0, 0)
    for number in range(1, MOST):
        known = visited(known, gap_h * number, number)
        if current_rate(known).mean_interval_h <= NEAR * gap_h:
            return number
    return MOST


def visits_until_asleep(daily_changes: int) -> int:
    """Count the unchanged daily visits, after so many that found a change, until a change in ten days is believed."""
    known = visited(None, 0.0, 0)
    for day in range(1, daily_changes + MOST):
        known = visited(known, DAY_H * day, min(day, daily_changes))
        if day > daily_changes and current_rate(known).mean_interval_h >= ASLEEP_H:
            return day - daily_changes
    return MOST


def interval_after_chance(gap_h: float, quiet_months: int) -> float:
    """Return the days between changes that are believed of a page whose second visit found a change, and no later one."""
    known = visited(visited(None, 0.0, 0), gap_h, 1)
    for month in range(1, quiet_months + 1):
        known = visited(known, gap_h + month * 30.0 * DAY_H, 1)
    return current_rate(known).mean_interval_h / DAY_H


def main() -> None:
    """Print the tables."""
    print("| a page that changes at every visit, visited | visits until believed |\n|---|---|")
    for name, gap_h in GAPS.items():
        print(f"| {name} | {visits_until_believed(gap_h)} |")
    print("\n| daily visits that found a change | unchanged ones until ten days are believed |\n|---|---|")
    for count in (10, 30, 100, 365):
        print(f"| {count} | {visits_until_asleep(count)} |")
    print(
        "\n| one change, then unchanged visits a month apart: believed to change every … days | 0 | 1 | 2 | 3 | 4 |"
    )
    print("|---|---|---|---|---|---|")
    for name, gap_h in {"ten minutes": 1 / 6, "a day": 24.0, "a month": 720.0}.items():
        days = [f"{interval_after_chance(gap_h, months):.0f}" for months in range(5)]
        print(f"| the change came within {name} |", " | ".join(days), "|")


if __name__ == "__main__":
    main()
