"""What a user wants from every site, or never: `--want`, `--never`, and `[want]`, `[never]` of a profile, as rules.

Must not know: where the wishes come from. Start reading at `with_wishes`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from honeyguide.core.rules.compile import RuleList
from honeyguide.core.rules.language import AnyOf, Is, Rule, Text
from honeyguide.core.text.fold import fold_case

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from honeyguide.core.rules.language import Condition
    from honeyguide.core.rules.profile import Profile

NEVER = "never"  # the rule that rejects
_TEXTS = ("anchor", "slug", "title", "menu", "heading", "head_title")


def wanted_rules(names: Iterable[str], buckets: Collection[str]) -> RuleList:
    """Make a rule for each wish, whose id is the wish: a page of that bucket, else one that has the word."""
    return RuleList(Rule(name, f"wanted: {name}", when=_condition(name, buckets)) for name in names)


def never_rules(names: Iterable[str], buckets: Collection[str]) -> RuleList:
    """Make the rules that reject pages of a bucket, or with a word."""
    return RuleList(Rule(NEVER, f"never wanted: {name}", when=_condition(name, buckets)) for name in names)


def _condition(name: str, buckets: Collection[str]) -> Condition:
    if name in buckets:
        return Is("bucket", (name,))
    word = fold_case(name)
    words = tuple(dict.fromkeys((word, word.replace("-", " "))))  # slugs are read with spaces
    return AnyOf(tuple(Text(field, "word", words) for field in _TEXTS))


def with_wishes(profile: Profile, strategy_name: str, want: Iterable[str], never: Iterable[str]) -> Profile:
    """Return the profile with wishes for a strategy, in addition to its own."""
    strategy = profile.strategies[strategy_name]
    buckets = profile.kinds_of(strategy).buckets
    wants = RuleList((*strategy.wants.rules, *wanted_rules(want, buckets).rules))
    nevers = RuleList((*strategy.nevers.rules, *never_rules(never, buckets).rules))
    strategies = {**profile.strategies, strategy_name: replace(strategy, wants=wants, nevers=nevers)}
    return replace(profile, strategies=strategies)
