"""What the library offers: its names, and how it takes what callers say."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import honeyguide
from honeyguide import (
    ConfigError,
    FetchPolicy,
    InputError,
    Link,
    Occurrence,
    PickRequest,
    Profile,
    Rejected,
    SimulateRequest,
    Url,
    WatchBudget,
    WatchRequest,
    add_fact,
    crawl_site,
    errors,
    judge_picks,
    load_profile,
    pick_sites,
    plan_file,
    plan_store,
    rank_urls,
    score_link,
    score_links,
    score_page,
    select_links,
    simulate_policies,
    watch_store,
)
from honeyguide.app import simulate as simulating
from honeyguide.app.pick import picker
from honeyguide.simulation import generated as made
from honeyguide.simulation import run as trials
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

NOW = datetime(2024, 6, 15, 8, tzinfo=UTC)
FIRE = load_profile("docs", topic="fire", related=("smoke",))
LINK = "https://a.example/fire"


# --- names ---


def test_every_name_is_there() -> None:
    assert len(set(honeyguide.__all__)) == len(honeyguide.__all__)
    assert [name for name in honeyguide.__all__ if getattr(honeyguide, name, None) is None] == []


def test_what_a_function_gives_can_be_named() -> None:
    functions = [
        getattr(honeyguide, name) for name in honeyguide.__all__ if name.islower() and name[0] != "_"
    ]
    given = " ".join(str(inspect.signature(one).return_annotation) for one in functions)
    others = {"Any", "Iterator", "None", "SqliteStore", "PostgresStore"}  # these two are a `Store`
    assert set(re.findall(r"[A-Z]\w*", given)) - others <= set(honeyguide.__all__)
    assert {"Record", "ChunkRecord", "ScoredLink"} <= set(honeyguide.__all__)


def test_the_names_of_the_package_are_listed_once() -> None:
    assert dir(honeyguide) == sorted(honeyguide.__all__)


def test_the_whole_error_tree_is_offered() -> None:
    tree = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.HoneyguideError)
    }
    assert tree <= set(honeyguide.__all__)


def test_a_name_that_is_not_there_is_said() -> None:
    with pytest.raises(AttributeError, match="module 'honeyguide' has no attribute 'nothing'"):
        _ = honeyguide.nothing  # type: ignore[attr-defined]  # that is the point


def test_importing_the_package_loads_nothing() -> None:
    code = "import sys, honeyguide; print([name for name in sys.modules if name.startswith('honeyguide.')])"
    run = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout == "[]\n"


def test_what_a_callback_raises_comes_out_as_it_is() -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("mine") from KeyError("its cause")

    sites = [f"https://{name}.example/" for name in "abc"]
    with pytest.raises(RuntimeError, match="mine") as error:
        asyncio.run(pick_sites(sites, PickRequest(), FetchPolicy(), fail, fetcher=FakeFetcher({})))
    assert isinstance(error.value.__cause__, KeyError)


# --- profiles ---


def links_of(tmp_path: Path) -> str:
    path = tmp_path / "links.jsonl"
    path.write_text(json.dumps({"url": LINK, "anchor": "smoke"}) + "\n", "utf-8")
    return str(path)


def test_a_loaded_profile_brings_its_topic(tmp_path: Path) -> None:
    by_name = score_link(LINK, topic="fire", related=("smoke",), anchor="smoke")
    assert score_link(LINK, anchor="smoke", profile=FIRE) == by_name
    assert score_link(LINK, topic="fire", related=("smoke",), anchor="smoke", profile=FIRE) == by_name
    assert by_name != score_link(LINK, topic="fire", anchor="smoke")
    assert score_page("<title>fire", profile=FIRE) == score_page("<title>fire", topic="fire")
    files = links_of(tmp_path)
    (loaded,) = score_links(files, profile=FIRE)
    (named,) = score_links(files, topic="fire", related=("smoke",))
    assert loaded.score == named.score
    path = tmp_path / "own.toml"
    path.write_text('name = "own"\nextends = "docs"\n[topic]\npattern = "fire"\n', "utf-8")
    assert score_link(LINK, profile=path) == score_link(LINK, topic="fire")


def test_rows_of_a_program_score_as_the_rows_of_a_file_do(tmp_path: Path) -> None:
    rows = [{"url": LINK, "anchor": "smoke"}, {"url": "https://a.example/tea", "position": "footer"}]
    path = tmp_path / "links.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert list(score_links(rows, profile=FIRE)) == list(score_links(str(path), profile=FIRE))
    assert list(score_links(iter(rows), profile=FIRE, top=1)) == list(
        score_links(str(path), profile=FIRE, top=1)
    )
    for only_of_files in ({"reject": Rejected()}, {"input_format": "csv"}):
        with pytest.raises(InputError, match="is for files, not for rows"):
            list(score_links(rows, profile=FIRE, **only_of_files))
    named = [{"href": LINK, "text": "smoke"}]
    (link,) = score_links(named, profile=FIRE, columns={"url": "href", "anchor": "text"})
    assert link.row.anchor == "smoke"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"url": LINK}, {"anchor": "smoke"}], "row 2, field url: is missing; every row needs one"),
        ([{"url": "tea"}], "row 1, field url: 'tea' should be an absolute http\\(s\\) URL"),
        (iter([{"url": LINK}, "links.csv"]), "row 2: should have a url and what is known of it, not be str"),
        ([3], "links must be .*, not list of int"),
    ],
)
def test_a_wrong_row_of_a_program_is_named(rows: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        list(score_links(rows, profile=FIRE))


@pytest.mark.parametrize(
    "score", [lambda **given: score_link(LINK, **given), lambda **given: score_page("<title>fire", **given)]
)
def test_a_loaded_profile_has_no_other_topic(score: Callable[..., object]) -> None:
    with pytest.raises(InputError, match="the profile is loaded, for 'fire'"):
        score(topic="water", profile=FIRE)
    with pytest.raises(ConfigError, match="no topic is given"):
        score(profile=load_profile("docs"))
    with pytest.raises(ConfigError, match="no topic is given"):
        score(topic="water", profile=load_profile("docs"))
    with pytest.raises(ConfigError, match="no topic is given"):
        score()


@pytest.mark.parametrize(
    ("call", "way"),
    [(lambda: score_link(LINK), 'pass topic="fire|alarm", or load_profile("docs", topic="fire|alarm") as profile'),
     (lambda: asyncio.run(crawl_site(LINK, FetchPolicy(), "docs", "a.db", print)),
      'pass load_profile("docs", topic="fire|alarm") as profile')],
)  # fmt: skip
def test_a_missing_topic_is_answered_with_the_argument_to_pass(
    call: Callable[[], object], way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as raised:
        call()
    assert str(raised.value) == f"docs: topic.pattern: no topic is given; {way}"


# --- callbacks ---


async def awaited(*_: object) -> None:
    """Wait for nothing."""


async def generated(*_: object) -> AsyncIterator[int]:
    yield 1


class Awaited:
    async def __call__(self, *_: object) -> None:
        """Wait for nothing."""


@pytest.mark.parametrize("callback", [awaited, generated, Awaited(), partial(awaited, 1)])
def test_a_callback_is_a_plain_function(callback: Any, tmp_path: Path) -> None:
    store, policy = tmp_path / "a.db", FetchPolicy()
    said = "must be a plain function, not async def"
    with pytest.raises(InputError, match=f"^crawl_site: on_page {said}$"):
        asyncio.run(crawl_site(LINK, policy, FIRE, store, callback))
    with pytest.raises(InputError, match=f"^crawl_site: on_note {said}$"):
        asyncio.run(crawl_site(LINK, policy, FIRE, store, print, on_note=callback))
    with pytest.raises(InputError, match=f"^pick_sites: on_record {said}$"):
        asyncio.run(pick_sites([LINK], PickRequest(), policy, callback))
    watch = WatchRequest(WatchBudget(1), "docs", on_page=callback)
    with pytest.raises(InputError, match=f"^watch_store: request.on_page {said}$"):
        asyncio.run(watch_store(store, watch, policy))
    with pytest.raises(InputError, match=f"^add_fact: function {said}$"):
        add_fact("odd", callback)


# --- numbers and words ---

ROW = {
    "url": "https://a.example/", "visits": 1, "last_visited": "2024-06-15T07:30:00Z",
    "topic_relevance": 0.1, "hub_depth": 5, "is_hub": False,
}  # fmt: skip


def known(tmp_path: Path) -> str:
    path = tmp_path / "known.jsonl"
    path.write_text(json.dumps(ROW) + "\n", "utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"top": 0}, "field top: 0 is too few; give 1 or more"),
        ({"top": -1}, "field top: -1 is too few"),
        ({"per_host": 0}, "field per_host: 0 is too few"),
        ({"min_score": 101.0}, "field min_score: 101.0 is no score; they go from 0 to 100"),
        ({"min_score": float("nan")}, "field min_score: nan is no score"),
        ({"max_score": 100.5}, "field max_score: 100.5 is no score; they go from 0 to 100"),
        ({"max_score": 0.0}, "field max_score: no score is below 0 and at least 0"),
        ({"max_score": 30.0, "min_score": 30.0}, "field max_score: no score is below 30 and at least 30"),
        ({"levels": "height"}, "field levels: no level is named 'height'; there are very high, high, medium"),
        ({"levels": ["high", "higher"]}, "field levels: no level is named 'higher'"),
        ({"now": NOW.replace(tzinfo=None)}, "field now: has no time zone"),
    ],
)
def test_a_plan_that_cannot_be_meant_is_refused(tmp_path: Path, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as of_file:
        plan_file(known(tmp_path), **given)
    with pytest.raises(InputError) as of_store:
        plan_store(tmp_path / "none.db", **given)
    assert str(of_file.value) == str(of_store.value)
    assert str(of_file.value).startswith(sentence)


def test_a_word_is_one_level(tmp_path: Path) -> None:
    (entry,) = plan_file(known(tmp_path), now=NOW).entries
    assert entry.scored.level.name == "very low"
    assert len(plan_file(known(tmp_path), now=NOW, levels="very low").entries) == 1
    assert plan_file(known(tmp_path), now=NOW, levels="low").entries == []
    assert plan_file(known(tmp_path), now=NOW, policy="uniform").entries != [entry]


def test_a_choice_of_none_is_refused(tmp_path: Path) -> None:
    link = Link(Url.parse("https://a.example/services"), (Occurrence("Services"),))
    for call in (
        lambda: select_links([link], "https://a.example/", cap=-1),
        lambda: rank_urls([ROW], now=NOW, top=-1),
        lambda: list(score_links(links_of(tmp_path), profile=FIRE, top=0)),
        lambda: list(score_links(links_of(tmp_path), profile=FIRE, min_score=11.0)),
        lambda: picker(PickRequest(cap=0), FakeFetcher({}), FrozenClock()),
    ):
        with pytest.raises(InputError, match=r"is too few|is no score"):
            call()


def test_types_are_offered() -> None:
    assert isinstance(FIRE, Profile)


# --- judging and simulating ---


def test_picks_are_judged_and_what_could_not_be_is_told(tmp_path: Path) -> None:
    picks, gold = tmp_path / "picks.jsonl", tmp_path / "gold.jsonl"
    pages = [{"url": "https://a.example/services", "rank": 1}]
    rows = [{"site": "a.example", "selected": pages}, {"site": "c.example", "selected": []}]
    picks.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    labels = [{"site": "a.example", "core": ["/services"]}, {"site": "b.example", "core": ["/"]}]
    gold.write_text("\n".join(map(json.dumps, labels)), "utf-8")
    run = judge_picks(picks, gold)
    assert [(site.site, site.is_good, site.has_record) for site in run.sites] == [
        ("a.example", True, True),
        ("b.example", False, False),
    ]
    assert run.totals.picks.core == 1
    assert (run.missing, run.unlabelled) == (["b.example"], ("c.example",))
    with pytest.raises(InputError, match="field cap: 0 is too few"):
        judge_picks(picks, gold, cap=0)


def test_policies_are_simulated_in_the_order_that_was_asked_for() -> None:
    heard: list[str] = []
    request = SimulateRequest(("poisson:pages=30,days=4",), policies=("uniform",), budgets=("2d", "9/hour"))
    outcomes = simulate_policies(request, heard.append)
    assert heard == [
        f"{policy}, budget {budget}, poisson:pages=30,days=4"
        for budget in ("2d", "9/hour")
        for policy in ("uniform", "known-rates")
    ]
    assert request.runs == len(heard)
    assert [outcome.policy for outcome in outcomes[:2]] == ["uniform", "known-rates"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "field worlds: name one"),
        ({"worlds": ("a\0b",)}, "is neither a file nor one of the worlds there are"),
        ({"worlds": ("news",), "start": NOW}, "field start: only a history has a time to begin at"),
        ({"worlds": ("-",), "start": NOW.replace(tzinfo=None)}, "has no time zone"),
        ({"worlds": ("news",), "policies": ("magic",)}, "field policies: 'magic' is none of learned"),
        ({"worlds": ("news",), "budgets": ("10",)}, "field budgets: '10' is no budget"),
        ({"worlds": ("news",), "host_limit": "10d"}, "field host_limit: '10d' is no limit"),
        ({"worlds": ("news",), "days": float("nan")}, "field days: nan is no time"),
    ],
)
def test_a_simulation_that_cannot_be_meant_is_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        SimulateRequest(**given)


def test_the_names_of_worlds_and_policies_are_those_there_are() -> None:
    assert list(simulating.WORLDS) == list(made.MAKERS)
    assert list(simulating.NAMES) == list(trials.POLICIES)
    assert trials.REFERENCE == simulating.REFERENCE


def test_every_name_can_be_imported_without_the_extras() -> None:
    script = (
        "import sys\n"
        "for name in ('numpy', 'polars', 'duckdb', 'psycopg', 'playwright', 'pyarrow'):\n"
        "    sys.modules[name] = None\n"
        "from honeyguide import *\n"
        "print(Outcome.__name__)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert (run.returncode, run.stdout) == (0, "Outcome\n"), run.stderr
