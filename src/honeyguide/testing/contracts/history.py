"""What every `History` promises, as a suite that any store can run. Public on purpose: plugins are tested with it.

Owns: `HistoryContract`. Must not know: any adapter, any job.
Derive a class from `HistoryContract` and give it `make_store`; pytest finds the rest.
"""

from __future__ import annotations

# ruff: noqa: S101, D102 - this is a test suite: it asserts, and the names of its tests say what
from dataclasses import replace
from typing import TYPE_CHECKING

from honeyguide.core.recrawl.history import HistoryEntry, Site, Trust, Visit, body_digest
from honeyguide.core.recrawl.rate import Rate
from honeyguide.core.recrawl.signals import SITEMAP
from honeyguide.core.recrawl.visits import next_known, next_site

if TYPE_CHECKING:
    from honeyguide.ports.store import History, Store


URL = "https://a.example/page"
DAY_S = 86400.0


def visit(at: float, content: str | None = "x", **more: object) -> Visit:
    """Make a visit of one page; without content it is a failure."""
    body = None if content is None else body_digest(content.encode())
    given = {"status": 500 if content is None else 200, "content": content, "body": body, **more}
    return Visit(URL, 7, at, **given)  # type: ignore[arg-type]  # a test may set any field


def get(history: History, digest: int = 7) -> HistoryEntry:
    """Give what is known, and insist on it."""
    known = history.get(digest)
    assert known is not None
    return known


class HistoryContract:
    """The suite. `make_store` gives a new, empty store each time."""

    def make_store(self) -> Store:
        """Make an empty store."""
        raise NotImplementedError

    def test_what_is_adopted_is_known_and_no_visit(self) -> None:
        store = self.make_store()
        history = store.history
        history.record(visit(10.0), 1)
        history.note_lastmods([(7, "2024-05-01")])
        elsewhere = get(history)._replace(visits=9, visited_at=500.0, rate_a=2.0, rate_b=48.0, lastmod=None)
        history.adopt([elsewhere, elsewhere._replace(url="https://a.example/b", digest=-9)])
        store.flush()
        assert get(history) == elsewhere._replace(lastmod="2024-05-01")
        assert [known.digest for known in history.known()] == [-9, 7]
        assert [at for _, at, _ in history.visits(7)] == [10.0]
        assert history.latest_visits(9, 0.0) == [10.0]
        history.record(visit(600.0), 1)
        assert get(history).visits == 10

    def test_fields_of_everything_are_those_of_the_entries(self) -> None:
        history = self.make_store().history
        for number in range(5):
            history.record(replace(visit(10.0 + number, kind="hub"), digest=number * 7 - 9), 1)
            history.record(replace(visit(1000.0 + number, f"{number}", kind="hub"), digest=number * 7 - 9), 1)
        history.note_lastmods([(-2, "2024-05-01")])
        fields = HistoryEntry._fields
        assert list(history.known_fields(fields)) == [tuple(known) for known in history.known()]
        assert list(history.known_fields(("url", "visits"))) == [(URL, 2)] * 5

    def test_requests_are_noted_beside_visits(self) -> None:
        store = self.make_store()
        history = store.history
        for at in (10.0, 11.0, 12.0):
            history.note_request(at)
        history.record(visit(12.0), 1)
        store.flush()
        assert history.latest_requests(2) == [12.0, 11.0]
        assert history.latest_visits(9, 0.0) == [12.0]
        assert [known.digest for known in history.known()] == [7]
        assert [seen.at for seen in history.contents()] == [12.0]

    def test_history_counts_visits_and_changes(self) -> None:
        history = self.make_store().history
        for at, content in ((10.0, "x"), (20.0, "x"), (15.0, "y"), (40.0, None)):
            status = 200 if content else 500
            history.record(Visit("https://a.example/", 7, at, status, content, relevance=0.5, etag="e"), 1)
        known = history.get(7)
        assert known is not None
        assert (known.visits, known.visited_at, known.changed_at, known.changes) == (4, 40.0, 20.0, 1)
        assert (known.failures, known.status, known.content, known.relevance) == (1, 500, "y", 0.5)
        assert [status for _, _, status in history.visits(7)] == [200, 200, 200, 500]
        history.record(Visit("https://a.example/b", -9, 1.0, 200, "z"), 1)
        assert [row.digest for row in history.known()] == [-9, 7]
        assert history.get(8) is None

    def test_what_changes_between_two_looks_is_seen(self) -> None:
        history = self.make_store().history
        assert (history.get(7), history.record(Visit(URL, 7, 10.0, 200, "x"), 1).visits) == (None, 1)
        assert (get(history).visits, get(history).lastmod) == (1, None)
        history.note_lastmods([(7, "2026-01-01")])
        assert get(history).lastmod == "2026-01-01"
        history.record(Visit(URL, 7, 20.0, 200, "y"), 1)
        assert (get(history).visits, get(history).content) == (2, "y")

    def test_history_is_what_the_core_makes_of_visits(self) -> None:
        history = self.make_store().history
        visits = (
            visit(
                0.0, relevance=0.5, depth=3, hub_depth=2, links=4, new_links=9, etag="e", last_modified="m"
            ),
            visit(DAY_S, "yy", kind="hub", link_share=0.5, new_links=2, arrived=f"{URL}/"),
            visit(DAY_S + 7200.0, "z", kind="hub", relevance=0.25),
            visit(2 * DAY_S, None),
            visit(3 * DAY_S, None, status=304, etag="f"),
        )
        known = None
        for number, one in enumerate(visits):
            known = next_known(known, one, Site() if known is None else history.site("a.example"), number)
            assert history.record(one, number) == known == get(history)
        assert known is not None
        assert None not in (known.seen, known.found, known.hours, known.run)

    def test_a_page_that_moved_is_one_visit_and_its_history_is_where_it_is_now(self) -> None:
        history = self.make_store().history
        history.record(visit(0.0, relevance=0.5), 1)
        there = replace(visit(DAY_S), url="https://a.example/new", digest=8, moved_from=7)
        known = history.record(there, 1)
        assert (known.visits, known.unchanged, known.first_seen) == (2, 1, 0.0)
        history.record(visit(DAY_S, None, is_redirect_source=True, is_moved=True, arrived=there.url), 1)
        assert (get(history).is_moved, get(history).arrived) == (True, there.url)
        assert (len(history.visits(7)), len(history.visits(8))) == (1, 1)
        known = history.record(replace(there, at=2 * DAY_S), 1)
        assert known.visits == 3

    def test_what_sitemaps_say_is_kept_for_pages_that_were_never_visited_too(self) -> None:
        history = self.make_store().history
        history.note_lastmods([(7, "2026-05-01"), (9, "2026-05-02")])
        assert history.get(7) is None
        history.record(visit(0.0), 1)
        assert get(history).lastmod == "2026-05-01"
        history.note_lastmods([(7, "2026-05-03")])
        assert [known.lastmod for known in history.known()] == ["2026-05-03"]
        history.record(visit(DAY_S), 1)
        assert get(history).lastmod == "2026-05-03"

    def test_sites_prove_whether_they_are_honest(self) -> None:
        history = self.make_store().history
        history.record(visit(0.0), 1)
        for day in range(2, 9):
            assert not history.site("a.example").is_trusted(SITEMAP)
            history.note_lastmods([(7, f"1970-01-{day:02}T00:00:00Z")])
            history.record(visit((day - 0.5) * DAY_S, f"{day}"), 1)
            if history.site("a.example").trust[SITEMAP].hits == 5:
                break
        assert history.site("a.example").trust == dict.fromkeys((SITEMAP, f"{SITEMAP}/page"), Trust(hits=5))
        assert history.site("a.example").is_trusted(SITEMAP)
        assert not history.site("b.example").is_trusted(SITEMAP)
        history.note_lastmods([(7, "1970-01-30T01:00:00Z")])
        assert history.record(visit(30 * DAY_S, "new"), 1).changed_at == 29 * DAY_S + 3600.0

    def test_sites_remember_their_days_and_what_is_usual(self) -> None:
        history = self.make_store().history
        history.record(visit(0.0), 1)
        history.record(visit(DAY_S / 2, "y"), 1)
        assert history.site("a.example").clock.weight(0) > 1.0
        history.save_priors("a.example", {"page": Rate(1.0, 2.0)})
        history.save_priors("a.example", {"page": Rate(3.0, 4.0), "hub": Rate(5.0, 6.0)})
        site = history.site("a.example")
        assert site.priors == {"page": Rate(3.0, 4.0), "hub": Rate(5.0, 6.0)}
        assert site.clock.weight(0) > 1.0
        assert history.site("b.example") == Site()

    def test_pages_that_a_hub_brings_are_born_then(self) -> None:
        history = self.make_store().history
        hub = Visit("https://a.example/", 1, 5.0, 200, "x", kind="hub", newborn=(7, 8))
        assert history.get(7) is None
        history.record(hub, 1)
        assert history.get(7) is None  # nobody has visited it yet
        history.record(visit(10.0), 1)
        assert get(history).born_at == 5.0
        history.record(replace(hub, at=20.0, newborn=(7, 9)), 1)
        history.record(replace(visit(30.0), url="https://a.example/9", digest=9), 1)
        assert [(known.digest, known.born_at) for known in history.known()] == [
            (1, None),
            (7, 5.0),
            (9, 20.0),
        ]
        history.record(replace(visit(30.0), url="https://a.example/11", digest=11), 1)
        assert get(history, 11).born_at is None
        history.record(replace(hub, at=35.0, newborn=(11,)), 1)
        assert get(history, 11).born_at == 35.0
        there = replace(visit(40.0), url="https://a.example/new", digest=10, moved_from=7)
        assert history.record(there, 1).born_at == get(history, 10).born_at == 5.0

    def test_sites_learn_how_pages_age_and_tell_the_others(self) -> None:
        history = self.make_store().history
        urls = {n: f"https://{host}.example/{n}" for n, host in enumerate("aab", 7)}
        history.record(Visit("https://a.example/", 1, 0.0, 200, "x", kind="hub", newborn=tuple(urls)), 1)
        for at, content in ((0.0, "x"), (3600.0, "y"), (2 * 3600.0, "z"), (DAY_S, "z")):
            for digest, url in urls.items():
                history.record(replace(visit(at, content), url=url, digest=digest), 1)
        a, b, c = (history.site(f"{name}.example").ages["page"] for name in "abc")
        assert min(a.own.weights[0], b.own.weights[0]) > 1.0 > max(a.own.weights[4], b.own.weights[4])
        assert a.every == b.every == c.every
        both = zip(a.own.expected, b.own.expected, strict=True)
        assert all(abs(sum(one) - whole) < 1e-9 for one, whole in zip(both, a.every.expected, strict=True))
        assert a.own.parent == b.own.parent == c.own.parent == a.every.weights
        assert sum(c.own.expected) == 0.0  # it has seen nothing itself
        assert list(history.site("a.example").ages) == ["page"]

    def test_sites_are_what_the_core_makes_of_visits(self) -> None:
        history = self.make_store().history
        history.record(Visit("https://a.example/", 1, 0.0, 200, "x", kind="hub", newborn=(7,)), 1)
        history.record(visit(600.0), 1)
        for day, kind in enumerate(("page", "article", "page"), 1):
            old, site = get(history), history.site("a.example")
            one = visit(day * DAY_S, f"{day}", kind=kind)
            assert history.record(one, 1) == next_known(old, one, site, 1)
            assert history.site("a.example") == next_site(site, old, one)
        assert sorted(history.site("a.example").ages) == ["article", "page"]
