"""The studio: who may ask, what views show, that nothing a page says becomes markup, and that what-if equals `pick --replay`."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from bench import large_store
from click.testing import CliRunner
from studio_server import Client, Made, make, opened, run

from honeyguide.adapters.store.common import browse
from honeyguide.app.views import stores
from honeyguide.app.views.kept_pick import opened_kept_pick
from honeyguide.app.views.stores import (
    PageQuery,
    list_branches,
    list_pages,
    read_freshness,
    read_plan,
    read_summary,
)
from honeyguide.app.views.what_if import WhatIf, toml_text
from honeyguide.cli.main import root
from honeyguide.errors import InputError
from honeyguide.studio import picks
from honeyguide.studio.saving import unsaved
from honeyguide.studio.server import EVENTS, POSTS, VIEWS
from honeyguide.studio.shell import Sources

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("studio"))


@pytest.fixture(scope="module")
def browser(made: Made) -> Iterator[Client]:
    with opened(made.folder) as found:
        yield found


# --- who may ask ---

PLACES = [
    *VIEWS,
    *(f"{path}.json" for path in VIEWS if path != "/"),
    *EVENTS,
    "/studio.js",
    "/studio.css",
    "/favicon.ico",
]


def test_it_listens_on_loopback_alone(browser: Client) -> None:
    assert browser.studio.address.startswith("http://127.0.0.1:")
    with pytest.raises(ConnectionRefusedError):
        http.client.HTTPConnection("127.0.0.2", browser.studio.port).connect()


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Cookie": "honeyguide-studio=guess"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
    ],
)
def test_every_route_refuses_strangers(
    browser: Client, path: str, headers: dict[str, str], status: int
) -> None:
    known = {} if status == 401 else {"Cookie": browser.cookie}
    answer = browser.ask(path, **{**known, **headers})
    assert answer[0] == status
    assert "Roofs" not in answer[2]


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("origin", [None, "http://evil.example", "null"])
def test_no_other_page_can_post(browser: Client, path: str, origin: str | None) -> None:
    headers = {"Cookie": browser.cookie} | ({} if origin is None else {"Origin": origin})
    assert browser.ask(path, "POST", "{}", **headers)[0] == 403


def test_the_token_becomes_a_strict_cookie_and_leaves_the_address(browser: Client) -> None:
    status, headers, _ = browser.ask(f"/pick?token={browser.studio.token}")
    assert (status, headers["Location"]) == (303, "/pick")
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert browser.ask("/?token=wrong")[0] == 401


@pytest.mark.parametrize("path", ["/", "/pick", "/what-if", "/crawl", "/plan", "/nothing", "/studio.js"])
def test_nothing_from_elsewhere_may_run_or_load(browser: Client, path: str) -> None:
    _, headers, _ = browser.ask(path, Cookie=browser.cookie)
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_post_that_is_no_json_is_one_sentence(browser: Client) -> None:
    for body in ("{", "[]", "[" * 100_000, ""):
        status, _, text = browser.ask(
            "/what-if/label", "POST", body, Cookie=browser.cookie, Origin=browser.origin
        )
        assert status == 400
        assert json.loads(text)["error"]


# --- views ---

SHOWN = ["/", "/pick", "/pick/site?n=0", "/pick/find?search=alert", "/what-if", "/crawl", "/crawl/pages?run=1", "/crawl/summary?run=1", "/crawl/tree?run=1",
         "/crawl/live?run=1", "/why?url=/gutters", "/plan"]  # fmt: skip


@pytest.mark.parametrize("path", SHOWN)
def test_what_pages_say_is_text(browser: Client, path: str) -> None:
    text = browser.get(path)
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "javascript:" not in text.replace("javascript:alert(4)", "", 1) or 'href="javascript' not in text
    assert text.count("<script") == 1
    assert " style=" not in text
    assert " onerror=" not in text.replace("onerror=&quot;", "")


@pytest.mark.parametrize("path", SHOWN)
def test_every_view_has_a_twin_in_json(browser: Client, path: str) -> None:
    name, _, query = path.partition("?")
    assert browser.json(f"{'/index' if name == '/' else name}.json?{query}")


@pytest.mark.parametrize("name", ["picks.csv", "picks.xlsx", "picks.csv.gz", "pages.jsonl"])
def test_a_file_without_the_links_of_sites_is_refused_before_the_studio_opens(
    made: Made, tmp_path: Path, name: str
) -> None:
    file = made.folder / name if name == "pages.jsonl" else tmp_path / name
    if name.startswith("picks"):
        table = tmp_path / name.removesuffix(".gz")
        run("pick", made.address, "--replay", f"{made.folder}/kept.db", "--quiet", "-o", str(table))
        if name.endswith(".gz"):
            file.write_bytes(gzip.compress(table.read_bytes()))
    asked = ("studio", "--no-open", "--store", f"{made.folder}/store.db", "--picks", str(file))
    result = CliRunner().invoke(root, asked, prog_name="honeyguide")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.endswith(
        "has no links of homepages; give JSON lines or Parquet that honeyguide pick wrote\n"
    )


def test_a_folder_is_no_file_of_picks(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        root, ("studio", "--no-open", "--picks", str(tmp_path)), prog_name="honeyguide"
    )
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"Error: {tmp_path}: is a folder; give the file that pick wrote\n"


def test_picks_in_parquet_are_those_in_json_lines(made: Made, tmp_path: Path) -> None:
    pytest.importorskip("polars")  # an extra
    files = [str(tmp_path / f"picks.{ending}") for ending in ("jsonl", "parquet")]
    shown = []
    for file in files:
        kept = ("--replay", f"{made.folder}/kept.db", "--no-timings", "--quiet")
        run("pick", made.address, *kept, "-o", file)
        picks.check_picks(file)
        shown.append(asyncio.run(picks.records(Sources(picks=file))))
    assert shown[0] == shown[1]
    assert shown[0][0]["candidates"]


def test_parquet_of_another_kind_is_refused_when_it_is_looked_at(made: Made, tmp_path: Path) -> None:
    pytest.importorskip("polars")  # an extra
    pages = str(tmp_path / "pages.parquet")
    run("export", "pages", "--store", f"{made.folder}/store.db", "-o", pages)
    with pytest.raises(InputError, match=r"pages\.parquet: has no links of homepages"):
        asyncio.run(picks.records(Sources(picks=pages)))


@pytest.mark.parametrize(
    ("path", "needed"),
    [
        ("/pick", "--picks"),
        ("/pick/find.json?search=about", "--keep"),
        ("/what-if.json", "--keep"),
        ("/crawl.json", "--store"),
        ("/why.json?url=/contact.html", "--store"),
        ("/plan.json", "--store"),
    ],
)
def test_a_view_of_what_is_not_open_says_which_option_it_needs(
    tmp_path: Path, path: str, needed: str
) -> None:
    with opened(tmp_path) as browser:
        status, _, text = browser.ask(path, Cookie=browser.cookie)
    assert status == 400
    assert re.search(rf"this view needs [^;]*{needed} FILE", text)


def test_a_title_has_the_name_of_the_studio_once(browser: Client) -> None:
    assert "<title>Honeyguide studio</title>" in browser.get("/")
    assert "<title>Pick – Honeyguide studio</title>" in browser.get("/pick")


def test_a_site_has_picks_and_all_candidates_with_their_rules(browser: Client, made: Made) -> None:
    record = json.loads((made.folder / "picks.jsonl").read_text("utf-8"))
    text = browser.get("/pick/site?n=0")
    for page in record["selected"]:
        assert page["url"] in text
    for page in record["candidates"]:
        assert page["rejected"] is None or page["rejected"]["rule"] in text


def test_pages_are_searched_filtered_sorted_and_paged(browser: Client) -> None:
    every = browser.json("/crawl/pages.json?run=1&sort=oldest")
    assert len(every) > 5
    assert [one["url"] for one in browser.json("/crawl/pages.json?run=1&sort=newest")] == [
        one["url"] for one in reversed(every)
    ]
    assert [one["url"] for one in browser.json("/crawl/pages.json?run=1&search=gutt")] == [
        one["url"] for one in every if "gutt" in one["url"]
    ]
    assert browser.json("/crawl/pages.json?run=1&search=50%25_") == []
    assert browser.json("/crawl/pages.json?run=1&sort=oldest&offset=2")[0] == every[2]
    scores = [one["relevance_score"] or 0 for one in browser.json("/crawl/pages.json?run=1&sort=score")]
    assert scores == sorted(scores, reverse=True)
    relevant = browser.json("/crawl/pages.json?run=1&filter=relevant")
    assert relevant == [one for one in reversed(every) if (one["topic_relevance"] or 0) >= 0.5]


def test_a_word_is_searched_because_it_is_no_address(browser: Client) -> None:
    found = browser.json("/why.json?url=gutters")
    assert [record["url"].rpartition("/")[2] for record in found] == ["gutters"]
    assert browser.json("/why.json?url=nowhere") == []


def test_why_is_the_record_of_explain(browser: Client, made: Made) -> None:
    said = run("explain", "/gutters", "--store", f"{made.folder}/store.db", "--format", "jsonl").stdout
    assert browser.json("/why.json?url=/gutters")["steps"] == json.loads(said)["steps"]
    assert browser.json("/why.json?url=/gutters")["url"] == json.loads(said)["url"]


def test_why_begins_with_what_became_of_the_url(browser: Client) -> None:
    text = browser.get("/why?url=/gutters")
    assert text.index("<b>It was fetched as number") < text.index('<ol class="box steps"')


def test_a_site_says_that_changes_are_only_tried(made: Made) -> None:
    with opened(made.folder) as browser:
        assert "without your changes" not in browser.get("/pick/site?n=0")
        browser.post("/what-if/profile", {"key": "points:kind:team", "value": 99})
        assert "without your changes" in browser.get("/pick/site?n=0")


def test_a_page_is_found_and_each_way_to_get_it_in_was_tried(made: Made) -> None:
    with opened(made.folder) as browser:
        (found,) = [one for one in browser.json("/pick/find.json?search=windows") if not one["rank"]]
        query = urlencode({"n": 0, "url": found["url"]})
        assert "/pick/ways?" in browser.get("/pick/find?search=windows")
        ways = browser.json(f"/pick/ways.json?{query}")
        assert ways
        for way in ways:
            answer = browser.post("/what-if/profile", {"key": way["key"], "value": way["value"]})
            assert answer["problems"] == []
            came = [
                one["url"]
                for event in browser.events("/what-if/events")
                for one in event.get("changes", ())
                if one["change"] == "entered"
            ]
            assert found["url"] in came, way["words"]
            assert "already get it in" in (text := browser.get(f"/pick/ways?{query}"))
            assert "data-try=" not in text
            browser.post("/what-if/profile", {"toml": 'schema = 1\nextends = "company"\nname = "mine"\n'})
        text = browser.get(f"/pick/ways?{query}")
        assert text.count("data-try=") == len(ways)
        assert "<script>alert" not in text
        assert browser.ask("/pick/ways?n=0&url=https://nobody.example/", Cookie=browser.cookie)[0] == 400
        assert "No homepage links such a page" in browser.get("/pick/find?search=nothing-like-it")


def test_the_tree_of_a_large_run_is_drawn_and_can_be_counted(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = str(made.folder / "store.db")
    prefix = f"{made.address.split('/')[2]}/"
    (all_sites, is_exact), below = list_branches(store, 1, ""), list_branches(store, 1, prefix)[0]
    assert is_exact
    monkeypatch.setattr(
        browse.StoreBrowser, "_share", lambda *_: 0.95
    )  # some are drawn, whatever their hashes
    drawn, is_exact = list_branches(store, 1, "")
    assert not is_exact
    assert {one.name for one in drawn} <= {one.name for one in all_sites}
    assert list_branches(store, 1, "", is_exact=True) == (all_sites, True)
    assert list_branches(store, 1, prefix) == (
        below,
        True,
    )  # three times as many are drawn there, and that is all of them
    monkeypatch.setattr(browse, "_BELOW", 0)
    assert list_branches(store, 1, prefix) == (below, True)  # nothing was drawn, so all are counted
    assert sum(one.urls for one in all_sites) == 10


def test_of_a_large_run_the_newest_pages_are_searched_first(
    browser: Client, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, query = str(made.folder / "store.db"), PageQuery(1, sort="url")
    everything, is_exact = list_pages(store, query)
    assert is_exact
    assert "which takes seconds" not in browser.get("/crawl/pages?run=1&sort=url")
    monkeypatch.setattr(browse, "DRAWN", 3)
    newest, is_exact = list_pages(store, query)
    assert not is_exact
    last = {
        one["url"] for one in list_pages(store, PageQuery(1, limit=3))[0]
    }  # in the order of an index, however many there are
    assert [one["url"] for one in newest] == sorted(last)
    assert list_pages(store, PageQuery(1, sort="url", is_exact=True)) == (everything, True)
    text = browser.get("/crawl/pages?run=1&sort=url")
    assert "from its newest" in text
    assert "sort=url&amp;all=1" in text
    assert "from its newest" not in browser.get("/crawl/pages?run=1&sort=url&all=1")


def test_the_summary_of_a_large_run_is_an_estimate_and_says_so(
    browser: Client, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = str(made.folder / "store.db")
    exact, first = read_summary(store, 1, is_exact=True), read_summary(store, 1)
    assert (first.counts, first.is_exact) == (
        exact.counts,
        True,
    )  # of a small run all URLs are counted, by either query
    monkeypatch.setattr(
        browse.StoreBrowser, "_share", lambda *_: 0.95
    )  # some are drawn, whatever their hashes
    drawn = read_summary(store, 1)
    assert not drawn.is_exact
    assert drawn.counts.fetched == exact.counts.fetched
    assert 0 < sum(drawn.counts.states.values()) < 3 * sum(exact.counts.states.values())
    assert "counts of URLs are estimates" in browser.get("/crawl/summary?run=1")
    assert "counts of URLs are estimates" not in browser.get("/crawl/summary?run=1&all=1")


def test_the_plan_of_a_large_store_ranks_a_part_and_says_so(
    browser: Client, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = str(made.folder / "store.db")
    whole = read_plan(store, 100)
    assert whole.urls is None
    assert whole.fresh.curve
    monkeypatch.setattr(stores, "_LARGE", 1)
    monkeypatch.setattr(stores, "MAX_RANKED", 6)
    monkeypatch.setattr(stores, "_LISTED", 6)
    part = read_plan(store, 100)
    assert part.urls == 10
    assert part.fresh.curve is None
    urls = [one.scored.url for one in part.plan.entries]
    assert 0 < len(urls) < len(whole.plan.entries)
    assert set(urls) < {one.scored.url for one in whole.plan.entries}
    assert "Rank all of them" in browser.get("/plan")
    assert "Rank all of them" not in browser.get("/plan?all=1")


def test_every_view_of_a_database_is_that_of_a_file(made: Made, tmp_path: Path) -> None:
    """The address of the database, which has a password in it, is on no page."""
    from postgres_server import server

    database = server().new_database()
    for store in (str(tmp_path / "store.db"), database):
        large_store.make(store, 200, 50, 3)
    (tmp_path / "kept.db").write_bytes((made.folder / "kept.db").read_bytes())
    paths = ["/crawl/pages?run=1&search=page-1&sort=score", "/crawl/tree?run=1&below=www.host-1.example/"]
    paths += [f"/crawl/{view}?run=1" for view in ("pages", "summary", "tree", "live", "live/events")]
    paths += ["/crawl", "/why?url=https://www.host-1.example/section-0/topic-0/page-0"]
    with opened(tmp_path) as one, opened(tmp_path, database) as other:
        for path in paths:
            text = other.get(path)
            assert text == one.get(path), path
            assert "not-to-be-seen" not in text
        assert "best visits" in other.get("/plan")


def test_what_changes_slowly_is_told_live(browser: Client) -> None:
    *_, last = browser.events("/crawl/live/events?run=1")
    assert {"queue", "rejected", "learnt", "hosts"} == last["html"].keys()
    assert "<script" not in "".join(last["html"].values())


def test_freshness_rises_with_the_budget_and_visits_by_worth_are_no_worse(made: Made) -> None:
    fresh = read_freshness(str(made.folder / "store.db"))
    assert sum(fresh.intervals.values()) == fresh.pages > 0
    assert fresh.curve
    best = [point.best for point in fresh.curve]
    assert best == sorted(best)
    assert all(0 <= point.equal <= point.best + 1e-6 <= 1 + 2e-6 for point in fresh.curve)


def test_the_tree_counts_what_the_store_has(browser: Client) -> None:
    (top,) = [one for one in browser.json("/crawl/tree.json?run=1") if one["fetched"]]
    below = browser.json(f"/crawl/tree.json?run=1&below={top['name']}/")
    assert {one["name"] for one in below} >= {"services", "about", "blog/"}
    assert sum(one["fetched"] for one in below) == top["fetched"]


def test_a_run_is_told_live(browser: Client) -> None:
    (event,) = browser.events("/crawl/live/events?run=1")
    assert event["done"]
    assert int(event["fetched"]) == len(browser.json("/crawl/pages.json?run=1"))


def test_mistakes_in_an_address_are_one_sentence(browser: Client) -> None:
    for path in (
        "/crawl/pages?run=x",
        "/crawl/pages?run=1&sort=evil",
        "/pick/site?n=99",
        "/why?url=/no/such",
        "/crawl/live?run=9",
    ):
        status, _, text = browser.ask(path, Cookie=browser.cookie)
        assert status == 400
        assert "Traceback" not in text


def test_looking_changes_no_file(made: Made) -> None:
    before = {path: path.read_bytes() for path in made.folder.iterdir()}
    with opened(made.folder) as browser:
        for path in SHOWN:
            browser.get(path)
        browser.post("/what-if/profile", {"key": "cap::cap", "value": 2})
        browser.events("/what-if/events")
    assert {path: path.read_bytes() for path in made.folder.iterdir()} == before


# --- what if ---


def test_one_number_changes_text_picks_and_equals_a_replay(
    made: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with opened(made.folder) as browser:
        state = browser.post("/what-if/profile", {"key": "points:kind:team", "value": 99})
        assert state["problems"] == []
        assert '{ id = "team", points = 99 }' in state["toml"]
        assert state["controls"]["points:kind:team"] == 99
        *sites, last = browser.events("/what-if/events")
        assert last["changed"] == 1
        came = [one["url"] for one in sites[0]["changes"] if one["change"] == "entered"]
        assert came == [f"{made.address}team"]
        assert sites[0]["changes"][0]["reason"]
        assert browser.post("/what-if/save", {"what": "profile", "path": "mine.toml"})["saved"] == str(
            tmp_path / "mine.toml"
        )
        what_if = browser.studio.sources.what_if
        assert what_if is not None
    with opened_kept_pick(str(made.folder / "kept.db"), keeps=False, replays=True) as kept_pick:
        again = WhatIf(kept_pick)
        again.change((tmp_path / "mine.toml").read_text("utf-8"))
        record = asyncio.run(again.record(made.address))
    kept = str(made.folder / "kept.db")
    written = run(
        "pick",
        made.address,
        "--replay",
        kept,
        "--profile",
        "mine.toml",
        "--no-timings",
        "--format",
        "jsonl",
        "--quiet",
    ).stdout
    assert f"{json.dumps(record, ensure_ascii=False)}\n" == written


def test_text_and_controls_are_in_step(made: Made) -> None:
    with opened(made.folder) as browser:
        text = browser.json("/what-if.json")["toml"]
        state = browser.post(
            "/what-if/profile", {"toml": f"{text}[strategy.portfolio]\ncap = 2\nquota = {{ hub = 1 }}\n"}
        )
        assert (state["controls"]["cap::cap"], state["controls"]["quota::hub"]) == (2, 1)
        state = browser.post(
            "/what-if/profile", {"key": "words::hub_names", "value": ["gutters", "services"]}
        )
        assert '"gutters"' in state["toml"]
        assert "cap = 2" in state["toml"]
        assert state["controls"]["words::hub_names"] == ["services", "gutters"]


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ("[[[\n", 5),
        ("[strategy.portfolio]\ncap = 'x'\n", 6),
        ('[terms]\nhub_names = { remove = ["nothing"] }\n', 6),
    ],
)
def test_a_mistake_is_shown_at_its_line_and_changes_nothing(made: Made, more: str, line: int) -> None:
    with opened(made.folder) as browser:
        text = browser.json("/what-if.json")["toml"]
        state = browser.post("/what-if/profile", {"toml": text + more})
        assert [one["line"] for one in state["problems"]] == [line]
        assert (state["toml"], state["version"]) == (text, 0)


def test_a_hostile_profile_and_a_hostile_label_are_text(made: Made) -> None:
    with opened(made.folder) as browser:
        text = browser.json("/what-if.json")["toml"].replace(
            "with changes of ours", "</textarea><script>alert(1)</script>"
        )
        state = browser.post("/what-if/profile", {"toml": text})
        assert (state["problems"], state["toml"]) == ([], text)
        state = browser.post(
            "/what-if/profile", {"key": "words::hub_names", "value": ["</textarea><img src=x>", "services"]}
        )
        assert state["problems"] == []
        page = browser.get("/what-if")
        assert "<script>alert" not in page
        assert "<img" not in page
        browser.post("/what-if/label", {"site": made.address, "url": '"><img src=x>', "label": "core"})
        *_, last = browser.events("/what-if/events")
        assert "<img" not in last["html"]
        assert "<img" not in browser.get("/pick/site?n=0")


def test_too_much_is_refused(browser: Client) -> None:
    status, *_ = browser.ask(
        "/what-if/profile", "POST", " " * 3_000_000, Cookie=browser.cookie, Origin=browser.origin
    )
    assert status == 413
    assert browser.post("/what-if/profile", {"toml": f"# {'x' * 1_500_000}\n"})["problems"]


def test_labels_give_figures_and_are_saved_as_eval_reads_them(
    made: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with opened(made.folder) as browser:
        for name, label in (("services", "core"), ("about", "core"), ("team", "junk")):
            sent = {"site": made.address, "url": f"{made.address}{name}", "label": label}
            assert browser.post("/what-if/label", sent)["label"] == label
        browser.post("/what-if/profile", {"key": "points:kind:team", "value": 99})
        *_, last = browser.events("/what-if/events")
        assert "junk picks" in last["html"]
        assert "before" in last["html"]
        assert browser.post("/what-if/save", {"what": "labels", "path": "labels.jsonl"})["saved"]
        assert browser.post("/what-if/label", {"site": "http://other.example", "url": "x", "label": "core"})[
            "error"
        ]
        assert browser.post("/what-if/label", {"site": made.address, "url": "x", "label": "evil"})["error"]
    said = run("eval", str(made.folder / "picks.jsonl"), "--gold", "labels.jsonl", "--format", "jsonl").stdout
    assert json.loads(said.splitlines()[0])["core"] == 2


@pytest.mark.parametrize("path", ["other.txt", "/etc/passwd", "a\0.toml", 7])
def test_nothing_else_is_ever_written(browser: Client, path: object) -> None:
    assert browser.post("/what-if/save", {"what": "profile", "path": path})["error"]


def test_a_file_that_exists_is_replaced_only_if_the_user_says_so(made: Made, tmp_path: Path) -> None:
    target = tmp_path / "mine.toml"
    target.write_text("precious", "utf-8")
    sent = {"what": "profile", "path": str(target)}
    with opened(made.folder) as browser:
        for replace in (None, False, "yes", 1):
            answer = browser.post("/what-if/save", {**sent, "replace": replace})
            assert answer == {"exists": str(target), "said": f"{target} exists already. Nothing was written."}
            assert target.read_text("utf-8") == "precious"
        assert browser.post("/what-if/save", {**sent, "replace": True})["saved"] == str(target)
        assert target.read_text("utf-8") == browser.json("/what-if.json")["toml"]
        assert "exists" in browser.post("/what-if/save", sent)  # also what this studio has saved
    assert list(tmp_path.iterdir()) == [target]


def test_labels_say_where_they_are(made: Made, tmp_path: Path) -> None:
    sent = {"site": made.address, "url": f"{made.address}services", "label": "core"}
    with opened(made.folder) as browser:
        sources = browser.studio.sources
        assert "No page is labelled yet" in browser.get("/pick/site?n=0")
        assert unsaved(sources) == ""
        said = browser.post("/what-if/label", sent)["said"]
        assert said == "1 page of 1 site is labelled. The labels are only in this studio until you save them."
        assert said in browser.get("/pick/site?n=0")
        assert said in browser.get("/what-if")
        browser.post("/what-if/profile", {"key": "cap::cap", "value": 2})
        assert unsaved(sources) == "1 label and a changed profile"
        answer = browser.post("/what-if/save", {"what": "labels", "path": str(tmp_path / "labels.jsonl")})
        assert answer["labels"] == "1 page of 1 site is labelled, and saved."
        browser.post("/what-if/save", {"what": "profile", "path": str(tmp_path / "mine.toml")})
        assert unsaved(sources) == ""
        browser.post("/what-if/label", {**sent, "label": "junk"})
        assert unsaved(sources) == "1 label"


def test_tables_are_written_as_toml_reads_them() -> None:
    import tomllib

    table = {
        "schema": 1,
        "terms": {"a b": ["x", 'y"', "del\x7f"]},
        "strategy": {"s": {"cap": 2, "quota": {"hub": 1}, "drop": [{"id": "d", "remove": True}]}},
        "scorecard": {
            "w": {
                "group": [
                    {"name": "kind", "rules": [{"id": "r", "points": 1.5, "when": {"a": {"is": ["b"]}}}]}
                ]
            }
        },
    }
    assert tomllib.loads(toml_text(table)) == table
