"""The crawl from end to end on fakes: order, budgets, failures, traps, resuming."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING

import pytest

from honeyguide import load_profile
from honeyguide.adapters.clock import SystemClock
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import Budgets, ScheduledVisit, State, digest_of
from honeyguide.core.url.url import Url
from honeyguide.errors import (
    AddressRefusedError,
    AskedToWaitError,
    ConfigError,
    ForbiddenError,
    InputError,
    StoreError,
    UnreachableError,
)
from honeyguide.jobs.crawl import Crawler, CrawlRequest, CrawlSummary, PageAttachments
from honeyguide.ports.fetch import Fetched, Headers, Part, Validators
from honeyguide.testing.fakes import FrozenClock
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from honeyguide.core.records import Record
    from honeyguide.core.rules.profile import Profile
    from honeyguide.errors import FetchError
    from honeyguide.ports.store import Store

A = "https://a.example"
FIRE = load_profile("docs", topic="fire")
TRACKING = FIRE.scope.tracking

Made = bytes | int | Fetched | type["FetchError"]


def dice(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - repeatable is what is wanted


def html(title: str, *links: str, text: str = "") -> bytes:
    anchors = "".join(f'<p><a href="{link}">{link.strip("/").replace("-", " ")}</a></p>' for link in links)
    return f"<title>{title}</title><h1>{title}</h1><p>{text}</p>{anchors}".encode()


@dataclass
class Web:
    """A fetcher whose pages are made by a function of the URL; answers come after random moments."""

    make: Callable[[Url], Made]
    delays: Random | None = None
    asked: list[str] = field(default_factory=list)
    told: list[Validators | None] = field(default_factory=list)
    in_flight: int = 0
    most: int = 0

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del part
        self.asked.append(url.as_linked)
        self.told.append(validators)
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            for _ in range(self.delays.randrange(40) if self.delays else 1):
                await asyncio.sleep(0)
        finally:
            self.in_flight -= 1
        made = self.make(url)
        if isinstance(made, Fetched):
            return made
        if isinstance(made, int):
            return Fetched(url, url, made)
        if isinstance(made, bytes):
            return Fetched(url, url, 200, Headers(content_type="text/html"), made)
        raise made(url.as_linked, "as told")


def pages(table: Mapping[str, Made]) -> Callable[[Url], Made]:
    return lambda url: table.get(url.target, table.get(url.text, 404))


def random_site(seed: int, size: int = 150) -> Callable[[Url], Made]:
    """A site of many pages that link at random, some of them about fire."""
    random = dice(seed)
    names = [f"/{random.choice(('fire', 'water', 'docs', 'x'))}-{n}" for n in range(size)]
    table: dict[str, Made] = {
        name: html(
            name.strip("/"),
            *random.sample(names, 8),
            text="fire " * random.randrange(12) + " ".join(f"w{random.randrange(999)}" for _ in range(60)),
        )
        for name in names
    }
    table["/"] = html("Home", *names[:10])
    return pages(table)


@dataclass
class Outcome:
    summary: CrawlSummary
    records: list[Record]
    web: Web
    store: Store

    @property
    def urls(self) -> list[str]:
        return [record["url"].removeprefix(A) for record in self.records]


def crawl(
    web: Web | Callable[[Url], Made],
    store: Store | None = None,
    profile: Profile = FIRE,
    clock: FrozenClock | None = None,
    **asked: object,
) -> Outcome:
    """Crawl from the home page."""
    fetcher = web if isinstance(web, Web) else Web(web)
    place = store or MemoryStore()
    records: list[Record] = []

    def keep(record: Record, _: PageAttachments) -> None:
        records.append(record)

    asked.setdefault("seeds", (Url.parse(f"{A}/"),))
    request = CrawlRequest(**asked)  # type: ignore[arg-type]  # a test may set any field
    crawler = Crawler(fetcher, HtmlReader(), clock or FrozenClock(), place, profile)
    return Outcome(asyncio.run(crawler.crawl(request, keep)), records, fetcher, place)


# --- order ---


@pytest.mark.parametrize("traversal", ["focused", "focused-fixed", "hybrid", "bfs", "dfs"])
@pytest.mark.slow
def test_the_sequence_does_not_depend_on_concurrency_or_timing(traversal: str) -> None:
    sequences = set()
    for concurrency in (1, 4, 32):
        for run in range(3):
            web = Web(random_site(7), dice(concurrency * 100 + run))
            done = crawl(web, traversal=traversal, concurrency=concurrency, budgets=Budgets(max_pages=80))
            assert web.most <= concurrency
            sequences.add(tuple(done.urls))
    assert len(sequences) == 1


def test_nor_does_it_with_several_sites() -> None:
    seeds = tuple(Url.parse(f"https://{name}.example/") for name in "abc")
    sequences = {
        tuple(
            crawl(
                Web(random_site(2), dice(n)), seeds=seeds, concurrency=n, budgets=Budgets(max_pages=90)
            ).urls
        )
        for n in (1, 4, 32)
    }
    assert len(sequences) == 1
    assert len({Url.parse(url, A).site for url in next(iter(sequences))}) == 3


def test_sqlite_and_memory_crawl_alike(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "h.db")
    one, other = crawl(random_site(3), store), crawl(random_site(3))
    assert one.urls == other.urls
    assert one.summary.counts == other.summary.counts
    assert [record for _, record in store.queue(store.runs.list()[0]).pages()] == one.records
    assert store.check() == ()
    store.close()


def test_copies_are_known_within_one_commit(tmp_path: Path) -> None:
    # TRAP-9: pages that share a commit are compared, too, in either store.
    names = [f"/fire-{n}" for n in range(12)]
    same = html("Same", text=" ".join(f"w{n}" for n in range(80)))
    site = pages({"/": html("Home", *names), **dict.fromkeys(names, same)})
    store = SqliteStore(tmp_path / "h.db")
    for place in (store, None):
        done = crawl(site, place, traversal="focused-fixed")  # which claims several at once
        assert [record["action"] for record in done.records].count("duplicate") == 11
    store.close()


def test_breadth_and_depth_first() -> None:
    tree = pages(
        {
            "/": html("Home", "/a", "/b"),
            "/a": html("A", "/a1", "/a2"),
            "/b": html("B", "/b1"),
            **{f"/{name}": html(name.upper()) for name in ("a1", "a2", "b1")},
        }
    )
    assert crawl(tree, traversal="bfs").urls == ["/", "/a", "/b", "/a1", "/a2", "/b1"]
    rules = load_profile("base", topic="fire")
    deep = crawl(tree, traversal="dfs", profile=rules)
    assert deep.urls == ["/", "/a", "/a1", "/a2", "/b", "/b1"]


def one_at_a_time(profile: Profile) -> Profile:
    return replace(profile, crawl=replace(profile.crawl, lookahead=1))


def test_hybrid_dives_to_the_letter() -> None:
    # TOPIC-3 to TOPIC-5: the branch of a good page is exhausted before others, at any concurrency.
    def good(*links: str) -> bytes:
        anchors = "".join(f'<p>fire <a href="{link}">fire {link}</a></p>' for link in links)
        return f"<title>fire</title><h1>fire</h1><h2>fire</h2><p>{'fire ' * 10}</p>{anchors}".encode()

    names = {"/": ["/a", "/b", "/c"], "/a": ["/a1", "/a2"], "/a1": ["/a11"], "/b": ["/b1"]}
    site = pages(
        {f"/{n}": good(*names.get(f"/{n}", ())) for n in ("", "a", "b", "c", "a1", "a2", "a11", "b1")}
    )
    for concurrency in (1, 16):
        done = crawl(site, traversal="hybrid", concurrency=concurrency)
        assert done.urls == ["/", "/a", "/a1", "/a11", "/a2", "/b", "/b1", "/c"]
        # TOPIC-4: a seed always expands, and what it is worth counts for its links as on any page.
        assert [record["priority"] for record in done.records] == [0, *[13] * 7]
        assert done.records[0]["action"] == "seed"


def linking(*links: tuple[str, str], text: str = "") -> bytes:
    anchors = "".join(f'<div><a href="{url}">{anchor}</a></div>' for url, anchor in links)
    return f"<title>{text}</title><h1>{text}</h1><h2>{text}</h2><p>{(text + ' ') * 10}</p><main>{anchors}</main>".encode()


def test_hybrid_exhausts_a_branch_whatever_its_links_score() -> None:
    # TOPIC-4: of a page that scores 8 or more, links from 3 on come before links found elsewhere, best priority first.
    ten, six, three = "fire alarm", "plain", "plain"
    site = pages(
        {
            "/": linking(("/hi", ten), ("/other", ten), ("/fire-b", six), ("/shared", three)),
            "/hi": linking(
                ("/hi/low", three), ("/hi/fire-mid", six), ("/shared", three), ("/hi/good", ten), ("/hi/fire-2", six),
                text="fire",
            ),
            "/hi/good": linking(("/hi/good/low", three), ("/hi/low", three), text="fire"),
            "/hi/fire-mid": b"<title>fire</title><h1>fire</h1>" + linking(("/late", ten)),
            **{path: linking() for path in ("/hi/low", "/hi/fire-2", "/hi/good/low", "/shared", "/late", "/fire-b", "/other")},
        }
    )  # fmt: skip
    for concurrency in (1, 16):
        done = crawl(site, traversal="hybrid", concurrency=concurrency)
        assert done.urls == [
            "/", "/hi", "/hi/good",
            "/hi/low", "/hi/good/low",  # the newest branch, to which a link of two belongs; ties: first discovered
            "/hi/fire-mid", "/hi/fire-2", "/shared",
            "/late",  # of a page that scores 5 to 7: it dives by its own score, and is newer than /other
            "/other", "/fire-b",
        ]  # fmt: skip


def test_records_name_levels_and_what_follows() -> None:
    # TOPIC-3, TOPIC-4: by their scores, as `score` names them.
    site = pages(
        {"/": html("Home", "/fire", "/weak"), "/fire": html("Fire", text="fire " * 10), "/weak": html("Weak")}
    )
    done = crawl(site, traversal="hybrid", links=True)
    levels = [(record["relevance_level"], record["action"]) for record in done.records]
    assert levels == [("Irrelevant", "seed"), ("High", "exhaust"), ("Irrelevant", "keep")]
    links = [(link["relevance_level"], link["action"]) for link in done.records[0]["links"]]
    assert links == [("High", "deep"), ("Low", "tail")]


def test_hybrid_skips_by_letters_and_focused_by_words() -> None:
    # TOPIC-6: the document's patterns are substrings; Carthage is no cart for `focused`.
    odd = ("/fire-carthage", "/fire-mycart.html", "/fire-downloading", "/fire?next=/login")
    site = pages({"/": html("Home", *odd, "/fire"), **{path: html("Fire") for path in (*odd, "/fire")}})
    assert crawl(site, traversal="hybrid").urls == ["/", "/fire"]
    assert set(crawl(site, traversal="focused").urls) == {"/", "/fire", *odd}


def test_the_best_links_are_fetched_within_a_small_budget() -> None:
    # TOPIC-5, ADAPTIVE "Waiting": eight links of a site may be in flight, and none while a better one is.
    children = [f"/fire/{n}" for n in range(5)]
    weak = [f"/weak-{n}" for n in range(9)]
    site = pages(
        {
            "/": html("Home", *weak, "/fire"),
            "/fire": html("Fire", *children, text="fire " * 10),
            **{path: html("Fire") for path in children},
            **{path: html("Weak") for path in weak},
        }
    )
    for concurrency in (1, 8, 32):
        done = crawl(site, concurrency=concurrency, budgets=Budgets(max_pages=7))
        assert done.urls == ["/", "/fire", *children]
        assert [record["lane"] for record in done.records] == ["seed", *["worth"] * 6]


def test_a_link_does_not_wait_for_another_site() -> None:
    # A good page in flight holds back weaker links of its own site alone.
    weak = [f"https://b.example/weak-{n}" for n in range(4)]
    homes = {f"{A}/": html("Home", "/fire", "/weak"), "https://b.example/": html("Home", *weak)}
    web = Web(lambda url: homes.get(url.text, html("Page")), dice(1))
    done = crawl(web, seeds=tuple(map(Url.parse, homes)), concurrency=16)
    assert web.asked[2:-1] == [f"{A}/fire", *weak]
    assert (web.asked[-1], web.most) == (f"{A}/weak", 5)
    assert done.urls == ["/", "https://b.example/", "/fire", *weak, "/weak"]


def test_links_with_one_key_are_one_link() -> None:
    # Section 2: a rule matches if any occurrence does, whichever spelling of the address comes first (URL-7).
    home = b'<title>x</title><p><a href="/p?utm_source=nav">zz</a></p><p>fire <a href="/p">fire</a></p>'
    done = crawl(pages({"/": home, "/p": html("P")}), links=False, traversal="focused-fixed")
    assert [record["priority"] for record in done.records] == [0, 10]


def test_hybrid_prunes_where_focused_tunnels() -> None:
    site = pages(
        {
            "/": html("Home", "/section"),
            "/section": html("Section", "/fire"),  # names the topic nowhere, so hybrid stops here (TOPIC-4)
            "/fire": html("Fire", text="fire " * 10),
        }
    )
    assert crawl(site, traversal="hybrid").urls == ["/", "/section"]
    focused = crawl(site, traversal="focused")
    assert focused.urls == ["/", "/section", "/fire"]
    assert [record["action"] for record in focused.records] == ["seed", "expand", "expand"]
    assert focused.summary.relevant == 1
    fixed = crawl(site, traversal="focused-fixed")
    assert [record["action"] for record in fixed.records] == ["seed", "tunnel", "exhaust"]


def test_tunnels_end() -> None:
    chain = pages({f"/{n}": html(f"Page {n}", f"/{n + 1}") for n in range(10)} | {"/": html("Home", "/0")})
    assert (
        len(crawl(chain).urls) == 12
    )  # TOPIC-4c: no link is rejected for its distance; the last is not there
    done = crawl(chain, traversal="focused-fixed")
    assert done.urls == ["/", "/0", "/1", "/2"]  # three weak pages in a row (TOPIC-4b)
    assert done.records[-1]["action"] == "tunnel-end"
    assert done.summary.counts.out["tunnel-end"] == 1


def test_a_link_met_again_with_better_evidence_moves_up() -> None:
    site = pages(
        {
            "/": b'<footer><a href="/x">more</a></footer>' + html("Home", "/fire-1", "/docs/y"),
            "/fire-1": b'<title>fire</title><h1>fire</h1><p>fire <a href="/x">fire</a></p>' + b"fire " * 10,
            "/docs/y": html("Y"),
            "/x": html("X"),
        }
    )
    assert crawl(site, profile=one_at_a_time(FIRE)).urls == ["/", "/fire-1", "/x", "/docs/y"]


# --- budgets ---


def test_max_pages_is_exact() -> None:
    done = crawl(random_site(1), budgets=Budgets(max_pages=57))
    assert (len(done.records), len(done.web.asked), done.summary.stopped) == (57, 57, "max_pages")


def test_what_was_never_asked_for_is_no_page() -> None:
    # A host that asked for a long pause is not asked: such pages use up no budget.
    names = [f"/fire-{n}" for n in range(12)]
    site: dict[str, Made] = {"/": html("Home", *names), **dict.fromkeys(names[:5], AskedToWaitError)}
    done = crawl(pages({**{name: html(name) for name in names}, **site}), budgets=Budgets(max_pages=6))
    assert (done.summary.counts.fetched, done.summary.stopped) == (6, "max_pages")
    assert [record["url"] for record in done.records if record["status"] == 200] == [
        f"{A}/",
        *(f"{A}{name}" for name in names[5:10]),
    ]


def test_what_was_never_asked_for_is_never_dropped() -> None:
    # However often a host wants a pause: whoever comes later asks.
    clock = FrozenClock()
    site: dict[str, Made] = {"/": html("Home", "/fire-1"), "/fire-1": AskedToWaitError}
    done = crawl(pages(site), clock=clock)
    for _ in range(5):
        done = crawl(pages(site), done.store, clock=clock)
        asyncio.run(clock.sleep(7200.0))
    assert done.summary.counts.out.get(AskedToWaitError.rule) is None
    later = crawl(pages({**site, "/fire-1": html("Fire")}), done.store, clock=clock)
    assert later.urls == ["/fire-1"]


def test_more_pages_later_go_on_where_it_stopped() -> None:
    whole = crawl(random_site(1), budgets=Budgets(max_pages=90))
    first = crawl(random_site(1), budgets=Budgets(max_pages=40))
    second = crawl(random_site(1), first.store, budgets=Budgets(max_pages=90))
    assert (len(first.urls), len(second.urls)) == (40, 50)
    assert not set(first.urls) & set(second.urls)
    assert first.urls == whole.urls[:40]
    assert crawl(random_site(1), first.store, budgets=Budgets(max_pages=90)).records == []


def test_a_larger_depth_loses_no_page_of_which_a_shorter_way_is_known() -> None:
    named = b'<a href="/far">fire</a>'  # the better link to a page that the homepage links, too
    site = pages(
        {
            "/": html("Home", "/far", "/fire"),
            "/fire": html("fire", "/fires"),
            "/fires": html("fires") + named,
            "/far": html("far", "/farther"),
            "/farther": html("farther"),
        }
    )
    for depth in (2, 3, None):
        done = crawl(site, max_depth=depth)
        assert done.urls == ["/", "/fire", "/fires", "/far", "/farther"]
        assert [record["depth"] for record in done.records] == [0, 1, 2, 1, 2]


def test_pages_of_one_host() -> None:
    seeds = (Url.parse(f"{A}/"), Url.parse("https://b.example/"))
    done = crawl(random_site(1), seeds=seeds, budgets=Budgets(max_pages_per_host=5))
    assert Counter(Url.parse(record["url"]).site for record in done.records) == {
        "a.example": 5,
        "b.example": 5,
    }
    assert done.summary.stopped == "max_pages_per_host"


def test_depth() -> None:
    chain = pages(
        {f"/{n}": html(f"fire {n}", f"/{n + 1}", text="fire " * 9) for n in range(9)}
        | {"/": html("Home", "/0")}
    )
    done = crawl(chain, max_depth=2)
    assert done.urls == ["/", "/0", "/1"]
    assert done.summary.counts.out == {"max-depth": 1}
    assert crawl(chain, done.store, max_depth=4).urls == ["/2", "/3"]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_less_depth_counts_for_what_is_queued_already(kind: str, tmp_path: Path) -> None:
    store: Store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "h.db")
    tree = pages(
        {"/": html("Home", "/a", "/b")}
        | {f"/{name}": html(f"Page {name}", f"/{name}{name}") for name in ("a", "b", "aa", "bb")}
    )
    assert crawl(tree, store, traversal="bfs", budgets=Budgets(max_pages=2)).urls == ["/", "/a"]
    less = crawl(tree, store, traversal="bfs", max_depth=0)
    assert (less.urls, less.summary.stopped) == ([], "complete")
    assert less.summary.counts.out == {"max-depth": 2}
    assert crawl(tree, store, traversal="bfs", max_depth=1).urls == ["/b"]
    more = crawl(tree, store, traversal="bfs")
    assert sorted(more.urls) == ["/aa", "/aaaa", "/bb", "/bbbb"]
    store.close()


def test_less_depth_counts_for_what_was_left_behind(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "h.db")
    site = pages({"/": html("Home", "/a"), "/a": html("A", "/b")})
    with suppress(Killed):
        asyncio.run(
            Crawler(Web(site), HtmlReader(), SystemClock(), store, FIRE).crawl(
                CrawlRequest((Url.parse(f"{A}/"),)), dies_after(1)
            )
        )
    store.abandon()
    again = SqliteStore(tmp_path / "h.db")
    assert crawl(site, again, max_depth=0).urls == []
    assert crawl(site, again, max_depth=1).urls == ["/a"]
    again.close()


def test_time() -> None:
    clock = FrozenClock()

    class Slow(Web):
        async def fetch(
            self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
        ) -> Fetched:
            await clock.sleep(10.0)
            return await super().fetch(url, validators=validators, part=part)

    done = crawl(Slow(random_site(1)), clock=clock, max_time_s=35.0, concurrency=1)
    assert done.summary.stopped == "max_time"
    assert done.summary.elapsed_s == 35.0  # and not until all that was claimed is fetched
    assert len(done.records) == 3
    web = Slow(random_site(1))
    more = crawl(web, done.store, clock=clock, concurrency=1)  # nothing is lost, and nothing fetched twice
    assert sorted(done.urls + more.urls) == sorted(crawl(random_site(1)).urls)
    assert len(web.asked) == len(more.records)


def test_a_slow_page_does_not_hold_what_came_after_it() -> None:
    clock = FrozenClock()

    class Held(Web):
        async def fetch(
            self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
        ) -> Fetched:
            if url.target == "/fire-0":
                await clock.sleep(1000.0)
            return await super().fetch(url, validators=validators, part=part)

    names = [f"/fire-{n}" for n in range(5)]
    site = pages({"/": html("fire", *names), **{name: html(f"fire {name}") for name in names}})
    done = crawl(Held(site), clock=clock, max_time_s=60.0)
    assert done.urls == ["/", *names[1:]]
    assert done.summary.elapsed_s == 60.0
    assert crawl(site, done.store).urls == ["/fire-0"]


# --- scope ---


def test_other_sites_are_counted_and_not_crawled() -> None:
    site = pages(
        {
            "/": html("Home", "https://o.example/fire", "mailto:x@a.example", "/p"),
            "/p": html("P", "https://o.example/fire"),
        }
    )
    done = crawl(site)
    assert done.urls == ["/", "/p"]
    counts = done.summary.counts
    assert (counts.external_links, counts.skipped["scheme"]) == (1, 1)
    frontier = done.store.ledger(done.store.runs.list()[0])
    (row,) = frontier.rows(rule="other-site")
    assert (row.url, row.seen) == ("https://o.example/fire", 2)


def test_other_sites_by_choice_and_budget() -> None:
    site = pages(
        {
            "/": html("Home", *(f"https://o{n}.example/fire" for n in range(9))),
            "/fire": html("fire", text="fire " * 9),
        }
    )
    done = crawl(site, budgets=Budgets(external_pages=3))
    assert len(done.records) == 4
    assert done.summary.stopped == "external_pages"


def test_the_seed_is_where_its_redirects_lead() -> None:
    www = Url.parse("https://www.a.example/")
    home = Fetched(
        www, Url.parse(f"{A}/"), 200, Headers(content_type="text/html"), html("Home", "/in", f"{A}/out")
    )
    done = crawl(pages({f"{A}/": home, "/in": html("In"), "/out": html("Out")}))
    assert [record["url"] for record in done.records] == [f"{A}/", "https://www.a.example/in"]
    assert done.records[0]["final_url"] == "https://www.a.example/"


def test_a_page_that_leads_away_is_put_out() -> None:
    away = Fetched(Url.parse("https://o.example/"), Url.parse(f"{A}/go"), 200, Headers(), html("Other", "/x"))
    done = crawl(pages({"/": html("Home", "/go"), "/go": away}))
    assert done.records[1]["action"] == "dropped"
    assert done.records[1]["points"][-1]["rule"] == "redirect-outside"
    assert done.summary.stopped == "complete"


def test_include_and_exclude() -> None:
    site = pages(
        {
            "/": html("Home", "/fire/a", "/fire/b", "/c"),
            "/fire/a": html("A"),
            "/fire/b": html("B"),
            "/c": html("C"),
        }
    )
    assert crawl(site, include=("/fire/",), exclude=("/b$",)).urls == ["/", "/fire/a"]
    out = crawl(site, include=("/fire/",)).summary.counts.out
    assert out == {"include": 1}


def test_what_robots_forbid_is_no_fetch() -> None:
    site = pages(
        {"/": html("Home", "/a", "/b", "/c"), "/a": ForbiddenError, "/b": html("B"), "/c": html("C")}
    )
    done = crawl(site, budgets=Budgets(max_pages=3))
    assert done.urls == ["/", "/a", "/b", "/c"]
    assert done.records[1]["status"] is None
    assert done.summary.counts.fetched == 3


def test_bad_requests_are_refused_before_anything_is_fetched() -> None:
    web = Web(random_site(1))
    with pytest.raises(ConfigError, match="sideways"):
        crawl(web, traversal="sideways")
    with pytest.raises(InputError):
        crawl(web, seeds=())
    with pytest.raises(ConfigError, match="topic"):
        crawl(web, profile=load_profile("base"))
    assert web.asked == []
    assert (
        crawl(web, profile=load_profile("base"), traversal="bfs", budgets=Budgets(max_pages=5)).summary.pages
        == 5
    )


# --- sites that misbehave ---


@pytest.mark.parametrize(
    ("answer", "rule"),
    [(500, "http-500"), (429, "http-429"), (UnreachableError, "unreachable"), (503, "http-503")],
)
def test_a_site_that_always_fails_ends_the_crawl(answer: Made, rule: str) -> None:
    site = random_site(1)
    done = crawl(lambda url: site(url) if url.path == "/" else answer)
    assert done.summary.stopped == "site_failing"
    frontier = done.store.ledger(done.store.runs.list()[0])
    assert {row.why.rule for row in frontier.rows() if row.why} == {rule}
    assert len(done.web.asked) < 40


def test_a_site_that_goes_away_and_comes_back_loses_nothing() -> None:
    site, whole = random_site(2, 60), crawl(random_site(2, 60), traversal="bfs")
    store = MemoryStore()
    count = Counter[str]()

    def flaky(url: Url) -> Made:
        count["asked"] += 1
        return site(url) if count["asked"] <= 20 else UnreachableError

    away = crawl(flaky, store, traversal="bfs")
    assert away.summary.stopped == "site_failing"
    back = crawl(site, store, traversal="bfs")
    assert back.summary.stopped == "complete"
    assert sorted(away.urls + back.urls) == sorted(whole.urls)


def test_a_failing_page_is_tried_again_after_the_others() -> None:
    asked = Counter[str]()

    def make(url: Url) -> Made:
        asked[url.path] += 1
        if url.path == "/bad" and asked[url.path] < 3:
            return 500
        return html(url.path, *(["/bad", "/good"] if url.path == "/" else []))

    done = crawl(make)
    assert done.urls == ["/", "/good", "/bad"]
    assert done.summary.counts.fetched == 5
    assert done.summary.counts.states["rejected"] == 0


def test_a_host_that_asks_for_an_hour_ends_the_crawl_and_keeps_the_rest() -> None:
    def make(url: Url) -> Made:
        if url.path == "/":
            return html("Home", "/a", "/b")
        return Fetched(url, url, 429, Headers(retry_after="3600"))

    done = crawl(make)
    assert done.summary.stopped == "resting"
    assert done.summary.counts.states["queued"] == 2


def test_a_fetcher_with_a_bug_costs_a_page() -> None:
    def make(url: Url) -> Made:
        if url.path == "/a":
            raise ZeroDivisionError
        return html("Page", *(["/a", "/b"] if url.path == "/" else []))

    done = crawl(make)
    assert done.urls == ["/", "/a", "/b"]
    assert "ZeroDivisionError" in done.records[1]["points"][-1]["reason"]


@pytest.mark.slow
def test_a_page_with_very_many_links() -> None:
    links = "".join(f'<a href="/p{n}">page {n}</a>' for n in range(100_000))
    done = crawl(lambda url: links.encode() if url.path == "/" else html("P"), budgets=Budgets(max_pages=2))
    counts = done.summary.counts
    assert counts.states["queued"] + counts.states["done"] + counts.states["rejected"] <= 20_001
    assert counts.skipped["limit"] > 0


# --- traps ---


def calendar(url: Url) -> bytes:
    month = int(url.query.partition("=")[2] or 0)
    grid = "".join(f"<tr><td>{day}</td><td>nothing</td></tr>" for day in range(1, 32))
    year, number = 2000 + month // 12, month % 12 + 1
    head = f"<title>fire {year}-{number}</title><h1>fire in {year}, month {number}</h1>{'fire ' * 9}"
    return f"{head}<table>{grid}</table><a href=/cal?month={month + 1}>fire next</a>".encode()


def sessions(url: Url) -> bytes:
    asked = sum(map(ord, url.text))
    names = "".join(f'<p><a href="/s/{asked:x}{n:024x}/fire-{n}">fire {n}</a></p>' for n in range(5))
    name = url.segments[-1] if url.segments else "home"
    story = "".join(f"<p>{name} is told in line {n}</p>" for n in range(30))
    text = f"{'fire ' * 9}<p>You are visitor {asked}</p>{story}"
    return f"<title>fire {name}</title><h1>fire</h1>{text}{names}".encode()


def growing(url: Url) -> bytes:
    path = url.path.rstrip("/")
    links = f"<a href={path}/fire>fire</a> <a href={path}/x{len(path)}>fire</a>"
    return f"<title>fire</title><h1>fire {len(path)}</h1>{'fire ' * 9}{links}".encode()


@pytest.mark.parametrize(
    ("make", "rules"),
    [
        (calendar, {"TRAP-7"}),
        (sessions, {"TRAP-9"}),
        (growing, {"TRAP-3", "TRAP-2"}),
        (lambda _: calendar(Url.parse(A)), {"TRAP-9"}),
    ],
)
@pytest.mark.slow
def test_a_site_without_end_ends_by_itself_and_says_why(
    make: Callable[[Url], bytes], rules: set[str]
) -> None:
    done = crawl(make, max_depth=None, budgets=Budgets(max_pages=3000))
    assert done.summary.stopped == "complete"
    assert len(done.records) < 2000
    assert rules <= done.summary.counts.out.keys() | done.summary.counts.skipped.keys()


def test_a_page_that_says_what_another_says_is_not_expanded() -> None:
    same = html("fire", "/fire-c", text="fire " * 40)
    done = crawl(
        pages(
            {"/": html("Home", "/fire-a", "/fire-b"), "/fire-a": same, "/fire-b": same, "/fire-c": html("C")}
        )
    )
    assert [record["action"] for record in done.records[:3]] == ["seed", "expand", "duplicate"]
    assert done.records[2]["points"][-1] == {
        "rule": "TRAP-9",
        "points": 0,
        "reason": f"says what {A}/fire-a says",
    }


def test_a_page_that_is_not_there_is_told() -> None:
    done = crawl(pages({"/": html("Home", "/fire"), "/fire": html("Page not found", "/more")}))
    assert (done.records[1]["action"], done.urls) == ("soft-404", ["/", "/fire"])


# --- resuming ---


class Killed(Exception):  # noqa: N818 - nothing went wrong
    """Stands for the end of a process."""


def test_a_crawl_that_dies_again_and_again_gives_the_same_pages_in_the_same_order(tmp_path: Path) -> None:
    whole = crawl(random_site(5), budgets=Budgets(max_pages=100))
    random, fetches = dice(11), 0
    seen: list[str] = []
    while len(seen) < 100:
        store = SqliteStore(tmp_path / "h.db")
        web = Web(random_site(5), random)
        crawler = Crawler(web, HtmlReader(), SystemClock(), store, FIRE)
        request = CrawlRequest((Url.parse(f"{A}/"),), budgets=Budgets(max_pages=100))
        with suppress(Killed):  # a crawl may end before its hour
            asyncio.run(crawler.crawl(request, dies_after(random.randrange(1, 12))))
        fetches += len(web.asked)
        ledger = store.queue(store.runs.list()[0])
        seen = [record["url"].removeprefix(A) for _, record in ledger.pages()]
        worths = {row.url: (row.priority, row.worth) for row in ledger.rows() if row.state == State.DONE}
        learnt = ledger.learnt("a.example")
        store.abandon()
    assert seen == whole.urls
    # TOPIC-4c: what was learnt, and the reasons at each claim, are those of a crawl that nothing disturbed.
    model = whole.store.ledger(whole.store.runs.list()[0])
    assert worths == {row.url: (row.priority, row.worth) for row in model.rows() if row.state == State.DONE}
    assert learnt == model.learnt("a.example") != {}
    assert fetches <= 100 + 40 * FIRE.crawl.lookahead


def test_a_smaller_budget_holds_for_what_a_killed_crawl_left(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "h.db")
    crawler = Crawler(Web(random_site(5)), HtmlReader(), SystemClock(), store, FIRE)
    with suppress(Killed):
        request = CrawlRequest((Url.parse(f"{A}/"),), budgets=Budgets(max_pages=100))
        asyncio.run(crawler.crawl(request, dies_after(20)))
    store.abandon()
    again = SqliteStore(tmp_path / "h.db")
    before = again.runs.list()[0].fetched
    done = crawl(random_site(5), again, budgets=Budgets(max_pages=before))
    assert (done.web.asked, done.summary.stopped) == ([], "max_pages")
    more = crawl(random_site(5), again, budgets=Budgets(max_pages=before + 2))
    assert len(more.web.asked) == 2
    again.close()


def dies_after(pages: int) -> Callable[[Record, PageAttachments], None]:
    left = iter(range(pages))

    def die(_record: Record, _arrival: PageAttachments) -> None:
        if next(left, None) is None:
            raise Killed

    return die


def test_an_interruption_keeps_what_is_done_and_the_same_command_goes_on(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "h.db")
    whole = crawl(random_site(6), budgets=Budgets(max_pages=57))

    async def interrupted() -> None:
        enough = asyncio.Event()
        records: list[Record] = []

        def keep(record: Record, _: PageAttachments) -> None:
            records.append(record)
            if len(records) == 20:
                enough.set()

        crawler = Crawler(Web(random_site(6)), HtmlReader(), SystemClock(), store, FIRE)
        request = CrawlRequest((Url.parse(f"{A}/"),), budgets=Budgets(max_pages=57))
        task = asyncio.create_task(crawler.crawl(request, keep))
        await enough.wait()
        task.cancel()
        with suppress(asyncio.CancelledError):  # ours
            await task

    asyncio.run(interrupted())
    (run,) = store.runs.list()
    assert run.stopped == "interrupted"
    assert 20 <= run.fetched < 57
    rest = crawl(random_site(6), store, budgets=Budgets(max_pages=57))
    assert rest.urls == whole.urls[run.fetched :]
    assert [record["url"].removeprefix(A) for _, record in store.queue(run).pages()] == whole.urls
    store.close()


def test_a_store_that_fails_ends_the_crawl_with_its_sentence(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "h.db")
    store._db.one("PRAGMA max_page_count = 60")  # noqa: SLF001 - no other way to a disk that is full on every machine
    with pytest.raises(StoreError, match="disk is full"):
        crawl(random_site(8, 2000), store)
    store.abandon()
    again = SqliteStore(tmp_path / "h.db")
    assert again.check() == ()
    assert crawl(random_site(8, 2000), again, budgets=Budgets(max_pages=200)).summary.stopped == "max_pages"
    assert again.runs.list()[0].fetched == 200
    again.close()


def test_two_topics_on_one_store_are_two_runs(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "h.db")
    fire = crawl(random_site(1), store, budgets=Budgets(max_pages=20))
    water = crawl(random_site(1), store, load_profile("docs", topic="water"), budgets=Budgets(max_pages=20))
    assert (fire.summary.run, water.summary.run) == (1, 2)
    assert fire.urls != water.urls
    assert [(run.spec.topic, run.fetched, run.stopped) for run in store.runs.list()] == [
        ("fire", 20, "max_pages"),
        ("water", 20, "max_pages"),
    ]
    assert crawl(random_site(1), store, budgets=Budgets(max_pages=20), restart=True).summary.run == 3
    store.close()


def test_two_crawls_at_once_on_one_store_share_the_work(tmp_path: Path) -> None:
    request = CrawlRequest((Url.parse(f"{A}/"),), budgets=Budgets(max_pages=120))

    class Slow(Web):
        async def fetch(
            self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
        ) -> Fetched:
            await asyncio.sleep(0.1)
            return await super().fetch(url, validators=validators, part=part)

    both = threading.Barrier(2)  # have opened the store

    def work(web: Web) -> CrawlSummary:
        store = SqliteStore(tmp_path / "h.db")
        try:
            crawler = Crawler(web, HtmlReader(), SystemClock(), store, FIRE)
            both.wait()
            return asyncio.run(crawler.crawl(request, lambda *_: None))
        finally:
            store.close()

    webs = [Slow(random_site(4, 200), dice(n)) for n in (1, 2)]
    with ThreadPoolExecutor(2) as threads:
        summaries = list(threads.map(work, webs))
    asked = webs[0].asked + webs[1].asked
    assert len(asked) == len(set(asked)) == 120
    assert sum(summary.pages for summary in summaries) == 120
    assert all(summary.pages for summary in summaries)
    store = SqliteStore(tmp_path / "h.db")
    assert store.check() == ()
    store.close()


def test_a_seed_whose_address_was_refused_is_tried_again_by_the_next_command(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "h.db")

    def refuse(url: Url) -> Made:
        raise AddressRefusedError(url.as_linked, "its address is not on the public web")

    assert [record["action"] for record in crawl(refuse, store).records] == ["dropped"]
    again = crawl(pages({"/": html("Home", "/fire"), "/fire": html("fire", text="fire")}), store)
    assert again.urls == ["/", "/fire"]
    store.close()


def test_a_page_that_is_read_again_is_not_counted_again(tmp_path: Path) -> None:
    texts = iter(("one two", "three four", "five six"))
    store = SqliteStore(tmp_path / "h.db")

    def make(url: Url) -> Made:
        return html("Home", "/fire", text=next(texts)) if url.path == "/" else html("fire", text="fire")

    crawl(make, store)
    frontier = store.queue(store.runs.list()[0])
    home, fire = (digest_of(Url.parse(f"{A}{path}"), TRACKING) for path in ("/", "/fire"))
    for _ in range(2):
        frontier.schedule([ScheduledVisit(home, 0.0, 0)])
        assert crawl(make, store).urls == ["/"]
    found = frontier.find(fire)
    assert found is not None
    assert (found[0].seen, len(found[1])) == (1, 1)
    store.close()


def test_a_page_that_is_due_again_is_asked_for_with_what_it_said_last(tmp_path: Path) -> None:
    answers = {"/": html("Home", "/fire")}
    version = {"etag": '"1"', "text": "fire one two three"}

    def make(url: Url) -> Made:
        if url.path in answers:
            return answers[url.path]
        return Fetched(url, url, 200, Headers(etag=version["etag"]), html("fire", text=version["text"]))

    clock = FrozenClock(1000.0)
    store = SqliteStore(tmp_path / "h.db")
    crawl(make, store, clock=clock)
    frontier = store.queue(store.runs.list()[0])
    digest = digest_of(Url.parse(f"{A}/fire"), TRACKING)
    frontier.schedule([ScheduledVisit(digest, 1000.0, 0)])
    version["text"] = "fire one two four"
    again = crawl(make, store, clock=clock)
    assert again.urls == ["/fire"]
    assert again.web.told == [Validators('"1"', None, Url.parse(f"{A}/fire"))]
    known = store.history.get(digest)
    assert known is not None
    assert (known.visits, known.changes, known.changed_at) == (2, 1, clock.now())
    frontier.schedule([ScheduledVisit(digest, 1000.0, 0)])
    unchanged = crawl(lambda _: 304, store, clock=clock)
    assert [record["action"] for record in unchanged.records] == ["unchanged"]
    last = store.history.get(digest)
    assert last is not None
    assert (last.visits, last.changes, last.failures) == (3, 1, 0)
    store.close()


def test_records_have_the_names_of_the_specification() -> None:
    done = crawl(pages({"/": html("Home", "/fire"), "/fire": html("Fire", text="fire " * 10)}), links=True)
    record = done.records[1]
    names = (
        "url status depth parent relevance_score reasons action priority title fetched_at elapsed_s digest"
    )
    assert set(names.split()) <= record.keys()
    assert (record["depth"], record["parent"], record["relevance_score"], record["title"]) == (
        1,
        f"{A}/",
        8,
        "Fire",
    )
    (link,) = done.records[0]["links"]
    assert (link["anchor_text"], link["position"], link["relevance_score"]) == ("fire", "main", 10)
    assert sum(reason["points"] for reason in link["points"]) == 10
