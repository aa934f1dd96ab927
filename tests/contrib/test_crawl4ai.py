"""The Crawl4AI strategy, with its fetcher that needs no browser."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import Any

import pytest

pytest.importorskip(
    "crawl4ai", reason="frameworks of plug-ins are in an environment of their own: tools/check_plugins.py"
)
from sites import TOPIC, crawled, served


def run(address: str, at_once: int = 1, most: int = 20, **options: Any) -> list[Any]:
    from crawl4ai import AsyncWebCrawler, CacheMode, CrawlerRunConfig
    from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy

    from honeyguide.contrib.crawl4ai import FocusStrategy

    async def work() -> list[Any]:
        strategy = FocusStrategy(TOPIC, max_pages=most, at_once=at_once, **options)
        config = CrawlerRunConfig(deep_crawl_strategy=strategy, cache_mode=CacheMode.BYPASS, verbose=False)
        async with AsyncWebCrawler(crawler_strategy=AsyncHTTPCrawlerStrategy(), verbose=False) as crawler:
            results: list[Any] = await crawler.arun(address, config=config)
            return results

    return asyncio.run(work())


def test_the_first_pages_are_those_of_a_crawl_with_their_reasons() -> None:
    with served() as site:
        results = run(site.root)
    assert site.asked == crawled(20)
    assert results[1].metadata["reasons"]


def test_filters_of_crawl4ai_still_reject_links() -> None:
    from crawl4ai.deep_crawling.filters import FilterChain, URLPatternFilter

    with served() as site:
        run(site.root, filter_chain=FilterChain([URLPatternFilter(["*roof*"], reverse=True)]))
    assert not [path for path in site.asked if "roof" in path]
    assert len(site.asked) == 20


def test_an_error_page_of_a_browser_is_no_page() -> None:
    from crawl4ai import AsyncWebCrawler, CrawlerRunConfig
    from crawl4ai.models import AsyncCrawlResponse

    from honeyguide.contrib.crawl4ai import FocusStrategy

    root = "https://acme.example/"
    text = (
        "<p>All about alarms, and more of them.</p>" * 30
    )  # a short page would be taken for one of a bot wall
    start = f"<html><body><main>{text}<a href='/alarm'>Alarm</a></main></body></html>"

    class Browser(nullcontext[None]):
        async def crawl(self, url: str, **_: Any) -> AsyncCrawlResponse:
            return AsyncCrawlResponse(
                html=start, response_headers={}, status_code=200 if url == root else 404
            )

    async def work() -> list[Any]:
        config = CrawlerRunConfig(deep_crawl_strategy=FocusStrategy(TOPIC), verbose=False)
        async with AsyncWebCrawler(crawler_strategy=Browser(), verbose=False) as crawler:
            results: list[Any] = await crawler.arun(root, config=config)
            return results

    home, gone = asyncio.run(work())
    assert (home.success, gone.success, gone.status_code) == (True, True, 404)
    assert gone.metadata["score"] is None
    assert gone.metadata["reasons"] == ["answered 404"]
