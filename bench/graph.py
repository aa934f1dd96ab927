"""A site as a graph of pages and links, read once; what a topic says of them, worked out when it is first needed.

Owns: `SiteGraph`, `TopicView`. Must not know: in which order anybody fetches.
Start reading at `TopicView.page`. A kept graph (`--keep`) is a pickle of our own pages: open none of a stranger.
"""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from bench.boards import blog, board, forum
from bench.harvest import is_relevant
from honeyguide import parse_page
from honeyguide.core.page.likeness import main_digest, page_text
from honeyguide.core.rules.facts import Facts
from honeyguide.core.rules.topic import link_score, page_score
from honeyguide.core.url.url import Url

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from honeyguide.core.page.page import Link, Page
    from honeyguide.core.rules.language import Score
    from honeyguide.core.rules.profile import Profile

_ROOT = "http://site.example"
_MADE_UP = {"forum": forum, "board": board, "blog": blog}
_SUFFIXES = (".html", ".htm", ".xhtml")


class SeenLink(NamedTuple):
    """A link of a page as the topic sees it."""

    key: str
    link: Link
    score: Score


class SeenPage(NamedTuple):
    """A fetched page as the topic sees it: `is_relevant` by the judge, `score` by TOPIC-2."""

    url: Url
    score: Score
    is_relevant: bool
    content: str
    links: tuple[SeenLink, ...]


@dataclass(slots=True)
class SiteGraph:
    """The pages of a site by the key of their URL; `seed` is where crawls begin."""

    name: str
    seed: str
    pages: Mapping[str, Page]


@dataclass(slots=True)
class TopicView:
    """A graph seen with a topic."""

    graph: SiteGraph
    profile: Profile
    topic: str
    _pages: dict[str, SeenPage | None] = field(default_factory=dict)

    def page(self, key: str) -> SeenPage | None:
        """Read a page; None if there is none."""
        if key not in self._pages:
            page = self.graph.pages.get(key)
            self._pages[key] = None if page is None else self._read(page)
        return self._pages[key]

    def _read(self, page: Page) -> SeenPage:
        skips, tracking = self.profile.skips, self.profile.scope.tracking
        links: dict[str, SeenLink] = {}
        for link in page.links:
            if link.url.site == page.url.site and skips.first(Facts(link)) is None:
                key = link.url.key(tracking)
                links.setdefault(key, SeenLink(key, link, link_score(link, self.profile)))
        content = main_digest(page_text(page).main) or page.url.text
        relevant = is_relevant(page, self.topic)
        return SeenPage(page.url, page_score(page, self.profile), relevant, content, tuple(links.values()))

    def best(self, fetches: int) -> int:
        """Count what a greedy oracle finds: it knows every page, and goes to the nearest relevant one by links it has seen."""
        start, found, contents = self.graph.seed, 0, set[str]()
        fetched: set[str] = set()
        while len(fetched) < fetches:
            target = self._nearest(fetched, start, contents)
            if target is None:
                break
            for key in target:
                if key in fetched or len(fetched) >= fetches:
                    continue
                fetched.add(key)
                page = self.page(key)
                if page is not None and page.is_relevant and page.content not in contents:
                    contents.add(page.content)
                    found += 1
        return found

    def _nearest(self, fetched: set[str], start: str, contents: set[str]) -> list[str] | None:
        """Find the shortest way from what was fetched to a relevant page that is new."""
        ring = [start] if not fetched else list(fetched)
        parents: dict[str, str | None] = dict.fromkeys(ring)
        while ring:
            following = []
            for key in ring:
                page = self.page(key)
                if page is None:
                    continue
                if key not in fetched and page.is_relevant and page.content not in contents:
                    return _way(key, parents)
                following += [(link.key, key) for link in page.links]
            ring = []
            for key, parent in following:
                if key not in parents:
                    parents[key] = parent
                    ring.append(key)
        return None


def _way(key: str | None, parents: Mapping[str, str | None]) -> list[str]:
    found = []
    while key is not None:
        found.append(key)
        key = parents[key]
    return found[::-1]


def read_site(name: str, folder: Path | None, profile: Profile, kept: Path | None) -> SiteGraph:
    """Read the HTML files of a folder, or make up a site; `kept` is a file that has what was read before."""
    if kept is not None and kept.exists():
        graph: SiteGraph = pickle.loads(kept.read_bytes())  # noqa: S301 - our own file
        return graph
    sources = dict(_from_folder(folder) if folder else _MADE_UP[name]().items())
    tracking = profile.scope.tracking
    with ProcessPoolExecutor(2) as pool:
        parsed = pool.map(_parsed, sources.items(), chunksize=50)
        pages = {page.url.key(tracking): page for page in parsed}
    for page in list(pages.values()):
        if page.url.path.endswith("/index.html"):
            pages.setdefault(Url.parse(page.url.text.removesuffix("index.html")).key(tracking), page)
    graph = SiteGraph(name, Url.parse(f"{_ROOT}/").key(tracking), pages)
    if kept is not None:
        kept.write_bytes(pickle.dumps(graph))
    return graph


def _parsed(source: tuple[str, str | bytes]) -> Page:
    path, html = source
    return parse_page(html, _ROOT + path)


def _from_folder(folder: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(folder.rglob("*")):
        if file.suffix in _SUFFIXES and file.is_file():
            yield f"/{file.relative_to(folder).as_posix()}", file.read_bytes()
