"""A report as Markdown: of a pick the summary, and for each site its picks, the next in line, and what was put out.

Owns: how reports look as Markdown. Must not know: records (`summary.py` reads them), where sheets come from.
Start reading at `first` and `site`, or at `sheet`. Every text goes through `plain`, so that nothing from a page becomes markup.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from honeyguide.report.html import HEADINGS
from honeyguide.report.sheet import Pages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from honeyguide.report.pick import FunnelStep, ReportRow, ReportSite, Summary
    from honeyguide.report.sheet import CountList, Line, Sheet


NEXT_IN_LINE = 5  # candidates that were not chosen
# What Markdown, in one dialect or another, acts upon inside a line: a colon or www. only where it would make a link or a
# picture, signs only in pairs where one alone is a sign.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|!~&$^@]|:(?=\S)|(?<=www)\.|%(?=%)|=(?==)|\+(?=\+)", re.IGNORECASE)


def plain(text: str) -> str:
    r"""Escape text so that it is shown as it is, in a table too; not even an address becomes a link.

    >>> plain("a|b `c` <i> http://e.example")
    'a\\|b \\`c\\` \\<i\\> http\\://e.example'
    """
    return _MARKUP.sub(r"\\\g<0>", text)


def first(summary: Summary) -> str:
    """Write the summary."""
    methods = "; ".join(f"strategy {plain(method)}" for method, _ in summary.methods.most_common(3) if method)
    pace = summary.pace()
    timed = "" if pace is None else f", {pace[0]:.1f} s a site (nine in ten within {pace[1]:.1f} s)"
    parts = [
        f"# {HEADINGS['pick']}",
        f"{summary.picks:,} pages of {summary.sites:,} sites, from {summary.links:,} links{timed}. {methods}".strip(),
        "## Sites by status",
        _table(
            ("Status", "Sites"), [[plain(status), f"{n:,}"] for status, n in summary.statuses.most_common()]
        ),
        "## From links to picks",
        _table(("Step", "Out", "Left", "Why"), [_step(step) for step in summary.funnel()]),
    ]
    if summary.replaced:
        replaced = [f"- {n:,} × {plain(why)}" for why, n in summary.replaced.most_common(10)]
        parts += ["## Replaced pages", "\n".join(replaced)]
    if summary.failed:
        parts += ["## Not all went well", "\n".join(_failures(summary))]
    return "\n\n".join([*parts, "## Sites"]) + "\n"


def last(_summary: Summary) -> str:
    """Write nothing: a Markdown file just ends."""
    return ""


def site(site: ReportSite, *, detailed: bool) -> str:
    """Write a site; without details only its picks."""
    parts = [f"### {plain(site.name)}", _about(site)]
    if site.selected:
        parts.append(_table(("#", "Score", "Bucket", "Page", "Why"), map(_pick, site.selected)))
    if site.replaced:
        parts.append(
            "Replaced:\n\n"
            + "\n".join(f"- {_link(row)} {plain(row.out[1] if row.out else '')}" for row in site.replaced)
        )
    if detailed:
        parts += _next_in_line(site) + _outs(site)
    return "\n" + "\n\n".join(parts) + "\n"


def _step(step: FunnelStep) -> list[str]:
    return [plain(step.name), f"{step.out:,}" if step.out else "", f"{step.left:,}", plain(step.why)]


def _failures(summary: Summary) -> list[str]:
    lines = []
    for status, named in summary.failed.items():
        lines.append(f"- {plain(status)}: {summary.statuses[status]:,}")
        lines += [f"  - {plain(name)}{f': {plain(why)}' if why else ''}" for _, name, why in named]
        if (more := summary.statuses[status] - len(named)) > 0:
            lines.append(f"  - and {more:,} more")
    return lines


def _table(names: tuple[str, ...], rows: Iterable[list[str]]) -> str:
    lines = [list(names), ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _about(site: ReportSite) -> str:
    home = f", homepage {_link(site.homepage)}" if site.homepage.url else ""
    reason = f": {plain(site.reason)}" if site.reason else ""
    return f"Status {plain(site.status)}{reason}{home}; {site.picks:,} picks of {site.links:,} links"


def _link(row: ReportRow) -> str:
    return plain(row.url) if row.link is None else f"[{plain(row.url)}](<{row.link}>)"


def _pick(row: ReportRow) -> list[str]:
    text = f" {plain(row.text)}" if row.text else ""
    why = ", ".join(f"{plain(points)} {plain(words)}" for points, words in row.reasons)
    return [
        "" if row.rank is None else str(row.rank),
        _score(row),
        plain(row.kind),
        f"{_link(row)}{text}",
        why,
    ]


def _score(row: ReportRow) -> str:
    return "" if row.score is None else str(row.score)


def _next_in_line(site: ReportSite) -> list[str]:
    """List what would have been taken next: what is out for another reason never is."""
    rows = [row for row in site.ranked if row.out is not None and row.out[0] == "cap"][:NEXT_IN_LINE]
    lines = [f"- {_score(row)} {_link(row)}" for row in rows]
    return ["Next in line:\n\n" + "\n".join(lines)] if lines else []


def _outs(site: ReportSite) -> list[str]:
    counts = ", ".join(f"{plain(group.rule)} {group.count:,}" for group in site.outs)
    return [f"Put out: {counts}"] if counts else []


# --- sheets -------------------------------------------------------------------------------------------------------


def sheet(sheet: Sheet) -> str:
    """Write a whole report; headings without anything below them are left out."""
    parts = [f"# {plain(sheet.heading)}"]
    if sheet.below:
        parts.append(plain(sheet.below))
    parts.append("; ".join(f"{plain(number)} {plain(words)}" for number, words in sheet.figures))
    if sheet.facts:
        parts.append("\n".join(f"- {plain(name)}: {plain(value)}" for name, value in sheet.facts))
    for part in sheet.parts:
        parts += _part(part)
    return "\n\n".join(parts) + "\n"


def _part(part: CountList | Pages) -> list[str]:
    names: tuple[str, ...]
    if isinstance(part, Pages):
        names, rows = ("#", "Score", "Kind", "Page", "Why", "Besides"), list(map(_listed, part.rows))
    else:
        names = (
            ("What", "How many", "Why") if any(line.words for line in part.lines) else ("What", "How many")
        )
        rows = [_counted(line)[: len(names)] for line in part.lines]
    if not rows:
        return []
    more = [f"and {part.more:,} more"] if part.more else []
    return [f"## {plain(part.heading)}", _table(names, rows), *more]


def _listed(row: ReportRow) -> list[str]:
    return [*_pick(row), plain("; ".join(row.facts))]


def _counted(line: Line) -> list[str]:
    return [plain(line.name), f"{line.count:,}", plain(line.words)]
