"""Columns of rates: what a visit is worth by the policy that learns, for millions of rows at once.

Owns: the value of `core.recrawl.Learned` as a column, in polars. Must not know: files, how the best are found.
Start reading at `learned_values`.

The formula is the one of `core.rate`, given polars' functions, so a column holds what the row gives: the same operations
in the same order, on doubles, by the same C library. Where libraries differ, so may the last bits, and where two nearly
equal numbers are subtracted they may grow to the tenth digit; what is ranked is rounded to seven. Then a row in some
hundreds may differ in the seventh digit, and rank among its equals otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from honeyguide.core.clocks import HOURS_A_SECOND
from honeyguide.core.page_state import HUB_IMPORTANCE, LEAST_RELEVANCE, UNKNOWN_RELEVANCE
from honeyguide.core.rate import log1p_by, share_by
from honeyguide.core.worth import SURE

if TYPE_CHECKING:
    from collections.abc import Collection

    from honeyguide.core.priors import PageClass, Priors

VALUE = "value.learned"
_WEIGHT, _STEPS = "step.weight", ("step.a", "step.b", "step.x", "step.log", "step.survival")


class ColumnMaths:
    """The functions of `core.rate.Maths`, for expressions."""

    def log(self, x: pl.Expr, /) -> pl.Expr:
        """Give the natural logarithm."""
        return x.log()

    def exp(self, x: pl.Expr, /) -> pl.Expr:
        """Give e^x."""
        return x.exp()

    def expm1(self, x: pl.Expr, /) -> pl.Expr:
        """Give e^x - 1, by sinh, which loses no digits near 0."""
        half = x * 0.5
        return 2.0 * half.exp() * half.sinh()

    def where(self, test: pl.Expr, yes: Any, no: Any, /) -> pl.Expr:
        """Choose."""
        return pl.when(test).then(yes).otherwise(no)


def learned_values(frame: pl.LazyFrame, priors: Priors) -> pl.LazyFrame:
    """Add the value that `Learned(priors).value` gives, to single precision, as the column `VALUE`.

    Priors of hosts do not count: the rows say nothing of hosts without their URLs. What is read more than once is a step
    of its own; written into one expression, logarithms would be computed again and again.
    """
    known = frame.collect_schema().names()
    maths = ColumnMaths()
    a, b, x, grown, survival = (pl.col(name) for name in _STEPS)
    own_a, own_b = _rate(known, priors)
    frame = frame.with_columns(_weight(known).alias(_WEIGHT), own_a.alias(_STEPS[0]), own_b.alias(_STEPS[1]))
    tau_h = SURE * b / a  # of pages that were never visited, as in `core.worth`
    if "since_visit_s" in known:
        tau_h = pl.coalesce(pl.col("since_visit_s") * HOURS_A_SECOND, tau_h)
    frame = frame.with_columns((tau_h / b).alias(_STEPS[2]))
    frame = frame.with_columns(log1p_by(maths, x).alias(_STEPS[3]))
    frame = frame.with_columns(maths.exp(-a * grown).alias(_STEPS[4]))
    value = pl.col(_WEIGHT) * (b * share_by(maths, a, x, (grown, survival)))
    return frame.with_columns(value.cast(pl.Float32).alias(VALUE)).drop(_WEIGHT, *_STEPS)


def _weight(known: Collection[str]) -> pl.Expr:
    """Weigh as `core.page_state.importance_of` does."""
    relevance = pl.lit(UNKNOWN_RELEVANCE)
    if "relevance" in known:
        relevance = pl.col("relevance").clip(LEAST_RELEVANCE).fill_null(UNKNOWN_RELEVANCE)
    weight = pl.when(_is("hub", known)).then(relevance * HUB_IMPORTANCE).otherwise(relevance)
    return pl.coalesce(pl.col("importance"), weight) if "importance" in known else weight


def _rate(known: Collection[str], priors: Priors) -> tuple[pl.Expr, pl.Expr]:
    """Read what is believed of each page, or its class."""
    a, b = (_prior(known, {name: rate[place] for name, rate in priors.classes.items()}) for place in (0, 1))
    if "rate_a" not in known or "rate_b" not in known:
        return a, b
    return pl.coalesce(pl.col("rate_a"), a), pl.coalesce(pl.col("rate_b"), b)


def _prior(known: Collection[str], numbers: dict[PageClass, float]) -> pl.Expr:
    hub_or_page = pl.when(_is("hub", known)).then(numbers["hub"]).otherwise(numbers["page"])
    if "page_class" not in known:
        return hub_or_page
    return pl.when(_is("article", known)).then(numbers["article"]).otherwise(hub_or_page)


def _is(name: PageClass, known: Collection[str]) -> pl.Expr:
    """Say where a page is of a class; hubs are told by the flag where no class is given."""
    is_hub = pl.col("is_hub").fill_null(value=False) if "is_hub" in known else pl.lit(value=False)
    flagged = is_hub if name == "hub" else pl.lit(value=False)
    if "page_class" not in known:
        return flagged
    given = pl.col("page_class")
    return pl.when(given.is_null()).then(flagged).otherwise(given == name)
