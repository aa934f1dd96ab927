"""What the calls give: a page of a crawl, the picked pages of a site, each with its reasons and its Markdown.

Owns: `CrawledPage`, `PickedPage`, `PickedSite`. Must not know: how they were fetched. A record has every field; the properties
are those that most readers want.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from honeyguide.adapters.output.chunks import MAX_CHUNK, MIN_CHUNK, chunk_records
from honeyguide.app.tools.checked import checked_methods, in_python
from honeyguide.app.tools.pages import main_content, parse_page
from honeyguide.core.records import is_relevant
from honeyguide.core.text.printable import html_table
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from honeyguide.core.page.page import Link
    from honeyguide.core.records import Record
    from honeyguide.core.records.fields import ChunkRecord
    from honeyguide.jobs.crawl import PageAttachments
    from honeyguide.ports.fetch import Content
    from honeyguide.ports.store import KeptPage

_HEADER = ("URL", "Title", "Score", "Reasons")


@dataclass(frozen=True)
@checked_methods
class CrawledPage:
    """A page that a crawl requested; `url` answered, `record["url"]` was asked for.

    `html` is its body as it was read, if that was kept.
    """

    record: Record = field(repr=False)
    html: bytes = field(default=b"", repr=False)
    content_type: str | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """The address that answered."""
        return str(self.record["final_url"] or self.record["url"])

    @property
    def title(self) -> str:
        """The title of the page."""
        return self.record["title"] or ""

    @property
    def status(self) -> int | None:
        """The HTTP status."""
        status: int | None = self.record["status"]
        return status

    @property
    def score(self) -> float | None:
        """The topic score, 0 to 10 (TOPIC-2); None without a topic."""
        score: float | None = self.record["relevance_score"]
        return score

    @property
    def relevance(self) -> float | None:
        """The topic relevance, 0 to 1 (TOPIC-7): from 0.5 on, the page is about the topic."""
        relevance: float | None = self.record["topic_relevance"]
        return relevance

    @property
    def is_relevant(self) -> bool:
        """Whether `relevance` is enough."""
        return is_relevant(self.record)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it has this score."""
        return tuple(map(in_python, self.record["reasons"]))

    @property
    def markdown(self) -> str:
        """The main content as Markdown."""
        return self._content.markdown

    @property
    def text(self) -> str:
        """The main content as text."""
        return self._content.text

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The links of the page."""
        return parse_page(self.html, self.url, self.content_type).links if self.html else ()

    @cached_property
    def _content(self) -> Content:
        return main_content(self.html, self.url, self.content_type)

    def chunks(self, chars: int = 2_000) -> list[ChunkRecord]:
        """Cut the main content at its headings, as `export pages --chunks` does.

        A listing or a table stays whole, even if it is longer.
        """
        if not MIN_CHUNK <= chars <= MAX_CHUNK:
            raise InputError(f"chunks: chars should lie between {MIN_CHUNK} and {MAX_CHUNK:,}, not {chars}")
        return list(chunk_records(self.record, self._content, chars))

    def __repr__(self) -> str:
        score = "" if self.score is None else f", score {self.score:g}"
        return f"<{type(self).__name__} {self.url}{score}>"

    def _repr_html_(self) -> str:
        return html_table(_HEADER, [(self.url, self.title, self.score, "; ".join(self.reasons))])


def page_of(record: Record, attachments: PageAttachments) -> CrawledPage:
    """Make a page of what a crawl hands over."""
    fetched = attachments.fetched
    if fetched is None:
        return CrawledPage(record)
    return CrawledPage(record, fetched.body, fetched.headers.content_type)


def page_from_store(record: Record, kept: KeptPage | None) -> CrawledPage:
    """Make a page of what a store has; without its content if that was not kept."""
    if kept is None:
        return CrawledPage(record)
    return CrawledPage(record, kept.body or b"", kept.content_type)


@dataclass(frozen=True, slots=True)
class PickedPage:
    """A page that was picked, with its place, its bucket and its reasons; `markdown` is empty without `content=True`."""

    rank: int
    url: str
    bucket: str | None
    title: str
    score: float | None
    reasons: tuple[str, ...]
    status: int | None
    markdown: str = field(repr=False)

    @classmethod
    def of(cls, record: Record) -> PickedPage:
        """Read a selected page."""
        known = {name: record[name] for name in ("rank", "url", "bucket", "score", "status")}
        title, markdown = record["title"] or "", record.get("markdown") or ""
        return cls(**known, title=title, markdown=markdown, reasons=tuple(record["reasons"]))


@dataclass(frozen=True, repr=False)
class PickedSite:
    """The picked pages of one site, best first."""

    record: Record

    @cached_property
    def pages(self) -> tuple[PickedPage, ...]:
        """The picked pages, best first."""
        return tuple(map(PickedPage.of, self.record["selected"]))

    @property
    def site(self) -> str:
        """The site as given."""
        return str(self.record["site"])

    @property
    def status(self) -> str:
        """How it went: `ok`, or why there is nothing to pick from."""
        return str(self.record["status"])

    @property
    def reason(self) -> str | None:
        """Why the status is not `ok`, or a remark about the links."""
        reason: str | None = self.record["reason"]
        return reason and in_python(reason)

    @property
    def candidates(self) -> Sequence[Record]:
        """Every link of the homepage, with its score or rejection."""
        candidates: Sequence[Record] = self.record["candidates"]
        return candidates

    def __iter__(self) -> Iterator[PickedPage]:
        return iter(self.pages)

    def __len__(self) -> int:
        return len(self.pages)

    def __getitem__(self, place: int) -> PickedPage:
        return self.pages[place]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.site}: {self.status}, {len(self.pages)} pages>"

    def _repr_html_(self) -> str:
        rows = [(page.url, page.title, page.score, "; ".join(page.reasons)) for page in self.pages]
        return html_table(_HEADER, rows, f"{self.site}: {self.reason or self.status}")
