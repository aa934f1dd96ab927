"""Plan: what a visit to a known URL is worth now (PLAN-1 to PLAN-4).

Owns: `UrlSignals`, their reading and checking, levels, and what a plan contains. Must not know: files, the clock: `now`
is a parameter. Start reading at `score_url`; tables are ranked in `ranking.py`.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide.core.recrawl.priors import CLASSES, PageClass
from honeyguide.core.rules.facts import Facts
from honeyguide.core.text.fold import HALF
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from honeyguide.core.recrawl.signals import PageState
    from honeyguide.core.rules.language import Reason, Score
    from honeyguide.core.rules.profile import Level, Profile

# The range of rates and importances: within it, the index of a page is neither 0 nor infinite.
LEAST_POSITIVE, MOST_POSITIVE = 1e-6, 1e9
# Epoch numbers from here on are milliseconds: as seconds they would lie beyond the year 5138.
_MILLISECONDS_FROM = 1e11
_DATE_CHARS = 10  # a longer text has a time
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class UrlSignals:
    """What is known of a URL; None is not known. The last four are for the policy `learned`."""

    url: str  # http or https
    visits: int | None = None  # how often it was visited
    last_visited: datetime | None = None  # ISO 8601 with a zone, a date, or an epoch time
    last_changed: datetime | None = None  # the same
    topic_relevance: float | None = None  # 0 to 1
    hub_depth: int | None = None  # links from the nearest hub
    is_hub: bool | None = None  # whether it lists other pages
    rate_a: float | None = None  # with `rate_b` the change rate: so many changes were seen in `rate_b` hours
    rate_b: float | None = None  # hours
    page_class: PageClass | None = None  # the kind of page, whose prior rates apply
    importance: float | None = None  # what a fresh copy is worth, where it does not follow from the relevance


class ScoredUrl(NamedTuple):
    """A URL with its score, the reasons, and its level (PLAN-2)."""

    signals: UrlSignals
    score: Score
    level: Level

    @property
    def url(self) -> str:
        """The URL as it was given."""
        return self.signals.url

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it has this score, in sentences."""
        return self.score.words

    @property
    def points(self) -> tuple[Reason, ...]:
        """What each rule paid; the points add up to the score."""
        return self.score.reasons


@dataclass(frozen=True, slots=True)
class PlanQuery:
    """What of a plan is wanted; `per_host` is the most URLs of one host."""

    now: datetime
    top: int | None = None
    min_score: float | None = None  # scores of so much and more
    max_score: float | None = None  # scores below this
    levels: tuple[str, ...] = ()
    per_host: int | None = None
    limit: int = 1_000_000  # of entries without `top`: each costs about a kilobyte

    def too_many(self, file: str) -> InputError:
        """Make the error for rows that do not fit into memory together."""
        what = f"has more than {self.limit:,} rows; ask for the best of them with --top"
        return InputError(what, file=file)

    def wants(self, score: float, level: Level) -> bool:
        """Tell whether a score and its level are asked for."""
        is_level = not self.levels or level.name in self.levels
        is_enough = self.min_score is None or score >= self.min_score
        return is_level and is_enough and (self.max_score is None or score < self.max_score)


class KnownUrl(NamedTuple):
    """A row of the input: its place among all rows, from 1, the same for people, and its signals."""

    number: int
    where: str
    signals: UrlSignals
    state: PageState | None = None  # what a recrawl policy may know, where that is more than the signals


class PlanEntry(NamedTuple):
    """One line of a plan; `next_due` is in seconds since 1970, None where a policy cannot tell."""

    rank: int
    scored: ScoredUrl
    next_due: float | None = None


@dataclass(slots=True)
class Count:
    """How many rows something is true of, and the first of them."""

    rows: int = 0
    first: str = ""

    def add(self, where: str, rows: int = 1) -> None:
        """Count rows."""
        self.first = self.first or where
        self.rows += rows


@dataclass(slots=True)
class Plan:
    """The entries that match a query, the best first, and counts of all rows."""

    entries: list[PlanEntry] = field(default_factory=list)
    levels: dict[str, int] = field(default_factory=dict)
    future: Count = field(default_factory=Count)
    repeated: Count = field(default_factory=Count)
    unremembered: bool = False  # there were too many URLs to compare them all with each other
    dead: Count = field(default_factory=Count)

    @property
    def rows(self) -> int:
        """How many URLs were ranked."""
        return sum(self.levels.values())


def score_url(signals: UrlSignals, now: datetime, profile: Profile) -> ScoredUrl:
    """Score one URL at `now`."""
    score = profile.score("plan", plan_facts(signals, now))
    return ScoredUrl(signals, score, level_of(score.value, profile))


def rank_urls(
    rows: Iterable[UrlSignals], now: datetime, profile: Profile, top: int | None = None
) -> list[ScoredUrl]:
    """Score URLs and order them, the best first, ties in input order; no more than `top` are kept in memory."""
    scored = (score_url(signals, now, profile) for signals in rows)
    if top is None:
        return sorted(scored, key=lambda item: -item.score.value)
    numbered = ((item.score.value, -place, item) for place, item in enumerate(scored))
    best = heapq.nlargest(top, numbered, key=lambda entry: entry[:2])
    return [item for _, _, item in best]


def plan_facts(signals: UrlSignals, now: datetime) -> Facts:
    """Turn signals into facts at `now`; a time in the future counts as just now."""
    return Facts(
        since_visit_s=_since(signals.last_visited, now),
        since_change_s=_since(signals.last_changed, now),
        relevance=signals.topic_relevance,
        visits=None if signals.visits is None else float(signals.visits),
        hub_depth=None if signals.hub_depth is None else float(signals.hub_depth),
        is_hub=signals.is_hub,
    )


def _since(moment: datetime | None, now: datetime) -> float | None:
    return None if moment is None else max(0.0, (now - moment).total_seconds())


def level_of(value: float, profile: Profile) -> Level:
    """Return the level of a score."""
    return next((level for level in profile.levels if value >= level.at_least), profile.levels[-1])


# --- reading rows ---

_CAMEL = {
    "lastVisited": "last_visited", "lastChanged": "last_changed", "topicRelevance": "topic_relevance",
    "hubDepth": "hub_depth", "isHub": "is_hub", "rateA": "rate_a", "rateB": "rate_b", "pageClass": "page_class",
}  # fmt: skip
NAMES = tuple(one.name for one in fields(UrlSignals))
REQUIRED = ("url", "visits", "topic_relevance", "hub_depth", "is_hub")
MISSING = f"is missing; needed are {', '.join(REQUIRED)}, and all but url may be empty"


def field_name(column: str) -> str:
    """Translate the seed's camelCase names."""
    return _CAMEL.get(column, column)


def read_signals(row: Mapping[str, Any], *, file: str = "", number: int | None = None) -> UrlSignals:
    """Check one row of a file or a mapping; the error names the row and the field."""
    known = {field_name(key): value for key, value in row.items() if key is not None}
    for name in REQUIRED:
        if name not in known:
            raise InputError(MISSING, file=file, row=number, field=name)
    values: dict[str, Any] = {}
    for name, read in _READERS.items():
        value = known.get(name)
        try:
            values[name] = None if name != "url" and _is_empty(value) else read(value)
        except (ValueError, OverflowError) as error:
            text = value.isoformat() if isinstance(value, date) else value
            text = shown(text if isinstance(text, str) else repr(text))
            raise InputError(f"{text} {error}", file=file, row=number, field=name) from None
    if (values["rate_a"] is None) != (values["rate_b"] is None):
        name = "rate_a" if values["rate_a"] is None else "rate_b"
        what = "is missing; a rate is two numbers, rate_a and rate_b"
        raise InputError(what, file=file, row=number, field=name)
    return UrlSignals(**values)


def future_fields(signals: UrlSignals, now: datetime) -> Iterator[str]:
    """Name the times that lie in the future, for a warning."""
    for name in ("last_visited", "last_changed"):
        if (getattr(signals, name) or now) > now:
            yield name


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _url(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("should be an http(s) URL")
    if not value.isascii() and HALF.search(value):
        raise ValueError("has half a character in it, which no file can hold")
    try:
        Url.parse(value)
    except UrlError as error:
        raise ValueError(f"is not an http(s) URL: {error.why}") from None
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise ValueError("should be a number")  # noqa: TRY004 - one kind of error for all bad values
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError("should be a number") from None
    if not math.isfinite(number):
        raise ValueError("should be a finite number")
    return number


def _whole(value: Any) -> int:
    number = _number(value)
    if number < 0 or number != int(number):
        raise ValueError("should be a whole number, 0 or more")
    return int(number)


def _bounded(value: Any, low: float, high: float) -> float:
    number = _number(value)
    if not low <= number <= high:
        raise ValueError(f"should lie between {low:g} and {high:g}")
    return number


def _class(value: Any) -> PageClass:
    for name in CLASSES:
        if value == name:
            return name
    raise ValueError(f"should be one of {', '.join(CLASSES)}")


_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    flag = _FLAGS.get(str(value).strip().lower())
    if flag is None:
        raise ValueError("should be true or false")
    return flag


def read_time(value: Any) -> datetime | None:
    """Read ISO 8601 with a zone, epoch seconds or milliseconds, or a date object; a date is its midnight in UTC."""
    if _is_empty(value):
        return None
    moment = value if isinstance(value, date) else _parse_time(value)
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    if moment.tzinfo is None:
        raise ValueError("has no time zone; write it like 2024-06-10T08:00:00Z")
    moment = moment.astimezone(UTC)
    if not _EARLIEST <= moment < _LATEST:
        raise ValueError("should lie between the years 1970 and 9998")
    return moment


def _parse_time(value: Any) -> date:
    try:
        number = None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = None
    if number is not None:
        if not 0 <= number < 2.6e14:
            raise ValueError("should be an epoch time in seconds or milliseconds")
        return datetime.fromtimestamp(number / 1000 if number >= _MILLISECONDS_FROM else number, UTC)
    text = str(value).strip()
    try:
        return (date if len(text) <= _DATE_CHARS else datetime).fromisoformat(text)
    except ValueError:
        raise ValueError("is not a time; write it like 2024-06-10T08:00:00Z") from None


_positive = partial(_bounded, low=LEAST_POSITIVE, high=MOST_POSITIVE)
_READERS: dict[str, Any] = {
    "url": _url,
    "visits": _whole,
    "last_visited": read_time,
    "last_changed": read_time,
    "topic_relevance": partial(_bounded, low=0.0, high=1.0),
    "hub_depth": _whole,
    "is_hub": _flag,
    "rate_a": _positive,
    "rate_b": _positive,
    "page_class": _class,
    "importance": _positive,
}
