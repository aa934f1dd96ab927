"""What a crawl does, for programs that fetch pages themselves: which links of a page are worth a visit, and which page is next.

Owns: `judge_links` for one page, `Focus` for a whole crawl without a request. Both run the code of `honeyguide crawl`, so that the
pages come in its order. Must not know: HTTP, robots.txt, pauses: whoever fetches keeps them. Start reading at `Focus`.
"""

from __future__ import annotations

import weakref
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.adapters.clock import SystemClock
from honeyguide.app.arguments import (
    all_of,
    check_no_login,
    check_status,
    profile_on,
    read_seeds,
    url_of,
    without_halves,
)
from honeyguide.app.library.pages import CrawledPage, page_of
from honeyguide.app.runs import opened_store
from honeyguide.app.tools.checked import checked_methods
from honeyguide.core.crawl import machine
from honeyguide.core.crawl.frontier import Budgets, Lease, digest_of
from honeyguide.core.crawl.judge import Around, candidates_of, judge_page
from honeyguide.core.page.media import why_no_page
from honeyguide.core.url.scope import classify_url
from honeyguide.core.url.url import normalize
from honeyguide.errors import (
    DeclinedError,
    InputError,
    NotTextError,
    StoreError,
    UnreachableError,
    check_least,
)
from honeyguide.jobs.crawl import Crawler, Session
from honeyguide.jobs.request import CrawlRequest, context_of, spec_of
from honeyguide.jobs.results import Results, event_of
from honeyguide.ports.fetch import Fetched, Headers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from honeyguide.app.crawl import OnPage
    from honeyguide.core.page.page import Link, Page
    from honeyguide.core.records import Record
    from honeyguide.core.rules.language import Score
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.scope import Verdict
    from honeyguide.core.url.url import Url
    from honeyguide.core.why import Why
    from honeyguide.errors import FetchError
    from honeyguide.jobs.crawl import PageAttachments
    from honeyguide.ports.fetch import Clock, PageReader


class JudgedLink(NamedTuple):
    """A link and what a crawl decides about it. `rejected` says why it is not followed; `worth` orders those that are."""

    url: Url
    verdict: Verdict
    rejected: Why | None
    score: Score | None
    worth: float
    link: Link

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it has its score, or is rejected."""
        if self.rejected is not None:
            return (self.rejected.text or self.rejected.rule,)
        return () if self.score is None else self.score.words


def judge_links(
    page: Page,
    *,
    topic: str | None = None,
    profile: Profile | str | Path = "docs",
    traversal: str = "focused",
    scope: str = "host",
) -> list[JudgedLink]:
    """Judge the links of a page as a crawl does that has met none of them; in the order of the page.

    >>> from honeyguide import parse_page
    >>> page = parse_page('<a href="/alarms">Fire alarms</a> <a href="/login">Log in</a>', "https://acme.example/")
    >>> [(link.url.path, link.score and link.score.value, link.rejected and link.rejected.rule) for link in judge_links(page, topic="alarm")]
    [('/alarms', 10.0, None), ('/login', None, 'TOPIC-6')]
    """
    loaded = profile_on(profile, topic)
    request = CrawlRequest((page.url,), traversal, links=True, scope=scope)
    context = context_of(request, loaded)
    sites = frozenset([context.profile.scope.area(page.url.site)])
    lease = Lease(0, 0, page.url, page.url.site, is_seed=True)
    found = judge_page(page, lease, candidates_of(page, context), Around({}, sites), context).findings
    return [
        JudgedLink(
            url=new.url,
            verdict=classify_url(new.url, page.url, context.profile.scope),
            rejected=new.out,
            score=None if new.score is None else score,
            worth=new.priority,
            link=link,
        )
        for new, (link, score) in zip(found.new, found.scored, strict=True)
    ]


@checked_methods
class Focus:
    """The order of a crawl for a program that fetches pages itself: `next` says which, `add_page` takes them.

    Each URL that `next` gives must come back, by `add_page`, `add_failure` or `decline`: pages are judged in the order in
    which they were given, whatever the network does.
    """

    def __init__(  # noqa: PLR0913 - settings of a library call, all but the seeds by keyword
        self,
        seeds: str | Url | Sequence[str | Url],
        *,
        topic: str | None = None,
        profile: Profile | str | Path = "docs",
        traversal: str = "focused",
        max_pages: int | None = None,
        max_depth: int | None = None,
        scope: str = "host",
        clock: Clock | None = None,
    ) -> None:
        """Begin at the seeds; nothing is requested, and what is learnt is gone with the object."""
        (first, _), loaded = read_seeds(seeds), profile_on(profile, topic)
        check_no_login(map(str, first))
        request = CrawlRequest(first, traversal, Budgets(max_pages), max_depth, scope=scope, keep_bytes=0)
        with ExitStack() as opened:
            folder = opened.enter_context(TemporaryDirectory(prefix="honeyguide-"))
            self._store = opened.enter_context(opened_store(Path(folder) / "focus.db"))
            self._reader = _reader()
            crawler = Crawler(_NoFetcher(), self._reader, clock or SystemClock(), self._store, loaded)
            self._session = _session(crawler, request, self._take)
            self._closing = weakref.finalize(self, _close, opened.pop_all())
        self._chosen: dict[int, frozenset[str]] = {}  # by the claim of a page, until that is read
        self._session.results = _ChosenResults(self._chosen, self._reader)
        self._tracking = loaded.scope.tracking
        self._given: dict[str, Lease] = {}
        self._judged: list[CrawledPage] = []

    def __enter__(self) -> Self:
        """Use it as `with Focus(…) as focus:`, which closes it at the end."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Remove the temporary files, as the end of a `with` does."""
        self._closing()

    @property
    def stopped(self) -> str | None:
        """Why nothing is left to fetch; None while something is."""
        return self._session.stopped

    @property
    def missing(self) -> tuple[str, ...]:
        """What `next` gave that has not come back."""
        return tuple(self._given)

    def next(self, n: int = 1) -> list[str]:
        """Give the next `n` URLs to fetch, best first; fewer, or none, until earlier ones come back."""
        check_least("n", n, 1)
        self._check_open()
        session = self._session
        if not session.granted and not self._given and session.stopped is None:
            session.send(machine.Tick(session.clock.now()))  # what failed may be due again
        chosen = [lease for lease, _ in session.granted[:n]]
        del session.granted[:n]
        self._given |= {lease.url.as_linked: lease for lease in chosen}
        return [lease.url.as_linked for lease in chosen]

    def add_page(  # noqa: PLR0913 - what a program may know of a page, all by keyword
        self,
        url: str,
        html: bytes | str,
        *,
        status: int = 200,
        final_url: str | None = None,
        content_type: str | None = None,
        links: Iterable[str] | None = None,
    ) -> list[CrawledPage]:
        """Take the page of a URL that `next` gave; return the pages that are judged by now.

        `final_url` is where redirects led. A text needs no `content_type`; bytes are read as it says. With `links`, the
        page has no other links than these: another page that has them may still lead there.
        """
        check_status(status)
        there = None if final_url is None else url_of(final_url)
        chosen = None if links is None else frozenset(map(normalize, all_of(links, str)))
        lease = self._lease_of(url)
        there = there or lease.url
        if chosen is not None:
            self._chosen[lease.claim] = chosen
        body = html.encode("utf-8", "replace") if isinstance(html, str) else html
        kind = "text/html; charset=utf-8" if isinstance(html, str) else content_type
        if 200 <= status < 300 and (why := why_no_page(kind, body)) is not None:
            return self._ended(lease, NotTextError(there.as_linked, why))
        hops = () if there == lease.url else (lease.url.as_linked,)
        return self._ended(lease, Fetched(there, lease.url, status, Headers(kind), body, hops=hops))

    def add_failure(self, url: str, reason: str = "no answer") -> list[CrawledPage]:
        """Say that a URL could not be fetched; `next` gives it at most twice more, behind all others."""
        return self._ended(self._lease_of(url), UnreachableError(url, without_halves(reason)))

    def decline(self, url: str, reason: str) -> list[CrawledPage]:
        """Say that a URL is not fetched, such as for robots.txt; `next` does not give it again."""
        return self._ended(self._lease_of(url), DeclinedError(url, without_halves(reason)))

    def has_met(self, url: str) -> bool:
        """Tell whether a page has linked a URL, or it is a seed, whatever became of it."""
        self._check_open()
        digest = digest_of(url_of(url), self._tracking)
        return digest in self._store.ledger(self._session.run).known([digest])

    @property
    def rejected(self) -> Mapping[str, int]:
        """Links that each rule rejected."""
        self._check_open()
        return self._store.ledger(self._session.run).counts().out

    def _check_open(self) -> None:
        if not self._closing.alive:
            raise InputError("this Focus is closed, and what it knew is gone; begin a new one")

    def _lease_of(self, url: str) -> Lease:
        self._check_open()
        lease = self._given.pop(url, None)
        if lease is None:
            raise InputError(f"{url!r} is not a URL that next() gave and that is still missing", field="url")
        return lease

    def _ended(self, lease: Lease, result: Fetched | FetchError) -> list[CrawledPage]:
        session, at = self._session, self._session.clock.now()
        session.results.put(lease.claim, result, at)
        session.send(event_of(lease, result, at, 1))
        judged, self._judged = self._judged, []
        return judged

    def _take(self, record: Record, attachments: PageAttachments) -> None:
        self._judged.append(page_of(record, attachments))


def _close(opened: ExitStack) -> None:
    with suppress(StoreError):  # the files go in any case, and nobody would hear of it
        opened.close()


def _session(crawler: Crawler, request: CrawlRequest, on_page: OnPage) -> _FetchedElsewhere:
    profile, now = crawler.profile, crawler.clock.now()
    run = crawler.store.runs.begin(spec_of(request, profile), now)
    crawler = replace(crawler, profile=_without_pauses(profile))
    session = _FetchedElsewhere(crawler, request, context_of(request, profile), run, on_page)
    session.begin()
    session.send(machine.Adopted((), now))
    return session


def _reader() -> _ChosenLinks:
    from honeyguide.adapters.html.content import HtmlReader  # a compiled library

    return _ChosenLinks(HtmlReader())


class _ChosenLinks:
    """A `PageReader` that leaves out the links of a page that whoever fetched it does not follow."""

    def __init__(self, reader: PageReader) -> None:
        self._reader = reader
        self.chosen: frozenset[str] | None = None  # of the page that is read next, in their normal form
        self.head, self.content = reader.head, reader.content

    def page(self, body: bytes, url: Url, content_type: str | None) -> Page:
        """Read a page, and leave out its other links."""
        page, chosen = self._reader.page(body, url, content_type), self.chosen
        if chosen is None:
            return page
        links = tuple(link for link in page.links if link.url.text in chosen)
        return replace(page, links=links, turns=())


class _ChosenResults(Results):
    """Results that tell the reader which links of the page that is taken are followed; another try begins anew."""

    def __init__(self, chosen: dict[int, frozenset[str]], reader: _ChosenLinks) -> None:
        super().__init__()
        self._chosen, self._reader = chosen, reader

    def pop(self, claim: int) -> tuple[Fetched | FetchError, float]:
        """Take a result, as it was put."""
        self._reader.chosen = self._chosen.pop(claim, None)
        return super().pop(claim)


def _without_pauses(profile: Profile) -> Profile:
    """Let what failed come again behind all others, and not later: a loop that asks for more until nothing comes would miss it."""
    return replace(profile, crawl=replace(profile.crawl, retry_s=0.0))


class _FetchedElsewhere(Session):
    """A crawl whose granted pages wait until somebody asks for them."""

    def start_fetches(self) -> None:
        """Leave them to `Focus.next`."""


class _NoFetcher:
    """Makes no request."""

    async def fetch(self, url: Url, **_options: object) -> Fetched:
        """Reject every request."""
        raise UnreachableError(url.text, "pages are fetched elsewhere")
