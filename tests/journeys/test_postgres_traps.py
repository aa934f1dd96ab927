"""What made early versions slow or wrong with many hosts and many workers in PostgreSQL: each trap has a test that falls into it."""

from __future__ import annotations

import re
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from postgres_server import server

from honeyguide.adapters.store.common.database import named_queries, sql_text
from honeyguide.core.crawl.frontier import ClaimRequest, Discovered, Done, SitePace
from honeyguide.core.crawl.judge import Findings
from honeyguide.ports.store import Intake
from honeyguide.testing.contracts import found, spec

if TYPE_CHECKING:
    from honeyguide.adapters.store.postgres.store import PostgresStore

HOSTS, PER_HOST = 400, 5
FILES = ("contents", "history", "ledger", "queue", "runs", "worths", "schema", "migrations")
_FILL = """
INSERT INTO honeyguide.site (run, name, urls, head_rank, head_entry, is_ready, blocked_until)
SELECT 1, 'h' || n || '.example', 1, n, n, $1 = 0, CASE WHEN $1 = 0 THEN 0 ELSE 1e11 END FROM generate_series(1, $2::bigint) n
"""


def opened(url: str) -> PostgresStore:
    from honeyguide.adapters.store.postgres.store import PostgresStore

    return PostgresStore(url)


def link(host: int, page: int) -> Discovered:
    return found(f"https://h{host}.example/{page}")


def request(now: float, limit: int = 16) -> ClaimRequest:
    return ClaimRequest(now, limit, now + 600.0, per_site=1, delay_s=1.0)


def blocks(store: PostgresStore, name: str, values: tuple[Any, ...]) -> tuple[int, str]:
    """Say how many blocks of the server's memory a query reads, and its plan."""
    sql = "EXPLAIN (ANALYZE, BUFFERS) " + named_queries("postgres", "queue")[name]
    plan = "\n".join(line for (line,) in store._db.all(sql, values))  # noqa: SLF001 - the query itself is what is tested
    return sum(map(int, re.findall(r"shared hit=(\d+)", plan)[:1])), plan


def heads(place: tuple[int, int] = (-(2**63), -(2**63))) -> tuple[Any, ...]:
    return (1, 2**62, 1.0, *place, 64, 0, True)


def test_no_query_asks_a_clock_that_moves_within_a_statement() -> None:
    pytest.importorskip("psycopg", reason="psycopg is an extra")
    code = "\n".join(sql_text("postgres", f"{name}.sql") for name in FILES)
    assert "clock_timestamp" not in re.sub(r"--.*", "", code)


def test_hosts_that_rest_cost_a_claim_nothing() -> None:
    with closing(opened(server().new_database())) as store:
        store.runs.begin(spec(), 0.0)
        store.flush()
        store._db.write(_FILL, (0, 100))  # noqa: SLF001 - what the database itself does is tested
        store.flush()
        before, plan = blocks(store, "sites_by_head", heads())
        store._db.write(_FILL.replace("'h' ||", "'r' ||"), (1, 3000))  # noqa: SLF001 - what the database itself does is tested
        store.flush()
        after, _ = blocks(store, "sites_by_head", heads())
        assert "Seq Scan" not in plan
        assert after <= before + 10


def test_claims_stay_fast_while_a_reader_holds_a_snapshot() -> None:
    url = server().new_database()
    import psycopg

    with closing(opened(url)) as store, psycopg.connect(url) as reader:
        run = store.runs.begin(spec(), 0.0)
        queue = store.queue(run)
        queue.add([link(host, page) for page in range(PER_HOST) for host in range(HOSTS)])
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM honeyguide.run")  # and its snapshot stays
        first, _ = blocks(store, "sites_by_head", heads())
        for _ in range(60):
            for lease in queue.claim(request(1.0)).leases:
                queue.commit_page(lease, Intake(Done(), paces=(SitePace(lease.site, 1.0, 1.0),)))
        from_the_beginning, _ = blocks(store, "sites_by_head", heads())
        last, _ = blocks(store, "sites_by_head", heads(queue.floor(request(1.0))))
        assert from_the_beginning > 3 * first  # rows that are gone, and the snapshot keeps them
        assert last <= 3 * first


def test_workers_whose_pages_link_each_others_hosts_do_not_wait_in_a_circle() -> None:
    url = server().new_database()
    failed: list[BaseException] = []
    with closing(opened(url)) as first, closing(opened(url)) as second:
        stores = [first, second]
        runs = [store.runs.begin(spec(), 0.0) for store in stores]
        stores[0].queue(runs[0]).add([link(host, page) for host in range(20) for page in range(4)])

        def work(number: int) -> None:
            queue = stores[number].queue(runs[number])
            try:
                for turn in range(20):
                    for lease in queue.claim(request(float(turn), 4)).leases:
                        order = range(20) if number else range(19, -1, -1)
                        new = [link(host, 100 + lease.claim) for host in order]
                        queue.commit_page(
                            lease,
                            Intake(
                                Done(), findings=Findings(new=new), paces=(SitePace(lease.site, 0.0, 1.0),)
                            ),
                        )
            except BaseException as error:  # noqa: BLE001 - shown by the test
                failed.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed
        sql = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        assert first._db.one(sql)[0] == 0  # noqa: SLF001 - what the database itself does is tested
        assert first.ledger(runs[0]).counts().fetched > 40
