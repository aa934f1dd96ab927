"""Going on with crawls that a store holds, without saying again what they are about.

Owns: which runs have something due, and turning a run back into its profile and a request. Must not know: arguments,
terminals, how pages are scheduled. Start reading at `profile_of_run`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.config import load_profile
from honeyguide.core.frontier import Budgets
from honeyguide.errors import HoneyguideError, InputError
from honeyguide.jobs.asked import Asked, read_asked

if TYPE_CHECKING:
    from collections.abc import Callable

    from honeyguide.core.frontier import Run
    from honeyguide.core.profile import Profile
    from honeyguide.jobs.crawl import CrawlRequest
    from honeyguide.ports import Store


def due_runs(store: Store) -> list[Run]:
    """Give the runs that have something scheduled, oldest first; one that was started over is not gone on with."""
    newest = {run.spec.key: run for run in store.runs()}
    found = sorted(newest.values(), key=lambda run: run.id)
    return [run for run in found if store.frontier(run).counts().due]


def profile_of_run(run: Run, on_note: Callable[[str], None] | None = None) -> Profile:
    """Load the profile that a run was made with; where it is gone, `on_note` is told, and `base` stands in for it.

    Without `on_note` it is an error: whoever fetches pages does so by the rules of the run, or not at all.
    """
    try:
        asked = read_asked(run)
    except InputError:  # of an older version, which noted the name alone
        asked = Asked()
    name = asked.profile or run.spec.profile
    try:
        return load_profile(name, topic=run.spec.topic, related=asked.related)
    except HoneyguideError as error:
        what = f"run {run.id} was made with the profile {name}, which cannot be loaded: {error}"
        if on_note is None:
            raise InputError(what) from None
    on_note(f"{what}; the profile base stands in for it")
    return load_profile("base", topic=run.spec.topic)


def resumed(run: Run, *, max_pages: int | None = None) -> tuple[CrawlRequest, Profile]:
    """Make the request that fetches what is due in a run, and load the profile it was made with."""
    from honeyguide.jobs.crawl import CrawlRequest  # asyncio is for those who crawl

    asked = read_asked(run)
    profile = profile_of_run(run)
    budgets = Budgets(max_pages, external_pages=int(asked.follow_external))
    request = CrawlRequest(
        (), asked.traversal, budgets, asked.max_depth, include=asked.include, exclude=asked.exclude,
        command=run.spec.command, only_due=True, spec=run.spec,
    )  # fmt: skip
    return request, profile
