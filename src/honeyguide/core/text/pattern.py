"""Topic patterns: regular expressions from strangers, matched in linear time by RE2, which only this module imports.

Must not know: rules, pages. Start reading at `compile_pattern`. Patterns match folded text. A pattern of plain words,
separated by bars, is searched by substring tests, which are several times faster and, by the choice of folding, mean
the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, permutations
from typing import TYPE_CHECKING, Any

from honeyguide.core.text.fold import HALF, fold_case
from honeyguide.core.why import Why
from honeyguide.errors import PatternError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_PATTERN_CHARS = 4_000  # a topic is a line, not a file
# RE2 is linear, but each character may cost as many steps as a pattern has. Words cost one or two, however many there are;
# the rest must fit into the memory for states, or a page of a million characters takes 10 to 50 seconds instead of two.
MAX_STEPS = 1_500  # of a compiled pattern, besides those of its words
_MAX_PROGRAM_BYTES = 8 << 20  # of memory that RE2 may use for a compiled pattern
_WORD = re.compile(r"\\.|\[[^\]]*\]|\{[^}]*\}|([^\W_]{2,30})")
_MANY_TERMS = 40  # from here on, RE2 is faster than trying one alternative after the other
_MANY_LETTERS = 400  # in all terms: from here on, trying each of them at each character may take seconds
_FEW_TERMS = 16  # up to here, counting term by term is faster than the engine
_SPECIAL = set("\\.^$*+?()[]{}")
# An escape, or a class with all that is in it.
_ESCAPE = re.compile(r"\\.|\[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]", re.DOTALL)
# A pattern that matches all texts of one of these rows says nothing about a page.
_PROBES = (
    ("",),
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
    # The texts in which two terms share letters; None if there are too many to count term by term.
    joints: tuple[str, ...] | None = field(default=None, repr=False, compare=False)
    # The same for text with a line for each of many texts; None if it would not find the same.
    line_engine: Any = field(default=None, repr=False, compare=False)

    def search(self, folded: str) -> bool:
        """Return whether the pattern occurs."""
        if self.terms is not None:
            return any(term in folded for term in self.terms)
        try:
            return self.engine.search(folded.encode()) is not None  # bytes: RE2 then counts no characters
        except UnicodeEncodeError:  # the engine cannot read half characters
            return self.engine.search(HALF.sub("\ufffd", folded).encode()) is not None

    def which(self, lines: str) -> list[int]:
        """Return the numbers of the folded lines in which the pattern occurs; all are searched at once if that finds the same."""
        if self.line_engine is None or HALF.search(lines):
            return [number for number, line in enumerate(lines.split("\n")) if self.search(line)]
        data = lines.encode()
        found, number, counted = [], 0, 0
        for match in self.line_engine.finditer(data):
            start = match.start()
            number += data.count(b"\n", counted, start)
            counted = start
            found.append(number)
        return list(dict.fromkeys(found))

    def count(self, folded: str, limit: int = 1_000) -> int:
        """Count occurrences that do not overlap, up to `limit`."""
        if self.joints is not None and self.terms is not None:
            counts = [count for term in self.terms if (count := folded.count(term))]
            if len(counts) <= 1 or not any(joint in folded for joint in self.joints):
                return min(sum(counts), limit)  # terms that share no letters can be counted one by one
        try:
            return sum(1 for _ in islice(self.engine.finditer(folded), limit))
        except UnicodeEncodeError:
            return self.count(HALF.sub("\ufffd", folded), limit)


def may_occur(terms: Iterable[str], text: str) -> bool:
    """Tell whether one of some terms may stand in lines of a folded text, however those are joined: all its words are there.

    >>> may_occur(["fire alarm"], "alarms and fire"), may_occur(["fire alarm"], "alarms")
    (True, False)
    """
    return any(all(word in text for word in term.split(" ")) for term in terms)


@lru_cache(maxsize=256)
def compile_pattern(source: str) -> Pattern:
    """Compile a topic pattern; a `PatternError` has position and advice.

    >>> compile_pattern("(a+)+$").search("a" * 30 + "b")
    False
    """
    if len(source) > MAX_PATTERN_CHARS:
        why = f"longer than {MAX_PATTERN_CHARS} characters"
        raise PatternError(source, why, hint="use fewer alternatives")
    if HALF.search(source):  # as from a command line that is not UTF-8: no engine and no store can hold it
        raise PatternError(source, "contains half a character", hint="write it in UTF-8")
    # Escapes keep their case, because `\W` and `\w` differ; the engine itself ignores case.
    folded = "".join(char if char.isascii() else fold_case(char) for char in source)
    if not folded.strip():
        raise PatternError(source, "empty", hint="write words, such as fire|alarm")
    return _literal(source, folded) if _SPECIAL.isdisjoint(folded) else _regular(source, folded)


def same_source(source: str) -> str:
    r"""Write a pattern as all its spellings in upper and lower case are written; escapes, classes and flags keep theirs.

    >>> same_source("Asyncio|Event Loop"), same_source(r"\W+API"), same_source("(?U)API")
    ('asyncio|event loop', '\\W+api', '(?U)API')
    """
    if "(?" in source:
        return source
    at, parts = 0, []
    for kept in _ESCAPE.finditer(source):
        parts += [source[at : kept.start()].lower(), kept[0]]
        at = kept.end()
    return "".join([*parts, source[at:].lower()])


def _literal(source: str, folded: str) -> Pattern:
    """Compile alternatives of plain words with the standard engine, because nothing in them can backtrack."""
    terms = tuple(fold_case(term) for term in folded.split("|"))
    if "" in terms:
        why, doubled = "an empty alternative matches everything", source.find("||")
        position = doubled if doubled >= 0 else 0 if source.startswith("|") else len(source) - 1
        raise PatternError(source, why, position=position, hint="remove the extra |")
    joints = _joints(terms) if len(terms) < _MANY_TERMS else None
    if len(terms) < _MANY_TERMS and len(folded) <= _MANY_LETTERS:
        return Pattern(source, terms, re.compile("|".join(map(re.escape, terms))), joints)
    return Pattern(source, terms, _compile(source, "|".join(map(re.escape, terms))), joints)


def _joints(terms: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the texts in which two terms share letters: one contains another, or ends as another begins.

    >>> _joints(("fire", "alarm")), _joints(("fire", "fire alarm")), _joints(("coroutine", "event loop"))
    ((), ('fire alarm',), ('coroutinevent loop',))
    """
    if len(terms) > _FEW_TERMS:
        return None
    found: dict[str, None] = {}
    for one, other in permutations(terms, 2):
        if one in other:
            found[other] = None
        for size in range(1, len(other)):
            if one.endswith(other[:size]):
                found[one + other[size:]] = None
    return tuple(found) if len(found) <= _FEW_TERMS else None


def _word_boundary(found: re.Match[str]) -> str:
    """Write the word boundaries of `grep -E` as RE2 does; its words have ASCII letters only. The "or" of plain `grep` is refused."""
    if found[0] == r"\|":
        why, hint = (
            r"\| is the character |, not 'or'",
            "write | between alternatives, or [|] for the character",
        )
        raise PatternError(found.string, why, position=found.start(), hint=hint)
    if found[0] not in (r"\<", r"\>"):
        return found[0]
    beside = found.string[found.end() :][:1] if found[0] == r"\<" else found.string[: found.start()][-1:]
    if not beside.isascii():
        why = rf"{found[0]} beside {beside} never matches, because words end at letters outside ASCII"
        raise PatternError(found.string, why, position=found.start(), hint=f"leave {found[0]} out")
    return r"\b"


def _regular(source: str, folded: str) -> Pattern:
    engine = _compile(source, folded)
    if any(all(map(engine.search, probes)) for probes in _PROBES):
        raise PatternError(source, "matches everything", hint="name at least one word, such as fire.*alarm")
    # With `(?m)`, lines begin and end as texts do; what is about the whole text, or turns that off, stays with single texts.
    is_local = not re.search(r"\\[AzQ]|\(\?(?!:)", folded)
    return Pattern(
        source, None, engine, line_engine=_compile(source, f"(?m){folded}", lines=True) if is_local else None
    )


def _compile(source: str, folded: str, *, lines: bool = False) -> Any:
    """Compile with RE2; refuse a pattern that takes too many steps for each character. With `lines`, no match crosses lines."""
    import re2  # here, because it is a compiled library that most topics never need

    folded = _ESCAPE.sub(_word_boundary, folded)
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _MAX_PROGRAM_BYTES
    options.never_nl = lines
    try:
        engine = re2.compile(folded, options=options)
    except re2.error as error:
        raise _refusal(source, error) from None
    words = {match[1] for match in _WORD.finditer(folded) if match[1]}
    steps = engine.programsize - len("".join(words).encode())
    if steps > MAX_STEPS:
        why = (
            f"takes up to {steps:,} steps for each character of a page, and at most {MAX_STEPS:,} are allowed"
        )
        raise PatternError(source, why, hint="use fewer or smaller repetitions, such as .{0,50}")
    return engine


# What RE2 refuses, and advice for people who know other engines.
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


def _refusal(source: str, error: Exception) -> PatternError:
    message = error.args[0] if error.args else ""
    text = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
    why, _, fragment = text.partition(": ")
    advice = (hint for text in (why, fragment) for mark, hint in _ADVICE if mark in text)
    hint = next(advice, "see the guide to patterns")
    return PatternError(source, why, position=_position(source, why, fragment), hint=hint)


def _position(source: str, why: str, fragment: str) -> int | None:
    """Say where a pattern is wrong; of a group that is not closed, RE2 names only the whole pattern."""
    if why == "missing )":
        opened: list[int] = []
        plain = _ESCAPE.sub(lambda found: " " * len(found[0]), source)
        for at, sign in enumerate(plain):
            if sign == "(":
                opened.append(at)
            elif sign == ")" and opened:
                opened.pop()
        return opened[-1] if opened else None
    return source.find(fragment) if fragment and fragment in source else None


def rejected_by_patterns(text: str, include: Sequence[Pattern], exclude: Sequence[Pattern]) -> Why | None:
    """Say why a folded URL is rejected: it matches no pattern of `include`, or one of `exclude`."""
    if include and not any(pattern.search(text) for pattern in include):
        return Why("include", f"URL does not match --include {' or '.join(one.source for one in include)}")
    excluding = next((pattern for pattern in exclude if pattern.search(text)), None)
    return Why("exclude", f"URL matches --exclude {excluding.source}") if excluding else None
