"""Going on with crawls that a store holds, without saying again what they are about.

Owns: which runs have something due, and turning a run back into a request and its profile. Must not know: arguments,
terminals, how pages are scheduled. Start reading at `due_runs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.config import load_profile
from honeyguide.core.frontier import Budgets
from honeyguide.errors import HoneyguideError, InputError
from honeyguide.jobs.asked import read_asked

if TYPE_CHECKING:
    from honeyguide.core.frontier import Run
    from honeyguide.core.profile import Profile
    from honeyguide.jobs.crawl import CrawlRequest
    from honeyguide.ports import Store


def due_runs(store: Store) -> list[Run]:
    """Give the runs that have something scheduled, oldest first; one that was started over is not gone on with."""
    newest = {run.spec.key: run for run in store.runs()}
    found = sorted(newest.values(), key=lambda run: run.id)
    return [run for run in found if store.frontier(run).counts().due]


def resumed(run: Run, *, max_pages: int | None = None) -> tuple[CrawlRequest, Profile]:
    """Make the request that fetches what is due in a run, and load the profile it was made with."""
    from honeyguide.jobs.crawl import CrawlRequest  # asyncio is for those who crawl

    asked = read_asked(run)
    try:
        profile = load_profile(asked.profile or run.spec.profile, topic=run.spec.topic, related=asked.related)
    except HoneyguideError as error:
        raise InputError(
            f"run {run.id} was made with the profile {asked.profile}, which cannot be loaded: {error}"
        ) from None
    budgets = Budgets(max_pages, external_pages=int(asked.follow_external))
    request = CrawlRequest(
        (), asked.traversal, budgets, asked.max_depth, include=asked.include, exclude=asked.exclude,
        command=run.spec.command, only_due=True, spec=run.spec,
    )  # fmt: skip
    return request, profile
