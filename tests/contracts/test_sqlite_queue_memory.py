"""What a queue claims from memory is what it would claim from the file: random crawls, beside queues that remember nothing."""

from __future__ import annotations

from contextlib import closing
from random import Random
from typing import TYPE_CHECKING

import pytest

from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import Budgets, Done, Dropped, Retry, SitePace
from honeyguide.core.crawl.judge import Findings
from honeyguide.core.crawl.learner import UNIT, Lesson
from honeyguide.core.crawl.traps import ShapeLesson
from honeyguide.core.why import Why
from honeyguide.ports.store import Intake
from honeyguide.testing.contracts import ask, found, page, spec
from honeyguide.testing.contracts.workers import BARE, NAMED, PAGER, RULES, link

if TYPE_CHECKING:
    from pathlib import Path

    from honeyguide.core.crawl.frontier import Discovered, Lease, Outcome

_STEPS = 60
_TABLES = ("entry", "sighting", "link_group", "learnt", "worth", "shape", "visit", "run")
_SITE = "SELECT id, name, urls, fetched, leased, blocked_until, worker IS NULL, delay_s FROM site ORDER BY id"


class Crawl:
    """A crawl of two workers on one store, whose steps are drawn by lot; `forgets` makes the queues read everything from the file."""

    def __init__(self, path: Path, seed: int, *, forgets: bool) -> None:
        self._random = Random(seed)  # noqa: S311 - the same crawl each time is what is wanted
        self._forgets = forgets
        self.stores = [SqliteStore(path), SqliteStore(path)]
        self._queues = [store.queue(store.runs.begin(spec(), 0.0)) for store in self.stores]
        self._leases: list[list[Lease]] = [[], []]
        self.now, self._links = 0.0, 0
        self._strange = self._random.choice((0.0, 0.02, 0.2))  # how many links lead to another site
        self._queues[0].shapes()
        self._queues[0].add([found("/", "seed", 0.0), *self._new(3)])
        self.stores[0].flush()
        self._delay_s = self._random.choice((0.0, None, 5.0))
        self._budgets = Budgets(self._random.choice((None, 14)), self._random.choice((None, 8)))
        self._is_shared = self._random.random() < 0.5
        self.said: list[object] = []

    def run(self) -> list[object]:
        """Take the steps; give all that was granted and refused."""
        for _ in range(_STEPS):
            self.now += self._random.choice((0.0, 0.1, 3.0))
            who = int(self._is_shared and self._random.random() < 0.2)
            step = self._random.choice(
                (self._claim, self._end, self._end, self._end, self._claim, self._else)
            )
            with self.stores[who].transaction():
                step(who)
            if self._is_shared or self._random.random() < 0.3:
                self.stores[who].flush()
        for store in self.stores:
            store.flush()
        return self.said

    def _new(self, most: int) -> list[Discovered]:
        links = []
        for _ in range(self._random.randrange(most + 1)):
            self._links += 1
            host = "https://b.example" if self._random.random() < self._strange else ""
            group = self._random.choice((NAMED, BARE, PAGER))
            links.append(link(f"{host}/{self._links}", self._random.randrange(-50_000, 50_000), group))
        return links

    def _claim(self, who: int) -> None:
        queue = self._queues[who]
        if self._forgets:
            queue._db.write_waiting()  # noqa: SLF001 - as if it had no memory
            queue._only = None  # noqa: SLF001 - the same
        flying: dict[str, tuple[int, ...]] = {}
        for lease in self._leases[who]:
            flying[lease.site] = (*flying.get(lease.site, ()), lease.rank)
        claimed = queue.claim(
            ask(
                self.now,
                self._random.choice((1, 4)),
                per_site=4,
                in_flight=flying,
                waits=True,
                budgets=self._budgets,
                learner=RULES,
                delay_s=self._delay_s,
            )
        )
        self._leases[who] += claimed.leases
        self.said += [*claimed.leases, claimed.rest]

    def _end(self, who: int) -> None:
        if not self._leases[who]:
            return
        lease, queue = self._leases[who].pop(0), self._queues[who]
        new = self._new(4)
        outcome: Outcome = self._random.choice(
            (
                Done(),
                Done(),
                Done(),
                Dropped(Why("http-404", "gone")),
                Retry(self.now + 3, Why("http-503", "busy")),
            )
        )
        shape = ShapeLesson(
            f"a.example/{self._random.randrange(4)}", bool(self._random.randrange(2)), ((1, 2),)
        )
        view = queue.look(lease, [one.digest for one in new])
        self.said += [view.is_held, sorted(view.known.items())]
        intake = Intake(
            outcome, page(lease.url.text), Findings(new=[one for one in new if one.digest not in view.known]),
            paces=() if self._delay_s is None else (SitePace(lease.site, self.now, self._delay_s),),
            lessons=(Lesson(f"links {self._random.choice(('anchor', 'nothing'))}", UNIT, 9_000),), lesson=shape,
        )  # fmt: skip
        if view.is_held:
            self.said.append(queue.commit_page(lease, intake))

    def _else(self, who: int) -> None:
        queue = self._queues[who]
        match self._random.randrange(3):
            case 0:
                queue.block(
                    self._random.choice(("a.example", "b.example")),
                    self.now + self._random.choice((-1.0, 2.0)),
                )
            case 1:
                queue.add(self._new(2))
            case _:
                queue.renew(self.now, self.now + 600.0)


def dump(store: SqliteStore) -> list[object]:
    """Read the tables of a crawl, but for who works on it and the best entry of a site, which a claim may leave for later."""
    tables: list[object] = [store._db.all(f"SELECT * FROM {table} ORDER BY 1, 2") for table in _TABLES]  # noqa: S608, SLF001 - our own tables, compared whole
    return [*tables, store._db.all(_SITE)]  # noqa: SLF001 - as it lies there


@pytest.mark.parametrize("seed", range(100))
def test_a_queue_with_a_memory_does_what_one_without_does(tmp_path: Path, seed: int) -> None:
    crawls = [
        Crawl(tmp_path / f"{name}.db", seed, forgets=forgets) for name, forgets in (("a", False), ("b", True))
    ]
    with (
        closing(crawls[0].stores[0]),
        closing(crawls[0].stores[1]),
        closing(crawls[1].stores[0]),
        closing(crawls[1].stores[1]),
    ):
        first, second = (crawl.run() for crawl in crawls)
        assert first == second
        assert dump(crawls[0].stores[0]) == dump(crawls[1].stores[0])


def test_a_page_that_another_worker_has_taken_over_is_not_committed(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "h.db")) as one, closing(SqliteStore(tmp_path / "h.db")) as other:
        mine, theirs = (store.queue(store.runs.begin(spec(), 0.0)) for store in (one, other))
        mine.add([link("/a", 0), link("/b", 0)])
        (lease,) = mine.claim(ask(learner=RULES)).leases
        assert mine.look(lease).is_held
        one.flush()
        assert theirs.claim(ask(9999.0, learner=RULES)).leases[0].url == lease.url
        other.flush()
        assert not mine.commit_page(lease, Intake(Done()))
        one.flush()


def test_what_another_worker_learnt_of_a_shape_is_read_with_the_next_page(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "h.db")) as one, closing(SqliteStore(tmp_path / "h.db")) as other:
        mine, theirs = (store.queue(store.runs.begin(spec(), 0.0)) for store in (one, other))
        assert mine.shapes() == []
        mine.add([link(f"/{n}", 0) for n in range(4)])
        one.flush()
        lesson = ShapeLesson("a.example/", is_alike=True, recent=((1,),))
        for store, queue in ((one, mine), (one, mine), (other, theirs), (one, mine)):
            (lease,) = queue.claim(ask(learner=RULES)).leases
            assert queue.look(lease).shapes == ()
            queue.commit_page(lease, Intake(Done(), lesson=lesson))
            store.flush()
        assert [shape.alike for shape in mine.look(lease).shapes] == [4]
        one.flush()
