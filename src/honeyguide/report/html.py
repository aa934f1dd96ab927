"""A sheet as one HTML file that needs nothing else: no image, nothing from a network; one script filters and sorts.

Owns: how a report looks in a browser; the style sheet is `style.css`, the script `sort.js`. Must not know: records, where sheets come from. Start
reading at `start` and `section`. Every text goes through `escape`, and only what `link_of` allowed is a link.
"""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, assert_never

from honeyguide import __version__
from honeyguide.report.sheet import CountList, PageGroups, Pages, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from honeyguide.report.sheet import Curve, Line, PageGroup, Part, ReportRow, Section, Sheet

# Widths of bars are classes, as no element may have a style of its own.
_WIDTHS = " ".join(f".w{share} {{ width: {share}%; }}" for share in range(101))
# Curves are told apart by colour and by dash: neither alone is enough for everybody.
_COLOURS = ("#a86400", "#2f6db5", "#3f8f4f", "#a23b72", "#6b5bb0", "#777777", "#bbbbbb")
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 4", "12 4", "4 4")
_ORDERS = {"number": "as listed", "name": "by name", "status": "by status", "fewest": "fewest picks first"}
_PAGE_ORDERS = {"number": "best first", "name": "by address", "status": "by label"}
_HOST = re.compile(r"https?://[^/?#]+(?=/.)")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 720, 260, 44, 26
# Nothing may be loaded, run or even dressed, whatever a page managed to put into its title: the one style sheet and the one
# script are known by their hashes. A frame or a sandbox cannot be forbidden from inside a file.
_POLICY = "default-src 'none'; style-src {style};{script} base-uri 'none'; form-action 'none'"


def style_sheet() -> str:
    """Give the styles of reports, which the studio has, too."""
    return f"\n{(files('honeyguide.report') / 'style.css').read_text('utf-8')}{_WIDTHS}\n"


def inner(sheet: Sheet) -> str:
    """Write figures, facts and parts of a sheet, for a page that has its own frame."""
    return f"{_top(sheet)}{_if(not sheet.sections, _parts(sheet))}"


def _top(sheet: Sheet) -> str:
    figures = "".join(
        f'<div class="card"><b>{escape(number)}</b> <small>{escape(words)}</small></div>'
        for number, words in sheet.figures
    )
    facts = "".join(
        f'<div class="line fact"><span class="soft">{escape(name)}</span><span dir="auto">{escape(value)}</span></div>'
        for name, value in sheet.facts
    )
    return f"""{_if(figures, f'<div class="cards">{figures}</div>')}
{_if(facts, f'<div class="box">{facts}</div>')}
"""


def _parts(sheet: Sheet) -> str:
    return "".join(_boxed(part, place) for place, part in enumerate(sheet.parts))


def start(sheet: Sheet) -> str:
    """Write everything before the sections."""
    style, script = style_sheet(), _script(sheet)
    scripts = f" script-src {_hash(script)};" if script else ""
    policy = escape(_POLICY.format(style=_hash(style), script=scripts))
    heading = escape(sheet.heading)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="honeyguide">
<title>Honeyguide: {escape(sheet.title) or heading}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{heading}</h1>
<p class="soft">{escape(sheet.below)}</p></header>
{_top(sheet)}{_index(sheet)}{_if(not sheet.sections, _parts(sheet))}
"""


def _script(sheet: Sheet) -> str:
    """Give the script of a report with sites or pages; others have none."""
    has_rows = sheet.sections or any(isinstance(part, Pages) for part in sheet.parts)
    return f"\n{(files('honeyguide.report') / 'sort.js').read_text('utf-8')}" if has_rows else ""


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def _index(sheet: Sheet) -> str:
    """Write links to everything below, the heading of sections, and what filters and sorts where scripts run."""
    parts = [(place, part) for place, part in enumerate(sheet.parts) if _body(part)]
    links = "".join(f'<li><a href="#part{place}">{escape(part.heading)}</a></li>' for place, part in parts)
    first = _if(sheet.sections, f'<li><a href="#sections">{escape(sheet.sections)}</a></li>')
    index = f'<nav aria-label="Contents"><ul class="index">{first}{links}</ul></nav>'
    if not sheet.sections:
        return _if(len(parts) > 1, index)
    return f'{index}\n<h2 id="sections">{escape(sheet.sections)}</h2>\n{_tools(_ORDERS)}'


def _tools(orders: Mapping[str, str]) -> str:
    """Write the form that filters and sorts, which a script shows."""
    options = "".join(f'<option value="{name}">{words}</option>' for name, words in orders.items())
    return f"""<form class="tools" hidden><label>Filter <input type="search" id="filter"></label> <label>Order <select id="order">{options}</select></label>
<span id="shown" role="status"></span></form>"""


def section(site: Section) -> str:
    """Write a site. Where scripts run, all but the first are text until they are opened: browsers read `noscript` so."""
    is_first = site.number == 1
    title = _if(site.title, f'<span class="soft" dir="auto">{escape(site.title)}</span>')
    home = f"Homepage {_link(site.homepage)}" if site.homepage.url else "No homepage was reached"
    status = escape(site.status.replace("_", " "))
    said = "Note:" if status == "ok" else f"Why it is {status}:"
    reason = _if(site.reason, f'<p><span class="soft">{said}</span> {escape(site.reason)}</p>')
    parts = "".join(_folded(part) for part in site.parts) or '<p class="soft">No page was selected.</p>'
    notes = "".join(f"<p><small>{escape(note)}</small></p>" for note in site.notes)
    inside = f'<div class="in"><p>{home}</p>{reason}{parts}{notes}</div>'
    picks = sum(len(part.rows) for part in site.parts[:1] if isinstance(part, Pages))
    return f"""<details class="site" id="s{site.number}" data-status="{status}" data-picks="{picks}"{_if(is_first, " open")}>
<summary><b>{escape(site.name)}</b> {_badge(site.status)} {title} <small class="end">{escape(site.numbers)}</small></summary>
{inside if is_first else f"<noscript>{inside}</noscript>"}
</details>
"""


def end(sheet: Sheet) -> str:
    """Write everything after the sections."""
    script = _script(sheet)
    last = f"<p><small>Written by Honeyguide {__version__}. {escape(sheet.last)}</small></p>"
    return f"{_if(sheet.sections, _parts(sheet))}{last}\n{_if(script, f'<script>{script}</script>')}\n</body>\n</html>\n"


def _if(condition: object, text: str) -> str:
    return text if condition else ""


# --- parts ---


def part(one: Part) -> str:
    """Write a part of a sheet without its heading."""
    return _body(one)


def _boxed(part: Part, place: int) -> str:
    """Write a part of the sheet; one without anything below its heading is left out. The first pages can be filtered and sorted."""
    body = _body(part)
    tools = _if(isinstance(part, Pages) and place == 0, _tools(_PAGE_ORDERS))
    return _if(
        body, f'<h2 id="part{place}">{escape(part.heading)}</h2>\n{tools}<div class="box">{body}</div>\n'
    )


def _folded(part: Part) -> str:
    """Write a part of a section, or below another; a folded one opens when it is clicked."""
    body, heading = _body(part), escape(part.heading)
    if isinstance(part, CountList | Table) or not part.is_folded:
        return _if(body, f"<h3>{heading}</h3>{body}")
    return _if(body, f'<details class="more"><summary>{heading}</summary>{body}</details>')


def _body(part: Part) -> str:
    match part:
        case Pages():
            rows = "".join(map(_page, part.rows))
            return _if(rows, f'<ol class="pages">{rows}</ol>{_more(part.more)}')
        case CountList():
            lines = "".join(_line(line, part.full) for line in part.lines)
            return _if(lines, f"{lines}{_more(part.more)}")
        case PageGroups():
            return "".join(map(_group, part.groups))
        case Table():
            return _chart(part.curves) + _table(part)
        case _:
            assert_never(part)


def _more(count: int) -> str:
    return _if(count, f"<p><small>and {count:,} more</small></p>")


def _line(line: Line, full: int) -> str:
    """Write a count with its bar; in a funnel also how many were lost."""
    style, count = ("lost", f"−{line.lost:,} → {line.count:,}") if line.lost else ("step", f"{line.count:,}")
    words = _if(line.words, f'<small class="why">{escape(line.words)}</small>')
    share = 100 * line.count / full if full > 0 else 0
    bar = f'<div class="bar"><i class="w{min(max(round(share), 0), 100)}"></i></div>'
    return f'<div class="line"><span class="{style}">{escape(line.name)}</span>{bar}<span class="num">{count}</span>{words}</div>\n'


def _group(group: PageGroup) -> str:
    items = "".join(
        f'<li>{_link(row)} <span class="soft">{escape(row.words)}</span></li>' for row in group.rows
    )
    more = group.count - len(group.rows)
    rest = _if(more > 0, f"<li>and {more:,} more</li>")
    head = _if(group.name, f"<b>{escape(group.name)}</b> {group.count:,} {escape(group.words)}")
    return f'<div class="group out">{head}<ul class="plain">{items}{rest}</ul></div>'


def _page(row: ReportRow) -> str:
    """Write a page with its score, and the points that made it."""
    rank = "" if row.rank is None else str(row.rank)
    text = _if(row.text, f'<div dir="auto">{escape(row.text)}</div>')
    facts = _if(row.facts, f"<div><small>{escape('; '.join(row.facts))}</small></div>")
    chips = "".join(f"<span><b>{escape(paid)}</b> {escape(words)}</span>" for paid, words in row.points)
    points = _if(chips, f'<div class="points">{chips}</div>')
    quotes = "".join(f'<div><small><q dir="auto">{escape(text)}</q></small></div>' for text in row.evidence)
    rule, reason = row.rejected or ("", "")
    rejected = _if(row.rejected, f'<div class="out">rejected: <b>{escape(rule)}</b> {escape(reason)}</div>')
    score = "" if row.score is None else f'<div class="score">{row.score}</div>'
    return (
        f'<li><span class="rank">{rank}</span><div>{_link(row)}{text}{facts}{points}{quotes}{rejected}</div>'
        f'<div>{score}<div class="kind">{escape(row.label)}</div></div></li>'
    )


def _link(row: ReportRow) -> str:
    shown = url_text(row.url)
    if row.link is None:
        return f"<span>{shown}</span>"
    return f'<a href="{escape(row.link)}" rel="noopener noreferrer nofollow">{shown}</a>'


def url_text(url: str) -> str:
    """Write an address with its host in grey: on a page about one site, only the path tells addresses apart."""
    found = _HOST.match(url)
    if found is None:
        return escape(url)
    return f'<span class="host">{escape(found[0])}</span>{escape(url[found.end() :])}'


def _badge(status: str) -> str:
    kind = {"ok": "good", "partial": "some"}.get(status, "bad")
    return f'<span class="badge {kind}">{escape(status.replace("_", " "))}</span>'


# --- tables and curves ---


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.head)
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in table.rows)
    styles = (' class="reference"' if place in table.grey else "" for place in range(len(table.rows)))
    rows = "".join(f"<tr{style}>{row}</tr>\n" for style, row in zip(styles, cells, strict=True))
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _chart(curves: Sequence[Curve]) -> str:
    """Draw curves of shares over time."""
    if not curves:
        return ""
    lines = "".join(
        f'<polyline points="{" ".join(_points(curve.shares))}" {_look(n)}/>' for n, curve in enumerate(curves)
    )
    names = ", ".join(escape(curve.name) for curve in curves)
    keys = "".join(_key(n, curve.name) for n, curve in enumerate(curves))
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="freshness over time: {names}">'
        f"{_grid()}{lines}</svg>\n<p>{keys}</p>"
    )


def _grid() -> str:
    lines = (
        f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH}" y2="{y:.1f}" stroke="currentColor" opacity="0.15"/>'
        f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{share:g}</text>'
        for share, y in ((step / 4, _y(step / 4)) for step in range(5))
    )
    ends = f'<text x="{_LEFT}" y="{_HEIGHT - 6}">start</text><text x="{_WIDTH}" y="{_HEIGHT - 6}" text-anchor="end">end</text>'
    return "".join(lines) + ends


def _y(share: float) -> float:
    return 8 + (1.0 - share) * (_HEIGHT - _BOTTOM - 8)


def _points(shares: Sequence[float]) -> Iterable[str]:
    step = (_WIDTH - _LEFT) / max(len(shares), 1)
    for place, share in enumerate(shares):
        yield f"{_LEFT + step * (place + 0.5):.1f},{_y(min(max(share, 0.0), 1.0)):.1f}"


def _look(number: int) -> str:
    place = number % len(_COLOURS)
    return f'fill="none" stroke="{_COLOURS[place]}" stroke-width="2" stroke-dasharray="{_DASHES[place]}"'


def _key(number: int, name: str) -> str:
    line = f'<line x1="0" y1="5" x2="32" y2="5" {_look(number)}/>'
    return f'<span class="key"><svg viewBox="0 0 32 10" aria-hidden="true">{line}</svg> {escape(name)}</span>'
