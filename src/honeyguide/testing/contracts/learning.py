"""What every store promises of links that go by their worth (TOPIC-4c): the order, what was learnt, and that workers share it.

Owns: `LearningContract`. Must not know: any adapter, any job. Derive a class and give it `make_workers`; pytest finds the rest.
"""

from __future__ import annotations

# ruff: noqa: S101, D102 - this is a test suite: it asserts, and the names of its tests say what
from typing import TYPE_CHECKING

from honeyguide.core.crawl.frontier import Retry
from honeyguide.core.crawl.judge import Findings
from honeyguide.core.crawl.learner import UNIT, Learner, Lesson, LinkGroup, Tally
from honeyguide.core.crawl.placement import rank_by_units
from honeyguide.core.rules.profile import LearnerRules
from honeyguide.core.why import Why
from honeyguide.ports.store import Intake
from honeyguide.testing.contracts.builders import ask, digest, found, paths
from honeyguide.testing.contracts.workers import Worker

if TYPE_CHECKING:
    from honeyguide.core.crawl.frontier import ClaimRequest, Discovered
    from honeyguide.ports.store import Store

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


class LearningContract:
    """Promises of links in groups."""

    def make_workers(self) -> tuple[Store, Store]:
        raise NotImplementedError

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
