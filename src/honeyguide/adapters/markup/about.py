"""What a document says about itself outside of its text.

Owns: title, language, description, canonical link and base as the document states them. Must not know: URLs, its text.
Start reading at `About`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.adapters.markup import walk
from honeyguide.adapters.markup.walk import fold

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from honeyguide.adapters.markup.dom import Document

MAX_DESCRIPTION = 2_000  # characters
_DRAWING_DEPTH = 20  # elements around a title in a drawing

METAS = frozenset({"description", "og:title", "og:description", "content-language"})  # all that is read


class About:
    """What a document says about itself; the first of each counts.

    >>> from honeyguide.adapters.markup.dom import Document
    >>> about = About(Document(b"<html lang=en><title>Acme</title><link rel=canonical href=/a>"))
    >>> about.language, about.title, about.canonical
    ('en', 'Acme', '/a')
    """

    def __init__(self, document: Document) -> None:
        self.language = ""
        self.base: str | None = None
        self.canonical: str | None = None
        self.metas: dict[str, str] = {}
        self.title = ""
        for node in document.told():
            self._add(node)

    def _add(self, node: LexborNode) -> None:
        """Read an html, title, meta, link or base element."""
        attributes = node.attributes
        if node.tag == "title":
            if not self.title and not _is_drawn(node):
                self.title = fold(node.text(), walk.MAX_LABEL)
        elif node.tag == "meta":
            name = (
                (attributes.get("name") or attributes.get("property") or attributes.get("http-equiv") or "")
                .strip()
                .lower()
            )
            if name in METAS and (value := fold(attributes.get("content"), MAX_DESCRIPTION)):
                self.metas.setdefault(name, value)
        elif node.tag == "html":
            self.language = fold(attributes.get("lang") or attributes.get("xml:lang"), walk.MAX_LABEL).lower()
        elif node.tag == "base":
            if self.base is None:
                self.base = attributes.get("href")
        elif self.canonical is None and "canonical" in (attributes.get("rel") or "").lower().split():
            self.canonical = attributes.get("href")


def _is_drawn(node: LexborNode) -> bool:
    """Tell whether a title is one in a drawing, where it names a shape."""
    above = node.parent
    for _ in range(_DRAWING_DEPTH):
        if above is None or above.tag in {"svg", "head"}:
            break
        above = above.parent
    return above is not None and above.tag == "svg"
