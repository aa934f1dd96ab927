"""The best links of large files, scored by columns.

Owns: reading such files in batches, and which links columns read exactly. Must not know: reasons; a link that is shown is
scored again by its row. Start reading at `best_links`. polars is an extra, so this module is imported on demand. A link is
plain if its URL is normal already and its texts are ASCII: then its facts are the texts in lower case. The facts of all
others are made row by row, so both ways give the same numbers.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from honeyguide.adapters.files.links import LINK_BATCH_ROWS, NAMES, link_frames, raw_links, raw_of
from honeyguide.bulk.columns import fact_frame, score_columns
from honeyguide.core.page.page import Position
from honeyguide.core.rules.facts import CARD
from honeyguide.core.rules.language import fields_read
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from honeyguide.adapters.files.links import LinkRow, LinkRows
    from honeyguide.adapters.files.rows import RawRow
    from honeyguide.adapters.files.sources import Source
    from honeyguide.core.rules.profile import Profile

_CARD = "link"
_SCORE, _PLACE, _PLAIN = CARD + _CARD, "place", "is plain"

_FACTS = frozenset({"url", "path", "target", "anchor", "context", "position"})  # what is made by columns
# URLs that are normal but for a slash at the end: a plain host, folders, a name and a query of plain characters.
_URL = (
    r"^https?://(?:[a-z0-9](?:-?[a-z0-9]){0,20}\.){1,4}[a-z]{2,20}"
    r"/(?:[A-Za-z0-9_-][A-Za-z0-9_.-]{0,80}/){0,12}(?:[A-Za-z0-9_-][A-Za-z0-9_.-]{0,80})?"
    r"(?:\?[A-Za-z0-9_-][A-Za-z0-9_=&.-]{0,200})?$"
)
_ASCII = r"^[ -~]*$"
_NOTHING = (None,) * len(NAMES)


class Wanted(NamedTuple):
    """Which links: the best `top`, those with `min_score` points or more, or both."""

    top: int | None = None
    min_score: float | None = None


class _Batch(NamedTuple):
    """Some rows as columns of texts, null where there is none; `raw` returns one of them unchanged."""

    texts: pl.DataFrame
    raw: Callable[[int], RawRow]


def best_links(sources: Sequence[Source], rows: LinkRows, profile: Profile, wanted: Wanted) -> list[LinkRow]:
    """Find the wanted links, the best first, ties in the order of the files."""
    search = _Search(rows, profile, wanted)
    for source in sources:
        for batch in _batches(source):
            search.add(source, batch)
    return search.found()


class _Search:
    """Scores batches, and keeps the best links so far."""

    def __init__(self, rows: LinkRows, profile: Profile, wanted: Wanted) -> None:
        self._rows = rows
        self._wanted = wanted
        self._cards = [profile.cards[name].card for name in profile.chains[_CARD]]
        read = {name for card in self._cards for name in fields_read(card)}
        self._names = sorted(name for name in read if not name.startswith(CARD))
        self._best = pl.DataFrame(schema={_PLACE: pl.Int64, _SCORE: pl.Float64})
        self._kept: dict[int, LinkRow] = {}
        self._seen = 0

    def add(self, source: Source, batch: _Batch) -> None:
        """Score a batch, and keep the best."""
        first, count = self._seen + 1, batch.texts.height
        self._seen += count
        is_plain = _is_plain() if _FACTS.issuperset(self._names) else pl.lit(value=False)
        places = pl.int_range(first, first + count, dtype=pl.Int64).alias(_PLACE)
        frame = batch.texts.with_columns(places, is_plain.alias(_PLAIN))
        odd: dict[int, LinkRow] = {}
        for place in frame.filter(~pl.col(_PLAIN))[_PLACE].to_list():
            row = self._rows.read(source, batch.raw(place - first), place)
            if row is not None:
                odd[place] = row
        facts = fact_frame([row.facts for row in odd.values()], self._names)
        by_rows = facts.with_columns(pl.Series(_PLACE, list(odd), dtype=pl.Int64))
        by_columns = frame.filter(_PLAIN).select(
            _PLACE, *(_fact(name) for name in self._names if name in _FACTS)
        )
        self._keep_best(pl.concat([self._scored(by_columns), self._scored(by_rows)]))
        kept = {}
        for place in self._best[_PLACE].to_list():
            known = odd.get(place) or self._kept.get(place)
            kept[place] = known or self._checked(source, batch.raw(place - first), place)
        self._kept = kept

    def found(self) -> list[LinkRow]:
        """Return the kept links, the best first."""
        return [self._kept[place] for place in self._best[_PLACE].to_list()]

    def _checked(self, source: Source, raw: RawRow, place: int) -> LinkRow:
        row = self._rows.read(source, raw, place)
        if row is None:
            raise InputError("is not as plain as it looks; this is a bug", file=raw.where, row=raw.number)
        return row

    def _scored(self, facts: pl.DataFrame) -> pl.DataFrame:
        return score_columns(facts.lazy(), self._cards, ledger=False).select(_PLACE, _SCORE).collect()

    def _keep_best(self, scores: pl.DataFrame) -> None:
        if self._wanted.min_score is not None:
            scores = scores.filter(pl.col(_SCORE) >= self._wanted.min_score)
        best = pl.concat([self._best, scores]).sort([_SCORE, _PLACE], descending=[True, False])
        self._best = best if self._wanted.top is None else best.head(self._wanted.top)


def _is_plain() -> pl.Expr:
    positions = [None, "", *(position.value for position in Position)]
    return (
        pl.col("url").str.contains(_URL).fill_null(value=False)
        & pl.col("anchor").fill_null("").str.contains(_ASCII)
        & pl.col("context").fill_null("").str.contains(_ASCII)
        & pl.col("position").is_in(positions, nulls_equal=True)
    )


def _fact(name: str) -> pl.Expr:
    """Make a fact of plain rows, as `core.rules.facts` does: lower case, single spaces."""
    normal = pl.col("url").str.to_lowercase().str.replace(r"^(https?://[^/]+/[^?]*[^/?])/(\?.*)?$", "$1$2")
    if name == "url":
        return normal
    if name in ("path", "target"):
        target = normal.str.extract(r"^https?://[^/]+(/.*)$")
        return (target if name == "target" else target.str.extract(r"^([^?]*)")).alias(name)
    if name == "position":
        return pl.when(pl.col("position") != "").then(pl.col("position")).alias(name)
    text = pl.col(name).fill_null("").str.to_lowercase()
    return text.str.replace_all(" {2,}", " ").str.strip_chars(" ")


def _batches(source: Source) -> Iterator[_Batch]:
    if source.kind == "parquet":
        start = 0
        for frame in link_frames(source, NAMES):
            yield _Batch(_texts_of(frame), partial(raw_of, source, frame, start))
            start += frame.height
        return
    raws = raw_links(source)
    while listed := list(islice(raws, LINK_BATCH_ROWS)):
        schema = dict.fromkeys(NAMES, pl.String)
        texts = pl.DataFrame([_texts(raw) for raw in listed], schema=schema, orient="row")
        yield _Batch(texts, listed.__getitem__)


def _texts(raw: RawRow) -> tuple[str | None, ...]:
    """Return the texts of a row; none if a value is no text, because such a row is not plain."""
    row = raw.values if isinstance(raw.values, dict) else {}
    values = tuple(next((row[name] for name in names if name in row), None) for names in NAMES.values())
    is_text = all(value is None or (isinstance(value, str) and value.isascii()) for value in values)
    return values if is_text else _NOTHING


def _texts_of(frame: pl.DataFrame) -> pl.DataFrame:
    """Rename the columns; if one is not of texts, no row is plain."""
    found = {name: next(filter(frame.columns.__contains__, names), None) for name, names in NAMES.items()}
    types = {frame.schema[column] for column in found.values() if column is not None}
    is_text = types <= {pl.String(), pl.Null()}
    return frame.select(
        (pl.lit(None) if column is None or not is_text else pl.col(column)).cast(pl.String).alias(name)
        for name, column in found.items()
    ).select(pl.all() if frame.height else pl.all().head(0))
