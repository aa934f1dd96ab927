"""The Crawl4AI strategy, with its fetcher that needs no browser."""

from __future__ import annotations

import asyncio
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
