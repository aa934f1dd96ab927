"""Where a crawl stops because there is enough, its store says the same, whatever the network does, and a larger number goes on from it."""

from __future__ import annotations

import asyncio
import random
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import Fetched, FetchPolicy, crawl, open_store
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

if TYPE_CHECKING:
    from pathlib import Path

    from honeyguide import Url
    from honeyguide.core.crawl.frontier import Counts, FrontierRow

SITE = "https://docs.example"


def page(title: str, *links: str) -> bytes:
    anchors = "".join(f'<li><a href="{SITE}{link}">{link.strip("/")}</a></li>' for link in links)
    return f"<title>{title}</title><main><h1>{title}</h1><p>{title} in a sentence.</p></main><ul>{anchors}</ul>".encode()


def pages() -> dict[str, bytes]:
    names = [f"/{'fire' if number % 2 else 'tea'}-{number}" for number in range(40)]
    mixed = random.Random(7)  # noqa: S311 - the same each time
    inner = {
        SITE + name: page(name, *mixed.sample(names, 5), f"{name}/fire", f"{name}/more") for name in names
    }
    return {f"{SITE}/": page("Contents", *names), **inner}


class Uneven(FakeFetcher):
    """Takes longer for one page than for another."""

    def __init__(self, seed: int) -> None:
        super().__init__(pages())
        self._turns = random.Random(seed)  # noqa: S311 - the same each time

    async def fetch(self, url: Url, **options: Any) -> Fetched:
        for _ in range(self._turns.randrange(1, 60)):
            await asyncio.sleep(0)
        return await super().fetch(url, **options)


def crawled(store: Path, seed: int, enough: int) -> list[str]:
    policy = FetchPolicy(delay_s=0, jitter=0, per_host=16)
    work = crawl(
        f"{SITE}/", topic="fire", max_relevant=enough, fetcher=Uneven(seed), clock=FrozenClock(),
        policy=policy, store=store,
    )  # fmt: skip
    return [one.url for one in work]


def left(store: Path) -> tuple[Counts, list[FrontierRow]]:
    with closing(open_store(store, read_only=True)) as opened:
        ledger = opened.ledger(opened.runs.list()[0])
        return ledger.counts(), list(ledger.rows())


def test_a_crawl_that_has_enough_leaves_the_same_store_whatever_the_network_does(tmp_path: Path) -> None:
    found = []
    for seed in range(8):
        store = tmp_path / f"{seed}.db"
        found.append((crawled(store, seed, 10), left(store)))
    assert found == [found[0]] * len(found)
    counts, _ = found[0][1]
    assert (counts.states["leased"], sum(counts.lanes.values())) == (0, counts.states["queued"])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_crawl_that_had_enough_goes_on_as_if_it_had_not_stopped(tmp_path: Path, seed: int) -> None:
    crawled(tmp_path / "a.db", seed, 5)
    assert crawled(tmp_path / "a.db", seed + 10, 15) == crawled(tmp_path / "b.db", seed, 15)
