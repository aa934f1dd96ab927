"""Topic patterns: regular expressions from strangers, matched in linear time.

Owns: `Pattern`, `compile_pattern`, and the regex engine (RE2), which nothing else imports.
Must not know: rules, pages. Start reading at `compile_pattern`.

A pattern is matched against folded text (`core.text.fold`). A pattern that is only alternatives of plain words never
reaches the engine: substring tests are several times faster and, by the choice of folding, mean the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, permutations
from typing import Any

from honeyguide.core.text.fold import HALF, fold_case
from honeyguide.errors import PatternError

MAX_PATTERN_CHARS = 4_000  # a topic is a line, not a file
_MAX_PROGRAM_BYTES = 4 << 20  # what RE2 may spend on a compiled pattern
MAX_PROGRAM_STEPS = 16_000  # of a compiled pattern; the most words that fit into a pattern make 12,000
_MANY_TERMS = 40  # from here on, trying one alternative after the other costs more than the engine
_FEW_TERMS = 16  # more are found faster by the engine, all at once
_SPECIAL = set("\\.^$*+?()[]{}")
# A pattern that matches all of one of these says nothing about a page: any character, any frequent letter.
_PROBES = (
    ("a", "0", " ", "-", "接", "ж", "~"),
    tuple(f"~{c}~" for c in "etaoin"),
    tuple(f"~{c}~" for c in "оеаинт"),
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled topic: `search` and `count` on folded text."""

    source: str
    terms: tuple[str, ...] | None
    engine: Any = field(repr=False, compare=False)
    is_short: bool = field(default=False, repr=False, compare=False)  # of few terms
    joints: tuple[str, ...] = field(default=(), repr=False, compare=False)  # where two of them share letters

    def search(self, folded: str) -> bool:
        """Say whether the pattern occurs.

        >>> compile_pattern("API|接口").search("rest api")
        True
        """
        if self.terms is not None:
            return any(term in folded for term in self.terms)
        try:
            return self.engine.search(folded) is not None
        except UnicodeEncodeError:
            return self.engine.search(_without_halves(folded)) is not None

    def count(self, folded: str, limit: int = 1_000) -> int:
        """Count occurrences that do not overlap, up to `limit`.

        >>> compile_pattern("fire|fire alarm").count("fire alarm, fire door")
        2
        """
        if self.is_short and self.terms is not None:
            counts = [count for term in self.terms if (count := folded.count(term))]
            if len(counts) <= 1 or not any(joint in folded for joint in self.joints):
                return min(sum(counts), limit)  # terms that share no letter can be counted one by one
        try:
            return sum(1 for _ in islice(self.engine.finditer(folded), limit))
        except UnicodeEncodeError:
            return self.count(_without_halves(folded), limit)


@lru_cache(maxsize=256)
def compile_pattern(source: str) -> Pattern:
    """Compile a topic pattern, or refuse it with position and advice.

    >>> compile_pattern("(a+)+$").search("a" * 30 + "b")
    False
    """
    if len(source) > MAX_PATTERN_CHARS:
        raise PatternError(
            source, f"longer than {MAX_PATTERN_CHARS} characters", hint="use fewer alternatives"
        )
    if HALF.search(source):  # as from a command line that is no UTF-8: no engine and no store can hold it
        raise PatternError(source, "contains half a character", hint="write it in UTF-8")
    folded = _fold_source(source)
    if not folded.strip():
        raise PatternError(source, "empty", hint="write words, such as fire|alarm")
    if _SPECIAL.isdisjoint(folded):
        return _literal(source, folded)
    return _regular(source, folded)


def _fold_source(source: str) -> str:
    r"""Fold letters but keep escapes: `\W` and `\w` differ. The engine itself ignores case."""
    return source if source.isascii() else "".join(c if c.isascii() else fold_case(c) for c in source)


def _literal(source: str, folded: str) -> Pattern:
    """Alternatives of plain words: trusted to the standard engine, because nothing in them can backtrack."""
    terms = tuple(fold_case(term) for term in folded.split("|"))
    if "" in terms:
        raise PatternError(
            source,
            "an empty alternative matches everything",
            position=_empty_at(source),
            hint="remove the extra |",
        )
    # Many alternatives are left to the linear engine, whose cost does not grow with them.
    if len(terms) < _MANY_TERMS:
        engine = re.compile("|".join(map(re.escape, terms)))
        joints = _joints(terms) if len(terms) <= _FEW_TERMS else ()
        return Pattern(source, terms, engine, len(terms) <= _FEW_TERMS >= len(joints), joints)
    import re2  # as below

    return Pattern(source, terms, re2.compile("|".join(map(re2.escape, terms))))


def _joints(terms: tuple[str, ...]) -> tuple[str, ...]:
    """Give the texts in which two terms share letters: one holds another, or ends as another begins.

    >>> _joints(("fire", "alarm")), _joints(("fire", "fire alarm")), _joints(("coroutine", "event loop"))
    ((), ('fire alarm',), ('coroutinevent loop',))
    """
    found: dict[str, None] = {}
    for one, other in permutations(terms, 2):
        if one in other:
            found[other] = None
        for size in range(1, len(other)):
            if one.endswith(other[:size]):
                found[one + other[size:]] = None
    return tuple(found)


def _without_halves(text: str) -> str:
    """Replace halves of characters, which the engine cannot read."""
    return HALF.sub("\ufffd", text)


def _empty_at(source: str) -> int:
    """Where the bar stands that makes an empty alternative."""
    doubled = source.find("||")
    if doubled >= 0:
        return doubled
    return 0 if source.startswith("|") else len(source) - 1


def _regular(source: str, folded: str) -> Pattern:
    import re2  # a compiled library that plain topics never need

    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _MAX_PROGRAM_BYTES
    try:
        engine = re2.compile(folded, options=options)
        if engine.programsize > MAX_PROGRAM_STEPS:
            raise PatternError(source, "too large", hint="use fewer alternatives or smaller repetitions")
        matches_all = engine.search("") is not None or any(
            all(map(engine.search, probes)) for probes in _PROBES
        )
    except re2.error as error:
        raise _refusal(source, _sentence(error)) from None
    if matches_all:
        raise PatternError(source, "matches everything", hint="name at least one word, such as fire.*alarm")
    return Pattern(source, None, engine)


def _sentence(error: Exception) -> str:
    """Read the engine's message, which arrives as bytes."""
    first = error.args[0] if error.args else ""
    return first.decode("utf-8", "replace") if isinstance(first, bytes) else str(first)


# What RE2 refuses, in the words of somebody who only knows other engines.
_ADVICE = (
    ("(?=", "look-aheads are not linear-time; list the alternatives instead"),
    ("(?!", "look-aheads are not linear-time; list the alternatives instead"),
    ("(?<", "look-behinds are not linear-time; list the alternatives instead"),
    ("\\", "back references and unknown escapes are not supported; \\d \\w \\s \\b and \\. are"),
    ("missing )", "close the group with )"),
    ("missing ]", "close the class with ]"),
    ("unexpected )", "open the group with ( or escape it: \\)"),
    ("no argument for repetition", "put something before it, or escape it with \\"),
    ("invalid repetition size", "repeat at most 1000 times"),
    ("pattern too large", "use fewer alternatives or smaller repetitions"),
)


def _refusal(source: str, message: str) -> PatternError:
    why, _, fragment = message.partition(": ")
    hint = next(
        (advice for mark, advice in _ADVICE if mark in fragment or mark in why), "see the guide to patterns"
    )
    at = source.find(fragment) if fragment else -1
    return PatternError(source, why, position=at if at >= 0 else None, hint=hint)
