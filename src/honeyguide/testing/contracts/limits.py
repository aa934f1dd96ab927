"""What every frontier promises of its limits, and of where redirects lead: a part of `StoreContract`.

Owns: `LimitsContract`. Must not know: any adapter, any job. Start reading at `testing/contracts/store.py`, which completes it.
"""

from __future__ import annotations

# ruff: noqa: S101, D102 - this is a test suite: it asserts, and the names of its tests say what
from typing import TYPE_CHECKING

from honeyguide.core.crawl.frontier import (
    Budgets,
    Discovered,
    Done,
    Dropped,
    NoClaim,
    Retry,
    ScheduledVisit,
    State,
)
from honeyguide.core.crawl.judge import Findings
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.ports.store import Intake
from honeyguide.testing.contracts.builders import SITE, ask, digest, found, paths

if TYPE_CHECKING:
    from honeyguide.testing.contracts.builders import RunQueue


class LimitsContract:
    """The suite. `make_frontier` gives a new one each time."""

    def make_frontier(self, *links: Discovered) -> RunQueue:
        """Make a frontier with something in it."""
        raise NotImplementedError

    # --- redirects ---

    def test_the_target_of_a_redirect_is_not_fetched_again(self) -> None:
        frontier = self.make_frontier(found("/a", priority=9), found("/target"))
        (lease,) = frontier.claim(ask()).leases
        target = Url.parse(f"{SITE}/target")
        frontier.commit_page(lease, Intake(Done(), findings=Findings(), target=(digest("/target"), target)))
        assert not frontier.claim(ask()).leases
        row = frontier.find(digest("/target"))
        assert row is not None
        assert row[0].why == Why("redirected", f"{SITE}/a leads here")

    def test_the_target_of_a_redirect_belongs_to_its_own_site(self) -> None:
        outside = found("https://b.example/met", out=Why("other-site", "b.example"))
        frontier = self.make_frontier(found("/a", priority=9), found("/b"), outside)
        frontier.add_site("b.example")
        for target in ("https://b.example/new", "https://b.example/met"):
            (lease,) = frontier.claim(ask()).leases
            arrived = (digest(target), Url.parse(target))
            frontier.commit_page(lease, Intake(Done(), findings=Findings(), target=arrived))
            frontier.schedule([ScheduledVisit(digest(target), 1.0, 0)])
            (again,) = frontier.claim(ask(1.0, only_due=True)).leases
            assert (again.url.text, again.site) == (target, "b.example")
            frontier.commit_page(again, Intake(Done()))

    def test_the_target_of_a_redirect_is_not_tried_again(self) -> None:
        frontier = self.make_frontier(found("/target", priority=9), found("/a"), found("/b"))
        target, first, second = frontier.claim(ask(limit=3)).leases
        frontier.commit_page(target, Intake(Retry(60.0, Why("http-500", "answered 500"))))
        for lease in (first, second):
            arrived = (digest("/target"), target.url)
            frontier.commit_page(lease, Intake(Done(), findings=Findings(), target=arrived))
        told = frontier.find(digest("/target"))
        assert told is not None
        assert (told[0].state, told[0].due_at) == (State.DONE, None)
        assert frontier.claim(ask(99.0)).rest == NoClaim("complete")

    # --- limits ---

    def test_max_pages_counts_what_is_out_and_what_is_done(self) -> None:
        frontier = self.make_frontier(*(found(f"/{n}") for n in range(5)))
        budgets = Budgets(max_pages=3)
        first = frontier.claim(ask(limit=2, budgets=budgets)).leases
        frontier.commit_page(first[0], Intake(Done()))
        assert len(frontier.claim(ask(limit=9, budgets=budgets)).leases) == 1
        granted = frontier.claim(ask(limit=9, budgets=budgets))
        assert (granted.leases, granted.rest.why) == ((), "max_pages")

    def test_what_was_not_fetched_is_not_counted(self) -> None:
        frontier = self.make_frontier(found("/a"), found("/b"))
        budgets = Budgets(max_pages=1)
        (lease,) = frontier.claim(ask(budgets=budgets)).leases
        frontier.commit_page(lease, Intake(Dropped(Why("robots", "no"), is_fetch=False)))
        assert paths(frontier.claim(ask(budgets=budgets)).leases) == ["/b"]
        assert frontier.counts().fetched == 0

    def test_a_host_has_its_own_budget(self) -> None:
        frontier = self.make_frontier(found("/a"), found("/b"), found("https://b.example/c"))
        budgets = Budgets(max_pages_per_host=1)
        assert paths(frontier.claim(ask(limit=9, budgets=budgets)).leases) == ["/a", "/c"]
        assert frontier.claim(ask(budgets=budgets)).rest.why == "max_pages_per_host"

    def test_other_sites_have_a_budget_together(self) -> None:
        links = [found(f"https://{host}.example/")._replace(is_external=True) for host in "bcd"]
        frontier = self.make_frontier(found("/a"), *links)
        budgets = Budgets(external_pages=2)
        leases = frontier.claim(ask(limit=9, budgets=budgets)).leases
        assert [lease.site for lease in leases] == ["a.example", "b.example", "c.example"]
        assert [lease.is_external for lease in leases] == [False, True, True]
        assert frontier.claim(ask(budgets=budgets)).rest.why == "external_pages"

    def test_less_depth_puts_out_what_is_queued(self) -> None:
        links = [found(f"/{depth}")._replace(depth=depth) for depth in range(4)]
        frontier = self.make_frontier(*links, *(found(f"/{n}")._replace(depth=4) for n in ("due", "again")))
        frontier.schedule([ScheduledVisit(digest("/due"), 1.0, 0)])
        again = next(lease for lease in frontier.claim(ask(limit=9)).leases if lease.url.path == "/again")
        frontier.commit_page(again, Intake(Retry(60.0, Why("http-503", "later"))))
        frontier.adopt(ask(900.0, limit=0))  # the others are queued as before
        assert frontier.drop_deep(1) == 3
        told = frontier.find(digest("/3"))
        assert told is not None
        assert told[0].why == Why("max-depth", "3 links from a seed; the limit is 1")
        assert paths(frontier.claim(ask(900.0, limit=9)).leases) == ["/due", "/0", "/1"]
        assert frontier.drop_deep(1) == 0
        assert frontier.reopen("max-depth", 3) == 2
        assert paths(frontier.claim(ask(900.0, limit=9)).leases) == ["/2", "/3"]

    def test_a_page_of_another_site_that_a_redirect_led_to_counts_there(self) -> None:
        target = "https://b.example/x"
        frontier = self.make_frontier(
            found("/a", priority=9), found("/b"), found("https://c.example/")._replace(is_external=True)
        )
        (lease,) = frontier.claim(ask()).leases
        arrived = (digest(target), Url.parse(target))
        frontier.commit_page(lease, Intake(Done(), target=arrived, is_external=True))
        assert (frontier.external_pages(), frontier.counts().fetched) == (1, 1)
        granted = frontier.claim(ask(limit=9, budgets=Budgets(max_pages_per_host=1, external_pages=1)))
        assert paths(granted.leases) == ["/b"]  # no page of a.example was fetched yet
        assert frontier.claim(ask(budgets=Budgets(external_pages=1))).rest.why == "external_pages"
        assert len(frontier.claim(ask(limit=9, budgets=Budgets(external_pages=2))).leases) == 1
        assert frontier.external_pages() == 2

    def test_a_site_gives_no_more_than_the_lookahead(self) -> None:
        frontier = self.make_frontier(*(found(f"/{n}") for n in range(5)), found("https://b.example/x"))
        granted = frontier.claim(ask(limit=9, per_site=3, in_flight={"a.example": (0,)}))
        assert paths(granted.leases) == ["/0", "/1", "/x"]

    def test_a_url_waits_for_what_came_before_it_on_its_site(self) -> None:
        # TOPIC-5: equals go together, what is better overtakes, other sites do not wait.
        urls = (found("/a", priority=9), found("/b", priority=9), found("/c"), found("https://b.example/x"))
        frontier = self.make_frontier(*urls)
        first, second, other = frontier.claim(ask(limit=9, waits=True)).leases
        assert paths((first, second, other)) == ["/a", "/b", "/x"]
        assert first.rank == second.rank < other.rank
        in_flight = {"a.example": (first.rank, second.rank), "b.example": (other.rank,)}
        nothing = frontier.claim(ask(limit=9, waits=True, in_flight=in_flight))
        assert (nothing.leases, nothing.rest.why) == ((), "waiting")
        better = Findings(new=[found("/d", priority=10)])
        frontier.commit_page(first, Intake(Done(), findings=better))
        in_flight["a.example"] = (second.rank,)
        assert paths(frontier.claim(ask(limit=9, waits=True, in_flight=in_flight)).leases) == ["/d"]
        frontier.commit_page(second, Intake(Done()))
        assert paths(frontier.claim(ask(limit=9, waits=True)).leases) == ["/c"]

    def test_a_site_at_its_limit_is_not_waited_for(self) -> None:
        other = found("https://b.example/b")._replace(is_external=True)
        frontier = self.make_frontier(found("/a", priority=9), found("/b"), found("/c"), other)
        first, second, external = frontier.claim(
            ask(limit=9, per_site=2, budgets=Budgets(external_pages=9))
        ).leases
        frontier.commit_page(first, Intake(Done()))
        frontier.commit_page(second, Intake(Retry(60.0, Why("http-503", "later"))))
        frontier.commit_page(external, Intake(Retry(70.0, Why("http-503", "later"))))
        frontier.block("a.example", 50.0)
        limits = {"max_pages_per_host": 2, "external_pages": 9}
        ends = [
            frontier.claim(ask(9.0, budgets=Budgets(**{**limits, **less}))).rest
            for less in ({}, {"external_pages": 1}, {"max_pages_per_host": 3, "external_pages": 1})
        ]
        # Two of a.example, one of others: the first is at its limit, then both, then only the others.
        assert ends == [NoClaim("resting", 70.0), NoClaim("max_pages_per_host"), NoClaim("resting", 50.0)]
        (lease,) = frontier.claim(ask(50.0, budgets=Budgets(max_pages_per_host=3, external_pages=1))).leases
        frontier.commit_page(lease, Intake(Done()))
        rest = frontier.claim(ask(55.0, budgets=Budgets(max_pages_per_host=4, external_pages=1))).rest
        assert rest == NoClaim("resting", 60.0)
        assert frontier.claim(
            ask(55.0, budgets=Budgets(external_pages=1), closed=frozenset(["a.example"]))
        ).rest == (NoClaim("external_pages"))

    def test_resting_and_closed_sites_are_stepped_over(self) -> None:
        frontier = self.make_frontier(found("/a", priority=9), found("https://b.example/b"))
        frontier.block("a.example", 50.0)
        frontier.block("a.example", 20.0)
        assert paths(frontier.claim(ask(limit=9)).leases) == ["/b"]
        rest = frontier.claim(ask()).rest
        assert (rest.why, rest.until) == ("resting", 50.0)
        granted = frontier.claim(ask(closed=frozenset({"a.example"})))
        assert (granted.rest.why, granted.rest.until) == ("site_failing", None)
        assert paths(frontier.claim(ask(50.0)).leases) == ["/a"]

    def test_more_depth_brings_back_what_was_too_deep(self) -> None:
        frontier = self.make_frontier(found("/a", out=Why("max-depth", "too deep"))._replace(rank=5, depth=3))
        assert frontier.reopen("max-depth", 2) == 0
        assert frontier.reopen("max-depth") == 1
        assert paths(frontier.claim(ask()).leases) == ["/a"]
