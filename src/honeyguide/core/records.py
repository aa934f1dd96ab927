"""Records: what every output says, under one set of names.

Owns: the names and shapes of records (PICK-20, and one record per site). Must not know: files, formats, terminals.
Unknown values are null, never absent; whole numbers are written without a fraction.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from honeyguide.core.recrawl.history import CHANGED, GONE, NOT_MODIFIED, SAME_BYTES, SAME_CONTENT, UNCHANGED
from honeyguide.core.text.printable import tidy
from honeyguide.core.why import Why

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from honeyguide.core.crawl.frontier import Lease
    from honeyguide.core.page.page import Link
    from honeyguide.core.pick.select import Candidate
    from honeyguide.core.rules.language import Reason, Score

SCHEMA = 1
ASKED = (
    "cap",
    "query",
    "include",
    "exclude",
    "content",
)  # what a pick depends on beside strategy and profile
Record = dict[str, Any]


def reason_records(reasons: Iterable[Reason]) -> list[Record]:
    """Write the ledger of a score."""
    return [{"rule": reason.rule, "points": tidy(reason.points), "reason": reason.text} for reason in reasons]


def candidate_record(candidate: Candidate) -> Record:
    """Write everything that was decided about a link (PICK-20)."""
    parts = candidate.parts or {}
    score = candidate.score
    return {
        "url": candidate.url.text,
        "anchor_text": candidate.link.anchor,
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
        "reasons": reason_records(score.reasons) if score else [],
        "parts": {name: reason_records(part.reasons) for name, part in parts.items() if part is not score},
        "out": {"rule": candidate.rejected.rule, "why": candidate.rejected.text}
        if candidate.rejected
        else None,
        "unknown": sorted({name for part in parts.values() for name in part.unknown}),
        "positions": position_names(candidate.link),
    }


def position_names(link: Link) -> list[str]:
    """Name every position where a link stands, in document order: rules read them all."""
    return list(dict.fromkeys(occurrence.position.value for occurrence in link.occurrences))


def _value(score: Score | None) -> float | int | None:
    return None if score is None else tidy(score.value)


RELEVANT = 5.0  # TOPIC-4: from here on a page counts as found
_FAILED = frozenset({"dropped", "retry"})  # actions of visits that had no page
_UNREAD = _FAILED | {"unchanged"}  # and of those that had nothing to read


@dataclass(frozen=True, slots=True)
class Crawled:
    """What came of a lease."""

    at: float
    action: str
    status: int | None = None
    final_url: str | None = None
    title: str | None = None
    content: str | None = None
    elapsed_s: float | None = None
    score: Score | None = None
    why: Why | None = None
    links: Iterable[tuple[Link, Score]] | None = None
    change: Why | None = None


def page_record(lease: Lease, crawled: Crawled) -> Record:
    """Write what is known of a page. `url` is the one that was queued; `final_url` where redirects led, if they did."""
    reasons = reason_records(crawled.score.reasons) if crawled.score else []
    for why in (crawled.why, crawled.change):
        if why is not None:
            reasons.append({"rule": why.rule, "points": 0, "reason": why.text})
    record: Record = {
        "schema": SCHEMA,
        "url": lease.url.text,
        "final_url": crawled.final_url,
        "status": crawled.status,
        "depth": lease.depth,
        "parent": lease.parent,
        "relevance_score": None if crawled.score is None else tidy(crawled.score.value),
        "reasons": reasons,
        "action": crawled.action,
        "change": None,
        "lane": lease.lane,
        "priority": tidy(lease.priority),
        "title": crawled.title,
        "fetched_at": iso(crawled.at),
        "elapsed_s": None if crawled.elapsed_s is None else round(crawled.elapsed_s, 3),
        "digest": crawled.content,
    }
    if crawled.links is not None:
        record["links"] = [link_record(link, score) for link, score in crawled.links]
    record["change"] = _change_word(record)
    return record


_TEXT, _NUMBER, _ROWS = frozenset({str}), frozenset({int, float}), frozenset({list})
_NONE = frozenset({type(None)})
_REASON = {"rule": _TEXT, "points": _NUMBER, "reason": _TEXT}
_LINK = {
    "url": _TEXT,
    "anchor_text": _TEXT | _NONE,
    "context": _TEXT | _NONE,
    "relevance_score": _NUMBER,
    "position": _TEXT | _NONE,
    "reasons": _ROWS,
}
_FIELDS = {
    "url": _TEXT,
    "final_url": _TEXT | _NONE,
    "status": frozenset({int}) | _NONE,
    "depth": frozenset({int}),
    "parent": _TEXT | _NONE,
    "relevance_score": _NUMBER | _NONE,
    "reasons": _ROWS,
    "action": _TEXT,
    "lane": _TEXT,
    "priority": _NUMBER,
    "title": _TEXT | _NONE,
    "fetched_at": _TEXT,
    "elapsed_s": _NUMBER | _NONE,
    "digest": _TEXT | _NONE,
}


def is_page_record(value: object) -> bool:
    """Tell whether something that was read back has the shape of a record, whatever it says.

    >>> is_page_record([]), is_page_record({"url": "https://a.example/"})
    (False, False)
    """
    if not isinstance(value, dict) or not _has(value, _FIELDS):
        return False
    links = value.get("links") or ()  # not every run asks for them
    if not isinstance(links, tuple | list) or not all(_has(link, _LINK) for link in links):
        return False
    change, listed = value.get("change"), (value, *links)  # records of older versions have no `change`
    is_told = change is None or isinstance(change, str)
    return is_told and all(_has(reason, _REASON) for one in listed for reason in one["reasons"])


def _has(value: object, fields: Mapping[str, frozenset[type]]) -> bool:
    """Tell whether it has these fields, of these kinds."""
    return isinstance(value, dict) and all(
        name in value and type(value[name]) in kinds for name, kinds in fields.items()
    )


def complete(record: Record) -> Record:
    """Give a record with all its fields: those of older versions have no `change`, but tell it.

    >>> complete({"action": "expand", "status": 200, "reasons": [], "lane": "deep"})
    {'action': 'expand', 'change': 'new', 'status': 200, 'reasons': [], 'lane': 'deep'}
    """
    if "change" in record:
        return record
    told: Record = {}
    for name, value in record.items():
        told[name] = value
        if name == "action":
            told["change"] = _change_word(record)
    return told


def _change_word(record: Record) -> str | None:
    """Say in a word what a visit found: `new`, `changed` or `unchanged`; None where it had no page."""
    verdict = verdict_of(record)
    if verdict in ("gone", "failed"):
        return None
    return {"first": "new", CHANGED: CHANGED}.get(verdict, "unchanged")


def change_told(verdict: str, since: float) -> Why:
    """Say what a visit found, in comparison with the one before.

    >>> change_told("changed", 0.0).text
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
    """Name what a visit came to: `first`, `changed`, `not-modified`, `same-bytes`, `same-content`, `gone`, `failed`.

    >>> verdict_of({"action": "dropped", "status": 410, "reasons": []})
    'gone'
    """
    if record["action"] == "soft-404" or record["status"] in GONE:
        return "gone"
    if record["action"] in _FAILED:
        return "failed"
    change = change_of(record)
    return "first" if change is None else change.rule


def change_of(record: Record) -> Why | None:
    """Give what a visit found in comparison with the one before, as `change_told` says it; None at the first.

    >>> change_of({"reasons": [{"rule": "changed", "points": 0, "reason": "its main content changed"}]})
    Why(rule='changed', text='its main content changed')
    """
    reasons = {reason["rule"]: reason["reason"] for reason in record["reasons"]}
    return next((Why(rule, reasons[rule]) for rule in (*UNCHANGED, CHANGED) if rule in reasons), None)


def was_read(record: Record) -> bool:
    """Say whether a visit read the page; one that is told "not modified", or is turned away, has nothing to read.

    >>> was_read({"action": "expand"}), was_read({"action": "unchanged"})
    (True, False)
    """
    return record["action"] not in _UNREAD


def link_record(link: Link, score: Score) -> Record:
    """Write a link and the points that make its score (TOPIC-1)."""
    return {
        "url": link.url.text,
        "anchor_text": link.anchor,
        "context": link.context,
        "relevance_score": tidy(score.value),
        "position": link.position.value,
        "reasons": reason_records(score.reasons),
    }


def iso(moment: float) -> str:
    """Write a time as ISO 8601 UTC, to the millisecond.

    >>> iso(0.5)
    '1970-01-01T00:00:00.500Z'
    """
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def is_relevant(record: Record) -> bool:
    """Tell whether a page is about the topic.

    >>> is_relevant({"relevance_score": 5}), is_relevant({"relevance_score": None})
    (True, False)
    """
    score = record["relevance_score"]
    return score is not None and score >= RELEVANT
