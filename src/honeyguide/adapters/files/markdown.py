"""Links in Markdown text (URL-12), read by markdown-it-py.

Owns: which tokens of CommonMark are links, their anchor texts, and how much text is read at all.
Must not know: what a URL is; destinations are returned as written. Start reading at `parse_markdown_links`.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

MAX_CHARS = 2_000_000  # of a text are read; each may cost 2 µs
MAX_MARKS = 100_000  # and of these no more: each may cost 30 µs, and a page has at most 20,000 links
_MARK = re.compile(r"[\n\[\]<`\\&!]|[*_~]+")
_BARE = re.compile(r"(?<![^\s*_~|(:;,-])https?://[^\s<>`\[\]|\\]+", re.IGNORECASE)


def parse_markdown_links(text: str, *, with_bare: bool = False) -> list[tuple[str, str]]:
    """Return anchor text and destination of each link, in order; `with_bare` adds addresses outside of links.

    >>> parse_markdown_links("[About *us*](/about 'title'), ![logo](x.png), `[no](code)`, [![alt](i.png)](/home)")
    [('About us', '/about'), ('alt', '/home')]
    >>> parse_markdown_links("http://a.example/, [b](/b)", with_bare=True)
    [('http://a.example/', 'http://a.example/'), ('b', '/b')]
    """
    blocks = _parser().parse(readable(text))
    return [link for block in blocks for link in _links(block.children or (), with_bare=with_bare)]


def readable(text: str) -> str:
    """Return the part of a text that is read: up to `MAX_CHARS` and `MAX_MARKS`, because strangers write it."""
    over = next(islice(_MARK.finditer(text, 0, MAX_CHARS), MAX_MARKS, None), None)
    return text[: over.start() if over else MAX_CHARS]


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # 50 ms, and few commands read Markdown

    parser = MarkdownIt("commonmark").enable("strikethrough").disable("html_block")  # HTML may surround links
    parser.core.ruler.after("block", "footnotes", _drop_footnotes)
    for hook in ("normalizeLink", "normalizeLinkText", "validateLink"):
        setattr(parser, hook, str)  # destinations stay as written, whatever their scheme
    return parser


def _drop_footnotes(state: StateCore) -> None:
    references = state.env.get("references", {})
    state.env["references"] = {label: to for label, to in references.items() if not label.startswith("^")}


def _links(tokens: Iterable[Token], *, with_bare: bool) -> Iterator[tuple[str, str]]:
    """Return the links of one paragraph; links do not nest."""
    href: str | None = None
    anchor: list[str] = []
    for token in tokens:
        if token.type == "link_open":
            href, anchor = str(token.attrs["href"]), []
        elif token.type == "link_close":
            yield " ".join("".join(anchor).split()), href or ""
            href = None
        elif href is not None:
            anchor.append(_text(token))
        elif with_bare and token.type == "text":
            for found in _BARE.findall(token.content):
                yield (url := found.rstrip(".,;:!?*_~'\")")), url


def _text(token: Token) -> str:
    if token.type == "image":
        return "".join(map(_text, token.children or ()))
    return " " if token.type == "softbreak" else token.content if token.type != "html_inline" else ""
