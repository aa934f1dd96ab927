"""Homepages that do not link their pages in plain markup: frames, few links and a sitemap, menus that are scripts (PICK-21)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import FetchPolicy
from honeyguide.adapters.html.page import forward_of
from honeyguide.adapters.http.robots import read_robots
from honeyguide.app.pick import picker
from honeyguide.core.url.url import Url
from honeyguide.jobs.homepage import MAX_LISTED
from honeyguide.jobs.pick import PickRequest
from honeyguide.jobs.politeness import PoliteFetcher
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

if TYPE_CHECKING:
    from honeyguide.core.records import Record
    from honeyguide.testing.fakes import Answer

A = "https://acme.example"
PROSE = "We mend roofs and gutters in every season, and we have done so for thirty years. " * 4


def page(name: str) -> bytes:
    return f"<title>{name}</title><h1>{name}</h1><p>All about {name}. {PROSE}{name}".encode()


INNER: dict[str, Answer] = {f"/{n}": page(n) for n in ("services", "about", "roof-repair", "gutter-cleaning")}


def sitemap(*paths: str) -> bytes:
    return f"<urlset>{''.join(f'<url><loc>{A}{path}</loc></url>' for path in paths)}</urlset>".encode()


def pick(web: dict[str, Answer], **asked: Any) -> tuple[Record, list[str]]:
    fetcher = FakeFetcher({f"{A}{path}": answer for path, answer in web.items()})
    clock = FrozenClock()
    polite = PoliteFetcher(fetcher, clock, read_robots, FetchPolicy(), forward_of)
    record = asyncio.run(picker(PickRequest(timings=False, **asked), polite, clock).pick(f"{A}/"))
    return record, [url.removeprefix(A) for url in fetcher.requests]


def paths(record: Record) -> list[str]:
    return [Url.parse(item["url"]).path for item in record["selected"]]


HOME = f"<p>{PROSE}<nav><a href=/services>Services</a></nav>".encode()
MAP = sitemap("/", "/services", "/about", "/roof-repair", "/gutter-cleaning", "/welcome-to-the-fair")


@pytest.mark.parametrize(
    "where",
    [{"/sitemap.xml": MAP}, {"/robots.txt": f"Sitemap: {A}/pages.xml".encode(), "/pages.xml": MAP}],
    ids=["guessed", "robots.txt"],
)
def test_the_sitemap_helps_a_homepage_that_links_little(where: dict[str, Answer]) -> None:
    record, asked = pick({"/": HOME, **INNER, **where})
    assert paths(record) == ["/services", "/about", "/roof-repair", "/gutter-cleaning"]
    assert (record["status"], record["reason"]) == (
        "ok",
        "the homepage links to 1 inner page; 4 more come from the sitemap",
    )
    by_path = {Url.parse(c["url"]).path: c for c in record["candidates"]}
    assert by_path["/about"]["positions"] == ["sitemap"]
    assert by_path["/about"]["reasons"] == ["about the company", "only in the sitemap"]
    assert by_path["/welcome-to-the-fair"]["rejected"]["rule"] == "only-sitemap"
    assert record["requests"] == len([path for path in asked if path != "/robots.txt"])


def test_six_inner_pages_need_no_sitemap() -> None:
    links = "".join(f"<a href=/page-{n}>Page {n}</a>" for n in "abcdef")
    _, asked = pick({"/": f"<p>{PROSE}<nav>{links}</nav>".encode(), "/sitemap.xml": MAP})
    assert "/sitemap.xml" not in asked


@pytest.mark.parametrize("strategy", ["rules", "blend"])
def test_other_strategies_keep_to_the_homepage(strategy: str) -> None:
    _, asked = pick({"/": HOME, **INNER, "/sitemap.xml": MAP}, strategy=strategy)
    assert "/sitemap.xml" not in asked


def test_a_sitemap_is_bounded_and_the_shortest_paths_are_taken() -> None:
    many = sitemap(*(f"/a/b/c{n}" for n in range(6_000)))
    index = f"<sitemapindex>{''.join(f'<sitemap><loc>{A}/{n}.xml</loc></sitemap>' for n in range(50))}</sitemapindex>"
    files: dict[str, Answer] = {f"/{n}.xml": sitemap(f"/file-{n}") for n in range(50)}
    record, asked = pick({"/": HOME, **INNER, "/sitemap.xml": index.encode(), **files})
    assert len([path for path in asked if path.endswith(".xml")]) == 5
    record, _ = pick({"/": HOME, **INNER, "/sitemap.xml": sitemap("/about") + many})
    assert len(record["candidates"]) == MAX_LISTED + 1
    assert paths(record) == ["/services", "/about"]


@pytest.mark.parametrize(
    ("menu", "where"),
    [
        (
            "<div data-href=/a></div><div data-href='/b'></div><div data-href=\"/c\"></div>",
            "data-href attributes",
        ),
        ("<select><option value=/a><option value=/b><option value=c.html></select>", "the options of a list"),
        ('<script id="__NEXT_DATA__" type="application/json">{}</script>', "__NEXT_DATA__"),
        ("<b onclick=a()>A</b><b onclick=b()>B</b><b onclick=c()>C</b>", "onclick attributes"),
    ],
)
@pytest.mark.parametrize("strategy", ["portfolio", "rules"])
def test_a_menu_that_is_a_script_is_named(menu: str, where: str, strategy: str) -> None:
    record, _ = pick({"/": HOME + menu.encode(), **INNER}, strategy=strategy)
    assert paths(record) == ["/services"]
    assert (record["status"], record["reason"]) == (
        "partial",
        f"the homepage links to 1 inner page without JavaScript, which only --render auto runs; more are in {where}",
    )


def test_a_site_with_a_script_for_a_menu_is_picked_from_by_its_sitemap() -> None:
    menu = b"<div data-href=/a></div><div data-href=/b></div><div data-href=/c></div>"
    record, _ = pick({"/": HOME + menu, **INNER, "/sitemap.xml": MAP})
    assert record["status"] == "ok"
    assert record["reason"] == (
        "the homepage links to 1 inner page without JavaScript, which only --render auto runs; more are in data-href attributes; "
        "4 more come from the sitemap"
    )


def test_a_menu_in_plain_markup_needs_no_word_about_scripts() -> None:
    links = "".join(f"<a href=/page-{n}>Page {n}</a>" for n in "abcdef")
    record, _ = pick({"/": f'<p>{PROSE}<nav>{links}</nav><script id="__NEXT_DATA__"></script>'.encode()})
    assert "JavaScript" not in (record["reason"] or "")


def test_frames_are_read_as_the_homepage() -> None:
    frames = b"<title>Acme</title><frameset><frame src=/menu><frame src=/main><frame src=https://b.example/></frameset>"
    menu = b"<a href=/services>Services</a><a href=/about>About us</a><a href=/main>Start</a>"
    record, asked = pick({"/": frames, "/menu": menu, "/main": page("main"), **INNER})
    assert paths(record) == ["/services", "/about"]
    assert [path for path in asked if path in ("/menu", "/main")] == ["/menu", "/main"]
    assert record["title"] == "Acme"


def test_a_homepage_that_is_one_frame_or_a_refresh_is_where_that_leads() -> None:
    for home in (
        b"<frameset><frame src=/en/></frameset>",
        b"<meta http-equiv=refresh content='0; url=/en/'>",
    ):
        record, _ = pick({"/": home, "/en/": HOME, **INNER})
        assert (record["homepage"], paths(record)) == (f"{A}/en/", ["/services"])


LANGUAGES = b"<html lang=it><h1>Acme</h1><p><a href=/en/>English</a><p><a href=/it/>Italiano</a>"
ITALIAN = f"<p>{PROSE}<nav>{''.join(f'<a href=/it/{n}>{n}</a>' for n in ('zorbs', 'frabs', 'quells'))}</nav>".encode()


def test_the_page_of_a_language_stands_for_a_homepage_that_only_offers_languages() -> None:
    web: dict[str, Answer] = {
        "/": LANGUAGES,
        "/it/": ITALIAN,
        **{f"/it/{name}": page(name) for name in ("zorbs", "frabs", "quells")},
    }
    record, _ = pick(web)
    assert paths(record) == ["/it/zorbs", "/it/frabs", "/it/quells"]
    assert record["homepage"] == f"{A}/it/"
    assert record["reason"].startswith("the homepage only offers languages; /it is taken for it")


def test_a_language_that_does_not_answer_leaves_the_homepage_as_it_is() -> None:
    record, requests = pick({"/": LANGUAGES})
    assert (record["homepage"], paths(record)) == (f"{A}/", [])
    assert "/it/" in requests
    assert "/en/" not in requests


def test_a_homepage_with_other_pages_beside_languages_is_the_homepage() -> None:
    web: dict[str, Answer] = {"/": LANGUAGES + b"<a href=/services>Services</a>", "/it/": ITALIAN, **INNER}
    record, requests = pick(web)
    assert (record["homepage"], paths(record)) == (f"{A}/", ["/services"])
    assert "/it/" not in requests


def test_strategies_of_the_guides_read_the_homepage_alone() -> None:
    _, requests = pick({"/": LANGUAGES, "/it/": ITALIAN}, strategy="rules")
    assert "/it/zorbs" not in requests
