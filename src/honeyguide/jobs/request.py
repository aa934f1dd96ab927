"""What a crawl is asked to do, and what of it the store keeps so that the run can be resumed.

Budgets are not kept: whoever resumes a run brings their own. Must not know: how profiles are loaded, how pages are
fetched. Start reading at `CrawlRequest`.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from honeyguide.core.crawl.frontier import Budgets, RunSpec
from honeyguide.core.crawl.judge import CrawlContext
from honeyguide.core.crawl.traps import Traps
from honeyguide.core.fetching import NEVER, RENDER_MODES
from honeyguide.core.rules.topic import topic_of
from honeyguide.core.text.pattern import compile_pattern, same_source
from honeyguide.core.url.scope import HOST, REACHES, reach_of
from honeyguide.core.url.url import Url
from honeyguide.errors import (
    AddressRefusedError,
    ConfigError,
    FetchError,
    ForbiddenError,
    InputError,
    Problem,
    check_least,
    shown,
)
from honeyguide.jobs.results import fetch_or_fail
from honeyguide.ports.fetch import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from honeyguide.core.crawl.frontier import Run
    from honeyguide.core.rules.profile import Profile, Traversal
    from honeyguide.ports.fetch import Fetcher
    from honeyguide.ports.store import Store

    Alternatives = Mapping[Url, Sequence[Url]]


_NO_LIMIT = 1 << 40
KEEP_BYTES = 2 * 10**9
IMPORT = "honeyguide import"  # the command of runs that imported URLs belong to
_TYPES = {
    "traversal": str,
    "scope": str,
    "max_depth": int,
    "follow_external": bool,
    "respect_meta_robots": bool,
    "profile": str,
    "render": str,
}  # of what is kept
_LISTS = ("include", "exclude", "related")
_LEAST = {"max_depth": 0, "max_time_s": 0, "concurrency": 1, "keep_bytes": 0, "max_relevant": 1}


@dataclass(frozen=True, slots=True)
class CrawlRequest:
    """What a crawl is asked to do. Budgets are no part of a run's identity: a larger one resumes the run.

    A URL is followed if it matches any `include` and no `exclude`. `only_due` fetches scheduled visits only; then the budgets count this
    process alone. `spec` resumes that run, and needs no seeds. `profile`, and `related` instead of its terms, are kept for a
    later resume. `keep_bytes` is the room for page contents in the whole store; 0 keeps none.
    """

    seeds: tuple[Url, ...]
    traversal: str = "focused"
    budgets: Budgets = field(default_factory=Budgets)
    max_depth: int | None = None
    max_time_s: float | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    links: bool = False
    concurrency: int = 32
    restart: bool = False
    command: str = ""
    only_due: bool = False
    spec: RunSpec | None = None
    profile: str = ""
    related: tuple[str, ...] | None = None
    scope: str = HOST
    keep_bytes: int = KEEP_BYTES
    max_relevant: int | None = None
    respect_meta_robots: bool = False
    render: str = NEVER

    def __post_init__(self) -> None:
        """Read seeds that are texts, and reject what would silently crawl nothing or without end."""
        seeds: Any = (self.seeds,) if isinstance(self.seeds, (str, Url)) else self.seeds
        if isinstance(seeds, (tuple, list)):
            read = tuple(Url.parse(seed) if isinstance(seed, str) else seed for seed in seeds)
            object.__setattr__(self, "seeds", read)
        reach_of(self.scope)
        for name, least in _LEAST.items():
            check_least(name, getattr(self, name), least)


def _to_json(request: CrawlRequest, profile: Profile) -> str:
    values = {name: getattr(request, name) for name in (*_TYPES, *_LISTS) if name != "follow_external"}
    values["profile"] = request.profile or profile.name
    values["follow_external"] = request.budgets.external_pages > 0
    values["scope"] = None if request.scope == HOST else request.scope
    values["render"] = None if request.render == NEVER else request.render
    # False is compared by identity, because a depth of 0 equals it and is a limit.
    return json.dumps(
        {n: value for n, value in values.items() if value not in (None, "", ()) and value is not False}
    )


def resumed_request(run: Run, limits: CrawlRequest | None = None) -> CrawlRequest:
    """Read the request that fetches what is due in a run, within `limits`; another version may not have kept it."""
    try:
        values = json.loads(run.spec.request or "")
        is_ours = all(map(_is_kept, values, values.values()))
    except (ValueError, TypeError, AttributeError):
        is_ours = False
    if not is_ours:
        raise InputError(
            f"run {run.id} ({run.spec.command or 'crawl'}) does not say how it was asked for, because another version "
            "made it; add --due to the command that made it"
        )
    values.update({name: _texts(values[name]) for name in _LISTS if name in values})
    limits = limits or CrawlRequest(())
    budgets = replace(limits.budgets, external_pages=int(values.pop("follow_external", False)))
    return replace(limits, budgets=budgets, command=run.spec.command, only_due=True, spec=run.spec, **values)


def _is_kept(name: str, value: Any) -> bool:
    """Tell whether a value is of a type that we write, because anybody can change a store."""
    is_list = name in _LISTS and all(isinstance(text, str) for text in value)
    choices = {"scope": REACHES, "render": RENDER_MODES}.get(name, (value,))
    return is_list or (type(value) is _TYPES.get(name) and value in choices)


def _texts(value: str | Iterable[str]) -> tuple[str, ...]:
    # A library call or an older version may pass a lone text.
    return (value,) if isinstance(value, str) else tuple(value)


def traversal_of(profile: Profile, name: str) -> Traversal:
    """Give a traversal of the profile, or say which it has."""
    found = profile.traversals.get(name)
    if found is None:
        known = ", ".join(profile.traversals) or "none"
        raise ConfigError(profile.name, (Problem("traversal", f"has no {shown(name)}; it has {known}"),))
    return found


def context_of(request: CrawlRequest, profile: Profile) -> CrawlContext:
    """Make the context that judges pages; an impossible request is rejected here, before anything is fetched."""
    if not request.seeds and request.spec is None:
        raise InputError("no URL to start from is given", field="seeds")
    traversal = traversal_of(profile, request.traversal)
    if traversal.order == "score":
        topic_of(profile)
    return CrawlContext(
        profile=replace(profile, scope=profile.scope.within(request.scope)),
        traversal=traversal,
        traps=Traps(profile.traps),
        include=tuple(map(compile_pattern, _texts(request.include))),
        exclude=tuple(map(compile_pattern, _texts(request.exclude))),
        max_depth=request.max_depth,
        follow_external=request.budgets.external_pages > 0,
        score_all=request.links,
        respects_robots_tags=request.respect_meta_robots,
    )


def budgets_of(request: CrawlRequest, run: Run) -> Budgets:
    """Give the budgets of a run; where only what is due is fetched, pages of earlier processes do not count."""
    budgets = request.budgets
    if not request.only_due:
        return budgets
    most = None if budgets.max_pages is None else run.fetched + budgets.max_pages
    return Budgets(most, None, _NO_LIMIT if budgets.external_pages else 0)


def spec_of(request: CrawlRequest, profile: Profile) -> RunSpec:
    """Give what identifies the run."""
    if request.spec is not None:
        return request.spec
    pattern = profile.topic.pattern
    topic = None if pattern is None else pattern.source
    external = request.budgets.external_pages > 0
    patterns = map(_key_part, (request.include, request.exclude))
    seeds = [seed.key(profile.scope.tracking) for seed in request.seeds]
    # Runs of older versions keep their keys.
    wider = [request.scope] * (request.scope != HOST) + ["respect_meta_robots"] * request.respect_meta_robots
    wider += [f"render {request.render}"] * (request.render != NEVER)
    return RunSpec(
        key=key_of(
            (
                request.traversal,
                topic and same_source(topic),
                profile.hash,
                *patterns,
                external,
                *wider,
                *seeds,
            )
        ),
        command=request.command.encode("utf-8", "backslashreplace").decode("utf-8"),
        topic=topic,
        profile=profile.name,
        profile_hash=profile.own_hash,
        request=_to_json(request, profile),
    )


def key_of(parts: Iterable[object]) -> str:
    """Give the key of a run from all that makes it the same run.

    >>> key_of(("focused", None)) == key_of(["focused", None]) != key_of(("focused", "None"))
    True
    """
    text = repr(tuple(parts)).encode("utf-8", "backslashreplace")
    return blake2b(text, digest_size=8).hexdigest()


def newest_first(runs: Iterable[Run]) -> list[Run]:
    """Order runs, the newest first; imports that nothing was fetched for come last, because they have no pages."""
    return sorted(runs, key=lambda run: (run.spec.command != IMPORT or run.fetched > 0, run.id), reverse=True)


def latest_runs(runs: Iterable[Run]) -> list[Run]:
    """Give the latest run of each key, the newest first: a restarted run hides its predecessors."""
    return sorted({run.spec.key: run for run in runs}.values(), key=lambda run: -run.id)


def _key_part(patterns: tuple[str, ...]) -> object:
    """Write one pattern as a text and none as None, so that runs of older versions keep their keys."""
    return patterns[0] if len(patterns) == 1 else patterns or None


def setup_time_s(max_time_s: float | None) -> float | None:
    """Limit each of the two steps before the first page, so that half of the time is left for pages."""
    return None if max_time_s is None else max_time_s / 4


async def resolve_seeds(
    request: CrawlRequest, alternatives: Alternatives, profile: Profile, store: Store, fetcher: Fetcher
) -> CrawlRequest:
    """Replace each seed by the address that answers. The run is identified by the seeds as they were written."""
    spec = spec_of(request, profile)
    runs = [run for run in store.runs.list() if run.spec.key == spec.key and run.fetched]
    if runs and not request.restart and store.ledger(runs[-1]).counts().states["done"]:
        return replace(request, seeds=store.ledger(runs[-1]).seeds(), spec=spec)
    addresses = {seed: (seed, *alternatives.get(seed, ())) for seed in request.seeds}
    # One seed of a host is tried for all.
    tried = {seed.site: seed for seed in reversed(request.seeds) if len(addresses[seed]) > 1}
    found: dict[str, int] = {}

    async def find(seed: Url) -> None:
        for place, url in enumerate(addresses[seed]):
            try:
                await fetch_or_fail(url, fetcher.fetch(url, part=Part.HEAD))
            except (ForbiddenError, AddressRefusedError):
                pass  # the site exists, but robots.txt or its address forbids the request
            except FetchError:
                continue
            found[seed.site] = place
            return

    with suppress(TimeoutError):  # a seed that did not answer in time is crawled as written
        async with asyncio.timeout(setup_time_s(request.max_time_s)):
            await asyncio.gather(*map(find, tried.values()))
    seeds = tuple(
        urls[found.get(seed.site, 0) if len(urls) > 1 else 0]
        for seed in request.seeds
        for urls in [addresses[seed]]
    )
    return replace(request, seeds=seeds, spec=spec)
