"""The port `PageReader`, on the HTML adapters.

Owns: nothing but the wiring. Must not know: where bodies come from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.adapters.markup.html import parse_head, parse_page

if TYPE_CHECKING:
    from honeyguide.core.page import Head, Page
    from honeyguide.core.url import Url
    from honeyguide.ports import Content


class Documents:
    """Reads pages with lexbor, and main content with trafilatura where that is asked for."""

    def page(self, body: bytes, url: Url, content_type: str | None) -> Page:
        """Read links, title, headings and visible text."""
        return parse_page(body, url, content_type)

    def head(self, body: bytes, content_type: str | None) -> Head:
        """Read title and description from the beginning of a document."""
        return parse_head(body, content_type)

    def content(self, body: bytes, url: Url, content_type: str | None) -> Content:
        """Read the main content."""
        from honeyguide.adapters.markup.content import main_content  # an extra, and slow to import

        return main_content(body, url.text, content_type)
