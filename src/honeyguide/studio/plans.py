"""Plan: what is due for another visit and why, how often pages change, and how fresh visits keep them; from the store.

Must not know: how visits are valued. Start reading at `due`; the history of one page is at its why.
"""

from __future__ import annotations

import asyncio
import math
from html import escape
from typing import TYPE_CHECKING

from honeyguide.app.plan import plan_record
from honeyguide.app.views.stores import EVERY_DAYS, MAX_RANKED, read_plan
from honeyguide.report import html
from honeyguide.report.plan import PlanReportData, plan_sheet
from honeyguide.report.sheet import CountList, Line, clean, noun
from honeyguide.studio.shell import View, badge, chart, curve_points, linked, table, text

if TYPE_CHECKING:
    from aiohttp import web

    from honeyguide.app.views.stores import Freshness, PlanView
    from honeyguide.studio.shell import Sources

TOP = 500  # URLs of a plan that are listed


async def due(sources: Sources, request: web.Request) -> View:
    """Show the plan of the store: the best first, each with its reasons."""
    seen = await asyncio.to_thread(read_plan, sources.require_store(), TOP, is_exact="all" in request.query)
    plan, fresh = seen.plan, seen.fresh
    found = [plan_record(entry) for entry in plan.entries]
    cells = [
        (
            str(one["rank"]),
            linked("/why", one["url"], url=clean(one["url"], 2_000)),
            text(one["score"]),
            badge(clean(one["level"], 40), "good" if "high" in str(one["level"]) else ""),
            escape(clean(one["next_due"], 16).replace("T", " ").rstrip("…")) or "never",
            "; ".join(escape(clean(reason)) for reason in one["reasons"][:6]),
        )
        for one in found
    ]
    data = PlanReportData(
        (), [one["url"] for one in found], {name: (count, "") for name, count in plan.levels.items()}, ()
    )
    head = ("#", "Page", "Worth", "Level", "Due (UTC)", "Why")
    none = "No page was fetched yet, so nothing is due: crawl first."
    listed = table(f"The {len(found):,} best visits", head, cells, is_filtered=True, empty=none)
    lead = '<p class="lead">What is due for another visit and why, and how fresh copies stay.</p>'
    body = f"{lead}{_about(seen)}{_fresh(fresh, sum(plan.levels.values()))}<h2>What to visit next</h2>{listed}{html.inner(plan_sheet(data))}"
    return View("Plan", found, body, "Plan")


def _about(seen: PlanView) -> str:
    """Say that only a part of a large store was ranked."""
    if seen.urls is None:
        return ""
    every = linked("/plan", "Rank all of them", all=1)
    return (
        f'<p class="soft">The store is large: these are the best of {MAX_RANKED:,} of its {seen.urls:,} URLs, drawn at random, and counts are '
        f"estimates. {every}, which takes a while.</p>"
    )


def _fresh(fresh: Freshness, pages: int) -> str:
    """Draw how often pages change, and freshness against the budget."""
    if not fresh.pages:
        return ""
    lines = tuple(Line(name, count) for name, count in fresh.intervals.items())
    rates = html.part(CountList("", lines))
    of = f"{noun(fresh.pages, 'page')} that {'was' if fresh.pages == 1 else 'were'} visited"
    left = f'<section><h2>How often pages change</h2><div class="box">{rates}<p><small>{of}</small></p></div></section>'
    return f'<div class="pair">{left}<section><h2>Freshness against visits a day</h2><div class="box">{_curve(fresh, pages)}</div></section></div>'


def _curve(fresh: Freshness, pages: int) -> str:
    if fresh.curve is None:
        return '<p class="soft">The curve is drawn when all URLs are ranked.</p>'
    if not fresh.curve:
        return (
            '<p class="soft">The curve needs numpy: <code>pip install &quot;numpy&gt;=1.26&quot;</code>.</p>'
        )
    first, last = math.log(EVERY_DAYS[0]), math.log(EVERY_DAYS[-1])
    places = [(first - math.log(point.every_days)) / (first - last) for point in fresh.curve]
    best = curve_points(zip(places, (point.best for point in fresh.curve), strict=True))
    equal = curve_points(zip(places, (point.equal for point in fresh.curve), strict=True))
    lines = f'<polyline class="other" points="{equal}"/><polyline points="{best}"/>'
    budgets = [_a_day(pages / point.every_days) for point in (fresh.curve[0], fresh.curve[-1])]
    rows = [
        (
            _a_day(pages / point.every_days),
            f"{point.every_days:g} days",
            f"{point.best:.0%}",
            f"{point.equal:.0%}",
        )
        for point in fresh.curve
    ]
    drawn = chart("Freshness of copies, by visits a day", (f"{budgets[0]} visits a day", budgets[1]), lines)
    head = ("Visits a day", "A page every", "Fresh, by worth", "Fresh, all alike")
    return (
        f"{drawn}<p><small>The share of copies, by importance, that match the live page: the line for visits by worth, dashed for visits to "
        f'all pages alike.</small></p><details class="more"><summary>The figures</summary>{table("Freshness by budget", head, rows)}</details>'
    )


def _a_day(visits: float) -> str:
    return f"{visits:,.0f}" if visits >= 10 else f"{visits:.2g}"
