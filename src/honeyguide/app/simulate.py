"""Simulations: what recrawl policies are worth in worlds whose changes are known, and what another traversal would have found.

Owns: the library calls, how budgets are written, and the records of outcomes. A replay runs the code of `honeyguide crawl` with
a fetcher that answers from a store. Must not know: arguments, terminals, how worlds are made or policies run (`simulation`, which
needs numpy and is imported when something runs). Start reading at `simulate_policies` and `replay_crawl`.
"""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from honeyguide.adapters.clock import SystemClock
from honeyguide.adapters.files.read import STDIN
from honeyguide.adapters.policies import POLICIES, load_policy, policy_names
from honeyguide.app.arguments import moment_of, profile_of
from honeyguide.app.files import store_name
from honeyguide.app.runs import find_run, opened_store
from honeyguide.app.tools.checked import check_fields
from honeyguide.app.tools.kept_pages import pages_of
from honeyguide.core.crawl.frontier import Budgets, digest_of
from honeyguide.core.records import SCHEMA, is_relevant
from honeyguide.core.recrawl.priors import Priors
from honeyguide.core.text.printable import rounded
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, shown
from honeyguide.jobs.request import CrawlRequest
from honeyguide.ports.fetch import Fetched, Headers, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from honeyguide.app.tools.kept_pages import StoredPage
    from honeyguide.core.crawl.frontier import Run
    from honeyguide.core.records import Record
    from honeyguide.core.records.command_records import ReplayRecord
    from honeyguide.core.rules.profile import Profile
    from honeyguide.ports.fetch import Validators
    from honeyguide.ports.store import Store
    from honeyguide.simulation.outcome import Outcome as Outcome  # noqa: PLC0414 - front ends import it from here
    from honeyguide.simulation.worlds import World

REFERENCE = "known-rates"  # knows every change rate, and is shown beside all others
NAMES = (*POLICIES, REFERENCE)
WORLDS = ("poisson", "bursty", "periodic", "seasonal", "mixed", "news", "archive")
MOST_DAYS = 36_500.0
_PROFILE = "news"  # that policies of other packages are made with, as `plan` does
_MOST = 1e9  # of anything that a budget counts
_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)(d|/day|/hour)")
_EXPECTED = {
    "budgets": "is no budget; write 60d (every page once in 60 days), 500/day or 20/hour",
    "host_limit": "is no limit; write 100/day or 6/hour",
}
_SIGNALS = {"recall": (0.0, 1.0), "precision": (0.01, 1.0), "delay": (0.0, 8760.0)}  # least and most
_GONE = 404
_MARKS = (100, 300)  # fetches of a replay after which relevant pages are counted
_PER_DAY = {"/day": 1.0, "/hour": 24.0}


@dataclass(frozen=True, slots=True)
class SimulateRequest:
    """What to simulate: every policy in every world with every budget. Raises `InputError` if that makes no sense.

    Values are written as for `honeyguide simulate recrawl`: a world is a CSV file or `poisson:pages=500`, a budget is `60d` or
    `500/day`. `start` is the option `--from`.
    """

    worlds: tuple[str, ...] = ()
    store: str | Path | None = None
    policies: tuple[str, ...] = tuple(POLICIES)
    budgets: tuple[str, ...] = ("10d",)
    host_limit: str | None = None
    start: datetime | None = None
    days: float | None = None
    seed: int = 1
    is_empty: bool = False
    sitemap: str | None = None
    feed: str | None = None
    unchanged_cost: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self)
        self._check_worlds()
        if self.seed < 0:
            raise InputError(f"{self.seed} is negative; give 0 or more", field="seed")
        known = NAMES if set(self.policies) <= set(NAMES) else (*policy_names(), REFERENCE)
        for name in self.policies:
            if name not in known:
                raise InputError(f"{name!r} is none of {', '.join(known)}", field="policies")
        for text in self.budgets:
            _amount(text, "budgets")
        if self.host_limit is not None:
            _amount(self.host_limit, "host_limit")
        for source in ("sitemap", "feed"):
            _signals(getattr(self, source), source)
        if not 0.01 <= self.unchanged_cost <= 1.0:
            raise InputError(f"{self.unchanged_cost:g} should be 0.01 to 1", field="unchanged_cost")
        if self.days is not None and not 0.0 < self.days <= MOST_DAYS:
            what = f"{self.days:g} is no time; give more than 0 and up to {MOST_DAYS:g}"
            raise InputError(what, field="days")

    def _check_worlds(self) -> None:
        known = ", ".join(WORLDS)
        if not self.worlds and not self.store:
            raise InputError(f"name one: a CSV file, one of {known}, or a store", field="worlds")
        if self.start is not None:
            moment_of(self.start, "start")
        for text in self.worlds:
            if is_generated(text):
                if self.start is not None:
                    what = f"only a history has a time to begin at; {shown(text)} is made up"
                    raise InputError(what, field="start")
            elif text != STDIN and not text.lower().endswith(".csv") and not os.path.exists(text):  # noqa: PTH110 - a path may be hostile; this never raises
                raise InputError(f"is neither a file nor one of the worlds there are: {known}", file=text)

    @property
    def runs(self) -> int:
        """The number of simulations."""
        places = (len(self.worlds) + bool(self.store)) * len(self.budgets)
        return places * len({*self.policies, REFERENCE})


def is_generated(world: str) -> bool:
    """Tell whether a text names a generated world rather than a file."""
    return world.partition(":")[0] in WORLDS


def simulate_policies(
    request: SimulateRequest, on_policy: Callable[[str], None] | None = None
) -> list[Outcome]:
    """Run every policy, and the reference, in every world with every budget; `on_policy` receives what runs next."""
    return [
        outcome
        for world in _worlds(request)
        for budget in request.budgets
        for outcome in _outcomes(world, budget, request, on_policy or (lambda _: None))
    ]


def _outcomes(
    world: World, budget: str, request: SimulateRequest, on_policy: Callable[[str], None]
) -> list[Outcome]:
    from honeyguide.simulation.announcements import SignalSettings
    from honeyguide.simulation.run import Budget, Setting, try_policies

    signals = (_signals(request.sitemap, "sitemap"), _signals(request.feed, "feed"))
    number, unit = _amount(budget, "budgets")
    per_day = world.alive / number if unit == "d" else number * _PER_DAY[unit]
    limit = None if request.host_limit is None else _amount(request.host_limit, "host_limit")
    host_per_day = None if limit is None else limit[0] * _PER_DAY[limit[1]]
    return try_policies(
        world,
        Budget(budget, per_day, host_per_day, request.unchanged_cost),
        [
            name if name in NAMES else load_policy(name, profile_of(_PROFILE), Priors())
            for name in request.policies
        ],
        Setting(
            not request.is_empty,
            tuple(SignalSettings(**given) for given in signals if given is not None),
            request.seed,
        ),
        on_policy=lambda policy: on_policy(f"{policy}, budget {budget}, {world.name}"),
    )


def _worlds(request: SimulateRequest) -> Iterator[World]:
    try:
        from honeyguide.simulation.generated import generate_world
        from honeyguide.simulation.worlds import Window, read_world, stored_world
    except ImportError:  # an extra
        raise InputError("simulate needs numpy; pip install 'numpy>=1.26'") from None

    window = Window(request.start, request.days)
    for text in request.worlds:
        if is_generated(text):
            yield generate_world(text, request.seed, request.days)
        else:
            yield read_world(text, window, request.seed)
    if request.store:
        with opened_store(request.store, read_only=True) as store:
            yield stored_world(store_name(request.store), store.history, window, request.seed)


def _signals(text: str | None, field: str) -> dict[str, float] | None:
    """Read `recall=0.95,precision=0.9,delay=6`; what is left out has its usual value."""
    if text is None:
        return None
    values: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, _, number = part.partition("=")
        least, most = _SIGNALS.get(name.strip(), (1.0, 0.0))
        try:
            values[name.strip()] = float(number)
        except ValueError:
            most = -1.0
        if not least <= values.get(name.strip(), 0.0) <= most:
            what = "is no signal; write recall=0.95,precision=0.9,delay=6 (recall of 0 to 1, precision of 0.01 to 1, hours up to 8760)"
            raise InputError(f"{shown(text)} {what}", field=field)
    return values


def _amount(text: str, field: str) -> tuple[float, str]:
    match = _AMOUNT.fullmatch(text)
    number = float(match[1]) if match else 0.0
    if match is None or not 0.0 < number <= _MOST or (field == "host_limit" and match[2] == "d"):
        raise InputError(f"{text!r} {_EXPECTED[field]}", field=field)
    return number, match[2]


def outcome_record(outcome: Outcome) -> Record:
    """Write an outcome as data."""
    return {
        "schema": SCHEMA,
        "world": outcome.world,
        "budget": outcome.budget,
        "policy": outcome.policy,
        "is_reference": outcome.is_reference,
        "freshness": rounded(outcome.freshness),
        "freshness_late": rounded(outcome.late),
        "of_best": rounded(outcome.of_best),
        "of_all_knowing": rounded(outcome.of_all_knowing),
        "mean_age_h": rounded(outcome.mean_age_h),
        "nothing_share": rounded(outcome.nothing_share),
        "discovery_h": rounded(outcome.discovery_h),
        "fetches": outcome.fetches,
        "days": [rounded(value) for value in outcome.days],
        "curve": [rounded(value) for value in outcome.curve],
        "hosts": dict(outcome.hosts),
    }


# --- crawls of kept pages ---


@dataclass
class _KeptFetcher:
    """Answers with pages that a run keeps; others are not there, and are counted."""

    pages: dict[int, StoredPage]
    profile: Profile
    missing: int = 0
    hits: list[bool] = field(default_factory=list)

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        """Answer from the store."""
        del validators, part
        page = self.pages.get(digest_of(url, self.profile.scope.tracking))
        kept = page.kept() if page else None
        if kept is None or kept.body is None:
            self.missing += 1
            return Fetched(url, url, _GONE)
        return Fetched(kept.url, url, 200, Headers(kept.content_type), kept.body)

    def take(self, record: Record, _: object) -> None:
        """Count a page; a copy of another finds nothing."""
        self.hits.append(is_relevant(record) and record["action"] != "duplicate")


def replay_crawl(
    path: str | Path,
    profile: Profile,
    traversals: Sequence[str],
    *,
    number: int | None = None,
    max_pages: int | None = None,
) -> list[ReplayRecord]:
    """Crawl the pages that a run of a store keeps, once by each traversal, from the seeds of that run."""
    with opened_store(path, read_only=True) as store:
        run = find_run(store, number)
        return [_replay(store, run, profile, traversal, max_pages) for traversal in traversals]


def _replay(store: Store, run: Run, profile: Profile, traversal: str, most: int | None) -> ReplayRecord:
    from honeyguide.adapters.html.content import HtmlReader  # a compiled library, which policies do not need
    from honeyguide.jobs.crawl import Crawler

    tracking = profile.scope.tracking
    pages = {digest_of(Url.parse(page.record["url"]), tracking): page for page in pages_of(store, run)}
    seeds = tuple(Url.parse(row.url) for row in store.ledger(run).rows() if row.depth == 0)
    fetcher = _KeptFetcher(pages, profile)
    request = CrawlRequest(seeds, traversal, Budgets(most), keep_bytes=0)
    with TemporaryDirectory(prefix="honeyguide-") as folder, opened_store(Path(folder) / "h.db") as place:
        crawler = Crawler(fetcher, HtmlReader(), SystemClock(), place, profile)
        asyncio.run(crawler.crawl(request, fetcher.take))
    if fetcher.missing == len(fetcher.hits):
        raise InputError(
            f"run {run.id} keeps no page that can be read again; crawl without --keep 0, or choose another with --run"
        )
    found = [sum(fetcher.hits[:mark]) for mark in _MARKS]
    topic = profile.topic.pattern.source if profile.topic.pattern else None
    return {
        "schema": SCHEMA, "traversal": traversal, "topic": topic, "fetched": len(fetcher.hits), "relevant": sum(fetcher.hits),
        "relevant_100": found[0], "relevant_300": found[1], "missing": fetcher.missing,
    }  # fmt: skip
