"""Links and pages scored against a topic (TOPIC-1, TOPIC-2, TOPIC-7), and what follows from scores (TOPIC-3 to TOPIC-6).

Must not know: options, terminals, points, the queue of a crawl. Start reading at `score_links`, then `relevance_level`.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nlargest
from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide.adapters.files.links import NAMES, LinkRow, LinkRows, link_of
from honeyguide.adapters.files.rows import RawRow
from honeyguide.app.arguments import (
    check_tables,
    count_of,
    fields_of,
    position_of,
    profile_of,
    profile_on,
    score_of,
    url_of,
)
from honeyguide.app.tools.pages import NOWHERE, parse_page
from honeyguide.core.crawl import placement
from honeyguide.core.page.likeness import page_text
from honeyguide.core.page.page import Link, Page
from honeyguide.core.records import SCHEMA, point_records, relevance_fields
from honeyguide.core.recrawl.signals import describe_list, link_density
from honeyguide.core.rules.facts import Facts
from honeyguide.core.rules.topic import page_relevance, page_score
from honeyguide.core.text.printable import tidy
from honeyguide.core.url.scope import LinkKind, classify_url
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.errors import InputError
from honeyguide.jobs.request import traversal_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from honeyguide.adapters.files.rows import Rejected
    from honeyguide.adapters.files.sources import OnRows
    from honeyguide.core.records.command_records import LinkScoreRecord, PageScoreRecord
    from honeyguide.core.rules.language import Score
    from honeyguide.core.rules.profile import Profile


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

    >>> score_link("https://a.example/docs/api", topic="API", anchor="API reference", position="navigation").value
    10.0
    """
    row = link_row(url, anchor, context, position)
    return profile_on(profile, topic, related).score("link", row.facts)


def scored_link(row: LinkRow, profile: Profile) -> ScoredLink:
    """Score a link, and say what follows."""
    score, hybrid = profile.score("link", row.facts), profile.traversals.get("hybrid")
    action = None if hybrid is None else placement.band_of(score, hybrid.links).lane
    return ScoredLink(row, score, placement.relevance_level(score, profile), action)


def link_row(url: str | Url, anchor: str = "", context: str = "", position: str | None = None) -> LinkRow:
    """Put together what is known of a link."""
    return LinkRow(1, url_of(url), anchor, context, None if position is None else position_of(position))


def score_page(  # noqa: PLR0913 - settings of a library call, all by keyword
    page: bytes | str | Page | None = None,
    *,
    title: str | None = None,
    headings: str | Sequence[str] | None = None,
    content: str | None = None,
    topic: str | None = None,
    url: str | Url = NOWHERE,
    profile: Profile | str | Path = "docs",
) -> Score:
    """Score a page against a topic, 0 to 10, with the points that make it (TOPIC-2).

    Give the page, or its title, headings (a list, or one a line) and text.

    >>> score_page("<title>Fire alarms</title><h1>Fire</h1>", topic="fire").value
    5.0
    >>> score_page(title="Fire alarms", headings=["Fire", "Water"], content="fire and fire", topic="fire").value
    6.0
    """
    if page is not None and (title or headings or content):
        raise InputError("a page and its texts are given; give the page, or title, headings and content")
    if page is title is headings is content is None:
        raise InputError("score_page: nothing is given; give the page, or title, headings and content")
    if page is None:
        lines = headings.splitlines() if isinstance(headings, str) else headings or ()
        page = Page(url_of(url), title=title or "", h1=tuple(lines), text=content or "")
    parsed = page if isinstance(page, Page) else parse_page(page, url)
    return page_score(parsed, profile_on(profile, topic))


def page_score_record(page: Page, profile: Profile) -> PageScoreRecord:
    """Score a page, and make the record of it."""
    score, said, hybrid = page_score(page, profile), page_text(page), profile.traversals.get("hybrid")
    density = link_density(page, said.lines, {page.url.site})
    is_list = describe_list(page.url, density, profile) is not None
    return {
        "schema": SCHEMA,
        "url": page.url.text,
        "title": page.title,
        "relevance_score": tidy(score.value),
        "relevance_level": placement.relevance_level(score, profile),
        "action": None if hybrid is None else placement.branch_action(score, hybrid),
        "reasons": list(score.words),
        "points": point_records(score.reasons),
        **relevance_fields(page_relevance(page, said.main.decode(), profile, is_list=is_list)),
        "unknown": list(score.unknown),
    }


def score_links(  # noqa: PLR0913 - settings of a library call, all by keyword
    links: str | Sequence[str] | Iterable[Mapping[str, Any]],
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
    """Score links against a topic, 0 to 10: rows with `url`, `anchor`, `context` and `position`, or the rows of files.

    The links keep their order; with `top`, only the best come, best first.

    >>> rows = [{"url": "https://a.example/tea"}, {"url": "https://a.example/api", "anchor": "API reference"}]
    >>> [(link.url, link.score.value) for link in score_links(rows, topic="API", top=1)]
    [('https://a.example/api', 10.0)]
    """
    from honeyguide.adapters.files.sources import pays_by_columns, sources_of

    chosen = profile_on(profile, topic, related)
    top, min_score = count_of(top, "top"), score_of(min_score, 10.0)  # TOPIC-1
    fields = fields_of(columns, NAMES)
    given: list[Any] = [links] if isinstance(links, str) else list(links)
    paths = [path for path in given if isinstance(path, str)]
    if any(path.startswith(("http://", "https://")) for path in paths):
        raise InputError("a text is the name of a file; give URLs as rows, {'url': …}", field="links")
    if len(paths) < len(given):
        for name, value in (("input_format", input_format), ("reject", reject)):
            if value is not None:
                raise InputError("score_links: is for files, not for rows", field=name)
        rows: Iterable[LinkRow] = _given_rows(given, fields)
    else:
        if paths:
            check_tables(paths, input_format, "input_format")
        sources = sources_of(paths, input_format, fields, on_rows)
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


def _given_rows(rows: Iterable[Any], fields: Mapping[str, str]) -> Iterator[LinkRow]:
    """Check rows that a program gives; `fields` has the field that a column is."""
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise InputError(
                f"should have a url and what is known of it, not be {type(row).__name__}", row=number
            )
        yield link_of(RawRow(number, "", {fields.get(name, name): row[name] for name in row}), number)


def _scored(rows: Iterable[LinkRow], profile: Profile, min_score: float | None) -> Iterator[ScoredLink]:
    for row in rows:
        link = scored_link(row, profile)
        if min_score is None or link.score >= min_score:
            yield link


# --- what follows from scores ---

# What follows for a link, by its lane; what follows for the links of a page is in `app.runs`.
LANE_WORDS = {
    "deep": "explored deeply, depth first",
    "broad": "scanned, breadth first",
    "tail": "added to the tail of the queue",
    "far": "added behind all others",
    "skip": "not followed",
}
_ELSEWHERE = Url.parse(NOWHERE)


def relevance_level(score: float, *, profile: Profile | str | Path = "docs") -> str | None:
    """Name the level of a topic score: High, Medium, Low or Irrelevant (TOPIC-3).

    >>> [relevance_level(score) for score in (8, 5, 3, 2)]
    ['High', 'Medium', 'Low', 'Irrelevant']
    """
    return placement.relevance_level(score_of(score, 10.0, "score") or 0.0, profile_of(profile))


def calculate_priority(
    score: float,
    parent: float | None,
    *,
    traversal: str = "hybrid",
    profile: Profile | str | Path = "docs",
) -> Score:
    """Calculate the priority of a link from its score and that of the page it was found on (TOPIC-5).

    A `parent` of None is a page without a score, which gives no bonus.

    >>> calculate_priority(6, 9) == 9, calculate_priority(6, 5) == 7, calculate_priority(6, 4) == 6
    (True, True, True)
    """
    return placement.calculate_priority(score, parent, traversal_of(profile_of(profile), traversal))


def should_skip(
    url: str | Url, *, traversal: str = "hybrid", profile: Profile | str | Path = "docs"
) -> Why | None:
    """Say why a crawl skips a link by its URL alone, if it does: a file, or login, cart and the like (URL-9, TOPIC-6).

    >>> should_skip("https://a.example/mycart.html").rule, should_skip("https://a.example/docs")
    ('TOPIC-6', None)
    """
    chosen = profile_of(profile)
    link = Link(url_of(url))
    verdict = classify_url(link.url, _ELSEWHERE, chosen.scope)
    if verdict.kind is LinkKind.SKIP:
        return Why(verdict.rule, verdict.detail)
    rule = traversal_of(chosen, traversal).skips.first(Facts(link))
    return None if rule is None else Why(rule.id, rule.reason)
