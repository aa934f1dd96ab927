"""A report of a simulation as one HTML file that needs nothing else: tables, and curves over time as inline SVG.

Owns: how outcomes look in a browser. Must not know: how they come about. Start reading at `curves_report`. Every text
goes through `escape`; numbers are formatted, never copied.
"""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from honeyguide.adapters.output.write import replacing
from honeyguide.report.html import HEADINGS, opening

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from honeyguide.simulation.measures import Outcome


# Told apart by colour and by dash: neither alone is enough for everybody.
_COLOURS = ("#a86400", "#2f6db5", "#3f8f4f", "#a23b72", "#6b5bb0", "#777777", "#bbbbbb")
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 4", "12 4", "4 4")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 720, 260, 44, 26
_STYLE = """
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { text-align: right; padding: .25rem .5rem; border-top: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } thead th { border-top: 0; color: var(--soft); font-weight: 600; }
tr.reference td { color: var(--soft); } svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--soft); font-size: 11px; } .key { display: inline-block; margin-right: 1rem; white-space: nowrap; }
.key svg { display: inline-block; width: 2rem; height: .7rem; } .wide { overflow-x: auto; }
"""
# The words of the columns, in lines for a terminal.
LEGEND = (
    "Fresh: share of pages, weighted by importance, whose copy matched the live page;",
    "Late: the same in the second half. Best: Late in percent of optimum, or of",
    "known-rates where there is no optimum. Age: how long copies were out of date, on",
    "average. Idle: percent of fetches that found nothing new. New: time until a new",
    "page is fetched. Day 1, Day 3: Fresh on that day. known-rates: knows how often",
    "each page changes. optimum: the best fixed rates in the long run; short runs,",
    "which begin with fresh copies, and pages that change in bursts can pass it.",
    "all-knowing: knows every change; no policy passes it.",
)
_HEAD = (
    "Policy",
    "Fresh",
    "Late",
    "Best",
    "Bound",
    "Age",
    "Idle",
    "New",
    "Day 1",
    "Day 3",
    "Fetches",
)


def write_curves(outcomes: Sequence[Outcome], path: Path) -> None:
    """Write the report to a file; an older one stays until this one is whole."""
    with replacing(path) as part:
        part.write_text(curves_report(outcomes), "utf-8")


def curves_report(outcomes: Sequence[Outcome]) -> str:
    """Write the report: for each world and budget a chart and a table."""
    groups = groupby(outcomes, lambda item: (item.world, item.budget))
    parts = "".join(_section(world, budget, list(group)) for (world, budget), group in groups)
    about = "Freshness: the share of pages, weighted by importance, whose stored copy matches the live page."
    top = opening("Honeyguide: what recrawl policies are worth", HEADINGS["simulate"], about, _STYLE)
    return f"""{top}{parts}<p><small>{escape(" ".join(LEGEND))} Bound: Late in percent of all-knowing. What
is no policy is grey. Written by Honeyguide.</small></p>
</body>
</html>
"""


def _section(world: str, budget: str, outcomes: list[Outcome]) -> str:
    rows = "".join(map(_row, outcomes))
    head = "".join(f"<th>{escape(name)}</th>" for name in _HEAD)
    return f"""<h2>{escape(world)}, budget {escape(budget)}</h2>
<div class="box">{_chart(outcomes)}
<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{_hosts(outcomes)}</div>
"""


def _row(outcome: Outcome) -> str:
    cells = (
        _number(outcome.freshness),
        _number(outcome.late),
        _percent(outcome.of_best),
        _percent(outcome.of_all_knowing),
        _hours(outcome.mean_age_h),
        _percent(outcome.nothing_share),
        _hours(outcome.discovery_h),
        _number(outcome.days[0] if outcome.days else None),
        _number(outcome.days[2] if len(outcome.days) > 2 else None),
        "–" if outcome.fetches is None else f"{outcome.fetches:,}",
    )
    kind = ' class="reference"' if outcome.is_reference else ""
    return (
        f"<tr{kind}><td>{escape(outcome.policy)}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>\n"
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _hours(value: float | None) -> str:
    return "–" if value is None else f"{value:,.1f} h"


# --- curves -------------------------------------------------------------------------------------------------------


def _chart(outcomes: list[Outcome]) -> str:
    """Draw the freshness over time of everything that has a course."""
    drawn = [outcome for outcome in outcomes if outcome.curve]
    lines = "".join(_line(number, outcome) for number, outcome in enumerate(drawn))
    keys = "".join(_key(number, outcome) for number, outcome in enumerate(drawn))
    names = ", ".join(escape(outcome.policy) for outcome in drawn)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="freshness over time: {names}">'
        f"{_grid()}{lines}</svg>\n<p>{keys}</p>"
    )


def _grid() -> str:
    parts = []
    for step in range(5):
        y = _y(step / 4)
        parts.append(
            f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH}" y2="{y:.1f}" stroke="currentColor" opacity="0.15"/>'
        )
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{step / 4:g}</text>')
    parts.append(f'<text x="{_LEFT}" y="{_HEIGHT - 6}">start</text>')
    parts.append(f'<text x="{_WIDTH}" y="{_HEIGHT - 6}" text-anchor="end">end</text>')
    return "".join(parts)


def _y(share: float) -> float:
    return 8 + (1.0 - share) * (_HEIGHT - _BOTTOM - 8)


def _line(number: int, outcome: Outcome) -> str:
    return f'<polyline points="{" ".join(_points(outcome.curve))}" {_look(number)}/>'


def _points(curve: Sequence[float]) -> Iterable[str]:
    step = (_WIDTH - _LEFT) / max(len(curve), 1)
    for place, share in enumerate(curve):
        yield f"{_LEFT + step * (place + 0.5):.1f},{_y(min(max(share, 0.0), 1.0)):.1f}"


def _look(number: int) -> str:
    place = number % len(_COLOURS)
    return f'fill="none" stroke="{_COLOURS[place]}" stroke-width="2" stroke-dasharray="{_DASHES[place]}"'


def _key(number: int, outcome: Outcome) -> str:
    line = f'<line x1="0" y1="5" x2="32" y2="5" {_look(number)}/>'
    return f'<span class="key"><svg viewBox="0 0 32 10" aria-hidden="true">{line}</svg> {escape(outcome.policy)}</span>'


# --- hosts --------------------------------------------------------------------------------------------------------


def _hosts(outcomes: list[Outcome], most: int = 20) -> str:
    """Write how many fetches the largest hosts had, by policy."""
    listed = [outcome for outcome in outcomes if len(outcome.hosts) > 1]
    if not listed:
        return ""
    largest = sorted(listed[0].hosts, key=lambda item: (-item[1], item[0]))[:most]
    head = "".join(f"<th>{escape(outcome.policy)}</th>" for outcome in listed)
    counts = [dict(outcome.hosts) for outcome in listed]
    rows = "".join(
        f"<tr><td>{escape(host)}</td>{''.join(f'<td>{count[host]:,}</td>' for count in counts)}</tr>\n"
        for host, _ in largest
    )
    return (
        f'<details class="more"><summary>Fetches of each host</summary><div class="wide"><table><thead><tr><th>Host</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></details>"
    )
