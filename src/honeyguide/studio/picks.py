"""Pick: the sites of a picks file or of kept pages; for each its picks with reasons, and every candidate with the rule that rejected it.

Must not know: how pages are chosen. Start reading at `sites`.
"""

from __future__ import annotations

import asyncio
import json
from html import escape
from typing import TYPE_CHECKING, Any

from honeyguide.app.tools.results import read
from honeyguide.app.views.ways import ways_in
from honeyguide.errors import InputError
from honeyguide.report import html
from honeyguide.report.pick import PickReport
from honeyguide.report.sheet import clean, figure, noun, objects
from honeyguide.studio.shell import View, linked, outward, table, text, url_of

if TYPE_CHECKING:
    from aiohttp import web

    from honeyguide.app.views.ways import Way
    from honeyguide.app.views.what_if import WhatIf
    from honeyguide.core.records import Record
    from honeyguide.studio.shell import Sources

MAX_SITES = 5_000  # in one list
MAX_FOUND = 200  # links
_NEVER = (
    "same-page",
    "other-site",
    "extension",
    "homepage",
    "duplicate",
    "replaced",
)  # no rule of a profile lets these in
_NEEDED = (
    "site",
    "status",
    "reason",
    "title",
    "selected",
    "candidates",
    "skipped",
    "homepage",
    "replaced",
    "requests",
    "elapsed_s",
)


async def home(sources: Sources, _request: web.Request) -> View:
    """Say what can be looked at, and how to get what is missing."""
    kept = sources.what_if and noun(len(sources.what_if.sites), "kept site")
    rows = [
        (
            "Pick",
            "/pick",
            sources.picks or kept,
            "Which pages of each site were chosen, and why not the others.",
            "honeyguide pick SITE -o picks.jsonl",
        ),
        (
            "What if",
            "/what-if",
            kept,
            "Change a rule, and see at once which picks change.",
            "honeyguide pick SITE --keep kept.db",
        ),
        (
            "Crawl",
            "/crawl",
            sources.store,
            "Runs and their pages, the site as a tree, a crawl at work.",
            "honeyguide crawl URL --topic WORDS",
        ),
        (
            "Plan",
            "/plan",
            sources.store,
            "What is due for another visit, and how fresh copies are.",
            "honeyguide crawl URL --topic WORDS",
        ),
    ]
    cards = "".join(
        f'<li class="box"><h2>{linked(path, name) if has else escape(name)}</h2><p>{escape(about)}</p><p class="end"><small>'
        + (
            escape(clean(str(has)))
            if has
            else f"Nothing is open; make it with <code>{escape(command)}</code>"
        )
        + "</small></p></li>"
        for name, path, has, about, command in rows
    )
    data = {name: has for name, _, has, _, _ in rows}
    return View("Honeyguide studio", data, f'{find_form(sources)}<ul class="ways">{cards}</ul>')


def find_form(sources: Sources, search: str = "") -> str:
    """Write the form that asks for a page of any site, if there are picks."""
    if sources.picks is None and sources.what_if is None:
        return ""
    return (
        '<form action="/pick/find" class="row find"><label>Why was a page picked, or not? <input type="search" name="search" '
        f'placeholder="part of its address or link text" value="{escape(search)}" required></label><button>Find</button></form>'
    )


async def find(sources: Sources, request: web.Request) -> View:
    """List the links of all sites whose address or text has the words, with what became of each."""
    search = request.query.get("search", "")[:200]
    words = search.lower().split()
    found = [
        (place, row, page)
        for place, row in enumerate(await records(sources))
        for page in objects(row, "candidates")
        if words
        and all(
            word in f"{page.get('url')} {page.get('anchor_text') or ''} {row['site']}".lower()
            for word in words
        )
    ]
    cells = [
        (
            outward(page.get("url")),
            text(page.get("anchor_text")),
            linked("/pick/site", str(row["site"]), n=place),
            _outcome(row, page, place, sources),
        )
        for place, row, page in found[:MAX_FOUND]
    ]
    more = f"<p>and {len(found) - MAX_FOUND:,} more; search for less</p>" if len(found) > MAX_FOUND else ""
    none = ""
    if not found:
        ask = f" {linked('/why', 'Ask the crawl', url=search)}." if sources.store else ""
        none = f"<p>No homepage links such a page, so it was never a candidate: check the address, or look at the site.{ask}</p>"
    listed = (
        table(noun(len(found), "link"), ("Page", "Link text", "Site", "What became of it"), cells)
        if found
        else none
    )
    data = [{"site": row["site"], **page} for _, row, page in found[:MAX_FOUND]]
    return View("Find a page", data, f"{find_form(sources, search)}{listed}{more}", "Pick")


async def ways(sources: Sources, request: web.Request) -> View:
    """Show how to get a page in: single changes of rules with which it is picked."""
    trial, rows = sources.the_trial(), await records(sources)
    place, url = number_of(request, "n", len(rows) - 1), request.query.get("url", "")[:4_000]
    site_name = str(rows[place]["site"])
    found = await ways_in(trial, site_name, url)
    page = next((one for one in objects(rows[place], "candidates") if one.get("url") == url), {})
    items = "".join(_way(way) for way in found)
    there = linked("/what-if", "What if")
    none = f"<p>No single number or word gets it in. Look at the rule that rejected it, and change the profile as text in {there}.</p>"
    if await _is_in(trial, site_name, url):
        none = f"<p>Your unsaved changes in {there} already get it in. Save them there, or undo them.</p>"
    back = linked("/pick/site", f"← {site_name}", n=place)
    fate = _outcome(rows[place], page, place, sources, asks=False)
    body = (
        f'<p class="paging">{back}</p><div class="box"><p><b>{outward(url)}</b> {text(page.get("anchor_text"))}</p><p>{fate}</p></div>'
        f"<h2>What would get it in</h2>{_intro(len(found))}"
        + (f'<ul class="ways">{items}</ul>' if items else none)
    )
    return View("How to get a page in", [way._asdict() for way in found], body, "Pick")


async def _is_in(trial: WhatIf, site_name: str, url: str) -> bool:
    return any(one["url"] == url for one in (await trial.record(site_name))["selected"])


def _intro(count: int) -> str:
    return (
        f'<p class="soft">{noun(count, "change")} that {"was" if count == 1 else "were"} tried on the kept pages of this site, on top of what is changed in What if, and worked.</p>'
        if count
        else ""
    )


def _way(way: Way) -> str:
    went = [one["url"] for one in way.others if one["change"] == "left"]
    came = [one["url"] for one in way.others if one["change"] == "entered"]
    lists = [
        f"{word} {', '.join(map(outward, urls))}"
        for word, urls in (("Out goes", went), ("In comes also", came))
        if urls
    ]
    said = f"{'. '.join(lists)}." if lists else "No other pick of this site comes or goes."
    value = escape(json.dumps(way.value))
    return (
        f'<li class="box"><h3>{escape(way.words[:1].upper() + way.words[1:])}</h3><p><small>{said}</small></p>'
        f'<p class="end"><button type="button" data-try="{escape(way.key)}" data-value="{value}">Preview in What if</button></p></li>'
    )


async def records(sources: Sources) -> list[Record]:
    """Give the records of the picks file, or those of the kept pages."""
    if sources.rows is None and sources.picks is not None:
        path = sources.picks
        sources.rows = await asyncio.to_thread(lambda: [_smaller(record) for record in read(path)])
    elif sources.rows is None:
        trial = sources.the_trial()
        sources.rows = [_smaller(await trial.record_before(site)) for site in trial.sites[:MAX_SITES]]
    return sources.rows


def _smaller(record: Record) -> Record:
    if "site" not in record:
        raise InputError(
            "is no file of picks: a record has no site; give what honeyguide pick -o has written"
        )
    return {name: record.get(name) for name in _NEEDED}


async def sites(sources: Sources, _request: web.Request) -> View:
    """List the sites."""
    rows = await records(sources)
    cells = [
        (
            linked("/pick/site", str(row["site"]), n=place),
            text(row["status"]),
            str(len(list(objects(row, "selected")))),
            str(len(list(objects(row, "candidates")))),
            ", ".join(escape(clean(page.get("bucket"), 40)) for page in objects(row, "selected")),
            text(row["reason"] or row["title"]),
        )
        for place, row in enumerate(rows[:MAX_SITES])
    ]
    head = ("Site", "Status", "Picks", "Links", "Kinds", "Title, or what is wrong")
    more = f"<p>and {len(rows) - MAX_SITES:,} more sites</p>" if len(rows) > MAX_SITES else ""
    body = find_form(sources) + table(noun(len(rows), "site"), head, cells, is_filtered=True) + more
    return View("Pick", rows, body, "Pick")


async def site(sources: Sources, request: web.Request) -> View:
    """Show one site: picks, candidates, rules; the keys n and p go to its neighbours."""
    rows = await records(sources)
    place = number_of(request, "n", len(rows) - 1)
    row = rows[place]
    section = PickReport().add(row, detailed=True)
    neighbours = {"prev": place - 1, "next": place + 1}
    links = {rel: url_of("/pick/site", n=n) for rel, n in neighbours.items() if 0 <= n < len(rows)}
    ways = " ".join(
        linked(
            "/pick/site",
            f"{'←' if rel == 'prev' else ''} {clean(rows[n]['site'])} {'→' if rel == 'next' else ''}".strip(),
            n=n,
        )
        for rel, n in neighbours.items()
        if rel in links
    )
    body = f'<p class="paging">{linked("/pick", "All sites")} {ways}</p>{html.section(section)}{_candidates(row, sources)}'
    return View(section.name, row, body, "Pick", links)


def _candidates(row: Record, sources: Sources) -> str:
    """List every link of the homepage with its fate; where rules can be tried, also buttons for labels."""
    place = (sources.rows or []).index(row)
    known = sources.what_if.labels.get(str(row["site"]), {}) if sources.what_if else {}
    cells = []
    for page in objects(row, "candidates"):
        fate = _outcome(row, page, place, sources)
        names = [text(page.get(name)) for name in ("anchor_text", "bucket", "score")]
        labels = [label_buttons(str(row["site"]), str(page.get("url")), known)] if sources.what_if else []
        cells.append((outward(page.get("url")), *names, fate, *labels))
    head = (
        "Page",
        "Link text",
        "Kind",
        "Score",
        "What became of it",
        *(["Label"] if sources.what_if else []),
    )
    listed = table(f"{noun(len(cells), 'link')} of the homepage", head, cells, is_filtered=True)
    return f"<h2>All links, and what became of them</h2>{listed}"


def _outcome(row: Record, page: Record, place: int, sources: Sources, *, asks: bool = True) -> str:
    """Say that a page was picked, or why not, how far it is from the last pick, and where to ask what would get it in."""
    selected = list(objects(row, "selected"))
    if page.get("url") in {one.get("url") for one in selected}:
        return '<span class="badge good">picked</span>'
    rejected, score = page.get("rejected"), figure(page.get("score"))
    if not isinstance(rejected, dict):
        return "not taken"
    last = min((one for page in selected if (one := figure(page.get("score"))) is not None), default=None)
    far = (
        ""
        if score is None or last is None
        else f" <small>It has {score} points, the last pick {last}.</small>"
    )
    can_ask = asks and sources.what_if is not None and rejected.get("rule") not in _NEVER
    ask = (
        linked("/pick/ways", "How to get it in", n=place, url=clean(page.get("url"), 4_000))
        if can_ask
        else ""
    )
    return f'<span class="badge bad">not picked</span> {text(rejected.get("reason"))} <small>(rule {text(rejected.get("rule"))})</small>{far} {ask}'


def label_buttons(site_name: str, url: str, known: Any) -> str:
    """Write the buttons that say what a page is."""
    words = {"core": "wanted", "acceptable": "fine", "junk": "junk"}
    return (
        '<span class="labels" role="group" aria-label="Label">'
        + "".join(
            f'<button type="button" data-label="{label}" data-site="{escape(site_name)}" data-url="{escape(url)}" '
            f'aria-pressed="{"true" if known.get(url) == label else "false"}">{word}</button>'
            for label, word in words.items()
        )
        + "</span>"
    )


def number_of(request: web.Request, name: str, most: int, default: int = 0) -> int:
    """Read a number of the address."""
    given = request.query.get(name, str(default))
    if not given.isdigit() or len(given) > 12 or int(given) > most:
        raise InputError(f"{name} should be a number from 0 to {max(most, 0):,}")
    return int(given)
