"""Ports of the jobs to the web: `Fetcher`, `Clock`, `Robots`, `PageReader`, and the data that crosses them.

Owns: these protocols and `Fetched`. Must not know: who implements them. Start reading at `Fetcher` and `Fetched`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from honeyguide.core.crawl.frontier import SitePace
    from honeyguide.core.page.page import Head, Page
    from honeyguide.core.url.url import Url
    from honeyguide.core.why import Why


class Part(StrEnum):
    """How much of a resource to fetch, and its kind."""

    PAGE = "page"  # a text document, whole; more than the policy allows is TooLarge
    HEAD = "head"  # a text document up to the end of its head, or 64 KiB (PICK-11)
    START = "start"  # the first 500 KiB of a file of any type (robots.txt)
    RESOURCE = (
        "resource"  # a file of any type, whole, that a rendered page requests; as large as a page at most
    )
    FILE = "file"  # a file of any type, whole (sitemaps); more than 50 MB, packed or not, is TooLarge


TEXT_PARTS = (Part.PAGE, Part.HEAD)


class Validators(NamedTuple):
    """The version of the last answer; sent back, it lets a server answer 304.

    `of` is the URL that answered, if redirects led there: validators are sent to no other.
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
    robots: str | None = None  # X-Robots-Tag
    allow_origin: str | None = None  # Access-Control-Allow-Origin: who may read what a rendered page requests


def is_plain(value: str) -> bool:
    """Tell whether the value of a header is short printable ASCII."""
    return len(value) <= 1024 and value.isascii() and value.isprintable()


def plain_headers(sent: Headers) -> Headers:
    """Leave out what is not short printable ASCII, because headers are stored and sent back; `location` is neither."""
    kept = (value if value and is_plain(value) else None for value in sent)
    return Headers._make(kept)._replace(location=sent.location)


class Rendered(NamedTuple):
    """How a browser rendered a page: the reason, the result, and what the server had sent."""

    why: Why
    sent: bytes
    content_type: str | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """One answer. Any status is a value: a 404 is an answer, not an error.

    `url` answered; `request_url` was requested first, and `hops` are the URLs that redirected. `is_moved`: all redirects are
    permanent (301, 308). `body` is decompressed and bounded, and empty unless the status is 2xx; with `rendered`, it is what
    scripts made of the page. `truncated`: reading stopped on purpose (`Part.HEAD`, `Part.START`). `tries` counts the requests
    for `url`. `is_outside`: a redirect to `url` was not followed, because it leaves the crawl.
    """

    url: Url
    request_url: Url
    status: int
    headers: Headers = field(default_factory=Headers)
    body: bytes = b""
    truncated: bool = False
    hops: tuple[str, ...] = ()
    elapsed_s: float = 0.0
    is_moved: bool = False
    tries: int = 1
    rendered: Rendered | None = None
    is_outside: bool = False


class Trip(NamedTuple):
    """How far a fetch may go: how often a page may be requested, and whether a redirect to another site may be followed.

    `on_start` is called right before each request; what it raises ends the fetch, and nothing is requested.
    """

    tries: int | None = None
    may_follow: Callable[[Url], Awaitable[bool]] | None = None
    on_start: Callable[[], None] | None = None


ANYWHERE = Trip()


@runtime_checkable
class Fetcher(Protocol):
    """Fetches one URL with exactly one request, and follows no redirect.

    A failure is raised: `raise UnreachableError(str(url), "connection refused")`.
    """

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        """Return a `Fetched`, or raise a `FetchError` and nothing else."""


@runtime_checkable
class RobotsFetcher(Fetcher, Protocol):
    """A polite fetcher that knows the robots.txt of every origin."""

    async def robots(self, url: Url) -> Robots | None:
        """Give the rules of a URL's origin."""


@runtime_checkable
class PacedFetcher(Protocol):
    """A fetcher that pauses between two requests to a site, at least for `delay_s`, and tries again what may pass."""

    async def fetch(
        self,
        url: Url,
        *,
        validators: Validators | None = None,
        part: Part = Part.PAGE,
        trip: Trip = ANYWHERE,
    ) -> Fetched:
        """Return a `Fetched`, or raise a `FetchError` and nothing else."""

    @property
    def delay_s(self) -> float:
        """The pause that every site gets."""

    def wait_until(self, site: str, until: float) -> None:
        """Ask a site nothing before then, because another worker has asked it."""

    def pace_of(self, site: str) -> SitePace:
        """Say when a site may be asked again, with what its robots.txt asks for."""


@runtime_checkable
class Clock(Protocol):
    """The time of the jobs."""

    def now(self) -> float:
        """Seconds since 1970 UTC; never runs backwards within a run."""

    async def sleep(self, seconds: float) -> None:
        """Return when `now` has advanced by that much."""


class Robots(Protocol):
    """The rules of one robots.txt for us."""

    @property
    def crawl_delay_s(self) -> float | None:
        """The Crawl-delay of our group, unbounded; None if it states none."""

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The sitemaps that it lists, as written."""

    def allows(self, url: Url) -> bool:
        """Whether we may request this URL of the file's origin."""


RobotsReader = Callable[[bytes], Robots]  # never raises, whatever the bytes


# Where a page sends its readers, by its body, URL and content type; never raises.
ForwardReader = Callable[[bytes, "Url", str | None], "Url | None"]


class Content(NamedTuple):
    """The content of a page without menus and footers."""

    text: str
    markdown: str
    headings: tuple[str, ...]
    is_cut: bool = False  # at a limit


class PageReader(Protocol):
    """Reads documents; never raises, whatever the bytes."""

    def page(self, body: bytes, url: Url, content_type: str | None) -> Page:
        """Read links, title, headings and visible text."""

    def head(self, body: bytes, content_type: str | None) -> Head:
        """Read title and description from the beginning of a document."""

    def content(self, body: bytes, url: Url, content_type: str | None) -> Content:
        """Read the main content."""


class HomeReader(PageReader, Protocol):
    """Reads also how a homepage groups its links."""

    def home(self, body: bytes, url: Url, content_type: str | None) -> Page:
        """Read a page, and the submenus and groups of cards that list its links."""
