"""One line of Markdown: text with links, code, emphasis and images in it.

Owns: escaping, and marks that a CommonMark parser reads as they are meant: spaces move out of them, marks that would be read
otherwise are dropped, never the text. Must not know: blocks, elements. Start reading at `InlineText`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_SPECIAL = re.compile(r"[\\`*_<&~\]\[]")
_MARKS_IN_TEXT = r"""\\(?=[!-/:-@\[-`{-~]|$)   # before punctuation
    | `
    | \*(?!\ ) | (?<!\ )\*        # a star alone between spaces means itself
    | (?<![^\W_])_ | _(?![^\W_])  # inside a word it means itself
    | <(?=[A-Za-z/!?])
    | &(?=\#|[A-Za-z][A-Za-z0-9]{1,31};)
    | ~(?=~)
"""
_ESCAPED = re.compile(_MARKS_IN_TEXT + r"| \](?=[(\[:])", re.VERBOSE)
_ESCAPED_IN_LINK = re.compile(_MARKS_IN_TEXT + r"| [\[\]]", re.VERBOSE)
_LINE_START = re.compile(r"#{1,6}(?=\s|$)|>|[-+](?=\s|$)|\[(?=[^\]]{0,999}\]:)")
_NUMBER_START = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_TICKS = re.compile(r"`+")
_EMPHASIS: Final = {
    "b": "**", "strong": "**", "i": "*", "em": "*", "s": "~~", "strike": "~~", "del": "~~",
}  # fmt: skip
_CODE: Final = frozenset({"code", "tt", "kbd", "samp"})
_LINK = "["
_MARKS: Final = frozenset({*_EMPHASIS.values(), _LINK})
_STARTS: Final = frozenset("#>-+=|:[")
LINE_BREAK = "  \n"


class InlineText:
    """Text in the making: add texts and marks in their order, then `finish` it."""

    __slots__ = (
        "_closed", "_code", "_ignored", "_link_at", "_opens", "_pairs", "_parts", "_resolve", "_space", "_stack", "_texts", "_url"
    )  # fmt: skip

    def __init__(self, resolve: Callable[[str], str], url: str = "") -> None:
        """`resolve` makes an href absolute, or empty if nobody can follow it; `url` is of a link that is open already."""
        self._resolve = resolve
        self._parts: list[str] = []
        self._texts: list[str] = []  # without marks
        self._space = ""  # what separates the next text: nothing, a space or a break
        self._opens: list[str] = []  # marks that wait for their text
        self._stack: list[tuple[str, int]] = []  # open marks, and where their parts are
        self._pairs: list[tuple[int, int]] = []  # where marks begin and end
        self._closed = -1  # the part that closed the last mark
        self._code: list[str] | None = None  # the texts of open code
        self._url = url  # of the open link
        self._ignored = 0  # open links that are none
        self._link_at = 0  # where the part of the open link is
        if url:
            self._opens.append(_LINK)

    def text(self, raw: str) -> None:
        """Add a text as it stands in the document."""
        if self._code is not None:
            self._code.append(raw)
            return
        body = " ".join(raw.split())
        if not body:
            self.gap(" ")
            return
        if raw[0].isspace():
            self.gap(" ")
        self._emit(escape(body, is_linked=bool(self._url)), body)
        if raw[-1].isspace():
            self.gap(" ")

    def gap(self, space: str) -> None:
        """Set the next text apart: by a space, or by `LINE_BREAK`."""
        if self._code is not None:
            self._code.append(" ")
        elif self._texts and self._space != LINE_BREAK:
            self._space = space

    def begin(self, name: str) -> None:
        """Begin code or emphasis, by the name of its element."""
        if name in _CODE:
            if self._code is None:
                self._code = []
            return
        mark = _EMPHASIS.get(name)
        if mark is None or mark in self._opens or any(mark == other for other, _ in self._stack):
            return
        if (
            not self._space
            and self._closed == len(self._parts) - 1
            and self._parts
            and self._parts[-1] == mark
        ):
            self._parts.pop()  # it continues
            self._stack.append((mark, self._pairs.pop()[0]))
        else:
            self._opens.append(mark)

    def end(self, name: str) -> None:
        """End code or emphasis."""
        if name in _CODE:
            self._end_code()
        elif mark := _EMPHASIS.get(name):
            if mark in self._opens:
                self._opens.remove(mark)
            elif any(mark == other for other, _ in self._stack):
                self._close(mark)

    def begin_link(self, href: str) -> None:
        """Begin a link; a link inside a link is none."""
        url = "" if self._url else self._resolve(href)
        if not url:
            self._ignored += 1
            return
        is_code = self._code is not None
        self._end_code()
        if self._parts and self._parts[-1].startswith("]("):
            self.gap(" ")  # style sheets usually set links side by side apart
        self._url = url
        self._opens.append(_LINK)
        if is_code:
            self._code = []

    def end_link(self) -> None:
        """End a link."""
        if self._ignored:
            self._ignored -= 1
        elif self._url:
            is_code = self._code is not None
            self._end_code()
            self._close_link()
            self._url = ""
            if is_code:
                self._code = []

    def image(self, alternative: str, source: str) -> None:
        """Add an image: in a link only its alternative text."""
        alternative = " ".join(alternative.split())
        if not alternative or self._code is not None:
            return
        if self._url:
            self.text(f" {alternative} ")
        elif url := self._resolve(source):
            self._emit(f"![{escape(alternative, is_linked=True)}]({url})", "")

    def finish(self) -> tuple[str, str, str]:
        """Return the Markdown, the plain text, and the URL of a link that is still open because it has no text yet."""
        self._end_code()
        if self._url and _LINK not in self._opens:
            self._close_link()
            self._url = ""
        for _, at in self._stack:
            self._parts[at] = ""
        for first, last in self._pairs:
            if not self._is_flanked(first, last):
                self._parts[first] = self._parts[last] = ""
        return "".join(self._parts), "".join(self._texts).strip(), self._url

    def _emit(self, spelled: str, plain: str) -> None:
        parts = self._parts
        if self._space:
            parts.append(self._space)
            self._texts.append("\n" if self._space == LINE_BREAK else " ")
            self._space = ""
        for mark in self._opens:
            if mark == _LINK:
                if parts and parts[-1].endswith("!"):
                    parts[-1] = parts[-1][:-1] + "\\!"  # or it is an image
                self._link_at = len(parts)
            else:
                self._stack.append((mark, len(parts)))
            parts.append(mark)
        self._opens.clear()
        parts.append(spelled)
        self._texts.append(plain)

    def _close(self, mark: str) -> None:
        """Close emphasis; marks that began inside it, or around an open link, are dropped."""
        while self._stack:
            other, at = self._stack.pop()
            is_crossing = bool(self._url) and _LINK not in self._opens and at < self._link_at
            if other != mark or is_crossing:
                self._parts[at] = ""
            if other == mark:
                if not is_crossing:
                    self._closed = len(self._parts)
                    self._pairs.append((at, self._closed))
                    self._parts.append(mark)
                return

    def _close_link(self) -> None:
        if _LINK in self._opens:
            self._opens.remove(_LINK)  # without text there is nothing to follow
            return
        while self._stack and self._stack[-1][1] > self._link_at:
            self._parts[self._stack.pop()[1]] = ""
        self._parts.append(f"]({self._url})")

    def _end_code(self) -> None:
        if self._code is None:
            return
        raw, self._code = "".join(self._code), None
        if body := " ".join(raw.split()):
            if raw[0].isspace():
                self.gap(" ")
            self._emit(code_span(body), body)
        if raw and raw[-1].isspace():
            self.gap(" ")

    def _is_flanked(self, first: int, last: int) -> bool:
        """Tell whether CommonMark takes these marks for the beginning and the end of emphasis."""
        before, inside = self._char(first - 1, -1), self._char(first + 1, 1)
        begins = inside.isalnum() or not before or not before.isalnum()
        inside, after = self._char(last - 1, -1), self._char(last + 1, 1)
        return begins and (inside.isalnum() or not after or not after.isalnum())

    def _char(self, at: int, step: int) -> str:
        """Find the next character that is not part of a mark."""
        parts = self._parts
        while 0 <= at < len(parts):
            if parts[at] and parts[at] not in _MARKS:
                return parts[at][0 if step > 0 else -1]
            at += step
        return ""


def escape(text: str, *, is_linked: bool = False) -> str:
    r"""Escape what CommonMark would read as a mark; in a link, brackets too.

    >>> escape("snake_case *is* <b>"), escape("[1]", is_linked=True)
    ('snake_case \\*is\\* \\<b>', '\\[1\\]')
    """
    if not _SPECIAL.search(text):
        return text
    return (_ESCAPED_IN_LINK if is_linked else _ESCAPED).sub(r"\\\g<0>", text)


def code_span(text: str) -> str:
    """Write inline code between more backticks than it has in a row.

    >>> code_span("a``b"), code_span("`")
    ('```a``b```', '`` ` ``')
    """
    ticks = "`" * (max(map(len, _TICKS.findall(text)), default=0) + 1)
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def escape_start(line: str) -> str:
    r"""Escape what would make a paragraph's line a heading, a list, a quotation, a rule or a table.

    >>> escape_start("1. May"), escape_start("# 5"), escape_start("-5 degrees")
    ('1\\. May', '\\# 5', '-5 degrees')
    """
    if line[:1] in _STARTS:
        return "\\" + line if _LINE_START.match(line) or not line.strip("-=:| ") else line
    return _NUMBER_START.sub(r"\1\\\2", line, count=1) if line[:1].isdigit() else line
