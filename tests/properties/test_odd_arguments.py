"""Whatever is given to a public function, it answers or raises an error of ours: never AttributeError or TypeError."""

from __future__ import annotations

import asyncio
import inspect
import math
import socket
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import honeyguide as package
from honeyguide import (
    Budgets,
    CrawlRequest,
    FetchPolicy,
    HoneyguideError,
    InputError,
    PickRequest,
    SimulateRequest,
    Url,
    UrlSignals,
    WatchBudget,
    WatchRequest,
    load_profile,
)

if TYPE_CHECKING:
    from collections.abc import Callable

honeyguide: Any = package  # wrong types are the point
Request: Any = CrawlRequest
wrong: Any = "4"
wrong_url: Any = None
FUNCTIONS = [name for name in honeyguide.__all__ if inspect.isroutine(getattr(honeyguide, name))]
SITE = "https://acme.example/"
ROW = {"url": SITE, "visits": 1, "topic_relevance": 0.5, "hub_depth": 1, "is_hub": False}
NOW = datetime(2024, 6, 15, tzinfo=UTC)


def _measure(link: package.Link) -> float:
    return link.order


# What works, for each function: all parameters that an odd value may take the place of.
USUAL: dict[str, dict[str, Any]] = {
    "add_fact": {"name": "odd_fact", "function": _measure},
    "calculate_priority": {"score": 5.0, "parent": 5.0},
    "classify": {"href": "/a", "page": SITE, "seed": SITE},
    "crawl": {"seeds": SITE, "topic": "fire", "max_pages": 1},
    "crawl_site": {
        "request": CrawlRequest((), traversal="bfs"),
        "policy": FetchPolicy(),
        "profile": "docs",
        "store_path": "a.db",
        "on_page": lambda _record, _page: None,
    },
    "display": {"url": SITE},
    "explain_url": {"store": "full.db", "url": SITE, "run": None},
    "export_pages": {"store": "full.db", "topic": "fire", "top": 1},
    "extract_links": {"html": "<a href=/a>a</a>", "url": SITE},
    "import_known": {
        "paths": "known.csv",
        "store": "full.db",
        "kind": "csv",
        "columns": None,
        "reject": None,
    },
    "judge_links": {"page": package.parse_page("<a href=/a>a</a>", SITE), "topic": "fire"},
    "judge_picks": {"picks": "picks.jsonl", "gold": "gold.jsonl", "cap": 4},
    "load_profile": {"source": "docs", "topic": "fire", "related": ("smoke",)},
    "load_schema": {"name": "plan"},
    "looks_like_shell": {"html": "<p>a</p>", "url": SITE},
    "main_content": {"html": "<p>a</p>", "url": SITE, "content_type": "text/html"},
    "markdown": {"html": "<p>a</p>", "url": SITE},
    "normalize": {"text": SITE, "base": SITE},
    "observe": {"store": "full.db", "url": SITE, "at": NOW, "changed": True, "status": 200, "relevance": 0.5},
    "open_store": {"path": "a.db", "create": True, "read_only": False},
    "parse_markdown": {"text": "[a](/a)", "url": SITE},
    "parse_markdown_links": {"text": "[a](/a)", "with_bare": False},
    "parse_page": {"html": "<a href=/a>a</a>", "url": SITE, "content_type": "text/html"},
    "pick": {"site": SITE},
    "pick_async": {"site": SITE},
    "pick_sites": {
        "sites": [],
        "request": PickRequest(),
        "policy": FetchPolicy(),
        "on_record": lambda _place, _record: None,
        "at_once": 2,
    },
    "plan_file": {"paths": "known.csv", "now": NOW, "kind": "csv", "reject": None},
    "plan_sql": {"dialect": "duckdb", "now": NOW},
    "plan_store": {"path": "full.db", "now": NOW},
    "rank_urls": {"rows": [ROW], "now": NOW, "top": 1},
    "read": {"path": "pages.jsonl"},
    "relevance_level": {"score": 5.0},
    "score_frame": {"frame": pl.DataFrame([ROW]), "now": NOW},
    "score_link": {
        "url": SITE,
        "topic": "fire",
        "anchor": "a",
        "context": "b",
        "position": "main",
        "related": ("c",),
    },
    "score_links": {"links": "links.csv", "topic": "fire", "related": ("c",), "input_format": "csv"},
    "score_page": {"page": "<p>a</p>", "topic": "fire"},
    "score_url": {"signals": ROW, "now": NOW},
    "select_files": {"paths": "links.csv", "base": SITE, "input_format": "csv"},
    "select_links": {"source": "<a href=/a>a</a>", "base": SITE, "heads": {}},
    "should_skip": {"url": SITE},
    "simulate_policies": {
        "request": SimulateRequest(("changes.csv",), budgets=("1d",), policies=("uniform",))
    },
    "watch_store": {
        "store": "full.db",
        "request": WatchRequest(WatchBudget(1, rounds=1), "news"),
        "policy": FetchPolicy(),
    },
}
ODD: list[Any] = [
    None, True, 0, -1, 5, 10**30, 1.5, math.nan, math.inf, "", "x", "\0", "\udcff", "https://[", "a\nb", b"", b"\xff",
    [], [None], [1], ["x"], (), ("x", 1), {}, {"a": 1}, {1: 2}, {"x"}, object(), len, Path("nowhere"), 1j,
    NOW, datetime(2024, 6, 15), Url.parse(SITE), FetchPolicy(), range(2),  # noqa: DTZ001 - no zone: odd
]  # fmt: skip
SETTINGS = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)

    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")  # nothing leaves this machine

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    Path("known.csv").write_text(
        "url,visits,topic_relevance,hub_depth,is_hub\nhttps://a.example/,1,0.5,1,true\n"
    )
    Path("links.csv").write_text("page,url,anchor\nhttps://a.example/,https://a.example/b,B\n")
    Path("pages.jsonl").write_text("")
    Path("picks.jsonl").write_text('{"site": "a.example", "status": "ok", "selected": []}\n')
    Path("gold.jsonl").write_text('{"site": "a.example", "core": ["/b"]}\n')
    Path("changes.csv").write_text("page,timestamp\na,2024-06-01T00:00:00Z\na,2024-06-09T00:00:00Z\n")
    honeyguide.open_store("full.db").close()
    return tmp_path


def call(name: str, arguments: dict[str, Any]) -> object:
    """Call a function; await and read what it gives."""
    got = getattr(honeyguide, name)(**arguments)
    if inspect.iscoroutine(got):
        got = asyncio.run(got)
    if inspect.isgenerator(got):
        return list(got)
    if hasattr(got, "close"):
        got.close()
    return got


def parameters(name: str) -> list[str]:
    return list(inspect.signature(getattr(honeyguide, name)).parameters)


def test_every_function_is_tried() -> None:
    assert sorted(USUAL) == sorted(FUNCTIONS)


@pytest.mark.parametrize(
    "name",  # the store has no crawl yet
    [name for name in FUNCTIONS if name not in ("crawl_site", "explain_url", "export_pages", "watch_store")],
)
def test_what_is_usual_works(name: str) -> None:
    call(name, USUAL[name])


@pytest.mark.parametrize(
    ("name", "parameter"), [(name, parameter) for name in FUNCTIONS for parameter in parameters(name)]
)
@pytest.mark.slow
def test_an_odd_value_is_answered_or_is_an_error_of_ours(name: str, parameter: str) -> None:
    for value in [*ODD, iter([None])]:  # an iterator is used up
        if parameter.startswith("on_") and callable(value):
            continue  # what a caller's own function raises is the caller's
        try:
            call(name, {**USUAL[name], parameter: value})
        except HoneyguideError as error:
            assert str(error).strip()  # noqa: PT017 - most values are refused, some are not
        except Exception as error:  # noqa: BLE001 - named with the value that led to it
            pytest.fail(f"{name}({parameter}={value!r}) raises {type(error).__name__}: {error}")


FIELDS = [
    (name, parameter, field)
    for name, arguments in USUAL.items()
    for parameter, value in arguments.items()
    if isinstance(value, (CrawlRequest, PickRequest, WatchRequest, SimulateRequest, FetchPolicy))
    for field in value.__dataclass_fields__
    if name != "watch_store"
]


@pytest.mark.parametrize(("name", "parameter", "field"), FIELDS)
@pytest.mark.slow
def test_an_odd_field_of_a_request_is_answered_or_is_an_error_of_ours(
    name: str, parameter: str, field: str
) -> None:
    for value in [*ODD, iter([None])]:  # an iterator is used up
        if isinstance(value, int) and value > 10**6:
            continue  # a budget that large is one
        try:
            call(name, {**USUAL[name], parameter: replace(USUAL[name][parameter], **{field: value})})
        except HoneyguideError as error:
            assert str(error).strip()  # noqa: PT017 - as above
        except Exception as error:  # noqa: BLE001 - as above
            pytest.fail(f"{name}({parameter}.{field}={value!r}) raises {type(error).__name__}: {error}")


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.binary(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)
PURE = [
    "classify",
    "display",
    "normalize",
    "parse_page",
    "rank_urls",
    "relevance_level",
    "score_link",
    "score_page",
    "score_url",
]


@SETTINGS
@given(st.sampled_from(PURE), st.data())
def test_any_values_at_all_are_answered_or_are_errors_of_ours(name: str, data: st.DataObject) -> None:
    arguments = {parameter: data.draw(ANY) for parameter in USUAL[name] if data.draw(st.booleans())}
    with suppress(HoneyguideError):
        call(name, {**USUAL[name], **arguments})


# --- the sentences, and texts where texts are natural ---


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: honeyguide.normalize(5), "normalize: text must be str, not int"),
        (lambda: honeyguide.score_link(SITE, topic=3), "score_link: topic must be str | None, not int"),
        (lambda: honeyguide.select_links(3, SITE), "select_links: source must be bytes | str | Page"),
        (lambda: honeyguide.rank_urls("x"), "rank_urls: rows must be Iterable"),
        (
            lambda: asyncio.run(honeyguide.watch_store("a.db", 3, FetchPolicy())),
            "request must be WatchRequest, not int",
        ),
        (
            lambda: asyncio.run(
                honeyguide.pick_sites([], PickRequest(cap=wrong), FetchPolicy(), lambda _a, _b: None)
            ),
            "pick_sites: request.cap must be int | None, not str",
        ),
        (
            lambda: asyncio.run(
                honeyguide.crawl_site(
                    CrawlRequest((), budgets=Budgets(max_pages=wrong)),
                    FetchPolicy(),
                    "docs",
                    "a.db",
                    lambda _a, _b: None,
                )
            ),
            "crawl_site: request.budgets.max_pages must be int | None, not str",
        ),
    ],
)
def test_a_wrong_type_is_a_sentence(attempt: Callable[[], object], words: str) -> None:
    with pytest.raises(InputError) as caught:
        attempt()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: honeyguide.Chooser(cap="2"), "Chooser: cap must be int | None, not str"),
        (lambda: honeyguide.Chooser().select(None, SITE), "select: source must be bytes | str | Page"),
        (lambda: honeyguide.CrawledPage({}).chunks("5"), "chunks: chars must be int, not str"),
        (lambda: Url.parse(wrong_url), "not an http(s) URL: 'None': is NoneType, not str"),
        (
            lambda: honeyguide.rank_urls([UrlSignals(SITE, visits=-4)]),
            "row 1, field visits: '-4' should be a whole number, 0 or more",
        ),
        (lambda: honeyguide.rank_urls([UrlSignals(wrong_url)]), "row 1, field url: 'None' should be an http"),
        (lambda: honeyguide.crawl(SITE, store=""), "field store: is empty; None is no store"),
        (lambda: honeyguide.plan_file(""), "the name of a file is empty"),
        (lambda: honeyguide.import_known("", "a.db"), "the name of a file is empty"),
        (lambda: list(honeyguide.score_links("", topic="a")), "the name of a file is empty"),
        (lambda: list(honeyguide.select_files("")), "the name of a file is empty"),
        (
            lambda: list(honeyguide.score_links([SITE], topic="a")),
            "field links: a text is the name of a file; give URLs as rows, {'url': …}",
        ),
        (
            lambda: SimulateRequest(("changes.csv",), start=datetime(2024, 1, 1)),  # noqa: DTZ001 - as above
            "field start: has no time zone",
        ),
        (
            lambda: honeyguide.plan_store("missing.db"),
            "missing.db: no such store; create one with honeyguide crawl, or pass the path of another",
        ),
        (lambda: honeyguide.plan_file("known.csv", columns={"x": "y"}), "field columns: 'x' is no field"),
        (
            lambda: honeyguide.select_links("<a href=/a>A</a>", SITE, heads={SITE: "T"}),
            "heads must be Mapping[str, Head] | None, not dict of str to str",
        ),
        (lambda: load_profile(""), "profile: no profile is named ''"),
        (lambda: Budgets(max_pages=-1), "field max_pages: must be 1 or more, not -1"),
        (lambda: Budgets(external_pages=-1), "field external_pages: must be 0 or more, not -1"),
        (lambda: Request(SITE, max_relevant=-1), "field max_relevant: must be 1 or more, not -1"),
        (lambda: Request(SITE, keep_bytes=-1), "field keep_bytes: must be 0 or more, not -1"),
        (lambda: Request(SITE, concurrency=0), "field concurrency: must be 1 or more, not 0"),
        (lambda: Request(SITE, max_time_s=math.nan), "field max_time_s: must be 0 or more, not nan"),
        (lambda: Request(SITE, scope="hosts"), "field scope: no scope is named 'hosts'"),
        (lambda: honeyguide.crawl(SITE, max_depth=-1), "field max_depth: must be 0 or more, not -1"),
        (lambda: WatchBudget(0), "field per_hour: must be 1 or more, not 0"),
        (lambda: WatchBudget(1, cycle_s=math.nan), "field cycle_s: must be 0 or more, not nan"),
        (lambda: WatchRequest(WatchBudget(1), "news", rest_s=math.inf), "field rest_s: must be 0 or more"),
        (
            lambda: WatchRequest(WatchBudget(1), "news", min_interval_s={wrong: 5.0}),
            "field min_interval_s: '4' is no class; there are hub, article, page",
        ),
        (
            lambda: WatchRequest(WatchBudget(1), "news", max_interval_s={"hub": -1.0}),
            "field max_interval_s['hub']: must be 0 or more, not -1",
        ),
        (
            lambda: asyncio.run(
                honeyguide.pick_sites([], PickRequest(), FetchPolicy(), lambda _a, _b: None, at_once=0)
            ),
            "field at_once: must be 1 or more, not 0",
        ),
    ],
)
def test_what_would_do_nothing_or_something_else_is_a_sentence(
    attempt: Callable[[], object], words: str
) -> None:
    with pytest.raises(HoneyguideError) as caught:
        attempt()
    assert words in str(caught.value)


def test_texts_are_taken_where_texts_are_natural() -> None:
    assert Request("https://a.example/x").seeds == (Url.parse("https://a.example/x"),)
    assert Request(["https://a.example/x"]).seeds == (Url.parse("https://a.example/x"),)
    records: list[Any] = []
    asyncio.run(
        honeyguide.pick_sites(
            "http://127.0.0.1:9/", PickRequest(), FetchPolicy(), lambda _place, record: records.append(record)
        )
    )
    assert [record["site"] for record in records] == ["http://127.0.0.1:9/"]
    policy = FetchPolicy(retries=0)
    pages: list[Any] = []
    summary = asyncio.run(
        honeyguide.crawl_site(
            "http://127.0.0.1:9/",
            policy,
            load_profile("docs", topic="a"),
            "b.db",
            lambda record, _: pages.append(record),
        )
    )
    assert summary.stopped
    assert [page["url"] for page in pages] == ["http://127.0.0.1:9/"]


def test_what_people_guess_is_taken(folder: Path) -> None:
    path = folder / "known.csv"
    assert honeyguide.plan_file(path).entries == honeyguide.plan_file("known.csv").entries
    assert honeyguide.import_known(path, "full.db").rows == 1
    assert len(list(honeyguide.select_files(folder / "links.csv"))) == 1
    assert load_profile("docs", topic="a", related=["b"]) == load_profile("docs", topic="a", related="b")
    request = PickRequest(want="pricing", include=["a", "b"])
    assert (request.want, request.include) == (("pricing",), ("a", "b"))
    now, naive = NOW, NOW.replace(tzinfo=None)
    aware, zoneless = (UrlSignals(SITE, last_visited=at) for at in (now, naive))
    assert honeyguide.rank_urls([zoneless], now=now) == honeyguide.rank_urls([aware], now=now)
    with pytest.raises(AttributeError, match="'plan'; there are plan_file, plan_sql, plan_store"):
        _ = honeyguide.plan


def test_wrong_rows_of_any_iterable_are_named() -> None:
    with pytest.raises(InputError, match="row 2"):
        honeyguide.rank_urls(iter([ROW, 5]))
    with pytest.raises(HoneyguideError):
        honeyguide.score_url({"url": 5})
