"""What a crawl is asked for, and what of it the store keeps: enough to go on without saying it again.

Owns: `CrawlRequest`, what a crawl judges by and what makes a run the same run, the JSON of `RunSpec.request`. Must not
know: who reads it, how profiles are loaded, fetching. Budgets are not kept: whoever goes on brings their own.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from honeyguide.core.crawl.frontier import Budgets, RunSpec, key_of
from honeyguide.core.crawl.judge import CrawlContext
from honeyguide.core.crawl.traps import Traps
from honeyguide.core.rules.topic import topic_of
from honeyguide.core.text.pattern import compile_pattern
from honeyguide.errors import (
    AddressRefusedError,
    ConfigError,
    FetchError,
    ForbiddenError,
    InputError,
    Problem,
    shown,
)
from honeyguide.jobs.politeness import fetch_or_fail
from honeyguide.ports.fetch import Part

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from honeyguide.core.crawl.frontier import Run
    from honeyguide.core.rules.profile import Profile, Traversal
    from honeyguide.core.url.url import Url
    from honeyguide.ports.fetch import Fetcher
    from honeyguide.ports.store import Store

    Meant = Mapping[Url, Sequence[Url]]


@dataclass(frozen=True, slots=True)
class CrawlRequest:
    """What is asked for. Budgets are no part of what makes a run the same run: more of them, and it goes on.

    `only_due` fetches what was scheduled and nothing else; then the budgets are of this process. `spec` goes on with
    that run, whatever its key would be today; it needs no seeds. `profile` is the name or path of the profile and
    `related` the terms that replace its own, for whoever goes on later.
    """

    seeds: tuple[Url, ...]
    traversal: str = "focused"
    budgets: Budgets = field(default_factory=Budgets)
    max_depth: int | None = None
    max_time_s: float | None = None
    include: str | None = None
    exclude: str | None = None
    links: bool = False
    concurrency: int = 32
    fresh: bool = False
    command: str = ""
    only_due: bool = False
    spec: RunSpec | None = None
    profile: str = ""
    related: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SavedRequest:
    """What of a request makes a run what it is; `profile` is the name or path it was loaded by."""

    traversal: str = "focused"
    max_depth: int | None = None
    include: str | None = None
    exclude: str | None = None
    follow_external: bool = False
    profile: str = ""
    related: tuple[str, ...] | None = None


def written(asked: SavedRequest) -> str:
    """Write it down.

    >>> written(SavedRequest(max_depth=3))
    '{"traversal": "focused", "max_depth": 3}'
    """
    values: dict[str, Any] = {name: getattr(asked, name) for name in SavedRequest.__slots__}
    return json.dumps({name: value for name, value in values.items() if value not in (None, False, "")})


def read_asked(run: Run) -> SavedRequest:
    """Read how a run was asked for; one of an older version does not say it."""
    try:
        values = json.loads(run.spec.request or "")
        related = values.pop("related", None)
        asked = SavedRequest(**values, related=None if related is None else tuple(related))
        _check_kinds(asked)
    except (ValueError, TypeError, AttributeError):
        raise InputError(
            f"run {run.id} ({run.spec.command or 'crawl'}) does not say how it was asked for, because another version "
            "made it; add --due to the command that made it"
        ) from None
    return asked


def _check_kinds(asked: SavedRequest) -> None:
    """Refuse what is of other kinds than we write: a store is a file that somebody may have changed."""
    texts = (asked.traversal, asked.profile, asked.include or "", asked.exclude or "", *(asked.related or ()))
    is_depth = asked.max_depth is None or type(asked.max_depth) is int
    if not (
        is_depth and isinstance(asked.follow_external, bool) and all(isinstance(one, str) for one in texts)
    ):
        raise TypeError(asked)


def traversal_of(profile: Profile, name: str) -> Traversal:
    """Give a traversal of the profile, or say which it has."""
    found = profile.traversals.get(name)
    if found is None:
        known = ", ".join(profile.traversals) or "none"
        raise ConfigError(profile.name, (Problem("traversal", f"has no {shown(name)}; it has {known}"),))
    return found


def ground_of(request: CrawlRequest, profile: Profile) -> CrawlContext:
    """Give what a crawl judges by; what cannot be asked for is said here, before anything is fetched."""
    if not request.seeds and request.spec is None:
        raise InputError("no URL to start from is given", field="seeds")
    traversal = traversal_of(profile, request.traversal)
    if traversal.order == "score":
        topic_of(profile)
    include, exclude = (p and compile_pattern(p) for p in (request.include, request.exclude))
    return CrawlContext(
        profile, traversal, Traps(profile.traps), include or None, exclude or None,
        request.max_depth, request.budgets.external_pages > 0, request.links,
    )  # fmt: skip


def spec_of(request: CrawlRequest, profile: Profile) -> RunSpec:
    """Give what makes a run the same run."""
    if request.spec is not None:
        return request.spec
    tracking = profile.scope.tracking
    pattern = profile.topic.pattern
    topic = None if pattern is None else pattern.source
    command = request.command.encode("utf-8", "backslashreplace").decode("utf-8")
    seeds = [seed.key(tracking) for seed in request.seeds]
    external = request.budgets.external_pages > 0
    limits = (request.include, request.exclude, external)
    key = key_of((request.traversal, topic, profile.hash, *limits, *seeds))
    asked = SavedRequest(
        request.traversal, request.max_depth, request.include, request.exclude, external,
        request.profile or profile.name, request.related,
    )  # fmt: skip
    return RunSpec(key, command, topic, profile.name, profile.own_hash, written(asked))


def part_of(max_time_s: float | None) -> float | None:
    """Say how long each step before the first page may take: with two of them, half of the time is left for pages."""
    return None if max_time_s is None else max_time_s / 4


async def resolve_seeds(
    request: CrawlRequest, otherwise: Meant, profile: Profile, store: Store, fetcher: Fetcher
) -> CrawlRequest:
    """Give a request whose seeds are what answers. The run is that of what was written, wherever it leads today."""
    spec = spec_of(request, profile)
    runs = [run for run in store.runs() if run.spec.key == spec.key and run.fetched]
    if runs and not request.fresh and store.frontier(runs[-1]).counts().states["done"]:
        return replace(request, seeds=store.frontier(runs[-1]).seeds(), spec=spec)
    seeds = await _reached(request.seeds, otherwise, fetcher, part_of(request.max_time_s))
    return replace(request, seeds=seeds, spec=spec)


async def _reached(
    seeds: Sequence[Url], otherwise: Meant, fetcher: Fetcher, limit_s: float | None
) -> tuple[Url, ...]:
    """Give each seed as what answers, of all that it may mean; where nothing does, the crawl says so of the first.

    One seed of a host is tried for all.
    """
    meant = {seed: (seed, *otherwise.get(seed, ())) for seed in seeds}
    tried = {seed.site: seed for seed in reversed(seeds) if len(meant[seed]) > 1}
    found: dict[str, int] = {}

    async def reach(seed: Url) -> None:
        for place, url in enumerate(meant[seed]):
            try:
                await fetch_or_fail(url, fetcher.fetch(url, part=Part.HEAD))
            except (ForbiddenError, AddressRefusedError):
                pass  # there is a site, which says no, or an address, which we may not ask
            except FetchError:
                continue
            found[seed.site] = place
            return

    with suppress(TimeoutError):  # what was not reached in time is asked for as it is written
        async with asyncio.timeout(limit_s):
            await asyncio.gather(*map(reach, tried.values()))
    return tuple(meant[seed][found.get(seed.site, 0) if len(meant[seed]) > 1 else 0] for seed in seeds)
