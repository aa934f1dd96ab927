"""A report as one HTML file that needs nothing else: no script, no image, nothing from a network.

Owns: how the report looks in a browser; the style sheet is `style.css`. Must not know: records (`summary.py` reads
them) and where sheets come from. Start reading at `first` and `site`, or at `sheet`. Every text goes through `escape`,
and only what `link_of` allowed is a link.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from honeyguide.report.sheet import Pages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from honeyguide.report.pick import FunnelStep, OutGroup, ReportRow, ReportSite, Summary
    from honeyguide.report.sheet import CountList, Line, Sheet

# Widths of bars are classes, as no element may have a style of its own.
_WIDTHS = " ".join(f".w{share} {{ width: {share}%; }}" for share in range(101))
GOOD, PARTIAL = "ok", "partial"
_END = "<p><small>Written by Honeyguide. Scores are the sums of the points shown beside them.</small></p>\n</body>\n</html>\n"


def first(summary: Summary) -> str:
    """Write everything before the sites: the head and the summary."""
    title = f"Honeyguide: {summary.picks:,} pages of {_count(summary.sites, 'site')}"
    top = opening(title, HEADINGS["pick"], _methods(summary), f"{_WIDTHS}\n")
    return f"""{top}{_cards(summary)}
<h2>Sites by status</h2>
{_statuses(summary)}
<h2>From links to picks</h2>
{_funnel(summary)}
{_replacements(summary)}{_failures(summary)}<h2>Sites</h2>
"""


def last(_summary: Summary) -> str:
    """Write everything after the sites."""
    return _END


# --- summary ----------------------------------------------------------------------------------------------------


def _methods(summary: Summary) -> str:
    """Name what chose the pages, most used first."""
    named = [f"strategy {escape(method)}" for method, _ in summary.methods.most_common(3) if method]
    return "; ".join(named) or "Nothing was picked."


def _cards(summary: Summary) -> str:
    cards = [
        (f"{summary.sites:,}", "site" if summary.sites == 1 else "sites"),
        (f"{summary.statuses[GOOD]:,}", "of them ok"),
        (f"{summary.picks:,}", "pages picked"),
        (f"{summary.links:,}", "links considered"),
    ]
    pace = summary.pace()
    if pace is not None:
        most = f"; nine in ten within {pace[1]:.1f} s" if summary.sites > 1 else ""
        cards.append((f"{pace[0]:.1f} s", f"a site{most}"))
    return _figures(cards)


def _figures(figures: Iterable[tuple[str, str]]) -> str:
    cards = (
        f'<div class="card"><b>{escape(number)}</b> <small>{escape(words)}</small></div>'
        for number, words in figures
    )
    return f'<div class="cards">{"".join(cards)}</div>'


def _statuses(summary: Summary) -> str:
    rows = "".join(
        f'<div class="line"><span>{_badge(status)}</span>{_bar(count, summary.sites)}<span class="num">{count:,}</span></div>'
        for status, count in summary.statuses.most_common()
    )
    return f'<div class="box">{rows}</div>' if rows else '<p class="soft">No site was asked for.</p>'


def _badge(status: str) -> str:
    kind = {GOOD: "good", PARTIAL: "some"}.get(status, "bad")
    return f'<span class="badge {kind}">{escape(status.replace("_", " "))}</span>'


def _bar(part: int, whole: int) -> str:
    share = 100 * part / whole if whole > 0 else 0
    return f'<div class="bar"><i class="w{min(max(round(share), 0), 100)}"></i></div>'


def _funnel(summary: Summary) -> str:
    return f'<div class="box">{"".join(_step(step, summary.links) for step in summary.funnel())}</div>'


def _step(step: FunnelStep, links: int) -> str:
    """Write a step: what is left as a bar, and what was put out beside the rule that did it."""
    name, count, why = f'<span class="step">{escape(step.name)}</span>', f"<b>{step.left:,}</b>", ""
    if step.out:
        name, count = f'<span class="lost">{escape(step.name)}</span>', f"−{step.out:,} → {step.left:,}"
        why = f'<small class="why">{escape(step.why)}</small>' if step.why else ""
    return f'<div class="line">{name}{_bar(step.left, links)}<span class="num">{count}</span>{why}</div>'


def _replacements(summary: Summary) -> str:
    if not summary.replaced:
        return ""
    items = "".join(f"<li>{count:,} × {escape(why)}</li>" for why, count in summary.replaced.most_common(10))
    return f'<h2>Replaced pages</h2><div class="box"><p>Chosen, fetched, and found to be no use:</p><ul class="plain">{items}</ul></div>\n'


def _failures(summary: Summary) -> str:
    """Write what went wrong, by kind, each site with its sentence and the way to its section."""
    if not summary.failed:
        return ""
    parts = []
    for status, named in summary.failed.items():
        more = summary.statuses[status] - len(named)
        items = "".join(f'<li><a href="#s{n}">{escape(name)}</a> {_said(why)}</li>' for n, name, why in named)
        rest = f"<li>and {more:,} more</li>" if more > 0 else ""
        parts.append(
            f'<div class="group">{_badge(status)} <small>{_count(summary.statuses[status], "site")}</small><ul class="plain">{items}{rest}</ul></div>'
        )
    return f'<h2>Not all went well</h2><div class="box">{"".join(parts)}</div>\n'


def _said(why: str) -> str:
    return f'<span class="soft">{escape(why)}</span>' if why else ""


# --- sites ------------------------------------------------------------------------------------------------------


def site(site: ReportSite, *, detailed: bool) -> str:
    """Write a site; without details only its picks."""
    opened = " open" if site.number == 1 else ""
    title = f'<span class="soft" dir="auto">{escape(site.title)}</span>' if site.title else ""
    return f"""<details class="site" id="s{site.number}"{opened}>
<summary><b>{escape(site.name)}</b> {_badge(site.status)} {title} <small class="end">{_numbers(site)}</small></summary>
<div class="in">{_about(site)}{_selected(site)}{_replaced(site)}{_ranked(site) + _outs(site) if detailed else _left_out(site)}</div>
</details>
"""


def _numbers(site: ReportSite) -> str:
    seconds = "" if site.elapsed_s is None else f", {site.elapsed_s} s"
    return f"{_count(site.picks, 'pick')} of {_count(site.links, 'link')}{seconds}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def _about(site: ReportSite) -> str:
    home = f"Homepage {_link(site.homepage)}" if site.homepage.url else "No homepage was reached"
    asked = "" if site.requests is None else f" <small>{site.requests:,} requests</small>"
    reason = (
        f'<p><span class="soft">Why it is {escape(site.status.replace("_", " "))}:</span> {escape(site.reason)}</p>'
        if site.reason
        else ""
    )
    return f"<p>{home}{asked}</p>{reason}"


def _link(row: ReportRow) -> str:
    shown = escape(row.url)
    if row.link is None:
        return f"<span>{shown}</span>"
    return f'<a href="{escape(row.link)}" rel="noopener noreferrer nofollow">{shown}</a>'


def _selected(site: ReportSite) -> str:
    if not site.selected:
        return '<p class="soft">No page was selected.</p>'
    more = (
        f"<p><small>and {site.picks - len(site.selected):,} more</small></p>"
        if site.picks > len(site.selected)
        else ""
    )
    return f'<h3>Selected</h3><ol class="pages">{"".join(map(_page, site.selected))}</ol>{more}'


def _page(row: ReportRow) -> str:
    """Write a page with its score, and the points that made it."""
    rank = "" if row.rank is None else str(row.rank)
    text = f'<div dir="auto">{escape(row.text)}</div>' if row.text else ""
    facts = f"<div><small>{escape('; '.join(row.facts))}</small></div>" if row.facts else ""
    quotes = "".join(f'<div><small><q dir="auto">{escape(text)}</q></small></div>' for text in row.evidence)
    score = "" if row.score is None else f'<div class="score">{row.score}</div>'
    return (
        f'<li><span class="rank">{rank}</span><div>{_link(row)}{text}{facts}{_points(row)}{quotes}{_out(row)}</div>'
        f'<div>{score}<div class="kind">{escape(row.kind)}</div></div></li>'
    )


def _points(row: ReportRow) -> str:
    chips = "".join(f"<span><b>{escape(points)}</b> {escape(words)}</span>" for points, words in row.reasons)
    return f'<div class="points">{chips}</div>' if chips else ""


def _out(row: ReportRow) -> str:
    return f'<div class="out">out: <b>{escape(row.out[0])}</b> {escape(row.out[1])}</div>' if row.out else ""


def _replaced(site: ReportSite) -> str:
    if not site.replaced:
        return ""
    items = "".join(f"<li>{_link(row)} {escape(row.out[1] if row.out else '')}</li>" for row in site.replaced)
    return f'<h3>Replaced</h3><ul class="plain">{items}</ul>'


def _ranked(site: ReportSite) -> str:
    if not site.ranked:
        return ""
    more = f"<p><small>and {site.more_ranked:,} more</small></p>" if site.more_ranked else ""
    return (
        f'<details class="more"><summary>Ranked candidates ({site.candidates:,})</summary>'
        f'<ul class="pages">{"".join(map(_page, site.ranked))}</ul>{more}</details>'
    )


def _outs(site: ReportSite) -> str:
    if not site.outs:
        return ""
    total = sum(group.count for group in site.outs)
    return f'<details class="more"><summary>Put out, by rule ({total:,})</summary>{"".join(map(_group, site.outs))}</details>'


def _group(group: OutGroup) -> str:
    """Write what one rule put out; a reason that is the same for all stands once."""
    whys = {row.out[1] for row in group.rows if row.out}
    shared = escape(next(iter(whys))) if len(whys) == 1 else ""
    items = "".join(
        f"<li>{_link(row)} {'' if shared or not row.out else _said(row.out[1])}</li>" for row in group.rows
    )
    more = group.count - len(group.rows)
    rest = f"<li>and {more:,} more</li>" if more > 0 else ""
    return f'<div class="group out"><b>{escape(group.rule)}</b> {group.count:,} {shared}<ul class="plain">{items}{rest}</ul></div>'


def _left_out(site: ReportSite) -> str:
    return f"<p><small>{_count(site.candidates, 'candidate')} not shown: the report would be too large. The records have them.</small></p>"


# --- sheets -----------------------------------------------------------------------------------------------------


def sheet(sheet: Sheet) -> str:
    """Write a whole report; headings without anything below them are left out."""
    heading = escape(sheet.heading)
    top = opening(f"Honeyguide: {heading}", heading, escape(sheet.below), f"{_WIDTHS}\n")
    facts = "".join(
        f'<div class="line fact"><span class="soft">{escape(name)}</span><span dir="auto">{escape(value)}</span></div>'
        for name, value in sheet.facts
    )
    about = f'<div class="box">{facts}</div>\n' if facts else ""
    return f"{top}{_figures(sheet.figures)}\n{about}{''.join(map(_part, sheet.parts))}{_END}"


def _part(part: CountList | Pages) -> str:
    if isinstance(part, Pages):
        inner = "".join(map(_page, part.rows))
        body = f'<ol class="pages">{inner}</ol>' if inner else ""
    else:
        body = "".join(_counted(line, part.full) for line in part.lines)
    if not body:
        return ""
    more = f"<p><small>and {part.more:,} more</small></p>" if part.more else ""
    return f'<h2>{escape(part.heading)}</h2>\n<div class="box">{body}{more}</div>\n'


def _counted(line: Line, full: int) -> str:
    why = f'<small class="why">{escape(line.words)}</small>' if line.words else ""
    name = f'<span class="step">{escape(line.name)}</span>'
    return f'<div class="line">{name}{_bar(line.count, full)}<span class="num">{line.count:,}</span>{why}</div>\n'


# The first heading of the reports of each command, no two of which have the same.
HEADINGS = {
    "pick": "Pages worth a visit",
    "crawl": "What a crawl found",
    "plan": "What to visit next",
    "simulate": "What recrawl policies are worth",
}
# Nothing may be loaded, run or even dressed, whatever a page managed to put into its title: the one style sheet is known
# by its hash. A frame or a sandbox cannot be forbidden from inside a file.
_POLICY = "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'"


def opening(title: str, heading: str, below: str, style: str) -> str:
    """Write everything down to the line below the first heading; `style` is added to the common style sheet."""
    sheet = f"\n{(files('honeyguide.report') / 'style.css').read_text('utf-8')}{style}"
    digest = base64.b64encode(hashlib.sha256(sheet.encode("utf-8")).digest()).decode("ascii")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY.format(hash=digest))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="honeyguide">
<title>{title}</title>
<style>{sheet}</style>
</head>
<body>
<header><h1>{heading}</h1>
<p class="soft">{below}</p></header>
"""
