"""Picking: the network, the reader and the profile, put together for `jobs.pick`.

Owns: what a pick is made of. Must not know: arguments, terminals. Start reading at `pick_sites`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from honeyguide.adapters.files.picks import read_gold, read_picks
from honeyguide.adapters.files.read import name_of
from honeyguide.app.arguments import check_strategy, count_of, pattern_of, profile_of
from honeyguide.app.pick.select import default_profile
from honeyguide.core.pick import select
from honeyguide.core.pick.evaluate import Evaluation, compare_sites, judge_site, match_sites
from honeyguide.core.why import Why
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from honeyguide.adapters.files.sites import SiteRow
    from honeyguide.core.fetching import FetchPolicy
    from honeyguide.core.pick.evaluate import Change, Picked
    from honeyguide.core.records import Record
    from honeyguide.jobs.pick import Picker, PickRequest
    from honeyguide.ports.fetch import Clock, Fetcher

    Tell = Callable[[str], None]


async def pick_sites(
    sites: Iterable[str | SiteRow],
    request: PickRequest,
    policy: FetchPolicy,
    on_record: Callable[[int, Record], None],
    *,
    at_once: int = 16,
) -> None:
    """Pick from sites, `at_once` in parallel; `on_record` gets each record as it is finished, with the site's place.

    A `SiteRow` with a problem becomes a record that says so.
    """
    from honeyguide.adapters.clock import SystemClock  # the network's libraries cost a third of a second
    from honeyguide.adapters.http.client import HttpFetcher
    from honeyguide.adapters.http.robots import read_robots
    from honeyguide.jobs.pick import pick_all
    from honeyguide.jobs.politeness import PoliteFetcher

    clock = SystemClock()
    async with HttpFetcher(policy) as http:
        polite = PoliteFetcher(http, clock, partial(read_robots, token=policy.robots_token), policy)
        job = picker(request, polite, clock)
        usable: list[tuple[int, str]] = []
        for place, row in enumerate(sites):
            if not isinstance(row, str) and row.problem:
                on_record(place, job.fail(row.text, Why("unreachable", row.problem)))
            else:
                usable.append((place, row if isinstance(row, str) else row.text))
        names = [site for _, site in usable]
        await pick_all(job, names, at_once, lambda index, record: on_record(usable[index][0], record))


def picker(request: PickRequest, fetcher: Fetcher, clock: Clock) -> Picker:
    """Put a picker together: profile, patterns and readers."""
    from honeyguide.adapters.html.content import HtmlReader
    from honeyguide.jobs.pick import Picker  # asyncio is not for those who only score

    profile = profile_of(request.profile or default_profile(request.strategy))
    check_strategy(profile, request.strategy)
    if request.content:
        from honeyguide.adapters.html.content import load_extractor  # an extra

        load_extractor()  # what is missing is said before the run, not in the middle of it
    if request.query is not None:
        profile = profile.with_query(request.query)
    cap = count_of(request.cap, "cap")
    options = select.SelectionOptions(None, cap, pattern_of(request.include), pattern_of(request.exclude))
    return Picker(
        fetcher=fetcher,
        reader=HtmlReader(),
        clock=clock,
        profile=profile,
        request=request,
        options=options,
    )


_NAMED_AT_MOST = 10  # sites in a sentence


def judge_picks(
    picks: str | Path,
    gold: str | Path,
    *,
    compare: str | Path | None = None,
    cap: int = 4,
    on_note: Tell | None = None,
) -> Evaluation:
    """Judge the first `cap` picks of each labelled site; `compare` is the file of another run.

    `on_note` learns which sites could not be judged or compared. A labelled site without a record is judged as no picks.
    """
    count_of(cap, "cap")
    tell = on_note or (lambda _: None)
    labels = read_gold(str(gold))
    before = None if compare is None else read_picks(str(compare), keep_others=True)
    now = read_picks(str(picks), keep_others=before is not None)
    matched = match_sites(labels, now)
    if not matched:
        raise InputError(
            f"has no record of a labelled site: it has {_named(now)}, labelled are {_named(labels)}; "
            "host and port must be the same",
            file=name_of(str(picks)),
        )
    names = {picked.site: site for site, picked in matched.items()}
    if missing := [site for site in labels if site not in matched]:
        tell(f"{name_of(str(picks))} has no record of {_named(missing)}: judged as no picks")
    if missing := [site for site in now if site not in names]:
        tell(f"{name_of(str(gold))} has no labels of {_named(missing)}: not judged")
    judged = tuple(judge_site(one, matched.get(site), cap) for site, one in labels.items())
    return Evaluation(judged, None if before is None else _changes(now, before, names, tell))


def _changes(
    now: Mapping[str, Picked], before: Mapping[str, Picked], names: Mapping[str, str], tell: Tell
) -> dict[str, list[Change]]:
    """Compare the sites that both runs have, by the names that labels give them; the others are told."""
    for ours, theirs, run in ((now, before, "this run"), (before, now, "the other run")):
        if only := [site for site in ours if site not in theirs]:
            tell(f"only {run} has {_named(only)}: not compared")
    pairs = ((site, compare_sites(picked, before[site])) for site, picked in now.items() if site in before)
    return {names.get(site, site): changes for site, changes in pairs if changes}


def _named(sites: Iterable[str]) -> str:
    """Name the first few."""
    names = list(sites)
    more = len(names) - _NAMED_AT_MOST
    return (", ".join(names[:_NAMED_AT_MOST]) or "no site") + (f" and {more} more" if more > 0 else "")
