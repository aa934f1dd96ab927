"""Scrapy: the spider's own requests, in the order of `honeyguide crawl`, and only those that are worth a visit.

    ADDONS = {"honeyguide.contrib.scrapy.FocusAddon": 500}
    HONEYGUIDE_TOPIC = "asyncio|coroutine"

The spider yields a request for each link that it would follow; the add-on holds them back and lets the best ones through.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response
from scrapy.spidermiddlewares.httperror import HttpError

from honeyguide import Focus, UrlError, normalize

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    Output = AsyncIterator[Any]
_OPTIONS = {f"HONEYGUIDE_{name.upper()}": name for name in ("topic", "profile", "traversal")}
_GIVEN = "honeyguide_url"  # the key of `Request.meta` that holds the URL as `Focus` gave it


class FocusAddon:
    """Switches the middleware on; `HONEYGUIDE_TOPIC` is required, `HONEYGUIDE_PROFILE` and `HONEYGUIDE_TRAVERSAL` are not."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the middleware behind those of Scrapy, next to the spider."""
        settings.set_in_component_priority_dict("SPIDER_MIDDLEWARES", FocusMiddleware, 1000)


class FocusMiddleware:
    """Holds back what a spider asks for, and gives it to Scrapy in the order of `Focus`."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        if not settings.get("HONEYGUIDE_TOPIC"):
            raise NotConfigured("set HONEYGUIDE_TOPIC to what the spider looks for, such as 'fire|alarm'")
        self._options = {name: settings[key] for key, name in _OPTIONS.items() if settings.get(key)}
        self._stats = crawler.stats
        self._asked: dict[str, Request] = {}
        self._focus: Focus | None = None
        self._places = count()
        crawler.signals.connect(self._close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:  # noqa: D102 - Scrapy's own name
        return cls(crawler)

    async def process_start(self, start: Output) -> Output:
        """Begin at the requests that the spider starts with."""
        async for one in start:
            if not self._holds(one):
                yield one
        self._focus = Focus(list(self._asked), **self._options) if self._asked else None
        for request in self._next():
            yield request

    async def process_spider_output(self, response: Response, result: Output) -> Output:
        """Let items through; judge the page when the spider has said which links it would follow."""
        async for one in result:
            if not self._holds(one):
                yield one
        if self._focus is not None and _GIVEN in response.meta:
            self._add(response, self._focus)
            for request in self._next():
                yield request

    def _holds(self, one: Any) -> bool:
        """Hold back a plain request for a page; anything else is none of ours."""
        if not isinstance(one, Request) or one.method != "GET" or not one.url.startswith("http"):
            return False
        with suppress(UrlError):
            self._asked.setdefault(normalize(one.url), one)
        return True

    def _add(self, response: Response, focus: Focus) -> None:
        kind = (response.headers.get("Content-Type") or b"").decode("latin-1") or None
        answer = {"status": response.status, "final_url": response.url, "content_type": kind}
        judged = focus.add_page(response.meta[_GIVEN], response.body, **answer)
        self._stats.inc_value("honeyguide/relevant", sum(page.is_relevant for page in judged))

    def _next(self) -> Iterator[Request]:
        """Give the best requests that may go out now; what the spider did not ask for is declined."""
        focus = self._focus
        while focus is not None and (urls := focus.next(100)):
            for url in urls:
                if request := self._asked.pop(normalize(url), None):
                    yield self._marked(request, url, focus)
                else:
                    focus.decline(url, "the spider did not ask for it")

    def _marked(self, request: Request, url: str, focus: Focus) -> Request:
        def failed(failure: Failure, errback: Any = request.errback) -> Iterator[Any]:
            yield from (errback(failure) or ()) if errback else ()
            if failure.check(HttpError):
                self._add(failure.value.response, focus)
            else:  # Scrapy has tried again already
                focus.decline(url, str(failure.value))
            yield from self._next()

        request.meta[_GIVEN] = url  # a failure reaches `Focus`, too
        return request.replace(errback=failed, dont_filter=True, priority=-next(self._places))

    def _close(self) -> None:
        if self._focus is not None:
            for rule, number in self._focus.rejected.items():
                self._stats.set_value(f"honeyguide/rejected/{rule}", number)
            self._focus.close()
