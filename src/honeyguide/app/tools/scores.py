"""Links and pages scored against a topic (TOPIC-1, TOPIC-2, TOPIC-7), with their records.

Must not know: options, terminals, points. Start reading at `score_links`.
"""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.adapters.files.links import NAMES, LinkRow, LinkRows
from honeyguide.app.arguments import count_of, fields_of, position_of, profile_on, score_of, url_of
from honeyguide.app.tools.pages import NOWHERE, parse_page
from honeyguide.app.tools.topic import link_action, page_action, relevance_level
from honeyguide.core.page.likeness import page_text
from honeyguide.core.page.page import Page
from honeyguide.core.records import SCHEMA, point_records, relevance_fields
from honeyguide.core.recrawl.signals import describe_list, link_density
from honeyguide.core.rules.topic import page_relevance, page_score
from honeyguide.core.text.printable import tidy
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from honeyguide.adapters.files.read import OnRows
    from honeyguide.adapters.files.rows import Rejected
    from honeyguide.core.records.answers import LinkScoreRecord, PageScoreRecord
    from honeyguide.core.rules.language import Score
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.url import Url


LINK_FIELDS = tuple(NAMES)


class ScoredLink(NamedTuple):
    """A link, and the points that make its score (TOPIC-1)."""

    row: LinkRow
    score: Score
    level: str | None = None
    action: str | None = None

    @property
    def url(self) -> str:
        """The normalised URL."""
        return self.row.url.text

    @property
    def record(self) -> LinkScoreRecord:
        """The record of the link."""
        position = self.row.position
        return {
            "schema": SCHEMA,
            "url": self.row.url.text,
            "anchor_text": self.row.anchor,
            "context": self.row.context,
            "relevance_score": tidy(self.score.value),
            "relevance_level": self.level,
            "action": self.action,
            "position": None if position is None else position.value,
            "reasons": list(self.score.words),
            "points": point_records(self.score.reasons),
            "unknown": list(self.score.unknown),
        }


def score_link(  # noqa: PLR0913 - settings of a library call, all by keyword
    url: str | Url,
    *,
    topic: str | None = None,
    anchor: str = "",
    context: str = "",
    position: str | None = None,
    related: Iterable[str] = (),
    profile: Profile | str | Path = "docs",
) -> Score:
    """Score one link against a topic, 0 to 10, with the points that make it (TOPIC-1).

    Where many are scored, load the profile once: `load_profile("docs", topic=…)` has the topic.

    >>> score_link("https://a.example/docs/api", topic="API", anchor="API reference", position="navigation").value
    10.0
    """
    row = link_row(url, anchor, context, position)
    return profile_on(profile, topic, related).score("link", row.facts)


def scored_link(row: LinkRow, profile: Profile) -> ScoredLink:
    """Score a link, and say what follows."""
    score = profile.score("link", row.facts)
    return ScoredLink(row, score, relevance_level(score, profile=profile), link_action(score, profile))


def link_row(url: str | Url, anchor: str = "", context: str = "", position: str | None = None) -> LinkRow:
    """Put together what is known of a link."""
    return LinkRow(1, url_of(url), anchor, context, None if position is None else position_of(position))


def score_page(  # noqa: PLR0913 - settings of a library call, all by keyword
    page: bytes | str | Page | None = None,
    *,
    title: str = "",
    headings: str | Sequence[str] = (),
    content: str = "",
    topic: str | None = None,
    url: str | Url = NOWHERE,
    profile: Profile | str | Path = "docs",
) -> Score:
    """Score a page against a topic, 0 to 10, with the points that make it (TOPIC-2).

    Give the page, or its title, its headings (a list, or one a line) and its text.

    >>> score_page("<title>Fire alarms</title><h1>Fire</h1>", topic="fire").value
    5.0
    >>> score_page(title="Fire alarms", headings=["Fire", "Water"], content="fire and fire", topic="fire").value
    6.0
    """
    if page is not None and (title or headings or content):
        raise InputError("a page and its texts are given; give the page, or title, headings and content")
    lines = headings.splitlines() if isinstance(headings, str) else headings
    if page is None:
        page = Page(url_of(url), title=title, h1=tuple(lines), text=content)
    parsed = page if isinstance(page, Page) else parse_page(page, url)
    return page_score(parsed, profile_on(profile, topic))


def page_score_record(page: Page, profile: Profile) -> PageScoreRecord:
    """Score a page, and make the record of it."""
    score, said = page_score(page, profile), page_text(page)
    density = link_density(page, said.lines, {page.url.site})
    is_list = describe_list(page.url, density, profile) is not None
    return {
        "schema": SCHEMA,
        "url": page.url.text,
        "title": page.title,
        "relevance_score": tidy(score.value),
        "relevance_level": relevance_level(score, profile=profile),
        "action": page_action(score, profile),
        "reasons": list(score.words),
        "points": point_records(score.reasons),
        **relevance_fields(page_relevance(page, said.main.decode(), profile, is_list=is_list)),
        "unknown": list(score.unknown),
    }


def score_links(  # noqa: PLR0913 - settings of a library call, all by keyword
    paths: str | Sequence[str],
    *,
    topic: str | None = None,
    related: Iterable[str] = (),
    profile: Profile | str | Path = "docs",
    top: int | None = None,
    min_score: float | None = None,
    input_format: str | None = None,
    columns: Mapping[str, str] | None = None,
    reject: Rejected | None = None,
    on_rows: OnRows | None = None,
) -> Iterator[ScoredLink]:
    """Score the links of CSV, JSON lines or Parquet files against a topic, 0 to 10.

    They come in the order of the files; with `top`, only the best, and the best first. `columns` has the names of columns, by
    field: {"anchor": "text"}. Wrong rows go to `reject`, or stop the run; `on_rows` hears of the rows that are read.
    """
    from honeyguide.adapters.files.read import pays_by_columns, sources_of

    chosen = profile_on(profile, topic, related)
    top, min_score = count_of(top, "top"), score_of(min_score, 10.0)  # TOPIC-1
    fields = fields_of(columns, NAMES)
    sources = sources_of([paths] if isinstance(paths, str) else paths, input_format, fields, on_rows)
    rows = LinkRows(sources, reject)
    if top is not None and pays_by_columns(sources):
        from honeyguide.bulk.links import Wanted, best_links  # an extra

        yield from _scored(best_links(sources, rows, chosen, Wanted(top, min_score)), chosen, None)
        return
    scored = _scored(rows, chosen, min_score)
    if top is None:
        yield from scored
    else:
        yield from nlargest(top, scored, key=lambda link: (link.score.value, -link.row.number))


def _scored(rows: Iterable[LinkRow], profile: Profile, min_score: float | None) -> Iterator[ScoredLink]:
    for row in rows:
        link = scored_link(row, profile)
        if min_score is None or link.score >= min_score:
            yield link
