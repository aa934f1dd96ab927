"""The keys a profile may have, and their types. pydantic lives here and nowhere else.

Owns: structure and ranges. Must not know: what terms and conditions refer to (`build` checks that).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from honeyguide.config.problems import told
from honeyguide.errors import ConfigError, Problem

Name = Annotated[str, Field(min_length=1, max_length=80)]
Sentence = Annotated[str, Field(min_length=1, max_length=200)]
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e9, le=1e9)]
Positive = Annotated[float, Field(allow_inf_nan=False, gt=0, le=1e9)]
Words = list[Annotated[str, Field(min_length=1, max_length=200)]]


class Shape(BaseModel):
    """Unknown keys are mistakes, and nothing is converted behind the author's back."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class RuleShape(Shape):
    """A rule of a scorecard."""

    id: Name
    reason: Sentence
    points: Number = 0.0
    when: dict[str, Any] = {}
    per: Name | None = None
    at_most: Positive | None = None
    quiet: bool = False
    tag: str = ""


class DecisionShape(Shape):
    """A filter or drop: no points, a condition that is not optional; `show` names a fact that the reason ends with."""

    id: Name
    reason: Sentence
    when: dict[str, Any]
    show: Name | None = None


class GroupShape(Shape):
    """A group of rules."""

    name: Name
    mode: Literal["first", "all"]
    rules: Annotated[list[RuleShape], Field(max_length=500)]
    at_most: Positive | None = None


class CardShape(Shape):
    """A scorecard."""

    base: Number = 0.0
    range: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = None
    decimals: Annotated[int, Field(ge=0, le=9)] = 6
    group: Annotated[list[GroupShape], Field(max_length=100)]


class ScopeShape(Shape):
    """What is no page, and what is no part of a URL's identity."""

    skip_extensions: Words
    tracking: Words


class TextFieldShape(Shape):
    """A field of the query."""

    weight: Annotated[float, Field(ge=0, le=1)]
    usual_words: Positive


class QueryShape(Shape):
    """The query of contextual scoring, with BM25's constants."""

    text: Sentence
    k1: Positive = 1.2
    b: Annotated[float, Field(ge=0, le=1)] = 0.75
    fields: dict[str, TextFieldShape]


class BucketShape(Shape):
    """A kind of page."""

    name: Name
    priority: int
    handicap: Annotated[float, Field(ge=0, le=100)] = 0.0
    when: dict[str, Any]


class StrategyShape(Shape):
    """How pick orders and takes."""

    card: Name
    cap: Annotated[int, Field(ge=1, le=1000)]
    order: list[Literal["score", "bucket", "path_length", "document", "url"]]
    epsilon: Annotated[float, Field(ge=0, le=100)] = 0.0
    filter: list[DecisionShape] = []
    drop: list[DecisionShape] = []
    quota: dict[str, Annotated[int, Field(ge=0)]] = {}
    reads_heads: bool = False
    distinct: Annotated[float, Field(gt=0, le=1)] = 1.0
    bucket: list[BucketShape] = []


class BandShape(Shape):
    """A range of scores."""

    at_least: Number
    lane: Literal["deep", "broad", "tail", "far", "skip"]
    bonus: Annotated[float, Field(ge=0, le=30)] = 0.0  # with a score, what priorities can tell apart


class TraversalShape(Shape):
    """How a crawl moves."""

    links: Annotated[list[BandShape], Field(min_length=1)]
    pages: Annotated[list[BandShape], Field(min_length=1)]
    tunnel: Annotated[int, Field(ge=0, le=100)] = 0
    moves_up: bool = False
    order: Literal["score", "breadth", "depth"] = "score"


class CrawlShape(Shape):
    """The numbers of the crawl itself."""

    lookahead: Annotated[int, Field(ge=1, le=1000)] = 8
    window: Annotated[int, Field(ge=1, le=10_000)] = 64
    max_attempts: Annotated[int, Field(ge=1, le=100)] = 3
    max_site_failures: Annotated[int, Field(ge=1)] = 10
    retry_s: Positive = 60.0
    patience_s: Annotated[float, Field(ge=0, le=1e6)] = 120.0
    lease_s: Annotated[float, Field(ge=10, le=1e6)] = 600.0
    sightings: Annotated[int, Field(ge=1, le=100)] = 5
    hub_points: Number = 60.0


class TrapShape(Shape):
    """Where a site without end is recognised."""

    max_url_chars: Annotated[int, Field(ge=1)] = 2_000
    max_segments: Annotated[int, Field(ge=1)] = 20
    max_repeats: Annotated[int, Field(ge=2)] = 3
    sessions: Words = []
    max_sessions: Annotated[int, Field(ge=1)] = 1
    facet_params: Annotated[int, Field(ge=1)] = 3
    max_facets: Annotated[int, Field(ge=1)] = 100
    max_dates: Annotated[int, Field(ge=1)] = 120
    alike: Annotated[float, Field(gt=0, le=1)] = 0.9
    max_alike: Annotated[int, Field(ge=2)] = 6
    soft_404: Words = []
    soft_404_chars: Annotated[int, Field(ge=0)] = 2_000
    min_twin_chars: Annotated[int, Field(ge=0)] = 100


class LevelShape(Shape):
    """A name for a range of plan scores."""

    name: Name
    at_least: Number
    advice: Sentence


class FamilyShape(Shape):
    """What families of pages that differ in a name are recognised by."""

    min_size: Annotated[int, Field(ge=2, le=1000)] = 3
    places: Words | str = []
    states: Words | str = []
    before_names: Words | str = []
    no_names: Words | str = []
    generic: Words | str = []


class ContentShape(Shape):
    """When a page is empty, what a page that is not there says, and which words are worth noting."""

    min_text_chars: Annotated[int, Field(ge=0)] = 0
    min_own_chars: Annotated[int, Field(ge=0)] = 0
    gone: Words = []
    keywords: Words = []


class PlanShape(Shape):
    """Settings of plan."""

    levels: Annotated[list[LevelShape], Field(min_length=1)]


class TopicShape(Shape):
    """What a crawl is about."""

    pattern: str | None = None
    related: Words = []


class ProfileShape(Shape):
    """A whole profile, after joining it with what it extends."""

    schema_: Literal[1] = Field(alias="schema")
    name: Name
    description: Sentence
    extends: Name | None = None
    terms: dict[str, Words] = {}
    topic: TopicShape = TopicShape()
    scope: ScopeShape
    query: QueryShape
    filter: list[DecisionShape] = []
    skip: list[DecisionShape] = []
    bucket: list[BucketShape] = []
    family: FamilyShape = FamilyShape()
    content: ContentShape = ContentShape()
    scorecard: Annotated[dict[str, CardShape], Field(max_length=100)] = {}
    strategy: dict[str, StrategyShape] = {}
    traversal: dict[str, TraversalShape] = {}
    crawl: CrawlShape = CrawlShape()
    traps: TrapShape = TrapShape()
    plan: PlanShape


def read_shape(raw: dict[str, Any], file: str) -> ProfileShape:
    """Check structure and types; all mistakes at once."""
    try:
        return ProfileShape.model_validate(raw)
    except ValidationError as error:
        problems = tuple(_problem(detail["loc"], detail["type"], detail["msg"]) for detail in error.errors())
        raise ConfigError(file, told(problems)) from None


def key_path(location: tuple[str | int, ...]) -> str:
    """Write a place in a TOML file as its author would.

    >>> key_path(("scorecard", "link", "group", 0, "mode"))
    'scorecard.link.group[0].mode'
    """
    parts = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return parts.removeprefix(".")


def _problem(location: tuple[str | int, ...], kind: str, message: str) -> Problem:
    if kind == "extra_forbidden":
        return Problem(key_path(location), f"unknown key; {_allowed(location)}")
    if kind == "missing":
        return Problem(key_path(location), "is required")
    return Problem(key_path(location), message[0].lower() + message[1:])


def _allowed(location: tuple[str | int, ...]) -> str:
    """Name the keys that are allowed beside an unknown one."""
    shape: type[BaseModel] = ProfileShape
    for part in location[:-1]:
        field = None if isinstance(part, int) else shape.model_fields.get(part)
        shape = _inner(field.annotation, shape) if field is not None else shape
    return "allowed are " + ", ".join(field.alias or name for name, field in shape.model_fields.items())


def _inner(annotation: Any, default: type[BaseModel]) -> type[BaseModel]:
    """Find the shape inside list[...], dict[str, ...] or Annotated[...]."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(
        (
            found
            for arg in getattr(annotation, "__args__", ())
            if (found := _inner(arg, default)) is not default
        ),
        default,
    )
