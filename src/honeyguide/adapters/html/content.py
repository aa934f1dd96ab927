"""The main content of a page, as Markdown and as text; and the `PageReader` of the jobs.

Owns: trafilatura, which finds the content between menus and banners; it is an extra, imported when the first page is read.
Must not know: how pages are fetched, what their content is used for. Start reading at `main_content`. If trafilatura finds
nothing, or fails on hostile markup, the content is the visible text: a page with text always has content.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from honeyguide.adapters.html.charset import to_utf8
from honeyguide.adapters.html.guards import bound_markup, is_page
from honeyguide.adapters.html.page import parse_head, parse_page
from honeyguide.errors import HoneyguideError
from honeyguide.ports.fetch import Content

if TYPE_CHECKING:
    from collections.abc import Callable

    from honeyguide.core.page.page import Page
    from honeyguide.core.url.url import Url

MAX_HTML_BYTES = 2 * 2**20  # of a page are read: real ones stay under 1 MB, and the cost grows with the size
MAX_MARKDOWN_BYTES = 200_000  # of a page are kept: a long article has a tenth of it
MAX_HEADINGS = 200
MAX_HEADING_CHARS = 300
INSTALL = "pip install 'honeyguide[content]'"
_HTML_TAG = re.compile(rb"<html[\s/>]", re.IGNORECASE)
_DOCTYPE = re.compile(rb"\s*<!doctype[^>]{0,500}>", re.IGNORECASE)
_HEADING = re.compile(r"#{1,6} +")
_FENCE = re.compile(r"```|~~~")
_LINE_MARK = re.compile(r"(?:#{1,6} +|> ?|[-*+] +|\d{1,9}\. +)+")
_TABLE_RULE = re.compile(r"[|:\- ]*-[|:\- ]*")
_SPAN_MARK = re.compile(
    r"\\([^\w\s])|\*{1,3}|`+|~~| *\| *"
)  # an escape stays as its character, a mark does not


def main_content(body: bytes, url: Url, content_type: str | None = None) -> Content:
    """Read the main content of a page from its bytes as sent; raises `HoneyguideError` and nothing else."""
    extract = load_extractor()
    markup = to_utf8(body[: MAX_HTML_BYTES + 1], content_type)[:MAX_HTML_BYTES]
    if not is_page(markup):
        return Content("", "", ())
    markup, _ = bound_markup(markup, has_ends=True)
    page = parse_page(markup, url, "text/html; charset=utf-8")
    markdown = _cut(extract(_whole(markup).decode("utf-8", "replace"), url.text))
    if not markdown:
        return Content(_cut(page.text), _cut(page.text), _bounded(page.headings))
    lines = markdown.split("\n")
    return Content(_text(lines), markdown, _headings(lines, page))


@cache
def load_extractor() -> Callable[[str, str], str]:
    """Import trafilatura, or say how to install it; called before a run, it fails before the run."""
    try:
        import trafilatura  # an extra, and slow to import
    except ImportError as error:  # it, or a library that it needs
        missing = error.name or "trafilatura"
        raise HoneyguideError(f"main content needs {missing}, which is not installed; {INSTALL}") from None
    import logging  # keeps trafilatura from writing to standard error

    logging.getLogger("trafilatura").addHandler(logging.NullHandler())

    def extract(markup: str, url: str) -> str:
        try:
            found = trafilatura.extract(
                markup, url=url, fast=True, include_comments=False, output_format="markdown"
            )
        except Exception:  # noqa: BLE001 - hostile markup may raise anything; the visible text is used then
            return ""
        return found or ""

    return extract


def _whole(markup: bytes) -> bytes:
    """Add the html and body tags that a page may omit, because trafilatura takes it for a fragment without them."""
    if _HTML_TAG.search(markup):
        return markup
    return b"<html><body>%b</body></html>" % _DOCTYPE.sub(b"", markup, count=1)


def _cut(text: str) -> str:
    """Cut a text by its size in UTF-8, at the end of a line if there is one."""
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_MARKDOWN_BYTES:
        return data.decode().strip()
    kept = data[:MAX_MARKDOWN_BYTES].decode("utf-8", "ignore")
    return (kept.rpartition("\n")[0] or kept).strip()


def _text(lines: list[str]) -> str:
    """Remove the marks of Markdown, line by line; code in fences stays as it is."""
    kept = []
    fenced = False
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced:
            kept.append(line)
        elif not _TABLE_RULE.fullmatch(line):
            kept.append(_plain(line))
    return "\n".join(filter(None, kept))


def _plain(line: str) -> str:
    r"""Remove the marks of Markdown from one line.

    >>> _plain(r"## **Fire** alarms \*new\*"), _plain("| Size | Price |")
    ('Fire alarms *new*', 'Size Price')
    """
    marked = _LINE_MARK.match(line)
    rest = line[marked.end() :] if marked else line
    return " ".join(_SPAN_MARK.sub(lambda mark: mark[1] or (" " if "|" in mark[0] else ""), rest).split())


def _headings(lines: list[str], page: Page) -> tuple[str, ...]:
    """List the headings of the content after the page's h1, which is often part of a banner."""
    found = []
    fenced = False
    for line in lines:
        fenced ^= _FENCE.match(line) is not None
        if not fenced and _HEADING.match(line):
            found.append(_plain(line))
    return _bounded((*page.h1, *found) if found else page.headings)


def _bounded(headings: tuple[str, ...]) -> tuple[str, ...]:
    """Keep each heading once; bound their number and length."""
    short = (heading[:MAX_HEADING_CHARS].rstrip() for heading in headings[: 10 * MAX_HEADINGS])
    return tuple(dict.fromkeys(filter(None, short)))[:MAX_HEADINGS]


class HtmlReader:
    """A `PageReader`: pages are read with lexbor, main content with trafilatura."""

    page = staticmethod(parse_page)
    head = staticmethod(parse_head)
    content = staticmethod(main_content)
