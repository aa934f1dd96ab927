"""What every `History` and every `Contents` of a store promises: what is remembered across runs, and pages as they were read.

Owns: `HistoryContract`, `ContentsContract`. Must not know: any adapter, any job.
"""

from __future__ import annotations

# ruff: noqa: S101, D102 - this is a test suite: it asserts, and the names of its tests say what
from dataclasses import replace

from honeyguide.core.recrawl.history import HistoryEntry, Site, Trust, Visit, body_digest
from honeyguide.core.recrawl.rate import Rate
from honeyguide.core.recrawl.signals import SITEMAP
from honeyguide.core.recrawl.visits import next_known, next_site
from honeyguide.core.url.url import Url
from honeyguide.ports.store import KeptPage
from honeyguide.testing.contracts import StoreSuite

URL = "https://a.example/page"
DAY_S = 86400.0


def visit(at: float, content: str | None = "x", **more: object) -> Visit:
    """Make a visit of one page; without content it is a failure."""
    body = None if content is None else body_digest(content.encode())
    given = {"status": 500 if content is None else 200, "content": content, "body": body, **more}
    return Visit(URL, 7, at, **given)  # type: ignore[arg-type]  # a test may set any field


class HistoryContract(StoreSuite):
    """Promises of `History`."""

    def record(self, one: Visit, run: int = 1) -> HistoryEntry:
        return self.history.record(one, run)

    def known(self, digest: int = 7) -> HistoryEntry:
        """Give what is known, and insist on it."""
        known = self.history.get(digest)
        assert known is not None
        return known

    def site(self, name: str = "a.example") -> Site:
        return self.history.site(name)

    def test_what_is_adopted_is_known_and_no_visit(self) -> None:
        self.record(visit(10.0))
        self.history.note_lastmods([(7, "2024-05-01")])
        elsewhere = self.known()._replace(
            visits=9, visited_at=500.0, rate_a=2.0, rate_b=48.0, latest_b=9.5, doubt=1.25, forgot_at=400.0, lastmod=None
        )  # fmt: skip
        self.history.adopt([elsewhere, elsewhere._replace(url="https://a.example/b", digest=-9)])
        self.store.flush()
        assert self.known() == elsewhere._replace(lastmod="2024-05-01")
        assert [known.digest for known in self.history.known()] == [-9, 7]
        assert [at for _, at, _ in self.history.visits(7)] == [10.0]
        assert self.history.latest_visits(9, 0.0) == [10.0]
        self.record(visit(600.0))
        assert self.known().visits == 10

    def test_fields_of_everything_are_those_of_the_entries(self) -> None:
        for number in range(5):
            self.record(replace(visit(10.0 + number, kind="hub"), digest=number * 7 - 9))
            self.record(replace(visit(1000.0 + number, f"{number}", kind="hub"), digest=number * 7 - 9))
        self.history.note_lastmods([(-2, "2024-05-01")])
        fields = HistoryEntry._fields
        (columns,) = self.history.known_columns(fields)
        assert list(zip(*columns, strict=True)) == [tuple(known) for known in self.history.known()]
        ((urls, visits),) = self.history.known_columns(("url", "visits"))
        assert (list(urls), list(visits)) == ([URL] * 5, [2] * 5)

    def test_a_page_that_falls_asleep_is_forgotten_to_be_fast(self) -> None:
        for day in range(30):
            self.record(visit(day * 86_400.0, str(min(day, 15))))
            self.store.flush()
        known = self.known()
        assert (known.changes, known.forgot_at is not None) == (15, True)
        assert known.seen is not None
        assert known.seen.a < 1.0

    def test_what_is_more_than_visits_is_among_the_unusual(self) -> None:
        for number in range(6):
            self.record(replace(visit(10.0 + number), digest=number))
        self.record(replace(visit(90.0, None), digest=1, status=500))
        self.history.note_lastmods([(3, "2024-05-01")])
        fields = ("digest", "failures", "lastmod")
        (columns,) = self.history.known_columns(fields, only_unusual=True)
        found = list(zip(*columns, strict=True))
        assert {(1, 1, None), (3, 0, "2024-05-01")} <= set(found)
        assert [digest for digest, _, _ in found] == sorted(digest for digest, _, _ in found)

    def test_many_are_looked_up_at_once(self) -> None:
        for number in (-5, 0, 7):
            self.record(replace(visit(10.0), digest=number))
        found = self.history.known_among([7, 8, -5])
        assert dict(found) == {digest: self.history.get(digest) for digest in (7, -5)}

    def test_requests_are_noted_beside_visits(self) -> None:
        for at in (10.0, 11.0, 12.0):
            self.history.note_request(at)
        self.record(visit(12.0))
        self.store.flush()
        assert self.history.latest_requests(2) == [12.0, 11.0]
        assert self.history.latest_visits(9, 0.0) == [12.0]
        assert [known.digest for known in self.history.known()] == [7]
        assert [seen.at for seen in self.history.contents()] == [12.0]

    def test_history_counts_visits_and_changes(self) -> None:
        for at, content in ((10.0, "x"), (20.0, "x"), (15.0, "y"), (40.0, None)):
            status = 200 if content else 500
            self.record(Visit("https://a.example/", 7, at, status, content, relevance=0.5, etag="e"))
        known = self.known()
        assert (known.visits, known.visited_at, known.changed_at, known.changes) == (4, 40.0, 20.0, 1)
        assert (known.failures, known.status, known.content, known.relevance) == (1, 500, "y", 0.5)
        assert [status for _, _, status in self.history.visits(7)] == [200, 200, 200, 500]
        self.record(Visit("https://a.example/b", -9, 1.0, 200, "z"))
        assert [row.digest for row in self.history.known()] == [-9, 7]
        assert self.history.get(8) is None

    def test_what_changes_between_two_looks_is_seen(self) -> None:
        assert (self.history.get(7), self.record(Visit(URL, 7, 10.0, 200, "x")).visits) == (None, 1)
        assert (self.known().visits, self.known().lastmod) == (1, None)
        self.history.note_lastmods([(7, "2026-01-01")])
        assert self.known().lastmod == "2026-01-01"
        self.record(Visit(URL, 7, 20.0, 200, "y"))
        assert (self.known().visits, self.known().content) == (2, "y")

    def test_history_is_what_the_core_makes_of_visits(self) -> None:
        visits = (
            visit(
                0.0, relevance=0.5, depth=3, hub_depth=2, links=4, new_links=9, etag="e", last_modified="m"
            ),
            visit(DAY_S, "yy", kind="hub", link_share=0.5, new_links=2, arrived=f"{URL}/"),
            visit(DAY_S + 7200.0, "z", kind="hub", relevance=0.25),
            visit(2 * DAY_S, None),
            visit(3 * DAY_S, None, status=304, etag="f"),
            visit(4 * DAY_S, None, status=None, is_refused=True),
            visit(5 * DAY_S, "zz"),
        )
        known = None
        for number, one in enumerate(visits):
            known = next_known(known, one, Site() if known is None else self.site(), number)
            assert self.record(one, number) == known == self.known()
        assert known is not None
        assert None not in (known.seen, known.found, known.hours, known.run)
        assert (known.visits, known.relevance) == (6, 0.25)

    def test_a_page_that_moved_is_one_visit_and_its_history_is_where_it_is_now(self) -> None:
        self.record(visit(0.0, relevance=0.5))
        there = replace(visit(DAY_S), url="https://a.example/new", digest=8, moved_from=7)
        known = self.record(there)
        assert (known.visits, known.unchanged, known.first_seen) == (2, 1, 0.0)
        self.record(visit(DAY_S, None, is_redirect_source=True, is_moved=True, arrived=there.url))
        assert (self.known().is_moved, self.known().arrived) == (True, there.url)
        assert (len(self.history.visits(7)), len(self.history.visits(8))) == (1, 1)
        known = self.record(replace(there, at=2 * DAY_S))
        assert known.visits == 3

    def test_what_sitemaps_say_is_kept_for_pages_that_were_never_visited_too(self) -> None:
        self.history.note_lastmods([(7, "2026-05-01"), (9, "2026-05-02")])
        assert self.history.get(7) is None
        self.record(visit(0.0))
        assert self.known().lastmod == "2026-05-01"
        self.history.note_lastmods([(7, "2026-05-03")])
        assert [known.lastmod for known in self.history.known()] == ["2026-05-03"]
        self.record(visit(DAY_S))
        assert self.known().lastmod == "2026-05-03"

    def test_sites_prove_whether_they_are_honest(self) -> None:
        self.record(visit(0.0))
        for day in range(2, 9):
            assert not self.site().is_trusted(SITEMAP)
            self.history.note_lastmods([(7, f"1970-01-{day:02}T00:00:00Z")])
            self.record(visit((day - 0.5) * DAY_S, f"{day}"))
            if self.site().trust[SITEMAP].hits == 5:
                break
        assert self.site().trust == dict.fromkeys((SITEMAP, f"{SITEMAP}/page"), Trust(hits=5))
        assert self.site().is_trusted(SITEMAP)
        assert not self.site("b.example").is_trusted(SITEMAP)
        self.history.note_lastmods([(7, "1970-01-30T01:00:00Z")])
        assert self.record(visit(30 * DAY_S, "new")).changed_at == 29 * DAY_S + 3600.0

    def test_sites_remember_their_days_and_what_is_usual(self) -> None:
        self.record(visit(0.0))
        self.record(visit(DAY_S / 2, "y"))
        assert self.site().clock.weight(0) > 1.0
        self.history.save_priors("a.example", {"page": Rate(1.0, 2.0)})
        self.history.save_priors("a.example", {"page": Rate(3.0, 4.0), "hub": Rate(5.0, 6.0)})
        site = self.site()
        assert site.priors == {"page": Rate(3.0, 4.0), "hub": Rate(5.0, 6.0)}
        assert site.clock.weight(0) > 1.0
        assert self.site("b.example") == Site()

    def test_pages_that_a_hub_brings_are_born_then(self) -> None:
        hub = Visit("https://a.example/", 1, 5.0, 200, "x", kind="hub", newborn=(7, 8))
        assert self.history.get(7) is None
        self.record(hub)
        assert self.history.get(7) is None  # nobody has visited it yet
        self.record(visit(10.0))
        assert self.known().born_at == 5.0
        self.record(replace(hub, at=20.0, newborn=(7, 9)))
        self.record(replace(visit(30.0), url="https://a.example/9", digest=9))
        assert [(known.digest, known.born_at) for known in self.history.known()] == [
            (1, None),
            (7, 5.0),
            (9, 20.0),
        ]
        self.record(replace(visit(30.0), url="https://a.example/11", digest=11))
        assert self.known(11).born_at is None
        self.record(replace(hub, at=35.0, newborn=(11,)))
        assert self.known(11).born_at == 35.0
        there = replace(visit(40.0), url="https://a.example/new", digest=10, moved_from=7)
        assert self.record(there).born_at == self.known(10).born_at == 5.0

    def test_sites_learn_how_pages_age_and_tell_the_others(self) -> None:
        urls = {n: f"https://{host}.example/{n}" for n, host in enumerate("aab", 7)}
        self.record(Visit("https://a.example/", 1, 0.0, 200, "x", kind="hub", newborn=tuple(urls)))
        for at, content in ((0.0, "x"), (3600.0, "y"), (2 * 3600.0, "z"), (DAY_S, "z")):
            for digest, url in urls.items():
                self.record(replace(visit(at, content), url=url, digest=digest))
        a, b, c = (self.site(f"{name}.example").ages["page"] for name in "abc")
        assert min(a.own.weights[0], b.own.weights[0]) > 1.0 > max(a.own.weights[4], b.own.weights[4])
        assert a.every == b.every == c.every
        both = zip(a.own.expected, b.own.expected, strict=True)
        assert all(abs(sum(one) - whole) < 1e-9 for one, whole in zip(both, a.every.expected, strict=True))
        assert a.own.parent == b.own.parent == c.own.parent == a.every.weights
        assert sum(c.own.expected) == 0.0  # it has seen nothing itself
        sites = self.history.sites()
        assert sorted(sites) == ["", "a.example", "b.example"]
        assert all(sites[name] == self.site(name) for name in ("a.example", "b.example"))
        assert sites[""] == self.site("c.example")
        assert self.history.sites(["b.example", "c.example"]) == {
            name: sites[name] for name in ("", "b.example")
        }
        assert list(self.site().ages) == ["page"]

    def test_sites_are_what_the_core_makes_of_visits(self) -> None:
        self.record(Visit("https://a.example/", 1, 0.0, 200, "x", kind="hub", newborn=(7,)))
        self.record(visit(600.0))
        for day, kind in enumerate(("page", "article", "page"), 1):
            old, site = self.known(), self.site()
            one = visit(day * DAY_S, f"{day}", kind=kind)
            assert self.record(one) == next_known(old, one, site, 1)
            assert self.site() == next_site(site, old, one)
        assert sorted(self.site().ages) == ["article", "page"]


_MUCH = 10**9


def kept(body: bytes, path: str = "/a/") -> KeptPage:
    """Make a page that was read."""
    return KeptPage(
        Url.parse(f"https://a.example{path}"), "text/html; charset=utf-8", body_digest(body), body
    )


def noise(number: int, size: int = 4_000) -> bytes:
    """Make bytes that hardly get smaller, always the same for a number."""
    state, found = number + 1, bytearray()
    while len(found) < size:
        state = state * 6364136223846793005 % 2**64 + 1442695040888963407 % 2**64
        found += (state >> 24).to_bytes(6, "big")[-4:]
    return bytes(found[:size])


class ContentsContract(StoreSuite):
    """Promises of `Contents`: each body is kept once, and the oldest is dropped first."""

    def test_a_page_comes_back_as_it_was_read(self) -> None:
        page = kept(b"<h1>Hi</h1>\xff\x00")
        assert self.contents.keep(1, 1, page, _MUCH) == 0
        assert self.contents.get(1, 1) == page
        found = self.contents.get(1, 1)
        assert found is not None
        assert found.url.as_linked == "https://a.example/a/"
        assert self.contents.get(1, 2) is self.contents.get(2, 1) is None

    def test_an_empty_page_is_a_page(self) -> None:
        self.contents.keep(1, 1, kept(b""), _MUCH)
        assert self.contents.get(1, 1) == kept(b"")

    def test_a_body_is_kept_once_and_needs_no_bytes_the_second_time(self) -> None:
        body = noise(1)
        self.contents.keep(1, 1, kept(body), 6_000)
        assert self.contents.keep(1, 2, kept(body, "/b"), 6_000) == 0
        known = KeptPage(Url.parse("https://a.example/c"), None, body_digest(body))
        assert self.contents.keep(2, 1, known, 6_000) == 0
        assert [found and found.body for found in map(self.contents.get, (1, 1, 2), (1, 2, 1))] == [body] * 3

    def test_a_page_whose_body_is_unknown_is_not_kept(self) -> None:
        assert self.contents.keep(1, 1, KeptPage(Url.parse("https://a.example/"), None, 7), _MUCH) == 0
        assert self.contents.get(1, 1) is None

    def test_the_oldest_bodies_go_when_there_is_no_room(self) -> None:
        dropped = [self.contents.keep(1, number, kept(noise(number)), 13_000) for number in range(1, 6)]
        assert dropped == [0, 0, 0, 1, 1]
        assert [number for number in range(1, 6) if self.contents.get(1, number)] == [3, 4, 5]

    def test_a_body_that_is_larger_than_the_room_drops_nothing(self) -> None:
        self.contents.keep(1, 1, kept(b"small"), 5_000)
        assert self.contents.keep(1, 2, kept(noise(2, 9_000)), 5_000) == 0
        assert self.contents.get(1, 1) == kept(b"small")
        assert self.contents.get(1, 2) is None

    def test_what_was_dropped_is_kept_again_when_it_is_read_again(self) -> None:
        self.contents.keep(1, 1, kept(noise(1)), _MUCH)
        assert self.contents.drop(0) == 1
        assert self.contents.get(1, 1) is None
        self.contents.keep(1, 2, kept(noise(1)), _MUCH)
        assert self.contents.get(1, 1) == self.contents.get(1, 2) == kept(noise(1))

    def test_workers_share_what_is_kept_and_the_room_for_it(self) -> None:
        one, other = self.make_workers()
        one.contents.keep(1, 1, kept(noise(1)), 9_000)
        one.flush()
        assert other.contents.get(1, 1) == kept(noise(1))
        other.contents.keep(1, 2, kept(noise(2)), 9_000)
        other.flush()
        assert one.contents.keep(1, 3, kept(noise(3)), 9_000) == 1
        assert one.contents.get(1, 1) is None
        assert one.contents.get(1, 2) == kept(noise(2))
        one.flush()
