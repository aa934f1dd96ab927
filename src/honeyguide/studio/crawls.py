"""Crawl: runs, pages with search, filter, sort and paging, the site as a tree, and why of any URL.

Must not know: SQL, how pages are judged. Nothing here starts a crawl or changes a store. Start reading at `runs`.
"""

from __future__ import annotations

import asyncio
import re
from html import escape
from typing import TYPE_CHECKING, Any

from honeyguide.app.explain import explain_url
from honeyguide.app.runs import list_runs
from honeyguide.app.views.stores import (
    DRAWN,
    FILTERS,
    SORTS,
    PageQuery,
    list_branches,
    list_pages,
    read_summary,
)
from honeyguide.app.views.words import is_word
from honeyguide.errors import InputError
from honeyguide.report import html
from honeyguide.report.crawl import CrawlReportData, crawl_sheet
from honeyguide.report.sheet import clean, figure, noun
from honeyguide.studio.picks import number_of
from honeyguide.studio.shell import (
    View,
    badge,
    choice,
    linked,
    meter,
    outward,
    paging,
    table,
    text,
    url_of,
)

if TYPE_CHECKING:
    from aiohttp import web

    from honeyguide.core.records import Record
    from honeyguide.studio.shell import Sources

LIMIT = 50  # pages of one view
MAX_RUN = 10**9
_NO_PAGE = "No page of this run is like that. Search for less, or show all."
_POINTS = re.compile(r"[-+−]\d")
_VERDICT = re.compile(
    r"It (is queued|is being fetched|needed no fetch|was fetched as|was requested as|was not fetched)"
)


async def runs(sources: Sources, _request: web.Request) -> View:
    """List the runs of the store."""
    found = await asyncio.to_thread(list_runs, sources.require_store())
    cells = [
        (
            linked("/crawl/pages", f"Run {run['run']}", run=run["run"]),
            escape(clean(run["command"], 200)),
            text(run["topic"]),
            f"{run['fetched']:,}",
            escape(clean(run["updated_at"], 40)),
            badge(clean(run["stopped"], 40)) if run["stopped"] else badge("at work, or killed", "some"),
        )
        for run in reversed(found)
    ]
    head = ("Run", "Command", "Topic", "Pages", "Last worked on", "Stopped")
    lead = '<p class="lead">The crawls of this store. Open a run for its pages, its site as a tree, and what it is doing now.</p>'
    listed = table(noun(len(found), "run"), head, cells, is_filtered=True, empty="The store has no run yet.")
    return View("Crawl", found, f"{lead}{_why_form()}{listed}", "Crawl")


def run_tabs(run: int, here: str) -> str:
    """Write the links between the views of a run."""
    names = {"pages": "Pages", "summary": "Summary", "tree": "Tree", "live": "Live"}
    links = (
        f'<a href="{escape(url_of(f"/crawl/{path}", run=run))}"{" aria-current=page" if path == here else ""}>{name}</a>'
        for path, name in names.items()
    )
    return f'<nav class="tabs" aria-label="Run {run}">{"".join(links)}</nav>'


def _why_form(url: str = "", run: int | None = None) -> str:
    hidden = f'<input type="hidden" name="run" value="{run}">' if run else ""
    return (
        f'<form action="/why" class="row find"><label><span>Why was a page fetched, or not?</span> <input name="url" type="search" value="{escape(url)}" '
        f'placeholder="https://…, /about, or a word" required></label>{hidden}<button class="primary">Ask why</button></form>'
    )


def run_trail(run: int | None) -> str:
    """Write the way back to all runs, and to the run of a page."""
    return linked("/crawl", "All runs") + (linked("/crawl/pages", f"Run {run}", run=run) if run else "")


async def pages(sources: Sources, request: web.Request) -> View:
    """List some pages of a run."""
    run, offset = number_of(request, "run", MAX_RUN), number_of(request, "offset", MAX_RUN)
    asked = request.query
    search, chosen, sort = (
        asked.get("search", "")[:200],
        asked.get("filter", "all"),
        asked.get("sort", "newest"),
    )
    if chosen not in FILTERS or sort not in SORTS:
        raise InputError(f"filter is one of {', '.join(FILTERS)}; sort is one of {', '.join(SORTS)}")
    query = PageQuery(run, search, chosen, sort, offset, LIMIT, is_exact="all" in asked)
    found, is_exact = await asyncio.to_thread(list_pages, sources.require_store(), query)
    form = (
        f'<form class="row"><input type="hidden" name="run" value="{run}">'
        f'<label class="wide-field"><span>Search URLs and titles</span> <input type="search" name="search" value="{escape(search)}"></label>'
        f'{choice("filter", "Show", FILTERS, chosen)}{choice("sort", "Order", SORTS, sort)}<button class="primary">Show</button></form>'
    )
    cells = [_page_cells(record, run) for record in found]
    head = ("Page", "Title", "Score", "Relevance", "Status", "Links", "Why")
    shown = {"run": run, "search": search, "filter": chosen, "sort": sort}
    more = paging(
        "/crawl/pages", offset, LIMIT, len(found), **shown, **({"all": 1} if query.is_exact else {})
    )
    every = linked("/crawl/pages", "Look at all of them", **shown, all=1)
    about = f'<p class="soft">The run is large: these are from its newest {DRAWN:,} pages. {every}, which takes seconds.</p>'
    body = (
        run_tabs(run, "pages")
        + form
        + ("" if is_exact else about)
        + table(f"Pages {offset + 1:,} to {offset + len(found):,}", head, cells, empty=_NO_PAGE)
        + more
    )
    return View(f"Run {run}: pages", found, body, "Crawl", trail=run_trail(None))


def _branch_link(name: str, prefix: str, run: int, *, is_site: bool) -> str:
    """Link a branch of the tree to what is below it, and a page to why it is there."""
    if not prefix:
        return escape(name)
    if is_site or name.endswith("/"):
        return linked("/crawl/tree", name, run=run, below=f"{prefix.removesuffix('/')}/")
    return linked("/why", name, url=f"https://{prefix}", run=run)


def _page_cells(record: Record, run: int) -> tuple[str, ...]:
    relevance = figure(record.get("topic_relevance"))
    return (
        outward(record.get("url")),
        text(record.get("title")),
        text(record.get("relevance_score")),
        "" if relevance is None else meter(relevance, str(relevance)),
        _answer(record.get("status")),
        text(record.get("action")),
        linked("/why", "Why?", url=clean(record.get("url"), 2_000), run=run),
    )


def _answer(status: Any) -> str:
    is_page = isinstance(status, int) and status < 400
    return text(str(status)) if is_page else badge(str(status or "no answer"), "bad")


async def why(sources: Sources, request: web.Request) -> View:
    """Explain a URL: the record of `explain`, its sentences, and its visits as a time line."""
    url = request.query.get("url", "")[:4_000].strip()
    run = number_of(request, "run", MAX_RUN) or None
    if not url:
        return View("Why?", {}, _why_form(), "Crawl", trail=run_trail(run))
    if is_word(url):
        return await _pages_named(sources, url, run)
    record = await asyncio.to_thread(explain_url, sources.require_store(), url, run, lambda _note: None)
    first, *rest = record["sentences"]
    verdict = next((escape(clean(one, 600)) for one in rest if _VERDICT.match(one)), "")
    lead = f'<p class="lead">{outward(first)}<br><b>{verdict}</b></p>'
    body = f"{lead}{_why_form(url, run)}{_steps(rest)}{_time_line(record)}"
    return View("Why?", record, body, "Crawl", trail=run_trail(run))


async def _pages_named(sources: Sources, word: str, run: int | None) -> View:
    """List the pages whose URL or title has a word, because a word alone is no address."""
    if run is None:
        run = max(
            (known["run"] for known in await asyncio.to_thread(list_runs, sources.require_store())), default=0
        )
    query = PageQuery(run, word[:200], "all", "newest", 0, LIMIT, is_exact=False)
    found, _ = await asyncio.to_thread(list_pages, sources.require_store(), query)
    lead = f'<p class="lead">A word is no address. These pages of run {run} have “{escape(clean(word, 200))}” in URL or title: ask why of one of them.</p>'
    head = ("Page", "Title", "Score", "Relevance", "Status", "Links", "Why")
    cells = [_page_cells(record, run) for record in found]
    listed = table(
        noun(len(found), "page"), head, cells, empty="No fetched page has it. Give the path, such as /about."
    )
    return View("Why?", found, f"{lead}{_why_form(word, run)}{listed}", "Crawl", trail=run_trail(run))


def _steps(sentences: list[str]) -> str:
    """Write the sentences of an explanation as steps; what is indented below a step belongs to it, and points become chips."""
    steps: list[tuple[str, list[str], list[str]]] = []  # a sentence, lines below it, chips below them
    for one in sentences:
        said = escape(clean(one, 600))
        if not one.startswith(" ") or not steps:
            steps.append((said, [], []))
        elif _POINTS.match(said):
            paid, _, words = said.partition(" ")
            steps[-1][2].append(f"<span><b>{paid}</b> {words}</span>")
        elif one.startswith("    "):
            steps[-1][2].append(f"<span>{said}</span>")
        elif steps[-1][2]:  # below a step, after its points: a step of its own, one level down
            steps.append((f"<small>{said}</small>", [], []))
        else:
            steps[-1][1].append(f"<p><small>{said}</small></p>")
    items = "".join(
        f"<li{' class=sub' if said.startswith('<') else ''}><p>{said}</p>{''.join(lines)}{f'<div class=points>{chr(32).join(chips)}</div>' if chips else ''}</li>"
        for said, lines, chips in steps
    )
    return f'<ol class="box steps" dir="auto">{items}</ol>'


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
            _answer(one["status"]),
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
    run = number_of(request, "run", MAX_RUN)
    found = await asyncio.to_thread(
        read_summary, sources.require_store(), run, is_exact="all" in request.query
    )
    counts, listed = found.counts, found.pages
    stopped = str(found.run["stopped"] or "not yet")
    data = CrawlReportData(found.run, stopped, counts, listed, (), found.rejected, found.words)
    sheet = await asyncio.to_thread(crawl_sheet, data)
    few = f"<p>The figures of pages are those of the first {len(listed):,}.</p>"
    every = linked("/crawl/summary", "Count all of them", run=run, all=1)
    about = f'<p class="soft">The run is large: counts of URLs are estimates from {DRAWN:,} of them. {every}, which takes seconds.</p>'
    note = (few if counts.fetched > len(listed) else "") + ("" if found.is_exact else about)
    said = "".join(f"<li>{escape(clean(one, 300))}</li>" for one in found.learnt)
    learnt = f'<h2>What was learnt</h2><div class="box"><ul class="plain">{said}</ul></div>' if said else ""
    record = {
        "run": found.run,
        "states": dict(counts.states),
        "lanes": dict(counts.lanes),
        "rejected": dict(counts.out),
        "fetched": counts.fetched,
        "learnt": found.learnt,
    }
    body = f"{run_tabs(run, 'summary')}{note}{html.inner(sheet)}{learnt}"
    return View(f"Run {run}: summary", record, body, "Crawl", trail=run_trail(None))


async def tree(sources: Sources, request: web.Request) -> View:
    """Show a site as a tree, one level at a time, with pages, relevant pages and queue of each branch."""
    run, prefix = number_of(request, "run", MAX_RUN), request.query.get("below", "")[:2_000]
    found, is_exact = await asyncio.to_thread(
        list_branches, sources.require_store(), run, prefix, is_exact="all" in request.query
    )
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
            _branch_link(one.name, one.prefix, run, is_site=not prefix),
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
    body = f"{run_tabs(run, 'tree')}<p>{trail}</p>{'' if is_exact else about}{table('Branches', head, cells, is_filtered=True)}"
    return View(f"Run {run}: tree", [one._asdict() for one in found], body, "Crawl", trail=run_trail(None))
