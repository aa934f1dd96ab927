"""BM25 of a link's texts against a query, on an absolute scale from 0 to 1.

Owns: `Query`, `contextual`. Must not know: selection, profiles.
The usual BM25 weighs words by how rare they are among the documents at hand, so a score changes when another link
joins the page. Here word weights and usual lengths are fixed, and 1 is what a field reaches that is the query itself
(PICK-13): a score depends on the link alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from honeyguide.core.rules import Reason, Score, half_up
from honeyguide.core.text import fold, tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class TextField:
    """A field that the query is matched against: its weight, and the length such texts usually have, in words."""

    name: str
    weight: float
    usual_words: float


@dataclass(frozen=True)
class Query:
    """A query and the constants of BM25: `k1` bounds what repetition is worth, `b` what length costs."""

    text: str
    fields: tuple[TextField, ...]
    k1: float = 1.2
    b: float = 0.75

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The distinct words of the query."""
        return tuple(dict.fromkeys(tokens(fold(self.text))))

    @cached_property
    def best(self) -> Mapping[str, float]:
        """What each field reaches that is the query itself."""
        return {
            f.name: len(self.terms) / (1 + self.length_norm(f, len(self.terms))) or 1.0 for f in self.fields
        }

    def length_norm(self, field: TextField, words: int) -> float:
        """BM25's K: long texts need more mentions."""
        return self.k1 * (1 - self.b + self.b * words / field.usual_words)


@dataclass(frozen=True, slots=True)
class Contextual:
    """A contextual score and the query words that made it."""

    score: Score
    matched: tuple[str, ...]


def contextual(query: Query, texts: Mapping[str, str | None]) -> Contextual:
    """Score folded texts by field name; a text that is not known pays nothing, and the score says so.

    >>> query = Query("fire alarm", (TextField("title", 0.5, 8), TextField("anchor", 0.5, 3)))
    >>> contextual(query, {"title": "fire alarm", "anchor": None}).score.value
    0.5
    """
    reasons: list[Reason] = []
    matched: dict[str, None] = {}
    total = 0.0
    for field in query.fields:
        text = texts.get(field.name)
        if not text:
            continue
        value, terms = _field_score(query, field, text)
        if value:
            points = half_up(field.weight * value, _DECIMALS)
            total += points
            matched.update(dict.fromkeys(terms))
            reasons.append(
                Reason(f"bm25-{field.name}", points, f"{', '.join(terms)} in {field.name.replace('_', ' ')}")
            )
    unknown = tuple([field.name for field in query.fields if texts.get(field.name) is None])
    return Contextual(Score(half_up(total, _DECIMALS), tuple(reasons), unknown), tuple(matched))


def _field_score(query: Query, field: TextField, text: str) -> tuple[float, list[str]]:
    possible = [
        term for term in query.terms if term in text
    ]  # much cheaper than cutting every text into words
    if not possible:
        return 0.0, []
    words = tokens(text)
    norm = query.length_norm(field, len(words))
    found = [(term, count) for term in possible if (count := words.count(term))]
    reached = sum(count / (count + norm) for _, count in found)
    return min(1.0, reached / query.best[field.name]), [term for term, _ in found]
