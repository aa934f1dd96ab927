"""Links in files: scored against a topic, or page by page chosen from.

Owns: `score_links`, `select_files`. Must not know: arguments, terminals, output formats.
"""

from __future__ import annotations

from dataclasses import replace
from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.app.given import count_of, least_of, profile_on, url_of
from honeyguide.app.links import chooser_of, linking
from honeyguide.core import scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from honeyguide.adapters.rows.link_rows import LinkRow
    from honeyguide.adapters.rows.page_rows import PageRow
    from honeyguide.adapters.rows.rejected import Rejected
    from honeyguide.core.page import Head, Page
    from honeyguide.core.profile import Profile
    from honeyguide.core.rules import Score
    from honeyguide.core.select import Selection
    from honeyguide.core.url import Url


class ScoredLink(NamedTuple):
    """A link of a file, and the points that make its score (TOPIC-1)."""

    row: LinkRow
    score: Score


def score_links(  # noqa: PLR0913 - settings of a library call, all by keyword
    paths: str | Sequence[str],
    *,
    topic: str | None = None,
    related: Iterable[str] = (),
    profile: Profile | str | Path = "docs",
    top: int | None = None,
    min_score: float | None = None,
    kind: str | None = None,
    reject: Rejected | None = None,
) -> Iterator[ScoredLink]:
    """Score the links of CSV, JSON lines or Parquet files against a topic, 0 to 10.

    They come in the order of the files; with `top`, only the best, and the best first. Wrong rows go to `reject`, or stop
    the run.
    """
    from honeyguide.adapters.rows.known import (  # files are for those who score files
        pays_by_columns,
        sources_of,
    )
    from honeyguide.adapters.rows.link_rows import LinkRows

    chosen = profile_on(profile, topic, related)
    top, min_score = count_of(top, "top"), least_of(min_score, 10.0)  # TOPIC-1
    sources = sources_of([paths] if isinstance(paths, str) else paths, kind)
    rows = LinkRows(sources, reject)
    if top is not None and pays_by_columns(sources):
        from honeyguide.adapters.rows.link_columns import Wanted, best_links  # an extra

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


class PageSelection(NamedTuple):
    """A page as the rows of a file know it, and what was chosen among its links."""

    page: Page
    selection: Selection


def select_files(  # noqa: PLR0913 - settings of a library call, all by keyword
    paths: str | Sequence[str],
    *,
    base: str | Url | None = None,
    strategy: str = "portfolio",
    profile: Profile | str | Path | None = None,
    query: str | None = None,
    cap: int | None = None,
    include: str | None = None,
    exclude: str | None = None,
    kind: str | None = None,
    reject: Rejected | None = None,
) -> Iterator[PageSelection]:
    """Choose among the links of each page of CSV, JSON lines or Parquet files, as `select_links` does of one page.

    Rows of one page stand together; `base` is the page of rows that name none. One page is in memory at a time. Wrong
    rows go to `reject`, or stop the run.
    """
    from honeyguide.adapters.rows.known import sources_of  # files are for those who have files
    from honeyguide.adapters.rows.page_rows import PageRows

    chooser = chooser_of(strategy, profile, query=query, cap=cap, include=include, exclude=exclude)
    sources = sources_of([paths] if isinstance(paths, str) else paths, kind)
    rows = PageRows(sources, None if base is None else url_of(base), reject)
    for url, listed in rows.pages():
        whole = linking(url, ((row.href, one) for row in listed for one in row.occurrences))
        page = replace(whole, skipped=tuple(dict.fromkeys(whole.skipped)))  # once each, as of a page in HTML
        yield PageSelection(page, chooser.choose(page, url, _heads(listed)))


def _heads(rows: Iterable[PageRow]) -> dict[Url, Head]:
    """Collect what rows say of the pages they lead to (PICK-11)."""
    known = [(row, row.head) for row in rows if row.head is not None]
    everything = scope.Scope()
    found = ((scope.classify(row.href, row.page, everything).url, head) for row, head in known)
    return {url: head for url, head in found if url is not None}
