"""Generated worlds: steady, bursty, periodic and seasonal pages, pages that die, and a news site.

Owns: the generators of `World`s, their settings, and reading `poisson:pages=2000,days=30`. Must not know: policies,
fetches. Start reading at `generate_world`. The same seed gives the same world on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from honeyguide.errors import InputError, shown
from honeyguide.simulation.worlds import ARTICLE, HUB, NEVER, PAGE, World, hindsight_rates

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from honeyguide.simulation.worlds import Floats, Ints

MAX_CHANGES = 50_000_000
_DAY = 24.0
_EDITS, _HALF_H, _LIFE_H = 3.0, 6.0, 240.0  # of an article


@dataclass(frozen=True, slots=True)
class WorldSettings:
    """The settings of a generated world."""

    pages: int = 2000
    days: float = 60.0
    hosts: int = 20
    interval: float = 10.0  # the median of days from change to change
    spread: float = 1.5  # the standard deviation of the rates' logarithm
    importance: float = 0.95  # weights range from 1 down to 1 minus this; 0: all are equal
    hubs: int = 20  # of a news site
    articles: float = 200.0  # that appear in a day


_MOST = {
    "pages": 1e6, "days": 36_500, "hosts": 1e5, "interval": 1e5, "spread": 5, "importance": 0.99, "hubs": 1e4, "articles": 1e5,
}  # fmt: skip


def generate_world(text: str, seed: int, days: float | None = None) -> World:
    """Generate the world that a text like `poisson:pages=2000,hosts=5` names; `days` overrides it."""
    name, _, rest = text.partition(":")
    settings = _settings(name, rest)
    settings = settings if days is None else replace(settings, days=days)
    world = MAKERS[name](settings, np.random.Generator(np.random.PCG64(seed)))
    return replace(world, name=text)


def _settings(name: str, rest: str) -> WorldSettings:
    known, values = {field.name: field.type for field in fields(WorldSettings)}, dict[str, Any]()
    for part in filter(None, rest.split(",")):
        key, _, value = part.partition("=")
        if key not in known:
            raise InputError(f"{shown(key)} is none of its settings: {', '.join(known)}", file=name)
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        least = 0.0 if key in ("spread", "importance") else 1e-6
        if not least <= number <= _MOST[key] or (known[key] == "int" and number != int(number)):
            kind = "a whole number from 1" if known[key] == "int" else "a number from 0"
            kind = kind if known[key] == "int" or not least else "a number above 0 and up"
            most = f"{_MOST[key]:,.2f}".removesuffix(".00")
            raise InputError(f"{shown(value)} should be {kind} to {most}", file=name, field=key)
        values[key] = int(number) if known[key] == "int" else number
    return WorldSettings(**values)


def _poisson(settings: WorldSettings, rng: Generator) -> World:
    """Let every page change at its own steady rate."""
    rates = _rates(settings, rng)
    pages, times = _steady(rates, settings.days * _DAY, rng)
    return replace(world_of_changes(settings, rng, pages, times), rates=rates, is_steady=True)


def _bursty(settings: WorldSettings, rng: Generator) -> World:
    """Let changes come in bursts: a few within a day, then a long rest."""
    hours = settings.days * _DAY
    starts, times = _steady(_rates(settings, rng) / 4.0, hours, rng)
    extra = rng.geometric(1 / 4, len(starts)) - 1  # four changes in a burst, on average
    pages = np.repeat(starts, extra)
    later = np.repeat(times, extra) + rng.exponential(8.0, len(pages))
    pages, times = np.concatenate([starts, pages]), np.concatenate([times, later])
    return world_of_changes(settings, rng, pages[times < hours], times[times < hours])


def _periodic(settings: WorldSettings, rng: Generator) -> World:
    """Let pages change like clockwork, each with its own period and phase, a tenth of it early or late."""
    hours = settings.days * _DAY
    rates = np.minimum(_rates(settings, rng), 1.0)
    counts = np.ceil(hours * rates).astype(np.int64) + 1
    pages = np.repeat(np.arange(settings.pages), counts)
    step = np.arange(len(pages)) - np.repeat(np.cumsum(counts) - counts, counts)
    phase = rng.random(settings.pages)[pages] + rng.normal(0.0, 0.1, len(pages))
    times = (step + phase - 1.0) / rates[pages]
    is_inside = (times > 0.0) & (times < hours)
    return world_of_changes(settings, rng, pages[is_inside], times[is_inside])


def _seasonal(settings: WorldSettings, rng: Generator) -> World:
    """Let sites sleep at night and on Sundays, and now and then change a third of their pages within an hour."""
    hours = settings.days * _DAY
    pages, times = _steady(_rates(settings, rng) * 2.0, hours, rng)
    is_awake = (times % _DAY >= 8.0) & (times % _DAY < 20.0) & ((times // _DAY) % 7 < 6)
    kept = rng.random(len(times)) < np.where(is_awake, 1.0, 0.1)
    pages, times = pages[kept], times[kept]
    host = _hosts(settings)
    edits = np.sort(rng.random(max(1, int(settings.days / 20))) * hours)
    for at in edits:
        is_host = host == rng.integers(settings.hosts)
        touched = np.flatnonzero(is_host & (rng.random(settings.pages) < 1 / 3))
        pages = np.concatenate([pages, touched])
        times = np.concatenate([times, at + rng.random(len(touched))])
    return world_of_changes(settings, rng, pages[times < hours], times[times < hours])


def _mixed(settings: WorldSettings, rng: Generator) -> World:
    """Let a third of the pages change steadily, a third in bursts and a third never; some of each come late or die."""
    hours = settings.days * _DAY
    steady = _poisson(settings, rng)
    bursty = _bursty(settings, rng)
    kind = rng.integers(0, 3, settings.pages)
    of_steady, of_bursty = _pages_of(steady), _pages_of(bursty)
    chosen_s, chosen_b = kind[of_steady] == 0, kind[of_bursty] == 1
    pages = np.concatenate([of_steady[chosen_s], of_bursty[chosen_b]])
    times = np.concatenate([steady.times[chosen_s], bursty.times[chosen_b]])
    born = np.where(rng.random(settings.pages) < 0.2, rng.random(settings.pages) * hours, 0.0)
    gone = np.where(rng.random(settings.pages) < 0.2, born + rng.random(settings.pages) * hours, NEVER)
    is_alive = (times > born[pages]) & (times < gone[pages])
    return world_of_changes(settings, rng, pages[is_alive], times[is_alive], (born, gone))


def _pages_of(world: World) -> Ints:
    return np.repeat(np.arange(world.size), np.diff(world.offsets))


def _rates(settings: WorldSettings, rng: Generator) -> Floats:
    return np.exp(rng.normal(0.0, settings.spread, settings.pages)) / (settings.interval * _DAY)


def _steady(rates: Floats, hours: float, rng: Generator) -> tuple[Ints, Floats]:
    if float(np.sum(rates)) * hours > MAX_CHANGES:
        raise InputError(f"would have more than {MAX_CHANGES:,} changes; take fewer pages or days")
    counts = rng.poisson(rates * hours)
    pages = np.repeat(np.arange(len(rates)), counts)
    return pages, rng.random(len(pages)) * hours


def _hosts(settings: WorldSettings) -> Ints:
    """Assign pages to hosts whose sizes fall like 1, 1/2, 1/3 and so on: few are large, most are small."""
    share = 1.0 / np.arange(1, settings.hosts + 1)
    edges = np.cumsum(share / share.sum())
    places = np.searchsorted(edges, (np.arange(settings.pages) + 0.5) / settings.pages)
    return np.minimum(places, settings.hosts - 1)


def world_of_changes(
    settings: WorldSettings,
    rng: Generator,
    pages: Ints,
    times: Floats,
    lives: tuple[Floats, Floats] | None = None,
) -> World:
    """Make a world of plain pages from the pages of changes and their times, and when pages are there: (born, gone)."""
    size, hours = settings.pages, settings.days * _DAY
    born, gone = lives or (np.zeros(size), np.full(size, NEVER))
    order = np.lexsort((times, pages))
    offsets = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(pages, minlength=size), out=offsets[1:])
    host = _hosts(settings)
    return World(
        name="",
        hours=hours,
        pages=[f"https://h{h}.example/{p}" for p, h in enumerate(host)],
        hosts=tuple(f"h{h}.example" for h in range(settings.hosts)),
        host=host,
        kind=np.full(size, PAGE),
        weight=1.0 - settings.importance * rng.random(size),
        born=born,
        gone=gone,
        hub=np.full(size, -1),
        offsets=offsets,
        times=times[order],
        rates=hindsight_rates(offsets, np.minimum(gone, hours) - born),
    )


def _news(settings: WorldSettings, rng: Generator) -> World:
    """Let articles appear by day, found only through the hub that lists them, and change in their first hours."""
    # An article has three changes in its life, by the age of x hours x / (x + 6) of them; it is needed for ten days.
    hours, hubs = settings.days * _DAY, settings.hubs
    count = int(rng.poisson(settings.articles * settings.days))
    born = np.sort(_by_day(rng, count, settings.days))
    size = 1.0 / np.arange(1, hubs + 1)
    hub = rng.choice(hubs, size=count, p=size / size.sum())
    edits = rng.poisson(_EDITS, count)
    owner = np.repeat(np.arange(count), edits)
    share = rng.random(len(owner))
    age = _HALF_H * share / (1.0 - share)
    pages = np.concatenate([hub, owner + hubs])  # each new article is a change of its hub
    times = np.concatenate([born, born[owner] + age])
    is_inside = (times < hours) & np.concatenate([np.ones(count, np.bool_), age < _LIFE_H])
    pages, times = pages[is_inside], times[is_inside]
    shape = replace(settings, pages=hubs + count)
    lives = np.concatenate([np.zeros(hubs), born]), np.concatenate([np.full(hubs, NEVER), born + _LIFE_H])
    world = world_of_changes(shape, rng, pages, times, lives)
    is_hub = np.arange(hubs + count) < hubs
    return replace(
        world,
        host=np.concatenate([np.arange(hubs), hub]) % settings.hosts,
        kind=np.where(is_hub, HUB, ARTICLE),
        weight=np.where(is_hub, 3.0, 1.0),
        hub=np.concatenate([np.full(hubs, -1), hub]),
        is_end_known=True,
    )


def _archive(settings: WorldSettings, rng: Generator) -> World:
    """Tell the same news as a history does that knows times only: no classes, no hubs that list them, and no end."""
    news = _news(settings, rng)
    return replace(
        news,
        kind=np.full(news.size, PAGE),
        weight=np.ones(news.size),
        gone=np.full(news.size, NEVER),
        hub=np.full(news.size, -1),
        rates=hindsight_rates(news.offsets, news.hours - news.born),
        is_end_known=False,
    )


def _by_day(rng: Generator, count: int, days: float) -> Floats:
    """Draw times, three in four of them between six and twenty-two."""
    hour = np.where(rng.random(count) < 0.75, 6.0 + 16.0 * rng.random(count), 24.0 * rng.random(count))
    return np.minimum(np.floor(rng.random(count) * days) * _DAY + hour, days * _DAY - 1e-6)


MAKERS: dict[str, Callable[[WorldSettings, Generator], World]] = {
    "poisson": _poisson,
    "bursty": _bursty,
    "periodic": _periodic,
    "seasonal": _seasonal,
    "mixed": _mixed,
    "news": _news,
    "archive": _archive,
}
