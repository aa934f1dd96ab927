"""A sheet as Markdown. Of a site: its picks, the next in line, and how many links each rule rejected.

Owns: how a report looks as Markdown. Must not know: records, where sheets come from. Start reading at `start` and `section`.
Every text goes through `plain`, so that nothing from a page becomes markup.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from honeyguide.report.sheet import CountList, PageGroups, Pages, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from honeyguide.report.sheet import Part, ReportRow, Section, Sheet


NEXT_IN_LINE = 5  # candidates that were not selected
# What Markdown, in one dialect or another, acts upon inside a line: a colon or www. only where it would make a link or a
# picture, signs only in pairs where one alone is a sign.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|!~&$^@]|:(?=\S)|(?<=www)\.|%(?=%)|=(?==)|\+(?=\+)", re.IGNORECASE)


def plain(text: str) -> str:
    r"""Escape text so that it is shown as it is, in a table too; not even an address becomes a link.

    >>> plain("a|b `c` <i> http://e.example")
    'a\\|b \\`c\\` \\<i\\> http\\://e.example'
    """
    return _MARKUP.sub(r"\\\g<0>", text)


def start(sheet: Sheet) -> str:
    """Write everything before the sections."""
    figures = "; ".join(f"{plain(number)} {plain(words)}" for number, words in sheet.figures)
    facts = "\n".join(f"- {plain(name)}: {plain(value)}" for name, value in sheet.facts)
    texts = [f"# {plain(sheet.heading)}", plain(sheet.below), figures, facts]
    texts += [f"## {plain(sheet.sections)}"] if sheet.sections else _parts(sheet)
    return "\n\n".join(text for text in texts if text) + "\n"


def _parts(sheet: Sheet) -> Iterator[str]:
    for part in sheet.parts:
        if body := list(_body(part)):
            yield from (f"## {plain(part.heading)}", *body)


def section(site: Section) -> str:
    """Write a site."""
    home = f", homepage {_link(site.homepage)}" if site.homepage.url else ""
    reason = f": {plain(site.reason)}" if site.reason else ""
    texts = [f"### {plain(site.name)}", f"Status {plain(site.status)}{reason}{home}; {plain(site.numbers)}"]
    for part in site.parts:
        if isinstance(part, Pages | PageGroups) and part.is_folded:
            texts += _short(part)
        elif isinstance(part, PageGroups):
            lines = [f"- {_link(row)} {plain(row.words)}" for group in part.groups for row in group.rows]
            texts.append(f"{plain(part.heading)}:\n\n" + "\n".join(lines))
        else:
            texts += _body(part)
    return "\n" + "\n\n".join([*texts, *map(plain, site.notes)]) + "\n"


def end(sheet: Sheet) -> str:
    """Write what follows the sections."""
    return "\n" + "\n\n".join(_parts(sheet)) + "\n" if sheet.sections else ""


def _short(part: Pages | PageGroups) -> Iterator[str]:
    """Write what HTML folds: the pages that would be taken next, and how many links each rule rejected."""
    if isinstance(part, PageGroups):
        yield "Rejected: " + ", ".join(f"{plain(group.name)} {group.count:,}" for group in part.groups)
        return
    rows = [row for row in part.rows if row.rejected is not None and row.rejected[0] == "cap"][:NEXT_IN_LINE]
    if rows:
        yield "Next in line:\n\n" + "\n".join(f"- {_score(row)} {_link(row)}" for row in rows)


def _body(part: Part) -> Iterator[str]:
    match part:
        case Pages():
            if part.rows:
                yield _table(("#", "Score", part.label, "Page", "Why", "Besides"), map(_page, part.rows))
                yield from _more(part.more)
        case CountList():
            if part.lines:
                yield _counts(part)
                yield from _more(part.more)
        case PageGroups():
            lines = []
            for group in part.groups:
                lines.append(f"- {plain(group.name)}: {group.count:,}")
                lines += [
                    f"  - {_link(row)}{f': {plain(row.words)}' if row.words else ''}" for row in group.rows
                ]
                lines += [f"  - {text}" for text in _more(group.count - len(group.rows))]
            yield from ["\n".join(lines)] if lines else []
        case Table():
            yield _table(part.head, (list(map(plain, row)) for row in part.rows))
        case _:
            assert_never(part)


def _more(count: int) -> list[str]:
    return [f"and {count:,} more"] if count > 0 else []


def _counts(part: CountList) -> str:
    """Write counts; those of a funnel with what was lost, others with their words if there are any."""
    lines = part.lines
    if any(line.lost for line in lines):
        rows = [
            [plain(line.name), f"{line.lost:,}" if line.lost else "", f"{line.count:,}", plain(line.words)]
            for line in lines
        ]
        return _table(("Step", "Rejected", "Left", "Why"), rows)
    width = 3 if any(line.words for line in lines) else 2
    cells = ([plain(line.name), f"{line.count:,}", plain(line.words)][:width] for line in lines)
    return _table(("What", "How many", "Why")[:width], cells)


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [list(names), ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _page(row: ReportRow) -> list[str]:
    text = f" {plain(row.text)}" if row.text else ""
    why = ", ".join(f"{plain(paid)} {plain(words)}" for paid, words in row.points)
    rank = "" if row.rank is None else str(row.rank)
    return [rank, _score(row), plain(row.label), f"{_link(row)}{text}", why, plain("; ".join(row.facts))]


def _score(row: ReportRow) -> str:
    return "" if row.score is None else str(row.score)


def _link(row: ReportRow) -> str:
    is_linked = row.link is not None and not row.link.startswith("#")  # sections have no names here
    return f"[{plain(row.url)}](<{row.link}>)" if is_linked else plain(row.url)
