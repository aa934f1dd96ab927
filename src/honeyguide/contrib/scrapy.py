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
from scrapy.exceptions import DontCloseSpider
from scrapy.http import Request, Response
from scrapy.spidermiddlewares.httperror import HttpError

from honeyguide import Focus, InputError, UrlError, load_profile, normalize

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    Output = AsyncIterator[Any]
_GIVEN = "honeyguide_url"  # the key of `Request.meta` that holds the URL as `Focus` gave it
_LAST = 10  # next to the engine: what other middlewares make of requests, such as their depth, is done before they wait here


class FocusAddon:
    """Switches the middleware on; `HONEYGUIDE_TOPIC` is required, `HONEYGUIDE_PROFILE` and `HONEYGUIDE_TRAVERSAL` are not."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the middleware behind all others, next to the engine; without a topic, nothing begins."""
        _options(settings)
        settings.set_in_component_priority_dict("SPIDER_MIDDLEWARES", FocusMiddleware, _LAST)


def _options(settings: BaseSettings) -> dict[str, Any]:
    """Read what `Focus` is told."""
    topic, traversal = settings.get("HONEYGUIDE_TOPIC"), settings.get("HONEYGUIDE_TRAVERSAL")
    if not topic:
        raise InputError("set HONEYGUIDE_TOPIC to what the spider looks for, such as 'fire|alarm'")
    profile = load_profile(settings.get("HONEYGUIDE_PROFILE") or "docs", topic=topic)
    return {"profile": profile, **({"traversal": traversal} if traversal else {})}


class FocusMiddleware:
    """Holds back what a spider asks for, and gives it to Scrapy in the order of `Focus`."""

    def __init__(self, crawler: Crawler) -> None:
        self._options = _options(crawler.settings)
        self._crawler = crawler
        self._asked: dict[str, Request] = {}
        self._missing: set[str] = set()  # what Scrapy has, as `Focus` gave it
        self._failed: set[str] = set()  # of these, pages whose callback raised an exception
        self._focus: Focus | None = None
        self._places = count()
        crawler.signals.connect(self._idle, signals.spider_idle)
        crawler.signals.connect(self._close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:  # noqa: D102 - Scrapy's own name
        return cls(crawler)

    async def process_start(self, start: Output) -> Output:
        """Begin at the requests that the spider starts with, also if it fails to make more."""
        error: Exception | None = None
        try:
            async for one in start:
                if self._hold(one) is None:
                    yield one
        except Exception as raised:  # noqa: BLE001 - Scrapy hears of it below
            error = raised
        self._focus = Focus(list(self._asked), **self._options) if self._asked else None
        for request in self._next():
            yield request
        if error is not None:
            raise error

    async def process_spider_output(self, response: Response, result: Output) -> Output:
        """Let items through; judge the page when the spider has said which links it would follow."""
        asked = []
        async for one in result:
            url = self._hold(one)
            if url is None:
                yield one
            else:
                asked.append(url)
        for request in self._after(response, asked):
            yield request

    def process_spider_exception(self, response: Response, exception: Exception) -> Output:
        """Go on after a callback that failed: it costs its page, and no link that it did not come to."""
        self._failed.add(str(response.meta.get(_GIVEN)))
        return self._raised(response, exception)

    async def _raised(self, response: Response, exception: Exception) -> Output:
        for request in self._after(response, ()):
            yield request
        raise exception  # Scrapy logs and counts it

    def _hold(self, one: Any) -> str | None:
        """Hold back a plain request for a page, and give its URL; anything else is none of ours."""
        if isinstance(one, Request) and one.method == "GET" and one.url.startswith("http"):
            with suppress(UrlError):
                url = normalize(one.url)
                self._asked.setdefault(url, one)
                return url
        return None

    def _after(self, response: Response, asked: Iterable[str]) -> Iterator[Request]:
        """Judge a page that is over, if it is one that `Focus` waits for."""
        url = response.meta.get(_GIVEN)
        if self._focus is not None and url in self._missing:
            self._missing.remove(url)
            kind = (response.headers.get("Content-Type") or b"").decode("latin-1") or None
            judged = self._focus.add_page(
                url,
                response.body,
                status=response.status,
                final_url=response.url,
                content_type=kind,
                links=asked if url in self._failed else None,
            )
            self._crawler.stats.inc_value("honeyguide/relevant", sum(page.is_relevant for page in judged))
        yield from self._next()

    def _next(self) -> Iterator[Request]:
        """Give the best requests that may go out now; what the spider did not ask for is declined."""
        focus = self._focus
        while focus is not None and (urls := focus.next(100)):
            for url in urls:
                if request := self._asked.pop(normalize(url), None):
                    self._missing.add(url)
                    yield self._marked(request, url)
                else:
                    focus.decline(url, "the spider did not ask for it")

    def _marked(self, request: Request, url: str) -> Request:
        def failed(failure: Failure, errback: Any = request.errback) -> Any:
            if not failure.check(HttpError):  # that is an answer, so its page comes by the middleware
                self._lose([url], str(failure.value))
            return failure if errback is None else errback(failure)

        request.meta[_GIVEN] = url
        return request.replace(errback=failed, dont_filter=True, priority=-next(self._places))

    def _lose(self, urls: Iterable[str], why: str) -> bool:
        """Go on without pages that do not come; tells whether something is left to fetch."""
        for url in self._missing.intersection(urls):
            self._missing.remove(url)
            if self._focus is not None:
                self._focus.decline(url, why)  # Scrapy has tried again already
        requests = list(self._next())
        for request in requests:
            self._crawler.engine.crawl(request)
        return bool(requests)

    def _idle(self) -> None:
        """Go on without what other parts of Scrapy have dropped."""
        if self._lose(list(self._missing), "Scrapy dropped it"):
            raise DontCloseSpider

    def _close(self) -> None:
        if self._focus is not None:
            for rule, number in self._focus.rejected.items():
                self._crawler.stats.set_value(f"honeyguide/rejected/{rule}", number)
            self._focus.close()
