"""Pick: the sites of a picks file or of kept pages; for each its picks with reasons, and every candidate with the rule that rejected it.

Must not know: how pages are chosen. Start reading at `sites`.
"""

from __future__ import annotations

import asyncio
import json
from html import escape
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from honeyguide.app.tools.results import read
from honeyguide.app.views.ways_in import ways_in
from honeyguide.errors import InputError
from honeyguide.report import html
from honeyguide.report.pick import PickReport
from honeyguide.report.sheet import clean, figure, noun, objects, read_row
from honeyguide.studio.saving import label_bar, label_buttons
from honeyguide.studio.shell import NAME, View, badge, linked, nothing, outward, table, text, url_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiohttp import web

    from honeyguide.app.views.ways_in import Way
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
_NO_LINKS = "has no links of homepages; give JSON lines or Parquet that honeyguide pick wrote"
_NO_PICKS = "this view needs --picks FILE, records of honeyguide pick, or --keep FILE; start the studio with one of them"
_READ_ONCE = (".parquet", ".pq")
_PICKED = {"site", "selected", "candidates"}
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
        f'<li class="box{"" if has else " is-off"}"><h2>{linked(path, name) if has else escape(name)}</h2><p>{escape(about)}</p><p class="foot"><small>'
        + (
            f'<span class="dot"></span> {escape(clean(str(has)))}'
            if has
            else f"Nothing is open. Make it with <code>{escape(command)}</code>"
        )
        + "</small></p></li>"
        for name, path, has, about, command in rows
    )
    data = {name: has for name, _, has, _, _ in rows}
    lead = '<p class="lead">Look at what was picked, crawled and planned, ask why, and try other rules.</p>'
    return View(
        NAME,
        data,
        f'{lead}{find_form(sources, is_large=True)}<ul class="ways home">{cards}</ul>',
    )


def find_form(sources: Sources, search: str = "", *, is_large: bool = False) -> str:
    """Write the form that asks for a page of any site, if there are picks."""
    if sources.picks is None and sources.what_if is None:
        return ""
    return (
        f'<form action="/pick/find" class="row find{" large" if is_large else ""}"><label><span>Why was a page picked, or not?</span> <input type="search" '
        f'name="search" placeholder="Part of its address or link text" value="{escape(search)}" required></label>'
        '<button class="primary">Find it</button></form>'
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
        none = f'<div class="empty"><p>No homepage links such a page, so it was never a candidate: check the address, or look at the site.{ask}</p></div>'
    listed = (
        table(noun(len(found), "link"), ("Page", "Link text", "Site", "What became of it"), cells)
        if found
        else none
    )
    data = [{"site": row["site"], **page} for _, row, page in found[:MAX_FOUND]]
    trail = linked("/pick", "All sites")
    return View("Find a page", data, f"{find_form(sources, search)}{listed}{more}", "Pick", trail=trail)


async def ways(sources: Sources, request: web.Request) -> View:
    """Show how to get a page in: single changes of rules with which it is picked."""
    what_if, rows = sources.require_what_if(), await records(sources)
    place, url = number_of(request, "n", len(rows) - 1), request.query.get("url", "")[:4_000]
    site_name = str(rows[place]["site"])
    found = await ways_in(what_if, site_name, url)
    page = next((one for one in objects(rows[place], "candidates") if one.get("url") == url), {})
    items = "".join(_way(way, rows[place]["homepage"]) for way in found)
    there = linked("/what-if", "What if")
    none = f'<div class="empty"><p>No single change gets it in. First remove what rejected it in {there}, and come back: changes are tried on top of yours.</p></div>'
    if await _is_in(what_if, site_name, url):
        none = f'<div class="empty"><p>Your unsaved changes in {there} already get it in. Save them there, or undo them.</p></div>'
    fate = _outcome(rows[place], page, place, sources, asks=False)
    body = (
        f'<div class="box"><p><b>{outward(url)}</b> {text(page.get("anchor_text"))}</p><p>{fate}</p></div>'
        f"<h2>What would get it in</h2>{_intro(len(found))}"
        + (f'<ul class="ways">{items}</ul>' if items else none)
    )
    trail = f"{linked('/pick', 'All sites')}{linked('/pick/site', site_name, n=place)}"
    return View("How to get a page in", [way._asdict() for way in found], body, "Pick", trail=trail)


async def _is_in(what_if: WhatIf, site_name: str, url: str) -> bool:
    return any(one["url"] == url for one in (await what_if.record(site_name))["selected"])


def _intro(count: int) -> str:
    return (
        f'<p class="soft">{noun(count, "change")} that {"was" if count == 1 else "were"} tried on the kept pages of this site, on top of what is changed in What if, and worked.</p>'
        if count
        else ""
    )


def _way(way: Way, home: str | None) -> str:
    went = [one["url"] for one in way.others if one["change"] == "left"]
    came = [one["url"] for one in way.others if one["change"] == "entered"]
    lists = [
        f"<li>{badge(word, style)} {outward(one, home)}</li>"
        for word, style, urls in (("− goes out", "bad", went), ("+ comes also", "good", came))
        for one in urls
    ]
    said = (
        f'<ul class="bare">{"".join(lists)}</ul>'
        if lists
        else "<p>No other pick of this site comes or goes.</p>"
    )
    value = escape(json.dumps(way.value))
    return (
        f'<li class="box"><h3>{escape(way.words[:1].upper() + way.words[1:])}</h3>{said}'
        f'<p class="foot"><button type="button" class="primary" data-try="{escape(way.key)}" data-value="{value}">Preview in What if</button></p></li>'
    )


async def records(sources: Sources) -> list[Record]:
    """Give the records of the picks file, or those of the kept pages."""
    if sources.rows is None and sources.picks is not None:
        path = sources.picks
        sources.rows = await asyncio.to_thread(lambda: [_smaller(record, path) for record in _read(path)])
    elif sources.rows is None:
        if sources.what_if is None:
            raise InputError(_NO_PICKS)
        what_if = sources.what_if
        sources.rows = [_smaller(await what_if.record_before(site)) for site in what_if.sites[:MAX_SITES]]
    return sources.rows


def check_picks(path: str) -> None:
    """Refuse a file that has no picks with their links; a pipe and Parquet, which are read only once, when they are looked at."""
    if Path(path).is_dir():
        raise InputError("is a folder; give the file that pick wrote", file=path)
    if path.lower().endswith(_READ_ONCE) or not Path(path).is_file():
        return
    for record in islice(_read(path), 1):
        _smaller(record, path)


def _read(path: str) -> Iterator[Record]:
    if path.lower().endswith((".csv", ".xlsx")):  # without the links, it would seem that a site has none
        raise InputError(_NO_LINKS, file=path)
    return read(path)


def _smaller(record: Record, path: str = "") -> Record:
    if not record.keys() >= _PICKED:
        raise InputError(_NO_LINKS, file=path)
    return {name: record.get(name) for name in _NEEDED}


async def sites(sources: Sources, _request: web.Request) -> View:
    """List the sites."""
    rows = await records(sources)
    cells = [
        (
            linked("/pick/site", str(row["site"]), n=place),
            _status(row),
            str(len(list(objects(row, "selected")))),
            str(len(list(objects(row, "candidates")))),
            " ".join(badge(clean(page.get("bucket"), 40) or "other") for page in objects(row, "selected")),
            text(row["reason"] or row["title"]),
        )
        for place, row in enumerate(rows[:MAX_SITES])
    ]
    head = ("Site", "Status", "Picks", "Links", "Kinds of the picks", "Title, or what is wrong")
    more = f"<p>and {len(rows) - MAX_SITES:,} more sites</p>" if len(rows) > MAX_SITES else ""
    lead = '<p class="lead">The pages that were picked from each site. Open a site to see why, and why not the others.</p>'
    listed = table(noun(len(rows), "site"), head, cells, is_filtered=True, empty="The file has no site.")
    return View("Pick", rows, f"{lead}{find_form(sources)}{listed}{more}", "Pick")


def _status(row: Record) -> str:
    status = clean(row["status"], 40) or "?"
    return badge(status.replace("_", " "), {"ok": "good", "partial": "some"}.get(status, "bad"))


async def site(sources: Sources, request: web.Request) -> View:
    """Show one site: picks, candidates, rules; the keys n and p go to its neighbours."""
    rows = await records(sources)
    place = number_of(request, "n", len(rows) - 1)
    row = rows[place]
    section = PickReport().add(row, detailed=False)
    neighbours = {"prev": place - 1, "next": place + 1}
    links = {rel: url_of("/pick/site", n=n) for rel, n in neighbours.items() if 0 <= n < len(rows)}
    ways = "".join(
        f'<a class="{rel}" href="{escape(href)}">{"Previous site" if rel == "prev" else "Next site"}</a>'
        for rel, href in links.items()
    )
    trail = f"{linked('/pick', 'All sites')}<span>{place + 1:,} of {len(rows):,}</span>{ways}"
    reason = f"<p>{escape(section.reason)}</p>" if section.reason else ""
    home = outward(row["homepage"]) if row["homepage"] else "No homepage was reached."
    lead = f'<p class="lead">{home} {_status(row)} <span class="soft">{escape(section.numbers)}</span></p>{reason}'
    parts = "".join(
        f'<h2>{"Picks" if part.heading == "Selected" else escape(part.heading)}</h2><div class="box">{html.part(part)}</div>'
        for part in section.parts
    )
    body = f"{lead}{_untried(sources)}{parts or nothing('No page of this site was picked.')}{_candidates(row, sources)}"
    return View(section.title or section.name, row, body, "Pick", links, trail)


def _untried(sources: Sources) -> str:
    """Say that the picks shown are those of the file, if What if has changes."""
    what_if = sources.what_if
    if what_if is None or what_if.text == what_if.unchanged:
        return ""
    there = linked("/what-if", "What if")
    return f'<p class="box">These picks are without your changes in {there}, which shows what they would change.</p>'


def _candidates(row: Record, sources: Sources) -> str:
    """List every link of the homepage with its fate; where rules can be tried, also buttons for labels."""
    place = (sources.rows or []).index(row)
    known = sources.what_if.labels.get(str(row["site"]), {}) if sources.what_if else {}
    cells = []
    for page in objects(row, "candidates"):
        fate = _outcome(row, page, place, sources)
        names = [text(page.get("anchor_text")), text(page.get("bucket")), _score(page)]
        labels = [label_buttons(str(row["site"]), str(page.get("url")), known)] if sources.what_if else []
        cells.append((outward(page.get("url"), row["homepage"]), *names, fate, *labels))
    head = (
        "Page",
        "Link text",
        "Kind",
        "Score",
        "What became of it",
        *(["Label"] if sources.what_if else []),
    )
    listed = table(
        f"{noun(len(cells), 'link')} of the homepage",
        head,
        cells,
        is_filtered=True,
        empty="The homepage has no link that could be picked.",
    )
    bar = label_bar(sources) if sources.what_if else ""
    return f"<h2>All links, and what became of them</h2>{bar}{listed}"


def _score(page: Record) -> str:
    """Write a score that opens to the points that made it."""
    row = read_row(page)
    if row.score is None or not row.points:
        return text(page.get("score"))
    chips = "".join(f"<span><b>{escape(paid)}</b> {escape(words)}</span>" for paid, words in row.points)
    return f'<details class="sum"><summary>{row.score}</summary><div class="points">{chips}</div></details>'


def _outcome(row: Record, page: Record, place: int, sources: Sources, *, asks: bool = True) -> str:
    """Say that a page was picked, or why not, how far it is from the last pick, and where to ask what would get it in."""
    selected = list(objects(row, "selected"))
    if page.get("url") in {one.get("url") for one in selected}:
        return badge("picked", "good")
    rejected, score = page.get("rejected"), figure(page.get("score"))
    if not isinstance(rejected, dict):
        return "not taken"
    last = min((one for page in selected if (one := figure(page.get("score"))) is not None), default=None)
    far = (
        ""
        if score is None or last is None
        else f" <small>It has {score} points, the last pick has {last}.</small>"
    )
    can_ask = asks and sources.what_if is not None and rejected.get("rule") not in _NEVER
    href = url_of("/pick/ways", n=place, url=clean(page.get("url"), 4_000))
    ask = f'<a class="act" href="{escape(href)}">How to get it in</a>' if can_ask else ""
    return f"{badge('not picked')} {text(rejected.get('reason'))} <small>(rule {text(rejected.get('rule'))})</small>{far} {ask}"


def number_of(request: web.Request, name: str, most: int, default: int = 0) -> int:
    """Read a number of the address."""
    given = request.query.get(name, str(default))
    if not given.isdigit() or len(given) > 12 or int(given) > most:
        raise InputError(f"{name} should be a number from 0 to {max(most, 0):,}")
    return int(given)
