"""The keys a profile may have, and their types.

Owns: structure and ranges. Must not know: what terms and conditions refer to (`build` checks that), how tables are
checked against this (`check`) and read (`fields`).
"""

# No `from __future__ import annotations` here: profiles are read by these annotations, which are to be types, not texts.

from dataclasses import field
from typing import Annotated, Any, Literal

from honeyguide.config.fields import Shape, ValueBounds, shape

WORD_CHARS = 200

Name = Annotated[str, ValueBounds(min_length=1, max_length=80)]
Sentence = Annotated[str, ValueBounds(min_length=1, max_length=200)]
Number = Annotated[float, ValueBounds(allow_inf_nan=False, ge=-1e9, le=1e9)]
Positive = Annotated[float, ValueBounds(allow_inf_nan=False, gt=0, le=1e9)]
Words = list[Annotated[str, ValueBounds(min_length=1, max_length=WORD_CHARS)]]


@shape
class RuleShape(Shape):
    """A rule of a scorecard."""

    id: Name
    reason: Sentence
    points: Number = 0.0
    when: dict[str, Any] = field(default_factory=dict)
    per: Name | None = None
    at_most: Positive | None = None
    quiet: bool = False
    tag: str = ""


@shape
class DecisionShape(Shape):
    """A filter or drop: no points, a condition that is not optional; `show` names a fact that the reason ends with."""

    id: Name
    reason: Sentence
    when: dict[str, Any]
    show: Name | None = None


@shape
class GroupShape(Shape):
    """A group of rules."""

    name: Name
    mode: Literal["first", "all"]
    rules: Annotated[list[RuleShape], ValueBounds(max_length=500)]
    at_most: Positive | None = None


@shape
class CardShape(Shape):
    """A scorecard."""

    base: Number = 0.0
    range: Annotated[list[Number], ValueBounds(min_length=2, max_length=2)] | None = None
    decimals: Annotated[int, ValueBounds(ge=0, le=9)] = 6
    group: Annotated[list[GroupShape], ValueBounds(max_length=100)]


@shape
class ScopeShape(Shape):
    """What is no page, and what is no part of a URL's identity."""

    skip_extensions: Words
    tracking: Words


@shape
class TextFieldShape(Shape):
    """A field of the query."""

    weight: Annotated[float, ValueBounds(ge=0, le=1)]
    usual_words: Positive


@shape
class QueryShape(Shape):
    """The query of contextual scoring, with BM25's constants."""

    text: Sentence
    k1: Positive = 1.2
    b: Annotated[float, ValueBounds(ge=0, le=1)] = 0.75
    fields: dict[str, TextFieldShape]


@shape
class BucketShape(Shape):
    """A kind of page."""

    name: Name
    priority: int
    handicap: Annotated[float, ValueBounds(ge=0, le=100)] = 0.0
    when: dict[str, Any]


@shape
class StrategyShape(Shape):
    """How pick orders and takes."""

    card: Name
    cap: Annotated[int, ValueBounds(ge=1, le=1000)]
    order: list[Literal["score", "bucket", "path_length", "document", "url"]]
    epsilon: Annotated[float, ValueBounds(ge=0, le=100)] = 0.0
    filter: list[DecisionShape] = field(default_factory=list)
    drop: list[DecisionShape] = field(default_factory=list)
    quota: dict[str, Annotated[int, ValueBounds(ge=0)]] = field(default_factory=dict)
    reads_heads: bool = False
    distinct: Annotated[float, ValueBounds(gt=0, le=1)] = 1.0
    bucket: list[BucketShape] = field(default_factory=list)


@shape
class BandShape(Shape):
    """A range of scores."""

    at_least: Number
    lane: Literal["deep", "broad", "tail", "far", "skip"]
    bonus: Annotated[float, ValueBounds(ge=0, le=30)] = 0.0  # with a score, what priorities can tell apart


@shape
class TraversalShape(Shape):
    """How a crawl moves."""

    links: Annotated[list[BandShape], ValueBounds(min_length=1)]
    pages: Annotated[list[BandShape], ValueBounds(min_length=1)]
    tunnel: Annotated[int, ValueBounds(ge=0, le=100)] = 0
    moves_up: bool = False
    lookahead: Annotated[int, ValueBounds(ge=1, le=1000)] | None = None
    order: Literal["score", "breadth", "depth"] = "score"


@shape
class CrawlShape(Shape):
    """The numbers of the crawl itself."""

    lookahead: Annotated[int, ValueBounds(ge=1, le=1000)] = 8
    window: Annotated[int, ValueBounds(ge=1, le=10_000)] = 64
    max_attempts: Annotated[int, ValueBounds(ge=1, le=100)] = 3
    max_site_failures: Annotated[int, ValueBounds(ge=1)] = 10
    retry_s: Positive = 60.0
    patience_s: Annotated[float, ValueBounds(ge=0, le=1e6)] = 120.0
    lease_s: Annotated[float, ValueBounds(ge=10, le=1e6)] = 600.0
    sightings: Annotated[int, ValueBounds(ge=1, le=100)] = 5
    hub_points: Number = 60.0


@shape
class TrapShape(Shape):
    """Where a site without end is recognised."""

    max_url_chars: Annotated[int, ValueBounds(ge=1)] = 2_000
    max_segments: Annotated[int, ValueBounds(ge=1)] = 20
    max_repeats: Annotated[int, ValueBounds(ge=2)] = 3
    sessions: Words = field(default_factory=list)
    max_sessions: Annotated[int, ValueBounds(ge=1)] = 1
    facet_params: Annotated[int, ValueBounds(ge=1)] = 3
    max_facets: Annotated[int, ValueBounds(ge=1)] = 100
    max_dates: Annotated[int, ValueBounds(ge=1)] = 120
    alike: Annotated[float, ValueBounds(gt=0, le=1)] = 0.9
    max_alike: Annotated[int, ValueBounds(ge=2)] = 6
    soft_404: Words = field(default_factory=list)
    soft_404_chars: Annotated[int, ValueBounds(ge=0)] = 2_000
    min_twin_chars: Annotated[int, ValueBounds(ge=0)] = 100


@shape
class LevelShape(Shape):
    """A name for a range of plan scores."""

    name: Name
    at_least: Number
    advice: Sentence


@shape
class FamilyShape(Shape):
    """What families of pages that differ in a name are recognised by."""

    min_size: Annotated[int, ValueBounds(ge=2, le=1000)] = 3
    places: Words | str = field(default_factory=list)
    states: Words | str = field(default_factory=list)
    before_names: Words | str = field(default_factory=list)
    no_names: Words | str = field(default_factory=list)
    generic: Words | str = field(default_factory=list)


@shape
class ContentShape(Shape):
    """When a page is empty, what a page that is not there says, and which words are worth noting."""

    min_text_chars: Annotated[int, ValueBounds(ge=0)] = 0
    min_own_chars: Annotated[int, ValueBounds(ge=0)] = 0
    gone: Words = field(default_factory=list)
    keywords: Words = field(default_factory=list)


@shape
class PlanShape(Shape):
    """Settings of plan."""

    levels: Annotated[list[LevelShape], ValueBounds(min_length=1)]


@shape
class TopicShape(Shape):
    """What a crawl is about."""

    pattern: str | None = None
    related: Words = field(default_factory=list)


@shape
class ProfileShape(Shape):
    """A whole profile, after joining it with what it extends."""

    schema: Literal[1]
    name: Name
    description: Sentence
    extends: Name | None = None
    terms: dict[str, Words] = field(default_factory=dict)
    topic: TopicShape = field(default_factory=TopicShape)
    scope: ScopeShape
    query: QueryShape
    filter: list[DecisionShape] = field(default_factory=list)
    skip: list[DecisionShape] = field(default_factory=list)
    bucket: list[BucketShape] = field(default_factory=list)
    family: FamilyShape = field(default_factory=FamilyShape)
    content: ContentShape = field(default_factory=ContentShape)
    scorecard: Annotated[dict[str, CardShape], ValueBounds(max_length=100)] = field(default_factory=dict)
    strategy: dict[str, StrategyShape] = field(default_factory=dict)
    traversal: dict[str, TraversalShape] = field(default_factory=dict)
    crawl: CrawlShape = field(default_factory=CrawlShape)
    traps: TrapShape = field(default_factory=TrapShape)
    plan: PlanShape
