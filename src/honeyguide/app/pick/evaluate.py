"""How good the picks of a run are, by labels, and what changed between two runs.

Owns: `judge_picks` and its records. Must not know: options, terminals, how the figures are made (`core.pick.evaluate`).
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from honeyguide.adapters.files.picks import read_gold, read_picks
from honeyguide.adapters.files.read import name_of
from honeyguide.app.arguments import count_of
from honeyguide.core.pick.evaluate import (
    Change,
    Evaluation,
    PickCounts,
    SiteFigures,
    compare_sites,
    judge_site,
    match_sites,
)
from honeyguide.core.records import SCHEMA
from honeyguide.core.records.answers import EvalRecord
from honeyguide.core.records.fields import columns
from honeyguide.core.text.printable import rounded
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from honeyguide.core.pick.evaluate import Picked
    from honeyguide.core.records import Record

    OnNote = Callable[[str], None]
    Changes = Mapping[str, Sequence[Change]]

__all__ = ["Change", "Evaluation", "PickCounts"]  # front ends import them from here
COLUMNS = columns(EvalRecord)
_NAMED_AT_MOST = 10  # sites in a sentence


def judge_picks(
    picks: str | Path,
    gold: str | Path,
    *,
    compare: str | Path | None = None,
    cap: int = 4,
    on_note: OnNote | None = None,
) -> Evaluation:
    """Judge the first `cap` picks of each labelled site; `compare` is the file of another run.

    `on_note` gets the sites that could not be judged or compared. A labelled site without a record counts as no picks.
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
    now: Mapping[str, Picked], before: Mapping[str, Picked], names: Mapping[str, str], tell: OnNote
) -> dict[str, list[Change]]:
    """Compare the sites that both runs have, by the names that labels give them; `tell` gets the others."""
    for ours, theirs, run in ((now, before, "this run"), (before, now, "the other run")):
        if only := [site for site in ours if site not in theirs]:
            tell(f"only {run} has {_named(only)}: not compared")
    pairs = ((site, compare_sites(picked, before[site])) for site, picked in now.items() if site in before)
    return {names.get(site, site): changes for site, changes in pairs if changes}


def _named(sites: Iterable[str]) -> str:
    names = list(sites)
    more = len(names) - _NAMED_AT_MOST
    return (", ".join(names[:_NAMED_AT_MOST]) or "no site") + (f" and {more} more" if more > 0 else "")


def site_records(judged: Evaluation) -> list[Record]:
    """Make a record of each site."""
    labelled = {site.site: site for site in judged.sites}
    sites = dict.fromkeys([*labelled, *(judged.changes or {})])
    return [_site_record(site, labelled.get(site), judged.changes) for site in sites]


def _site_record(site: str, judged: SiteFigures | None, changes: Changes | None) -> Record:
    """Make a record; without labels its figures are unknown, without another run its changes are."""
    figures = dict.fromkeys(COLUMNS[3:-3])
    if judged is not None:
        figures |= {
            "verdict": verdict(judged), "picks": len(judged.labels), "core": judged.core, "good": judged.good,
            "junk": judged.junk, "core_pages": judged.core_pages, "labels": [label or "unlabelled" for label in judged.labels],
            "has_record": judged.has_record,
        }  # fmt: skip
    found = None if changes is None else changes.get(site, [])
    kinds = {
        kind: None
        if found is None
        else [{"url": change.url, "reason": change.why} for change in found if change.kind == kind]
        for kind in COLUMNS[-3:]
    }
    return {"schema": SCHEMA, "kind": "site", "site": site, **figures, **kinds}


def verdict(judged: SiteFigures) -> str:
    """Say in a word how a site was judged; capitals, so that it is seen without colour."""
    return ("ok" if judged.ok else "BAD") if judged.has_record else "BAD, no record"


def total_record(judged: Evaluation) -> Record:
    """Make the record of the whole run."""
    totals = judged.totals
    return {
        "schema": SCHEMA,
        "kind": "total",
        "sites": totals.sites,
        "good_sites": totals.good,
        "core_sites": totals.core,
        **_counts(totals.picks),
        "coverage": rounded(totals.coverage),
        "buckets": [{"bucket": name, **_counts(counts)} for name, counts in totals.buckets.items()],
    }


def _counts(counts: PickCounts) -> Record:
    return {**asdict(counts), "precision": rounded(counts.precision)}
