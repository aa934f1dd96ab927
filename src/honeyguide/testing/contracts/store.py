"""What every `Runs`, `Queue` and `Ledger` of a store promises to one worker.

Owns: `StoreContract`; limits and redirects are in `limits.py`. Must not know: any adapter, any job.
"""

from __future__ import annotations

# ruff: noqa: S101, D102 - this is a test suite: it asserts, and the names of its tests say what
from honeyguide.core.crawl.frontier import (
    PASSING_RULES,
    Done,
    Dropped,
    NoClaim,
    Retry,
    ScheduledVisit,
    Sighting,
    State,
)
from honeyguide.core.crawl.judge import Findings
from honeyguide.core.crawl.traps import ShapeLesson, UrlShape
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.ports.store import Intake, Ledger
from honeyguide.testing.contracts import SITE, ask, digest, drain, found, page, paths, spec, visits
from honeyguide.testing.contracts.limits import LimitsContract


class StoreContract(LimitsContract):
    """Promises of `Runs`, `Queue` and `Ledger`."""

    # --- order ---

    def test_best_first_and_oldest_on_ties(self) -> None:
        queue = self.make_queue(found("/a"), found("/b", priority=7), found("/c"), found("/d", "tail", 9))
        assert drain(queue) == ["/b", "/a", "/c", "/d"]

    def test_deep_is_newest_wave_first_and_best_first_within_it(self) -> None:
        queue = self.make_queue(
            found("/old", "deep", 13, wave=1),
            found("/new", "deep", 8, wave=2),
            found("/newer", "deep", 9, wave=2),
            found("/broad", "broad", 10),
        )
        assert drain(queue) == ["/newer", "/new", "/old", "/broad"]

    def test_claims_are_numbered_and_batches_keep_the_order(self) -> None:
        queue = self.make_queue(*(found(f"/{n}") for n in range(5)))
        first = queue.claim(ask(limit=3)).leases
        second = queue.claim(ask(limit=3)).leases
        assert paths(first + second) == ["/0", "/1", "/2", "/3", "/4"]
        assert [lease.claim for lease in first + second] == [1, 2, 3, 4, 5]

    def test_the_site_whose_best_url_is_best_comes_first(self) -> None:
        queue = self.make_queue(
            found("/a"), found("https://b.example/x", priority=6), found("https://b.example/y", priority=4)
        )
        assert drain(queue) == ["/x", "/a", "/y"]

    # --- identity ---

    def test_http_and_https_are_one_and_https_wins(self) -> None:
        queue = self.make_queue(found("http://a.example/p"), found("/seed", priority=9))
        assert not queue.add([found("https://a.example/p")])
        (seed,) = queue.claim(ask()).leases
        queue.commit_page(seed, Intake(Done(), findings=Findings(better=[found("https://a.example/p")])))
        (lease,) = queue.claim(ask()).leases
        assert lease.url.text == "https://a.example/p"
        assert not queue.claim(ask()).leases

    def test_what_is_known_is_told(self) -> None:
        queue = self.make_queue(found("/a"), found("/out", out=Why("exclude", "no")))
        known = queue.known([digest("/a"), digest("/out"), digest("/other")])
        assert known.keys() == {digest("/a"), digest("/out")}
        assert not known[digest("/a")].is_settled
        assert known[digest("/out")].is_settled
        queue.claim(ask())
        assert queue.known([digest("/a")])[digest("/a")].is_settled

    def test_what_becomes_of_a_leased_page_is_known_at_once(self) -> None:
        queue, lease = self.make_lease(found("/a"))
        assert queue.known([digest("/a")])[digest("/a")].state == State.LEASED
        queue.commit_page(lease, Intake(Retry(60.0, Why("http-503", "later"))))
        standing = queue.known([digest("/a")])[digest("/a")]
        assert (standing.state, standing.rule) == (State.QUEUED, "http-503")

    # --- ends ---

    def test_a_page_and_what_it_revealed_come_together(self) -> None:
        queue, lease = self.make_lease(found("/a"))
        findings = Findings(
            new=[found("/b", "deep", 9, wave=lease.claim), found("/c", out=Why("pruned", "weak"))]
        )
        queue.commit_page(lease, Intake(Done(), page("/a"), findings, "digest"))
        assert list(queue.pages()) == [(1, page("/a"))]
        assert queue.look(lease, (), "digest").copies == (f"{SITE}/a",)
        assert queue.look(lease, (), "other").copies == ()
        (next_,) = queue.claim(ask()).leases
        assert (next_.url.path, next_.parent, next_.lane) == ("/b", f"{SITE}/a", "deep")
        assert queue.counts().out == {"pruned": 1}

    def test_better_evidence_moves_up_and_brings_back(self) -> None:
        pruned = found("/pruned", out=Why("pruned", "weak"))
        queue, lease = self.make_lease(found("/a", priority=9), found("/b"), found("/c"), pruned)
        better = [found("/c", "deep", 9, wave=1), found("/pruned", "broad", 6)]
        queue.commit_page(lease, Intake(Done(), findings=Findings(better=better)))
        assert drain(queue) == ["/c", "/pruned", "/b"]

    def test_the_shortest_way_to_a_link_counts_whichever_gives_it_its_place(self) -> None:
        near, far, out = (
            found("/near"),
            found("/far")._replace(depth=5),
            found("/out", out=Why("pruned", "weak")),
        )
        queue, lease = self.make_lease(found("/a", priority=9), near, far, out)
        better = [
            found("/near", "deep", 9)._replace(depth=3),
            far._replace(depth=2),
            found("/out")._replace(depth=4),
        ]
        queue.commit_page(lease, Intake(Done(), findings=Findings(better=better)))
        names = [digest(path) for path in ("/near", "/far", "/out")]
        assert [queue.known(names)[name].depth for name in names] == [1, 2, 1]
        leases = {lease.url.path: lease.depth for lease in queue.claim(ask(limit=3)).leases}
        assert leases == {"/near": 1, "/far": 2, "/out": 1}

    def test_better_evidence_changes_nothing_that_is_fetched(self) -> None:
        queue = self.make_queue(found("/a", priority=9), found("/b"))
        first, second = queue.claim(ask(limit=2)).leases
        queue.commit_page(first, Intake(Done(), findings=Findings(better=[found("/b", "deep", 10)])))
        queue.commit_page(second, Intake(Done(), findings=Findings(better=[found("/a", "deep", 10)])))
        assert not queue.claim(ask()).leases

    def test_better_evidence_brings_back_what_was_put_out_for_lack_of_it(self) -> None:
        out = {f"/{rule}": rule for rule in sorted(PASSING_RULES)}
        put_out = [found(path, out=Why(rule, "weak")) for path, rule in out.items()]
        queue, lease = self.make_lease(found("/a", priority=9), *put_out)
        queue.commit_page(lease, Intake(Done(), findings=Findings(better=[found(path) for path in out])))
        assert drain(queue) == list(out)

    def test_better_evidence_changes_nothing_that_has_failed(self) -> None:
        queue = self.make_queue(*(found(path, priority=9) for path in ("/a", "/gone", "/later")))
        lease, gone, later = queue.claim(ask(limit=3)).leases
        queue.commit_page(gone, Intake(Dropped(Why("http-404", "answered 404"))))
        queue.commit_page(later, Intake(Retry(60.0, Why("http-503", "later"))))
        # As one sees it who knows no better.
        better = [found(path, "deep", 10) for path in ("/gone", "/later")]
        queue.commit_page(lease, Intake(Done(), findings=Findings(better=better)))
        for path, state, rule in (
            ("/gone", State.REJECTED, "http-404"),
            ("/later", State.QUEUED, "http-503"),
        ):
            standing = queue.known([digest(path)])[digest(path)]
            assert (standing.state, standing.rule) == (state, rule)
        assert queue.claim(ask(1.0)).rest == NoClaim("resting", 60.0)
        (again,) = queue.claim(ask(60.0)).leases
        assert (again.url.path, again.lane) == ("/later", "broad")

    def test_a_retry_waits_and_comes_last(self) -> None:
        queue, lease = self.make_lease(found("/a", priority=9), found("/b"))
        queue.commit_page(lease, Intake(Retry(60.0, Why("http-503", "later"))))
        granted = queue.claim(ask(limit=2))
        assert paths(granted.leases) == ["/b"]
        queue.commit_page(granted.leases[0], Intake(Done()))
        rest = queue.claim(ask(1.0)).rest
        assert (rest.why, rest.until) == ("resting", 60.0)
        (again,) = queue.claim(ask(60.0)).leases
        assert (again.url.path, again.attempt) == ("/a", 2)

    def test_a_lease_ends_once(self) -> None:
        queue, lease = self.make_lease(found("/a"))
        queue.commit_page(lease, Intake(Done()))
        assert not queue.commit_page(lease, Intake(Done()))
        assert queue.counts().fetched == 1

    def test_a_lease_is_held_until_it_ends(self) -> None:
        queue, lease = self.make_lease(found("/a"))
        assert queue.look(lease).is_held
        queue.commit_page(lease, Intake(Retry(5.0, Why("http-503", "busy"))))
        assert not queue.look(lease).is_held
        (again,) = queue.claim(ask(9.0)).leases
        assert (queue.look(lease).is_held, queue.look(again).is_held) == (False, True)

    def test_done_is_queued_again_when_it_is_due(self) -> None:
        queue, lease = self.make_lease(found("/a"))
        queue.commit_page(lease, Intake(Done()))
        assert len(queue.schedule(visits(100.0, "/a", "/unknown"))) == 1
        assert queue.counts().due == 1
        assert queue.claim(ask(99.0)).rest.why == "complete"
        (again,) = queue.claim(ask(100.0)).leases
        assert (again.url.path, again.is_recrawl, again.attempt) == ("/a", True, 1)
        queue.commit_page(again, Intake(Done()))
        assert queue.counts().due == 0

    def test_what_is_due_comes_first_in_the_order_of_the_plan(self) -> None:
        queue = self.make_queue(found("/a", priority=9), found("/b", priority=8), found("/c", priority=7))
        assert len(queue.schedule(visits(5.0, "/c", "/b"))) == 2
        assert paths(queue.claim(ask(5.0, limit=9)).leases) == ["/c", "/b", "/a"]

    def test_only_what_is_due_is_granted_where_that_is_asked(self) -> None:
        queue = self.make_queue(found("/a", priority=9), found("/b"), found("/c"))
        queue.schedule([ScheduledVisit(digest("/c"), 5.0, 0), ScheduledVisit(digest("/b"), 90.0, 1)])
        (lease,) = queue.claim(ask(5.0, limit=9, only_due=True)).leases
        assert lease.url.path == "/c"
        queue.commit_page(lease, Intake(Retry(60.0, Why("http-503", "later"))))
        assert queue.counts().due == 2
        rest = queue.claim(ask(6.0, only_due=True)).rest
        assert (rest.why, rest.until) == ("resting", 60.0)
        assert paths(queue.claim(ask(90.0, limit=9, only_due=True)).leases) == ["/b", "/c"]
        assert queue.claim(ask(90.0, only_due=True)).rest.until != 90.0

    def test_what_failed_can_be_scheduled_but_not_what_was_put_out(self) -> None:
        out = found("/out")._replace(out=Why("irrelevant", "no points"))
        queue, lease = self.make_lease(found("/gone"), out)
        assert not queue.schedule(visits(1.0, "/gone"))  # it is being fetched
        queue.commit_page(lease, Intake(Dropped(Why("http-404", "answered 404"))))
        assert len(queue.schedule(visits(1.0, "/gone", "/out"))) == 1
        assert paths(queue.claim(ask(1.0, limit=9, only_due=True)).leases) == ["/gone"]

    # --- memory ---

    def test_who_links_a_url_is_remembered(self) -> None:
        queue, lease = self.make_lease(found("/a", priority=9), found("/b"))
        seen = Sighting("other words", "footer", 0.0, "", "far")
        findings = Findings(sightings=[(digest("/b"), seen)], again=[digest("/a")])
        queue.commit_page(lease, Intake(Done(), findings=findings))
        told = queue.find(digest("/b"))
        assert told is not None
        assert [(parent, sighting.anchor) for parent, sighting in told[1]] == [
            (None, "anchor"),
            (f"{SITE}/a", "other words"),
        ]
        assert queue.find(digest("/nowhere")) is None

    def test_counts_and_rows(self) -> None:
        outside = found("https://other.example/", out=Why("other-site", "other.example"))
        queue, lease = self.make_lease(found("/a", priority=9), found("/b", "tail"), outside)
        findings = Findings()
        findings.skipped.update(["scheme", "scheme"])
        queue.commit_page(lease, Intake(Dropped(Why("http-404", "answered 404")), page("/a"), findings))
        counts = queue.counts()
        assert counts.states == {"queued": 1, "leased": 0, "done": 0, "rejected": 2}
        assert (counts.lanes, counts.fetched, counts.external_links) == ({"tail": 1}, 1, 1)
        assert [row.url for row in queue.rows(rule="other-site")] == ["https://other.example/"]
        assert [row.state for row in queue.rows()] == [State.REJECTED, State.QUEUED, State.REJECTED]

    def test_shapes_are_learnt(self) -> None:
        queue = self.make_queue(found("/a"), found("/b"), found("/c"))
        sketches = ((1, 2), (3,))
        for lease, is_alike in zip(queue.claim(ask(limit=3)).leases, (False, True, True), strict=True):
            queue.commit_page(lease, Intake(Done(), lesson=ShapeLesson("x", is_alike, sketches)))
        assert queue.shapes() == [UrlShape("x", 0, 2, sketches)]

    def test_sites_are_entered_and_left(self) -> None:
        queue = self.make_queue(found("/a")._replace(is_seed=True), found("/b"))
        assert queue.sites() == frozenset()
        queue.add_site("a.example")
        queue.add_site("www.a.example")
        assert queue.sites() == {"a.example", "www.a.example"}
        assert [seed.text for seed in queue.seeds()] == [f"{SITE}/a"]

    def test_what_was_outside_comes_back_when_its_site_is_entered(self) -> None:
        outside = [
            found(f"https://{host}.example/{path}", out=Why("other-site", f"{host}.example"))
            for host, path in (("b", "x"), ("c", "x"), ("b", "y"))
        ]
        queue = self.make_queue(found("/a"), *outside)
        assert queue.now_internal() == []
        queue.add_site("b.example")
        assert [row.url for row, _ in queue.now_internal()] == [outside[n].url.text for n in (0, 2)]
        placed = found("https://b.example/x", "deep", 9)
        unwanted = found("https://b.example/y", out=Why("exclude", "no"))
        queue.requeue([placed, unwanted._replace(site="b.example")])
        assert queue.now_internal() == []
        (lease,) = queue.claim(ask()).leases
        assert (lease.url.text, lease.site, lease.lane) == ("https://b.example/x", "b.example", "deep")
        assert queue.counts().out == {"other-site": 1, "exclude": 1}
        told = queue.find(placed.digest)
        assert told is not None
        assert (told[0].seen, [seen.lane for _, seen in told[1]]) == (0, ["deep"])

    def test_a_seed_that_was_not_had_is_asked_for_as_it_is_written_by_now(self) -> None:
        seed = found("https://a.example/")._replace(is_seed=True)
        queue, lease = self.make_lease(seed)
        queue.commit_page(lease, Intake(Dropped(Why("unreachable", "no"), is_fetch=True)))
        queue.requeue([seed._replace(url=Url.parse("http://a.example/"))])
        (again,) = queue.claim(ask()).leases
        assert (again.url.as_linked, again.is_seed) == ("http://a.example/", True)

    def test_what_nobody_links_was_not_seen(self) -> None:
        queue, lease = self.make_lease(found("/a"))
        findings = Findings(new=[found("/b")], again=[digest("/a")])
        queue.commit_page(lease, Intake(Done(), findings=findings))
        assert [queue.known([digest(path)])[digest(path)].seen for path in ("/a", "/b")] == [1, 1]
        assert queue.add([found("/c")]) == 1
        assert queue.known([digest("/c")])[digest("/c")].seen == 0

    def test_what_a_rule_put_out_is_queued_again(self) -> None:
        queue = self.make_queue(found("/a"))
        queue.schedule(visits(1.0, "/a"))
        (lease,) = queue.claim(ask(1.0)).leases
        queue.commit_page(lease, Intake(Dropped(Why("address-refused", "private"), is_fetch=False)))
        assert (queue.counts().due, queue.reopen("http-404")) == (1, 0)
        assert queue.reopen("address-refused") == 1
        (again,) = queue.claim(ask(2.0, only_due=True)).leases
        assert (again.url.path, again.attempt) == ("/a", 1)

    # --- runs ---

    def test_the_same_command_goes_on_and_fresh_starts_over(self) -> None:
        run = self.store.runs.begin(spec(), 1.0)
        self.store.queue(run).add([found("/a")])
        assert drain(self.store.queue(run)) == ["/a"]
        self.store.runs.end(run, "complete", 2.0)
        again = self.store.runs.begin(spec(), 3.0)
        assert (again.id, again.fetched) == (run.id, 1)
        other = self.store.runs.begin(spec("two", topic="water"), 4.0)
        fresh = self.store.runs.begin(spec(), 5.0, restart=True)
        assert len({run.id, other.id, fresh.id}) == 3
        assert self.store.runs.begin(spec(), 6.0).id == fresh.id
        assert not self.store.queue(fresh).known([digest("/a")])
        assert [(r.spec.key, r.fetched) for r in self.store.runs.list()] == [
            ("one", 1),
            ("two", 0),
            ("one", 0),
        ]

    def test_leases_left_behind_are_adopted_in_claim_order(self) -> None:
        queue = self.make_queue(*(found(f"/{n}") for n in range(4)))
        queue.claim(ask(limit=3))
        adopted = self.open_queue().adopt(ask(700.0, limit=2))
        assert paths(adopted) == ["/0", "/1"]
        assert [(lease.claim, lease.attempt) for lease in adopted] == [(1, 1), (2, 1)]
        assert paths(self.open_queue().claim(ask(700.0, limit=9)).leases) == ["/2", "/3"]

    def test_leases_that_were_released_are_adopted_at_once(self) -> None:
        queue = self.make_queue(*(found(f"/{n}") for n in range(4)))
        queue.claim(ask(limit=2))
        assert self.queue_words(queue) == (["leased", "leased", "queued", "queued"], 2, 2)
        queue.release(0.0)
        assert self.queue_words(queue) == (["queued"] * 4, 4, 0)  # nobody has them
        assert paths(self.open_queue().adopt(ask(1.0, limit=9))) == ["/0", "/1"]

    def queue_words(self, ledger: Ledger) -> tuple[list[str], int, int]:
        """Tell the state of each URL, and how many are queued and leased."""
        counts = ledger.counts()
        assert sum(counts.lanes.values()) == counts.states["queued"]
        states = [row.state.name.lower() for row in ledger.rows()]
        return states, counts.states["queued"], counts.states["leased"]
