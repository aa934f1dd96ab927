"""Scrapy: the spider's own requests, in the order of `honeyguide crawl`, and only those that are worth a visit.

    ADDONS = {"honeyguide.contrib.scrapy.FocusAddon": 500}
    HONEYGUIDE_TOPIC = "asyncio|coroutine"

The spider yields a request for each link that it would follow; the add-on holds them back and lets the best ones through.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import DontCloseSpider
from scrapy.http import Request, Response
from scrapy.spidermiddlewares.httperror import HttpError

from honeyguide import Focus, InputError, UrlError, load_profile, normalize

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    Output = AsyncIterator[Any]
_UNLINKED = "%d requests were not made, such as %s: no page links them, or they are no pages; meta={'honeyguide': False} lets one pass"
_GIVEN = "honeyguide_url"  # the key of `Request.meta` that holds the URL as `Focus` gave it


class FocusAddon:
    """Switches the middleware on; `HONEYGUIDE_TOPIC` is required, `HONEYGUIDE_PROFILE` and `HONEYGUIDE_TRAVERSAL` are not."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the middleware next to the engine: requests wait there as other middlewares, such as for depth, have made them."""
        settings.set_in_component_priority_dict("SPIDER_MIDDLEWARES", FocusMiddleware, 10)


class FocusMiddleware:
    """Holds back what a spider asks for, and gives it to Scrapy in the order of `Focus`."""

    def __init__(self, crawler: Crawler) -> None:
        get, self._crawler = crawler.settings.get, crawler
        if not get("HONEYGUIDE_TOPIC"):
            raise InputError("set HONEYGUIDE_TOPIC to what the spider looks for, such as 'fire|alarm'")
        self._profile = load_profile(get("HONEYGUIDE_PROFILE") or "docs", topic=get("HONEYGUIDE_TOPIC"))
        self._traversal = get("HONEYGUIDE_TRAVERSAL") or "focused"
        self._focus: Any = None  # a `Focus`, when the spider has said where to start
        self._asked: dict[str, Request] = {}
        self._links: dict[str, list[str]] = {}  # of pages whose callback is not over
        self._places = count()
        crawler.signals.connect(self._idle, signals.spider_idle)
        crawler.signals.connect(self._close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:  # noqa: D102 - Scrapy's own name
        return cls(crawler)

    async def process_start(self, start: Output) -> Output:
        """Begin at the requests that the spider starts with, also if it fails to make more."""
        try:
            async for one in start:
                if not self._hold(one):
                    yield one
        finally:
            if self._asked:
                self._focus = Focus(list(self._asked), profile=self._profile, traversal=self._traversal)
                self._go_on()

    async def process_spider_output(self, response: Response, result: Output) -> Output:
        """Let items through; judge the page when the spider has said which links it would follow, unless it asks for it again."""
        given = response.meta.get(_GIVEN, "")
        links = self._links[given] = []
        async for one in result:
            if url := self._hold(one, given):
                links.append(url)
            else:
                yield one
        if self._links.pop(given, None) is not None:
            self._judge(response)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:  # noqa: ARG002 - Scrapy's
        """Go on when a callback fails: other pages may still lead to the links that it did not come to."""
        self._judge(response, self._links.pop(response.meta.get(_GIVEN, ""), ()))

    def _hold(self, one: Any, given: str = "") -> str | None:
        """Hold back a plain request for a page, and give its URL; anything else is none of ours, nor is the `given` page again."""
        is_page = isinstance(one, Request) and one.method == "GET" and one.url.startswith("http")
        if is_page and one.meta.get("honeyguide", True):
            with suppress(UrlError):
                url = normalize(one.url)
                if not (given and one.dont_filter and url == normalize(given)):
                    self._asked.setdefault(url, one)
                    return url
                self._links.pop(given, None)
        return None

    def _judge(self, response: Response, links: Sequence[str] | None = None) -> None:
        """Give a page that is over to `Focus`, if that waits for it."""
        url = response.meta.get(_GIVEN, "")
        if self._focus and url in self._focus.missing:
            kind = (response.headers.get("Content-Type") or b"").decode("latin-1") or None
            answer = {"status": response.status, "final_url": response.url, "content_type": kind}
            judged = self._focus.add_page(url, response.body, **answer, links=links)
            self._crawler.stats.inc_value("honeyguide/relevant", sum(page.is_relevant for page in judged))
        self._go_on()

    def _go_on(self) -> None:
        """Give Scrapy the best requests that may go out now; what the spider did not ask for is declined."""
        while self._focus and (urls := self._focus.next(100)):
            for url in urls:
                if request := self._asked.pop(normalize(url), None):
                    self._crawler.engine.crawl(self._marked(request, url))
                else:
                    self._focus.decline(url, "the spider did not ask for it")

    def _marked(self, request: Request, url: str) -> Request:
        def failed(failure: Failure, errback: Any = request.errback) -> Any:
            if not failure.check(HttpError):  # that is an answer, which `_judge` gets
                self._lose([url], str(failure.value))  # Scrapy has tried again already
            return errback(failure) if errback else failure

        request.meta[_GIVEN] = url
        return request.replace(errback=failed, dont_filter=True, priority=-next(self._places))

    def _lose(self, urls: Sequence[str], why: str) -> None:
        for url in [url for url in urls if url in self._focus.missing]:
            self._focus.decline(url, why)
        self._go_on()

    def _idle(self) -> None:
        """Go on without what other parts of Scrapy have dropped."""
        if self._focus:
            self._lose(self._focus.missing, "Scrapy dropped it")
            if self._focus.missing:
                raise DontCloseSpider

    def _close(self, reason: str) -> None:
        if self._focus:
            for rule, number in self._focus.rejected.items():
                self._crawler.stats.set_value(f"honeyguide/rejected/{rule}", number)
            unlinked = [url for url in self._asked if not self._focus.has_met(url)]
            if unlinked and reason == "finished":  # else a page that links it may not have been judged
                self._crawler.stats.set_value("honeyguide/not-linked", len(unlinked))
                logging.getLogger(__name__).warning(_UNLINKED, len(unlinked), unlinked[0])
            self._focus.close()
