"""Tests of text over whole columns: patterns that mean the same to both engines run in polars, others in Python.

Owns: how `starts`, `ends`, `has`, `word`, `is` and `matches` are written for polars. Must not know: cards, points. Start
reading at `text_test`. A fact may hold several texts, joined by `core.rules.facts.JOIN`: beginnings, ends and whole texts are
searched beside the join. No folded text contains a part of the join; a term that does is left to Python.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from honeyguide.core.rules.facts import FIELDS, JOIN, FactKind
from honeyguide.core.rules.language import Is, Matches, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from honeyguide.core.rules.language import Leaf

_WORDS = "words."  # a column with the text between spaces, so that whole words are substrings


def words_column(field: str) -> pl.Expr:
    """Write a text so that each of its words stands between spaces."""
    column = pl.col(field)
    if _has_parts(field):
        column = column.str.replace_all(JOIN, " | ", literal=True)
    return pl.concat_str([pl.lit(" "), column, pl.lit(" ")]).alias(_WORDS + field)


def text_test(leaf: Leaf) -> pl.Expr:
    """Write the test of a text fact; null where it is unknown."""
    column = pl.col(leaf.field)
    several = _has_parts(leaf.field)
    match leaf:
        case Matches(_, pattern):
            if pattern.terms is not None:
                return _contains(column, pattern.terms)
            same = lowered(pattern.source, several=several)
            if same is not None:
                return column.str.contains(same)
            return _by_python(column, pattern.search, several=several)
        case Is(_, values):
            return _equals(column, [value for value in values if isinstance(value, str)], several=several)
        case Text(field, "word", terms):
            needles = [f" {term[:-1]}" if term.endswith("*") else f" {term} " for term in terms]
            return _contains(pl.col(_WORDS + field), needles)
        case Text(_, "has", terms):
            return _contains(column, terms)
        case Text(_, "starts", terms):
            return _at_edge(column, terms, several=several, at_start=True)
        case Text(_, "ends", terms):
            return _at_edge(column, terms, several=several, at_start=False)
        case _:
            raise TypeError(f"{leaf.field} holds no number")


def _has_parts(field: str) -> bool:
    return field in FIELDS and FIELDS[field].kind is FactKind.TEXTS


def _contains(column: pl.Expr, terms: Sequence[str]) -> pl.Expr:
    if not terms or "" in terms:
        return _wherever_known(column, holds=bool(terms))
    if len(terms) == 1:
        return column.str.contains(terms[0], literal=True)
    return column.str.contains_any(list(terms))


def _at_edge(column: pl.Expr, terms: Sequence[str], *, several: bool, at_start: bool) -> pl.Expr:
    if not terms:
        return _wherever_known(column, holds=False)
    if several and _touches_join(terms):
        listed = tuple(terms)
        return _by_python(
            column,
            (lambda text: text.startswith(listed)) if at_start else (lambda text: text.endswith(listed)),
            several=True,
        )
    tests = [column.str.starts_with(term) if at_start else column.str.ends_with(term) for term in terms]
    if several:
        tests.append(_contains(column, [JOIN + term if at_start else term + JOIN for term in terms]))
    return pl.any_horizontal(tests)


def _equals(column: pl.Expr, values: Sequence[str], *, several: bool) -> pl.Expr:
    if not values:
        return _wherever_known(column, holds=False)
    if several and _touches_join(values):
        return _by_python(column, frozenset(values).__contains__, several=True)
    one = column.is_in(list(values))
    if not several:
        return one
    first = [column.str.starts_with(value + JOIN) for value in values]
    last = [column.str.ends_with(JOIN + value) for value in values]
    return pl.any_horizontal(
        [one, *first, *last, _contains(column, [JOIN + value + JOIN for value in values])]
    )


def _touches_join(terms: Sequence[str]) -> bool:
    return any(char in term for term in terms for char in set(JOIN))


def _wherever_known(column: pl.Expr, *, holds: bool) -> pl.Expr:
    """Write the same answer for every text, null where there is none."""
    length = column.str.len_bytes()
    return length >= 0 if holds else length < 0


def _by_python(column: pl.Expr, test: Callable[[str], bool], *, several: bool) -> pl.Expr:
    """Test in Python, once for each distinct text."""

    def ask(texts: pl.Series) -> pl.Series:
        answers: dict[str | None, bool | None] = {None: None}
        for text in texts.unique():
            if text is not None:
                answers[text] = any(map(test, text.split(JOIN))) if several else test(text)
        return pl.Series(texts.name, [answers[text] for text in texts], dtype=pl.Boolean)

    return column.map_batches(ask, return_dtype=pl.Boolean, is_elementwise=True)


_TOKEN = re.compile(
    r"(?P<plain>[A-Za-z0-9 _/:,;!@%=<>\"'-]|\.|\||\)|\((?:\?:)?(?!\?)|[*+?])"
    r"|(?P<edge>[\^$])"
    r"|(?P<set>\[(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[A-Za-z0-9 _])+\])"
    r"|\\(?P<letter>[dwsb])"
    r"|(?P<sign>\\[.+*?()|\[\]^$/-])"
)
_LETTERS = {"d": "[0-9]", "w": "[0-9A-Za-z_]", "s": "[\\t\\n\\f\\r ]", "b": "(?-u:\\b)"}
_EDGES = {"^": "\\A", "$": "\\z"}


def lowered(source: str, *, several: bool) -> str | None:
    """Translate a pattern to polars' engine; None if it might mean something else there."""
    # A pattern for `several` joined texts must have no edge and no space, which the join is made of.
    written, at = "(?i)", 0
    while at < len(source):
        token = _TOKEN.match(source, at)
        if token is None or (several and (token["edge"] or token["letter"] == "s")):
            return None
        at = token.end()
        written += _EDGES.get(token[0]) or _LETTERS.get(token["letter"] or "") or token[0]
    return written
