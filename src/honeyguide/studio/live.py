"""Live: a run while a process works on it; events keep the figures, the curve and the panels up to date.

Must not know: SQL, how pages are judged. Nothing here changes a store. Start reading at `live`.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Any

from honeyguide.app.views.stores import list_visits, read_learnt, read_live, read_standing
from honeyguide.errors import InputError
from honeyguide.report import html
from honeyguide.report.sheet import CountList, Line, clean, counted
from honeyguide.studio.crawls import MAX_RUN, run_tabs, run_trail
from honeyguide.studio.picks import number_of
from honeyguide.studio.shell import View, chart, curve_points, url_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aiohttp import web

    from honeyguide.studio.shell import Sources

EVERY_S = 1.0  # between two events of a live run
SLOW = 5  # events between two looks at queue, rejected URLs and lessons
BINS = 8  # of worth
RECENT = 2_000  # pages of the curve
QUIET_S = 30.0  # without news, after which a run may have been killed


async def live(sources: Sources, request: web.Request) -> View:
    """Show a run while somebody works on it; events keep the figures up to date."""
    run = number_of(request, "run", MAX_RUN)
    now = await asyncio.to_thread(read_live, sources.require_store(), run)
    if now is None:
        raise InputError(f"there is no run {run}")
    names = {
        "fetched": "pages fetched",
        "rate": "pages a second",
        "harvest": "of the last 200 relevant",
        "known": "URLs met",
        "leased": "being fetched",
        "resting": "hosts that rest",
    }
    cards = "".join(
        f'<div class="card"><b data-live="{name}">–</b> <small>{words}</small></div>'
        for name, words in names.items()
    )
    curve = chart(
        "Share of relevant pages, the newest at the right",
        ("first", "newest"),
        '<polygon data-live="area" points=""/><polyline data-live="curve" points=""/>',
    )
    panels = {
        "queue": "Queue, by worth",
        "rejected": "Rejected, by rule",
        "learnt": "What was learnt",
        "hosts": "Hosts that rest",
    }
    boxes = "".join(
        f'<section><h2>{words}</h2><div class="box" data-live-html="{name}"><p class="soft">Waiting for the run…</p></div></section>'
        for name, words in panels.items()
    )
    body = (
        f'{run_tabs(run, "live")}<div data-events="{escape(url_of("/crawl/live/events", run=run))}"><p class="state" role="status"><span class="dot" data-live-dot></span>'
        f'<span data-live="state">Connecting…</span></p><div class="cards">{cards}</div><h2>Relevant pages among those fetched</h2>'
        f'<div class="box">{curve}</div><div class="pair">{boxes}</div></div>'
    )
    return View(f"Run {run}: live", now._asdict(), body, "Crawl", trail=run_trail(None))


def _panels(path: str, run: int) -> dict[str, str]:
    """Draw what changes slowly: queue, rejected, learnt, resting hosts."""
    now, (learnt, words) = read_standing(path, run), read_learnt(path, run)
    said = "".join(f"<li>{escape(clean(one, 300))}</li>" for one in learnt)
    rests = "".join(
        f"<li>{escape(clean(host, 200))} <small>until {time.strftime('%H:%M:%S', time.gmtime(until))} UTC</small></li>"
        for host, until in now.resting
    )
    rejected = html.part(counted("", now.rejected, words))
    return {
        "queue": _bins(now.worths, now.share) or _soft("Nothing waits."),
        "rejected": rejected or _soft("Nothing was rejected."),
        "learnt": f'<ul class="plain">{said}</ul>' if said else _soft("Nothing yet."),
        "hosts": f'<ul class="plain">{rests}</ul>' if rests else _soft("None."),
    }


def _soft(words: str) -> str:
    return f'<p class="soft">{words}</p>'


def _bins(worths: list[float], share: float) -> str:
    """Count queued URLs by worth, the best first, in at most eight steps."""
    if not worths:
        return ""
    least, most = min(worths), max(worths)
    width = (most - least) / BINS or 1.0
    counts = Counter(min(BINS - 1, int((worth - least) / width)) for worth in worths)
    lines = [
        Line(f"{least + n * width:.3g} to {min(most, least + (n + 1) * width):.3g}", round(counts[n] / share))
        for n in reversed(range(BINS))
        if counts[n] or most > least
    ]
    return html.part(CountList("", tuple(lines)))


async def live_events(sources: Sources, request: web.Request) -> AsyncIterator[Any]:
    """Give the figures of a run, again and again; a stopped run gives them once more and ends."""
    store, run = sources.require_store(), number_of(request, "run", MAX_RUN)
    recent: list[bool] = []
    start = await asyncio.to_thread(read_live, store, run)
    after = max(0, (start.fetched if start else 0) - RECENT)
    before, since, turn = start.fetched if start else 0, time.monotonic(), 0
    while (now := await asyncio.to_thread(read_live, store, run)) is not None:
        new = await asyncio.to_thread(list_visits, store, run, after)
        after = new[-1][0] if new else after
        recent = [*recent, *(found for _, found in new)][-RECENT:]
        passed, since = time.monotonic() - since, time.monotonic()
        rate, before = (now.fetched - before) / passed if passed > 0.1 else 0.0, now.fetched
        last = recent[-200:]
        slow = (
            await asyncio.to_thread(_panels, sources.require_store(), run)
            if turn % SLOW == 0 or now.stopped
            else {}
        )
        turn += 1
        yield {
            "html": slow,
            "state": (state := _state(now.stopped, time.time() - now.updated_at))[1],
            "dot": state[0],
            "fetched": f"{now.fetched:,}",
            "rate": f"{rate:.1f}",
            "harvest": f"{sum(last) / len(last):.0%}" if last else "–",
            "known": f"{now.known:,}",
            "leased": f"{now.leased:,}",
            "resting": f"{now.resting:,}",
            "curve": (curve := _curve(recent)),
            "area": _area(curve),
            "done": now.stopped is not None,
        }
        if now.stopped is not None:
            return
        await asyncio.sleep(EVERY_S)


def _area(curve: str) -> str:
    """Close a curve to the area below it."""
    if not curve:
        return ""
    first, *_, last = [point.partition(",")[0] for point in (curve.split() * 2)]
    return f"{first},1000 {curve} {last},1000"


def _state(stopped: str | None, quiet_s: float) -> tuple[str, str]:
    """Say whether somebody works on a run: the colour of its dot, and a sentence."""
    if stopped:
        return "", f"Stopped: {stopped}"
    if quiet_s <= QUIET_S:
        return "live", "At work"
    return "some", f"No news for {quiet_s / 60:,.0f} min: it waits, or was killed" if quiet_s >= 60 else (
        f"No news for {quiet_s:.0f} s: it waits, or was killed"
    )


def _curve(found: list[bool]) -> str:
    """Write the points of the harvest, in at most 72 steps."""
    size = max(10, -(-len(found) // 72))
    groups = [found[n : n + size] for n in range(0, len(found), size)]
    return curve_points(((n + 0.5) / len(groups), sum(one) / len(one)) for n, one in enumerate(groups))
