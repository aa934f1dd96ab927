"""Tokens as Markdown (CommonMark with pipe tables), and as plain text.

Owns: blocks, their prefixes and the blank lines between them, tables, listings. Must not know: elements, the main part.
Start reading at `write`. Every block is written once and bounded: its indent, its cells, the sum of all characters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from honeyguide.adapters.html.rendering import kinds
from honeyguide.adapters.html.rendering.inline import LINE_BREAK, InlineText, escape_start

if TYPE_CHECKING:
    from collections.abc import Callable

    from honeyguide.adapters.html.rendering.main_part import PagePart
    from honeyguide.adapters.html.rendering.tokens import TableToken, Tokens

MAX_INDENT = 24  # characters before a line; deeper lists are not indented further
MAX_CHARS = 1_000_000  # of Markdown
MAX_CELL_CHARS = 3_000  # a table with a longer cell is no table but a layout
MAX_CELLS = 20_000
MAX_COLUMNS = 200
_TICKS = re.compile(r"^ *(`{3,})", re.MULTILINE)
_CLOSING = re.compile(r" (#+)$")
_INLINE: Final = frozenset({kinds.LINK, kinds.STYLE, kinds.CODE, kinds.IMAGE, kinds.LINE_BREAK})
_LISTS: Final = frozenset({kinds.BULLETS, kinds.NUMBERS})
_LINES_IN_LISTING: Final = frozenset({kinds.LINE_BREAK, -kinds.BLOCK, -kinds.ROW, -kinds.ITEM})
_MARKS: Final = {kinds.ITEM: "- ", kinds.TERM: "- ", kinds.DEFINITION: "  ", kinds.QUOTE: "> "}


class Written(NamedTuple):
    """What was written."""

    markdown: str
    text: str
    headings: tuple[str, ...]
    has_title: bool  # a heading of the first level
    is_cut: bool  # a limit ended it


class _Container(NamedTuple):
    """A list item, a definition or a quotation: what stands before its first line, and before the others."""

    kind: int
    mark: str
    prefix: str  # with those of the containers around it


def write(part: PagePart, resolve: Callable[[str], str]) -> Written:
    """Write a part of a page; `resolve` makes an href absolute, or empty if nobody can follow it."""
    return _Writer(part.tokens, resolve).run(part.first, part.last)


class _Writer:
    def __init__(self, tokens: Tokens, resolve: Callable[[str], str]) -> None:
        self._kinds, self._values, self._resolve = tokens.kinds, tokens.values, resolve
        self._lines: list[str] = []
        self._texts: list[str] = []
        self._headings: list[str] = []
        self._containers: list[_Container] = []
        self._fresh = 0  # how many of the last containers have no line yet
        self._lists: list[int] = []  # open lists: the number of their next item, -1 for bullets
        self._begun: list[bool] = []  # whether these have an item already
        self._line: InlineText | None = None
        self._url = ""  # of an open link without text
        self._heading = 0  # the level of the open heading
        self._has_title = False
        self._size = 0

    def run(self, first: int, last: int) -> Written:
        at = first
        while at < last and self._size < MAX_CHARS:
            kind = self._kinds[at]
            if 0 <= kind <= kinds.LINKED_TEXT:
                self._inline().text(self._values[at])
            elif kind == kinds.PRE and not self._heading:
                at = self._listing(at, last)
            elif kind == kinds.TABLE and not self._heading and not self._values[at].is_layout:
                at = self._table(at, last)
            else:
                self._add(kind, self._values[at])
            at += 1
        self._flush()
        return Written(
            markdown=_cut("\n".join(self._lines)),
            text=_cut("\n".join(self._texts)),
            headings=tuple(self._headings),
            has_title=self._has_title,
            is_cut=at < last,
        )

    def _inline(self) -> InlineText:
        if self._line is None:
            self._line = InlineText(self._resolve, self._url)
            self._url = ""
        return self._line

    def _add(self, kind: int, value: Any) -> None:
        """Add the beginning or the end of an element."""
        if abs(kind) in _INLINE:
            _add_inline(self._inline(), kind, value)
        elif self._heading and kind != -kinds.HEADING:
            self._inline().gap(" ")
        else:
            self._flush()
            self._add_block(kind, value)

    def _add_block(self, kind: int, value: Any) -> None:
        if abs(kind) == kinds.HEADING:
            self._heading = value if kind > 0 else 0
        elif kind in _LISTS:
            self._lists.append(-1 if value is None else value)
            is_nested = bool(self._containers) and self._containers[-1].kind == kinds.ITEM
            self._begun.append(is_nested)  # a list in an item follows its text at once
        elif -kind in _LISTS:
            if self._lists:
                self._lists.pop()
                self._begun.pop()
        elif kind in _MARKS:
            self._push(kind, self._next_number() if kind == kinds.ITEM else _MARKS[kind])
            if kind == kinds.TERM and value:  # the signature of a function
                self._inline().begin("code")
        elif -kind in _MARKS:
            self._pop(-kind)
        elif kind == kinds.RULE:
            self._write(["---"], "")

    def _next_number(self) -> str:
        """Return the mark of the next item of the innermost list."""
        number = self._lists[-1] if self._lists else -1
        if number < 0:
            return _MARKS[kinds.ITEM]
        self._lists[-1] = min(number + 1, 999_999_999)
        return f"{number}. "

    def _push(self, kind: int, mark: str) -> None:
        """Open a container; one that would be indented too far has no mark."""
        around = self._containers[-1].prefix if self._containers else ""
        if len(around) + len(mark) > MAX_INDENT:
            mark = ""
        self._containers.append(
            _Container(kind, mark, around + (mark if kind == kinds.QUOTE else " " * len(mark)))
        )
        self._fresh += 1

    def _pop(self, kind: int) -> None:
        """Close a container; an end whose beginning is not part of the content is ignored."""
        if any(container.kind == kind for container in reversed(self._containers)):  # the last one, as a rule
            while self._containers.pop().kind != kind:
                pass
            self._fresh = min(self._fresh, len(self._containers))

    def _flush(self) -> None:
        """Write the text since the last block as a paragraph or a heading."""
        line, self._line = self._line, None
        if line is None:
            return
        markdown, text, self._url = line.finish()
        if not markdown:
            return
        if self._heading:
            self._has_title |= self._heading == 1
            title = _CLOSING.sub(r" \\\1", " ".join(markdown.split()))
            self._headings.append(" ".join(text.split()))
            self._write([f"{'#' * self._heading} {title}"], text)
        else:
            self._write([escape_start(part) for part in markdown.split("\n")], text)

    def _write(self, lines: list[str], text: str) -> None:
        """Write a block below the prefixes of its containers, after a blank line if it needs one."""
        known = len(self._containers) - self._fresh
        fresh = self._containers[known:]
        before = self._containers[known - 1].prefix if known else ""
        is_tight = bool(fresh) and self._is_tight(fresh)
        if self._lines and not is_tight:
            self._lines.append(before.rstrip())
        rest = fresh[-1].prefix if fresh else before
        self._fresh = 0
        self._lines.append(before + "".join([container.mark for container in fresh]) + lines[0])
        self._lines.extend(rest + line if line else rest.rstrip() for line in lines[1:])
        self._size += sum(map(len, lines)) + len(lines) * (len(rest) + 1)
        if text:
            self._texts.append(text)

    def _is_tight(self, fresh: list[_Container]) -> bool:
        """Tell whether an item follows the line before it without a blank line."""
        if fresh[0].kind != kinds.ITEM or not self._begun:
            return False
        is_tight, self._begun[-1] = self._begun[-1], True
        return is_tight

    def _listing(self, at: int, last: int) -> int:
        """Write a listing as it is; return where it ends."""
        self._flush()
        language = self._values[at]
        parts = []
        at += 1
        while at < last and self._kinds[at] != -kinds.PRE:
            kind = self._kinds[at]
            if 0 <= kind <= kinds.LINKED_TEXT:
                parts.append(self._values[at])
            elif kind in _LINES_IN_LISTING:
                parts.append("\n")
            at += 1
        code = "".join(parts).replace("\r", "").strip("\n")[: MAX_CHARS - self._size]
        if code.strip():
            longest = max(map(len, _TICKS.findall(code)), default=2)
            fence = "`" * (longest + 1)
            lines = [
                line.rstrip() for line in code.split("\n")[: (MAX_CHARS - self._size) // (MAX_INDENT + 1)]
            ]
            self._write([fence + language, *lines, fence], code)
        return at

    def _table(self, at: int, last: int) -> int:
        """Write a table as pipe rows and return where it ends; a table that cannot be one is read again as blocks."""
        self._flush()
        rows, end = self._rows(at + 1, last)
        table: TableToken = self._values[at]
        grid = _grid(rows)
        if grid is None:
            table.is_layout = True
            return at - 1
        columns = max(map(len, grid))
        lines = ["| " + " | ".join(row + [""] * (columns - len(row))) + " |" for row in grid]
        lines.insert(1, "|" + " --- |" * columns)
        texts = (" ".join(filter(None, (cell.text for cell in row))) for row in rows)
        self._write(lines, "\n".join(filter(None, texts)))
        return end

    def _rows(self, at: int, last: int) -> tuple[list[list[_Cell]], int]:
        """Read the cells of a table up to its end."""
        rows: list[list[_Cell]] = []
        line: InlineText | None = None
        columns, height = 1, 1
        while at < last and self._kinds[at] != -kinds.TABLE:
            kind, value = self._kinds[at], self._values[at]
            if kind == kinds.ROW:
                rows.append([])
            elif kind == kinds.CELL:
                line, (columns, height, _) = InlineText(self._resolve), value
            elif kind == -kinds.CELL and line is not None and rows:
                markdown, text, _ = line.finish()
                rows[-1].append(
                    _Cell(
                        " ".join(markdown.split()).replace("|", "\\|"),
                        " ".join(text.split()),
                        columns,
                        height,
                    )
                )
                line = None
            elif 0 <= kind <= kinds.LINKED_TEXT:
                (line or self._inline()).text(value)
            elif abs(kind) in _INLINE:
                _add_inline(line or self._inline(), kind, value)
            elif line is not None:
                line.gap(" ")
            at += 1
        self._flush()  # the caption
        return rows, at


def _cut(text: str) -> str:
    """Cut a text that is too long, at the end of a line if there is one."""
    if len(text) <= MAX_CHARS:
        return text
    return text[:MAX_CHARS].rpartition("\n")[0] or text[:MAX_CHARS]


class _Cell(NamedTuple):
    markdown: str
    text: str
    columns: int
    rows: int


def _grid(rows: list[list[_Cell]]) -> list[list[str]] | None:
    """Put cells into columns: wide cells are padded, high ones repeated. None if there is no table in it."""
    grid: list[list[str]] = []
    high: dict[int, tuple[int, str]] = {}  # by column: rows that a cell still covers, and its text
    count = chars = 0
    for row in rows:
        cells: list[str] = []
        for cell in row:
            _repeat(high, cells)
            if len(cell.markdown) > MAX_CELL_CHARS or len(cells) + cell.columns > MAX_COLUMNS:
                return None
            if cell.rows > 1:
                high[len(cells)] = (cell.rows - 1, cell.markdown)
            cells += [cell.markdown] + [""] * (cell.columns - 1)
        _repeat(high, cells)
        count += len(cells)
        chars += sum(map(len, cells))
        if count > MAX_CELLS or chars > MAX_CHARS:
            return None
        if any(cells):
            grid.append(cells)
    return grid if len(grid) > 1 and max(map(len, grid)) > 1 else None


def _repeat(high: dict[int, tuple[int, str]], cells: list[str]) -> None:
    """Add the cells that reach down from rows above."""
    while covered := high.pop(len(cells), None):
        left, text = covered
        if left > 1:
            high[len(cells)] = (left - 1, text)
        cells.append(text)


def _add_inline(line: InlineText, kind: int, value: Any) -> None:
    """Add a mark, a link, an image or a break to a line."""
    if kind == kinds.LINK:
        line.begin_link(value)
    elif kind == -kinds.LINK:
        line.end_link()
    elif kind == kinds.STYLE:
        on, off = value
        line.begin(on) if on else line.end(off)
    elif kind == kinds.IMAGE:
        line.image(*value)
    elif kind == kinds.LINE_BREAK:
        line.gap(LINE_BREAK)
    else:
        line.begin("code") if kind > 0 else line.end("code")
