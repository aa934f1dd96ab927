"""The simulator and the store learn and plan by the same code: the same visits lead to the same beliefs and values."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

np = pytest.importorskip("numpy")  # an extra

from honeyguide.adapters.store.sqlite.store import SqliteStore  # noqa: E402 - after the check for numpy
from honeyguide.app.known_urls.store import StoreTable  # noqa: E402 - after the extra is known to be there
from honeyguide.config import load_profile  # noqa: E402 - after the extra is known to be there
from honeyguide.core.crawl.frontier import digest_of  # noqa: E402 - after the extra is known to be there
from honeyguide.core.recrawl.history import Visit  # noqa: E402 - after the extra is known to be there
from honeyguide.core.recrawl.policies import Learned  # noqa: E402 - after the extra is known to be there
from honeyguide.core.url.url import Tracking, Url  # noqa: E402 - after the extra is known to be there
from honeyguide.simulation.policies import SimulatedLearned  # noqa: E402 - after the extra is known to be there
from honeyguide.simulation.run import Sight, Visits  # noqa: E402 - after the extra is known to be there

if TYPE_CHECKING:
    from pathlib import Path

PAGES, HOSTS, HOUR_S = 12, 2, 3600.0
URLS = [f"https://h{page % HOSTS}.example/{page}" for page in range(PAGES)]


def sight() -> Sight:
    return Sight(
        kind=np.zeros(PAGES, np.int64),
        host=np.arange(PAGES) % HOSTS,
        hosts=HOSTS,
        weight=np.full(PAGES, 0.5),  # as a page of unknown relevance weighs
        hub=np.full(PAGES, -1),
        is_known=np.ones(PAGES, np.bool_),
        visited=np.full(PAGES, -math.inf),
        published=np.zeros(PAGES),
        per_day=PAGES / 30.0,  # so the prior is 30 days, as that of a store
    )


def test_store_and_simulator_run_the_same_code(tmp_path: Path) -> None:
    """Fast, slow and sleepy pages, and priors that are fitted every five days: rates and values agree to six digits."""
    store, seen = SqliteStore(tmp_path / "honeyguide.db"), sight()
    policy, rng = SimulatedLearned(seen, fit_every_h=1e-6), np.random.default_rng(5)
    content = [0] * PAGES
    for day in range(1, 31):
        for page in range(PAGES):
            # Every visit comes at a time of its own: the simulator learns from visits of one moment at once.
            now = 24.0 * day + page
            is_fast = page < 3 or (page < 5 and day < 16)  # the pages 3 and 4 fall asleep
            is_changed = bool(rng.random() < (1.0 if is_fast else 0.05 * (page > 4)))
            content[page] += is_changed
            digest = digest_of(Url.parse(URLS[page]), Tracking())
            store.history.record(
                Visit(URLS[page], digest, now * HOUR_S, 200, str(content[page]), body=content[page]), 1
            )
            since = seen.visited[page : page + 1].copy()
            flags = np.array([is_changed]) & np.isfinite(since), np.zeros(1, np.bool_)
            policy.learn(Visits(now, np.array([page]), since, *flags, np.zeros(1, np.int64)))
            seen.visited[page] = now
        if day % 5 == 0:
            now = 24.0 * (day + 1)
            scores = policy.scores(now)
            table = StoreTable(store, load_profile("base"))
            table.save_priors()
            learned = table._policy  # noqa: SLF001 - the policy as the store makes it
            assert isinstance(learned, Learned)
            states = {row.state.url: row.state for row in table._rows() if row.state}  # noqa: SLF001 - the rows are not public
            believed = policy.rates_of(np.arange(PAGES))
            assert [states[url].rate for url in URLS] == [
                pytest.approx(rate, rel=1e-6) for rate in zip(*believed, strict=True)
            ]
            values = [learned.value(states[url], now * HOUR_S) for url in URLS]
            assert scores.tolist() == pytest.approx(values, rel=1e-5)
    rows, moment = table.find(URLS[:5]), datetime.fromtimestamp(now * HOUR_S, UTC)
    reasons = [table.judge(rows[url], moment).scored.reasons[0] for url in URLS[:5]]
    assert "(changed at 29 of 29 visits: a fast page)" in reasons[0]
    forgotten = "(changed at 14 of 29 visits; later visits contradicted earlier ones, which are forgotten)"
    assert all(forgotten in reason for reason in reasons[3:])
    store.close()
