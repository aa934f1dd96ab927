"""What a fetched page is: there, empty, or only pretending (PICK-21).

Owns: `own_text`, `gone_or_empty`, `scripts_only`. Must not know: fetching, selection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.core.text import fold

if TYPE_CHECKING:
    from honeyguide.core.page import Page
    from honeyguide.core.profile import ContentRules

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


def gone_or_empty(page: Page, home: Page, rules: ContentRules) -> str | None:
    """Say why a page does not count: it says that it is not there, or it says nothing."""
    for text in (page.title, *page.h1[:1]):
        said = next((word for word in rules.gone if word in fold(text)), None)
        if said and len(page.text) < 5 * max(rules.min_text_chars, 1):
            return f"says {said!r} in its title or heading"
    if len(page.text) < rules.min_text_chars:
        return f"is empty: {len(page.text)} characters of text"
    own = len(own_text(page, home))
    if own < rules.min_own_chars:
        return f"is empty: {own} characters that the homepage does not have"
    return None


def scripts_only(page: Page, body: bytes) -> bool:
    """Say whether a page's content seems to be made by scripts, which are not run."""
    return len(page.links) <= FEW_LINKS and len(page.text) < LITTLE_TEXT and b"<script" in body.lower()
