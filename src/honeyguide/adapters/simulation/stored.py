"""A world as the visits of a store tell it: a page changed between two visits that saw different contents.

Owns: reading them. Must not know: policies, how a store is written. Start reading at `stored_world`. What happened
between two visits is not known in full: a page changed at least once, and here once, halfway between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.adapters.simulation.worlds import CLASSES, MAX_ROWS, History, world_of
from honeyguide.adapters.store.queries import Database, queries
from honeyguide.core.history import site_of
from honeyguide.core.likeness import can_compare
from honeyguide.core.page_state import LEAST_RELEVANCE, UNKNOWN_RELEVANCE
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.adapters.simulation.worlds import Window, World

_FIRST = -(2**63)


def stored_world(path: str, window: Window, seed: int) -> World:
    """Read the changes that visits of a store have seen; whoever calls it has made sure that it is a store."""
    db = Database(path, read_only=True)
    try:
        histories = _histories(path, db)
    finally:
        db.close()
    if not any(what == "changed" for history in histories.values() for _, what in history.rows):
        raise InputError(
            "no visit has seen a change yet; crawl again first, when pages may have changed", file=path
        )
    return world_of(path, histories, window, seed)


def _histories(path: str, db: Database) -> dict[str, History]:
    found: dict[str, History] = {}
    last: tuple[str, float, str] | None = None
    for number, (url, relevance, kind, at, content) in enumerate(_seen(db), 1):
        if number > MAX_ROWS:
            raise InputError(f"has more than {MAX_ROWS:,} visits", file=path)
        if url not in found:
            known = UNKNOWN_RELEVANCE if relevance is None else max(relevance, LEAST_RELEVANCE)
            class_of = CLASSES.index(kind) if kind in CLASSES else 0
            found[url] = History([(at, "created")], site_of(url), class_of, known)
        elif last is not None and content != last[2] and can_compare(content, last[2]):
            found[url].rows.append(((last[1] + at) / 2, "changed"))
        else:
            found[url].rows.append((at, "other"))
        last = url, at, content
    return found


def _seen(db: Database) -> Iterator[tuple[str, float | None, str, float, str]]:
    sql = queries("simulate")["seen"]
    place = (_FIRST, 0)
    while rows := db.all(sql, place):
        for _, _, url, relevance, kind, at, content in rows:
            yield url, relevance, kind, at, content
        place = rows[-1][:2]
