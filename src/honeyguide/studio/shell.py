"""The frame of every page, and the few pieces that all views are made of; every text goes through `escape`.

Owns: `View`, `Sources`, tables with links, search forms, paging. Must not know: what is shown, HTTP. Start reading at `page`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from honeyguide.errors import InputError
from honeyguide.report.sheet import clean, figure, link_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from honeyguide.app.views.what_if import WhatIf
    from honeyguide.core.records import Record

SECTIONS = (("/pick", "Pick"), ("/what-if", "What if"), ("/crawl", "Crawl"), ("/plan", "Plan"))
MAX_CELL = 160  # characters


@dataclass(frozen=True, slots=True)
class View:
    """What a route shows: its records for the JSON twin, and the HTML between heading and foot."""

    title: str
    data: Any
    body: str
    section: str = ""
    links: Mapping[str, str] = field(default_factory=dict)  # prev and next, for the keyboard


@dataclass(slots=True)
class Sources:
    """What the studio looks at; each may be missing."""

    store: str | None = None
    picks: str | None = None
    what_if: WhatIf | None = None
    rows: list[Record] | None = None  # of the picks file, read when they are first looked at
    saved: set[str] = field(default_factory=set)  # files that this studio has written, and may write again

    def the_store(self) -> str:
        """Give the store, or say how to get one."""
        if self.store is None:
            raise InputError("no store is open; start the studio with --store FILE of a crawl")
        return self.store

    def the_trial(self) -> WhatIf:
        """Give the kept pick, or say how to get one."""
        if self.what_if is None:
            raise InputError(
                "no kept pages are open; keep them with honeyguide pick … --keep FILE, and start the studio with --keep FILE"
            )
        return self.what_if


def page(view: View) -> str:
    """Write the whole page."""
    items = "".join(
        f'<a href="{path}"{" aria-current=page" if view.section == name else ""}>{name}</a>'
        for path, name in SECTIONS
    )
    links = "".join(f'<link rel="{rel}" href="{escape(href)}">' for rel, href in view.links.items())
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(view.title)} – Honeyguide studio</title>
<link rel="stylesheet" href="/studio.css">
<link rel="icon" href="/favicon.ico">
{links}
<script src="/studio.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<nav aria-label="Views"><b><a href="/">Honeyguide</a></b>{items}</nav>
<main id="main" tabindex="-1">
<h1>{escape(view.title)}</h1>
{view.body}
</main>
<footer><small>Keys: <kbd>/</kbd> search, <kbd>n</kbd> and <kbd>p</kbd> next and previous, <kbd>g</kbd> then <kbd>p</kbd>,
<kbd>w</kbd>, <kbd>c</kbd>, <kbd>l</kbd> for Pick, What if, Crawl, Plan, <kbd>1</kbd> <kbd>2</kbd> <kbd>3</kbd> label the page under the
pointer or the focus. Stores are only read here; profiles and labels are saved where you say.</small></footer>
</body>
</html>
"""


def failure(lines: Sequence[str]) -> View:
    """Say what is wrong."""
    said = "".join(f"<p>{escape(line)}</p>" for line in lines)
    return View("That did not work", {"error": list(lines)}, f'<div class="box" role="alert">{said}</div>')


def url_of(path: str, **query: Any) -> str:
    """Write an address of the studio."""
    return f"{path}?{urlencode({name: value for name, value in query.items() if value not in (None, '')})}"


def linked(path: str, words: str, **query: Any) -> str:
    """Write a link to another view."""
    return f'<a href="{escape(url_of(path, **query))}">{escape(clean(words, MAX_CELL) or "?")}</a>'


def outward(url: Any) -> str:
    """Write a link to a page of the web, if it may be followed; else its text."""
    link, shown = link_of(url), escape(clean(url, MAX_CELL))
    return (
        f'<a href="{escape(link)}" rel="noopener noreferrer nofollow" target="_blank">{shown}</a>'
        if link
        else shown
    )


def text(value: Any) -> str:
    """Write a value of a record."""
    number = figure(value)
    return escape(f"{number:,}" if number is not None else clean(value, MAX_CELL))


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, is_filtered: bool = False
) -> str:
    """Write a table of cells that are HTML already; on a narrow screen its rows become cards."""
    listed = [
        "<tr>"
        + "".join(
            f'<td data-head="{escape(name)}"><div>{cell}</div></td>'
            for name, cell in zip(head, row, strict=True)
        )
        + "</tr>"
        for row in rows
    ]
    if not listed:
        return '<p class="soft">Nothing to show.</p>'
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    search = (
        f'<p><label>Filter <input type="search" data-filter="{escape(caption)}" autocomplete="off"></label> '
        f'<span class="soft" role="status" data-count="{escape(caption)}"></span></p>'
        if is_filtered
        else ""
    )
    return (
        f'{search}<table class="cards-when-narrow{" sortable" if is_filtered else ""}" data-name="{escape(caption)}"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(listed)}</tbody></table>"
    )


def meter(share: float, words: str) -> str:
    """Write a share from 0 to 1 as a bar, with the number beside it."""
    return f'<span class="share"><meter min="0" max="1" value="{share:.3f}" aria-hidden="true"></meter> {escape(words)}</span>'


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
    return f'<label>{escape(label)} <select name="{name}">{listed}</select></label>'


def paging(path: str, offset: int, limit: int, count: int, **query: Any) -> str:
    """Write the links to the pages before and after."""
    before = linked(path, "← Before", **query, offset=max(0, offset - limit)) if offset else ""
    after = linked(path, "More →", **query, offset=offset + limit) if count == limit else ""
    return f'<p class="paging">{before} {after}</p>' if before or after else ""
