"""The pages that everything is measured on: made up here, always the same, or read from a folder.

Owns: `Sample` and what is read from it. Must not know: who is measured.
Start reading at `made_up`; `from_folder` gives the same for real pages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from bench.peers import offered
from bench.site import make_site

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MAX_BYTES = 4_000_000  # of HTML: more makes the slowest peers take minutes and changes no ratio
_HTML = (".html", ".htm", ".xhtml")
_NOT_IN_A_HOST = re.compile(r"[^a-z0-9-]+")


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page as a crawler receives it."""

    url: str
    body: bytes


@dataclass(frozen=True)
class Sample:
    """Pages, and the hrefs on them in document order, read by a parser that is not ours."""

    name: str
    pages: tuple[RawPage, ...]
    megabytes: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "megabytes", sum(len(page.body) for page in self.pages) / 1e6)

    @cached_property
    def hrefs(self) -> tuple[tuple[str, str], ...]:
        """Every (href, page URL), repeats included: menus come again on every page, as in a crawl."""
        lxml = offered("lxml.html")
        if lxml is None:
            raise SystemExit("lxml is needed to read the sample: install the group `bench`")
        found = ((page.url, lxml.document_fromstring(page.body).xpath("//a/@href")) for page in self.pages)
        return tuple((str(href), url) for url, hrefs in found for href in hrefs)

    def describe(self) -> str:
        return f"{self.name}: {len(self.pages)} pages, {self.megabytes:.1f} MB of HTML, {len(self.hrefs):,} hrefs"


def made_up(sites: int = 12) -> Sample:
    """Give the built-in pages: the same bytes on every machine."""
    pages = [RawPage(url, html.encode()) for number in range(sites) for url, html in make_site(number)]
    return Sample("made-up pages", _within_limit(pages))


def from_folder(folder: Path) -> Sample:
    """Read the HTML files of a folder; its first level of folders are sites."""
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in _HTML and file.is_file())
    if not files:
        raise SystemExit(f"no .html file in {folder}")
    pages = [RawPage(_address(file.relative_to(folder)), file.read_bytes()) for file in files]
    return Sample("real pages", _within_limit([page for page in pages if page.body.strip()]))


def _within_limit(pages: Sequence[RawPage]) -> tuple[RawPage, ...]:
    """Take every n-th page, so that all sites are in."""
    step = -(-sum(len(page.body) for page in pages) // MAX_BYTES)
    return tuple(pages[:: max(1, step)])


def _address(path: Path) -> str:
    *folders, name = path.parts
    host = _NOT_IN_A_HOST.sub("-", folders[0].lower()).strip("-") if folders else "pages"
    below = "".join(f"{part}/" for part in folders[1:])
    return f"https://{host or 'pages'}.example/{below}{'' if name.lower() == 'index.html' else name}".replace(
        " ", "%20"
    )
