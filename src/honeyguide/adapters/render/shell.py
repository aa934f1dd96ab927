"""What tells a shell for scripts from a page that was sent whole: facts for the card `render` of a profile.

Owns: measuring. Must not know: what follows from a fact (the rules say that), browsers. Start reading at `shell_facts`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from honeyguide.core.rules.facts import Facts

if TYPE_CHECKING:
    from honeyguide.core.page.page import Page

_MOST = 2 * 2**20  # bytes of a page that are looked at: shells are short
_SCRIPT = re.compile(rb"<script\b([^>]{0,2000})>", re.IGNORECASE)
_DATA = re.compile(rb"type\s{0,9}=\s{0,9}[\"']?(?:application/(?:ld\+)?json|text/template)", re.IGNORECASE)
_SRC = re.compile(rb"\ssrc\s{0,9}=", re.IGNORECASE)
# An element with nothing in it, whose name frameworks give to the place that they fill.
_MOUNT = re.compile(
    rb"<(?:div|main|section|body)\s[^<>]{0,300}?\bid\s{0,9}=\s{0,9}[\"']?"
    rb"(?:root|app|main|__next|___gatsby|__nuxt|app-root|react-root|svelte|q-app|mount|application|container|content)(?=[\"'\s>])"
    rb"[^<>]{0,300}>\s{0,99}(?:<!--[^<>]{0,99}-->\s{0,99})?</"
    rb"|<(?:app-root|my-app|app|[a-z]{1,20}-app)(?:\s[^<>]{0,300})?>\s{0,99}</",
    re.IGNORECASE,
)
_EMPTY_MAIN = re.compile(rb"<main\b[^<>]{0,300}>\s{0,99}(?:<!--[^<>]{0,99}-->\s{0,99})?</main", re.IGNORECASE)
_ASKS = re.compile(
    rb"<noscript\b[^<>]{0,300}>(?:(?!</noscript).){0,1000}?java\s?script", re.IGNORECASE | re.DOTALL
)


def shell_facts(page: Page, body: bytes, is_helpful: bool | None) -> Facts:
    """Measure a page as it was sent; `is_helpful` says whether rendering helped on its site, None before it was tried."""
    start = body[:_MOST]
    scripts = [attributes for attributes in _SCRIPT.findall(start) if not _DATA.search(attributes)]
    text_chars = float(len(page.main.text)) if page.main is not None and page.main.is_marked else None
    return Facts(
        page_chars=float(len(page.text)),
        page_links=float(len(page.links)),
        text_chars=0.0 if _EMPTY_MAIN.search(start) else text_chars,
        script_files=float(sum(_SRC.search(attributes) is not None for attributes in scripts)),
        scripts=float(len(scripts)),
        has_empty_mount=_MOUNT.search(start) is not None,
        asks_for_scripts=_ASKS.search(start) is not None,
        rendering_helps=is_helpful,
    )
