"""From checked shapes to a core `Profile`.

Owns: putting the parts together, and checking that what one part names exists in another.
Must not know: files, TOML syntax.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from honeyguide.config.conditions import RELATED, ConditionReader
from honeyguide.config.fields import stable_hash
from honeyguide.config.files import told
from honeyguide.core.page.faults import ContentRules
from honeyguide.core.rules.bm25 import Query, TextField
from honeyguide.core.rules.compile import CompiledCard, RuleList
from honeyguide.core.rules.facts import CARD, FactKind, plain
from honeyguide.core.rules.language import Group, Rule, Scorecard, leaves
from honeyguide.core.rules.profile import (
    Band,
    Bucket,
    CrawlRules,
    FamilyWords,
    Kinds,
    Level,
    Profile,
    Strategy,
    Topic,
    TrapLimits,
    Traversal,
    chain_of,
)
from honeyguide.core.rules.topic import CARDS, SCALE
from honeyguide.core.text.fold import fold
from honeyguide.core.text.pattern import compile_pattern
from honeyguide.core.url.scope import Scope
from honeyguide.core.url.url import Tracking
from honeyguide.errors import ConfigError, PatternError, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from honeyguide.config.check import Checked
    from honeyguide.config.shapes import (
        BandShape,
        BucketShape,
        CardShape,
        DecisionShape,
        FamilyShape,
        ProfileShape,
        RuleShape,
        StrategyShape,
    )


_SOME_TOPIC = "topic"
QUERY_FIELDS = ("head_title", "head_description", "anchor", "slug", "plain_path")


class Builder:
    """Builds one profile; problems of all parts end up in `reader.problems`."""

    def __init__(self, shape: ProfileShape, said: Checked | None) -> None:
        self.shape = shape
        self.said = said
        self.refused: PatternError | None = None
        unsure: frozenset[str] = frozenset() if said is None else said.unsure
        self.topic = self._topic(is_sure="topic" not in unsure)
        terms = {**shape.terms, RELATED: list(shape.topic.related)}
        self.reader = ConditionReader(terms, frozenset(shape.scorecard), self.topic.pattern, unsure)
        self.idle = frozenset(
            name
            for name, card in shape.scorecard.items()
            if self.topic.pattern is None and _reads_topic(card)
        )

    def _topic(self, *, is_sure: bool) -> Topic:
        """Read the topic; any will do where it is not known, since cards that read it are read only with one."""
        shape = self.shape.topic
        pattern = None if is_sure else compile_pattern(_SOME_TOPIC)
        if shape.pattern is not None:
            try:
                pattern = compile_pattern(shape.pattern)
            except PatternError as error:
                self.refused, pattern = error, compile_pattern(_SOME_TOPIC)
        return Topic(pattern, tuple(shape.related))

    def _wrong(self, where: str, what: str) -> None:
        self.reader.problems.append(Problem(where, what))

    def rule(self, shape: RuleShape | DecisionShape, where: str) -> Rule:
        """Read a rule; `points`, `per` and the rest only where a rule may have them."""
        when = self.reader.condition(shape.when, f"{where}.when")
        extras = {name: value for name, value in shape.table().items() if name != "when"}
        per = extras.get("per")
        if per is not None and (kind := self.reader.kind(per, f"{where}.per")) is not FactKind.NUMBER:
            extras["per"] = None  # nothing follows from a fact that is none
            if kind is not None:
                self._wrong(f"{where}.per", f"{per} is not a number")
        return Rule(when=when, **extras)

    def card(self, name: str, shape: CardShape) -> Scorecard:
        """Read a scorecard."""
        where = f"scorecard.{name}"
        ids: set[str] = set()
        groups = []
        for g, group in enumerate(shape.group):
            rules = tuple(
                self.rule(rule, f"{where}.group[{g}].rules[{r}]") for r, rule in enumerate(group.rules)
            )
            for r, rule in enumerate(rules):
                if rule.id in ids:
                    at = f"{where}.group[{g}].rules[{r}].id"
                    self._wrong(at, f"{rule.id!r} is taken; ids are unique within a card")
                ids.add(rule.id)
            groups.append(Group(group.name, group.mode, rules, group.at_most))
        bounds = {} if shape.range is None else {"low": shape.range[0], "high": shape.range[1]}
        if bounds and bounds["low"] > bounds["high"]:
            self._wrong(f"{where}.range", "the first number should not be above the second")
        if name in CARDS and not (bounds and bounds["low"] >= 0 and bounds["high"] <= SCALE):
            self._wrong(f"{where}.range", f"should lie within [0, {SCALE:g}], the scale of topics")
        return Scorecard(name, tuple(groups), shape.base, decimals=shape.decimals, **bounds)

    def decisions(self, shapes: list[DecisionShape], where: str) -> RuleList:
        """Read an ordered list of filters or drops."""
        return RuleList(self.rule(shape, f"{where}[{i}]") for i, shape in enumerate(shapes))

    def strategy(self, name: str, shape: StrategyShape, chains: Mapping[str, tuple[str, ...]]) -> Strategy:
        """Read a strategy, and find out which cards it needs."""
        where = f"strategy.{name}"
        if shape.card not in self.shape.scorecard and "scorecard" not in self.reader.unsure:
            known = ", ".join(sorted(self.shape.scorecard))
            self._wrong(f"{where}.card", f"no scorecard is named {shape.card!r}; there are {known}")
        drops = self.decisions(shape.drop, f"{where}.drop")
        read = [node.field for rule in drops.rules for node in leaves(rule.when)]
        asked = [shape.card, *(name.removeprefix(CARD) for name in read if name.startswith(CARD))]
        return Strategy(
            name,
            shape.card,
            tuple(dict.fromkeys(card for name in asked for card in chains.get(name, ()))),
            shape.cap,
            tuple(shape.order),
            shape.epsilon,
            self.decisions(shape.filter, f"{where}.filter"),
            drops,
            dict(shape.quota),
            shape.reads_heads,
            shape.distinct,
            self.kinds(shape.bucket, f"{where}.bucket") if shape.bucket else None,
        )

    def kinds(self, shapes: list[BucketShape], where: str) -> Kinds:
        """Read buckets; one may have several entries, the first of which sets its priority."""
        rules = [
            Rule(b.name, b.name, when=self.reader.condition(b.when, f"{where}[{i}].when"))
            for i, b in enumerate(shapes)
        ]
        return Kinds(
            RuleList(rules), {b.name: Bucket(b.name, b.priority, b.handicap) for b in reversed(shapes)}
        )

    def families(self, shape: FamilyShape) -> FamilyWords:
        """Read what families are recognised by; `word*` in a list of beginnings is the same as `word`."""

        def folded(name: str) -> tuple[str, ...]:
            return tuple(plain(word) for word in self.reader.words(getattr(shape, name), f"family.{name}"))

        return FamilyWords(
            shape.min_size,
            frozenset(folded("places")),
            frozenset(folded("states")),
            frozenset(folded("before_names")),
            tuple(word.removesuffix("*") for word in folded("no_names")),
            frozenset(folded("generic")),
        )

    def cards(self) -> dict[str, Scorecard]:
        """Read all cards; idle ones, which need a topic, only for mistakes in them, of which our own have none."""
        shapes = self.shape.scorecard.items()
        return {name: self.card(name, s) for name, s in shapes if self.said or name not in self.idle}

    def chains(self, cards: dict[str, Scorecard]) -> dict[str, tuple[str, ...]]:
        """Order the cards that read each other; a circle is told at one of its cards."""
        chains = {}
        circles = set()
        for name in cards:
            try:
                chain = chain_of(name, cards)
            except ValueError as error:
                circle = frozenset(str(error).split(" -> "))
                if str(error).endswith(f" -> {name}") and circle not in circles:
                    circles.add(circle)
                    self._wrong(f"scorecard.{name}", f"cards read each other in a circle: {error}")
                continue
            if name in self.idle:
                continue
            if not self.idle.isdisjoint(chain):
                self._wrong(f"scorecard.{name}", "reads a card that needs a topic")
            chains[name] = chain
        return chains

    def refuse(self, file: str) -> None:
        """Tell everything that is wrong, if anything is: first what was said of the structure, then what was found here."""
        said = self.said
        found = [one for one in self.reader.problems if said is None or said.is_news(one)]
        if self.refused is not None:
            found.insert(0, Problem("topic.pattern", str(self.refused)))
        problems = [*(said.problems if said else ()), *found]
        alone = self.refused or (said.broken if said else None)
        if alone is not None and len(problems) == 1:
            raise alone
        if problems:
            raise ConfigError(file, told(problems))


def build(
    shape: ProfileShape, file: str, own: ProfileShape | None = None, said: Checked | None = None
) -> Profile:
    """Put a profile together, or tell everything that is wrong with it.

    `own` is what it says without another's topic; `said` is what checking it came to, unless it is one of ours.
    """
    builder = Builder(shape, said)
    cards = builder.cards()
    chains = builder.chains(cards)
    full_hash = stable_hash(shape)
    profile = Profile(
        name=shape.name,
        description=shape.description,
        hash=full_hash,
        own_hash=full_hash if own is None else stable_hash(own),
        scope=Scope(
            frozenset(e.lower().lstrip(".") for e in shape.scope.skip_extensions),
            Tracking(tuple(shape.scope.tracking)),
        ),
        cards={name: CompiledCard(card) for name, card in cards.items() if name not in builder.idle},
        chains=chains,
        filters=builder.decisions(shape.filter, "filter"),
        skips=builder.decisions(shape.skip, "skip"),
        kinds=builder.kinds(shape.bucket, "bucket"),
        families=builder.families(shape.family),
        content=ContentRules(
            shape.content.min_text_chars,
            shape.content.min_own_chars,
            builder.reader.words(shape.content.gone, "content.gone"),
            builder.reader.words(shape.content.keywords, "content.keywords"),
        ),
        strategies={name: builder.strategy(name, s, chains) for name, s in shape.strategy.items()},
        traversals={
            n: Traversal(n, _bands(t.links), _bands(t.pages), t.tunnel, t.moves_up, t.order, t.lookahead)
            for n, t in shape.traversal.items()
        },
        levels=tuple(
            Level(lv.name, lv.at_least, lv.advice)
            for lv in sorted(shape.plan.levels, key=lambda lv: -lv.at_least)
        ),
        query=_query(shape, builder.reader.problems),
        topic=builder.topic,
        crawl=CrawlRules(**shape.crawl.table()),
        traps=_traps(shape),
    )
    builder.refuse(file)
    return profile


def _traps(shape: ProfileShape) -> TrapLimits:
    """Read where traps are recognised; words are compared folded."""
    table = shape.traps.table()
    for name in ("sessions", "soft_404"):
        table[name] = tuple(fold(word) for word in table[name])
    return TrapLimits(**table)


def _query(shape: ProfileShape, problems: list[Problem]) -> Query:
    allowed = f"allowed are {', '.join(QUERY_FIELDS)}"
    problems.extend(
        Problem(f"query.fields.{name}", allowed) for name in shape.query.fields if name not in QUERY_FIELDS
    )
    fields = tuple(TextField(n, f.weight, f.usual_words) for n, f in shape.query.fields.items())
    return Query(shape.query.text, fields, shape.query.k1, shape.query.b)


def _bands(shapes: list[BandShape]) -> tuple[Band, ...]:
    return tuple(Band(b.at_least, b.lane, b.bonus) for b in sorted(shapes, key=lambda b: -b.at_least))


def _reads_topic(shape: CardShape) -> bool:
    return any(
        "$topic" in json.dumps(rule.when, default=str) for group in shape.group for rule in group.rules
    )
