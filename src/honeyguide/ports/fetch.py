"""What the jobs need from the world: Protocols, and the plain data that crosses them.

Owns: `Fetcher`, `Clock`, `Robots`, `Fetched` and what it is made of; `Store`, `Frontier`, `History`. Must not know: who implements them.
Start reading at `Fetcher` and `Fetched`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from honeyguide.core.page.page import Head, Page
    from honeyguide.core.url.url import Url


class Part(StrEnum):
    """How much of a resource is wanted, and of which kind."""

    PAGE = "page"  # a text document, whole; more than the policy allows is TooLarge
    HEAD = "head"  # a text document up to the end of its head, or 64 KiB (PICK-11)
    START = "start"  # the first 500 KiB of a file of any type (robots.txt)
    FILE = "file"  # a file of any type, whole (sitemaps); more than 50 MB, packed or not, is TooLarge


class Validators(NamedTuple):
    """What the last answer said of its version; sent back, it lets a server answer 304.

    `of` is the URL that answered, where redirects led elsewhere than was asked: they are sent to no other.
    """

    etag: str | None = None
    last_modified: str | None = None
    of: Url | None = None


class Headers(NamedTuple):
    """The few response headers that we use, as sent, or None. `location` may hold anything: parse it."""

    content_type: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    retry_after: str | None = None
    location: str | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """One answer. Any status is a value: a 404 is an answer, not an error.

    `body` is decompressed and bounded; it is empty unless the status is 2xx. `truncated` says that reading stopped
    on purpose (`Part.HEAD`, `Part.START`). `hops` are the URLs that redirected here, first to last, as requested;
    `is_moved` says that all of them did so for good (301, 308).
    """

    url: Url
    asked: Url
    status: int
    headers: Headers = field(default_factory=Headers)
    body: bytes = b""
    truncated: bool = False
    hops: tuple[str, ...] = ()
    elapsed_s: float = 0.0
    is_moved: bool = False


class Fetcher(Protocol):
    """Gets one URL. An adapter makes exactly one request and follows no redirect; jobs wrap it to do more."""

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        """Answer with a `Fetched`, or raise a `FetchError`: nothing else."""
        ...


class Clock(Protocol):
    """Time, as far as the jobs know of it."""

    def now(self) -> float:
        """Seconds since 1970 UTC; never runs backwards within a run."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return when `now` has advanced by that much."""
        ...


class Robots(Protocol):
    """What one robots.txt says to us."""

    @property
    def crawl_delay_s(self) -> float | None:
        """The Crawl-delay of our group, unbounded; None if it states none."""
        ...

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The sitemaps it names, as written."""
        ...

    def allows(self, url: Url) -> bool:
        """Whether we may request this URL of the origin that the file belongs to."""
        ...


RobotsReader = Callable[[bytes], Robots]  # never raises, whatever the bytes


class Content(NamedTuple):
    """What a page says when menus and footers are left out."""

    text: str
    markdown: str
    headings: tuple[str, ...]


class PageReader(Protocol):
    """Reads documents; never raises, whatever the bytes."""

    def page(self, body: bytes, url: Url, content_type: str | None) -> Page:
        """Read links, title, headings and visible text."""
        ...

    def head(self, body: bytes, content_type: str | None) -> Head:
        """Read title and description from the beginning of a document."""
        ...

    def content(self, body: bytes, url: Url, content_type: str | None) -> Content:
        """Read the main content."""
        ...
