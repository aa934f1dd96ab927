"""The composition root: what the library offers and what the command line calls.

Owns: putting core, adapters and profiles together, and turning the user's strings into types.
Must not know: arguments, terminals, output formats.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from honeyguide.config import load_profile
from honeyguide.core import plan, ranking, scope, select
from honeyguide.core.facts import Facts
from honeyguide.core.markdown import parse_markdown_links
from honeyguide.core.page import Head, Link, Occurrence, Page, Position
from honeyguide.core.pattern import compile_pattern
from honeyguide.core.plan import Scored, Signals, read_signals
from honeyguide.core.profile import Profile
from honeyguide.core.topic import page_score
from honeyguide.core.url import Url
from honeyguide.errors import ConfigError, InputError, Problem, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from honeyguide.adapters.sqlite import SqliteStore
    from honeyguide.core.frontier import Run
    from honeyguide.core.pattern import Pattern
    from honeyguide.core.policy import Policy
    from honeyguide.core.records import Record
    from honeyguide.core.rules import Score
    from honeyguide.core.scope import Verdict
    from honeyguide.core.select import Selection
    from honeyguide.jobs.crawl import Arrival, CrawlRequest, CrawlSummary
    from honeyguide.jobs.pick import Picker, PickRequest
    from honeyguide.jobs.polite import PoliteFetcher
    from honeyguide.jobs.sitemaps import Asked, Listing
    from honeyguide.ports import Clock, Fetcher, Frontier, Store


def classify(
    href: str, page: str | Url, *, seed: str | Url | None = None, profile: Profile | str | Path = "base"
) -> Verdict:
    """Say whether a link leads inside the site, outside, or nowhere a crawler goes, and which rule decided.

    >>> classify("mailto:a@b.example", "https://acme.example/").rule
    'scheme'
    """
    start = None if seed is None else _url(seed)
    return scope.classify(href, _url(page), _profile(profile).scope, start)


def parse_page(html: bytes | str, url: str | Url, content_type: str | None = None) -> Page:
    """Read a page: title, headings, text, links."""
    from honeyguide.adapters import html as adapter  # a compiled library that URL commands never need

    return adapter.parse_page(html, _url(url), content_type)


def extract_links(html: bytes | str, url: str | Url) -> tuple[Link, ...]:
    """Return the links of a page, each URL once, with all its occurrences.

    >>> [link.url.text for link in extract_links('<a href="about/">About</a>', "https://acme.example/")]
    ['https://acme.example/about']
    """
    from honeyguide.adapters import html as adapter  # see parse_page

    return adapter.extract_links(html, _url(url))


def parse_markdown(text: str, url: str | Url) -> Page:
    """Read a Markdown text as a page: its links, each URL once, and what is no link to a page (URL-12).

    >>> [link.anchor for link in parse_markdown("[About](/about) [mail](mailto:a@b.example)", "https://a.example/").links]
    ['About']
    """
    page = _url(url)
    found: dict[Url, list[Occurrence]] = {}
    skipped: list[tuple[str, str]] = []
    for anchor, href in parse_markdown_links(text):
        verdict = scope.classify(href, page, scope.Scope())
        if verdict.url is None:
            skipped.append((href, verdict.rule))
        else:
            found.setdefault(verdict.url, []).append(Occurrence(anchor))
    links = tuple(
        Link(url, tuple(occurrences), order) for order, (url, occurrences) in enumerate(found.items())
    )
    return Page(page, text=text, links=links, skipped=tuple(skipped))


def select_links(  # noqa: PLR0913 - settings of a library call, all by keyword
    source: bytes | str | Page | Iterable[Link],
    base: str | Url,
    *,
    strategy: str = "portfolio",
    profile: Profile | str | Path | None = None,
    query: str | None = None,
    heads: Mapping[str, Head] | None = None,
    cap: int | None = None,
    include: str | None = None,
    exclude: str | None = None,
) -> Selection:
    """Choose the pages worth a visit among the links of a page; every candidate comes back with verdict or reasons.

    `heads` are titles and descriptions of linked pages, by URL, where they are known.

    >>> html = '<a href="/services/fire-alarm-installation">Alarms</a> <a href="/privacy">Privacy</a>'
    >>> [(c.url.path, c.score.value) for c in select_links(html, "https://acme.example/", strategy="rules").selected]
    [('/services/fire-alarm-installation', 100.0)]
    """
    page = _url(base)
    chosen = _profile(profile if profile is not None else default_profile(strategy))
    _strategy(chosen, strategy)
    if query is not None:
        chosen = chosen.with_query(query)
    whole = parse_page(source, page) if isinstance(source, bytes | str) else source
    request = select.Request(
        {_url(url): head for url, head in (heads or {}).items()},
        cap,
        _pattern(include),
        _pattern(exclude),
        whole if isinstance(whole, Page) else None,
    )
    links = whole.links if isinstance(whole, Page) else whole
    return select.select_links(links, page, chosen, strategy, request)


def default_profile(strategy: str) -> str:
    """Name the profile that carries a strategy's numbers (SPEC: `rules` and `blend` are the fire-protection guide's)."""
    return "fire-protection" if strategy in ("rules", "blend") else "company"


def score_link(  # noqa: PLR0913 - settings of a library call, all by keyword
    url: str | Url,
    *,
    topic: str,
    anchor: str = "",
    context: str = "",
    position: str | None = None,
    related: Iterable[str] = (),
    profile: str | Path = "docs",
) -> Score:
    """Score one link against a topic, 0 to 10, with the points that make it (TOPIC-1).

    >>> score_link("https://a.example/docs/api", topic="API", anchor="API reference", position="navigation").value
    10.0
    """
    place = Position.MAIN if position is None else _position(position)
    link = Link(_url(url), (Occurrence(anchor, "", "", place, context),))
    facts = Facts(link)
    if position is None:
        facts["position"] = None
    return load_profile(profile, topic=topic, related=tuple(related) or None).score("link", facts)


def score_page(
    page: bytes | str | Page,
    *,
    topic: str,
    url: str | Url = "https://unknown.invalid/",
    profile: str | Path = "docs",
) -> Score:
    """Score a page against a topic, 0 to 10, with the points that make it (TOPIC-2).

    >>> score_page("<title>Fire alarms</title><h1>Fire</h1>", topic="fire").value
    5.0
    """
    parsed = page if isinstance(page, Page) else parse_page(page, url)
    return page_score(parsed, load_profile(profile, topic=topic))


def score_url(
    signals: Mapping[str, Any] | Signals,
    *,
    now: datetime | None = None,
    profile: Profile | str | Path = "news",
) -> Scored:
    """Score what a known URL is worth now, 0 to 100, with its reasons and level (PLAN-1, PLAN-2)."""
    return plan.score_url(_signals(signals, None), _moment(now), _profile(profile))


def rank_urls(
    rows: Iterable[Mapping[str, Any] | Signals],
    *,
    now: datetime | None = None,
    top: int | None = None,
    profile: Profile | str | Path = "news",
) -> list[Scored]:
    """Score known URLs and order them, best first, ties in input order (PLAN-3)."""
    signals = (_signals(row, number) for number, row in enumerate(rows, 1))
    return plan.rank_urls(signals, _moment(now), _profile(profile), top)


def plan_file(
    paths: str | Sequence[str],
    *,
    now: datetime | None = None,
    profile: Profile | str | Path = "news",
    **asked: Any,
) -> ranking.Plan:
    """Rank the known URLs of CSV, JSON lines or Parquet files; `asked` are `top`, `min_score`, `levels`, `per_host`."""
    from honeyguide.adapters.known import open_known  # files are for those who plan from files

    table = open_known([paths] if isinstance(paths, str) else paths, _profile(profile))
    return table.plan(ranking.Asked(_moment(now), **asked))


async def pick_sites(
    sites: Iterable[str],
    request: PickRequest,
    policy: Policy,
    on_record: Callable[[int, Record], None],
    *,
    at_once: int = 16,
) -> None:
    """Pick from sites, up to `at_once` at a time; records are handed over with their place as each is finished."""
    from honeyguide.adapters.clock import SystemClock  # the network's libraries cost a third of a second
    from honeyguide.adapters.http import HttpFetcher
    from honeyguide.adapters.robots import read_robots
    from honeyguide.jobs.pick import pick_all
    from honeyguide.jobs.polite import PoliteFetcher

    clock = SystemClock()
    async with HttpFetcher(policy) as http:
        polite = PoliteFetcher(http, clock, partial(read_robots, token=policy.robots_token), policy)
        await pick_all(picker(request, polite, clock), sites, request, at_once, on_record)


def picker(request: PickRequest, fetcher: Fetcher, clock: Clock) -> Picker:
    """Put a picker together: profile, patterns and readers."""
    from honeyguide.adapters.documents import Documents
    from honeyguide.jobs.pick import Picker  # asyncio is not for those who only score

    profile = _profile(request.profile or default_profile(request.strategy))
    _strategy(profile, request.strategy)
    if request.content:
        from honeyguide.adapters.content import load_extractor  # an extra

        load_extractor()  # what is missing is said before the run, not in the middle of it
    if request.query is not None:
        profile = profile.with_query(request.query)
    asked = select.Request(None, request.cap, _pattern(request.include), _pattern(request.exclude))
    return Picker(fetcher, Documents(), clock, profile, asked)


def _strategy(profile: Profile, name: str) -> None:
    if name not in profile.strategies:
        raise ConfigError(
            profile.name,
            (Problem("strategy", f"has no {name!r}; it has {', '.join(profile.strategies) or 'none'}"),),
        )


def _pattern(source: str | None) -> Pattern | None:
    return None if source is None else compile_pattern(source)


def _url(value: str | Url) -> Url:
    return value if isinstance(value, Url) else Url.parse(value)


def _profile(value: Profile | str | Path) -> Profile:
    return value if isinstance(value, Profile) else load_profile(value)


def _position(value: str) -> Position:
    try:
        return Position(value)
    except ValueError:
        allowed = ", ".join(position.value for position in Position)
        raise InputError(f"no position is named {value!r}; there are {allowed}", field="position") from None


def _signals(value: Mapping[str, Any] | Signals, number: int | None) -> Signals:
    return value if isinstance(value, Signals) else read_signals(value, number=number)


def _moment(now: datetime | None) -> datetime:
    """PLAN-4: the outermost call reads the clock, and only if it was not given the time."""
    if now is None:
        return datetime.now(UTC)
    if now.tzinfo is None:
        raise InputError("has no time zone; pass an aware datetime", field="now")
    return now.astimezone(UTC)


# --- crawl ----------------------------------------------------------------------------------------------------------


def open_store(path: str | Path, *, create: bool = True) -> SqliteStore:
    """Open a store; one that is not there is made, or, where it is only to be read, refused."""
    from honeyguide.adapters.sqlite import SqliteStore  # sqlite3 is for those who crawl

    if not create and not os.path.exists(path):  # noqa: PTH110 - the path may be hostile; this never raises
        raise StoreError(str(path), "is not there; honeyguide crawl makes one, --store names another")
    return SqliteStore(path)


async def crawl_site(  # noqa: PLR0913 - settings of a library call
    request: CrawlRequest,
    policy: Policy,
    profile: Profile,
    store_path: str | Path,
    on_page: Callable[[Record, Arrival], None],
    *,
    sitemaps: Sequence[str] = (),
    on_run: Callable[[Store, Run], None] | None = None,
    on_note: Callable[[str], None] | None = None,
) -> CrawlSummary:
    """Crawl, or go on with what the store has of the same crawl; pages are handed over as each is finished.

    `sitemaps` are addresses, files, or `auto`: those that robots.txt names. `on_run` learns the run before the first
    page is fetched, `on_note` what could not be read of sitemaps.
    """
    from honeyguide.adapters.clock import SystemClock  # see pick_sites
    from honeyguide.adapters.documents import Documents
    from honeyguide.adapters.http import HttpFetcher
    from honeyguide.adapters.robots import read_robots
    from honeyguide.jobs.announce import Announced
    from honeyguide.jobs.crawl import Crawler
    from honeyguide.jobs.polite import PoliteFetcher

    clock = SystemClock()
    store = open_store(store_path)
    try:
        async with HttpFetcher(policy) as http:
            polite = PoliteFetcher(http, clock, partial(read_robots, token=policy.robots_token), policy)
            asked = _asked(sitemaps, request.seeds)
            listing, request = await _listed(asked, request, polite)
            for problem in listing.problems:
                if on_note is not None:
                    on_note(problem)

            def begun(run: Run) -> None:
                if listing.pages:
                    _queue(store.frontier(run), listing, asked, request, profile)
                    store.flush()
                if on_run is not None:
                    on_run(store, run)

            crawler = Crawler(polite, Documents(), clock, Announced(store, begun), profile)
            return await crawler.crawl(request, on_page)
    finally:
        store.close()


def _asked(sitemaps: Sequence[str], seeds: tuple[Url, ...]) -> Asked:
    """Tell addresses, files and `auto` apart."""
    from honeyguide.adapters.sitemap import read_file
    from honeyguide.jobs.sitemaps import Asked

    named = [text for text in sitemaps if text != "auto"]
    is_auto = len(named) < len(sitemaps)
    urls = [Url.parse(text) for text in named if text.lower().startswith(("http://", "https://"))]
    files = [text for text in named if not text.lower().startswith(("http://", "https://"))]
    return Asked(urls, [read_file(file) for file in files], seeds if is_auto else ())


async def _listed(
    asked: Asked, request: CrawlRequest, fetcher: PoliteFetcher
) -> tuple[Listing, CrawlRequest]:
    """Read the sitemaps; where no seed is given, the homepages of what they list are the seeds."""
    from honeyguide.adapters.sitemap import read_sitemap
    from honeyguide.core.listed import roots_of
    from honeyguide.jobs.sitemaps import list_pages

    listing = await list_pages(asked, fetcher, read_sitemap)
    if request.seeds:
        return listing, request
    return listing, replace(request, seeds=roots_of(listing.pages))


def _queue(
    frontier: Frontier, listing: Listing, asked: Asked, request: CrawlRequest, profile: Profile
) -> None:
    """Queue what sitemaps list, by the rules of the crawl."""
    from honeyguide.core.judge import Ground
    from honeyguide.core.traps import Traps
    from honeyguide.jobs.sitemaps import queue_listed

    ground = Ground(
        profile, profile.traversals[request.traversal], Traps(profile.traps), _pattern(request.include),
        _pattern(request.exclude), request.max_depth, request.budgets.external_pages > 0,
    )  # fmt: skip
    sites = frozenset(url.site for url in (*request.seeds, *asked.addresses))
    queue_listed(frontier, listing, request.seeds, sites, ground)
