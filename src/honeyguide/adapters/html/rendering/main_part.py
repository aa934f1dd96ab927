"""Which tokens of a page are its main part.

Owns: the choice between `main`, an article, a named element, and everything but the rows of links at both edges. Must not
know: how tokens are made or written. Start reading at `main_part`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from honeyguide.adapters.html.rendering import kinds
from honeyguide.adapters.html.rendering.tokens import Box, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAIN_SHARE = 1 / 3  # of the characters of a page: a main element with less is a mistake
_ARTICLE_SHARE = 0.7
_NAMED_SHARE = 0.6
_SECOND_SHARE = 0.05  # a second element of the same name with more is one of several
_ROW_LINKS = 3  # at an edge, at least
_ROW_SHARE = 0.7  # of the characters of an edge are links
_ROW_MOST = 0.5  # of the characters of a page: an edge with more is what the page is for
_PROSE_CHARS = 60  # outside of links, in one block
_INLINE = frozenset({
    kinds.TEXT, kinds.LINKED_TEXT, kinds.LINK, -kinds.LINK, kinds.STYLE, kinds.CODE, -kinds.CODE, kinds.IMAGE,
})  # fmt: skip


class PagePart(NamedTuple):
    """A part of a page: its first token, and the one after its last."""

    tokens: Tokens
    first: int
    last: int

    def prose_chars(self) -> int:
        """Count the characters of text outside of links."""
        part = slice(self.first, self.last)
        pairs = zip(self.tokens.kinds[part], self.tokens.values[part], strict=True)
        return sum(len(value.strip()) for kind, value in pairs if kind == kinds.TEXT)


def main_part(tokens: Tokens) -> PagePart:
    """Choose the main part of a page: an element, or what is between rows of links at its top and its end."""
    box = _marked(tokens) or _named(tokens)
    if box is not None:
        return PagePart(tokens, box.first, box.last)
    count = len(tokens.kinds)
    first = _edge(tokens, range(count))
    part = PagePart(tokens, first, count - _edge(tokens, range(count - 1, first - 1, -1)))
    return part if _has_prose(part) else PagePart(tokens, 0, count)


def _marked(tokens: Tokens) -> Box | None:
    """Find a main element with a third of the text, in it an article with most of it; or else such an article."""
    page = Box(kinds.BLOCK, 0, len(tokens.kinds), tokens.chars)
    main = _large(tokens, kinds.MAIN, page, _MAIN_SHARE)
    return _large(tokens, kinds.ARTICLE, main or page, _ARTICLE_SHARE) or main


def _large(tokens: Tokens, kind: int, around: Box, share: float) -> Box | None:
    """Find the largest element of a kind in a part, if it has a share of its text."""
    inside = (box for box in tokens.boxes if box.kind == kind and around.first <= box.first < around.last)
    found = max(inside, key=_chars, default=None)
    return found if found is not None and found.chars and found.chars >= share * around.chars else None


def _named(tokens: Tokens) -> Box | None:
    """Find the innermost element with most of the text whose name says content, unless it is one of several."""
    named = [box for box in tokens.boxes if box.kind == kinds.NAMED_CONTENT and box.chars]
    large = [box for box in named if box.chars >= _NAMED_SHARE * tokens.chars]
    if not large:
        return None
    found = min(large, key=_chars)  # of nested ones the innermost has the least
    others = (box for box in named if box.last <= found.first or box.first >= found.last)
    return None if any(box.chars >= _SECOND_SHARE * tokens.chars for box in others) else found


def _chars(box: Box) -> int:
    return box.chars


def _edge(tokens: Tokens, order: Iterable[int]) -> int:
    """Count the tokens of a row of links, up to the first heading or block of prose; 0 if there is no such row."""
    links = linked = chars = prose = passed = block_start = 0
    before_block = (0, 0, 0)
    for number, at in enumerate(order):
        kind = tokens.kinds[at]
        if 0 <= kind <= kinds.LINKED_TEXT:
            size = len(tokens.values[at].strip())
            chars += size
            if kind == kinds.LINKED_TEXT:
                linked += size
            else:
                prose += size
                if prose >= _PROSE_CHARS:
                    passed, (links, linked, chars) = block_start, before_block
                    break
        elif abs(kind) == kinds.HEADING:
            passed = number
            break
        elif kind == kinds.LINK:
            links += 1
        elif kind not in _INLINE:
            prose, block_start, before_block = 0, number, (links, linked, chars)
    is_row = links >= _ROW_LINKS and _ROW_SHARE * chars <= linked <= _ROW_MOST * tokens.chars
    return passed if is_row else 0


def _has_prose(part: PagePart) -> bool:
    """Tell whether a part has a block of prose at all: an index page has none."""
    tokens, prose = part.tokens, 0
    for at in range(part.first, part.last):
        kind = tokens.kinds[at]
        if kind == kinds.TEXT:
            prose += len(tokens.values[at].strip())
            if prose >= _PROSE_CHARS:
                return True
        elif kind not in _INLINE:
            prose = 0
    return False
