"""`Focus` and `judge_links`: what a crawl decides, for programs that fetch pages themselves."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from honeyguide import Focus, InputError, UrlError, crawl, judge_links, parse_page
from honeyguide.core.fetching import FetchPolicy
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

SITE = "https://docs.example"


def site(seed: int = 7, count: int = 60) -> dict[str, bytes]:
    """Make a site of sections, some of them about the topic."""
    chance = random.Random(seed)  # noqa: S311 - a site, not a secret
    words = ["fire", "alarm", "kitchen", "garden", "water", "roof"]
    names = [f"/{chance.choice(words)}-{number}" for number in range(count)]
    pages = {}
    for name in ["/", *names]:
        linked = chance.sample(names, 6)
        anchors = "".join(f'<li><a href="{SITE}{link}">{link[1:].replace("-", " ")}</a>' for link in linked)
        text = f"<p>All about {name[1:]}: {' '.join(chance.choices(words, k=60))}.</p>"
        pages[SITE + name] = (
            f"<title>{name}</title><main><h1>{name}</h1>{text}<ul>{anchors}</ul></main>".encode()
        )
    return pages


def focused(pages: Mapping[str, bytes], at_once: int = 1, **settings: object) -> list[str]:
    order: list[str] = []
    with Focus(f"{SITE}/", topic="fire|alarm", clock=FrozenClock(), **settings) as focus:  # type: ignore[arg-type]  # settings
        while urls := focus.next(at_once):
            order += urls
            for url in reversed(urls):  # answers come in any order
                focus.add_page(url, pages[url].decode())
        assert focus.stopped is not None
    return order


@pytest.mark.parametrize("at_once", [1, 3, 100])
@pytest.mark.parametrize("traversal", ["focused", "focused-fixed", "hybrid", "bfs"])
def test_pages_come_in_the_order_of_a_crawl(traversal: str, at_once: int) -> None:
    pages = site()
    fetcher = FakeFetcher(pages)
    policy = FetchPolicy(delay_s=0, jitter=0)
    work = crawl(
        f"{SITE}/", topic="fire|alarm", traversal=traversal, max_pages=40, fetcher=fetcher, policy=policy
    )
    assert focused(pages, at_once, traversal=traversal, max_pages=40) == [page.record["url"] for page in work]


def test_each_page_is_given_back_with_its_reasons() -> None:
    pages = site()
    with Focus(f"{SITE}/", topic="fire") as focus:
        (url,) = focus.next()
        (judged,) = focus.add_page(url, pages[url])
    assert judged.url == f"{SITE}/"
    assert judged.reasons


def test_a_page_that_failed_is_tried_again_behind_all_others_and_then_dropped() -> None:
    pages, asked = site(), []
    with Focus(f"{SITE}/", topic="fire", clock=FrozenClock()) as focus:
        while urls := focus.next():
            for url in urls:
                asked.append(url)
                if len(asked) > 1 and url == asked[1]:
                    focus.add_failure(url)
                else:
                    focus.add_page(url, pages[url])
    assert asked[-2:] == [asked[1]] * 2
    assert len(asked) == len(set(asked)) + 2
    assert focus.stopped is not None


def test_an_answer_that_nobody_asked_for_is_a_sentence() -> None:
    with Focus(f"{SITE}/", topic="fire") as focus:
        focus.next()
        with pytest.raises(InputError, match="not a URL that next"):
            focus.add_page("https://other.example/", "")


def test_a_page_that_cannot_be_added_is_still_missing() -> None:
    with Focus(f"{SITE}/", topic="fire") as focus:
        (home,) = focus.next()
        with pytest.raises(UrlError):
            focus.add_page(home, "", final_url="about:blank")
        assert focus.missing == (home,)
        assert len(focus.add_page(home, "<p>Fire")) == 1
        assert not focus.missing


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"html": None}, "add_page: html must be bytes | str, not NoneType"),
        ({"html": "", "status": "200"}, "add_page: status must be int, not str"),
        ({"html": "", "status": 10**30}, "field status: must be from 100 to 999"),
        ({"html": "", "links": (link for link in (5,))}, "a str is expected, not int"),
        ({"html": "", "links": f"{SITE}/a"}, r"add_page: links must be Iterable\[str\] | None, not str"),
    ],
)
def test_a_wrong_argument_leaves_the_page_missing(arguments: Any, words: str) -> None:
    with Focus(f"{SITE}/", topic="fire") as focus:
        (home,) = focus.next()
        with pytest.raises(InputError, match=words):
            focus.add_page(home, **arguments)
        focus.add_page(home, "<p>Fire")
        assert focus.stopped is not None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"seeds": None}, r"Focus: seeds must be str | Url | Sequence\[str\], not NoneType"),
        ({"seeds": "https://anna:secret@a.example/"}, "'https://a.example/' has a user or a password in it"),
        ({"seeds": b"https://a.example/"}, "Focus: seeds must be .*, not bytes"),
        ({"topic": ["fire"]}, "Focus: topic must be str | None, not list of str"),
        ({"max_pages": 0}, "field max_pages: must be 1 or more, not 0"),
        ({"max_pages": 2.5}, "Focus: max_pages must be int | None, not float"),
        ({"max_depth": 10**400}, "field max_depth: must be 0 or more, and at most 9,007,199,254,740,992"),
        ({"max_depth": -1}, "field max_depth: must be 0 or more, not -1"),
        ({"scope": "hosts"}, "field scope: no scope is named 'hosts'"),
    ],
)
def test_wrong_settings_are_a_sentence(settings: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Focus(**{"seeds": SITE, "topic": "fire", **settings})


def test_a_reason_may_hold_anything() -> None:
    with Focus(f"{SITE}/", topic="fire") as focus:
        (home,) = focus.next()
        focus.decline(home, "x\ud800")
        assert focus.rejected == {"declined": 1}


@pytest.mark.parametrize("count", [0, -1, "1", -(10**400)])
def test_a_number_of_urls_is_one_or_more(count: Any) -> None:
    with Focus(SITE, topic="fire") as focus, pytest.raises(InputError, match=r"n.* must be"):
        focus.next(count)


def test_a_seed_may_be_a_bare_host_as_of_a_crawl() -> None:
    with Focus("docs.example", topic="fire") as focus:
        assert focus.next() == [f"{SITE}/"]


def test_a_focus_that_is_closed_says_so_and_what_it_misses() -> None:
    with Focus(f"{SITE}/", topic="fire") as focus:
        (home,) = focus.next()
    calls: list[Callable[[], object]] = [
        focus.next,
        lambda: focus.add_page(home, "<p>Fire"),
        lambda: focus.add_failure(home),
        lambda: focus.decline(home, "late"),
        lambda: focus.has_met(home),
        lambda: focus.rejected,
    ]
    for call in calls:
        with pytest.raises(InputError, match=r"^this Focus is closed, and what it knew is gone; begin a new"):
            call()
    assert (focus.missing, focus.stopped) == ((home,), None)
    focus.close()


def test_a_focus_that_nobody_closed_ends_without_a_word() -> None:
    code = f"""
import gc
from honeyguide import Focus, HoneyguideError
for ending in range(2):
    focus = Focus("{SITE}/", topic="fire")
    focus.add_page(*focus.next(), "<a href=/fire>Fire</a>")
    if not ending:
        del focus
        gc.collect()
try:
    Focus("{SITE}/", topic="fire", traversal="none")
except HoneyguideError:
    gc.collect()
"""
    command = [sys.executable, "-W", "error", "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own command
    assert run.stdout + run.stderr == ""


def test_links_that_a_program_does_not_follow_may_be_found_on_another_page() -> None:
    pages = {"/": "<a href=/fire>Fire</a><a href=/alarm>Alarm</a>", "/fire": "<a href=/alarm>Alarm</a>"}
    met, given = [], []
    with Focus(f"{SITE}/", topic="fire") as focus:
        while urls := focus.next(100):
            given.append([url.removeprefix(SITE) for url in urls])
            for url in urls:
                path = url.removeprefix(SITE)
                links = [f"{SITE}/fire#top"] if path == "/" else None
                met += focus.add_page(url, pages.get(path, "<p>Alarm"), links=links)
    assert given == [["/"], ["/fire"], ["/alarm"]]
    assert met[-1].record["parent"] == f"{SITE}/fire"


def test_what_a_page_has_linked_is_met_whatever_became_of_it() -> None:
    with Focus(SITE, topic="fire") as focus:
        (home,) = focus.next()
        focus.add_page(home, "<a href=/fire>Fire</a><a href=/login>Log in</a>")
        assert [focus.has_met(f"{SITE}{path}") for path in ("", "/fire", "/login", "/tea")] == [True] * 3 + [
            False
        ]


def test_a_redirect_off_the_site_is_not_followed() -> None:
    pages = site()
    with Focus(f"{SITE}/", topic="fire|alarm") as focus:
        (home,) = focus.next()
        focus.add_page(home, pages[home])
        (url,) = focus.next()
        (judged,) = focus.add_page(url, "<p>Elsewhere", final_url="https://other.example/")
    assert judged.record["action"] == "dropped"
    assert judged.reasons == ("leads to https://other.example/",)


def test_links_are_judged_as_by_a_crawl_that_knows_none_of_them() -> None:
    html = """<ul><li><a href="/fire">Fire</a><li><a href="/tea">Tea</a><li><a href="/login">Log in</a>
        <li><a href="https://other.example/">Other</a></ul>"""
    judged = {one.url.text: one for one in judge_links(parse_page(html, SITE), topic="fire")}
    assert [one.rejected and one.rejected.rule for one in judged.values()][:2] == [None, None]
    fire, tea, login, other = judged.values()
    assert fire.score is not None
    assert tea.score is not None
    assert fire.worth > tea.worth
    assert fire.score.value > tea.score.value
    assert "topic in URL" in " ".join(fire.reasons) or fire.reasons
    assert login.rejected is not None
    assert other.verdict.kind.value == "outside"
    assert other.reasons


PAGE = '<main><a href="/x1">alarm one</a> <a href="/x2">alarm two</a> <p>alarm alarm {}</p></main>'


def test_links_of_an_answer_that_was_no_page_do_not_count_for_the_next_try() -> None:
    with Focus(SITE, topic="alarm") as focus:
        focus.add_page(focus.next()[0], "", status=503, links=[])
        focus.add_page(focus.next()[0], PAGE)
        assert focus.next(9) == [f"{SITE}/x1", f"{SITE}/x2"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_links_of_two_pages_that_lead_to_one_address_belong_to_each(order: tuple[int, int]) -> None:
    with Focus([f"{SITE}/a", f"{SITE}/b"], topic="alarm") as focus:
        urls = focus.next(9)
        for place in order:
            html, links = PAGE.format(place), [f"{SITE}/x1"]
            focus.add_page(urls[place], html, final_url=f"{SITE}/z", links=links)
        assert focus.next(9) == [f"{SITE}/x1"]
