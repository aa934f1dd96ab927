"""Making records of what was decided about links and pages, reading them, and writing them as JSON lines and CSV cells.

Owns: the records of candidates and of visits, what a visit found, and how a value is written so that it does no harm where
it is read. The fields are in `fields.py`. Must not know: files, terminals. Start reading at `candidate_record`,
`page_record` and `json_line`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypedDict

from honeyguide.core.crawl.placement import band_of, relevance_level
from honeyguide.core.records.fields import SCHEMA as SCHEMA
from honeyguide.core.records.fields import Record as Record
from honeyguide.core.recrawl.history import CHANGED, GONE, NOT_MODIFIED, SAME_BYTES, SAME_CONTENT, UNCHANGED
from honeyguide.core.rules.topic import RELEVANT
from honeyguide.core.text.printable import escaped, points, printable, tidy
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from honeyguide.core.crawl.frontier import Lease
    from honeyguide.core.crawl.judge import CrawlContext
    from honeyguide.core.page.page import Link, Page
    from honeyguide.core.pick.select import Candidate
    from honeyguide.core.records.fields import CandidateRecord, LinkRecord, PageRecord, Point
    from honeyguide.core.rules.language import Reason, Score


def point_records(reasons: Iterable[Reason]) -> list[Point]:
    """Write what each rule paid."""
    return [{"rule": reason.rule, "points": tidy(reason.points), "reason": reason.text} for reason in reasons]


def candidate_record(candidate: Candidate) -> CandidateRecord:
    """Write everything that was decided about a link (PICK-20)."""
    parts, score, head, why = candidate.parts or {}, candidate.score, candidate.head, candidate.rejected
    return {
        "url": candidate.url.text,
        "anchor_text": candidate.link.anchor,
        "title": candidate.link.title,
        "base_domain": candidate.url.host.removeprefix("www."),
        "head_data": None if head is None else {"title": head.title, "description": head.description},
        "position": candidate.link.position.value,
        "rank": candidate.rank,
        "category": candidate.category,
        "bucket": candidate.bucket,
        "score": _value(score),
        "intrinsic_score": _value(parts.get("intrinsic")),
        "contextual_score": _value(parts.get("contextual")),
        "total_score": _value(parts.get("total")),
        "matched": list(candidate.matched),
        "selection_reason": candidate.selection_reason,
        "reasons": [] if score is None else list(score.words),
        "points": [] if score is None else point_records(score.reasons),
        "parts": {name: point_records(part.reasons) for name, part in parts.items() if part is not score},
        "rejected": None if why is None else {"rule": why.rule, "reason": why.text},
        "unknown": sorted({name for part in parts.values() for name in part.unknown}),
        **place_records(candidate.link),
    }


class LinkPlaces(TypedDict):
    """Where a page has a link, in document order."""

    positions: list[str]
    menus: list[str]
    headings: list[str]


def place_records(link: Link) -> LinkPlaces:
    """List the positions of a link, and the submenus and groups of cards that list it, each once."""
    seen = link.occurrences
    return {
        "positions": list(dict.fromkeys(occurrence.position.value for occurrence in seen)),
        "menus": list(dict.fromkeys(occurrence.menu for occurrence in seen if occurrence.menu)),
        "headings": list(dict.fromkeys(occurrence.heading for occurrence in seen if occurrence.heading)),
    }


def _value(score: Score | None) -> float | None:
    return None if score is None else tidy(score.value)


_FAILED = frozenset({"dropped", "retry"})  # actions of visits that led to no page
_MAX_ROBOTS_CHARS = 500  # characters of what a page says to robots
VERDICTS = ("first", CHANGED, *UNCHANGED, "gone", "failed")  # results of visits
_UNREAD = _FAILED | {"unchanged"}  # and of those that had nothing to read


@dataclass(slots=True)
class Crawled:
    """How a visit to a page ended: what was answered, if anything was, and what reading the answer gave."""

    at: float
    status: int | None = None
    final_url: str | None = None
    elapsed_s: float | None = None
    robots: str | None = None  # the header X-Robots-Tag
    action: str = ""
    page: Page | None = None
    content: str | None = None
    score: Score | None = None
    relevance: Score | None = None
    why: Why | None = None
    links: Iterable[tuple[Link, Score]] | None = None
    change: Why | None = None
    listing: Why | None = None
    rendered: Why | None = None
    copy_of: str | None = None


def page_record(lease: Lease, crawled: Crawled, context: CrawlContext | None = None) -> PageRecord:
    """Write the record of a visit; `context` is what the page was judged by, if it was."""
    points = [] if crawled.score is None else point_records(crawled.score.reasons)
    reasons = [] if crawled.score is None else list(crawled.score.words)
    for why in (crawled.why, crawled.listing, crawled.rendered, crawled.change):
        if why is not None:
            points.append({"rule": why.rule, "points": 0, "reason": why.text})
            reasons += [why.text] if why.text else []
    relevance = relevance_fields(crawled.relevance)
    record: PageRecord = {
        "schema": SCHEMA,
        "url": lease.url.text,
        "final_url": crawled.final_url,
        "status": crawled.status,
        "depth": lease.depth,
        "parent": lease.parent,
        "relevance_score": _value(crawled.score),
        "relevance_level": None,
        "reasons": reasons,
        "points": points,
        "topic_relevance": relevance["topic_relevance"],
        "topic_points": relevance["topic_points"],
        "action": crawled.action,
        "change": None,
        "lane": lease.lane,
        "priority": tidy(lease.priority),
        "title": crawled.page.title if crawled.page else None,
        "fetched_at": iso(crawled.at),
        "elapsed_s": None if crawled.elapsed_s is None else round(crawled.elapsed_s, 3),
        "digest": crawled.content,
        "canonical": crawled.page.canonical if crawled.page else None,
        "language": crawled.page.language if crawled.page else None,
        "language_group": _language_group(crawled.page) if crawled.page else None,
        "robots": _robots(crawled),
        "duplicate_of": crawled.copy_of,
    }
    if context is not None and crawled.page is not None:
        record["duplicate_of"] = crawled.copy_of or _canonical_other(crawled.page, context)
    if context is not None and crawled.score is not None:
        record["relevance_level"] = relevance_level(crawled.score, context.profile)
    if context is not None and crawled.links is not None:
        record["links"] = [_link_record(link, score, context) for link, score in crawled.links]
    record["change"] = _change_word(record)
    return record


class RelevanceFields(TypedDict):
    """Whether a page is about the topic, and what each rule paid for that (TOPIC-7)."""

    topic_relevance: float | None
    topic_points: list[Point]


def relevance_fields(relevance: Score | None) -> RelevanceFields:
    """Write whether a page is about the topic."""
    points = [] if relevance is None else point_records(relevance.reasons)
    return {"topic_relevance": _value(relevance), "topic_points": points}


def _robots(crawled: Crawled) -> str | None:
    """Join what meta element and header say to robots: folded, each once, in their order."""
    said = f"{crawled.page.robots if crawled.page else ''},{crawled.robots or ''}"[:_MAX_ROBOTS_CHARS]
    words = dict.fromkeys(" ".join(word.split()).lower() for word in said.split(","))
    return ", ".join(filter(None, words)) or None


def _language_group(page: Page) -> str | None:
    """Name the set of a page and its versions in other languages; each of them, if it names all, has the same."""
    urls = sorted({page.url.as_linked, *page.versions})
    said = "\n".join(urls).encode("utf-8", "backslashreplace")
    return blake2b(said, digest_size=8).hexdigest() if len(urls) > 1 else None


def _canonical_other(page: Page, context: CrawlContext) -> str | None:
    """Give the canonical URL of a page if that is another page of its site."""
    if page.canonical is None:
        return None
    canonical, tracking = Url.parse(page.canonical), context.profile.scope.tracking
    is_other = canonical.site == page.url.site and canonical.key(tracking) != page.url.key(tracking)
    return canonical.text if is_other else None


def _link_record(link: Link, score: Score, context: CrawlContext) -> LinkRecord:
    """Write a link and the points that make its score (TOPIC-1)."""
    return {
        "url": link.url.text,
        "anchor_text": link.anchor,
        "context": link.context,
        "relevance_score": tidy(score.value),
        "relevance_level": relevance_level(score, context.profile),
        "action": band_of(score, context.traversal.links).lane,
        "position": link.position.value,
        "rel": link.rel or None,
        "reasons": list(score.words),
        "points": point_records(score.reasons),
    }


# --- what a visit found -----------------------------------------------------------------------------------------------


def _change_word(record: Record) -> str | None:
    verdict = verdict_of(record)
    if verdict in ("gone", "failed"):
        return None
    return {"first": "new", CHANGED: CHANGED}.get(verdict, "unchanged")


def describe_change(verdict: str, since: float) -> Why:
    """Say how a page compares with the visit before.

    >>> describe_change("changed", 0.0).text
    'its main content changed since 1970-01-01T00:00:00.000Z'
    """
    words = {
        NOT_MODIFIED: "not modified, its server says (304),",
        SAME_BYTES: "the same, byte for byte,",
        SAME_CONTENT: "its main content is the same",
        CHANGED: "its main content changed",
    }
    return Why(verdict, f"{words[verdict]} since {iso(since)}")


def verdict_of(record: Record) -> str:
    """Name the result of a visit, one of `VERDICTS`.

    >>> verdict_of({"action": "dropped", "status": 410, "points": []})
    'gone'
    """
    if record["action"] == "soft-404" or record["status"] in GONE:
        return "gone"
    if record["action"] in _FAILED:
        return "failed"
    change = change_of(record)
    return "first" if change is None else change.rule


def change_of(record: Record) -> Why | None:
    """Give the reason that `describe_change` wrote; None at the first visit.

    >>> change_of({"points": [{"rule": "changed", "points": 0, "reason": "its main content changed"}]})
    Why(rule='changed', text='its main content changed')
    """
    reasons = {point["rule"]: point["reason"] for point in record["points"]}
    return next((Why(rule, reasons[rule]) for rule in (*UNCHANGED, CHANGED) if rule in reasons), None)


def was_read(record: Record) -> bool:
    """Tell whether a visit read the page; one that failed, or was answered "not modified", did not."""
    return record["action"] not in _UNREAD


def is_relevant(record: Record) -> bool:
    """Tell whether a page is about the topic (TOPIC-7)."""
    relevance = record["topic_relevance"]
    return relevance is not None and relevance >= RELEVANT


def iso(moment: float) -> str:
    """Write a time as ISO 8601 UTC, to the millisecond.

    >>> iso(0.5)
    '1970-01-01T00:00:00.500Z'
    """
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


# --- text ---------------------------------------------------------------------------------------------------------

# How a spreadsheet recognises a formula; it skips leading space, and knows wide forms of the signs.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def json_line(record: Record) -> str:
    """Write a record as one line of JSON whose control characters are escaped."""
    return escaped(json.dumps(record, ensure_ascii=False, allow_nan=False))


def csv_row(record: Record, columns: Sequence[str]) -> list[str]:
    """Write the named columns of a record as cells; `rejected.rule` is a field of a nested record."""
    return [csv_cell(value_at(record, column)) for column in columns]


def value_at(record: Record, column: str) -> Any:
    """Give the value of a column; `rejected.rule` is a field of a nested record."""
    value: Any = record
    for name in column.split("."):
        value = None if value is None else value.get(name)
    return value


def csv_cell(value: Any) -> str:
    """Write a cell: null is empty, numbers are numbers, and a text that a spreadsheet would execute gets an apostrophe.

    >>> csv_cell("=1+1"), csv_cell(-5), csv_cell(None), csv_cell([{"points": 80, "reason": "services hub"}])
    ("'=1+1", '-5', '', 'services hub (+80)')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, dict):
        value = [f"{name}: {_part(part)}" for name, part in value.items() if part is not None]
    text = printable(_join(value) if isinstance(value, list) else str(value))
    return f"'{text}" if _is_formula(text) else text


def text_of_cell(cell: str) -> str:
    """Read back a text that `csv_cell` wrote.

    >>> [text_of_cell(csv_cell(text)) for text in ("=1+1", "'=1", "'a' is closed")]
    ['=1+1', "'=1", "'a' is closed"]
    """
    return cell[1:] if cell[:1] == "'" and _is_formula(cell) else cell


def _is_formula(text: str) -> bool:
    """Tell whether a spreadsheet would execute a text, also after apostrophes, so that one more can be taken off again."""
    return text.lstrip("'").lstrip().startswith(_FORMULA)


def _join(values: list[Any]) -> str:
    return "; ".join(map(_item, values))


def _part(value: Any) -> str:
    """Write the value of a mapping: a list, or one value, which looks as in a cell of its own."""
    if isinstance(value, list):
        return _join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _item(value: Any) -> str:
    """Write an entry of a list; of a point, the reason and what was paid, or a dash if nothing was."""
    if not isinstance(value, dict):
        return str(value)
    if "points" in value:
        paid = value["points"]
        return f"{value['reason']} ({'-' if paid is None else points(paid)})"
    return " ".join(map(str, value.values()))
