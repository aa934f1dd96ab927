"""Crawl4AI: a deep-crawl strategy that fetches pages in the order of `honeyguide crawl`.

    config = CrawlerRunConfig(deep_crawl_strategy=FocusStrategy(topic="asyncio|coroutine", max_pages=100))

Crawl4AI fetches, renders and keeps robots.txt (`check_robots_txt=True`); its filters still reject links. The score of a page and its
reasons are in `result.metadata`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawl4ai.deep_crawling import BestFirstCrawlingStrategy

from honeyguide import Focus

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from crawl4ai import AsyncWebCrawler, CrawlerRunConfig
    from crawl4ai.models import CrawlResult

_AT_ONCE = 10  # pages, as many as the strategy of Crawl4AI fetches at once
_OK = 200
_EVERYWHERE = 1_000  # links from the seed, for `max_depth=None`


class FocusStrategy(BestFirstCrawlingStrategy):
    """Chooses the next pages by `Focus`; takes the arguments of Crawl4AI's best-first strategy but for the scorer."""

    def __init__(
        self,
        topic: str,
        *,
        profile: str = "docs",
        traversal: str = "focused",
        max_depth: int | None = None,
        at_once: int = _AT_ONCE,
        **options: Any,
    ) -> None:
        """Follow a topic; `options` are those of the best-first strategy, such as `max_pages` and `filter_chain`."""
        super().__init__(max_depth=_EVERYWHERE if max_depth is None else max_depth, **options)
        self._settings: dict[str, Any] = {
            "topic": topic,
            "profile": profile,
            "traversal": traversal,
            "max_depth": max_depth,
        }
        self._at_once = at_once

    async def _arun_best_first(
        self, start_url: str, crawler: AsyncWebCrawler, config: CrawlerRunConfig
    ) -> AsyncIterator[CrawlResult]:
        """Fetch what `Focus` gives until nothing is left, or `max_pages` are fetched."""
        self._pages_crawled = 0
        batch_config = config.clone(deep_crawl_strategy=None, stream=True)
        with Focus(start_url, **self._settings) as focus:
            while not self._is_over(focus) and (urls := focus.next(self._room())):
                allowed = [url for url in urls if await self._is_allowed(url, focus)]
                fetched = {}
                if allowed:
                    async for result in await crawler.arun_many(urls=allowed, config=batch_config):
                        fetched[result.url] = result
                for url in allowed:
                    result = fetched.get(url)
                    if result is None:
                        focus.add_failure(url)
                        continue
                    self._add(focus, url, result)
                    self._pages_crawled += bool(result.success)
                    yield result
                    if self._is_over(focus):
                        break

    def _room(self) -> int:
        left = self.max_pages - self._pages_crawled
        return int(min(self._at_once, left))

    def _is_over(self, focus: Focus) -> bool:
        return focus.stopped is not None or self._pages_crawled >= self.max_pages or self.cancelled

    async def _is_allowed(self, url: str, focus: Focus) -> bool:
        """Ask the filters of Crawl4AI; they do not apply to the first page."""
        if await self.can_process_url(url, min(1, self._pages_crawled)):
            return True
        self.stats.urls_skipped += 1
        focus.decline(url, "a filter of Crawl4AI rejects it")
        return False

    def _add(self, focus: Focus, url: str, result: CrawlResult) -> None:
        """Give the page to `Focus`, and its judgement to the result."""
        result.metadata = result.metadata or {}
        if result.success:
            status = (
                result.redirected_status_code or result.status_code or _OK
            )  # an error page is a success, too
            pages = focus.add_page(url, result.html or "", status=status, final_url=result.redirected_url)
        else:
            pages = focus.decline(url, result.error_message or "Crawl4AI could not fetch it")
        for page in pages:
            if page.record["url"] == url:
                result.metadata |= {
                    "score": page.score,
                    "reasons": list(page.reasons),
                    "depth": page.record["depth"],
                }
