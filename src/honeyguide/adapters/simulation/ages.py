"""What the ages of pages count, for all pages of a simulation at once: the same as `core.ages`, as arrays.

Owns: the age profiles of classes and hosts, and exposure by them. Must not know: rates, policies, days.
Start reading at `Ages.exposure_h`. A group is a class of pages on a host: 3 x host + class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from honeyguide.core.ages import EDGES_H, SLOWEST, first_weights, lasting_by, weight_by

if TYPE_CHECKING:
    from honeyguide.adapters.simulation.worlds import Floats, Ints
    from honeyguide.core.priors import PageClass

_EDGES = np.array(EDGES_H)
_ENDS = np.append(_EDGES[1:], np.inf)


class Ages:
    """What an hour counts at each age, for each class of pages on each host."""

    def __init__(self, class_names: tuple[PageClass, ...], hosts: int) -> None:
        groups = len(class_names) * hosts
        self._class = np.arange(groups) % len(class_names)
        self._first = np.array([first_weights(name) for name in class_names])
        self._found = np.zeros((groups, len(EDGES_H)))
        self._expected = np.zeros((groups, len(EDGES_H)))
        self._lived, self._ended = np.zeros_like(self._first), np.zeros_like(self._first)
        self._read()

    def exposure_h(self, group: Ints, since_age: Floats, age: Floats) -> Floats:
        """Give the hours that count between two ages of pages."""
        return self._reading(group, age) - self._reading(group, since_age)

    def stretch(self, group: Ints, age: Floats, span_h: Floats, interval_h: Floats) -> Floats:
        """Say how many wall hours an hour of the clock takes over the coming span, for pages that may end."""
        stretch = span_h / np.maximum(self.exposure_h(group, age, age + span_h), span_h * SLOWEST)
        ends = self._ended / np.maximum(self._lived, 1.0)
        return np.asarray(lasting_by(stretch, interval_h, ends[self._class[group], _place(age)]))

    def live(self, group: Ints, age: Floats, hours: float) -> None:
        """Count the hours that pages live at their ages."""
        np.add.at(self._lived, (self._class[group], _place(age)), hours)

    def end(self, group: Ints, age: Floats) -> None:
        """Count pages that end."""
        np.add.at(self._ended, (self._class[group], _place(age)), 1.0)

    def note(self, group: Ints, ages: tuple[Floats, Floats], found: Floats, rate: Floats) -> None:
        """Remember visits: both ages, the changes between them by expectation, and the rate that is believed after."""
        begin, end = (np.maximum(age, 0.0)[:, None] for age in ages)
        hours = np.maximum(np.minimum(end, _ENDS) - np.maximum(begin, _EDGES), 0.0)
        counted = hours * self._weight[group]
        share = found / np.maximum(counted.sum(axis=1), 1e-300)
        np.add.at(self._found, group, counted * share[:, None])
        np.add.at(self._expected, group, hours * rate[:, None])
        self._read()

    def _read(self) -> None:
        """Weigh the ages: of hosts near to their class, of classes near to where they started."""
        found, expected = (
            counts.reshape(-1, *self._first.shape).sum(axis=0) for counts in (self._found, self._expected)
        )
        parent = weight_by(found, expected, self._first)
        self._weight = weight_by(self._found, self._expected, parent[self._class])
        inner = np.sqrt(self._weight[:, :-1] * self._weight[:, 1:])
        self._speed = np.concatenate([self._weight[:, :1], inner], axis=1)
        self._slope = np.zeros_like(self._weight)
        self._slope[:, :-1] = np.diff(self._speed, axis=1) / np.diff(_EDGES)
        self._readings = np.zeros_like(self._weight)
        middle = (self._speed[:, :-1] + self._speed[:, 1:]) / 2.0
        np.cumsum(np.diff(_EDGES) * middle, axis=1, out=self._readings[:, 1:])

    def _reading(self, group: Ints, age: Floats) -> Floats:
        """Read the clocks; between two edges their speed goes straight from one to the other."""
        age, place = np.maximum(age, 0.0), _place(age)
        over = age - _EDGES[place]
        speed = self._speed[group, place] + self._slope[group, place] * over / 2.0
        return np.asarray(self._readings[group, place] + over * speed)


def _place(age: Floats) -> Ints:
    """Find which age that is."""
    return np.asarray(np.searchsorted(_EDGES, np.maximum(age, 0.0), "right") - 1)
