"""What a crawl promises and no other journey would miss, on fakes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from test_crawl_sites import FIRE, A, Made, Web, calendar, crawl, html, pages

from honeyguide import load_profile
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.app.runs import resume_request
from honeyguide.core.crawl.frontier import Budgets, ClaimRequest
from honeyguide.core.page.page import Link, Occurrence
from honeyguide.core.rules.topic import link_score
from honeyguide.core.url.url import Url
from honeyguide.ports.fetch import Fetched, Part, Validators
from honeyguide.ports.store import Store
from honeyguide.testing.fakes import FrozenClock
from honeyguide.testing.memory_store import MemoryStore

PLAIN = A.replace("https:", "http:")
ONE_AT_A_TIME = replace(FIRE, crawl=replace(FIRE.crawl, window=1, lookahead=1))


@pytest.mark.parametrize(
    ("home", "hub"),
    [
        ([f"{PLAIN}/hose"], [f"{A}/hose"]),  # met again on a later page, before it is fetched
        ([f"{A}/hose"], [f"{PLAIN}/hose"]),
        ([f"{PLAIN}/hose", f"{A}/hose"], []),  # both on one page
        ([f"{A}/hose", f"{PLAIN}/hose"], []),
    ],
)
def test_https_stands_for_both_and_keeps_the_place(home: list[str], hub: list[str]) -> None:
    """URL-7: the queue is a set."""
    made = {"/": html("Home", "/hub", *home, "/last"), "/hub": html("Hub", *hub)}
    got = crawl(
        pages(made | dict.fromkeys(("/hose", "/last"), html("x"))), profile=ONE_AT_A_TIME, traversal="bfs"
    )
    assert got.web.asked == [f"{A}/", f"{A}/hub", f"{A}/hose", f"{A}/last"]


@pytest.mark.parametrize("is_on_disk", [False, True])
def test_what_traps_have_learnt_is_not_forgotten_between_processes(
    tmp_path: Path, *, is_on_disk: bool
) -> None:
    whole = crawl(calendar).urls
    store: Store = SqliteStore(tmp_path / "h.db") if is_on_disk else MemoryStore()
    urls: list[str] = []
    for most in range(5, 2 * len(whole), 5):
        urls += crawl(calendar, store, budgets=Budgets(max_pages=most)).urls
    store.close()
    assert urls == whole


def test_a_crawl_keeps_its_leases_however_long_it_takes(tmp_path: Path) -> None:
    clock = FrozenClock()
    left_behind: list[str] = []

    @dataclass
    class Slow(Web):
        """One page after the other; meanwhile another process looks for work that was left behind."""

        async def fetch(
            self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
        ) -> Fetched:
            await clock.sleep(FIRE.crawl.lease_s / 4)
            other = SqliteStore(tmp_path / "h.db")
            (run,) = other.runs.list()
            ask = ClaimRequest(clock.now(), 9, clock.now() + 1.0)
            left_behind.extend(lease.url.path for lease in other.queue(run).adopt(ask))
            other.close()
            return await super().fetch(url, validators=validators, part=part)

    names = [f"/fire-{n}" for n in range(FIRE.crawl.lookahead)]
    table: dict[str, Made] = {"/": html("Home", *names), **{name: html(name) for name in names}}
    store = SqliteStore(tmp_path / "h.db")
    done = crawl(Slow(pages(table)), store, clock=clock, concurrency=1)
    store.close()
    assert len(done.records) == 1 + len(names)
    assert left_behind == []


def test_a_run_that_is_gone_on_with_knows_its_related_terms(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "h.db")
    terms = ("smoke",)
    profile = load_profile("docs", topic="fire", related=terms)
    run = crawl(pages({"/": html("Home")}), store, profile, related=terms).store.runs.list()[0]
    link = Link(Url.parse(f"{A}/x"), (Occurrence("Where there is smoke"),))
    store.close()
    assert link_score(link, resume_request(run)[1]) == link_score(link, profile) != link_score(link, FIRE)
