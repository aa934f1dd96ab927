"""What every `Store` promises, for PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from postgres_server import server

from honeyguide.testing.contracts.history import ContentsContract, HistoryContract
from honeyguide.testing.contracts.store import StoreContract
from honeyguide.testing.contracts.workers import LearningContract, WorkersContract

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.adapters.store.postgres.store import PostgresStore
    from honeyguide.ports.store import Store


class TestPostgresStore(ContentsContract, StoreContract, HistoryContract, WorkersContract, LearningContract):
    @pytest.fixture(autouse=True)
    def closing(self) -> Iterator[None]:
        self.server = server()
        self.stores: list[PostgresStore] = []
        yield
        for store in self.stores:
            store.abandon()

    def open(self, url: str) -> PostgresStore:
        from honeyguide.adapters.store.postgres.store import PostgresStore

        self.stores.append(PostgresStore(url))
        return self.stores[-1]

    def make_store(self) -> Store:
        return self.open(self.server.new_database())

    def make_workers(self) -> tuple[Store, Store]:
        url = self.server.new_database()
        return self.open(url), self.open(url)
