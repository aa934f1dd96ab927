"""Crawl: runs, pages with search, filter, sort and paging, the site as a tree, why of any URL, and a run while it works.

Must not know: SQL, how pages are judged. Nothing here starts a crawl or changes a store. Start reading at `runs`.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Any

from honeyguide.app.explain import explain_url
from honeyguide.app.runs import list_runs
from honeyguide.app.views.stores import (
    DRAWN,
    FILTERS,
    SORTS,
    PageQuery,
    StoreBrowser,
    read_learnt,
    read_summary,
)
from honeyguide.errors import InputError
from honeyguide.report import html
from honeyguide.report.crawl import CrawlReportData, crawl_sheet
from honeyguide.report.sheet import CountList, Line, clean, counted, figure, noun
from honeyguide.studio.picks import number_of
from honeyguide.studio.shell import (
    View,
    chart,
    choice,
    curve_points,
    linked,
    meter,
    outward,
    paging,
    table,
    text,
    url_of,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aiohttp import web

    from honeyguide.core.records import Record
    from honeyguide.studio.shell import Sources

LIMIT = 50  # pages of one view
EVERY_S = 1.0  # between two events of a live run
SLOW = 5  # events between two looks at queue, rejected URLs and lessons
BINS = 8  # of worth
RECENT = 2_000  # pages of the curve
_MOST = 10**9


async def runs(sources: Sources, _request: web.Request) -> View:
    """List the runs of the store."""
    found = await asyncio.to_thread(list_runs, sources.the_store())
    cells = [
        (
            linked("/crawl/pages", f"Run {run['run']}", run=run["run"]),
            escape(clean(run["command"], 200)),
            text(run["topic"]),
            f"{run['fetched']:,}",
            escape(clean(run["updated_at"], 40)),
            text(run["stopped"]) or "at work, or killed",
        )
        for run in reversed(found)
    ]
    head = ("Run", "Command", "Topic", "Pages", "Last worked on", "Stopped")
    return View(
        "Crawl", found, _why_form() + table(noun(len(found), "run"), head, cells, is_filtered=True), "Crawl"
    )


def _tabs(run: int, here: str) -> str:
    names = {"pages": "Pages", "summary": "Summary", "tree": "Tree", "live": "Live"}
    links = (
        f'<a href="{escape(url_of(f"/crawl/{path}", run=run))}"{" aria-current=page" if path == here else ""}>{name}</a>'
        for path, name in names.items()
    )
    return f'<nav class="tabs" aria-label="Run {run}">{"".join(links)}</nav>'


def _why_form(url: str = "", run: int | None = None) -> str:
    hidden = f'<input type="hidden" name="run" value="{run}">' if run else ""
    return (
        f'<form action="/why" class="row"><label>Why of a URL or path <input name="url" type="search" value="{escape(url)}" required></label>'
        f"{hidden}<button>Ask</button></form>"
    )


async def pages(sources: Sources, request: web.Request) -> View:
    """List some pages of a run."""
    run, offset = number_of(request, "run", _MOST), number_of(request, "offset", _MOST)
    asked = request.query
    search, chosen, sort = (
        asked.get("search", "")[:200],
        asked.get("filter", "all"),
        asked.get("sort", "newest"),
    )
    if chosen not in FILTERS or sort not in SORTS:
        raise InputError(f"filter is one of {', '.join(FILTERS)}; sort is one of {', '.join(SORTS)}")
    query = PageQuery(run, search, chosen, sort, offset, LIMIT)
    found = await asyncio.to_thread(StoreBrowser(sources.the_store()).pages, query)
    form = (
        f'<form class="row"><input type="hidden" name="run" value="{run}">'
        f'<label>Search URLs and titles <input type="search" name="search" value="{escape(search)}"></label>'
        f"{choice('filter', 'Show', FILTERS, chosen)}{choice('sort', 'Order', SORTS, sort)}<button>Show</button></form>"
    )
    cells = [_page_cells(record, run) for record in found]
    head = ("Page", "Title", "Score", "Relevance", "Status", "Links", "Why")
    more = paging("/crawl/pages", offset, LIMIT, len(found), run=run, search=search, filter=chosen, sort=sort)
    body = (
        _tabs(run, "pages")
        + form
        + table(f"Pages {offset + 1:,} to {offset + len(found):,}", head, cells)
        + more
    )
    return View(f"Run {run}: pages", found, body, "Crawl")


def _page_cells(record: Record, run: int) -> tuple[str, ...]:
    relevance = figure(record.get("topic_relevance"))
    return (
        outward(record.get("url")),
        text(record.get("title")),
        text(record.get("relevance_score")),
        "" if relevance is None else meter(relevance, str(relevance)),
        text(str(record.get("status") or "no answer")),
        text(record.get("action")),
        linked("/why", "Why?", url=clean(record.get("url"), 2_000), run=run),
    )


async def why(sources: Sources, request: web.Request) -> View:
    """Explain a URL: the record of `explain`, its sentences, and its visits as a time line."""
    url = request.query.get("url", "")[:4_000].strip()
    run = number_of(request, "run", _MOST) or None
    if not url:
        return View("Why?", {}, _why_form(), "Crawl")
    record = await asyncio.to_thread(explain_url, sources.the_store(), url, run, lambda _note: None)
    first, *rest = record["sentences"]
    said = "".join(
        f'<p class="in{min(2, (len(one) - len(one.lstrip())) // 2)}">{escape(clean(one, 600))}</p>'
        for one in rest
    )
    body = f'{_why_form(url, run)}<div class="box" dir="auto"><p><b>{outward(first)}</b></p>{said}</div>{_time_line(record)}'
    return View(f"Why {clean(first, 80)}", record, body, "Crawl")


def _time_line(record: Record) -> str:
    """Draw the visits of a page as a line of points; those without a page are hollow."""
    visits = record["visits"][-200:]
    if not visits:
        return ""
    step = 700 / max(1, len(visits) - 1) if len(visits) > 1 else 0
    points = "".join(
        f'<circle cx="{10 + n * step:.1f}" cy="20" r="6" class="{"seen" if visit["status"] and visit["status"] < 400 else "lost"}">'
        f"<title>{escape(visit['at'])}: {visit['status'] or 'no page'}</title></circle>"
        for n, visit in enumerate(visits)
    )
    cells = [
        (
            escape(one["at"]),
            text(str(one["status"] or "no page")),
            linked("/crawl/pages", f"Run {one['run']}", run=one["run"]),
        )
        for one in reversed(visits)
    ]
    said = noun(len(visits), "visit")
    return (
        f'<h2>Visits</h2><svg viewBox="0 0 720 40" role="img" aria-label="{said} in order">'
        f'<line x1="10" x2="710" y1="20" y2="20" stroke="currentColor" opacity="0.3"/>{points}</svg>'
        + table(said, ("When", "Answer", "Run"), cells)
    )


async def summary(sources: Sources, request: web.Request) -> View:
    """Show the report of a run."""
    run = number_of(request, "run", _MOST)
    found = await asyncio.to_thread(read_summary, sources.the_store(), run)
    counts, listed = found.counts, found.pages
    stopped = str(found.run["stopped"] or "not yet")
    data = CrawlReportData(found.run, stopped, counts, listed, (), found.rejected, found.words)
    sheet = await asyncio.to_thread(crawl_sheet, data)
    few = f"<p>The figures of pages are those of the first {len(listed):,}.</p>"
    note = few if counts.fetched > len(listed) else ""
    said = "".join(f"<li>{escape(clean(one, 300))}</li>" for one in found.learnt)
    learnt = f'<h2>What was learnt</h2><div class="box"><ul class="plain">{said}</ul></div>' if said else ""
    twin = {
        "run": found.run,
        "states": dict(counts.states),
        "lanes": dict(counts.lanes),
        "rejected": dict(counts.out),
        "fetched": counts.fetched,
        "learnt": found.learnt,
    }
    body = f"{_tabs(run, 'summary')}{note}{html.inner(sheet)}{learnt}"
    return View(f"Run {run}: summary", twin, body, "Crawl")


async def tree(sources: Sources, request: web.Request) -> View:
    """Show a site as a tree, one level at a time, with pages, harvest and queue of each branch."""
    run, prefix = number_of(request, "run", _MOST), request.query.get("below", "")[:2_000]
    browser, counts_all = StoreBrowser(sources.the_store()), "all" in request.query
    found, is_exact = await asyncio.to_thread(browser.branches, run, prefix, is_exact=counts_all)
    parts = prefix.split("/")
    trail = " / ".join(
        [linked("/crawl/tree", "All sites", run=run)]
        + [
            linked("/crawl/tree", part, run=run, below="/".join(parts[: n + 1]) + "/")
            for n, part in enumerate(parts)
            if part
        ]
    )
    cells = [
        (
            linked(
                "/crawl/tree",
                one.name,
                run=run,
                below=one.prefix if one.prefix.endswith("/") else f"{one.prefix}/",
            )
            if one.prefix and (not prefix or one.name.endswith("/"))
            else linked("/why", one.name, url=f"https://{one.prefix}", run=run)
            if one.prefix
            else escape(one.name),
            f"{one.urls:,}",
            f"{one.fetched:,}",
            meter(one.relevant / one.fetched, f"{one.relevant / one.fetched:.0%}") if one.fetched else "",
            f"{one.queued:,}",
            f"{one.rejected:,}",
        )
        for one in found
    ]
    head = ("Branch", "URLs", "Fetched", "Relevant", "Queued", "Rejected")
    every = linked("/crawl/tree", "Count all of them", run=run, below=prefix, all=1)
    about = f'<p class="soft">The run is large: figures are estimates from {DRAWN:,} URLs. {every}, which takes seconds.</p>'
    body = f"{_tabs(run, 'tree')}<p>{trail}</p>{'' if is_exact else about}{table('Branches', head, cells, is_filtered=True)}"
    return View(f"Run {run}: tree", [one._asdict() for one in found], body, "Crawl")


# --- a run that is being worked on ---


async def live(sources: Sources, request: web.Request) -> View:
    """Show a run while somebody works on it; events keep the figures up to date."""
    run = number_of(request, "run", _MOST)
    now = await asyncio.to_thread(StoreBrowser(sources.the_store()).live, run)
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
        '<polyline data-live="curve" points=""/>',
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
        f'{_tabs(run, "live")}<div data-events="{escape(url_of("/crawl/live/events", run=run))}"><p role="status" data-live="state">Connecting…</p>'
        f'<div class="cards">{cards}</div><h2>Harvest: relevant pages among those fetched</h2>{curve}<div class="pair">{boxes}</div></div>'
    )
    return View(f"Run {run}: live", now._asdict(), body, "Crawl")


def _panels(path: str, run: int) -> dict[str, str]:
    """Draw what changes slowly: queue, rejected, learnt, resting hosts."""
    now, (learnt, words) = StoreBrowser(path).standing(run), read_learnt(path, run)
    said = "".join(f"<li>{escape(clean(one, 300))}</li>" for one in learnt)
    rests = "".join(
        f"<li>{escape(clean(host, 200))} <small>until {time.strftime('%H:%M:%S', time.gmtime(until))} UTC</small></li>"
        for host, until in now.resting
    )
    rejected = html.part(counted("", now.rejected, words))
    return {
        "queue": _bins(now.worths, now.share) or _nothing("Nothing waits."),
        "rejected": rejected or _nothing("Nothing was rejected."),
        "learnt": f'<ul class="plain">{said}</ul>' if said else _nothing("Nothing yet."),
        "hosts": f'<ul class="plain">{rests}</ul>' if rests else _nothing("None."),
    }


def _nothing(words: str) -> str:
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
    browser, run = StoreBrowser(sources.the_store()), number_of(request, "run", _MOST)
    recent: list[bool] = []
    start = await asyncio.to_thread(browser.live, run)
    after = max(0, (start.fetched if start else 0) - RECENT)
    before, since, turn = start.fetched if start else 0, time.monotonic(), 0
    while (now := await asyncio.to_thread(browser.live, run)) is not None:
        new = await asyncio.to_thread(browser.visits, run, after)
        after = new[-1][0] if new else after
        recent = [*recent, *(found for _, found in new)][-RECENT:]
        passed, since = time.monotonic() - since, time.monotonic()
        rate, before = (now.fetched - before) / passed if passed > 0.1 else 0.0, now.fetched
        last = recent[-200:]
        slow = (
            await asyncio.to_thread(_panels, sources.the_store(), run)
            if turn % SLOW == 0 or now.stopped
            else {}
        )
        turn += 1
        yield {
            "html": slow,
            "state": f"Stopped: {now.stopped}" if now.stopped else "Somebody works on it, or was killed",
            "fetched": f"{now.fetched:,}",
            "rate": f"{rate:.1f}",
            "harvest": f"{sum(last) / len(last):.0%}" if last else "–",
            "known": f"{now.known:,}",
            "leased": f"{now.leased:,}",
            "resting": f"{now.resting:,}",
            "curve": _curve(recent),
            "done": now.stopped is not None,
        }
        if now.stopped is not None:
            return
        await asyncio.sleep(EVERY_S)


def _curve(found: list[bool]) -> str:
    """Write the points of the harvest, in at most 72 steps."""
    size = max(10, -(-len(found) // 72))
    groups = [found[n : n + size] for n in range(0, len(found), size)]
    return curve_points(((n + 0.5) / len(groups), sum(one) / len(one)) for n, one in enumerate(groups))
