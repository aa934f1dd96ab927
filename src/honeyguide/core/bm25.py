"""BM25 of a link's texts against a query, on an absolute scale from 0 to 1.

Owns: `Query`, `contextual`. Must not know: selection, profiles.
The usual BM25 weighs words by how rare they are among the documents at hand, so a score changes when another link
joins the page. Here word weights and usual lengths are fixed, and 1 is what a field reaches that is the query itself
(PICK-13): a score depends on the link alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.rules import Reason, Score, half_up
from honeyguide.core.text import fold, singular, tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

_DECIMALS = 6


def _as_word(term: str) -> str:
    """Spell a term for the finder. Words are our own cuts of the query, so nothing in them is special."""
    word = re.escape(term)
    if not term.isascii() and len(term) == 1:
        return word  # one Chinese, Japanese or Korean character: it needs no boundary
    return rf"\b{word}(?={'s?' if singular(f'{term}s') == term else ''}\b)"


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
    def finder(self) -> re.Pattern[str]:
        """Find the terms as whole words, singular or plural, in one pass; longer terms first."""
        spelled = sorted(self.terms, key=lambda term: (-len(term), term))
        return re.compile("|".join(map(_as_word, spelled)).join("()") if spelled else "(?!)")

    @cached_property
    def scales(self) -> tuple[Scale, ...]:
        """What is the same for every text of a field, worked out once."""
        return tuple(self._scale(field) for field in self.fields)

    def _scale(self, field: TextField) -> Scale:
        fixed, per_word = self.k1 * (1 - self.b), self.k1 * self.b / field.usual_words
        size = len(self.terms)
        best = size / (1 + fixed + per_word * size) or 1.0
        return Scale(field.name, f"bm25-{field.name}", f" in {field.name.replace('_', ' ')}", field.weight / best, field.weight, fixed, per_word)


class Scale(NamedTuple):
    """BM25 of one field: `fixed + per_word * length` is what length costs, `unit` turns the sum into points."""

    field: str
    rule: str
    where: str
    unit: float
    weight: float
    fixed: float
    per_word: float


class Contextual(NamedTuple):
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
    matched: list[str] = []
    total = 0.0
    for scale in query.scales:
        text = texts.get(scale.field)
        if text:
            reached, found = _reach(query, scale, text)
            if found:
                points = half_up(min(scale.weight, scale.unit * reached), _DECIMALS)
                total += points
                matched += found
                reasons.append(Reason(scale.rule, points, ", ".join(found) + scale.where))
    unknown = tuple([field.name for field in query.fields if texts.get(field.name) is None])
    return Contextual(Score(half_up(total, _DECIMALS), tuple(reasons), unknown), tuple(dict.fromkeys(matched)))


def _reach(query: Query, scale: Scale, text: str) -> tuple[float, list[str]]:
    """Sum what each term of the query reaches in a text, and name the terms that occur."""
    found: list[str] = query.finder.findall(text)
    if not found:
        return 0.0, found
    norm = scale.fixed + scale.per_word * (text.count(" ") + 1)
    if len(found) == 1:
        return 1 / (1 + norm), found
    counts: dict[str, int] = {}
    for term in found:
        counts[term] = counts.get(term, 0) + 1
    return sum([count / (count + norm) for count in counts.values()]), list(counts)
