"""The keys that a profile may have, their types and bounds; a `Shape` is one table. Start reading at `ProfileShape`.

Must not know: what terms and conditions refer to (`build` checks that). `check_shape` raises all mistakes of structure at once:
pydantic finds them, and is imported only there because the import takes a tenth of a second.
"""

# No `from __future__ import annotations` here: tables are read by these annotations, which must be types, not texts.

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, Union, dataclass_transform, get_args, get_origin

from honeyguide.config.files import MAX_PROBLEMS, limit_problems, suggestion
from honeyguide.errors import ConfigError, Problem

Location = tuple[str | int, ...]
SHORT_KEYS = ("page_cap", "disallowed_paths")  # at the top of a profile; `extend` writes what they stand for
_SENTENCES = {  # else pydantic's own
    "missing": "is required",
    "dataclass_type": "should be a table",
    "unexpected_keyword_argument": "unknown key",
}


class ValueBounds:
    """The bounds of a value, by the names that pydantic has for them."""

    def __init__(self, **bounds: float) -> None:
        self.bounds = bounds

    def __get_pydantic_core_schema__(self, kind: Any, handler: Any) -> Any:
        return {**handler(kind), **self.bounds}


@dataclass_transform(kw_only_default=True)
class Shape:
    """A table: its keys are the fields of the class. Unknown keys are mistakes, and no value is converted."""

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid", "strict": True}

    def __init_subclass__(cls) -> None:
        dataclass(kw_only=True, eq=False, repr=False)(cls)

    @classmethod
    def __get_pydantic_core_schema__(cls, kind: Any, handler: Any) -> Any:
        schema = handler(kind)
        # A strict dataclass takes no tables, only instances; its fields stay strict.
        handler.resolve_ref_schema(schema)["strict"] = False
        return schema

    @classmethod
    def read(cls, raw: dict[str, Any]) -> Self:
        """Read a table that is known to be right: checked, or one of the bundled profiles."""
        kind: Any = cls
        read: Self = _reader(kind)(raw)
        return read

    def table(self) -> dict[str, Any]:
        """Return the fields by name; inner shapes stay shapes."""
        return {name: getattr(self, name) for name in type(self).__annotations__}


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """Return a function that reads a value of a type: tables become shapes, whole numbers become floats."""
    if isinstance(kind, type) and issubclass(kind, Shape):
        readers = {name: _reader(inner) for name, inner in kind.__annotations__.items()}
        return lambda raw: kind(**{name: readers[name](value) for name, value in raw.items()})
    if kind is float:
        return float
    origin, parts = get_origin(kind), [part for part in get_args(kind) if part is not NoneType]
    if origin is Annotated or (origin in (Union, UnionType) and len(parts) == 1):
        return _reader(parts[0])
    each = _reader(parts[-1]) if origin in (list, dict) else _unchanged
    if each is _unchanged:
        return _unchanged
    if origin is list:
        return lambda raw: [each(value) for value in raw]
    return lambda raw: {name: each(value) for name, value in raw.items()}


def _unchanged(raw: Any) -> Any:
    return raw


def stable_hash(data: Any) -> str:
    """Hash what a profile says, not how its file looks."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_jsonable)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _jsonable(value: Any) -> Any:
    return value.table() if isinstance(value, Shape) else str(value)  # else a date


WORD_CHARS = 200
MAX_CAP = 1000  # pages of a site
MAX_WISHES = 100

Name = Annotated[str, ValueBounds(min_length=1, max_length=80)]
Sentence = Annotated[str, ValueBounds(min_length=1, max_length=200)]
Number = Annotated[float, ValueBounds(allow_inf_nan=False, ge=-1e9, le=1e9)]
Positive = Annotated[float, ValueBounds(allow_inf_nan=False, gt=0, le=1e9)]
Words = list[Annotated[str, ValueBounds(min_length=1, max_length=WORD_CHARS)]]


class RuleShape(Shape):
    id: Name
    reason: Sentence
    points: Number = 0.0
    when: dict[str, Any] = field(default_factory=dict)
    per: Name | None = None
    at_most: Positive | None = None
    quiet: bool = False
    tag: str = ""
    show: Name | None = None


class DecisionShape(Shape):
    """A filter or drop: no points, a condition that is not optional; `show` names a fact whose value follows the reason."""

    id: Name
    reason: Sentence
    when: dict[str, Any]
    show: Name | None = None


class GroupShape(Shape):
    name: Name
    mode: Literal["first", "all"]
    rules: Annotated[list[RuleShape], ValueBounds(max_length=500)]
    at_most: Positive | None = None


class CardShape(Shape):
    base: Number = 0.0
    range: Annotated[list[Number], ValueBounds(min_length=2, max_length=2)] | None = None
    decimals: Annotated[int, ValueBounds(ge=0, le=9)] = 6
    group: Annotated[list[GroupShape], ValueBounds(max_length=100)]


class ScopeShape(Shape):
    """What is no page, and what is no part of a URL's identity."""

    skip_extensions: Words
    tracking: Words


class TextFieldShape(Shape):
    weight: Annotated[float, ValueBounds(ge=0, le=1)]
    usual_words: Positive


class QueryShape(Shape):
    text: Sentence
    k1: Positive = 1.2
    b: Annotated[float, ValueBounds(ge=0, le=1)] = 0.75
    fields: dict[str, TextFieldShape]


class BucketShape(Shape):
    name: Name
    priority: int
    handicap: Annotated[float, ValueBounds(ge=0, le=100)] = 0.0
    when: dict[str, Any]


class HeadingShape(Shape):
    name: Name
    when: dict[str, Any]


class GroupsShape(Shape):
    """The buckets that groups of links are read by."""

    hub: str = ""
    services: str = ""
    members: list[Name] = field(default_factory=list)


class StrategyShape(Shape):
    card: Name
    cap: Annotated[int, ValueBounds(ge=1, le=MAX_CAP)]
    scope: Literal["host", "www", "domain"] = "host"
    sitemap_below: Annotated[int, ValueBounds(ge=0, le=1000)] = 0
    order: list[Literal["score", "bucket", "path_length", "document", "url"]]
    epsilon: Annotated[float, ValueBounds(ge=0, le=100)] = 0.0
    filter: list[DecisionShape] = field(default_factory=list)
    drop: list[DecisionShape] = field(default_factory=list)
    quota: dict[str, Annotated[int, ValueBounds(ge=0)]] = field(default_factory=dict)
    reserve: list[Name] = field(default_factory=list)
    reads_heads: bool = False
    distinct: Annotated[float, ValueBounds(gt=0, le=1)] = 1.0
    over_quota: Annotated[float, ValueBounds(ge=0, le=1000)] | None = None
    bucket: list[BucketShape] = field(default_factory=list)
    heading: list[HeadingShape] = field(default_factory=list)
    look: list[DecisionShape] = field(default_factory=list)
    groups: GroupsShape = field(default_factory=GroupsShape)


class BandShape(Shape):
    at_least: Number
    lane: Literal["branch", "deep", "broad", "worth", "tail", "far", "skip"]
    bonus: Annotated[float, ValueBounds(ge=0, le=30)] = 0.0  # with a score, what priorities can tell apart
    level: Name | None = None


class ListShape(Shape):
    """What a page is expected to show: the chances of its promising links, and how many."""

    chances: Annotated[float, ValueBounds(ge=0, le=20)]
    links: Annotated[float, ValueBounds(ge=0, le=20)]


class LearnerShape(Shape):
    base: Annotated[float, ValueBounds(ge=-30, le=30)] = -7.0
    per_point: Annotated[float, ValueBounds(ge=0, le=10)] = 0.7
    lift: Annotated[float, ValueBounds(ge=0, le=1)] = 0.7
    trust: Annotated[float, ValueBounds(gt=0, le=1000)] = 4.0
    copy_trust: Annotated[float, ValueBounds(gt=0, le=1000)] = 2.0
    list_trust: Annotated[float, ValueBounds(gt=0, le=1000)] = 4.0
    promising: Annotated[float, ValueBounds(ge=0, le=1)] = 0.25
    keep: Annotated[int, ValueBounds(ge=0, le=100)] = 93
    pager: ListShape = field(default_factory=lambda: ListShape(chances=0.3, links=0.6))
    hint: ListShape = field(default_factory=lambda: ListShape(chances=0.15, links=0.5))
    plain: ListShape = field(default_factory=lambda: ListShape(chances=0.05, links=0.3))


class TraversalShape(Shape):
    links: Annotated[list[BandShape], ValueBounds(min_length=1)]
    pages: Annotated[list[BandShape], ValueBounds(min_length=1)]
    tunnel: Annotated[int, ValueBounds(ge=0, le=100)] = 0
    moves_up: bool = False
    lookahead: Annotated[int, ValueBounds(ge=1, le=1000)] | None = None
    order: Literal["score", "breadth", "depth"] = "score"
    skip: list[DecisionShape] = field(default_factory=list)
    learner: LearnerShape | None = None


class CrawlShape(Shape):
    lookahead: Annotated[int, ValueBounds(ge=1, le=1000)] = 8
    window: Annotated[int, ValueBounds(ge=1, le=10_000)] = 64
    max_attempts: Annotated[int, ValueBounds(ge=1, le=100)] = 3
    max_site_failures: Annotated[int, ValueBounds(ge=1)] = 10
    retry_s: Positive = 30.0
    patience_s: Annotated[float, ValueBounds(ge=0, le=1e6)] = 120.0
    lease_s: Annotated[float, ValueBounds(ge=10, le=1e6)] = 600.0
    sightings: Annotated[int, ValueBounds(ge=1, le=100)] = 5
    hub_points: Number = 60.0


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


class LevelShape(Shape):
    name: Name
    at_least: Number
    advice: Sentence


class FamilyShape(Shape):
    """What families of pages that differ in a name are recognised by."""

    min_size: Annotated[int, ValueBounds(ge=2, le=1000)] = 3
    places: Words | str = field(default_factory=list)
    states: Words | str = field(default_factory=list)
    before_names: Words | str = field(default_factory=list)
    no_names: Words | str = field(default_factory=list)
    generic: Words | str = field(default_factory=list)
    hubs: Words | str = field(default_factory=list)


class ContentShape(Shape):
    """When a page is empty, what a page that is not there says, and which words are worth noting."""

    min_text_chars: Annotated[int, ValueBounds(ge=0)] = 0
    min_own_chars: Annotated[int, ValueBounds(ge=0)] = 0
    gone: Words = field(default_factory=list)
    keywords: Words = field(default_factory=list)
    legal: Words = field(default_factory=list)


class PlanShape(Shape):
    levels: Annotated[list[LevelShape], ValueBounds(min_length=1)]


class TopicShape(Shape):
    pattern: str | None = None
    related: Words = field(default_factory=list)


class WishShape(Shape):
    pages: Annotated[Words, ValueBounds(max_length=MAX_WISHES)] = field(default_factory=list)


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
    want: WishShape = field(default_factory=WishShape)
    never: WishShape = field(default_factory=WishShape)
    traversal: dict[str, TraversalShape] = field(default_factory=dict)
    crawl: CrawlShape = field(default_factory=CrawlShape)
    traps: TrapShape = field(default_factory=TrapShape)
    plan: PlanShape


# --- mistakes ---


def check_shape(raw: dict[str, Any], file: str) -> None:
    """Raise all mistakes of structure and types at once."""
    from pydantic import ValidationError

    try:
        _checker().validate_python(raw)
    except ValidationError as error:
        mistakes = error.errors()
        problems = [
            Problem(key_path(one["loc"], raw), f"{_sentence(one)}{_advice(one, raw)}")
            for one in mistakes[:MAX_PROBLEMS]  # advice takes long
        ]
        problems += [Problem("", "")] * (len(mistakes) - MAX_PROBLEMS)
        raise ConfigError(file, limit_problems(problems)) from None


@cache
def _checker() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(ProfileShape)


def key_path(location: Location, raw: Any = None) -> str:
    """Write a place in a TOML file; entries of a list are named by id or name, because an index counts inherited ones."""
    path = ""
    for part in location:
        try:
            raw = raw[part]
        except (LookupError, TypeError):
            raw = None
        entry = raw if isinstance(raw, dict) else {}
        path += f"[{entry.get('id', entry.get('name', part))}]" if isinstance(part, int) else f".{part}"
    return path.removeprefix(".")


def _sentence(mistake: Any) -> str:
    message = str(mistake["msg"])
    return _SENTENCES.get(mistake["type"], message[0].lower() + message[1:])


def _advice(mistake: Any, raw: dict[str, Any]) -> str:
    """Say which name was meant: of an unknown key, or of a table such as `strategy.NAME` that lacks a key."""
    kind, location = mistake["type"], mistake["loc"]
    if kind == "unexpected_keyword_argument":
        return f"; {suggestion(str(location[-1]), _keys(location), 'allowed are')}"
    tables = raw.get(location[0]) if kind == "missing" and len(location) > 2 else None
    if not isinstance(tables, dict):
        return ""
    near = suggestion(location[1], tables.keys() - {location[1]}, "")
    return f"; {near}" if near.endswith("?") else ""


def _keys(location: Location) -> list[str]:
    """Name the keys that are allowed beside an unknown one."""
    keys = ProfileShape.__annotations__
    for part in location[:-1]:
        if (inner := _inner(keys.get(str(part)))) is not None:
            keys = inner.__annotations__
    return [*keys, *(SHORT_KEYS if len(location) == 1 else ())]


def _inner(kind: Any) -> type[Shape] | None:
    """Find the shape inside list[...], dict[str, ...] or Annotated[...]."""
    if isinstance(kind, type) and issubclass(kind, Shape):
        return kind
    return next((found for part in get_args(kind) if (found := _inner(part)) is not None), None)
