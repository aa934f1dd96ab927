"""Frames of known URLs: scores, levels and reasons as three more columns, for tables that are in memory already.

Owns: `with_scores`, `scores_of`. Must not know: files, other libraries' frames (`app`). Rows are checked as those of files are, so a wrong
value is the same sentence. polars is an extra, so this module is imported on demand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from honeyguide.adapters.files.rows import check_names
from honeyguide.adapters.files.signals import read_signals
from honeyguide.adapters.files.sources import NoColumnError
from honeyguide.bulk.columns import read_scores, score_columns
from honeyguide.bulk.signal_columns import DOUBT, TIMES, columns_of, fact_columns
from honeyguide.core.recrawl.plan import level_of, score_url
from honeyguide.core.rules.facts import CARD

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from honeyguide.core.rules.language import Score, Scorecard
    from honeyguide.core.rules.profile import Profile

ADDED = ("score", "level", "reasons")
_NAME = "the frame"
_BITS = "^paid\\..*$"


def with_scores(frame: pl.DataFrame, now: datetime, profile: Profile) -> pl.DataFrame:
    """Add the columns `score`, `level` and `reasons`, in the order of the rows (PLAN-1, PLAN-2)."""
    scored, doubtful = _scored(frame, now, profile, ledger=True)
    card = _cards(profile)[-1]
    values, words = scored[CARD + card.name].to_list(), _words(scored, card)
    for place, score in doubtful.items():
        values[place], words[place] = score.value, list(score.words)
    columns = {
        "score": pl.Series(values, dtype=pl.Float64),
        "level": pl.Series([level_of(value, profile).name for value in values], dtype=pl.String),
        "reasons": pl.Series(words, dtype=pl.List(pl.String)),
    }
    return frame.with_columns(**columns)


def scores_of(frame: pl.DataFrame, now: datetime, profile: Profile) -> pl.Series:
    """Give the scores alone, for choosing rows: reasons cost more than all the rest."""
    scored, doubtful = _scored(frame, now, profile, ledger=False)
    values = scored[CARD + _cards(profile)[-1].name].cast(pl.Float64)
    return (
        values.scatter(list(doubtful), [score.value for score in doubtful.values()]) if doubtful else values
    )


def _cards(profile: Profile) -> list[Scorecard]:
    return [profile.cards[name].card for name in profile.chains["plan"]]


def _scored(
    frame: pl.DataFrame, now: datetime, profile: Profile, *, ledger: bool
) -> tuple[pl.DataFrame, dict[int, Score]]:
    """Score all rows by columns, and again one by one, by their place, those of which columns are in doubt."""
    check_names(frame.columns, _NAME)
    if "url" not in frame.columns:
        raise NoColumnError(frame.columns, _NAME, "url")
    facts = fact_columns(_in_utc(frame).lazy(), now, with_url=True)
    scored = score_columns(facts, _cards(profile), ledger=ledger).collect()
    doubtful = scored[DOUBT].fill_null(value=False).arg_true().to_list()
    return scored, {place: _score_row(frame, place, now, profile) for place in doubtful}


def _score_row(frame: pl.DataFrame, place: int, now: datetime, profile: Profile) -> Score:
    row = read_signals(frame.row(place, named=True), file=_NAME, number=place + 1)
    return score_url(row, now, profile).score


def _in_utc(frame: pl.DataFrame) -> pl.DataFrame:
    """Take times without a zone as UTC, as in files."""
    types, columns = frame.schema, columns_of(frame.schema)
    times = [columns[name] for name in TIMES if name in columns]
    bare = [name for name in times if isinstance(kind := types[name], pl.Datetime) and kind.time_zone is None]
    return frame.with_columns(pl.col(bare).dt.replace_time_zone("UTC")) if bare else frame


def _words(scored: pl.DataFrame, card: Scorecard) -> list[list[str]]:
    """Write the reasons; rows that the same rules paid have the same ones, so each case is written once."""
    bits = scored.select(pl.struct(pl.col(_BITS)).alias("bits"))["bits"]
    cases = scored.with_columns(bits.alias("bits")).unique("bits", keep="first", maintain_order=True)
    known: Mapping[str, list[str]] = {
        str(case): list(score.words)
        for case, score in zip(cases["bits"], read_scores(cases, card), strict=True)
    }
    return [known[str(case)] for case in bits]
