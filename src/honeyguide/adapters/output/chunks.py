"""The Markdown of a page in pieces for retrieval: by headings, each with the path of headings above it.

Owns: where a text may be cut. Must not know: where the Markdown comes from. Start reading at `chunks_of`. A listing or a
table is never cut, so a piece with one may be longer than was asked for; a paragraph is cut between words.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.records.fields import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.core.records import Record
    from honeyguide.core.records.fields import ChunkRecord

MIN_CHUNK, MAX_CHUNK = 100, 1_000_000  # characters of a chunk that may be asked for
_HEADING = re.compile(r"(#{1,6}) +(.*)")
_FENCE = re.compile(r" *(`{3,}|~{3,})")
_TABLE = re.compile(r" *\|")


class _Block(NamedTuple):
    """What stands between two empty lines, or a whole listing."""

    text: str
    is_whole: bool = False  # never cut


def chunk_records(record: Record, markdown: str, chars: int) -> Iterator[ChunkRecord]:
    """Cut a page into pieces of at most so many characters; ids depend on the URL, the headings and the text alone."""
    seen: dict[str, int] = {}
    for place, (path, text) in enumerate(chunks_of(markdown, chars), 1):
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
        }


def chunks_of(markdown: str, chars: int) -> Iterator[tuple[tuple[str, ...], str]]:
    r"""Cut Markdown at its headings, and longer parts between blocks; gives the path of headings and the text of each.

    >>> list(chunks_of("# A\n\nOne two.\n\n## B\n\n```\nx\n\ny\n```", 9))
    [(('A',), 'One two.'), (('A', 'B'), '```\nx\n\ny\n```')]
    """
    path: list[tuple[int, str]] = []
    parts: list[str] = []

    def piece() -> Iterator[tuple[tuple[str, ...], str]]:
        if parts:
            yield tuple(text for _, text in path), "\n\n".join(parts)
            parts.clear()

    for block in _blocks(markdown):
        heading = None if block.is_whole else _HEADING.fullmatch(block.text)
        if heading:
            yield from piece()
            level = len(heading[1])
            path = [*(one for one in path if one[0] < level), (level, heading[2].strip())]
            continue
        for text in (block.text,) if block.is_whole else _cut(block.text, chars):
            if parts and sum(map(len, parts)) + 2 * len(parts) + len(text) > chars:
                yield from piece()
            parts.append(text)
    yield from piece()


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
    """Cut a paragraph or a list: between lines where it has some, else between words; a longer word stays whole."""
    while len(text) > chars:
        at = text.rfind("\n", 1, chars + 1)
        at = at if at > 0 else text.rfind(" ", 1, chars + 1)
        at = at if at > 0 else text.find(" ", chars)
        if at <= 0:
            break
        yield text[:at].rstrip()
        text = text[at:].strip("\n ")
    if text:
        yield text
