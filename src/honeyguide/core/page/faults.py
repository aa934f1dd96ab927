"""Why a fetched page does not count: gone, empty, or a shell for scripts (PICK-21).

Owns: `page_fault`, `own_text`, `needs_scripts`. Must not know: fetching, selection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.text.fold import find_phrase
from honeyguide.core.why import Why

if TYPE_CHECKING:
    from honeyguide.core.page.page import Page

SHORT = "short"  # the fault that is forgiven where nothing better is left
_FEW_LINKS = 3  # a page whose menu is made by a script links to hardly anything
_LITTLE_TEXT = 400  # characters: a title, a slogan, a notice about cookies


class ContentRules(NamedTuple):
    """When a fetched page is empty (PICK-21), what a missing page says, and which keywords to note."""

    min_text_chars: int = 0
    min_own_chars: int = 0  # of lines that the homepage does not have: menus and footers are not content
    gone: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


def own_text(page: Page, home: Page) -> str:
    """Return the lines of a page that its homepage does not have, because menus and footers are on both."""
    if page.url == home.url:
        return page.text
    shared = set(home.text.split("\n"))
    return "\n".join(line for line in page.text.split("\n") if line not in shared)


def page_fault(page: Page, home: Page, rules: ContentRules) -> Why | None:
    """Say why a page does not count; `short` pages still count where nothing better is left."""
    for text in (page.title, *page.h1[:1]):
        phrase = find_phrase(rules.gone, text)
        if phrase and len(page.text) < 5 * max(rules.min_text_chars, 1):
            return Why("gone", f"says {phrase!r} in its title or heading")
    own_chars = len(own_text(page, home))
    if len(page.text) < rules.min_text_chars:
        rule = SHORT if own_chars >= rules.min_own_chars else "empty"
        return Why(rule, f"is empty: {len(page.text)} characters of text")
    if own_chars < rules.min_own_chars:
        return Why("empty", f"is empty: {own_chars} characters that the homepage does not have")
    return None


def needs_scripts(page: Page, body: bytes) -> bool:
    """Tell whether scripts, which are not run, seem to make a page's content or its menu."""
    if len(page.links) > _FEW_LINKS:
        return False
    code = body.lower()
    scripted = code.count(b"onclick=") + code.count(b'="javascript:') + code.count(b"='javascript:")
    return scripted >= 2 or (len(page.text) < _LITTLE_TEXT and b"<script" in code)
