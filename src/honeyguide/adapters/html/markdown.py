"""Links in Markdown text (URL-12).

Owns: finding `[text](url)` and its relatives, as CommonMark means them, without rendering anything.
Must not know: what a URL is; destinations are handed on as they are written.
Every character is looked at a bounded number of times, whatever the text: strangers write it.
Start reading at `parse_markdown_links`; `_Blocks` takes away the code, `_Inline` reads what is left.
"""

from __future__ import annotations

import re
from html import unescape
from typing import NamedTuple

_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_SPECIAL = re.compile(r"[\\`\[\]<]|!\[")
_TICKS = re.compile(r"`+")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
# Runs are taken whole (`++`): giving letters back one by one would look at a long run again for each of them.
_EMPHASIS = re.compile(r"\*+(?=\S)|(?<=\S)\*+|~~|(?<!\w)(?:__++|_(?=\S))|(?<=[^\s_])_++(?!\w)")
_QUOTE = re.compile(r" {0,3}> ?")
_FENCE = re.compile(r" *(`{3,}(?=[^`]*\Z)|~{3,})")
_ITEM = re.compile(r" *(?:[-*+]|[0-9]{1,9}[.)])(?: +|\Z)")
_DEFINITION = re.compile(
    r" {0,3}\[([^\[\]^][^\[\]]{0,998})\]:[ \t]*(<[^<>]*>|[^\s<]\S*)[ \t]*(?:[\"'(].*)?\Z"
)
_TAG = re.compile(r"<(?:([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*)|/?[A-Za-z][^<>]*)>")
_MAX_LABEL = 999  # of a reference, as CommonMark has it
_MAX_NESTED = 32  # parentheses in a destination


def parse_markdown_links(text: str) -> list[tuple[str, str]]:
    """Give anchor text and destination of each link, in order.

    >>> parse_markdown_links("[About *us*](/about 'title'), ![logo](x.png), `[no](code)`, [![alt](i.png)](/home)")
    [('About us', '/about'), ('alt', '/home')]
    """
    blocks = _Blocks()
    for line in text.splitlines():
        blocks.add(line)
    blocks.end_paragraph()
    return [link for paragraph in blocks.paragraphs for link in _Inline(paragraph, blocks.references).read()]


class _Blocks:
    """Paragraphs without code, and the definitions that references point to."""

    def __init__(self) -> None:
        self.paragraphs: list[str] = []
        self.references: dict[str, str] = {}
        self._lines: list[str] = []
        self._fence = ""
        self._fence_depth = 0
        self._offset = 0  # how far the text of the current list item is indented

    def add(self, line: str) -> None:
        """Take the next line."""
        line, depth = _unquote(line)
        if self._fence and depth >= self._fence_depth:
            if line.strip().startswith(self._fence) and not line.strip().strip(self._fence[0]):
                self._fence = ""
            return
        self._fence = ""
        indent = len(line) - len(line.lstrip(" "))
        if indent == len(line):
            self.end_paragraph()
        elif indent >= self._offset + 4 and not self._lines:
            return  # an indented code block
        elif (fence := _FENCE.match(line)) and indent < self._offset + 4:
            self.end_paragraph()
            self._fence, self._fence_depth = fence[1], depth
        else:
            self._add_text(line, indent)

    def _add_text(self, line: str, indent: int) -> None:
        if item := _ITEM.match(line):
            self.end_paragraph()
            self._offset = item.end()
        elif indent < self._offset and not self._lines:
            self._offset = indent
        found = None if self._lines else _DEFINITION.match(line)
        if found:
            self.references.setdefault(_label(found[1]), _clean(found[2].removeprefix("<").removesuffix(">")))
        else:
            self._lines.append(line)

    def end_paragraph(self) -> None:
        """Close the paragraph: no link goes on after it."""
        if self._lines:
            self.paragraphs.append("\n".join(self._lines))
            self._lines.clear()


class _Opener(NamedTuple):
    """An opening bracket that waits for its closing one."""

    at: int  # of what follows it
    piece: int
    found: int
    is_image: bool


class _Inline:
    """One paragraph, read from left to right with a stack of open brackets."""

    def __init__(self, text: str, references: dict[str, str]) -> None:
        self._text = text
        self._references = references
        self._pieces: list[str] = []  # the visible text so far
        self._stack: list[_Opener] = []
        self._inactive = 0  # so many openers of the stack stand around a link, and a link holds no other
        self._links: list[tuple[str, str]] = []
        self._has_comments = True
        self._ticks: dict[int, list[int]] = {}
        for run in reversed(list(_TICKS.finditer(text))):
            self._ticks.setdefault(run.end() - run.start(), []).append(run.start())

    def read(self) -> list[tuple[str, str]]:
        """Give the links of the paragraph."""
        at = 0
        while found := _SPECIAL.search(self._text, at):
            self._pieces.append(self._text[at : found.start()])
            at = self._read_special(found[0], found.start())
        return self._links

    def _read_special(self, mark: str, at: int) -> int:
        """Deal with one character that means something; give where to go on."""
        match mark:
            case "\\":
                return self._read_escape(at)
            case "`":
                return self._read_code(at)
            case "<":
                return self._read_tag(at)
            case "]":
                return self._close(at)
            case _:
                self._stack.append(_Opener(at + len(mark), len(self._pieces), len(self._links), mark == "!["))
                self._inactive = min(self._inactive, len(self._stack) - 1)
                return self._show(mark, at + len(mark))

    def _show(self, text: str, after: int) -> int:
        self._pieces.append(text)
        return after

    def _read_escape(self, at: int) -> int:
        following = self._text[at + 1 : at + 2]
        return self._show(following, at + 2) if following in _PUNCTUATION else self._show("\\", at + 1)

    def _read_code(self, at: int) -> int:
        """Skip a code span, which ends at the next run of as many backticks."""
        run = _TICKS.match(self._text, at)
        size = len(run[0]) if run else 1
        closers = self._ticks.get(size, [])
        while closers and closers[-1] <= at:
            closers.pop()
        if not closers:
            return self._show("`" * size, at + size)
        return self._show(self._text[at + size : closers[-1]], closers[-1] + size)

    def _read_tag(self, at: int) -> int:
        """Skip an HTML tag or comment; `<https://a.example>` is a link, and links hold no other."""
        if self._text.startswith("<!--", at):
            end = self._text.find("-->", at) if self._has_comments else -1
            self._has_comments = end >= 0
            return end + 3 if end >= 0 else self._show("<", at + 1)
        tag = _TAG.match(self._text, at)
        if tag is None:
            return self._show("<", at + 1)
        if tag[1]:
            self._links.append((tag[1], tag[1]))
            self._inactive = len(self._stack)
            self._pieces.append(tag[1])
        return tag.end()

    def _close(self, at: int) -> int:
        """Match a closing bracket with its opener; what follows says whether they make a link."""
        if not self._stack:
            return self._show("]", at + 1)
        opener = self._stack.pop()
        active = opener.is_image or len(self._stack) >= self._inactive
        found = self._destination(opener, at) if active else None
        if found is None:
            return self._show("]", at + 1)
        url, after = found
        self._pieces[opener.piece] = ""
        if opener.is_image:
            del self._links[opener.found :]  # what stands in an image's description is text
        else:
            self._links.append((_plain("".join(self._pieces[opener.piece :])), url))
            self._inactive = len(self._stack)
        return after

    def _destination(self, opener: _Opener, at: int) -> tuple[str, int] | None:
        """Read what follows a closing bracket: a destination in parentheses, a reference, or nothing."""
        following = self._text[at + 1 : at + 2]
        if following == "(" and (inline := _inline_destination(self._text, at + 2)):
            return inline
        if not self._references:
            return None
        first, last, after = opener.at, at, at + 1
        if following == "[" and (end := self._text.find("]", at + 2, at + 3 + _MAX_LABEL)) > 0:
            after = end + 1
            first, last = (at + 2, end) if end > at + 2 else (first, last)
        if last - first > _MAX_LABEL or "[" in (label := self._text[first:last]):
            return None
        url = self._references.get(_label(label))
        return None if url is None else (url, after)


_SPACE = re.compile(r"[ \t]*\n?[ \t]*")
_ANGLED = re.compile(r"<((?:[^<>\n\\]|\\.)*)>")
_TITLE = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)", re.DOTALL)
_STEP = re.compile(r"[^\s()\\\x00-\x1f\x7f]+|\\.|[()\\]")


def _inline_destination(text: str, at: int) -> tuple[str, int] | None:
    """Read `url "title")`; give the URL and where the text goes on."""
    at = _skip_space(text, at)
    if angled := _ANGLED.match(text, at):
        url, at = angled[1], angled.end()
    elif text.startswith("<", at):
        return None
    else:
        start, at = at, _end_of_bare(text, at)
        url = text[start:at]
    after = _skip_space(text, at)
    if after > at and (title := _TITLE.match(text, after)):
        after = _skip_space(text, title.end())
    return (_clean(url), after + 1) if text.startswith(")", after) else None


def _skip_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _end_of_bare(text: str, at: int) -> int:
    """Find the end of a destination without angle brackets: a space, or a parenthesis that it did not open."""
    depth = 0
    while (step := _STEP.match(text, at)) and depth <= _MAX_NESTED:
        depth += (step[0] == "(") - (step[0] == ")")
        if depth < 0:
            break
        at = step.end()
    return at


def _unquote(line: str) -> tuple[str, int]:
    """Take the marks of block quotes off a line; give how many there were."""
    line, depth, at = line.expandtabs(4), 0, 0
    while mark := _QUOTE.match(line, at):
        at, depth = mark.end(), depth + 1
    return line[at:], depth


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()


def _clean(url: str) -> str:
    """Undo escapes and entities."""
    return _unescape(_ESCAPED.sub(r"\1", url))


def _plain(anchor: str) -> str:
    """Fold the whitespace of an anchor text and take its emphasis away."""
    return _unescape(_EMPHASIS.sub("", " ".join(anchor.split())))


def _unescape(text: str) -> str:
    """Read character references; one with thousands of digits is a trap and leaves the text as it is."""
    try:
        return unescape(text)
    except ValueError:
        return text


_BARE = re.compile(r"(?<![^\s*_~|(:;,-])https?://[^\s<>`\[\]|\\]+", re.IGNORECASE)


def autolinked(line: str) -> str:
    """Put bare addresses of a line into angle brackets, as Markdown wants links; those of other links stay.

    >>> autolinked("- http://a.example/, [b](http://b.example)")
    '- <http://a.example/>, [b](http://b.example)'
    """
    parts, done, brackets = [], 0, 0
    for found in _BARE.finditer(line):
        before = line[done : found.start()]
        brackets += before.count("[") - before.count("]")
        url = found[0].rstrip(".,;:!?*_~'\")")
        is_bare = brackets <= 0 and not before.rstrip().endswith(("](", "]:"))
        parts += [before, f"<{url}>" if is_bare else url]
        done = found.start() + len(url)
    return "".join([*parts, line[done:]])
