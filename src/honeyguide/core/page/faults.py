"""Why a fetched page does not count: gone, empty, thin, or a shell for scripts (PICK-21).

Owns: `page_fault`, `own_text`, `needs_scripts`, `scripted_links`. Must not know: fetching, selection.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.text.fold import find_phrase
from honeyguide.core.why import Why

if TYPE_CHECKING:
    from honeyguide.core.page.page import Page

THIN = "thin"  # the fault that is forgiven where no page of its kind has more text
FEW_LINKS = 3  # a page whose menu is made by a script links to hardly anything
_FEW_SCRIPTED, _SCRIPTED = 2, 3  # targets that only a script follows
_TARGETS = {
    "data-href attributes": re.compile(
        rb"\sdata-(?:href|url|link)\s{0,9}=\s{0,9}[\"']?(?:/|https?:)", re.IGNORECASE
    ),
    "the options of a list": re.compile(
        rb"<option\s[^<>]{0,200}?value\s{0,9}=\s{0,9}[\"']?(?:/|https?:|[\w-]{1,80}\.html?)", re.IGNORECASE
    ),
    "onclick attributes": re.compile(rb"\sonclick\s{0,9}=|=[\"']javascript:", re.IGNORECASE),
}
_DATA = {"__NEXT_DATA__": b'id="__NEXT_DATA__"', "__NUXT__": b"window.__NUXT__"}
_LITTLE_TEXT = 400  # characters: a title, a slogan, a notice about cookies


class ContentRules(NamedTuple):
    """When a fetched page is thin or empty (PICK-21), what a missing page and terms say, and which keywords to note."""

    min_text_chars: int = 0  # of main text; with fewer, a page is thin
    min_own_chars: int = 0  # with fewer, it is empty
    gone: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    legal: tuple[str, ...] = ()


def own_text(page: Page, home: Page) -> str:
    """Return the lines of a page that its homepage does not have, because menus and footers are on both."""
    if page.url == home.url:
        return page.text
    shared = set(home.text.split("\n"))
    return "\n".join(line for line in page.text.split("\n") if line not in shared)


def main_text(page: Page, home: Page) -> str:
    """Return what the markup of a page calls its main text, else the lines outside of the homepage's menus and footers."""
    main, main_of_home = page.main, home.main
    if page.url == home.url or main is None or main_of_home is None:
        return main.text if main is not None and main.is_marked else own_text(page, home)
    if main.is_marked or main.text == main_of_home.text:
        return (
            main.text if main.text != main_of_home.text else ""
        )  # the homepage again, under another address
    shared = set(home.text.split("\n")).difference(main_of_home.text.split("\n"))
    return "\n".join(line for line in main.text.split("\n") if line not in shared)


def page_fault(page: Page, own: str, text: str, rules: ContentRules) -> Why | None:
    """Say why a page does not count: by its `own` text it is gone or empty, by `text` it is thin, a fault that may be forgiven."""
    for title in (page.title, *page.h1[:1]):
        phrase = find_phrase(rules.gone, title)
        if phrase and len(text) < 5 * max(rules.min_text_chars, 1):
            return Why("gone", f"says {phrase!r} in its title or heading")
    if len(own) < rules.min_own_chars:
        return Why("empty", f"is empty: {len(own)} characters of its own")
    if len(text) < rules.min_text_chars:
        return Why(THIN, f"is thin: {len(text)} characters of text")
    return None


def needs_scripts(page: Page, body: bytes) -> bool:
    """Tell whether scripts, which are not run, seem to make a page's content or its menu."""
    if len(page.links) > FEW_LINKS:
        return False
    scripted = len(_TARGETS["onclick attributes"].findall(body))
    return scripted >= _FEW_SCRIPTED or (len(page.text) < _LITTLE_TEXT and b"<script" in body.lower())


def scripted_links(body: bytes) -> str | None:
    """Name where a page has targets that only a script follows; None if it has few."""
    for name, mark in _DATA.items():
        if mark in body:
            return name
    return next((name for name, target in _TARGETS.items() if len(target.findall(body)) >= _SCRIPTED), None)
