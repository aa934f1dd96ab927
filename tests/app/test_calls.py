"""The calls that people guess: `pick`, `crawl`, with and without an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest

import honeyguide
from honeyguide import FetchPolicy, InputError, Url, crawl, export_pages, open_store, pick, pick_async
from honeyguide.app.library.calls import iterate, run
from honeyguide.app.runs import opened_store
from honeyguide.app.tools import kept_pages
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

SITE = "https://docs.example"
QUICK = FetchPolicy(delay_s=0, jitter=0)


def page(title: str, *links: str) -> bytes:
    anchors = "".join(f'<li><a href="{SITE}{link}">{link.strip("/")}</a></li>' for link in links)
    text = f"<p>{title} explained in a sentence of its own, and then some more words about {title}.</p>" * 3
    return f"<title>{title}</title><main><h1>{title}</h1>{text}</main><ul>{anchors}</ul>".encode()


def web() -> FakeFetcher:
    names = [f"/fire-{number}" for number in range(30)]
    pages = {f"{SITE}/": page("Contents", *names, "/kitchen"), f"{SITE}/kitchen": page("Kitchen")}
    return FakeFetcher({**pages, **{SITE + name: page(f"Fire {name}", "/kitchen") for name in names}})


def crawled(fetcher: FakeFetcher, **settings: Any) -> honeyguide.Crawl:
    return crawl(f"{SITE}/", topic="fire", policy=QUICK, fetcher=fetcher, clock=FrozenClock(), **settings)


def pages_of(fetcher: FakeFetcher) -> list[str]:
    return [url for url in fetcher.requests if not url.endswith("/robots.txt")]


# --- crawl ---


def test_a_plain_loop_gives_pages_with_their_reasons_and_markdown() -> None:
    pages = list(crawled(web(), max_pages=5))
    assert [one.url for one in pages] == [f"{SITE}/", *(f"{SITE}/fire-{number}" for number in range(4))]
    best = pages[1]
    assert (best.title, best.status, best.is_relevant, best.score) == ("Fire /fire-0", 200, True, 8)
    assert best.reasons[0] == "topic in title"
    assert best.markdown.startswith("# Fire /fire-0\n\nFire /fire-0 explained")
    assert [link.url.path for link in best.links] == ["/kitchen"]
    assert repr(best) == f"<CrawledPage {SITE}/fire-0, score 8>"


def test_a_crawl_without_a_page_says_why() -> None:
    missing = crawled(FakeFetcher({}))
    assert missing.problem is None  # it has not begun
    assert [one.status for one in missing] == [404]
    assert missing.problem == f"{SITE}/: answered 404"
    resting = crawl("http://127.0.0.1:9/", policy=FetchPolicy(retries=0, allow_private=True))
    assert not list(resting)
    assert resting.summary is not None
    assert resting.summary.failure is not None
    assert resting.problem == f"http://127.0.0.1:9/: {resting.summary.failure.text}"
    assert "no connection" in resting.problem
    private = crawl("http://127.0.0.1:48799/")
    list(private)
    assert "FetchPolicy(allow_private=True) visits it" in str(private.problem)
    good = crawled(web(), max_pages=2)
    list(good)
    assert good.problem is None


def test_a_run_says_which_call_began_it(tmp_path: Path) -> None:
    list(crawled(web(), max_pages=1, store=tmp_path / "c.db"))
    with closing(open_store(tmp_path / "c.db", read_only=True)) as store:
        (run,) = store.runs.list()
    assert run.spec.command == f"crawl('{SITE}/', topic='fire')"


def test_a_fetcher_that_is_none_is_a_sentence() -> None:
    class Narrow:
        async def fetch(self, url: Url) -> None:
            """Take no options."""

    class Empty:
        async def fetch(self, url: Url, **_: Any) -> None:
            """Give nothing."""

    class Plain:
        def fetch(self, url: Url, **_: Any) -> None:
            """Give what cannot be awaited."""

    fetchers: list[Any] = [Narrow(), Plain(), Empty()]
    for wrong in fetchers[:2]:
        with pytest.raises(InputError, match="field fetcher: should have `async def fetch"):
            list(crawled(wrong))
    assert len(list(crawled(AsyncMock(wraps=web(), spec=FakeFetcher)))) == 32
    nothing = crawled(fetchers[2])
    list(nothing)
    assert "the fetcher should return a Fetched, not NoneType" in str(nothing.problem)


@pytest.mark.parametrize("seed", ["/library/x.html", "tea", "//tea/x"])
def test_a_path_or_a_word_is_no_seed(seed: str) -> None:
    for start in (crawl, honeyguide.Focus):
        with pytest.raises(honeyguide.UrlError, match=f"'{seed}': a name without a dot"):
            start(seed, topic="tea")


def test_a_loop_where_an_event_loop_runs_gives_the_same_pages() -> None:
    async def asynchronous() -> list[str]:
        return [one.url async for one in crawled(web(), max_pages=5)]

    async def plain() -> list[str]:  # as in a cell of a notebook
        return [one.url for one in crawled(web(), max_pages=5)]

    usual = [one.url for one in crawled(web(), max_pages=5)]
    assert asyncio.run(asynchronous()) == asyncio.run(plain()) == usual


def test_the_same_call_with_a_store_gives_all_pages_and_requests_only_what_is_missing(tmp_path: Path) -> None:
    first = list(crawled(web(), max_pages=3, store=tmp_path / "c.db"))
    fetcher = web()
    again = list(crawled(fetcher, max_pages=5, store=tmp_path / "c.db"))
    assert [one.url for one in again][:3] == [one.url for one in first]
    assert [one.markdown for one in again][:3] == [one.markdown for one in first]
    assert pages_of(fetcher) == [one.url for one in again][3:]


def test_leaving_the_loop_early_ends_the_crawl_and_loses_no_page(tmp_path: Path) -> None:
    before = threading.active_count()
    for _ in crawled(web(), store=tmp_path / "c.db"):
        break
    assert threading.active_count() == before
    rest = [one.url for one in crawled(web(), store=tmp_path / "c.db")]
    assert sorted(rest) == sorted(one.url for one in crawled(web()))


@pytest.mark.parametrize("pages", [1, 3, 8, 20])
def test_leaving_an_asynchronous_loop_early_loses_no_page_for_the_next_one(
    tmp_path: Path, pages: int
) -> None:
    async def read_twice() -> list[str]:
        read = 0
        async for _ in crawled(web(), store=tmp_path / "c.db"):
            read += 1
            if read == pages:
                break
        return [one.url async for one in crawled(web(), store=tmp_path / "c.db")]

    assert sorted(asyncio.run(read_twice())) == sorted(one.url for one in crawled(web()))


def test_crawls_of_one_event_loop_share_a_store(tmp_path: Path) -> None:
    async def read(seed: str) -> int:
        work = crawl(
            f"{SITE}{seed}",
            topic="fire",
            policy=QUICK,
            fetcher=web(),
            clock=FrozenClock(),
            store=tmp_path / "c.db",
        )
        return len([one async for one in work])

    async def both() -> list[int]:
        return list(await asyncio.gather(read("/"), read("/kitchen")))

    assert asyncio.run(both()) == [32, 1]


def test_a_crawl_that_is_read_twice_at_once_is_refused(tmp_path: Path) -> None:
    async def read() -> int:
        return len([one async for one in crawled(web(), store=tmp_path / "c.db")])

    async def both() -> list[int | BaseException]:
        return list(await asyncio.gather(read(), read(), return_exceptions=True))

    first, second = asyncio.run(both())
    assert first == 32
    assert isinstance(second, InputError)
    assert "read them in one loop" in str(second)


def test_no_page_is_requested_while_many_wait_to_be_read() -> None:
    async def read_one() -> int:
        fetcher = web()
        async for _ in crawled(fetcher):
            for _ in range(2_000):
                await asyncio.sleep(0)
            return len(pages_of(fetcher))
        raise AssertionError

    assert asyncio.run(read_one()) < 25  # of 32: some wait, and some were under way


def test_a_crawl_that_was_read_says_how_it_went() -> None:
    work = crawled(web(), max_pages=4)
    assert work.summary is None
    list(work)
    assert work.summary is not None
    assert (work.summary.stopped, work.summary.pages) == ("max_pages", 4)


def test_an_open_store_is_used_by_its_own_loop(tmp_path: Path) -> None:
    async def read() -> list[str]:
        store = open_store(tmp_path / "c.db")
        try:
            return [one.url async for one in crawled(web(), max_pages=2, store=store)]
        finally:
            store.close()

    assert len(asyncio.run(read())) == 2
    store = open_store(tmp_path / "c.db")
    with pytest.raises(InputError, match="give its path"):
        iter(crawled(web(), store=store))
    store.close()


def test_without_a_topic_the_order_is_breadth_first() -> None:
    pages = list(crawl(f"{SITE}/", policy=QUICK, fetcher=web(), clock=FrozenClock(), max_pages=2))
    assert [one.score for one in pages] == [None, None]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"traversal": "focused"}, "follows a topic"),
        ({"max_relevant": 3}, "counts pages about a topic"),
        ({"max_pages": 0}, "0 is too few"),
        ({"scope": "planet"}, "no scope is named 'planet'"),
        ({"topic": 5}, "topic must be"),
    ],
)
def test_wrong_settings_of_a_crawl_are_a_sentence(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        crawl(f"{SITE}/", **settings)


# --- pick ---


def company() -> FakeFetcher:
    home = b"""<title>Acme</title><nav><a href="/services">Services</a> <a href="/about">About us</a>
        <a href="/privacy">Privacy</a></nav>"""
    return FakeFetcher({
        "https://acme.example/": home,
        "https://acme.example/services": page("Services"),
        "https://acme.example/about": page("About"),
    })  # fmt: skip


def picked(**settings: Any) -> honeyguide.PickedSite:
    return pick("https://acme.example/", policy=QUICK, fetcher=company(), clock=FrozenClock(), **settings)


def test_a_pick_gives_pages_with_their_reasons() -> None:
    site = picked(content=True)
    assert (site.site, site.status, len(site)) == ("https://acme.example/", "ok", 2)
    assert [(one.rank, one.url, one.bucket) for one in site] == [
        (1, "https://acme.example/services", "hub"),
        (2, "https://acme.example/about", "about"),
    ]
    assert site[0].reasons
    assert site[0].markdown.startswith("# Services")
    assert "https://acme.example/privacy" in [one["url"] for one in site.candidates if one["rejected"]]


def test_a_pick_in_a_running_loop_is_the_same() -> None:
    async def both() -> list[Any]:
        awaited = await pick_async(
            "https://acme.example/", policy=QUICK, fetcher=company(), clock=FrozenClock()
        )
        return [awaited.pages, picked().pages]

    first, second = asyncio.run(both())
    assert first == second == picked().pages


def test_a_notebook_shows_a_table_in_which_a_page_is_text() -> None:
    site = picked()
    assert "<td>https://acme.example/services</td>" in site._repr_html_()
    shown = honeyguide.CrawledPage({**_record(), "title": "<script>alert(1)</script>"})._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def _record() -> dict[str, Any]:
    (one,) = crawled(web(), max_pages=1)
    return dict(one.record)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"cap": "4"}, "must be"),
        ({"content": 1}, "must be"),
        ({"colour": 1}, "unexpected keyword argument 'colour'"),
        ({"strategy": "luck"}, "has no 'luck'"),
    ],
)
def test_wrong_settings_of_a_pick_are_a_sentence(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(honeyguide.HoneyguideError, match=said):
        picked(**settings)


# --- threads ---


def test_an_error_is_raised_where_the_items_are_read() -> None:
    async def failing() -> AsyncGenerator[int]:
        yield 1
        raise InputError("no more")

    items = iterate(failing)
    assert next(items) == 1
    with pytest.raises(InputError, match="no more"):
        next(items)


def test_what_is_left_early_is_closed() -> None:
    closed = []

    async def endless() -> AsyncGenerator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.append(True)

    items = iterate(endless)
    next(items)
    items.close()  # type: ignore[attr-defined]  # a generator
    assert closed == [True]


def test_a_result_comes_from_another_thread() -> None:
    async def name() -> str:
        return threading.current_thread().name

    assert run(name) == "honeyguide"
    assert Url.parse("https://a.example/").site == "a.example"


_HOSTILE = "<script>alert(1)</script>"


def test_selections_and_scores_show_hostile_text_as_text() -> None:
    html = f'<a href="/services">{_HOSTILE.replace("<", "&lt;")} Services</a>'
    selection = honeyguide.select_links(html, "https://acme.example/")
    shown = selection._repr_html_()
    assert "<caption>portfolio: 1 of 1 links</caption>" in shown
    assert "&lt;script&gt;" in shown
    assert "<script" not in shown
    score = honeyguide.Score(3.0, (honeyguide.Reason("r", 3.0, _HOSTILE),))
    assert score._repr_html_() == (
        "<table><caption>Score 3</caption><tr><th>Rule</th><th>Points</th><th>Reason</th></tr>"
        "<tr><td>r</td><td>+3</td><td>&lt;script&gt;alert(1)&lt;/script&gt;</td></tr></table>"
    )


def test_a_chooser_reads_its_settings_once_for_many_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    chooser = honeyguide.Chooser(cap=1, never="about")
    monkeypatch.setattr("honeyguide.app.pick.strategy_profile", None)  # would fail if it were read again
    html = '<a href="/about">About us</a> <a href="/services">Services</a> <a href="/team">Our team</a>'
    for host in ("acme.example", "other.example"):
        (best,) = chooser.select(html, f"https://{host}/").selected
        assert str(best.url) == f"https://{host}/services"


def test_what_is_no_site_has_a_record_without_a_request() -> None:
    site = honeyguide.pick("mailto:info@acme.example", fetcher=web())
    assert (site.status, site.reason) == ("unreachable", "is an e-mail address, not a site")


def test_an_error_of_the_library_names_arguments_not_options() -> None:
    """The command line keeps its options: tests/cli/test_cli_safety.py."""
    site = honeyguide.pick("http://127.0.0.1:8080/")
    assert site.reason is not None
    assert "FetchPolicy(allow_private=True) visits it" in site.reason
    assert "--allow-private" in site.record["reason"]  # the record is that of the command line
    with pytest.raises(
        honeyguide.InputError, match=r"0 is too few; give 1 or more, or None for that of the profile"
    ):
        honeyguide.select_links("<p>", "https://a.example/", cap=0)
    with pytest.raises(honeyguide.InputError, match=r"give it by Access\(logins=…\)$") as error:
        honeyguide.pick("https://anna:secret@acme.example/")
    assert "--" not in str(error.value)


@pytest.mark.parametrize("name", ["scrapy", "crawl4ai", "crawlee", "langchain", "llama_index"])
def test_a_plug_in_is_one_file_of_at_most_150_lines(name: str) -> None:
    file = Path(honeyguide.__file__).parent / "contrib" / f"{name}.py"
    assert len(file.read_text("utf-8").splitlines()) <= 150


# --- export_pages ---


def test_stored_pages_come_back_with_content_and_chunks_and_without_requests(tmp_path: Path) -> None:
    fetched = list(crawled(web(), max_pages=5, store=tmp_path / "c.db"))
    pages = list(export_pages(tmp_path / "c.db"))
    assert [(one.url, one.score, one.markdown) for one in pages] == [
        (one.url, one.score, one.markdown) for one in fetched
    ]
    (chunk,) = pages[1].chunks()
    assert (chunk["url"], chunk["headings"], chunk["place"]) == (pages[1].url, ["Fire /fire-0"], 1)
    assert chunk["text"].startswith("Fire /fire-0 explained")
    assert len(pages[1].chunks(100)) == 3
    assert chunk["is_cut"] is False
    endless = honeyguide.CrawledPage(_record(), b"<p>" + b"Some words. " * 300_000, "text/html")
    assert {one["is_cut"] for one in endless.chunks(100_000)} == {True}


def test_the_best_stored_pages_by_another_topic(tmp_path: Path) -> None:
    list(crawled(web(), store=tmp_path / "c.db"))
    kitchen = honeyguide.load_profile("docs", topic="kitchen")
    for asked in ({"topic": "kitchen"}, {"profile": kitchen}):
        best = list(export_pages(tmp_path / "c.db", top=1, **asked))
        assert [(one.url, one.score) for one in best] == [(f"{SITE}/kitchen", 7)]
    assert [one.url for one in export_pages(tmp_path / "c.db", path="kitchen")] == [f"{SITE}/kitchen"]


@pytest.mark.parametrize("settings", [{"profile": "nonsense"}, {"related": ("smoke",)}, {"lists": True}])
def test_settings_that_would_change_nothing_are_refused(tmp_path: Path, settings: Any) -> None:
    with pytest.raises(InputError, match=r"give a topic, too|goes with top"):
        export_pages(tmp_path / "c.db", **settings)


def test_a_sentence_about_a_database_has_no_password(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "known.db"
    honeyguide.observe(file, SITE)
    monkeypatch.setattr(kept_pages, "opened_store", lambda _path, **options: opened_store(file, **options))
    with pytest.raises(InputError, match="has no page of run 1") as error:
        list(export_pages("postgresql://crawler:secret@db.example/web", topic="fire"))
    assert "secret" not in str(error.value)


def test_mistakes_are_found_before_the_first_page_is_read(tmp_path: Path) -> None:
    list(crawled(web(), max_pages=2, store=tmp_path / "c.db"))
    with pytest.raises(InputError, match="top"):
        export_pages(tmp_path / "c.db", top=0)
    with pytest.raises(honeyguide.PatternError):
        export_pages(tmp_path / "c.db", topic="fire(")
    with pytest.raises(honeyguide.StoreError, match="or pass the path of another"):
        list(export_pages(tmp_path / "none.db"))
    with pytest.raises(InputError, match="between 100 and 1,000,000, not 5"):
        next(iter(export_pages(tmp_path / "c.db"))).chunks(5)


def test_a_number_that_a_reason_shows_is_written_as_people_write_it() -> None:
    rule = {
        "id": "deep",
        "reason": "path segments",
        "when": {"path_length": {"above": 1}},
        "show": "path_length",
    }
    profile = honeyguide.load_profile({"extends": "company", "filter": [rule]})
    (link,) = honeyguide.select_links("<a href=/a/b>B</a>", "https://a.example/", profile=profile).candidates
    assert link.rejected is not None
    assert link.rejected.text == "path segments: 2"
