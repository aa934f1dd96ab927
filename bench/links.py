"""Job 2: the links of a page. Ours come with text, title, rel, position and context; peers give what they give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import honeyguide
from bench.measure import Contest, Pair, Unit
from bench.peers import offered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.sample import RawPage, Sample

    Extract = Callable[[RawPage], int]  # gives the number of links, so that nobody's work is optimised away

OURS = "extract_links"
DESCRIBED = "extract_links, contexts read"


def contests(sample: Sample) -> Iterator[Contest]:
    entrants: dict[str, Extract] = {
        OURS: lambda page: len(honeyguide.extract_links(page.body, page.url)),
        DESCRIBED: lambda page: sum(
            len(link.occurrences) > 0 for link in honeyguide.extract_links(page.body, page.url)
        ),
        **_peers(),
    }
    goals = {"Scrapy LinkExtractor": 7.0}
    yield Contest(
        "links of a page",
        Unit("ms/MB", sample.megabytes, 1e3),
        {name: _each(extract, sample.pages) for name, extract in entrants.items()},
        [
            Pair(ours, name, at_least=goals.get(name))
            for ours in (OURS, DESCRIBED)
            for name in entrants
            if name not in (OURS, DESCRIBED)
        ],
        [
            "links of a page: ours have text and position, one link for each URL, and describe title, rel and context when "
            "somebody reads them: *contexts read* does, for all links. Scrapy's and "
            "Crawl4AI's quick ones have URL and text; `scrap` also cleans the HTML and lists media. Links found: "
            + ", ".join(f"{name} {sum(map(extract, sample.pages)):,}" for name, extract in entrants.items())
            + "."
        ],
    )


def _each(extract: Extract, pages: tuple[RawPage, ...]) -> Callable[[], None]:
    def go() -> None:
        for page in pages:
            extract(page)

    return go


def _peers() -> dict[str, Extract]:
    found: dict[str, Extract] = {}
    if (http := offered("scrapy.http")) and (extractors := offered("scrapy.linkextractors")):
        found["Scrapy LinkExtractor"] = _scrapy(http.HtmlResponse, extractors.LinkExtractor())
    if utils := offered("crawl4ai.utils"):
        found["Crawl4AI quick_extract_links"] = _quick(utils.quick_extract_links)
    if scraping := offered("crawl4ai.content_scraping_strategy"):
        found["Crawl4AI scrap"] = _scrap(scraping.LXMLWebScrapingStrategy())
    if bs4 := offered("bs4"):
        for parser in ("lxml", "html.parser"):
            found[f"BeautifulSoup ({parser})"] = _soup(bs4.BeautifulSoup, parser)
    return found


def _scrapy(response: Any, extractor: Any) -> Extract:
    return lambda page: len(extractor.extract_links(response(page.url, body=page.body, encoding="utf-8")))


def _quick(quick_extract_links: Any) -> Extract:
    return lambda page: sum(
        map(len, quick_extract_links(page.body.decode(errors="replace"), page.url).values())
    )


def _scrap(strategy: Any) -> Extract:
    def scrap(page: RawPage) -> int:
        links = strategy.scrap(page.url, page.body.decode(errors="replace")).links
        return len(links.internal) + len(links.external)

    return scrap


def _soup(soup: Any, parser: str) -> Extract:
    def extract(page: RawPage) -> int:
        anchors = soup(page.body, parser).find_all("a", href=True)
        return len([(_joined(page.url, a["href"]), a.get_text(" ", strip=True)) for a in anchors])

    return extract


def _joined(base: str, href: str) -> str:
    try:
        return urljoin(base, href)
    except ValueError:
        return href
