"""Records: what every output says, under one set of names.

Owns: the names and shapes of records (PICK-20, and one record per site). Must not know: files, formats, terminals.
Unknown values are null, never absent; whole numbers are written without a fraction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from honeyguide.core.page import Link
    from honeyguide.core.rules import Reason, Score
    from honeyguide.core.select import Candidate

SCHEMA = 1
ASKED = (
    "cap",
    "query",
    "include",
    "exclude",
    "content",
)  # what a pick depends on beside strategy and profile
Record = dict[str, Any]


def tidy(number: float | None) -> float | int | None:
    """Write 94.0 as 94.

    >>> tidy(94.0), tidy(0.5), tidy(None)
    (94, 0.5, None)
    """
    return int(number) if number is not None and number == int(number) else number


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
        "out": {"rule": candidate.out.rule, "why": candidate.out.why} if candidate.out else None,
        "unknown": sorted({name for part in parts.values() for name in part.unknown}),
        "positions": position_names(candidate.link),
    }


def position_names(link: Link) -> list[str]:
    """Name every position where a link stands, in document order: rules read them all."""
    return list(dict.fromkeys(occurrence.position.value for occurrence in link.occurrences))


def _value(score: Score | None) -> float | int | None:
    return None if score is None else tidy(score.value)
