"""What a fetched page is: there, empty, or only pretending (PICK-21).

Owns: `own_text`, `lack_of`, `scripts_only`. Must not know: fetching, selection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.text.fold import first_said

if TYPE_CHECKING:
    from honeyguide.core.page.page import Page

FEW_LINKS = 3  # a page whose menu is made by a script links to hardly anything
LITTLE_TEXT = 400  # characters: a title, a slogan, a notice about cookies


def own_text(page: Page, home: Page) -> str:
    """Return the lines that the homepage does not have: menus and footers are the same on both.

    Where the page is the homepage, all of it is its own.
    """
    if page.url == home.url:
        return page.text
    shared = set(home.text.split("\n"))
    return "\n".join(line for line in page.text.split("\n") if line not in shared)


class PageFault(NamedTuple):
    """Why a page does not count; one that says little still counts where nothing better is left."""

    why: str
    is_short: bool = False


def lack_of(page: Page, home: Page, rules: ContentRules) -> PageFault | None:
    """Say why a page does not count: it says that it is not there, or it says nothing, or little."""
    for text in (page.title, *page.h1[:1]):
        said = first_said(rules.gone, text)
        if said and len(page.text) < 5 * max(rules.min_text_chars, 1):
            return PageFault(f"says {said!r} in its title or heading")
    own = len(own_text(page, home))
    if len(page.text) < rules.min_text_chars:
        return PageFault(
            f"is empty: {len(page.text)} characters of text", is_short=own >= rules.min_own_chars
        )
    if own < rules.min_own_chars:
        return PageFault(f"is empty: {own} characters that the homepage does not have")
    return None


def scripts_only(page: Page, body: bytes) -> bool:
    """Say whether a page's content, or its menu, seems to be made by scripts, which are not run."""
    if len(page.links) > FEW_LINKS:
        return False
    code = body.lower()
    has_scripted_menu = (
        code.count(b"onclick=") + code.count(b'="javascript:') + code.count(b"='javascript:") >= 2
    )
    return has_scripted_menu or (len(page.text) < LITTLE_TEXT and b"<script" in code)


class ContentRules(NamedTuple):
    """When a fetched page is empty (PICK-21), what a page says that is not there, which words are worth noting.

    `min_own_chars` counts only lines that the homepage does not have: menus and footers are no content.
    """

    min_text_chars: int = 0
    min_own_chars: int = 0
    gone: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
