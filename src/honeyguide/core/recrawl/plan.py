"""Plan: what a visit to a known URL is worth now (PLAN-1 to PLAN-4).

Owns: `UrlSignals`, levels, and what a plan contains. Must not know: files (adapters/files/signals.py reads them), the
clock: `now` is a parameter. Start reading at `score_url`; tables are ranked in `ranking.py`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields, replace
from datetime import datetime  # noqa: TC003 - the reference reads the types of the signals
from math import ceil, inf
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.recrawl.priors import PageClass  # noqa: TC001 - as above
from honeyguide.core.recrawl.rate import cut_share
from honeyguide.core.rules.facts import Facts
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from honeyguide.core.recrawl.signals import PageState
    from honeyguide.core.rules.language import Reason, Score
    from honeyguide.core.rules.profile import Level, Profile


@dataclass(frozen=True, slots=True)
class UrlSignals:
    """What is known of a URL; None is not known. The last four are for the policy `learned`."""

    url: str  # http or https
    visits: int | None = None  # how often it was visited
    last_visited: datetime | None = None  # ISO 8601, a date, or an epoch time; UTC if no zone is named
    last_changed: datetime | None = None  # the same
    topic_relevance: float | None = None  # 0 to 1
    hub_depth: int | None = None  # links from the nearest hub
    is_hub: bool | None = None  # whether it lists other pages
    rate_a: float | None = None  # changes seen in `rate_b` hours, above 0
    rate_b: float | None = None  # hours
    page_class: PageClass | None = None  # its class, whose usual change rate applies
    importance: float | None = None  # what a fresh copy is worth, above 0, if not by its relevance


NAMES = tuple(one.name for one in fields(UrlSignals))


class ScoredUrl(NamedTuple):
    """A URL with its score, the reasons, and its level (PLAN-2)."""

    signals: UrlSignals
    score: Score
    level: Level

    @property
    def url(self) -> str:
        """The URL as given."""
        return self.signals.url

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it has this score."""
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
    budget: int | None = (
        None  # of visits: levels are ranks relative to it, for policies whose values have no unit
    )

    @property
    def is_top(self) -> bool:
        """Whether the best of all are asked for, and nothing else."""
        others = (self.per_host, self.min_score, self.max_score)
        return self.top is not None and not self.levels and others == (None, None, None)

    def too_many(self, file: str) -> InputError:
        """Make the error for rows that do not fit into memory together."""
        what = f"has more than {self.limit:,} rows; ask for the best of them with --top"
        return InputError(what, file=file)

    def wants(self, score: float, level: Level) -> bool:
        """Tell whether a score and its level are asked for."""
        is_level = not self.levels or level.name in self.levels
        is_enough = self.min_score is None or score >= self.min_score
        return is_level and is_enough and (self.max_score is None or score < self.max_score)

    def before_levels(self, ranges: Sequence[LevelRange]) -> PlanQuery:
        """Ask for all rows that may be of the levels that are wanted, if these follow from ranks."""
        if not self.levels:
            return self
        last = max((one.last for one in ranges if one.level.name in self.levels), default=0)
        return replace(self, levels=(), per_host=None, top=None if last == inf else int(last))

    def after_levels(self, entries: Iterable[PlanEntry], host_of: Callable[[str], str]) -> list[PlanEntry]:
        """Keep the entries of the levels that are wanted, within the other limits."""
        kept, hosts = list[PlanEntry](), Counter[str]()
        for entry in entries:
            host = host_of(entry.scored.url) if self.per_host else ""
            if entry.scored.level.name in self.levels and not (
                self.per_host and hosts[host] >= self.per_host
            ):
                hosts[host] += 1
                kept.append(entry)
        return kept[: self.top]


class LevelRange(NamedTuple):
    """A level and the ranks that it has, relative to a budget."""

    level: Level
    first: int
    last: float  # infinite for the last level


def budget_levels(budget: int, profile: Profile) -> list[LevelRange]:
    """Divide ranks into levels: the scores from 60 on are those within the budget, others follow the scale of scores.

    A score of 80 is a value of four times that of the last page in the budget, so the best quarter of the budget has that
    level; 40 is within three budgets, 20 within thirteen. Ranks are distinct, so many equal values fill no level.
    """
    ranges, first = list[LevelRange](), 1
    for level in profile.levels:
        is_last = level is profile.levels[-1]
        last = inf if is_last or level.at_least <= 0.0 else ceil(budget * cut_share(level.at_least) - 1e-9)
        ranges.append(LevelRange(level, first, last))
        first = int(last) + 1 if last < inf else first
    return ranges


def level_at(rank: int, ranges: Sequence[LevelRange]) -> Level:
    """Return the level of a rank."""
    return next(one.level for one in ranges if rank <= one.last)


def count_ranges(rows: int, ranges: Sequence[LevelRange]) -> dict[str, int]:
    """Count the rows of each level."""
    return {one.level.name: int(max(0, min(one.last, rows) - one.first + 1)) for one in ranges}


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
    ranges: Sequence[LevelRange] = ()  # which ranks the levels have, if they are relative to a budget
    tied: int = 0  # rows that are not in the plan and worth as much as its last entry, where only the top is asked for
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


def future_fields(signals: UrlSignals, now: datetime) -> Iterator[str]:
    """Name the times that lie in the future, for a warning."""
    for name in ("last_visited", "last_changed"):
        if (getattr(signals, name) or now) > now:
            yield name
