"""LlamaIndex: the pages of a crawl as documents.

    documents = HoneyguideReader(max_relevant=30).load_data("https://docs.example.org/", topic="asyncio|coroutine")

Only pages about the topic are documents, as Markdown; without a topic, all that could be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_index.core.readers.base import BaseReader
from llama_index.core.schema import Document

from honeyguide import HoneyguideError, crawl

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class HoneyguideReader(BaseReader):
    """Reads pages as `honeyguide.crawl` gives them; its settings hold for every call."""

    def __init__(self, **settings: Any) -> None:
        """Keep the settings, which are those of `honeyguide.crawl`."""
        self._settings = settings

    def lazy_load_data(self, seeds: str | Sequence[str], *, topic: str | None = None) -> Iterator[Document]:
        """Give the documents as their pages are fetched; without any page, an error says why."""
        pages = crawl(seeds, topic=topic, **self._settings)
        for page in pages:
            if page.is_relevant if topic is not None else page.html:
                metadata = {
                    "url": page.url,
                    "title": page.title,
                    "language": page.record["language"],
                    "score": page.score,
                    "reasons": "; ".join(page.reasons),
                }
                yield Document(text=page.markdown, id_=page.url, metadata=metadata)
        if pages.problem:
            raise HoneyguideError(pages.problem)
