"""Plan: what is due for another visit and why, from the store; the history of one page is at its why.

Must not know: how visits are valued. Start reading at `due`.
"""

from __future__ import annotations

import asyncio
from html import escape
from typing import TYPE_CHECKING

from honeyguide.app.plan import plan_record, plan_store
from honeyguide.report import html
from honeyguide.report.plan import PlanReportData, plan_sheet
from honeyguide.report.sheet import clean
from honeyguide.studio.shell import View, linked, table, text

if TYPE_CHECKING:
    from aiohttp import web

    from honeyguide.studio.shell import Sources

TOP = 500  # URLs of a plan that are listed


async def due(sources: Sources, _request: web.Request) -> View:
    """Show the plan of the store: the best first, each with its reasons."""
    plan = await asyncio.to_thread(plan_store, sources.the_store(), top=TOP)
    found = [plan_record(entry) for entry in plan.entries]
    cells = [
        (
            str(one["rank"]),
            linked("/why", one["url"], url=clean(one["url"], 2_000)),
            text(one["score"]),
            text(one["level"]),
            escape(clean(one["next_due"], 40)) or "never",
            "; ".join(escape(clean(reason)) for reason in one["reasons"][:6]),
        )
        for one in found
    ]
    data = PlanReportData(
        (), [one["url"] for one in found], {name: (count, "") for name, count in plan.levels.items()}, ()
    )
    head = ("#", "Page", "Worth", "Level", "Due", "Why")
    listed = table(f"The {len(found):,} best visits", head, cells, is_filtered=True)
    return View("Plan", found, f"{listed}{html.inner(plan_sheet(data))}", "Plan")
