"""Worlds to simulate: which pages there are, and when each of them really changed.

Owns: `World`, and reading one from a CSV file of change times or from a store. Must not know: policies, fetches, scores.
Start reading at `World`; generated worlds are in `generated.py`. numpy is an extra, so this module is imported on demand.
Times are hours since the world's start; earlier ones are not kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from honeyguide.adapters.files.read import lines_or_errors, name_of
from honeyguide.adapters.files.rows import csv_rows, sign_of
from honeyguide.adapters.files.signals import read_time
from honeyguide.core.page.likeness import can_compare
from honeyguide.core.recrawl.history import site_of
from honeyguide.core.recrawl.signals import LEAST_RELEVANCE, UNKNOWN_RELEVANCE
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from honeyguide.core.recrawl.history import SeenContent
    from honeyguide.core.recrawl.priors import PageClass
    from honeyguide.ports.store import History

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

PAGE, HUB, ARTICLE = 0, 1, 2
CLASSES: tuple[PageClass, ...] = ("page", "hub", "article")  # by number
MAX_ROWS = 20_000_000
HOUR_S = 3600.0
NEVER = math.inf
# Kinds of rows besides changes; a move or a technical note leaves the content as it was.
_CREATED, _DELETED = "created", "deleted"
_SILENT = frozenset({"moved", "tech", "other"})


@dataclass(frozen=True, slots=True)
class World:
    """Pages and their changes.

    Page p changed at `times[offsets[p]:offsets[p + 1]]`. It exists from `born` until `gone`. `hub` is the page whose
    visit finds it, -1 if it needs none. `rates` are changes per hour: the true ones if `is_steady`, which means that
    changes came at just these rates, all the time and independently; else estimates. `is_end_known`: after its end a page
    still answers, but nobody needs it, and the crawler knows that.
    """

    name: str
    hours: float
    pages: Sequence[str]
    hosts: tuple[str, ...]
    host: Ints
    kind: Ints
    weight: Floats
    born: Floats
    gone: Floats
    hub: Ints
    offsets: Ints
    times: Floats
    rates: Floats
    is_steady: bool = False
    is_end_known: bool = False
    start: datetime = field(default=datetime(2024, 1, 1, tzinfo=UTC))

    @property
    def size(self) -> int:
        """How many pages there are, over the whole time."""
        return len(self.born)

    @property
    def alive(self) -> float:
        """How many pages there are at a time, on average."""
        return float(np.sum(np.minimum(self.gone, self.hours) - np.maximum(self.born, 0.0)) / self.hours)

    def next_change(self, pages: Ints, after: Floats) -> Floats:
        """Return when pages change next after a time; NEVER if they do not."""
        place = self.place_after(pages, after)
        found = np.full(len(pages), NEVER)
        is_there = place < self.offsets[pages + 1]
        found[is_there] = self.times[place[is_there]]
        return found

    def place_after(self, pages: Ints, after: Floats) -> Ints:
        """Find the first change of each page later than a time, by halving, all pages at once."""
        low, high = self.offsets[pages].copy(), self.offsets[pages + 1].copy()
        while np.any(is_open := low < high):
            middle = (low + high) // 2
            is_later = self.times[np.minimum(middle, max(len(self.times) - 1, 0))] > after
            high = np.where(is_open & is_later, middle, high)
            low = np.where(is_open & ~is_later, middle + 1, low)
        return low


def packed(changes: Sequence[Floats]) -> tuple[Ints, Floats]:
    """Lay the sorted changes of each page one after the other."""
    offsets = np.zeros(len(changes) + 1, np.int64)
    np.cumsum([len(times) for times in changes], out=offsets[1:])
    return offsets, np.concatenate(changes) if changes else np.zeros(0)


def hindsight_rates(offsets: Ints, lived: Floats) -> Floats:
    """Estimate the rates from the whole history; a page that never changed counts half a change."""
    return np.maximum(np.diff(offsets), 0.5) / np.maximum(lived, 1e-9)


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a history that counts: from a moment on, for some days; by default all of it."""

    start: datetime | None = None
    days: float | None = None


@dataclass(slots=True)
class ChangeLog:
    """The events of one page, in any order: times in seconds since 1970 and their kinds; its host, class, weight."""

    rows: list[tuple[float, str]] = field(default_factory=list)
    host: str = ""
    kind: int = PAGE
    weight: float = 1.0


def read_world(path: str, window: Window, seed: int) -> World:
    """Read the changes of a CSV file with the columns page and timestamp; raises `InputError`."""
    name = name_of(path)
    histories: dict[str, ChangeLog] = {}
    for raw in csv_rows(lines_or_errors(path), name, partial(_header, name=name), partial(_sign, name=name)):
        if raw.number > MAX_ROWS:
            raise InputError(f"has more than {MAX_ROWS:,} rows; split it", file=name)
        _add(histories, raw.known_values(), raw.where, raw.number)
    if not histories:
        raise InputError("has no rows; give at least one change", file=name)
    return world_of(name, histories, window, seed)


def world_of(name: str, histories: dict[str, ChangeLog], window: Window, seed: int) -> World:
    """Make a world of the logs of its pages, as far as the window reaches."""
    moments = [at for history in histories.values() for at, _ in history.rows]
    first = min(moments) if window.start is None else window.start.timestamp()
    last = max(moments) if window.days is None else first + window.days * 86_400
    if last <= first:
        raise InputError("spans no time; give --from and --days so that some of it counts", file=name)
    # Neighbours in an alphabet often change together: in that order, a policy would be lucky, or not, with all at once.
    pages = sorted(histories)
    shuffled = np.random.Generator(np.random.PCG64(seed)).permutation(len(pages))
    return _world(name, {pages[place]: histories[pages[place]] for place in shuffled}, first, last)


def _sign(line: str, name: str) -> str:
    """Tell what separates the cells, by the first line."""
    if line.startswith(("PAR1", "{")):  # Parquet, JSON lines
        raise InputError("is no CSV; a history is a CSV file with the columns page and timestamp", file=name)
    return sign_of(line, name, lambda cells: {"page", "timestamp"} <= set(map(str.strip, cells)))


def _header(cells: list[str], name: str) -> list[str]:
    names = [cell.strip() for cell in cells]
    for wanted in ("page", "timestamp"):
        if names.count(wanted) != 1:
            what = f"its first line has {'twice' if wanted in names else 'no column of that name'}"
            expected = "page,timestamp and perhaps kind,host,class,importance"
            raise InputError(f"{what}; expected are {expected}", file=name, field=wanted)
    return names


def _add(histories: dict[str, ChangeLog], row: dict[str, str], where: str, number: int) -> None:
    values = []
    for name, read in _READERS.items():
        text = row.get(name, "").strip()
        try:
            values.append(read(text))
        except ValueError as error:
            what = f"{shown(row.get(name, ''))} {error}"
            raise InputError(what, file=where, row=number, field=name) from None
        if name == "timestamp" and values[0] in histories:
            break  # the first row of a page says what it is
    page, at = values[:2]
    if page not in histories:
        host = row.get("host", "").strip() or _host(page)
        histories[page] = ChangeLog([], host, *values[2:])
    histories[page].rows.append((at, row.get("kind", "").strip().lower()))


def _page(text: str) -> str:
    if not text:
        raise ValueError("should name a page")
    return text


def _moment(text: str) -> float:
    moment = read_time(text)
    if moment is None:
        raise ValueError("is not a time; write it like 2024-06-10T08:00:00Z")
    return moment.timestamp()


def _class(text: str) -> int:
    word = text.lower() or "page"
    if word not in CLASSES:
        raise ValueError(f"should be one of {', '.join(CLASSES)}")
    return CLASSES.index(word)


def _weight(text: str) -> float:
    try:
        weight = float(text or 1.0)
    except ValueError:
        raise ValueError("should be a number") from None
    if not 0 < weight <= 1e6:
        raise ValueError("should lie above 0, and not above a million")
    return weight


_READERS: dict[str, Callable[[str], Any]] = {
    "page": _page,
    "timestamp": _moment,
    "class": _class,
    "importance": _weight,
}


def _host(page: str) -> str:
    """Return the host of a page that is a URL; other names have none."""
    if "://" not in page:
        return ""
    try:
        return Url.parse(page).host
    except UrlError:
        return ""


def _world(name: str, histories: dict[str, ChangeLog], first: float, last: float) -> World:
    hours = (last - first) / HOUR_S
    lives = {page: _life(history, first, hours) for page, history in histories.items()}
    kept = [page for page, (born, gone, _) in lives.items() if born < hours and gone > 0.0]
    if not kept:
        raise InputError("has no page in the days that were asked for; choose others", file=name)
    hosts = tuple(sorted({histories[page].host for page in kept}))
    numbers = {host: number for number, host in enumerate(hosts)}
    born = np.array([lives[page][0] for page in kept])
    gone = np.array([lives[page][1] for page in kept])
    offsets, times = packed([lives[page][2] for page in kept])
    return World(
        name=name,
        hours=hours,
        pages=kept,
        hosts=hosts,
        host=np.array([numbers[histories[page].host] for page in kept], np.int64),
        kind=np.array([histories[page].kind for page in kept], np.int64),
        weight=np.array([histories[page].weight for page in kept]),
        born=born,
        gone=gone,
        hub=np.full(len(kept), -1, np.int64),
        offsets=offsets,
        times=times,
        rates=hindsight_rates(offsets, np.minimum(gone, hours) - born),
        start=datetime.fromtimestamp(first, UTC),
    )


def _life(history: ChangeLog, first: float, hours: float) -> tuple[float, float, Floats]:
    """Find when a page appeared, when it disappeared for good, and its changes between; a return is a change."""
    rows = sorted(((at - first) / HOUR_S, kind) for at, kind in history.rows)
    created = [at for at, kind in rows if kind == _CREATED]
    events = [(at, kind) for at, kind in rows if kind not in _SILENT]
    born = max(0.0, created[0]) if created and created[0] == rows[0][0] else 0.0
    gone = events[-1][0] if events and events[-1][1] == _DELETED else NEVER
    changes = {at for at, kind in events if kind != _DELETED and born < at <= hours and at < gone}
    return born, gone, np.array(sorted(changes))


def stored_world(path: str, history: History, window: Window, seed: int) -> World:
    """Read the changes that the visits of a store have seen; `path` names it in errors."""
    logs = _change_logs(path, history.contents())
    if not any(what == "changed" for log in logs.values() for _, what in log.rows):
        what = "no visit has seen a change yet; crawl again first, when pages may have changed"
        raise InputError(what, file=path)
    return world_of(path, logs, window, seed)


def _change_logs(path: str, contents: Iterator[SeenContent]) -> dict[str, ChangeLog]:
    found: dict[str, ChangeLog] = {}
    last: SeenContent | None = None
    for number, seen in enumerate(contents, 1):
        if number > MAX_ROWS:
            raise InputError(f"has more than {MAX_ROWS:,} visits", file=path)
        if seen.url not in found:
            known = UNKNOWN_RELEVANCE if seen.relevance is None else max(seen.relevance, LEAST_RELEVANCE)
            log = ChangeLog([(seen.at, "created")], site_of(seen.url), CLASSES.index(seen.kind), known)
            found[seen.url] = log
        elif last is not None and seen.content != last.content and can_compare(seen.content, last.content):
            found[seen.url].rows.append(((last.at + seen.at) / 2, "changed"))
        else:
            found[seen.url].rows.append((seen.at, "other"))
        last = seen
    return found
