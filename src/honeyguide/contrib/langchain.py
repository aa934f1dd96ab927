"""LangChain: the pages of a crawl as documents.

    loader = HoneyguideLoader("https://docs.example.org/", topic="asyncio|coroutine", max_relevant=30)
    documents = loader.load()

Only pages about the topic are documents, as Markdown; without a topic, all that could be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from honeyguide import HoneyguideError, crawl

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from honeyguide import CrawledPage


class HoneyguideLoader(BaseLoader):
    """Loads pages as `honeyguide.crawl` gives them."""

    def __init__(self, seeds: str | Sequence[str], *, topic: str | None = None, **settings: Any) -> None:
        """Begin at the seeds; the settings are those of `honeyguide.crawl`."""
        self._crawl = crawl(seeds, topic=topic, **settings)
        self._has_topic = topic is not None

    def lazy_load(self) -> Iterator[Document]:
        """Give the documents as their pages are fetched; without any page, an error says why."""
        for page in self._crawl:
            if self._is_wanted(page):
                yield self._document(page)
        self._check()

    async def alazy_load(self) -> AsyncIterator[Document]:
        """Give the documents as their pages are fetched, where an event loop runs."""
        async for page in self._crawl:
            if self._is_wanted(page):
                yield self._document(page)
        self._check()

    def _check(self) -> None:
        if self._crawl.problem:
            raise HoneyguideError(self._crawl.problem)

    def _is_wanted(self, page: CrawledPage) -> bool:
        return page.is_relevant if self._has_topic else bool(page.html)

    def _document(self, page: CrawledPage) -> Document:
        metadata = {
            "source": page.url,
            "title": page.title,
            "language": page.record["language"],
            "score": page.score,
            "reasons": list(page.reasons),
        }
        return Document(page_content=page.markdown, metadata=metadata)
