"""What is a page, by its type and its first bytes: HTML, XML, Markdown and plain text are, a PDF is none.

Must not know: requests, limits. Start reading at `why_no_page`.
"""

from __future__ import annotations

import codecs
import re

from honeyguide.errors import shown

_PAGE_TYPES = re.compile(
    r"text/(?:html|plain|xml|markdown|x-markdown)|application/(?:xhtml\+xml|(?:[\w.-]+\+)?xml)"
)
_NO_TYPES = ("", "*/*", "unknown/unknown", "application/unknown")
# Bytes that no text holds (WHATWG mimesniff 7.1), and the formats that begin without one.
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]|\A(?:%PDF-|%!PS)")
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
SNIFFED_BYTES = 512


def why_no_page(content_type: str | None, body: bytes) -> str | None:
    """Say why an answer is no page, if it is none.

    >>> why_no_page("application/pdf", b"%PDF-1.7"), why_no_page(None, b"%PDF-1.7"), why_no_page("Text/HTML; charset=x", b"")
    ("its type is 'application/pdf'", 'it names no type, and its bytes are no text', None)
    """
    return why_wrong_type(content_type) or why_wrong_bytes(content_type, body)


def why_wrong_type(content_type: str | None) -> str | None:
    """Say why a type is not that of a page; one that is missing may be."""
    kind = _kind(content_type)
    return None if kind in _NO_TYPES or _PAGE_TYPES.fullmatch(kind) else f"its type is {shown(kind)}"


def why_wrong_bytes(content_type: str | None, body: bytes) -> str | None:
    """Say why bytes are no text, where the type is missing; UTF-16 is known by its mark."""
    start = body[:SNIFFED_BYTES]
    if _kind(content_type) not in _NO_TYPES or start.startswith(_BOMS) or not _BINARY.search(start):
        return None
    return "it names no type, and its bytes are no text"


def _kind(content_type: str | None) -> str:
    return (content_type or "").partition(";")[0].strip().lower()
