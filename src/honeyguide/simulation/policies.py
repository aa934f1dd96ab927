"""The policies that the simulator compares, as arrays; `SimulatedKnownRates` knows the rates and is the reference.

Owns: the array twins of `core.recrawl.policies`, which share its formulas, and the fit of priors to many rates. Must not
know: the world, except that `SimulatedKnownRates` is given its rates. Start reading at `SimulatedLearned`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from honeyguide.adapters.policies import AdaptiveInterval, PageColumns
from honeyguide.core.recrawl.priors import (
    FIT_ROUNDS,
    LEAST_A,
    MOST_A,
    WEIGHT,
    digamma_by,
    inverse_trigamma_by,
    trigamma_by,
)
from honeyguide.core.recrawl.rate import (
    FIRST_A,
    SURE,
    Rate,
    believed_by,
    chance_by,
    changed_by,
    changes_by,
    doubt_by,
    first_visit_by,
    forget_by,
    index_by,
    known_index_by,
)
from honeyguide.core.recrawl.signals import HUB_IMPORTANCE, PageState
from honeyguide.errors import InputError, shown
from honeyguide.simulation.announcements import SignalTrust, believe_all
from honeyguide.simulation.clocks import Clocks, VisitLessons
from honeyguide.simulation.worlds import CLASSES, HUB, NEVER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from honeyguide.adapters.policies import FormulaPolicy
    from honeyguide.core.recrawl.policies import RecrawlPolicy
    from honeyguide.simulation.announcements import Belief
    from honeyguide.simulation.run import Flags, Sight, Visits
    from honeyguide.simulation.worlds import Floats, Ints

_HOUR_S, _DAY_S, _WEEK_S = 3600.0, 86_400.0, 604_800.0
_LONGEST_H = 1e9  # since a visit that never was
_YEAR_H = 8760.0
_NUTCH = AdaptiveInterval()
_FIT_EVERY_H = 24.0
_FIT_SHARE = 0.02  # a fiftieth more visits changes the priors little
_FIRST_FINDS_H = 24.0  # as in `core.recrawl.visits.after_finds`
_CLASSES = len(CLASSES)


class _Simulated:
    """A policy that sees the pages and, unless it overrides `learn`, learns nothing."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight

    def learn(self, visits: Visits) -> None:
        """Learn nothing."""

    def _waited(self, now: float) -> Floats:
        return np.minimum(now - self._sight.visited, _LONGEST_H)


class SimulatedUniform(_Simulated):
    """Round robin: the page with the oldest copy first."""

    def scores(self, now: float) -> Floats:
        """Score by the time since the last visit."""
        return self._waited(now)


class SimulatedKnownRates(_Simulated):
    """The greedy index with rates that nobody can know: the reference."""

    def __init__(self, sight: Sight, rates: Floats) -> None:
        super().__init__(sight)
        self._rates = rates

    def scores(self, now: float) -> Floats:
        """Score by the index at the known rate."""
        return np.asarray(self._sight.weight * known_index_by(np, self._rates, self._waited(now)))


class SimulatedProportional(_Simulated):
    """Visit pages as often as they change: by the changes expected since the last visit."""

    def __init__(self, sight: Sight) -> None:
        super().__init__(sight)
        self._rates = _first_rates(len(sight.kind), sight)

    def scores(self, now: float) -> Floats:
        """Score by the changes that are expected."""
        return np.asarray(self._waited(now) * self._rates.a / self._rates.b)

    def learn(self, visits: Visits) -> None:
        """Learn the rates."""
        again = ~visits.is_first & ~visits.is_gone
        pages, waited = visits.pages[again], visits.now - visits.since[again]
        found = Outcomes(waited, visits.is_changed[again], np.zeros(len(pages), np.bool_))
        self._rates.put(pages, after_visits(self._rates.at(pages), found))


class SimulatedAdaptiveInterval(_Simulated):
    """Nutch's adaptive schedule: a fifth shorter after a change, two fifths longer without; the most overdue first."""

    def __init__(self, sight: Sight) -> None:
        super().__init__(sight)
        self._interval = np.full(len(sight.kind), sight.cycle_h)

    def scores(self, now: float) -> Floats:
        """Score by how many intervals have passed."""
        return np.asarray(self._waited(now) / self._interval)

    def learn(self, visits: Visits) -> None:
        """Adapt the interval."""
        again = ~visits.is_first
        pages = visits.pages[again]
        by = np.where(visits.is_changed[again], 1.0 - _NUTCH.shrink, 1.0 + _NUTCH.grow)
        self._interval[pages] = np.clip(self._interval[pages] * by, _NUTCH.least_h, _NUTCH.most_h)


class SimulatedHeuristic(_Simulated):
    """The card of PLAN-1; importance is topic relevance. Of equal scores, the oldest copy comes first."""

    def __init__(self, sight: Sight) -> None:
        super().__init__(sight)
        self._changed = np.full(len(sight.kind), -NEVER)
        self._relevance = sight.weight / float(np.max(sight.weight))

    def scores(self, now: float) -> Floats:
        """Add the points of each rule; the fraction orders equal points."""
        sight = self._sight
        since_visit_s, since_change_s = (now - sight.visited) * _HOUR_S, (now - self._changed) * _HOUR_S
        hub_depth = (sight.hub >= 0).astype(np.float64)
        points = card_points(since_visit_s, since_change_s, self._relevance, hub_depth, sight.kind == HUB)
        waited = np.where(np.isfinite(sight.visited), now - sight.visited, now + 1.0)
        return np.asarray(points + waited / (now + 2.0))

    def learn(self, visits: Visits) -> None:
        """Remember when a change was seen."""
        self._changed[visits.pages[visits.is_changed]] = visits.now


def card_points(
    since_visit_s: Floats, since_change_s: Floats, relevance: Floats, hub_depth: Floats, is_hub: Flags
) -> Floats:
    """Score PLAN-1 for arrays, as the card `plan` of the profile `base` does; what never happened was infinitely long ago."""
    is_old = (since_visit_s > _WEEK_S) & np.isfinite(since_visit_s)
    visit = np.select([since_visit_s < _HOUR_S, since_visit_s < _DAY_S, is_old], [-30.0, -10.0, 15.0], 0.0)
    change = np.where(since_change_s < _DAY_S, 20.0, 0.0)
    topic = np.where(relevance > 0.0, np.floor(relevance * 15.0 + 0.5), 0.0)
    structure = np.where(is_hub, 10.0, 0.0) - np.where(hub_depth > 3.0, 5.0, 0.0)
    return np.asarray(np.clip(50.0 + visit + change + topic + structure, 0.0, 100.0))


class SimulatedLearned(_Simulated):
    """Visit where the most freshness is won, by change rates learned from the visits, starting from nothing."""

    def __init__(self, sight: Sight, fit_every_h: float = _FIT_EVERY_H) -> None:
        super().__init__(sight)
        self._fit_every_h = self._next_fit = fit_every_h
        self._group = _CLASSES * sight.host + sight.kind
        self._start = _first_rates(_CLASSES, sight)
        self._priors = self._start.at(np.arange(_CLASSES * sight.hosts) % _CLASSES)
        self._seen = Rates(np.zeros(len(sight.kind)), np.zeros(len(sight.kind)))
        self._latest, self._doubt = self._seen.at(np.arange(len(sight.kind))), np.zeros(len(sight.kind))
        self._trust = [SignalTrust(self._group, sight.hosts) for _ in sight.announced]
        self._is_watched = np.zeros(len(sight.kind), np.bool_)
        self._clocks = Clocks(sight)
        self._hubs = np.flatnonzero(sight.kind == HUB)
        self._finds = Rates(np.zeros(len(sight.kind)), np.full(len(sight.kind), _FIRST_FINDS_H))

    def rates_of(self, pages: Ints) -> Rates:
        """Return what is believed of pages: what their visits saw, added to the rates of their siblings."""
        return believe(self._priors.at(self._group[pages]), self._seen.at(pages))

    def scores(self, now: float) -> Floats:
        """Score by the index in hours of each page's clock; hubs also by the new pages behind them."""
        self.refit_priors(now)
        self._clocks.watch_ends(now)
        sight, known = self._sight, np.flatnonzero(self._sight.is_known)
        rates, visited = self.rates_of(known), sight.visited[known]
        is_seen = np.isfinite(visited)
        since = np.where(is_seen, visited, now)
        exposure = self._clocks.exposure_h(since, now, known)
        values = self._changes(rates, exposure, known)
        values[~is_seen] = first_visit_by(np, rates.a[~is_seen], rates.b[~is_seen])
        scores = np.zeros(len(sight.kind))
        scores[known] = values * self._clocks.stretch(now, rates.b / rates.a, known)
        scores[self._hubs] += self._discovery(now)
        return np.asarray(sight.weight * scores)

    def _changes(self, rates: Rates, exposure: Floats, pages: Ints) -> Floats:
        """Value the sight of a change, as `core.recrawl.policies.Learned` does, per unit of what the visit will cost."""
        chance = chance_by(np, rates.a, rates.b, exposure)
        values = index_by(np, rates.a, rates.b, exposure)
        if self._trust:
            told = self._told(pages, self._sight.visited[pages])
            left = rates.b / np.where(told.is_claimed, 1.0, 1.0 - told.recall)
            sure = index_by(np, rates.a, left, np.maximum(exposure, SURE * rates.b / rates.a))
            plain = index_by(np, rates.a, left, exposure)
            share = np.where(told.is_claimed, told.precision, 0.0)
            values = share * sure + (1.0 - share) * plain
            chance = share + (1.0 - share) * chance_by(np, rates.a, left, exposure)
        cost = self._sight.unchanged_cost
        return np.asarray(values / (cost + (1.0 - cost) * chance))

    def _told(self, pages: Ints, since: Floats) -> Belief:
        """Return what trusted sources say of changes since the last visits."""
        claims = (claimed[pages] > since for claimed in self._sight.announced)
        return believe_all([trust.of(pages, one) for trust, one in zip(self._trust, claims, strict=True)])

    def refit_priors(self, now: float) -> None:
        """Fit the rates of siblings anew, if it is time."""
        if now < self._next_fit:
            return
        watched = np.flatnonzero(self._is_watched & self._sight.is_known)
        self._priors = refit(self._seen.at(watched), self._group[watched], self._start, self._sight.hosts)
        self._next_fit = now + max(self._fit_every_h, now * _FIT_SHARE)

    def learn(self, visits: Visits) -> None:
        """Update the rates of the pages that could be compared with an earlier copy, and the clocks."""
        kept = ~visits.is_first & ~visits.is_gone
        pages, since, is_changed = visits.pages[kept], visits.since[kept], visits.is_changed[kept]
        if not len(pages):
            return
        self._is_watched[pages] = True
        exposure = self._clocks.exposure_h(since, visits.now, pages)
        rates = self.rates_of(pages)
        found = Outcomes(exposure, is_changed, self._learn_claims(visits, kept))
        after = after_visits(rates, found)
        lessons = VisitLessons(
            pages=pages,
            since=since,
            now=visits.now,
            expected=chance_by(np, rates.a, rates.b, self._clocks.aged_h(pages, since, visits.now)),
            found=is_changed * changes_by(np, rates.a, rates.b, exposure),
            rate=after.a / after.b,
        )
        self._clocks.learn(lessons)
        self._remember(pages, rates, found)
        self._finds.a[pages] += visits.discovered[kept]
        self._finds.b[pages] += visits.now - since

    def _remember(self, pages: Ints, rates: Rates, found: Outcomes) -> None:
        """Add visits to what all visits saw, and to what the latest saw, as `core.recrawl.visits` does."""
        own = self._latest.at(pages)
        latest = believe(self._priors.at(self._group[pages]), own)
        doubt = doubt_by(np, self._doubt[pages], (latest, rates), (found.exposure, found.is_changed))
        kept = forget_by(
            np,
            np.where(found.was_announced, self._doubt[pages], doubt),
            with_visits(self._seen.at(pages), rates, found),
            with_visits(own, latest, found),
        )
        self._seen.put(pages, Rates(*kept.seen))
        self._latest.put(pages, Rates(*kept.latest))
        self._doubt[pages] = kept.doubt

    def _learn_claims(self, visits: Visits, kept: Flags) -> Flags:
        """Learn whether claims were true; tells which changes were announced."""
        pages, since, is_changed = visits.pages[kept], visits.since[kept], visits.is_changed[kept]
        if not self._trust:
            return np.zeros(len(pages), np.bool_)
        was_announced = self._told(pages, since).is_claimed & is_changed
        for trust, claimed in zip(self._trust, self._sight.announced, strict=True):
            trust.learn(pages, claimed[pages] > since, is_changed)
        return np.asarray(was_announced)

    def _discovery(self, now: float) -> Floats:
        hubs = self._hubs
        waited = np.clip(now - self._sight.visited[hubs], 0.0, _YEAR_H)
        return np.asarray(self._finds.a[hubs] / self._finds.b[hubs] * waited**2 / 2.0 / HUB_IMPORTANCE)


class SimulatedFormula(SimulatedLearned):
    """A policy of another package that is a formula over arrays; rates are learned for it as for `learned`."""

    def __init__(self, sight: Sight, policy: FormulaPolicy) -> None:
        super().__init__(sight)
        self._policy = policy

    def scores(self, now: float) -> Floats:
        """Compute the values of all pages at once."""
        self.refit_priors(now)
        sight, rates = self._sight, self.rates_of(np.arange(len(self._sight.kind)))
        waited = np.where(np.isfinite(sight.visited), now - sight.visited, SURE * rates.b / rates.a)
        with np.errstate(all="ignore"):  # `_sound` says what is wrong with a value
            values = self._policy.value_by(np, PageColumns(waited, rates.a, rates.b, sight.weight))
        return _sound(np.broadcast_to(values, waited.shape), self._policy.name)


class SimulatedRows(SimulatedLearned):
    """A policy of another package that values one page at a time; rates are learned for it as for `learned`."""

    def __init__(self, sight: Sight, policy: RecrawlPolicy, urls: Sequence[str]) -> None:
        super().__init__(sight)
        self._policy = policy
        self._urls = urls
        self._counts = np.zeros((3, len(sight.kind)), np.int64)  # visits, comparisons, changes
        self._changed = np.full(len(sight.kind), -NEVER)

    def scores(self, now: float) -> Floats:
        """Value page after page."""
        self.refit_priors(now)
        values, known = np.zeros(len(self._urls)), np.flatnonzero(self._sight.is_known)
        rates = self.rates_of(known)
        for page, a, b in zip(known.tolist(), rates.a.tolist(), rates.b.tolist(), strict=True):
            values[page] = self._value(page, Rate(a, b), now)
        return _sound(values, self._policy.name)

    def learn(self, visits: Visits) -> None:
        """Count the visits, and learn the rates."""
        np.add.at(self._counts[0], visits.pages, 1)
        np.add.at(self._counts[1], visits.pages[~visits.is_first], 1)
        np.add.at(self._counts[2], visits.pages[visits.is_changed], 1)
        self._changed[visits.pages[visits.is_changed]] = visits.now
        super().learn(visits)

    def _value(self, page: int, rate: Rate, now: float) -> float:
        sight, (visits, compared, changes) = self._sight, self._counts[:, page].tolist()
        visited, changed = float(sight.visited[page]), float(self._changed[page])
        state = PageState(
            url=self._urls[page],
            host=f"h{sight.host[page]}.example",
            page_class=CLASSES[sight.kind[page]],
            visits=max(visits, int(visited > -NEVER)),
            visited_at=visited * _HOUR_S if visited > -NEVER else None,
            changed_at=changed * _HOUR_S if changed > -NEVER else None,
            changes=changes,
            compared=compared,
            importance=float(sight.weight[page]),
            rate=rate,
        )
        return self._policy.value(state, now * _HOUR_S)


def _sound(values: Floats, name: str) -> Floats:
    if not np.all(np.isfinite(values)):
        raise InputError(f"the policy {shown(name)} gives values that are no numbers")
    return np.asarray(values, np.float64)


# --- rates and priors: a group is a class of pages on a host, 3 x host + class ---


class Rates(NamedTuple):
    """Many change rates: Gamma(a, b) each."""

    a: Floats
    b: Floats

    def at(self, places: Ints) -> Rates:
        """Return some of them."""
        return Rates(self.a[places], self.b[places])

    def put(self, places: Ints, rates: Rates) -> None:
        """Replace some of them."""
        self.a[places], self.b[places] = rates


def _first_rates(count: int, sight: Sight) -> Rates:
    return Rates(np.full(count, FIRST_A), np.full(count, FIRST_A * sight.cycle_h))


class Outcomes(NamedTuple):
    """What visits found, one of each page: `core.recrawl.visits.ChangeObservation` for arrays."""

    exposure: Floats
    is_changed: Flags
    was_announced: Flags  # a single change: taken as any other it would inflate the rate


def after_visits(rates: Rates, found: Outcomes) -> Rates:
    """Update rates, as `core.recrawl.visits.after_visit` does."""
    a, b = changed_by(np, rates.a, rates.b, found.exposure)
    is_guess = found.is_changed & ~found.was_announced
    return Rates(
        np.where(is_guess, a, rates.a + found.was_announced), np.where(is_guess, b, rates.b + found.exposure)
    )


def with_visits(seen: Rates, rates: Rates, found: Outcomes) -> Rates:
    """Add to what visits saw what one more of each page adds to its rate."""
    after = after_visits(rates, found)
    return Rates(seen.a + np.maximum(after.a - rates.a, 0.0), seen.b + np.maximum(after.b - rates.b, 0.0))


def believe(priors: Rates, seen: Rates) -> Rates:
    """Add what visits saw of pages to their priors, as `core.recrawl.rate.believed` does."""
    return Rates(*believed_by(np, priors, seen))


def refit(seen: Rates, groups: Ints, start: Rates, hosts: int) -> Rates:
    """Fit the prior of each class of each host, as `core.recrawl.priors.refit_priors` does."""
    class_of = np.arange(_CLASSES * hosts) % _CLASSES
    priors = start.at(class_of)
    for _ in range(FIT_ROUNDS if len(groups) else 0):
        rates = believe(priors.at(groups), seen)
        priors = _shrink(rates, groups, _shrink(rates, groups % _CLASSES, start).at(class_of))
    return priors


def _shrink(rates: Rates, groups: Ints, parents: Rates) -> Rates:
    """Fit each group; the fewer its pages, the nearer to its parent."""
    size = len(parents.a)
    pages = np.bincount(groups, minlength=size)
    fitted = _fit(rates, groups, np.maximum(pages, 1), size)
    share = pages / (pages + WEIGHT)
    a = _blend(fitted.a, parents.a, share)
    interval = _blend(fitted.b / fitted.a, parents.b / parents.a, share)
    is_empty = pages == 0
    return Rates(np.where(is_empty, parents.a, a), np.where(is_empty, parents.b, a * interval))


def _blend(own: Floats, parent: Floats, share: Floats) -> Floats:
    return np.exp(share * np.log(own) + (1.0 - share) * np.log(parent))


def _fit(rates: Rates, groups: Ints, pages: Ints, size: int) -> Rates:
    """Match the mean and the variance of the log rates of each group."""
    logs = digamma_by(np, rates.a) - np.log(rates.b)
    mean = np.bincount(groups, logs, minlength=size) / pages
    spreads = trigamma_by(rates.a) + (logs - mean[groups]) ** 2
    spread = np.bincount(groups, spreads, minlength=size) / pages
    a = np.clip(inverse_trigamma_by(np.maximum(spread, trigamma_by(MOST_A))), LEAST_A, MOST_A)
    return Rates(a, np.exp(digamma_by(np, a) - mean))
