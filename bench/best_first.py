"""One crawl by Crawl4AI's best-first strategy, in a Python that has it: `PYTHON bench/best_first.py URL TOPIC PAGES`."""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module

DEPTH = 20  # deeper than any site that is measured: nobody is to be stopped by it


async def crawl(url: str, topic: str, pages: int) -> None:
    theirs, deep = import_module("crawl4ai"), import_module("crawl4ai.deep_crawling")
    scorer = import_module("crawl4ai.deep_crawling.scorers").KeywordRelevanceScorer(keywords=topic.split("|"))
    strategy = deep.BestFirstCrawlingStrategy(max_depth=DEPTH, max_pages=pages, url_scorer=scorer)
    http = import_module("crawl4ai.async_crawler_strategy").AsyncHTTPCrawlerStrategy()
    config = theirs.CrawlerRunConfig(
        deep_crawl_strategy=strategy, cache_mode=theirs.CacheMode.BYPASS, check_robots_txt=True, verbose=False
    )
    async with theirs.AsyncWebCrawler(crawler_strategy=http, verbose=False) as crawler:
        await crawler.arun(url, config=config)


if __name__ == "__main__":
    asyncio.run(crawl(sys.argv[1], sys.argv[2], int(sys.argv[3])))
