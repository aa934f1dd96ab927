"""Judging picks: how good a run was, by labels of one's own, and what changed since another run.

Owns: the library call that compares files of picks with labels. Must not know: arguments, terminals, how figures are made
(`core.evaluate`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.adapters.files import name_of
from honeyguide.adapters.rows.picks import read_gold, read_picks
from honeyguide.app.given import count_of
from honeyguide.core.evaluate import Evaluation, compare_sites, judge_site, match_sites
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from honeyguide.core.evaluate import Change, Picked

    Tell = Callable[[str], None]

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
