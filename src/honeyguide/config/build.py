"""From checked shapes to a core `Profile`: what one part names must exist in another. Start reading at `build`.

Must not know: files, TOML syntax.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from honeyguide.config.conditions import RELATED, ConditionReader
from honeyguide.config.files import limit_problems, public_suffixes, suggestion
from honeyguide.config.shapes import stable_hash
from honeyguide.core.page.faults import ContentRules
from honeyguide.core.pick.wishes import never_rules, wanted_rules
from honeyguide.core.rules import profile as core
from honeyguide.core.rules.bm25 import Query, TextField
from honeyguide.core.rules.compile import CompiledCard, RuleList
from honeyguide.core.rules.facts import CARD, FactKind, plain
from honeyguide.core.rules.language import Group, Rule, Scorecard, fields_read, leaves
from honeyguide.core.rules.topic import SCALES
from honeyguide.core.text.fold import fold
from honeyguide.core.text.pattern import compile_pattern, same_source
from honeyguide.core.url.scope import Scope
from honeyguide.core.url.url import Tracking
from honeyguide.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from honeyguide.config import shapes


_Entry = TypeVar("_Entry")
MAX_RULES = 1_000  # of a card: over columns, twice as many take fifteen times as long
QUERY_FIELDS = ("head_title", "head_description", "anchor", "slug", "plain_path")


def build(shape: shapes.ProfileShape, file: str, own: shapes.ProfileShape | None = None) -> core.Profile:
    """Put a profile together, or raise all mistakes of meaning at once.

    `own` is what the profile says without a topic from elsewhere, if `shape` has one.
    """
    builder = _Builder(shape)
    cards = {name: builder.card(name, card) for name, card in shape.scorecard.items()}
    chains = builder.chains(cards)
    profile_hash = stable_hash(replace(shape, topic=_same_topic(shape.topic)))
    profile = core.Profile(
        name=shape.name,
        description=shape.description,
        hash=profile_hash,
        own_hash=profile_hash if own is None else stable_hash(own),
        scope=Scope(
            frozenset(e.lower().lstrip(".") for e in shape.scope.skip_extensions),
            Tracking(tuple(shape.scope.tracking)),
            suffixes=public_suffixes,
        ),
        cards={name: CompiledCard(card) for name, card in cards.items() if name not in builder.idle},
        chains=chains,
        filters=builder.decisions(shape.filter, "filter"),
        skips=builder.skips,
        kinds=builder.kinds(shape.bucket, "bucket"),
        families=builder.families(),
        content=ContentRules(
            shape.content.min_text_chars,
            shape.content.min_own_chars,
            *(builder.words("content", name) for name in ("gone", "keywords", "legal")),
        ),
        strategies={name: builder.strategy(name, s, chains) for name, s in shape.strategy.items()},
        traversals={name: builder.traversal(name, t) for name, t in shape.traversal.items()},
        levels=_from_highest(core.Level, shape.plan.levels),
        query=builder.query(),
        topic=builder.topic,
        crawl=core.CrawlRules(**shape.crawl.table()),
        traps=builder.traps(),
    )
    if problems := builder.reader.problems:
        raise ConfigError(file, limit_problems(problems))
    return profile


def _same_topic(topic: shapes.TopicShape) -> shapes.TopicShape:
    """Give a topic as it is hashed: case means nothing in it."""
    return topic if topic.pattern is None else replace(topic, pattern=same_source(topic.pattern))


class _Builder:
    """Builds the parts of one profile; the mistakes of all of them are in `reader.problems`.

    `idle` are the cards that read the topic where there is none: they are read for their mistakes only.
    """

    def __init__(self, shape: shapes.ProfileShape) -> None:
        self.shape = shape
        pattern = None if shape.topic.pattern is None else compile_pattern(shape.topic.pattern)
        self.topic = core.Topic(pattern, tuple(shape.topic.related))
        terms = {**shape.terms, RELATED: list(shape.topic.related)}
        self.reader = ConditionReader(terms, frozenset(shape.scorecard), pattern)
        self.idle = {name for name, card in shape.scorecard.items() if pattern is None and _reads_topic(card)}
        self.skips = self.decisions(shape.skip, "skip")
        self.wants, self.nevers = (self.words(name, "pages") for name in ("want", "never"))
        for both in sorted({*self.wants}.intersection(self.nevers)):
            self.reader.wrong("never.pages", f"{both!r} is also in want.pages; leave one of them out")

    def rule(self, shape: shapes.RuleShape | shapes.DecisionShape, where: str) -> Rule:
        """Read a rule; `points`, `per` and the rest only where a rule may have them."""
        when = self.reader.condition(shape.when, f"{where}.when")
        extras = {name: value for name, value in shape.table().items() if name != "when"}
        per = extras.get("per")
        if per is not None and (kind := self.reader.kind(per, f"{where}.per")) is not FactKind.NUMBER:
            extras["per"] = None  # so that no card is looked for that does not exist
            if kind is not None:
                self.reader.wrong(f"{where}.per", f"{per} is not a number")
        return Rule(when=when, **extras)

    def card(self, name: str, shape: shapes.CardShape) -> Scorecard:
        where = f"scorecard.{name}"
        ids: set[str] = set()
        groups = []
        if sum(len(group.rules) for group in shape.group) > MAX_RULES:
            self.reader.wrong(f"{where}.group", f"has more than {MAX_RULES:,} rules in all; leave some out")
        for group in shape.group:
            path = f"{where}.group[{group.name}].rules"
            rules = tuple(self.rule(rule, f"{path}[{rule.id}]") for rule in group.rules)
            for rule in rules:
                if rule.id in ids:
                    self.reader.wrong(f"{path}[{rule.id}].id", "is taken; ids are unique within a card")
                ids.add(rule.id)
            groups.append(Group(group.name, group.mode, rules, group.at_most))
        low, high = shape.range or (-math.inf, math.inf)
        if low > high:
            self.reader.wrong(f"{where}.range", "the first number should not be above the second")
        scale = 100.0 if name == "plan" else SCALES.get(name, math.inf)
        if math.isfinite(scale) and (low < 0 or high > scale):
            what = "plans" if name == "plan" else "topics"
            self.reader.wrong(f"{where}.range", f"should lie within [0, {scale:g}], the scale of {what}")
        return Scorecard(name, tuple(groups), shape.base, low=low, high=high, decimals=shape.decimals)

    def chains(self, cards: dict[str, Scorecard]) -> dict[str, tuple[str, ...]]:
        """Order the cards that read each other; a circle is reported at one of its cards."""
        chains = {}
        circles = set()
        for name in cards:
            try:
                chain = _chain_of(name, cards)
            except ValueError as error:
                circle = frozenset(str(error).split(" -> "))
                if str(error).endswith(f" -> {name}") and circle not in circles:
                    circles.add(circle)
                    self.reader.wrong(f"scorecard.{name}", f"cards read each other in a circle: {error}")
                continue
            if name in self.idle:
                continue
            if not self.idle.isdisjoint(chain):
                self.reader.wrong(f"scorecard.{name}", "reads a card that needs a topic")
            chains[name] = chain
        return chains

    def decisions(self, entries: list[shapes.DecisionShape], where: str) -> RuleList:
        return RuleList(self.rule(shape, f"{where}[{shape.id}]") for shape in entries)

    def strategy(
        self, name: str, shape: shapes.StrategyShape, chains: Mapping[str, tuple[str, ...]]
    ) -> core.Strategy:
        """Read a strategy, and find out which cards it needs."""
        where = f"strategy.{name}"
        is_known = self.reader.kind(CARD + shape.card, f"{where}.card") is not None
        if is_known and not self.shape.scorecard[shape.card].group:
            self.reader.wrong(f"{where}.card", f"scorecard.{shape.card} has no group, so no link gets points")
        table = shape.table()
        drops = self.decisions(table.pop("drop"), f"{where}.drop")
        read = [node.field for rule in drops.rules for node in leaves(rule.when)]
        needed = [shape.card, *(name.removeprefix(CARD) for name in read if name.startswith(CARD))]
        rules: dict[str, Any] = {
            f"{key}s": self.decisions(table.pop(key), f"{where}.{key}") for key in ("filter", "look")
        }
        own, headings, groups = (table.pop(key) for key in ("bucket", "heading", "groups"))
        buckets = [bucket.name for bucket in own or self.shape.bucket]
        self.check_reserve(shape.reserve, buckets, f"{where}.reserve")
        quotas = table.pop("quota")
        same: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in table.items()}
        return core.Strategy(
            name=name,
            cards=tuple(dict.fromkeys(card for name in needed for card in chains.get(name, ()))),
            wants=wanted_rules(self.wants, set(buckets)),
            nevers=never_rules(self.nevers, set(buckets)),
            drops=drops,
            quotas=quotas,
            kinds=self.kinds(own, f"{where}.bucket") if own else None,
            headings=self.kind_rules(headings, f"{where}.heading"),
            groups=core.GroupRules(groups.hub, groups.services, frozenset(groups.members)),
            **rules,
            **same,
        )

    def words(self, table: str, key: str) -> tuple[str, ...]:
        """Read the words of a key in a table at the top of the profile."""
        return self.reader.words(getattr(getattr(self.shape, table), key), f"{table}.{key}")

    def traps(self) -> core.TrapLimits:
        """Read where traps are recognised; words are compared folded."""
        table = self.shape.traps.table()
        words = {"sessions": table["sessions"], "soft_404": self.words("traps", "soft_404")}
        return core.TrapLimits(
            **{**table, **{name: tuple(map(fold, found)) for name, found in words.items()}}
        )

    def check_reserve(self, reserve: list[str], buckets: list[str], where: str) -> None:
        for name in reserve:
            if name not in buckets:
                near = suggestion(name, dict.fromkeys(buckets), "there are")
                self.reader.wrong(where, f"no bucket is named {name!r}; {near}")

    def kinds(self, entries: list[shapes.BucketShape], where: str) -> core.Kinds:
        """Read buckets; one may have several entries, the first of which sets its priority."""
        buckets = {b.name: core.Bucket(b.name, b.priority, b.handicap) for b in reversed(entries)}
        return core.Kinds(self.kind_rules(entries, where), buckets)

    def kind_rules(self, entries: Iterable[shapes.BucketShape | shapes.HeadingShape], where: str) -> RuleList:
        """Read rules of which the first that holds names a kind."""
        named = [(e.name, self.reader.condition(e.when, f"{where}[{e.name}].when")) for e in entries]
        return RuleList(Rule(name, name, when=when) for name, when in named)

    def families(self) -> core.FamilyWords:
        """Read what families are recognised by; `word*` in a list of beginnings is the same as `word`."""

        def folded(name: str) -> tuple[str, ...]:
            return tuple(map(plain, self.words("family", name)))

        sets = {
            name: frozenset(folded(name)) for name in ("places", "states", "before_names", "generic", "hubs")
        }
        no_names = tuple(word.removesuffix("*") for word in folded("no_names"))
        return core.FamilyWords(min_size=self.shape.family.min_size, no_names=no_names, **sets)

    def traversal(self, name: str, shape: shapes.TraversalShape) -> core.Traversal:
        """Read a traversal; without a topic, `breadth` and `depth` put every link into the highest band."""
        bands = {key: _from_highest(core.Band, getattr(shape, key)) for key in ("links", "pages")}
        if shape.order != "score" and bands["links"][0].lane == "skip":
            what = (
                f'the highest band is skipped, but order = "{shape.order}" follows every link without a topic'
            )
            self.reader.wrong(f"traversal.{name}.links", what)
        skips = self.decisions(shape.skip, f"traversal.{name}.skip") if shape.skip else self.skips
        table = {key: value for key, value in shape.table().items() if key not in ("skip", "learner")}
        learner = None if shape.learner is None else _learner(shape.learner)
        return core.Traversal(name, **table | bands, skips=skips, learner=learner)

    def query(self) -> Query:
        shape = self.shape.query
        for name in shape.fields:
            if name not in QUERY_FIELDS:
                self.reader.wrong(f"query.fields.{name}", f"allowed are {', '.join(QUERY_FIELDS)}")
        fields = tuple(TextField(n, f.weight, f.usual_words) for n, f in shape.fields.items())
        return Query(shape.text, fields, shape.k1, shape.b)


def _learner(shape: shapes.LearnerShape) -> core.LearnerRules:
    table = shape.table()
    shown = {kind: table.pop(kind) for kind in ("pager", "hint", "plain")}
    lists = {kind: (one.chances, one.links) for kind, one in shown.items()}
    return core.LearnerRules(**table, lists=lists)


def _from_highest(kind: Callable[..., _Entry], entries: Iterable[Any]) -> tuple[_Entry, ...]:
    return tuple(kind(**entry.table()) for entry in sorted(entries, key=lambda entry: -entry.at_least))


def _reads_topic(shape: shapes.CardShape) -> bool:
    return any(
        "$topic" in json.dumps(rule.when, default=str) for group in shape.group for rule in group.rules
    )


def _chain_of(card: str, cards: Mapping[str, Scorecard]) -> tuple[str, ...]:
    """Return the cards that a card reads, in the order of scoring, itself last; raises ValueError on a cycle."""
    done: dict[str, None] = {}
    open_: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in done:
            return
        if name in open_:
            raise ValueError(" -> ".join([*open_, name]))
        open_[name] = None
        for read in fields_read(cards[name]):
            if read.startswith(CARD):
                visit(read.removeprefix(CARD))
        open_.pop(name)
        done[name] = None

    visit(card)
    return tuple(done)
