"""A store as a world: digests of two versions are no change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from honeyguide.core.page.likeness import main_digest
from honeyguide.core.recrawl.history import Visit
from honeyguide.errors import InputError
from honeyguide.simulation.worlds import Window, stored_world
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from honeyguide.ports.store import History

OLD, NEW, OTHER = "6d5605f30aa2344d", main_digest(b"Fire alarms"), main_digest(b"Fire doors")


def stored(contents: tuple[str | None, ...]) -> History:
    store = MemoryStore()
    with store.transaction():
        for day, content in enumerate(contents):
            store.history.record(Visit("https://a.example/", 1, 1.7e9 + day * 86_400.0, 200, content), 1)
    return store.history


def test_digests_of_two_versions_are_no_change() -> None:
    with pytest.raises(InputError, match="no visit has seen a change yet"):
        stored_world("a.db", stored((OLD, NEW, NEW)), Window(), 0)
    assert stored_world("b.db", stored((OLD, NEW, OTHER)), Window(), 0)
