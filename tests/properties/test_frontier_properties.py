"""Random events with crashes: the SQLite frontier does what the plain model in memory does, and keeps its invariants."""

from __future__ import annotations

import sqlite3
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import Budgets, Done, Dropped, Retry, ScheduledVisit
from honeyguide.core.crawl.judge import Findings
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.ports.store import Intake
from honeyguide.testing.contracts import ask, digest, found, page, spec
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from honeyguide.core.crawl.frontier import Discovered, Lease, Outcome

BUDGET = 40
LANES = ("deep", "broad", "tail", "far")

urls = st.tuples(st.sampled_from(("http", "https")), st.sampled_from("abc"), st.integers(0, 11)).map(
    lambda parts: f"{parts[0]}://{parts[1]}.example/{parts[2]}"
)
targets = st.tuples(st.sampled_from("abc"), st.integers(0, 11)).map(
    lambda parts: f"https://{parts[0]}.example/{parts[1]}"
)
places = st.tuples(urls, st.sampled_from(LANES), st.integers(0, 13), st.booleans())
events = st.one_of(
    st.tuples(st.just("claim"), st.integers(1, 5), st.booleans()),
    st.tuples(st.just("schedule"), st.lists(st.tuples(urls, st.integers(-5, 60)), max_size=4)),
    st.tuples(
        st.just("finish"),
        st.integers(0, 4),
        st.sampled_from(("done", "retry", "drop", "forbid")),
        st.lists(places, max_size=6),
        st.one_of(st.none(), targets),
    ),
    st.tuples(st.just("depth"), st.integers(0, 3), st.booleans()),
    st.tuples(st.just("later"), st.integers(1, 90)),
    st.tuples(st.just("rest"), st.sampled_from("ab"), st.integers(1, 60)),
    st.tuples(st.just("flush")),
    st.tuples(st.just("crash")),
)


def discovered(place: tuple[str, str, int, bool], wave: int) -> Discovered:
    url, lane, priority, is_out = place
    made = found(url, lane, priority, wave, Why("pruned", "weak") if is_out else None)
    return made._replace(depth=priority % 4, is_external=url.startswith("https://c."))


class Pair:
    """One run in a file and in memory, side by side."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "h.db"
        self.file, self.model = SqliteStore(self.path), MemoryStore()
        self.saved = deepcopy(self.model)
        self.now = 1000.0
        self.leases: list[Lease] = []
        self.open()
        self.each("add", [found(f"https://a.example/{n}") for n in range(3)])
        self.flush()

    def open(self) -> None:
        stores = (self.file, self.model)
        self.fronts: list[Any] = [store.queue(store.runs.begin(spec(), self.now)) for store in stores]

    def each(self, name: str, *values: object) -> object:
        """Do the same to both; they must agree on the answer."""
        one, other = (getattr(front, name)(*values) for front in self.fronts)
        assert one == other, name
        return one

    def flush(self) -> None:
        self.file.flush()
        self.saved = deepcopy(self.model)

    def crash(self) -> None:
        """Lose what was not committed, and take over what was left behind."""
        self.file.abandon()
        killed = deepcopy(self.saved)
        killed.abandon()
        self.file, self.model = SqliteStore(self.path), MemoryStore(killed)
        self.open()
        limit = ask(self.now, limit=3)
        adopted = [front.adopt(limit) for front in self.fronts]
        assert adopted[0] == adopted[1]
        self.leases = list(adopted[0])

    def schedule(self, wanted: list[tuple[str, int]]) -> None:
        self.each(
            "schedule",
            [ScheduledVisit(digest(url), self.now + s, place) for place, (url, s) in enumerate(wanted)],
        )

    def claim(self, limit: int, only_due: bool) -> None:
        budgets = Budgets(max_pages=BUDGET, max_pages_per_host=BUDGET // 2, external_pages=3)
        wanted = ask(self.now, limit, per_site=4, budgets=budgets, only_due=only_due)
        granted = [front.claim(wanted) for front in self.fronts]
        assert granted[0] == granted[1]
        self.leases += granted[0].leases

    def depth(self, limit: int, is_less: bool) -> None:
        """Change how deep the crawl may go."""
        if is_less:
            self.each("drop_deep", limit)
        else:
            self.each("reopen", "max-depth", limit)

    def finish(self, nth: int, how: str, links: list[tuple[str, str, int, bool]], target: str | None) -> None:
        if nth >= len(self.leases):
            return
        lease = self.leases.pop(nth)
        outcomes: dict[str, Outcome] = {
            "done": Done(),
            "retry": Retry(self.now + 30, Why("http-503", "later")),
            "drop": Dropped(Why("http-404", "gone")),
            "forbid": Dropped(Why("forbidden", "robots.txt"), is_fetch=False),
        }
        arrived = None if target is None else (digest(target), Url.parse(target))
        is_external = target is not None and target.startswith("https://c.")
        done = Intake(
            Done(), page(lease.url.text), self.findings(lease, links), f"text {lease.claim % 3}", arrived,
            is_external=is_external,
        )  # fmt: skip
        self.each("commit_page", lease, done if how == "done" else Intake(outcomes[how]))
        self.each("external_pages")

    def findings(self, lease: Lease, links: list[tuple[str, str, int, bool]]) -> Findings:
        """Sort links as a judge would: those that are not known are new, the others may be better."""
        found_ = list({one.digest: one for one in (discovered(link, lease.claim) for link in links)}.values())
        known = self.fronts[1].known([one.digest for one in found_])
        new = [one for one in found_ if one.digest not in known]
        better = [
            one
            for one in found_
            if one.digest in known and one.out is None and not known[one.digest].is_settled
        ]
        again = [one.digest for one in found_ if one.digest in known and one not in better]
        return Findings(new=new, better=better, again=again)

    def check(self) -> None:
        """Compare all there is, and count what is kept in more than one place."""
        self.file.flush()
        self.each("counts")
        one, other = (list(front.rows()) for front in self.fronts)
        assert one == other
        assert list(self.fronts[0].pages()) == list(self.fronts[1].pages())
        self.each("known", [digest(f"https://{site}.example/{n}") for site in "abc" for n in range(12)])
        assert self.fronts[0].counts().fetched <= BUDGET
        assert self.file.check() == ()
        assert broken_sums(self.path) == []


def broken_sums(path: Path) -> list[tuple[str, int]]:
    """Look for counters that disagree with what they count."""
    checks = {
        "site.leased": "SELECT s.id FROM site s WHERE leased != (SELECT count(*) FROM entry e WHERE e.site = s.id AND e.state = 1)",
        "run.leased": "SELECT r.id FROM run r WHERE leased != (SELECT count(*) FROM entry e WHERE e.run = r.id AND e.state = 1)",
        "site.head": "SELECT s.id FROM site s WHERE head_entry IS NOT (SELECT id FROM entry e WHERE e.site = s.id"
        " AND e.state = 0 AND e.due_at IS NULL ORDER BY rank, id LIMIT 1)",
        "run.fetched": "SELECT r.id FROM run r WHERE fetched != (SELECT sum(fetched) FROM site s WHERE s.run = r.id)",
        "leases": "SELECT id FROM entry WHERE (state = 1) != (worker IS NOT NULL)",
    }
    with sqlite3.connect(path) as other:
        found_ = [(name, row[0]) for name, sql in checks.items() for row in other.execute(sql)]
    other.close()
    return found_


@settings(max_examples=60, deadline=None)
@given(st.lists(events, max_size=40))
def test_a_crash_anywhere_keeps_the_invariants(script: list[tuple[object, ...]]) -> None:
    with TemporaryDirectory() as folder:
        pair = Pair(Path(folder))
        for name, *values in script:
            match name:
                case "claim":
                    pair.claim(*values)  # type: ignore[arg-type]  # drawn as a tuple of any values
                case "finish":
                    pair.finish(*values)  # type: ignore[arg-type]  # drawn as a tuple of any values
                case "depth":
                    pair.depth(*values)  # type: ignore[arg-type]  # drawn as a tuple of any values
                case "schedule":
                    pair.schedule(*values)  # type: ignore[arg-type]  # drawn as a tuple of any values
                case "later":
                    pair.now += float(values[0])  # type: ignore[arg-type]  # drawn as a tuple of any values
                case "rest":
                    site, seconds = values
                    if site == "a":
                        pair.each("block", f"{site}.example", pair.now + float(seconds))  # type: ignore[arg-type]  # drawn as a tuple of any values
                case "flush":
                    pair.flush()
                case _:
                    pair.crash()
        pair.check()
        pair.file.close()
