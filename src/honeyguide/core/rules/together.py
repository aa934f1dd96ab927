"""Scores of many links at once, each the score that the card gives the link alone. Start reading at `Together`.

The texts of all links are searched as one, with a line for each: one search for a word answers for every link. Links for
which all tests of a card have the same answers have the same score, so the card computes each score once.
Must not know: pages, which rules exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.rules.facts import FIELDS, FILL, JOIN, FactKind
from honeyguide.core.rules.language import Matches, Text, leaves
from honeyguide.core.rules.lines import PageLines
from honeyguide.core.text.pattern import may_occur

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from honeyguide.core.page.page import Head, Link
    from honeyguide.core.rules.compile import RuleList
    from honeyguide.core.rules.facts import Facts, Value
    from honeyguide.core.rules.language import Leaf, Score, Scorecard
    from honeyguide.core.text.pattern import Pattern

_OUTCOMES = 4_096  # of a card that are remembered
_BREAKS = frozenset(JOIN)


class Together:
    """A card for many links; `score_link` scores one of them."""

    def __init__(self, card: Scorecard, score_link: Callable[[Link, Head | None], Score]) -> None:
        self._score_link = score_link
        self._known: dict[Hashable, Score] = {}
        rules = [rule for group in card.groups for rule in group.rules]
        tests: dict[str, list[Leaf]] = {}
        for leaf in dict.fromkeys(leaf for rule in rules for leaf in leaves(rule.when)):
            tests.setdefault(leaf.field, []).append(leaf)
        # Facts that no link has are unknown for all. A rule that pays by a number pays each link something else.
        self._tests = [_field_tests(field, tests[field]) for field in tests if field in FILL]
        self._is_shared = bool(self._tests) and all(rule.per is None for rule in rules)

    def scores(self, links: Sequence[Link], texts: Mapping[str, str]) -> list[Score]:
        """Score links; `texts` contains the folded text of every fact of every link."""
        if not links or not self._is_shared:
            return [self._score_link(link, None) for link in links]
        lines = PageLines(links)
        columns = [_answers(tests, lines, texts.get(tests.field)) for tests in self._tests]
        known, scores = self._known, []
        for link, answers in zip(links, zip(*columns, strict=True), strict=True):
            score = known.get(answers)
            if score is None:
                if len(known) >= _OUTCOMES:
                    known.clear()
                score = known[answers] = self._score_link(link, None)
            scores.append(score)
        return scores


class _FieldTests(NamedTuple):
    """The tests of one fact, each a bit: what lines must have, with their ends, or match; None if only the fact itself decides."""

    field: str
    parts: list[tuple[str, int]] | None
    patterns: list[tuple[Pattern, int]]
    terms: list[str]  # of which one must occur if any test holds; none if there are patterns


def _field_tests(field: str, tests: Sequence[Leaf]) -> _FieldTests:
    is_text = FIELDS[field].kind in (FactKind.TEXT, FactKind.TEXTS) and not FIELDS[field].may_be_unknown
    parts: list[tuple[str, int]] = []
    patterns: list[tuple[Pattern, int]] = []
    terms: list[str] = []
    for number, leaf in enumerate(tests):
        bit = 1 << number
        if is_text and isinstance(leaf, Matches) and leaf.pattern.terms is None:
            patterns.append((leaf.pattern, bit))
        elif is_text and (sought := _sought(leaf)) is not None:
            before, words, after = sought
            parts += [(f"{before}{word}{after}", bit) for word in words]
            terms += words
        else:
            return _FieldTests(field, None, [], [])
    return _FieldTests(field, parts, patterns, [] if patterns else terms)


def _sought(leaf: Leaf) -> tuple[str, tuple[str, ...], str] | None:
    """Return the words that a test looks for, and the line ends that they must stand at; None for other tests."""
    if isinstance(leaf, Matches):
        before, words, after = "", leaf.pattern.terms or (), ""
    elif isinstance(leaf, Text) and leaf.test != "word":
        before, after = {"has": ("", ""), "starts": ("\n", ""), "ends": ("", "\n")}[leaf.test]
        words = leaf.terms
    else:
        return None
    return (before, words, after) if all(word and _BREAKS.isdisjoint(word) for word in words) else None


def _answers(tests: _FieldTests, page: PageLines, text: str | None) -> Sequence[Hashable]:
    """Return, for each link, the bits of the tests of a fact that hold, or the fact itself if only that decides."""
    if tests.parts is None:
        return _facts(tests.field, page.links)
    answers = [0] * len(page.links)
    if text is not None and not tests.patterns and not may_occur(tests.terms, text):
        return answers
    lines = page[tests.field]
    owners: Sequence[int] = ()
    for line, bit in _found(tests, lines.text):
        owners = owners or lines.owners()
        answers[owners[line]] |= bit
    return answers


def _facts(field: str, links: Sequence[Link]) -> list[Value]:
    fill = FILL[field]
    # Plain text, because the hash of an enumeration is slow.
    return [str.__str__(fact) if isinstance(fact := fill(link, None), str) else fact for link in links]


def answer_name(test: Matches) -> str:
    """Name the answer to a test, as rows keep it beside their facts."""
    return f"{test.field} matches {test.pattern.source}"


def answer_together(rows: Sequence[Facts], lists: Iterable[RuleList]) -> None:
    """Answer the patterns of rule lists for many rows at once: a search for each of them costs more than all other tests."""
    tests: dict[str, dict[str, Pattern]] = {}
    for test in (test for rules in lists for test in rules.patterns):
        tests.setdefault(test.field, {})[answer_name(test)] = test.pattern
    for field, patterns in tests.items():
        if field not in FILL and field != "home_path":
            continue  # whoever knows the fact adds it later
        lines = "\n".join([str(row[field] or "") for row in rows])
        if lines.count("\n") != len(rows) - 1:
            continue  # of several texts, each is searched
        no_match = dict.fromkeys(patterns, False)
        for row in rows:
            row.update(no_match)
        for name, pattern in patterns.items():
            for number in pattern.which(lines):
                rows[number][name] = True


def _found(tests: _FieldTests, lines: str) -> Iterator[tuple[int, int]]:
    """Find the lines for which a test holds: gives their numbers, with the bit of the test."""
    whole = f"\n{lines}\n"
    for part, bit in tests.parts or ():
        line, counted, at = -1, 0, whole.find(part)
        while at >= 0:
            end = whole.find("\n", at + 1)
            line += whole.count("\n", counted, at + 1)
            yield line, bit
            counted, at = at + 1, whole.find(part, end)
    for pattern, bit in tests.patterns:
        for line in pattern.which(lines):
            yield line, bit
