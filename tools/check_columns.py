"""Show that the row and the column evaluator agree, on random facts, for every card of every shipped profile.

    python tools/check_columns.py [--rows 1000000] [--profile NAME ...] [--topic PATTERN] [--seed 1]

Compares the value, every reason and what was not known, of every row. A card that two profiles share is checked once.
Texts are made of the words that the rules ask for, in all places, so that most rules hold for some rows.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from typing import TYPE_CHECKING

from honeyguide import load_profile
from honeyguide.bulk.columns import fact_frame, read_scores, score_columns
from honeyguide.config import bundled_profiles
from honeyguide.core.rules.facts import CARD, FIELDS, JOIN, FactKind, Facts
from honeyguide.core.rules.language import Is, Matches, Text, fields_read, leaves

if TYPE_CHECKING:
    from collections.abc import Callable

    from honeyguide.core.rules.facts import Value
    from honeyguide.core.rules.profile import Profile

_BATCH = 50_000
_NOISE = ("x", "and", "contact us", "2024", "müller", "接口", "a-b", "page")
_NUMBERS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 2.0, 3.0, 4.0, 5.0, 9.0, 10.0, 3599.0, 3600.0, 86399.999999,
            86400.0, 604800.0, 604801.0)  # fmt: skip


def words_of(profile: Profile, card: str) -> list[str]:
    """Collect what the rules of a card look for."""
    found = set(_NOISE)
    for rule in (rule for group in profile.cards[card].card.groups for rule in group.rules):
        for leaf in leaves(rule.when):
            if isinstance(leaf, Text):
                found.update(term.rstrip("*") for term in leaf.terms)
            elif isinstance(leaf, Is):
                found.update(value for value in leaf.values if isinstance(value, str))
            elif isinstance(leaf, Matches):
                found.update(leaf.pattern.source.replace("|", " ").split())
    return sorted(found)


def maker(names: list[str], words: list[str], rng: random.Random) -> Callable[[], dict[str, Value]]:
    """Return a function that makes a row of random facts."""

    def text() -> str:
        glue = rng.choice(("", " ", " ", "-", "/"))
        return glue.join(rng.choices(words, k=rng.choice((0, 1, 1, 2, 3))))

    def number() -> float:
        return rng.choice(_NUMBERS) if rng.random() < 0.7 else rng.random() * 10 ** rng.randrange(7)

    kinds: dict[FactKind, Callable[[], Value]] = {
        FactKind.TEXT: text,
        FactKind.TEXTS: lambda: JOIN.join(dict.fromkeys(text() for _ in range(rng.choice((1, 1, 1, 2, 3))))),
        FactKind.NUMBER: number,
        FactKind.FLAG: lambda: rng.random() < 0.5,
    }
    fills = [(name, kinds[FIELDS[name].kind]) for name in names]
    return lambda: {name: None if rng.random() < 0.1 else fill() for name, fill in fills}


def check(profile: Profile, card: str, rows: int, seed: int) -> tuple[int, float, float]:
    """Compare one card; returns disagreements, and the seconds of rows and of columns."""
    chain = profile.chains[card]
    cards = [profile.cards[name].card for name in chain]
    names = list(dict.fromkeys(n for c in cards for n in fields_read(c) if not n.startswith(CARD)))
    make = maker(names, words_of(profile, card), random.Random(seed))  # noqa: S311 - made-up facts
    wrong, by_rows, by_columns = 0, 0.0, 0.0
    for start in range(0, rows, _BATCH):
        facts = [make() for _ in range(min(_BATCH, rows - start))]
        frame = fact_frame(facts, names)
        began = time.process_time()
        expected = [profile.scores(chain, Facts(None, None, **row))[card] for row in facts]
        middle = time.process_time()
        scored = score_columns(frame.lazy(), cards).collect()
        by_rows, by_columns = by_rows + middle - began, by_columns + time.process_time() - middle
        got = read_scores(scored, cards[-1])
        wrong += sum(one != other for one, other in zip(expected, got, strict=True))
    return wrong, by_rows, by_columns


def main() -> int:
    """Check all cards; the exit code says whether all agreed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--profile", action="append", choices=bundled_profiles())
    parser.add_argument("--topic", default="fire|al.rm|inspection")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    seen: list[object] = []
    failed = False
    for name in args.profile or bundled_profiles():
        profile = load_profile(name, topic=args.topic)
        for card, chain in profile.chains.items():
            what = [profile.cards[link].card for link in chain]
            if what in seen:
                sys.stdout.write(f"{name} {card}: as before\n")
                continue
            seen.append(what)
            wrong, rows, columns = check(profile, card, args.rows, args.seed)
            failed = failed or wrong > 0
            sys.stdout.write(
                f"{name} {card}: {args.rows:,} rows, {wrong} differ; rows {rows:.1f} s, columns {columns:.2f} s\n"
            )
            sys.stdout.flush()
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
