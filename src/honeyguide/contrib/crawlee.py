"""Crawlee: a request manager that gives requests in the order of `honeyguide crawl`.

    requests = FocusRequests("https://docs.example.org/", topic="asyncio|coroutine", max_pages=100)
    crawler = ParselCrawler(request_manager=requests)

    @crawler.router.default_handler
    async def handle(context):
        await requests.add_page(context)

Links need not be enqueued: `add_page` reads them from the page. Crawlee fetches, retries and keeps robots.txt.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from crawlee import Request
from crawlee.request_loaders import RequestManager

from honeyguide import Focus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlee.crawlers import HttpCrawlingContext
    from crawlee.storage_clients.models import ProcessedRequest

    from honeyguide import CrawledPage

_KEY = "honeyguide_url"  # of the user data of a request
_LOOK_S = 0.05  # between two looks whether a page that is being fetched has led to another


class FocusRequests(RequestManager):
    """The requests of a crawl, chosen by `Focus`."""

    def __init__(self, seeds: str | Sequence[str], *, topic: str, **settings: Any) -> None:
        """Begin at the seeds; the settings are those of `Focus`."""
        self._focus = Focus(seeds, topic=topic, **settings)
        self._in_flight: set[str] = set()  # what Crawlee works on; it tries a page again whose handler failed
        self._again: list[Request] = []
        self._handled = 0

    async def add_page(self, context: HttpCrawlingContext) -> list[CrawledPage]:
        """Give the page of a handler's context to `Focus`; returns the pages that are judged by now."""
        url, answer = str(context.request.user_data[_KEY]), context.http_response
        body = await answer.read()
        if url not in self._focus.missing:  # its handler failed afterwards, and is called again
            return []
        return self._focus.add_page(
            url,
            body,
            status=answer.status_code,
            final_url=context.request.loaded_url,
            content_type=answer.headers.get("content-type"),
        )

    async def fetch_next_request(self) -> Request | None:
        """Give the best request; wait while pages that are being fetched may lead to one."""
        while True:
            if self._again:
                request = self._again.pop()
                break
            urls = self._focus.next()
            if urls:
                request = Request.from_url(urls[0], user_data={_KEY: urls[0]}, always_enqueue=True)
                break
            if not self._in_flight:
                return None
            await asyncio.sleep(_LOOK_S)
        self._in_flight.add(str(request.user_data[_KEY]))
        return request

    async def mark_request_as_handled(self, request: Request) -> ProcessedRequest | None:
        """Note that a request is over; one that failed, or that no handler gave to `add_page`, leads nowhere."""
        url = str(request.user_data[_KEY])
        self._in_flight.discard(url)
        if url in self._focus.missing:
            self._focus.decline(url, "its page was not added")
        self._handled += 1
        return None

    async def reclaim_request(self, request: Request, *, forefront: bool = False) -> ProcessedRequest | None:
        """Try a failed request again."""
        del forefront
        self._in_flight.discard(str(request.user_data[_KEY]))
        self._again.append(request)
        return None

    async def add_request(
        self, request: str | Request, *, forefront: bool = False
    ) -> ProcessedRequest | None:
        """Add nothing: which links are followed is decided when their page is added."""
        del request, forefront
        return None

    async def is_empty(self) -> bool:
        """Tell whether nothing can be given right now for good."""
        return self._focus.stopped is not None and not self._again

    async def is_finished(self) -> bool:
        """Tell whether all is done."""
        return not self._in_flight and await self.is_empty()

    async def get_handled_count(self) -> int:
        """Count the requests that are over."""
        return self._handled

    async def get_total_count(self) -> int:
        """Count the requests that are over, and those under way."""
        return self._handled + len(self._in_flight) + len(self._again)

    async def drop(self) -> None:
        """Remove the temporary files."""
        self._focus.close()
