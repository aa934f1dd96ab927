"""A wrong argument of the library is one sentence that names it, and none is taken in silence."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from pathlib import Path
from typing import Any

import pytest

from honeyguide import (
    Access,
    Focus,
    Head,
    HoneyguideError,
    StoreError,
    classify,
    crawl,
    export_pages,
    import_known,
    load_profile,
    observe,
    open_store,
    pick,
    plan_file,
    plan_store,
    relevance_level,
    score_frame,
    score_links,
    score_page,
    select_files,
    select_links,
)

SITE = "https://tea.example/"


def added(**arguments: Any) -> object:
    with Focus(SITE, topic="tea") as focus:
        return focus.add_page(focus.next()[0], "<p>Tea", **arguments)


def headers(*given: Any) -> object:
    return Access(*given)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: added(final_url="/rel"), "field final_url: not an http(s) URL: '/rel': it is relative"),
        (lambda: added(links=[SITE, "/rel"]), "field links: not an http(s) URL: '/rel': it is relative"),
        (lambda: added(links=["mailto:a@b.example"]), "field links: not an http(s) URL: 'mailto:a@b.example'"),
        (lambda: select_links("", "/rel"), "field base: not an http(s) URL: '/rel'"),
        (lambda: select_links("", SITE, heads={"/rel": Head("Tea")}), "field heads: not an http(s) URL"),
        (lambda: observe("new.db", "/rel"), "field url: not an http(s) URL: '/rel'"),
        (lambda: classify("/a", "/rel"), "field page: not an http(s) URL: '/rel'"),
        (lambda: crawl(["tea.example", "/rel"]), "field seeds: not an http(s) URL: '/rel'"),
        (lambda: crawl(SITE, topic="tea("), "field topic: pattern 'tea(': missing )"),
        (lambda: crawl(SITE, include="tea("), "field include: pattern 'tea(': missing )"),
        (lambda: pick(SITE, exclude=["tea", "("]), "field exclude: pattern '(': missing )"),
        (lambda: load_profile("docs", topic="("), "field topic: pattern '(': missing )"),
        (lambda: list(export_pages("known.db", path="(")), "field path: pattern '(': missing )"),
        (lambda: plan_file("ok.csv", policy="zz"), "field policy: there is no policy 'zz'; there are learned"),
        (lambda: import_known([], "new.db"), "field paths: names no file; give at least one"),
        (lambda: plan_file([]), "field paths: names no file; give at least one"),
        (lambda: list(select_files([], base=SITE)), "field paths: names no file; give at least one"),
        (lambda: import_known("ok.csv", "new.db", kind="xls"), "field kind: no format is named 'xls'; there are"),
        (lambda: list(score_links("ok.csv", topic="t", input_format="xls")), "field input_format: no format is"),
        (lambda: plan_file("other.csv"), 'but site, when; columns={"url": NAME} says which one it is'),
        (lambda: score_frame([1]), "field frame: should be a frame of polars, pandas or pyarrow, not list"),
        (lambda: headers({"X-Key": "1"}), 'access: headers: must be pairs of texts, such as (("X-Key", "1"),)'),
        (lambda: headers((("X-Key", 1),)), "access: headers: must be pairs of texts"),
        (lambda: headers((), (("a", "b"),)), "access: logins: must be tuples of three texts"),
        (lambda: score_page(topic="tea"), "score_page: nothing is given; give the page, or title, headings"),
        (lambda: score_page(None, topic="tea"), "score_page: nothing is given"),
        (lambda: export_pages("known.db", min_relevance=5), "field min_relevance: 5 is no score; they go from 0"),
        (lambda: export_pages("known.db", min_relevance=nan), "field min_relevance: nan is no score"),
        (lambda: export_pages("known.db", min_score=-1), "field min_score: -1 is no score"),
        (lambda: crawl(SITE, related=["mug"]), "field topic: crawl: related words belong to a topic: give one"),
        (lambda: relevance_level(99), "field score: 99 is no score; they go from 0 to 10"),
        (lambda: open_store(":memory:"), ":memory:: would keep nothing, and a store lasts: name a file"),
        (lambda: list(crawl(SITE, store=":memory:")), ":memory:: would keep nothing"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_named_and_none_is_taken_in_silence(
    call: Callable[[], object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ok.csv").write_text(f"url\n{SITE}\n", "utf-8")
    Path("other.csv").write_text(f"site,when\n{SITE},2024-01-01\n", "utf-8")
    observe("known.db", SITE)
    files = {file.name for file in tmp_path.iterdir()}
    with pytest.raises(HoneyguideError) as error:
        call()
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert {file.name for file in tmp_path.iterdir()} == files


def test_a_page_may_say_nothing() -> None:
    assert [score_page(title="", topic="tea").value, score_page("", title="", topic="tea").value] == [0, 0]


def test_a_crawl_without_time_says_so() -> None:
    work = crawl(SITE, max_time_s=0)
    assert list(work) == []
    assert work.problem == f"{SITE}: nothing was received before max_time_s was over"


def test_an_open_store_is_read_and_left_open_and_with_closes_it(tmp_path: Path) -> None:
    with open_store(tmp_path / "known.db") as store:
        observe(store, SITE)
        assert [entry.scored.url for entry in plan_store(store).entries] == [SITE]
        assert list(export_pages(store)) == []
        assert len(store.runs.list()) == 1
    with pytest.raises(StoreError, match="is closed"):
        store.runs.list()
