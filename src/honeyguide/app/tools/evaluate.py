"""How good the picks of a run are, judged by labels (`eval`).

Owns: the library call, and the records of sites and of their sum. Must not know: options, terminals, how figures are made
(`core.pick.evaluate`). Start reading at `judge_picks`.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from honeyguide.adapters.files.read import name_of
from honeyguide.adapters.files.results import read_gold, read_picks
from honeyguide.app.arguments import count_of
from honeyguide.core.pick.evaluate import (
    Evaluation,
    PickCounts,
    SiteFigures,
    Totals,
    interval,
    judge_first_links,
    judge_site,
    match_sites,
)
from honeyguide.core.records import SCHEMA
from honeyguide.core.records.answers import EvalRecord
from honeyguide.core.records.fields import columns
from honeyguide.core.text.printable import rounded
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from honeyguide.core.records import Record

__all__ = ["Evaluation", "PickCounts", "Totals", "interval"]  # front ends import them from here
EVAL_COLUMNS = columns(EvalRecord)
_NAMED_AT_MOST = 10  # sites in a sentence


def judge_picks(picks: str | Path, gold: str | Path, *, cap: int = 4) -> Evaluation:
    """Judge the first `cap` picks of each labelled site; a labelled site without a record counts as no picks."""
    count_of(cap, "cap")
    labels = read_gold(str(gold))
    now = read_picks(str(picks), keep_others=False)
    matched = match_sites(labels, now)
    if not matched:
        raise InputError(
            f"has no record of a labelled site: it has {name_sites(now)}, labelled are {name_sites(labels)}; "
            "host and port must be the same",
            file=name_of(str(picks)),
        )
    found = {picked.site for picked in matched.values()}
    judged = tuple(judge_site(one, matched.get(site), cap) for site, one in labels.items())
    first = tuple(judge_first_links(one, matched.get(site), cap) for site, one in labels.items())
    return Evaluation(judged, tuple(site for site in now if site not in found), first)


def name_sites(sites: Iterable[str]) -> str:
    """List sites, but not too many of them."""
    names = list(sites)
    more = len(names) - _NAMED_AT_MOST
    return (", ".join(names[:_NAMED_AT_MOST]) or "no site") + (f" and {more} more" if more > 0 else "")


def site_record(judged: SiteFigures) -> Record:
    """Make the record of a site."""
    return {
        "schema": SCHEMA,
        "kind": "site",
        "site": judged.site,
        "verdict": verdict(judged),
        "picks": len(judged.labels),
        "core": judged.core,
        "good": judged.good,
        "junk": judged.junk,
        "core_pages": judged.core_pages,
        "labels": [label or "unlabelled" for label in judged.labels],
        "has_record": judged.has_record,
    }


def verdict(judged: SiteFigures) -> str:
    """Say in a word how a site was judged; capitals, so that it is seen without colour."""
    return ("ok" if judged.ok else "BAD") if judged.has_record else "BAD, no record"


def total_record(judged: Evaluation) -> Record:
    """Make the record of the whole run."""
    totals, first = judged.totals, judged.first_links
    return {
        "schema": SCHEMA,
        "kind": "total",
        **_figures(totals),
        "buckets": [{"bucket": name, **_counts(counts)} for name, counts in totals.buckets.items()],
        "first_links": None if first is None else _figures(first),
    }


def _figures(totals: Totals) -> Record:
    """Write the figures of a run; intervals are those of 95 % (Wilson)."""
    counts = totals.picks
    return {
        "sites": totals.sites,
        "good_sites": totals.good,
        "good_interval": _rounded(interval(totals.good, totals.sites)),
        "core_sites": totals.core,
        **_counts(counts),
        "junk_interval": _rounded(interval(counts.junk, counts.picks)),
        "share": rounded(totals.share),
        "share_interval": _rounded(interval(counts.core, totals.could)),
        "coverage": rounded(totals.coverage),
    }


def _rounded(ends: tuple[float, float] | None) -> list[float | None] | None:
    return None if ends is None else [rounded(end) for end in ends]


def _counts(counts: PickCounts) -> Record:
    return {**asdict(counts), "precision": rounded(counts.precision)}
