"""BM25 of a link's texts against a query, on an absolute scale from 0 to 1. Start reading at `contextual`.

Must not know: selection, profiles. Ordinary BM25 weighs words by their rarity, so that a score changes when the page gets
another link. Here word weights and usual lengths are fixed, and a field that is the query itself scores 1 (PICK-13).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.rules.language import Reason, Score, half_up
from honeyguide.core.text.fold import ascii_words, fold, fold_words, raw_words, singular, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_DECIMALS = 6


class TextField(NamedTuple):
    """A field that the query is matched against: its weight, and the length such texts usually have, in words."""

    name: str
    weight: float
    usual_words: float


@dataclass(frozen=True)
class Query:
    """A query and the constants of BM25: `k1` limits what repetition adds, `b` sets what length costs."""

    text: str
    fields: tuple[TextField, ...]
    k1: float = 1.2
    b: float = 0.75

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The distinct words of the query."""
        return tuple(dict.fromkeys(tokens(fold(self.text))))

    @cached_property
    def forms(self) -> Mapping[str | bytes, str]:
        """The spellings that count for each term, singular and plural, as text and as ASCII."""
        spelled = {form: term for term in self.terms for form in (term, f"{term}s") if singular(form) == term}
        both: dict[str | bytes, str] = {form.encode(): term for form, term in spelled.items()}
        return both | spelled

    @cached_property
    def scales(self) -> tuple[Scale, ...]:
        """The constants of each field, computed once."""
        return tuple(self._scale(field) for field in self.fields)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(field.name for field in self.fields)

    def _scale(self, field: TextField) -> Scale:
        fixed, per_word = self.k1 * (1 - self.b), self.k1 * self.b / field.usual_words
        size = len(self.terms)
        best = size / (1 + fixed + per_word * size) or 1.0
        where = f" in {field.name.replace('_', ' ')}"
        unit = field.weight / best
        return Scale(field.name, f"bm25-{field.name}", where, unit, field.weight, fixed, per_word)


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
    """A contextual score and the query words that were found."""

    score: Score
    matched: tuple[str, ...]


_NOTHING = Contextual(Score(0.0), ())


def contextual(query: Query, text_of: Callable[[str], str | None]) -> Contextual:
    """Score texts by field name, case-blind; an unknown text pays nothing, and the score names it."""
    found_texts = list(map(text_of, query.names))
    texts = [text for text in found_texts if text is not None]
    unknown: tuple[str, ...] = ()
    scales = query.scales
    if len(texts) < len(scales):
        pairs = list(zip(scales, found_texts, strict=True))
        unknown = tuple([scale.field for scale, text in pairs if text is None])
        scales = tuple([scale for scale, text in pairs if text is not None])
    # All texts are folded as one. Most have no word of the query, and are not cut into words.
    whole = fold_words(texts)
    present = [term for term in query.terms if term in whole]
    if not present:
        return Contextual(Score(0.0, (), unknown), ()) if unknown else _NOTHING
    reasons: list[Reason] = []
    matched: dict[str, None] = {}
    total = 0.0
    forms = query.forms
    for scale, text in zip(scales, whole.split("\n"), strict=True):
        if not any(term in text for term in present):
            continue
        words = ascii_words(text) if text.isascii() else raw_words(text)
        found = [forms[word] for word in words if word in forms]
        if not found:
            continue
        reached, found = _reach(found, scale.fixed + scale.per_word * len(words))
        points = half_up(min(scale.weight, scale.unit * reached), _DECIMALS)
        total += points
        matched.update(dict.fromkeys(found))
        reasons.append(Reason(scale.rule, points, ", ".join(found) + scale.where))
    return Contextual(Score(half_up(total, _DECIMALS), tuple(reasons), unknown), tuple(matched))


def _reach(found: list[str], norm: float) -> tuple[float, list[str]]:
    """Return the BM25 of the terms found in a text, and each term once."""
    distinct = list(dict.fromkeys(found))
    if len(distinct) == len(found):
        return sum([1 / (1 + norm)] * len(found)), found
    counts = [found.count(term) for term in distinct]
    return sum([count / (count + norm) for count in counts]), distinct
