"""Pick: the sites of a picks file or of kept pages; for each its picks with reasons, and every candidate with the rule that rejected it.

Must not know: how pages are chosen. Start reading at `sites`.
"""

from __future__ import annotations

import asyncio
from html import escape
from typing import TYPE_CHECKING, Any

from honeyguide.app.tools.results import read
from honeyguide.errors import InputError
from honeyguide.report import html
from honeyguide.report.pick import PickReport
from honeyguide.report.sheet import clean, figure, noun, objects
from honeyguide.studio.shell import View, linked, outward, table, text, url_of

if TYPE_CHECKING:
    from aiohttp import web

    from honeyguide.core.records import Record
    from honeyguide.studio.shell import Sources

MAX_SITES = 5_000  # in one list
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
    rows = [
        (
            "Pick",
            "/pick",
            sources.picks or ("kept pages" if sources.what_if else None),
            "honeyguide pick SITE -o picks.jsonl",
        ),
        (
            "What if",
            "/what-if",
            sources.what_if and noun(len(sources.what_if.sites), "site"),
            "honeyguide pick SITE --keep kept.db",
        ),
        ("Crawl", "/crawl", sources.store, "honeyguide crawl URL --topic WORDS"),
        ("Plan", "/plan", sources.store, "honeyguide crawl URL --topic WORDS"),
    ]
    about = {
        "Pick": "Which pages were chosen of each site, and why not the others.",
        "What if": "Change a rule, and see which picks change.",
        "Crawl": "Runs, pages, the site as a tree, why of any URL, live.",
        "Plan": "What is due for another visit, and why.",
    }
    cells = [
        (
            linked(path, name) if has else escape(name),
            escape(about[name]),
            escape(clean(str(has)))
            if has
            else f"Nothing is open; make it with <code>{escape(command)}</code>",
        )
        for name, path, has, command in rows
    ]
    data = {name: has for name, _, has, _ in rows}
    return View(
        "Honeyguide studio", data, table("What there is to look at", ("View", "Shows", "Source"), cells)
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
    body = table(noun(len(rows), "site"), head, cells, is_filtered=True) + more
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
    scores = [score for page in objects(row, "selected") if (score := figure(page.get("score"))) is not None]
    chosen = {page.get("url") for page in objects(row, "selected")}
    known = sources.what_if.labels.get(str(row["site"]), {}) if sources.what_if else {}
    cells = []
    for page in objects(row, "candidates"):
        fate = "<b>picked</b>" if page.get("url") in chosen else _fate(page, min(scores, default=None))
        names = [text(page.get(name)) for name in ("anchor_text", "bucket", "score")]
        labels = [label_buttons(str(row["site"]), str(page.get("url")), known)] if sources.what_if else []
        cells.append((outward(page.get("url")), *names, fate, *labels))
    head = ("Page", "Link text", "Kind", "Score", "Fate", *(["Label"] if sources.what_if else []))
    ways = (
        f"<p>To get a page in, or out: {linked('/what-if', 'try other rules')}.</p>"
        if sources.what_if
        else ""
    )
    listed = table(f"{noun(len(cells), 'link')} of the homepage", head, cells, is_filtered=True)
    return f"<h2>All candidates</h2>{ways}{listed}"


def _fate(page: Record, last: float | None) -> str:
    """Say why a page was not picked, and how far it is from the last pick."""
    rejected, score = page.get("rejected"), figure(page.get("score"))
    if not isinstance(rejected, dict):
        return "not taken"
    far = (
        ""
        if score is None or last is None
        else f" <small>It has {score} points, the last pick {last}.</small>"
    )
    return f"rejected: <b>{text(rejected.get('rule'))}</b> {text(rejected.get('reason'))}{far}"


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
