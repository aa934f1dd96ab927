"""Visiting sites from a program or a notebook: `pick` for one site, `crawl` for the pages about a topic.

Owns: plain calls and their asynchronous twins. Plain calls run in a thread with an event loop of its own, because a notebook's
loop runs already. Must not know: how a page is judged, options, terminals. Start reading at `crawl`, then `iterate`.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import ExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar, Unpack

from honeyguide.app.arguments import (
    count_of,
    lasting_name,
    needs_topic,
    patterns_of,
    profile_on,
    read_seeds,
)
from honeyguide.app.crawl import CrawlJob, CrawlSession, opened_fetcher
from honeyguide.app.library.pages import CrawledPage, PickedSite, page_from_store, page_of
from honeyguide.app.library.rendering import check_mode
from honeyguide.app.library.shared_store import Reading, store_of_loop
from honeyguide.app.pick import PickRequest, pick_sites
from honeyguide.app.tools.checked import check_fields, in_python
from honeyguide.config import load_profile
from honeyguide.core.crawl.frontier import Budgets
from honeyguide.core.fetching import NEVER, FetchPolicy
from honeyguide.core.rules.profile import Profile
from honeyguide.core.url.scope import HOST
from honeyguide.errors import InputError, shown
from honeyguide.jobs.request import CrawlRequest, latest_runs, spec_of

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        AsyncIterator,
        Callable,
        Coroutine,
        Iterable,
        Iterator,
        Sequence,
    )

    from honeyguide.app.crawl import Network
    from honeyguide.core.records import Record
    from honeyguide.core.url.url import Url
    from honeyguide.jobs.crawl import CrawlSummary, PageAttachments
    from honeyguide.jobs.politeness import PoliteFetcher
    from honeyguide.ports.fetch import Clock, Fetcher
    from honeyguide.ports.store import Store

Item = TypeVar("Item")
_NAMED = 3  # seeds, in a sentence
_AHEAD = 8  # pages that wait for whoever reads them; then no more are requested


class PickSettings(TypedDict, total=False):
    """What may be said of a pick; the fields of `PickRequest`, with their defaults."""

    strategy: str
    profile: Profile | str | Path | None
    cap: int | None
    query: str | None
    content: bool | str
    include: str | Sequence[str]
    exclude: str | Sequence[str]
    scope: str | None
    want: str | Sequence[str]
    never: str | Sequence[str]
    render: str


def pick(
    site: str,
    *,
    policy: FetchPolicy | None = None,
    fetcher: Fetcher | None = None,
    clock: Clock | None = None,
    **settings: Unpack[PickSettings],
) -> PickedSite:
    """Pick the few pages of a site that say what it does; works in a notebook, too.

    The settings are those of `PickRequest`: `cap=4`, `content=True` for Markdown, `want=("pricing",)`.
    """
    return run(lambda: pick_async(site, policy=policy, fetcher=fetcher, clock=clock, **settings))


async def pick_async(
    site: str,
    *,
    policy: FetchPolicy | None = None,
    fetcher: Fetcher | None = None,
    clock: Clock | None = None,
    **settings: Unpack[PickSettings],
) -> PickedSite:
    """Pick as `pick` does, where an event loop runs."""
    try:
        request = PickRequest(**settings)
    except TypeError as error:
        raise InputError(f"pick: {str(error).rpartition('__init__() ')[2]}") from None
    check_fields(request)
    found: list[Record] = []
    await pick_sites(
        site,
        request,
        policy or FetchPolicy(),
        lambda _, record: found.append(record),
        fetcher=fetcher,
        clock=clock,
    )
    return PickedSite(found[0])


def crawl(  # noqa: PLR0913 - settings of a library call, all by keyword
    seeds: str | Url | Sequence[str | Url],
    *,
    topic: str | None = None,
    related: Sequence[str] = (),
    profile: Profile | str | Path = "docs",
    traversal: str | None = None,
    max_pages: int | None = 100,
    max_relevant: int | None = None,
    max_depth: int | None = None,
    max_time_s: float | None = None,
    include: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    scope: str = HOST,
    sitemaps: Sequence[str] = (),
    render: str = NEVER,
    store: str | Path | Store | None = None,
    policy: FetchPolicy | None = None,
    fetcher: Fetcher | None = None,
    clock: Clock | None = None,
) -> Crawl:
    """Follow a topic from one page or several; read its pages with `for` or `async for`.

    Pages come in the order of the crawl. With a `store`, the same call resumes: pages that the store has of it come first,
    without a request. The traversal is `focused` with a topic, else `bfs`. `max_pages` counts all
    pages of the crawl; None is no limit.
    """
    first, alternatives = read_seeds(seeds)
    terms = tuple(related) or None
    if isinstance(profile, Profile):  # it has its topic already
        loaded = profile if topic is None and terms is None else profile_on(profile, topic, related)
    else:
        loaded = load_profile(profile, topic=topic, related=terms)
    if terms is not None and loaded.topic.pattern is None:
        raise InputError("crawl: related words belong to a topic: give one", field="topic")
    for pattern in (include, exclude):  # a wrong one is said before the crawl
        patterns_of(pattern)
    order = traversal or ("bfs" if loaded.topic.pattern is None else "focused")
    if needs_topic(loaded, order):
        raise InputError(
            f"crawl: {order} follows a topic: give one, such as topic='fire|alarm'", field="topic"
        )
    if max_relevant is not None and loaded.topic.pattern is None:
        raise InputError("crawl: max_relevant counts pages about a topic: give one", field="topic")
    if not first:
        raise InputError("crawl: no seed is given", field="seeds")
    request = CrawlRequest(
        seeds=first,
        traversal=order,
        budgets=Budgets(count_of(max_pages, "max_pages")),
        max_depth=max_depth,
        max_time_s=max_time_s,
        command=_label(first, topic),
        include=(include,) if isinstance(include, str) else tuple(include),
        exclude=(exclude,) if isinstance(exclude, str) else tuple(exclude),
        profile="" if isinstance(profile, Profile) else lasting_name(str(profile)),
        related=terms,
        scope=scope,
        max_relevant=count_of(max_relevant, "max_relevant"),
        render=render,
    )
    check_mode(render, loaded)
    if store == "":  # as from a variable that is not set
        raise InputError("is empty; None is no store", field="store")
    job = CrawlJob(request, policy or FetchPolicy(), loaded, tuple(sitemaps), alternatives)
    return Crawl(job, store, fetcher, clock)


def _label(seeds: Sequence[Url], topic: str | None) -> str:
    """Name a crawl in lists of runs, as a command does."""
    named = ", ".join(shown(str(seed)) for seed in seeds[:_NAMED])
    return (
        f"crawl({named}{', …' * (len(seeds) > _NAMED)}{'' if topic is None else f', topic={shown(topic)}'})"
    )


@dataclass
class Crawl:
    """A crawl that has not begun: each reading of its pages runs it. `summary` says how it went when all were read."""

    job: CrawlJob = field(repr=False)
    store: str | Path | Store | None = None
    fetcher: Fetcher | None = field(default=None, repr=False)
    clock: Clock | None = field(default=None, repr=False)
    summary: CrawlSummary | None = field(default=None, init=False)

    @property
    def problem(self) -> str | None:
        """Why there was no page at all; None if there was one."""
        if self.summary is None or self.summary.counts.states["done"]:
            return None
        seeds = ", ".join(map(str, self.job.request.seeds[:_NAMED]))
        if self.summary.failure is not None:
            return f"{seeds}: {in_python(self.summary.failure.text)}"
        is_late = self.summary.stopped == "max_time"
        return f"{seeds}: nothing was received{' before max_time_s was over' if is_late else ''}"

    def __iter__(self) -> Iterator[CrawledPage]:
        """Give the pages; leaving the loop early ends the crawl."""
        if self.store is not None and not isinstance(self.store, (str, Path)):
            raise InputError(
                "a store that is open belongs to its thread: give its path, or read with `async for`"
            )
        return iterate(self._pages)

    def __aiter__(self) -> AsyncGenerator[CrawledPage]:
        """Give the pages where an event loop runs; no page is requested while many wait to be read."""
        reading = Reading(self.store, spec_of(self.job.request, self.job.profile).key)
        pages = self._pages(reading)
        reading.watch(pages)
        return pages

    async def _pages(self, reading: Reading | None = None) -> AsyncGenerator[CrawledPage]:
        with ExitStack() as stack:
            if reading is not None:
                await reading.begin()
                stack.callback(reading.end)
            store = self._opened(stack)
            for page in _kept_pages(store, self.job):
                yield page
            async with aclosing(self._new_pages(store)) as pages:
                async for page in pages:
                    yield page

    def _opened(self, stack: ExitStack) -> Store:
        """Open the store; without one, the crawl has one for its time."""
        if self.store is not None and not isinstance(self.store, (str, Path)):
            return self.store
        folder = (
            self.store or Path(stack.enter_context(TemporaryDirectory(prefix="honeyguide-"))) / "crawl.db"
        )
        return stack.enter_context(store_of_loop(folder))

    async def _new_pages(self, store: Store) -> AsyncGenerator[CrawledPage]:
        arrived: asyncio.Queue[CrawledPage | None] = asyncio.Queue()
        has_room = asyncio.Event()
        has_room.set()

        def take(record: Record, attachments: PageAttachments) -> None:
            arrived.put_nowait(page_of(record, attachments))
            if arrived.qsize() >= _AHEAD:
                has_room.clear()

        session = CrawlSession(store, self.job, network=self._network(store, has_room))
        work = asyncio.create_task(session.crawl(take))
        work.add_done_callback(lambda _: arrived.put_nowait(None))
        try:
            while (page := await arrived.get()) is not None:
                if arrived.qsize() < _AHEAD:
                    has_room.set()
                yield page
            self.summary = await work
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    def _network(self, store: Store, has_room: asyncio.Event) -> Network:
        @asynccontextmanager
        async def opened(
            policy: FetchPolicy, named: Iterable[Url]
        ) -> AsyncIterator[tuple[PoliteFetcher, Clock]]:
            async with opened_fetcher(policy, named, self.fetcher, self.clock or store.clock) as (
                polite,
                clock,
            ):
                polite.hold = has_room.wait
                yield polite, clock

        return opened


def _kept_pages(store: Store, job: CrawlJob) -> Iterator[CrawledPage]:
    """Give the pages that an earlier call has fetched, with their bodies as far as they are kept."""
    key = spec_of(job.request, job.profile).key
    for known in latest_runs(store.runs.list()):
        if known.spec.key == key:
            for claim, record in store.ledger(known).pages():
                yield page_from_store(record, store.contents.get(known.id, claim))


# --- coroutines for plain calls ---


def run(work: Callable[[], Coroutine[Any, Any, Item]]) -> Item:
    """Run a coroutine to its end, and give its result.

    >>> async def answer() -> int:
    ...     return 42
    >>> run(answer)
    42
    """

    async def only() -> AsyncGenerator[Item]:
        yield await work()

    (result,) = iterate(only)
    return result


def iterate(source: Callable[[], AsyncGenerator[Item]]) -> Iterator[Item]:
    """Give the items of an asynchronous iterator, which is asked for an item when the one before is done with.

    Meanwhile its event loop keeps running, so that open connections are served. Leaving the loop early ends the source.
    """
    feed = _Feed(source)
    try:
        while (item := feed.handed.get()) is not feed:
            yield item
            feed.want()
    finally:
        feed.end()
    if feed.error is not None:
        raise feed.error


class _Feed(Generic[Item]):
    """A thread that hands over items one by one, and then itself."""

    def __init__(self, source: Callable[[], AsyncGenerator[Item]]) -> None:
        self.handed: SimpleQueue[Any] = SimpleQueue()
        self.error: BaseException | None = None
        self._source = source
        self._is_ready = threading.Event()
        self._thread = threading.Thread(target=self._work, name="honeyguide", daemon=True)
        self._thread.start()
        self._is_ready.wait()

    def want(self) -> None:
        """Ask for the next item."""
        with suppress(RuntimeError):  # the loop has closed: its last item was handed over
            self._loop.call_soon_threadsafe(self._is_wanted.set)

    def end(self) -> None:
        """Cancel what still works, and wait until it has cleaned up."""
        with suppress(RuntimeError):  # the loop has closed: nothing works any more
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()

    def _work(self) -> None:
        try:
            asyncio.run(self._hand_over())
        except asyncio.CancelledError:
            pass  # by `end`
        except BaseException as error:  # noqa: BLE001 - raised again by whoever reads the items
            self.error = error
        self.handed.put(self)

    async def _hand_over(self) -> None:
        self._loop, self._is_wanted = asyncio.get_running_loop(), asyncio.Event()
        self._task: asyncio.Task[Any] | Any = asyncio.current_task()
        self._is_ready.set()
        async with aclosing(self._source()) as items:
            async for item in items:
                self.handed.put(item)
                await self._is_wanted.wait()
                self._is_wanted.clear()
