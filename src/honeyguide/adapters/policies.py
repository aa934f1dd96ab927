"""Recrawl policies by name: our own, simple schedules to compare them with, and those of other packages.

Owns: the entry points of the group `honeyguide.policies`. Must not know: stores, files. Start reading at `load_policy`.
An entry point is a function of a profile and priors that returns a `core.recrawl.policies.RecrawlPolicy`; it is loaded
only when its name is requested. Our own names come first. A `FormulaPolicy` also runs over columns and in simulations.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from honeyguide.core.recrawl.clocks import WallClock
from honeyguide.core.recrawl.policies import (
    HEURISTIC,
    LEARNED,
    Heuristic,
    Learned,
    ValuePart,
    VisitValue,
    explain_value,
)
from honeyguide.core.recrawl.priors import Priors
from honeyguide.core.recrawl.rate import SCALARS, SURE, Maths, single
from honeyguide.core.text.printable import duration, every
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from honeyguide.core.recrawl.policies import RecrawlPolicy
    from honeyguide.core.recrawl.signals import PageState
    from honeyguide.core.rules.profile import Profile

_WALL = WallClock()
NEVER_H = 1e7  # the age of a copy that does not exist: a thousand years
GROUP = "honeyguide.policies"


def policy_names() -> list[str]:
    """List the names of all policies, our own first."""
    others = {entry.name for entry in entry_points(group=GROUP)} - POLICIES.keys()
    return [*POLICIES, *sorted(others)]


def load_policy(name: str, profile: Profile, priors: Priors) -> RecrawlPolicy:
    """Make the policy of that name."""
    if name in POLICIES:
        return POLICIES[name](profile, priors)
    for entry in entry_points(group=GROUP, name=name):
        try:
            policy: RecrawlPolicy = entry.load()(profile, priors)
        except Exception as error:  # whatever the code of another package raises
            raise InputError(
                f"the policy {shown(name)} of {entry.value} cannot be made: {type(error).__name__}: {error}"
            ) from error
        if type(policy) in _OWN:  # one that is derived from these has values of its own
            return policy
        if missing := [part for part in ("name", "value", "judge") if not hasattr(policy, part)]:
            what = f"makes {type(policy).__name__}, which has no {', '.join(missing)}"
            raise InputError(f"the policy {shown(name)}: {entry.value} {what}")
        return _OfOthers(policy, str(policy.name))
    known = ", ".join(policy_names())
    raise InputError(f"there is no policy {shown(name)}; there are {known}", field="policy")


# --- policies of other packages ---


@dataclass(frozen=True, slots=True)
class _OfOthers:
    """A policy of another package, whose mistakes are sentences that name it."""

    policy: RecrawlPolicy
    name: str

    def value(self, page: PageState, now: float) -> float:
        """Return its value, if that is a number."""
        with _blaming(self.name):
            return _number(self.policy.value(page, now), page)

    def judge(self, page: PageState, now: float, price: float) -> VisitValue:
        """Return its judgement, if that is one."""
        with _blaming(self.name):
            found = self.policy.judge(page, now, price)
            if not isinstance(found, VisitValue):
                raise TypeError(f"judge returns {type(found).__name__}, not VisitValue")
            return found


@contextmanager
def _blaming(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # whatever the code of another package raises
        said = " ".join(str(error).split())
        if "truth value" in said:  # of an array or a column, as numpy and polars say
            said = "the formula also gets whole columns: use maths.where instead of if, and & and | instead of and and or"
        what = f"the policy {shown(name)} cannot value pages: {type(error).__name__}: {said}"
        raise InputError(what) from error


def _number(value: Any, page: PageState) -> float:
    number = float(value)
    if not isfinite(number):
        raise ValueError(f"{number} is no number, for {page.url}")
    return number


# --- a policy by one formula ---


class PageColumns(NamedTuple):
    """What a formula reads of pages: numbers, arrays or expressions of columns, all of the same kind.

    `rate_a` and `rate_b` are the believed change rate, Gamma(a, b) in changes per hour; `waited_h` are the hours since the
    last visit, 20 mean intervals for a page that was never visited.
    """

    waited_h: Any
    rate_a: Any
    rate_b: Any
    weight: Any


@dataclass(frozen=True, slots=True)
class FormulaPolicy:
    """A policy that is one formula over `PageColumns`, for single pages, columns and simulations alike.

    >>> from honeyguide import PageState
    >>> overdue = FormulaPolicy("overdue", lambda maths, page: page.waited_h * page.rate_a / page.rate_b, "intervals")
    >>> overdue.value(PageState("https://a.example/", visited_at=0.0), 720 * 3600.0)
    1.0
    """

    name: str
    formula: Callable[[Maths, PageColumns], Any]  # `Maths` has log, exp, expm1 and where
    text: str  # explains the value to people
    priors: Priors = field(default_factory=Priors)

    def __post_init__(self) -> None:
        for name, is_right in (("name", bool(self.name)), ("formula", callable(self.formula))):
            if not is_right:
                raise InputError("a policy needs a name and a function of maths and pages", field=name)

    def value(self, page: PageState, now: float) -> float:
        """Compute the value of one page, to 7 digits."""
        rate = page.rate or self.priors.of(page.host, page.page_class)
        waited_h = SURE * rate.b / rate.a if page.visited_at is None else _since_h(page, now)
        value = self.value_by(SCALARS, PageColumns(waited_h, rate.a, rate.b, page.weight))
        with _blaming(self.name):
            return single(_number(value, page))

    def judge(self, page: PageState, now: float, price: float) -> VisitValue:
        """Explain the value."""
        return explain_value(self, page, now, price, [ValuePart(self.name, self.value(page, now), self.text)])

    def value_by(self, maths: Maths, pages: PageColumns) -> Any:
        """Compute the values of numbers, arrays or columns; raises `InputError`."""
        with _blaming(self.name):
            value = self.formula(maths, pages)
            is_column = type(value).__module__.startswith(("numpy", "polars"))
            return value if is_column else float(value)


# --- schedules ---


class IntervalPolicy:
    """Visit a page once in an interval: the value of a visit is how many intervals have passed since the last one.

    `bulk/learned_table.py` has the same over columns, so values have 7 digits.
    """

    __slots__ = ()
    name: ClassVar[str]
    text: ClassVar[str] = ""  # explains the interval

    def interval_of(self, page: PageState) -> float:
        """Return the interval of a page, in hours."""
        raise NotImplementedError

    def value(self, page: PageState, now: float) -> float:
        """Return how many intervals have passed; a page that was never visited comes first."""
        return single(_since_h(page, now) / self.interval_of(page))

    def judge(self, page: PageState, now: float, price: float) -> VisitValue:
        """Explain the value."""
        value, rule, text = self.value(page, now), "first-visit", "first visit"
        if page.visited_at is not None:
            often = f"; {self.text} {every(self.interval_of(page))}" if self.text else ""
            rule, text = "visited", f"last visit {duration(_since_h(page, now))} ago{often}"
        return explain_value(self, page, now, price, [ValuePart(rule, value, text)])


def _since_h(page: PageState, now: float) -> float:
    if page.visited_at is None:
        return NEVER_H
    return _WALL.exposure_h(page.visited_at, now)


@dataclass(frozen=True, slots=True)
class Uniform(IntervalPolicy):
    """Round robin: the page with the oldest copy first."""

    name: ClassVar[str] = "uniform"

    def interval_of(self, page: PageState) -> float:  # noqa: ARG002 - the same for all pages
        """Return an hour."""
        return 1.0


@dataclass(frozen=True, slots=True)
class Proportional(IntervalPolicy):
    """Visit pages as often as they change."""

    name: ClassVar[str] = "proportional"
    text: ClassVar[str] = "changes about"
    priors: Priors = field(default_factory=Priors)

    def interval_of(self, page: PageState) -> float:
        """Return the mean hours from change to change."""
        return (page.rate or self.priors.of(page.host, page.page_class)).mean_interval_h


@dataclass(frozen=True, slots=True)
class AdaptiveInterval(IntervalPolicy):
    """Visit in intervals that grow while a page stays the same and shrink when it changes, as Nutch does."""

    name: ClassVar[str] = "adaptive-interval"
    text: ClassVar[str] = "visited"
    first_h: float = 720.0
    grow: float = 0.4
    shrink: float = 0.2
    least_h: float = 1 / 60
    most_h: float = 8760.0

    def interval_of(self, page: PageState) -> float:
        """Return the interval after so many visits and changes."""
        same = max(0, page.visits - 1 - page.changes)
        try:
            interval = self.first_h * (1.0 + self.grow) ** same * (1.0 - self.shrink) ** page.changes
        except OverflowError:
            interval = self.most_h
        return min(max(interval, self.least_h), self.most_h)


# Each makes a policy from the profile and the priors. `simulation/policies.py` has the same policies over arrays.
POLICIES: Mapping[str, Callable[[Profile, Priors], RecrawlPolicy]] = {
    LEARNED: lambda _, priors: Learned(priors),
    HEURISTIC: lambda profile, _: Heuristic(profile),
    Uniform.name: lambda _, __: Uniform(),
    Proportional.name: lambda _, priors: Proportional(priors),
    AdaptiveInterval.name: lambda _, __: AdaptiveInterval(),
}
_OWN = {FormulaPolicy, Learned, Heuristic, Uniform, Proportional, AdaptiveInterval}
