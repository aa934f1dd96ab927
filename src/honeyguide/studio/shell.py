"""The frame of every page, and the few pieces that all views are made of; every text goes through `escape`.

Owns: `View`, `Sources`, tables with links, search forms, paging. Must not know: what is shown, HTTP. Start reading at `page`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from honeyguide.errors import InputError
from honeyguide.report.html import url_text
from honeyguide.report.sheet import clean, figure, link_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from honeyguide.app.views.what_if import WhatIf
    from honeyguide.core.records import Record

NAME = "Honeyguide studio"
LOGO = (
    '<svg viewBox="0 0 16 16" aria-hidden="true"><path fill="#e9a92c" d="M8 .5l6.5 3.75v7.5L8 15.5l-6.5-3.75v-7.5z"/>'
    '<path fill="none" stroke="#5c3a00" stroke-width="1.3" d="M8 4.6l3 1.7v3.4l-3 1.7-3-1.7V6.3z"/></svg>'
)
_KEYS = (
    ("<kbd>/</kbd>", "search on this page"),
    ("<kbd>n</kbd> <kbd>p</kbd>", "next and previous site"),
    (
        "<kbd>1</kbd> <kbd>2</kbd> <kbd>3</kbd>",
        "label the page under the pointer or the focus as wanted, fine, junk",
    ),
    (
        "<kbd>g</kbd> then <kbd>p</kbd> <kbd>w</kbd> <kbd>c</kbd> <kbd>l</kbd>",
        "open Pick, What if, Crawl, Plan",
    ),
    ("<kbd>?</kbd>", "this list"),
)
SECTIONS = (("/pick", "Pick"), ("/what-if", "What if"), ("/crawl", "Crawl"), ("/plan", "Plan"))
MAX_CELL = 160  # characters
_HOST = re.compile(r"https?://[^/?#]+")
_NUMBER = re.compile(r"[-+−]?[\d.,]+ ?%?")


@dataclass(frozen=True, slots=True)
class View:
    """What a route shows: its records for the JSON twin, the HTML between heading and foot, and the way back above."""

    title: str
    data: Any
    body: str
    section: str = ""
    links: Mapping[str, str] = field(default_factory=dict)  # prev and next, for the keyboard
    trail: str = ""  # HTML above the heading: the way back


@dataclass(slots=True)
class Sources:
    """What the studio looks at; each may be missing."""

    store: str | None = None
    picks: str | None = None
    what_if: WhatIf | None = None
    rows: list[Record] | None = None  # of the picks file, read when they are first looked at
    saved: dict[str, str] = field(default_factory=dict)  # the profile and the labels as they were saved last

    def require_store(self) -> str:
        """Give the store, or say how to get one."""
        if self.store is None:
            raise InputError("this view needs --store FILE, a store of crawls; start the studio with it")
        return self.store

    def require_what_if(self) -> WhatIf:
        """Give the kept pick, or say how to get one."""
        if self.what_if is None:
            raise InputError(
                "this view needs --keep FILE, the pages of a pick; keep them with honeyguide pick … --keep FILE, and start the studio with it"
            )
        return self.what_if


def page(view: View) -> str:
    """Write the whole page."""
    items = "".join(
        f'<a href="{path}"{" aria-current=page" if view.section == name else ""}>{name}</a>'
        for path, name in SECTIONS
    )
    links = "".join(f'<link rel="{rel}" href="{escape(href)}">' for rel, href in view.links.items())
    keys = "".join(f"<div><dt>{keys}</dt><dd>{about}</dd></div>" for keys, about in _KEYS)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(view.title if view.title == NAME else f"{view.title} – {NAME}")}</title>
<link rel="stylesheet" href="/studio.css">
<link rel="icon" href="/favicon.ico">
{links}
<script src="/studio.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><a class="brand" href="/">{LOGO}<span>Honeyguide</span></a><nav aria-label="Views">{items}</nav>
<button type="button" class="quiet" data-keys aria-haspopup="dialog">Keys <kbd>?</kbd></button></header>
<main id="main" tabindex="-1">
{f'<nav class="trail" aria-label="Where you are">{view.trail}</nav>' if view.trail else ""}<h1 dir="auto">{escape(view.title)}</h1>
{view.body}
</main>
<footer><small>Stores are only read here. Profiles and labels are saved where you say.</small></footer>
<dialog id="keys" aria-labelledby="keys-title"><form method="dialog"><h2 id="keys-title">Keys</h2><dl>{keys}</dl><button class="primary">Close</button></form></dialog>
</body>
</html>
"""


def failure(lines: Sequence[str]) -> View:
    """Say what is wrong."""
    said = "".join(f"<p>{escape(line)}</p>" for line in lines)
    return View(
        "That did not work", {"error": list(lines)}, f'<div class="box problem" role="alert">{said}</div>'
    )


def url_of(path: str, **query: Any) -> str:
    """Write an address of the studio."""
    return f"{path}?{urlencode({name: value for name, value in query.items() if value not in (None, '')})}"


def linked(path: str, words: str, **query: Any) -> str:
    """Write a link to another view."""
    return f'<a href="{escape(url_of(path, **query))}">{escape(clean(words, MAX_CELL) or "?")}</a>'


def outward(url: Any, home: str | None = None) -> str:
    """Write a link to a page of the web, if it may be followed, else its text; below `home` only the path is shown."""
    link, words = link_of(url), clean(url, MAX_CELL)
    host = _HOST.match(home or "")
    shown = escape(words[host.end() :]) if host and words.startswith(f"{host[0]}/") else url_text(words)
    return (
        f'<a href="{escape(link)}" rel="noopener noreferrer nofollow" target="_blank">{shown}</a>'
        if link
        else shown
    )


def text(value: Any) -> str:
    """Write a value of a record."""
    number = figure(value)
    return escape(f"{number:,}" if number is not None else clean(value, MAX_CELL))


def badge(words: str, style: str = "") -> str:
    """Write a short state; `style` is good, some or bad."""
    return f'<span class="badge {style}">{escape(words)}</span>'


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    is_filtered: bool = False,
    empty: str = "Nothing to show.",
) -> str:
    """Write a table of cells that are HTML already; on a narrow screen its rows become cards. Without rows it says `empty`."""
    listed = list(rows)
    if not listed:
        return nothing(empty)
    styles = [' class="n"' if _are_numbers(column) else "" for column in zip(*listed, strict=True)]
    body = "".join(
        "<tr>"
        + "".join(
            f'<td{style} data-head="{escape(name)}"><div>{cell}</div></td>'
            for name, cell, style in zip(head, row, styles, strict=True)
        )
        + "</tr>"
        for row in listed
    )
    heads = "".join(
        f'<th scope="col"{style}>{escape(name)}</th>' for name, style in zip(head, styles, strict=True)
    )
    name = escape(caption)
    search = (
        f'<span class="soft" role="status" data-count="{name}"></span>'
        f'<input type="search" data-filter="{name}" aria-label="Filter {name}" placeholder="Filter" autocomplete="off">'
        if is_filtered
        else ""
    )
    return (
        f'<div class="panel"><div class="panel-head"><b>{name}</b>{search}</div>'
        f'<table class="cards-when-narrow{" sortable" if is_filtered else ""}" data-name="{name}"><caption>{name}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _are_numbers(cells: Sequence[str]) -> bool:
    shown = [cell for cell in cells if cell]
    return bool(shown) and all(_NUMBER.fullmatch(cell) for cell in shown)


def nothing(words: str, command: str = "") -> str:
    """Say that there is nothing to see, and the command that changes it."""
    code = f"<p><code>{escape(command)}</code></p>" if command else ""
    return f'<div class="empty"><p>{escape(words)}</p>{code}</div>'


def meter(share: float, words: str) -> str:
    """Write a share from 0 to 1 as a bar, with the number beside it."""
    return (
        f'<span class="share"><span class="bar"><i class="w{round(100 * min(max(share, 0.0), 1.0))}"></i></span>'
        f"<span>{escape(words)}</span></span>"
    )


def chart(label: str, ends: tuple[str, str], inner: str) -> str:
    """Draw the frame of shares from 0 to 100 %, with what both ends of the line below are, around curves."""
    left, right = map(escape, ends)
    grid = "".join(f'<line x1="0" x2="1000" y1="{y}" y2="{y}"/>' for y in (0, 500, 1000))
    return (
        f'<figure class="chart"><div class="axis"><span>100%</span><span>50%</span><span>0%</span></div><svg viewBox="0 0 1000 1000" '
        f'preserveAspectRatio="none" role="img" aria-label="{escape(label)}">{grid}{inner}</svg>'
        f"<figcaption><span>{left}</span><span>{right}</span></figcaption></figure>"
    )


def curve_points(points: Iterable[tuple[float, float]]) -> str:
    """Write the points of a curve in a chart; both coordinates are shares from 0 to 1."""
    return " ".join(f"{1000 * x:.1f},{1000 * (1 - y):.1f}" for x, y in points)


def choice(name: str, label: str, options: Sequence[str], chosen: str) -> str:
    """Write a list to choose from."""
    listed = "".join(
        f"<option{' selected' if option == chosen else ''}>{escape(option)}</option>" for option in options
    )
    return f'<label><span>{escape(label)}</span> <select name="{name}">{listed}</select></label>'


def paging(path: str, offset: int, limit: int, count: int, **query: Any) -> str:
    """Write the links to the pages before and after."""
    before = linked(path, "← Before", **query, offset=max(0, offset - limit)) if offset else ""
    after = linked(path, "More →", **query, offset=offset + limit) if count == limit else ""
    return f'<p class="paging">{before} {after}</p>' if before or after else ""
