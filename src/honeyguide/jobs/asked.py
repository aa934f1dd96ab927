"""What a crawl is asked for, and what of it the store keeps: enough to go on without saying it again.

Owns: `CrawlRequest`, what a crawl judges by and what makes a run the same run, the JSON of `RunSpec.request`. Must not
know: who reads it, how profiles are loaded, fetching. Budgets are not kept: whoever goes on brings their own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from honeyguide.core.frontier import Budgets, RunSpec, key_of
from honeyguide.core.judge import Ground
from honeyguide.core.pattern import compile_pattern
from honeyguide.core.topic import topic_of
from honeyguide.core.traps import Traps
from honeyguide.errors import ConfigError, InputError, Problem, shown

if TYPE_CHECKING:
    from honeyguide.core.frontier import Run
    from honeyguide.core.profile import Profile, Traversal
    from honeyguide.core.url import Url


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
class Asked:
    """What of a request makes a run what it is; `profile` is the name or path it was loaded by."""

    traversal: str = "focused"
    max_depth: int | None = None
    include: str | None = None
    exclude: str | None = None
    follow_external: bool = False
    profile: str = ""
    related: tuple[str, ...] | None = None


def written(asked: Asked) -> str:
    """Write it down.

    >>> written(Asked(max_depth=3))
    '{"traversal": "focused", "max_depth": 3}'
    """
    values: dict[str, Any] = {name: getattr(asked, name) for name in Asked.__slots__}
    return json.dumps({name: value for name, value in values.items() if value not in (None, False, "")})


def read_asked(run: Run) -> Asked:
    """Read how a run was asked for; one of an older version does not say it."""
    try:
        values = json.loads(run.spec.request or "")
        related = values.pop("related", None)
        asked = Asked(**values, related=None if related is None else tuple(related))
        _check_kinds(asked)
    except (ValueError, TypeError, AttributeError):
        raise InputError(
            f"run {run.id} ({run.spec.command or 'crawl'}) does not say how it was asked for, because another version "
            "made it; add --due to the command that made it"
        ) from None
    return asked


def _check_kinds(asked: Asked) -> None:
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


def ground_of(request: CrawlRequest, profile: Profile) -> Ground:
    """Give what a crawl judges by; what cannot be asked for is said here, before anything is fetched."""
    if not request.seeds and request.spec is None:
        raise InputError("no URL to start from is given", field="seeds")
    traversal = traversal_of(profile, request.traversal)
    if traversal.order == "score":
        topic_of(profile)
    include, exclude = (p and compile_pattern(p) for p in (request.include, request.exclude))
    return Ground(
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
    asked = Asked(
        request.traversal, request.max_depth, request.include, request.exclude, external,
        request.profile or profile.name, request.related,
    )  # fmt: skip
    return RunSpec(key, command, topic, profile.name, profile.own_hash, written(asked))
