"""The Markdown of a page in pieces for retrieval: by headings, each with the path of headings above it.

Owns: where a text may be cut. Must not know: where the Markdown comes from. Start reading at `chunks_of`. A listing or a
table is never cut, so a piece with one may be longer than was asked for; a paragraph is cut between words. An item of a list
that fits is in one piece; what follows in a longer one is moved to the left.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.records.fields import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from honeyguide.core.records import Record
    from honeyguide.core.records.fields import ChunkRecord
    from honeyguide.ports.fetch import Content

MIN_CHUNK, MAX_CHUNK = 100, 1_000_000  # characters of a chunk that may be asked for
_HEADING = re.compile(r"(#{1,6}) +(.*)")
_FENCE = re.compile(r" *(`{3,}|~{3,})")
_TABLE = re.compile(r" *\|")
_LEAD = re.compile(r" *(?:[-*+] +|\d+[.)] +)?")  # what stands before the text of an item
_GAP = "\n\n"
_TINY = 8  # a piece is tiny if it has less than an eighth of the characters that it may have


class _Block(NamedTuple):
    """What stands between two empty lines, or a whole listing."""

    text: str
    is_whole: bool = False  # never cut


def chunk_records(record: Record, content: Content, chars: int) -> Iterator[ChunkRecord]:
    """Cut a page into pieces of at most so many characters; ids depend on the URL, the headings and the text alone."""
    seen: dict[str, int] = {}
    for place, (path, text) in enumerate(chunks_of(content.markdown, chars), 1):
        said = "\0".join((record["url"], *path, "", text))
        nth = seen[said] = seen.get(said, 0) + 1
        named = f"{said}\0{nth}".encode("utf-8", "backslashreplace")
        yield {
            "schema": SCHEMA,
            "id": blake2b(named, digest_size=8).hexdigest(),
            "url": record["url"],
            "title": record["title"],
            "language": record["language"],
            "relevance_score": record["relevance_score"],
            "topic_relevance": record["topic_relevance"],
            "headings": list(path),
            "place": place,
            "text": text,
            "is_cut": content.is_cut,
        }


def chunks_of(markdown: str, chars: int) -> Iterator[tuple[tuple[str, ...], str]]:
    r"""Cut Markdown at its headings, and longer parts between blocks; gives the path of headings and the text of each.

    >>> list(chunks_of("# A\n\nOne two.\n\n## B\n\n```\nx\n\ny\n```", 9))
    [(('A',), 'One two.'), (('A', 'B'), '```\nx\n\ny\n```')]
    """
    path: list[tuple[int, str]] = []
    section: list[_Block] = []

    def pieces() -> Iterator[tuple[tuple[str, ...], str]]:
        for parts in _packed(_units(section, chars), chars):
            yield tuple(text for _, text in path), "\n\n".join(_dedented(parts))
        section.clear()

    for block in _blocks(markdown):
        heading = None if block.is_whole else _HEADING.fullmatch(block.text)
        if heading:
            yield from pieces()
            level = len(heading[1])
            path = [*(one for one in path if one[0] < level), (level, heading[2].strip())]
        else:
            section.append(block)
    yield from pieces()


def _packed(units: Iterable[str], chars: int) -> list[list[str]]:
    """Put as many units into a piece as fit; a tiny piece gets the end of the one before it, or a listing that is too long anyway."""
    pieces, sizes, tiny = list[list[str]](), list[int](), chars // _TINY
    for unit in units:
        size = len(unit) + len(_GAP)
        if pieces and (sizes[-1] + size <= chars or (sizes[-1] < tiny and len(unit) > chars)):
            pieces[-1].append(unit)
            sizes[-1] += size
        else:
            pieces.append([unit])
            sizes.append(len(unit))
    for place, (before, piece) in enumerate(pairwise(pieces), 1):
        while sizes[place] < tiny:
            size = len(before[-1]) + len(_GAP)
            if sizes[place - 1] - size < tiny or sizes[place] + size > chars:
                break
            piece.insert(0, before.pop())
            sizes[place - 1 : place + 1] = sizes[place - 1] - size, sizes[place] + size
    return pieces


def _units(blocks: Sequence[_Block], chars: int) -> Iterator[str]:
    """Give what pieces are made of: a block with all that is indented below it, such as a definition, if that fits.

    Of one that is too long, the head stays with what comes next, and a long block is cut.
    """
    ends, place, head = _ends(blocks), 0, list[str]()
    starts = list(accumulate((len(block.text) + len(_GAP) for block in blocks), initial=0))
    while place < len(blocks):
        text, end = blocks[place].text, ends[place]
        if (
            _length(head) + starts[end] - starts[place] <= chars
        ):  # a gap more after the last block, and after the head
            yield _GAP.join((*head, *(block.text for block in blocks[place:end])))
            place, head = end, []
            continue
        is_head = end > place + 1 and len(text) <= chars
        if head and not (is_head and _length([*head, text]) <= chars):
            yield _GAP.join(head)
            head = []
        if is_head:
            head.append(text)
        else:
            yield from (text,) if blocks[place].is_whole else _cut(text, chars)
        place += 1


def _ends(blocks: Sequence[_Block]) -> list[int]:
    """Give where the group of each block ends: before the next block that is not indented further."""
    ends, open_ = [len(blocks)] * len(blocks), list[tuple[int, int]]()
    for place, block in enumerate(blocks):
        indent = _indent(block.text)
        while open_ and open_[-1][0] >= indent:
            ends[open_.pop()[1]] = place
        open_.append((indent, place))
    return ends


def _dedented(parts: Sequence[str]) -> Iterator[str]:
    """Move the parts of an item to the left if its beginning is in an earlier piece."""
    indent = _indent(parts[0])
    for part in parts:
        indent = indent if _indent(part) >= indent else 0
        yield re.sub(f"^ {{1,{indent}}}", "", part, flags=re.MULTILINE) if indent else part


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def _length(parts: Sequence[str]) -> int:
    return sum(map(len, parts)) + len(_GAP) * (len(parts) - 1)


def _blocks(markdown: str) -> Iterator[_Block]:
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        if fence:
            lines.append(line)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                yield _Block("\n".join(lines), is_whole=True)
                lines, fence = [], ""
            continue
        opening = _FENCE.match(line)
        if opening or not line.strip() or _HEADING.match(line):
            yield from _closed(lines)
            lines = []
        if opening:
            fence, lines = opening[1], [line]
        elif _HEADING.match(line):
            yield _Block(line)
        elif line.strip():
            lines.append(line)
    if fence:
        yield _Block("\n".join(lines), is_whole=True)
    else:
        yield from _closed(lines)


def _closed(lines: list[str]) -> Iterator[_Block]:
    if lines:
        yield _Block("\n".join(lines), is_whole=any(map(_TABLE.match, lines)))


def _cut(text: str, chars: int) -> Iterator[str]:
    """Cut a paragraph or a list: between lines where it has some, else between words; a longer word stays whole.

    The rest of a line is as far from the left as the text of the line.
    """
    first = _first(text)
    while len(text) > chars:
        at = text.rfind("\n", 1, chars + 1)
        if at <= 0:
            at = text.rfind(" ", first + 1, chars + 1)
            at = at if at > 0 else text.find(" ", max(chars, first + 1))
        if at <= 0:
            break
        yield text[:at].rstrip()
        rest = text[at:]
        if rest.startswith("\n"):
            text = rest.strip("\n")
            first = _first(text)
        else:  # the same line: what it begins with now, such as a dash, is no item
            first = first if 2 * first <= chars else 0  # far from the left, there would be little room
            text = " " * first + rest.strip(" \n")
    if text.strip():
        yield text


def _first(text: str) -> int:
    """Give where the text of the first line begins, behind the mark of an item."""
    return len(_LEAD.match(text)[0])  # type: ignore[index]  # it matches every text
