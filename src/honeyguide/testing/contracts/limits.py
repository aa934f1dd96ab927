"""What every queue promises of its limits, and of where redirects lead: a part of `StoreContract`.

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
    Lease,
    NoClaim,
    Retry,
    ScheduledVisit,
    State,
)
from honeyguide.core.crawl.judge import Findings
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.ports.store import Intake
from honeyguide.testing.contracts import SITE, StoreSuite, ask, digest, found, paths, spec

if TYPE_CHECKING:
    from honeyguide.core.crawl.frontier import FrontierRow
    from honeyguide.ports.store import Queue


class LimitsContract(StoreSuite):
    """The part of `StoreContract` on limits and redirects."""

    def make_queue(self, *links: Discovered) -> Queue:
        """Make a queue with something in it."""
        queue = self.open_queue()
        queue.add(links)
        return queue

    def open_queue(self) -> Queue:
        """Open the queue of the run, as a process does that resumes it."""
        return self.store.queue(self.store.runs.begin(spec(), 0.0))

    def row(self, queue: Queue, path: str) -> FrontierRow:
        """Give what a queue tells of a URL, and insist on it."""
        found = queue.find(digest(path))
        assert found is not None
        return found[0]

    def make_lease(self, *links: Discovered) -> tuple[Queue, Lease]:
        """Make such a queue, and claim the best link."""
        queue = self.make_queue(*links)
        return queue, queue.claim(ask()).leases[0]

    # --- redirects ---

    def test_the_target_of_a_redirect_is_not_fetched_again(self) -> None:
        queue, lease = self.make_lease(found("/a", priority=9), found("/target"))
        target = Url.parse(f"{SITE}/target")
        queue.commit_page(lease, Intake(Done(), findings=Findings(), target=(digest("/target"), target)))
        assert not queue.claim(ask()).leases
        assert self.row(queue, "/target").why == Why("redirected", f"{SITE}/a leads here")

    def test_the_target_of_a_redirect_belongs_to_its_own_site(self) -> None:
        outside = found("https://b.example/met", out=Why("other-site", "b.example"))
        queue = self.make_queue(found("/a", priority=9), found("/b"), outside)
        queue.add_site("b.example")
        for target in ("https://b.example/new", "https://b.example/met"):
            (lease,) = queue.claim(ask()).leases
            arrived = (digest(target), Url.parse(target))
            queue.commit_page(lease, Intake(Done(), findings=Findings(), target=arrived))
            queue.schedule([ScheduledVisit(digest(target), 1.0, 0)])
            (again,) = queue.claim(ask(1.0, only_due=True)).leases
            assert (again.url.text, again.site) == (target, "b.example")
            queue.commit_page(again, Intake(Done()))

    def test_the_target_of_a_redirect_is_not_tried_again(self) -> None:
        queue = self.make_queue(found("/target", priority=9), found("/a"), found("/b"))
        target, first, second = queue.claim(ask(limit=3)).leases
        queue.commit_page(target, Intake(Retry(60.0, Why("http-500", "answered 500"))))
        for lease in (first, second):
            arrived = (digest("/target"), target.url)
            queue.commit_page(lease, Intake(Done(), findings=Findings(), target=arrived))
        row = self.row(queue, "/target")
        assert (row.state, row.due_at) == (State.DONE, None)
        assert queue.claim(ask(99.0)).rest == NoClaim("complete")

    # --- limits ---

    def test_max_pages_counts_what_is_out_and_what_is_done(self) -> None:
        queue = self.make_queue(*(found(f"/{n}") for n in range(5)))
        budgets = Budgets(max_pages=3)
        first = queue.claim(ask(limit=2, budgets=budgets)).leases
        queue.commit_page(first[0], Intake(Done()))
        assert len(queue.claim(ask(limit=9, budgets=budgets)).leases) == 1
        granted = queue.claim(ask(limit=9, budgets=budgets))
        assert (granted.leases, granted.rest.why) == ((), "max_pages")

    def test_what_was_not_fetched_is_not_counted(self) -> None:
        queue = self.make_queue(found("/a"), found("/b"))
        budgets = Budgets(max_pages=1)
        (lease,) = queue.claim(ask(budgets=budgets)).leases
        queue.commit_page(lease, Intake(Dropped(Why("robots", "no"), is_fetch=False)))
        assert paths(queue.claim(ask(budgets=budgets)).leases) == ["/b"]
        assert queue.counts().fetched == 0

    def test_a_host_has_its_own_budget(self) -> None:
        queue = self.make_queue(found("/a"), found("/b"), found("https://b.example/c"))
        budgets = Budgets(max_pages_per_host=1)
        assert paths(queue.claim(ask(limit=9, budgets=budgets)).leases) == ["/a", "/c"]
        assert queue.claim(ask(budgets=budgets)).rest.why == "max_pages_per_host"

    def test_other_sites_have_a_budget_together(self) -> None:
        links = [found(f"https://{host}.example/")._replace(is_external=True) for host in "bcd"]
        queue = self.make_queue(found("/a"), *links)
        budgets = Budgets(external_pages=2)
        leases = queue.claim(ask(limit=9, budgets=budgets)).leases
        assert [lease.site for lease in leases] == ["a.example", "b.example", "c.example"]
        assert [lease.is_external for lease in leases] == [False, True, True]
        assert queue.claim(ask(budgets=budgets)).rest.why == "external_pages"

    def test_less_depth_puts_out_what_is_queued(self) -> None:
        links = [found(f"/{depth}")._replace(depth=depth) for depth in range(4)]
        queue = self.make_queue(*links, *(found(f"/{n}")._replace(depth=4) for n in ("due", "again")))
        queue.schedule([ScheduledVisit(digest("/due"), 1.0, 0)])
        again = next(lease for lease in queue.claim(ask(limit=9)).leases if lease.url.path == "/again")
        queue.commit_page(again, Intake(Retry(60.0, Why("http-503", "later"))))
        queue.adopt(ask(900.0, limit=0))  # the others are queued as before
        assert queue.drop_deep(1) == 3
        assert self.row(queue, "/3").why == Why("max-depth", "3 links from a seed; the limit is 1")
        assert paths(queue.claim(ask(900.0, limit=9)).leases) == ["/due", "/0", "/1"]
        assert queue.drop_deep(1) == 0
        assert queue.reopen("max-depth", 3) == 2
        assert paths(queue.claim(ask(900.0, limit=9)).leases) == ["/2", "/3"]

    def test_a_page_of_another_site_that_a_redirect_led_to_counts_there(self) -> None:
        target = "https://b.example/x"
        queue = self.make_queue(
            found("/a", priority=9), found("/b"), found("https://c.example/")._replace(is_external=True)
        )
        (lease,) = queue.claim(ask()).leases
        arrived = (digest(target), Url.parse(target))
        queue.commit_page(lease, Intake(Done(), target=arrived, is_external=True))
        assert (queue.external_pages(), queue.counts().fetched) == (1, 1)
        granted = queue.claim(ask(limit=9, budgets=Budgets(max_pages_per_host=1, external_pages=1)))
        assert paths(granted.leases) == ["/b"]  # no page of a.example was fetched yet
        assert queue.claim(ask(budgets=Budgets(external_pages=1))).rest.why == "external_pages"
        assert len(queue.claim(ask(limit=9, budgets=Budgets(external_pages=2))).leases) == 1
        assert queue.external_pages() == 2

    def test_a_site_gives_no_more_than_the_lookahead(self) -> None:
        queue = self.make_queue(*(found(f"/{n}") for n in range(5)), found("https://b.example/x"))
        granted = queue.claim(ask(limit=9, per_site=3, in_flight={"a.example": (0,)}))
        assert paths(granted.leases) == ["/0", "/1", "/x"]

    def test_a_url_waits_for_what_came_before_it_on_its_site(self) -> None:
        # TOPIC-5: equals go together, what is better overtakes, other sites do not wait.
        urls = (found("/a", priority=9), found("/b", priority=9), found("/c"), found("https://b.example/x"))
        queue = self.make_queue(*urls)
        first, second, other = queue.claim(ask(limit=9, waits=True)).leases
        assert paths((first, second, other)) == ["/a", "/b", "/x"]
        assert first.rank == second.rank < other.rank
        in_flight = {"a.example": (first.rank, second.rank), "b.example": (other.rank,)}
        nothing = queue.claim(ask(limit=9, waits=True, in_flight=in_flight))
        assert (nothing.leases, nothing.rest.why) == ((), "waiting")
        better = Findings(new=[found("/d", priority=10)])
        queue.commit_page(first, Intake(Done(), findings=better))
        in_flight["a.example"] = (second.rank,)
        assert paths(queue.claim(ask(limit=9, waits=True, in_flight=in_flight)).leases) == ["/d"]
        queue.commit_page(second, Intake(Done()))
        assert paths(queue.claim(ask(limit=9, waits=True)).leases) == ["/c"]

    def test_a_site_at_its_limit_is_not_waited_for(self) -> None:
        other = found("https://b.example/b")._replace(is_external=True)
        queue = self.make_queue(found("/a", priority=9), found("/b"), found("/c"), other)
        first, second, external = queue.claim(
            ask(limit=9, per_site=2, budgets=Budgets(external_pages=9))
        ).leases
        queue.commit_page(first, Intake(Done()))
        queue.commit_page(second, Intake(Retry(60.0, Why("http-503", "later"))))
        queue.commit_page(external, Intake(Retry(70.0, Why("http-503", "later"))))
        queue.block("a.example", 50.0)
        limits = {"max_pages_per_host": 2, "external_pages": 9}
        ends = [
            queue.claim(ask(9.0, budgets=Budgets(**{**limits, **less}))).rest
            for less in ({}, {"external_pages": 1}, {"max_pages_per_host": 3, "external_pages": 1})
        ]
        # Two of a.example, one of others: the first is at its limit, then both, then only the others.
        assert ends == [NoClaim("resting", 70.0), NoClaim("max_pages_per_host"), NoClaim("resting", 50.0)]
        (lease,) = queue.claim(ask(50.0, budgets=Budgets(max_pages_per_host=3, external_pages=1))).leases
        queue.commit_page(lease, Intake(Done()))
        rest = queue.claim(ask(55.0, budgets=Budgets(max_pages_per_host=4, external_pages=1))).rest
        assert rest == NoClaim("resting", 60.0)
        assert queue.claim(
            ask(55.0, budgets=Budgets(external_pages=1), closed=frozenset(["a.example"]))
        ).rest == (NoClaim("external_pages"))

    def test_resting_and_closed_sites_are_stepped_over(self) -> None:
        queue = self.make_queue(found("/a", priority=9), found("https://b.example/b"))
        queue.block("a.example", 50.0)
        queue.block("a.example", 20.0)
        assert paths(queue.claim(ask(limit=9)).leases) == ["/b"]
        rest = queue.claim(ask()).rest
        assert (rest.why, rest.until) == ("resting", 50.0)
        granted = queue.claim(ask(closed=frozenset({"a.example"})))
        assert (granted.rest.why, granted.rest.until) == ("site_failing", None)
        assert paths(queue.claim(ask(50.0)).leases) == ["/a"]

    def test_more_depth_brings_back_what_was_too_deep(self) -> None:
        queue = self.make_queue(found("/a", out=Why("max-depth", "too deep"))._replace(rank=5, depth=3))
        assert queue.reopen("max-depth", 2) == 0
        assert queue.reopen("max-depth") == 1
        assert paths(queue.claim(ask()).leases) == ["/a"]
