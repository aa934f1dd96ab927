"""Links in files, scored against a topic: row by row, or the best of many by columns.

Owns: `score_links`. Must not know: arguments, terminals, output formats.
"""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.config import load_profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from honeyguide.adapters.known import Rejected
    from honeyguide.adapters.link_rows import LinkRow
    from honeyguide.core.profile import Profile
    from honeyguide.core.rules import Score


class ScoredLink(NamedTuple):
    """A link of a file, and the points that make its score (TOPIC-1)."""

    row: LinkRow
    score: Score


def score_links(  # noqa: PLR0913 - settings of a library call, all by keyword
    paths: str | Sequence[str],
    *,
    topic: str,
    related: Iterable[str] = (),
    profile: str | Path = "docs",
    top: int | None = None,
    min_score: float | None = None,
    kind: str | None = None,
    reject: Rejected | None = None,
) -> Iterator[ScoredLink]:
    """Score the links of CSV, JSON lines or Parquet files against a topic, 0 to 10.

    They come in the order of the files; with `top`, only the best, and the best first. Wrong rows go to `reject`, or stop
    the run.
    """
    from honeyguide.adapters.known import pays_by_columns, sources_of  # files are for those who score files
    from honeyguide.adapters.link_rows import LinkRows

    chosen = load_profile(profile, topic=topic, related=tuple(related) or None)
    sources = sources_of([paths] if isinstance(paths, str) else paths, kind)
    rows = LinkRows(sources, reject)
    if top is not None and pays_by_columns(sources):
        from honeyguide.adapters.link_columns import Wanted, best_links  # an extra

        yield from _scored(best_links(sources, rows, chosen, Wanted(top, min_score)), chosen, None)
        return
    scored = _scored(rows, chosen, min_score)
    if top is None:
        yield from scored
    else:
        yield from nlargest(top, scored, key=lambda link: (link.score.value, -link.row.number))


def _scored(rows: Iterable[LinkRow], profile: Profile, min_score: float | None) -> Iterator[ScoredLink]:
    for row in rows:
        score = profile.score("link", row.facts)
        if min_score is None or score.value >= min_score:
            yield ScoredLink(row, score)
