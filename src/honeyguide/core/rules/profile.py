"""The `Profile`: all rules, scores and limits that decisions read, loaded and compiled. Start reading at `Profile`.

Must not know: TOML, files; `honeyguide.config` builds a profile from them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.rules.compile import RuleList
from honeyguide.core.rules.facts import CARD, Facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from honeyguide.core.page.faults import ContentRules
    from honeyguide.core.page.page import Head, Link
    from honeyguide.core.rules.bm25 import Query
    from honeyguide.core.rules.compile import CompiledCard
    from honeyguide.core.rules.language import Score
    from honeyguide.core.text.pattern import Pattern
    from honeyguide.core.url.scope import Scope

_NO_RULES = RuleList()


class Bucket(NamedTuple):
    """A kind of page; `priority` breaks ties, `handicap` is the lead that it needs to win (PICK-17)."""

    name: str
    priority: int
    handicap: float = 0.0


class Kinds(NamedTuple):
    """The buckets of a profile or strategy: rules of which the first match names the bucket."""

    rules: RuleList
    buckets: Mapping[str, Bucket]


class GroupRules(NamedTuple):
    """The buckets that groups of links are read by: that of a hub, of services, and of all that services may be taken for."""

    hub: str = ""
    services: str = ""
    members: frozenset[str] = frozenset()


_NO_GROUPS = GroupRules()


@dataclass(frozen=True, slots=True)
class Strategy:
    """How pick orders and takes links."""

    name: str
    card: str
    cards: tuple[str, ...]  # all that the strategy reads, each after those that it reads itself
    cap: int
    order: tuple[str, ...]
    epsilon: float = 0.0
    filters: RuleList = _NO_RULES
    drops: RuleList = _NO_RULES
    quotas: Mapping[str, int] = field(default_factory=dict)
    reads_heads: bool = False
    distinct: float = 1.0  # of two slugs that are alike by this or more, the second is rejected; 1: none is
    kinds: Kinds | None = None  # buckets of its own
    reserve: tuple[
        str, ...
    ] = ()  # buckets whose best page has a place, even if better pages of others fill the cap
    scope: str = "host"  # the reach of its links
    sitemap_below: int = 0  # the sitemap is read if the homepage links fewer inner pages
    over_quota: float | None = (
        None  # points that pages over a quota lose in the order; None: they are rejected
    )
    headings: RuleList = (
        _NO_RULES  # the first that holds names the kind of a submenu's label or a heading of cards
    )
    looks: RuleList = _NO_RULES  # reject pages that were selected and fetched, by their text
    groups: GroupRules = _NO_GROUPS  # which buckets such submenus and cards are made of
    wants: RuleList = _NO_RULES  # each has a place (`core.pick.wishes`)
    nevers: RuleList = _NO_RULES  # reject


class Topic(NamedTuple):
    """What a crawl is about: a pattern, and related terms."""

    pattern: Pattern | None = None
    related: tuple[str, ...] = ()


class Band(NamedTuple):
    """A range of scores from `at_least` up to the next band, the lane and bonus that it gives, and the level's name."""

    at_least: float
    lane: str
    bonus: float = 0.0
    level: str | None = None


class LearnerRules(NamedTuple):
    """How a traversal by worth begins, and how fast it learns (TOPIC-4c); the base profile explains each."""

    base: float = -7.0
    per_point: float = 0.7
    lift: float = 0.7
    trust: float = 4.0
    copy_trust: float = 2.0
    list_trust: float = 4.0
    promising: float = 0.25
    keep: int = 93
    lists: Mapping[str, tuple[float, float]] = MappingProxyType(
        {"pager": (0.3, 0.6), "hint": (0.15, 0.5), "plain": (0.05, 0.3)}
    )


class Traversal(NamedTuple):
    """How a crawl moves: lanes by link score, bonuses by page score, how far to tunnel (TOPIC-3, -4, -4b).

    With `moves_up`, a link that is found again with better evidence moves up. An `order` other than `score` ignores
    scores. `lookahead` overrides that of `CrawlRules`. `skips` are its own skip rules, or those of the profile (TOPIC-6).
    With a `learner`, links go by their worth (TOPIC-4c).
    """

    name: str
    links: tuple[Band, ...]
    pages: tuple[Band, ...]
    tunnel: int = 0
    moves_up: bool = False
    order: str = "score"
    lookahead: int | None = None
    skips: RuleList = _NO_RULES
    learner: LearnerRules | None = None


@dataclass(frozen=True, slots=True)
class CrawlRules:
    """The numbers of the crawl itself; the base profile explains each."""

    lookahead: int = 8
    window: int = 64
    max_attempts: int = 3
    max_site_failures: int = 10
    retry_s: float = 30.0
    patience_s: float = 120.0
    lease_s: float = 600.0
    sightings: int = 5
    hub_points: float = 60.0

    def for_traversal(self, traversal: Traversal) -> CrawlRules:
        """Return the numbers of a crawl with this traversal."""
        return self if traversal.lookahead is None else replace(self, lookahead=traversal.lookahead)


class Level(NamedTuple):
    """A name for a range of plan scores (PLAN-2)."""

    name: str
    at_least: float
    advice: str


@dataclass(frozen=True, slots=True)
class Profile:
    """Scope, filters, scorecards, strategies, traversals and levels; immutable and hashed.

    `hash` covers everything that decisions read; `own_hash` leaves out a topic that does not come from its file.
    """

    name: str
    description: str
    hash: str
    own_hash: str
    scope: Scope
    cards: Mapping[str, CompiledCard]
    chains: Mapping[str, tuple[str, ...]]
    filters: RuleList
    skips: RuleList
    kinds: Kinds
    families: FamilyWords
    content: ContentRules
    strategies: Mapping[str, Strategy]
    traversals: Mapping[str, Traversal]
    levels: tuple[Level, ...]
    query: Query
    topic: Topic
    crawl: CrawlRules
    traps: TrapLimits

    def score(self, card: str, facts: Facts) -> Score:
        """Score a card."""
        chain = self.chains[card]
        return self.cards[card].score(facts) if len(chain) == 1 else self.scores(chain, facts)[card]

    def score_link(self, card: str, link: Link, head: Head | None = None) -> Score:
        """Score one link."""
        if len(self.chains[card]) == 1:
            return self.cards[card].score_link(link, head)
        return self.score(card, Facts(link, head))

    def score_links(
        self, card: str, links: Sequence[Link], texts: Mapping[str, str] | None = None
    ) -> list[Score]:
        """Score a card for many links; `texts` has the folded texts of their facts."""
        if len(self.chains[card]) == 1:
            return self.cards[card].score_links(links, texts or {})
        return [self.score(card, Facts(link)) for link in links]

    def scores(self, cards: tuple[str, ...], facts: Facts) -> dict[str, Score]:
        """Score cards in order; each score is a fact for the next card."""
        scores: dict[str, Score] = {}
        for name in cards:
            scores[name] = self.cards[name].score(facts)
            facts[CARD + name] = scores[name].value
        return scores

    def kinds_of(self, strategy: Strategy) -> Kinds:
        """Return the strategy's buckets."""
        return strategy.kinds or self.kinds


class FamilyWords(NamedTuple):
    """The words by which families of pages that differ only in a name are recognised; folded."""

    min_size: int = 3
    places: frozenset[str] = frozenset()  # folders of places: city, markets, ...
    states: frozenset[str] = frozenset()  # names and codes beside a town
    before_names: frozenset[str] = frozenset()  # in, near, à, bei, ...
    no_names: tuple[str, ...] = ()  # beginnings of words that are never a town's: roof, commercial, ...
    generic: frozenset[str] = frozenset()  # words that form no family: services, us, page, ...
    hubs: frozenset[str] = frozenset()  # folders of services, not of places


@dataclass(frozen=True, slots=True)
class TrapLimits:
    """The limits at which an endless site is recognised; the base profile explains each."""

    max_url_chars: int = 2_000
    max_segments: int = 20
    max_repeats: int = 3
    sessions: tuple[str, ...] = ()
    max_sessions: int = 1
    facet_params: int = 3
    max_facets: int = 100
    max_dates: int = 120
    alike: float = 0.9
    max_alike: int = 6
    soft_404: tuple[str, ...] = ()
    soft_404_chars: int = 2_000
    min_twin_chars: int = 100
