"""The main content of a page, as Markdown and as text; and the `PageReader` of the jobs.

Owns: the way from bytes to Markdown, and what is tried when little is found. Must not know: how pages are fetched, what their
content is used for. Start reading at `main_content`. `tokens` makes a flat list of what may be content, `main_part` chooses
from it, `writer` and `inline` write it.
"""

from __future__ import annotations

import re
from functools import partial
from urllib.parse import quote

from honeyguide.adapters.html.charset import to_markup
from honeyguide.adapters.html.guards import bound_size, is_page, mark_styling
from honeyguide.adapters.html.page import base_of, parse_head, parse_page
from honeyguide.adapters.html.rendering.inline import escape
from honeyguide.adapters.html.rendering.main_part import main_part
from honeyguide.adapters.html.rendering.tokens import MAX_TOKENS, ContentTree
from honeyguide.adapters.html.rendering.writer import write
from honeyguide.core.url.url import Url
from honeyguide.errors import UrlError
from honeyguide.ports.fetch import Content

MAX_HTML_BYTES = 2 * 2**20  # of a page are read: real ones stay under 1 MB, and the cost grows with the size
MAX_HEADINGS = 200
MAX_HEADING_CHARS = 300
_FEW_CHARS = 1_000  # of text outside of links: names of elements may have hidden the content
_SOME_CHARS = 300  # with less, a small page has no more to say
_MUCH_MORE = 3  # times the text without them: then they have
_OTHER_SCHEMES = ("mailto:", "tel:")
_UNSAFE = re.compile(r"[<>\\\s\x00-\x1f]")
_BRACKETS = re.compile(r"[()]")
_MAX_HREF = 2_000  # characters


def main_content(body: bytes, url: Url, content_type: str | None = None) -> Content:
    """Read the main content of a page from its bytes as sent; never raises.

    The heading that names the page comes first if it stands outside of the main part.
    """
    markup = to_markup(body[: MAX_HTML_BYTES + 1], content_type)[:MAX_HTML_BYTES]
    if not is_page(markup):
        return Content("", "", ())
    bounded = bound_size(markup)
    tree = ContentTree(mark_styling(bounded))
    part = main_part(tree.tokens(use_names=True))
    if part.prose_chars() < _FEW_CHARS:
        whole = main_part(tree.tokens(use_names=False))
        if whole.prose_chars() >= max(_MUCH_MORE * part.prose_chars(), _SOME_CHARS):
            part = whole
    written = write(part, partial(_resolve, base_of(tree.base(), url), {}))
    is_cut = written.is_cut or len(part.tokens.kinds) >= MAX_TOKENS or len(bounded) < len(markup)
    is_cut = is_cut or len(body) > MAX_HTML_BYTES
    title = tree.title(written)
    if not title:
        return Content(written.text, written.markdown, _bounded(written.headings), is_cut)
    markdown = f"# {escape(title)}\n\n{written.markdown}".rstrip()
    headings = _bounded((title, *written.headings))
    return Content(f"{title}\n{written.text}".rstrip(), markdown, headings, is_cut)


def _resolve(base: Url, known: dict[str, str], href: str) -> str:
    """Return an absolute URL that can stand in Markdown; empty if it leads nowhere else, or cannot be followed."""
    if href not in known:
        known[href] = _in_brackets(_absolute(href, base))
    return known[href]


def _absolute(href: str, base: Url) -> str:
    if href.startswith("#") or not href or len(href) > _MAX_HREF:
        return ""
    if href.lower().startswith(_OTHER_SCHEMES):
        return href
    stem, mark, fragment = href.partition("#")
    try:
        return Url.parse(stem, base).as_linked + mark + fragment
    except UrlError:
        return ""


def _in_brackets(url: str) -> str:
    """Spell a URL so that it can stand between the brackets of a link.

    >>> _in_brackets("https://a.example/a_(b)"), _in_brackets("https://a.example/a) b")
    ('https://a.example/a_(b)', 'https://a.example/a%29%20b')
    """
    url = _UNSAFE.sub(lambda found: quote(found[0]), url)
    depth = 0
    for bracket in _BRACKETS.findall(url):
        depth += 1 if bracket == "(" else -1
        if depth not in (0, 1):
            break
    return url.replace("(", "%28").replace(")", "%29") if depth else url


def _bounded(headings: tuple[str, ...]) -> tuple[str, ...]:
    """Keep each heading once; bound their number and length."""
    short = (heading[:MAX_HEADING_CHARS].rstrip() for heading in headings[: 10 * MAX_HEADINGS])
    return tuple(dict.fromkeys(filter(None, short)))[:MAX_HEADINGS]


class HtmlReader:
    """A `PageReader`: pages are read with lexbor."""

    page = staticmethod(parse_page)
    home = staticmethod(partial(parse_page, with_groups=True))
    head = staticmethod(parse_head)
    content = staticmethod(main_content)
