"""What every store promises to two workers on one run: limits, leases, take-over, pace, counters, and what is learnt (TOPIC-4c).

Owns: `WorkersContract`, `LearningContract`, and `Worker`, which commits each step. Must not know: any adapter, any job.
"""

from __future__ import annotations

# ruff: noqa: S101, D102 - this is a test suite: it asserts, and the names of its tests say what
from typing import TYPE_CHECKING

from honeyguide.core.crawl import limits
from honeyguide.core.crawl.frontier import Budgets, Discovered, Done, Retry, SitePace
from honeyguide.core.crawl.judge import Findings
from honeyguide.core.crawl.learner import UNIT, Learner, Lesson, LinkGroup, Tally
from honeyguide.core.crawl.placement import rank_by_units
from honeyguide.core.crawl.traps import ShapeLesson, ShapeLimit
from honeyguide.core.rules.profile import LearnerRules
from honeyguide.core.why import Why
from honeyguide.ports.store import Intake
from honeyguide.testing.contracts import StoreSuite, ask, digest, found, paths, spec

if TYPE_CHECKING:
    from honeyguide.core.crawl.frontier import ClaimRequest, Discovered, Lease
    from honeyguide.ports.store import Heartbeat, Ledger, Queue, Store

DELAY_S = 5.0


class Worker:
    """One worker of the run; each step is committed, so that the other one sees it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        run = store.runs.begin(spec(), 0.0)
        self.queue: Queue = store.queue(run)
        self.ledger: Ledger = store.ledger(run)
        self.runs = store.runs

    def add(self, *links: Discovered) -> None:
        self.queue.add(links)
        self._store.flush()

    def claim(self, request: ClaimRequest) -> tuple[Lease, ...]:
        claimed = self.queue.claim(request)
        self._store.flush()
        return claimed.leases

    def commit(self, lease: Lease, **left: object) -> bool:
        intake = Intake(Done(), **left)  # type: ignore[arg-type]  # a test may set any field
        is_ours = self.queue.commit_page(lease, intake)
        self._store.flush()
        return is_ours

    def adopt(self, request: ClaimRequest) -> tuple[Lease, ...]:
        leases = self.queue.adopt(request)
        self._store.flush()
        return leases

    def renew(self, now: float, until: float, pages: int = 0) -> Heartbeat:
        answer = self.queue.renew(now, until, pages)
        self._store.flush()
        return answer

    def release(self, now: float) -> None:
        self.queue.release(now)
        self._store.flush()

    def close(self) -> None:
        self._store.close()


def limited(path: str, most: int) -> Discovered:
    """Make a link of a shape with a limit."""
    return found(path)._replace(limited=(ShapeLimit("TRAP-6", "facets a.example/", most, "combinations"),))


class WorkersContract(StoreSuite):
    """Promises to two workers on one run."""

    def begin(self, *links: Discovered) -> tuple[Worker, Worker]:
        one, other = map(Worker, self.make_workers())
        one.add(*links)
        return one, other

    def test_no_page_is_claimed_twice(self) -> None:
        workers = self.begin(*(found(f"/{n}") for n in range(20)))
        taken = [lease for n in range(8) for lease in workers[n % 2].claim(ask(limit=3))]
        assert sorted(paths(taken)) == sorted(f"/{n}" for n in range(20))
        assert sorted(lease.claim for lease in taken) == list(range(1, 21))

    def test_budgets_are_kept_together(self) -> None:
        links = [found(f"/{n}") for n in range(9)]
        links += [found(f"https://{host}.example/")._replace(is_external=True) for host in "bcde"]
        workers = self.begin(*links)
        budgets = Budgets(max_pages=6, max_pages_per_host=4, external_pages=3)
        taken: list[Lease] = []
        for n in range(6):
            for lease in workers[n % 2].claim(ask(limit=2, budgets=budgets)):
                assert workers[n % 2].commit(lease)
                taken.append(lease)
        assert len(taken) == 6
        assert sum(lease.site == "a.example" for lease in taken) <= 4
        assert sum(lease.is_external for lease in taken) <= 3
        assert workers[0].ledger.counts().fetched == workers[1].ledger.counts().fetched == 6

    def test_what_both_admit_of_a_shape_is_counted_together(self) -> None:
        one, other = self.begin(found("/a"), found("/b"))
        leases = [worker.claim(ask())[0] for worker in (one, other)]
        for worker, lease in zip((one, other), leases, strict=True):
            new = [limited(f"/{lease.claim}?{n}", 10) for n in range(8)]
            assert worker.commit(lease, findings=Findings(new=new))
        assert [shape.admitted for shape in one.queue.shapes()] == [10]
        assert (one.ledger.counts().out, one.ledger.counts().states["queued"]) == ({"TRAP-6": 6}, 10)

    def test_what_both_learn_of_a_shape_is_counted_together(self) -> None:
        workers = self.begin(*(found(f"/{n}") for n in range(4)))
        for n in range(4):
            (lease,) = workers[n % 2].claim(ask())
            workers[n % 2].commit(lease, lesson=ShapeLesson("x", is_alike=n > 0, recent=((n,),)))
        assert [shape.alike for shape in workers[0].queue.shapes()] == [3]

    def test_urls_of_a_host_are_counted_together(self) -> None:
        one, other = self.begin(found("/a"), found("/b"))
        before, limits.MAX_URLS_PER_HOST = limits.MAX_URLS_PER_HOST, 10
        try:
            for worker in (one, other):
                (lease,) = worker.claim(ask())
                worker.commit(lease, findings=Findings(new=[found(f"/{lease.claim}/{n}") for n in range(6)]))
        finally:
            limits.MAX_URLS_PER_HOST = before
        assert one.ledger.urls_per_host() == {"a.example": 10}
        assert one.ledger.counts().skipped == {"host-full": 4}

    def test_links_that_both_meet_are_counted_together(self) -> None:
        one, other = self.begin(found("/a"), found("/b"), found("/c"))
        for worker in (one, other):
            (lease,) = worker.claim(ask())
            worker.commit(lease, findings=Findings(again=[digest("/c")]))
        assert one.ledger.known([digest("/c")])[digest("/c")].seen == 2

    def test_a_lease_goes_to_another_when_the_heartbeat_expires(self) -> None:
        one, other = self.begin(found("/a"))
        (lease,) = one.claim(ask(0.0))
        one.renew(500.0, 1100.0)
        assert not other.claim(ask(1000.0))
        (again,) = other.claim(ask(1100.0))
        assert (again.url, again.claim) == (lease.url, 2)
        assert not one.commit(lease)
        assert other.commit(again)
        assert one.ledger.counts().fetched == 1

    def test_a_worker_that_was_taken_over_learns_it_from_its_heartbeat(self) -> None:
        one, other = self.begin(found("/a"), found("/b"))
        one.claim(ask(0.0))
        assert one.renew(1.0, 601.0).is_held
        assert len(other.claim(ask(700.0, limit=9))) == 2
        assert not one.renew(701.0, 1301.0).is_held
        assert one.renew(702.0, 1302.0).is_held  # as a new worker, which holds nothing

    def test_a_heartbeat_tells_when_a_run_was_last_worked_on(self) -> None:
        one, other = self.begin(found("/a"))
        one.claim(ask(0.0))
        one.renew(1_700_000_000.0, 1_700_000_600.0)
        other.renew(1_600_000_000.0, 1_600_000_600.0)  # times only grow, whatever the clock says
        assert [run.updated_at for run in other.runs.list()] == [1_700_000_000.0]

    def test_workers_are_listed_and_asked_to_stop(self) -> None:
        one, other = self.begin(found("/a"), found("/b"))
        one.claim(ask(0.0))
        other.adopt(ask(1.0))
        assert not one.renew(5.0, 605.0, pages=3).is_stopping
        listed = one.runs.workers(6.0)
        assert [(worker.run, worker.seen_at, worker.pages) for worker in listed] == [(1, 5.0, 3), (1, 1.0, 0)]
        assert one.runs.stop_workers(6.0, run=2) == 0
        assert one.runs.stop_workers(6.0, run=1) == 2
        assert one.renew(7.0, 607.0).is_stopping
        assert other.renew(7.0, 607.0).is_stopping
        other.close()
        assert len(one.runs.workers(8.0)) == 1

    def test_a_heartbeat_makes_a_worker_of_who_holds_nothing(self) -> None:
        one, other = self.begin(found("/a"))
        one.renew(5.0, 605.0, pages=3)
        assert [(worker.run, worker.pages) for worker in other.runs.workers(6.0)] == [(1, 3)]
        assert other.runs.stop_workers(6.0) == 1
        assert one.renew(7.0, 607.0).is_stopping

    def test_what_a_worker_leaves_is_taken_over_in_its_order(self) -> None:
        one, other = self.begin(*(found(f"/{n}") for n in range(4)))
        one.claim(ask(limit=3))
        assert not other.adopt(ask(1.0, limit=9))  # it is alive
        one.close()
        taken = other.adopt(ask(2.0, limit=2))
        assert [(lease.url.path, lease.claim) for lease in taken] == [("/0", 1), ("/1", 2)]
        assert paths(other.claim(ask(2.0, limit=9))) == ["/2", "/3"]

    def test_a_store_may_be_closed_twice(self) -> None:
        one, other = self.begin(found("/a"))
        one.close()
        one.close()
        assert paths(other.claim(ask())) == ["/a"]

    # --- pace ---

    def test_one_worker_at_a_time_has_a_site_with_a_pace(self) -> None:
        one, other = self.begin(*(found(f"/{n}") for n in range(4)), found("https://b.example/", priority=1))
        mine = one.claim(ask(limit=2, delay_s=DELAY_S))
        assert [lease.start_at for lease in mine] == [0.0, 0.0]
        (theirs,) = other.claim(ask(limit=9, delay_s=DELAY_S))
        assert theirs.site == "b.example"
        for lease in mine:
            one.commit(lease, paces=(SitePace("a.example", 7.0, DELAY_S),))
        next_ = other.claim(ask(4.0, limit=9, delay_s=DELAY_S))
        assert [(lease.site, lease.start_at) for lease in next_] == [("a.example", 7.0)] * 2

    def test_a_site_that_another_has_by_now_is_not_taken_over(self) -> None:
        one, other = self.begin(*(found(f"/{n}") for n in range(4)), found("https://b.example/", priority=1))
        one.claim(ask(1.0, limit=2, delay_s=DELAY_S))
        assert paths(other.claim(ask(1.0, delay_s=DELAY_S))) == ["/"]
        one.release(1.2)
        (theirs,) = other.claim(ask(1.5, delay_s=DELAY_S))
        assert theirs.site == "a.example"
        assert one.adopt(ask(1.6, limit=9, delay_s=DELAY_S)) == ()
        rest = other.claim(ask(2.0, limit=9, delay_s=DELAY_S))
        assert sorted(paths((theirs, *rest))) == ["/0", "/1", "/2", "/3"]

    def test_a_site_whose_worker_is_gone_rests_for_its_delay(self) -> None:
        one, other = self.begin(*(found(f"/{n}") for n in range(4)))
        first, _ = one.claim(ask(limit=2, delay_s=1.0))
        one.commit(first, paces=(SitePace("a.example", 1.0, DELAY_S),))  # robots.txt asks for more
        one.close()
        (adopted,) = other.adopt(ask(2.0, delay_s=1.0))
        (claimed,) = other.claim(ask(2.0, delay_s=1.0))
        assert (adopted.start_at, claimed.start_at) == (7.0, 7.0)

    def test_a_site_without_a_pace_is_shared(self) -> None:
        one, other = self.begin(*(found(f"/{n}") for n in range(6)))
        first, _ = one.claim(ask(limit=2, delay_s=0.0))
        assert not other.claim(ask(limit=9, delay_s=0.0))  # robots.txt may yet ask for a delay
        one.commit(first, paces=(SitePace("a.example", 0.0, 0.0),))
        assert len(other.claim(ask(limit=9, delay_s=0.0))) == 4

    def test_what_is_released_is_asked_for_after_its_pause(self) -> None:
        one, other = self.begin(found("/a"))
        one.claim(ask(delay_s=DELAY_S))
        one.release(3.0)
        one.close()
        (lease,) = other.adopt(ask(4.0, delay_s=DELAY_S))
        assert (lease.claim, lease.start_at) == (1, 8.0)

    def test_a_worker_that_released_its_leases_and_comes_back_lets_go_of_sites_again(self) -> None:
        one, other = self.begin(found("/a"), found("/b"))
        one.claim(ask(delay_s=DELAY_S))
        one.release(3.0)
        (lease,) = one.adopt(ask(4.0, delay_s=DELAY_S))
        assert one.commit(lease, paces=(SitePace("a.example", 13.0, DELAY_S),))
        assert [lease.start_at for lease in other.claim(ask(9.0, delay_s=DELAY_S))] == [13.0]


RULES = LearnerRules()
NAMED = LinkGroup("anchor", "plain", "/docs/")
BARE = LinkGroup("nothing", "plain", "/docs/")
PAGER = LinkGroup("nothing", "pager", "/posts/page/#")


def link(path: str, base: int, group: LinkGroup = BARE) -> Discovered:
    """Make a link of a group."""
    return found(path, "worth")._replace(rank=rank_by_units(base), group=group)


def request(now: float = 0.0, limit: int = 1) -> ClaimRequest:
    """Ask for what is worth most."""
    return ask(now, limit, learner=RULES)


def disappointed(group: LinkGroup, times: int = 6) -> tuple[Lesson, ...]:
    """Teach that links of a group do not lead to relevant pages."""
    return tuple(Lesson(f"links {group.evidence}", 0, UNIT * 9 // 10) for _ in range(times))


class LearningContract(StoreSuite):
    """Promises of links that go by their worth (TOPIC-4c): their order, what was learnt, and that workers share it."""

    def start(self, *links: Discovered) -> Worker:
        worker = Worker(self.make_workers()[0])
        worker.add(*links)
        return worker

    def test_links_come_by_worth_and_then_as_they_were_discovered(self) -> None:
        worker = self.start(
            link("/weak", -40_000), link("/page/2", -40_000, PAGER), link("/good", 10_000, NAMED),
            link("/weaker", -50_000), link("/good-too", 10_000, NAMED), found("/seed", "seed", 0.0),
        )  # fmt: skip
        order = ["/seed", "/good", "/good-too", "/page/2", "/weak", "/weaker"]
        assert paths(worker.claim(request(limit=9))) == order

    def test_what_a_page_teaches_changes_the_order(self) -> None:
        worker = self.start(link("/a", 10_000, NAMED), link("/b", 10_000, NAMED), link("/c", 5_000))
        (first,) = worker.claim(request())
        assert (first.url.path, first.group, first.base) == ("/a", NAMED, 10_000)
        worker.commit(first, lessons=disappointed(NAMED))
        assert paths(worker.claim(request(limit=9))) == ["/c", "/b"]

    def test_counts_add_up_and_fade(self) -> None:
        worker = self.start(link("/a", 0), link("/b", 0))
        for lease in worker.claim(request(limit=2)):
            worker.commit(
                lease, lessons=(Lesson("links nothing", UNIT, 7), Lesson("lists plain", 333, 5, 50))
            )
        assert worker.ledger.learnt("a.example") == {
            "links nothing": Tally(2 * UNIT, 2 * UNIT, 14),
            "lists plain": Tally(UNIT * 3 // 2, 333 + 333 // 2, 5 + 5 // 2),
        }
        assert worker.ledger.learnt("b.example") == {}

    def test_two_workers_share_what_was_learnt(self) -> None:
        one, other = map(Worker, self.make_workers())
        one.add(link("/a", 10_000, NAMED), link("/b", 10_000, NAMED), link("/c", 5_000), link("/d", 4_000))
        (mine,) = one.claim(request())
        assert paths(other.claim(request())) == ["/b"]
        one.commit(mine, lessons=disappointed(NAMED))
        one.add(link("/e", 20_000, NAMED))
        learner = Learner(RULES, other.ledger.learnt("a.example"))
        (lease,) = other.claim(request())
        best = max(((20_000, NAMED), (5_000, BARE)), key=lambda pair: learner.worth(*pair))
        assert (lease.base, lease.group) == best
        assert lease.priority == learner.worth(*best) / UNIT

    def test_a_lease_that_was_left_behind_has_the_worth_that_it_was_claimed_with(self) -> None:
        one, other = map(Worker, self.make_workers())
        one.add(link("/a", 10_000, NAMED), link("/b", 0))
        first, second = one.claim(request(limit=2))
        one.commit(second, lessons=disappointed(NAMED))
        one.release(0.0)
        (adopted,) = other.adopt(request(limit=2))
        assert (adopted.rank, adopted.priority, adopted.group, adopted.base) == (
            first.rank, first.priority, first.group, first.base,
        )  # fmt: skip
        row, _ = other.ledger.find(digest("/a")) or (None, ())
        assert row is not None
        assert row.worth == "; ".join(Learner(RULES, {}).sentences(10_000, NAMED))

    def test_what_is_tried_again_is_in_no_group_and_comes_last(self) -> None:
        worker = self.start(link("/a", 90_000, NAMED), link("/b", -90_000))
        (first,) = worker.claim(request())
        worker.queue.commit_page(first, Intake(Retry(5.0, Why("http-503", "busy"))))
        leases = worker.claim(request(now=9.0, limit=2))
        assert [(lease.url.path, lease.group) for lease in leases] == [("/b", BARE), ("/a", None)]

    def test_better_evidence_moves_a_link_to_another_group(self) -> None:
        worker = self.start(link("/a", 0), link("/b", 1_000), link("/c", -5_000))
        (lease,) = worker.claim(request())
        findings = Findings(better=[link("/c", 9_000, NAMED)])
        assert worker.commit(lease, findings=findings)
        leases = worker.claim(request(limit=2))
        assert [(one.url.path, one.group) for one in leases] == [("/c", NAMED), ("/a", BARE)]

    def test_a_link_waits_while_one_of_more_worth_is_in_flight(self) -> None:
        worker = self.start(link("/a", 10_000), link("/b", 10_000), link("/c", 0))
        asked = ask(limit=3, learner=RULES, waits=True)
        leases = worker.claim(asked)
        assert paths(leases) == ["/a", "/b"]
        worker.commit(leases[0])
        flying: dict[str, tuple[int, ...]] = {lease.site: (lease.rank,) for lease in leases[1:]}
        assert worker.claim(ask(limit=3, learner=RULES, waits=True, in_flight=flying)) == ()
