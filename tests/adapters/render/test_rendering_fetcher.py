"""Which pages `--render` renders, why, and what a site is remembered for; the browser is a fake."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from shell_site import PATHS, SHELL, body_of

from honeyguide.adapters.clock import SystemClock
from honeyguide.adapters.files.kept_responses import ResponseFile
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.http.robots import read_robots
from honeyguide.adapters.render.fetcher import RenderingFetcher
from honeyguide.app.library.rendering import rendered_sites
from honeyguide.app.pick import PickRequest, picker
from honeyguide.config import load_profile
from honeyguide.core.fetching import Access, FetchPolicy
from honeyguide.core.url.url import Url
from honeyguide.errors import FetchError, ForbiddenError, TimedOutError, UnreachableError
from honeyguide.jobs.politeness import PoliteFetcher
from honeyguide.ports.fetch import Fetched, Headers, Part, Validators
from honeyguide.testing.fakes import Answer, FakeFetcher, FrozenClock

HOME = "http://acme.example/"
PROFILE = load_profile("company")
FULL = f"<html><body><script src=/app.js></script>{body_of('/')}</body></html>".encode()
THIN = b"""<html><body><p>We protect buildings from fire, and say no more about it here, because the rest of the story is in our
brochure.</p><script src=/a.js></script></body></html>"""


@dataclass
class FakeBrowser:
    """Gives what a page becomes, by its path; requests the files that it names first."""

    pages: dict[str, str | FetchError] = field(default_factory=dict)
    files: tuple[tuple[str, str], ...] = ()
    rendered: list[str] = field(default_factory=list)
    answers: list[Fetched | FetchError] = field(default_factory=list)
    is_closed: bool = False

    async def render(self, got: Fetched, answer: Any) -> str:
        self.rendered.append(got.url.path)
        for url, kind in self.files:
            try:
                self.answers.append(await answer(Url.parse(url, got.url), kind))
            except FetchError as error:
                self.answers.append(error)
        made = self.pages.get(got.url.path, f"<html><body>{body_of(got.url.path)}</body></html>")
        if isinstance(made, FetchError):
            raise made
        return made

    async def close(self) -> None:
        self.is_closed = True


def fetched(
    web: Any, *paths: str, browser: FakeBrowser, mode: str = "auto", access: Access | None = None
) -> list[Fetched]:
    async def run() -> list[Fetched]:
        source = FakeFetcher(web) if isinstance(web, dict) else web
        robots, policy = lambda body: read_robots(body, "honeyguide"), FetchPolicy(jitter=0)
        polite = PoliteFetcher(source, FrozenClock(), robots, policy)
        browsing: Any = browser
        fetcher = RenderingFetcher(polite, browsing, HtmlReader(), PROFILE, mode, access)
        try:
            return await asyncio.gather(*(fetcher.fetch(Url.parse(path, Url.parse(HOME))) for path in paths))
        finally:
            await fetcher.close()

    return asyncio.run(run())


def why(got: Fetched) -> tuple[str, str] | None:
    return None if got.rendered is None else (got.rendered.why.rule, got.rendered.why.text)


def shells(*paths: str) -> dict[str, Answer]:
    return {Url.parse(path, Url.parse(HOME)).as_linked: SHELL.encode() for path in paths}


def test_a_shell_is_rendered_and_says_why() -> None:
    browser = FakeBrowser()
    (got,) = fetched(shells("/"), "/", browser=browser)
    assert why(got) == ("rendered", "rendered: empty mount point")
    assert b"We plan, install and inspect" in got.body
    assert got.rendered is not None
    assert got.rendered.sent == SHELL.encode()
    assert got.headers.content_type == "text/html; charset=utf-8"
    assert browser.is_closed


def test_a_page_that_was_sent_whole_is_not_rendered() -> None:
    browser = FakeBrowser()
    (got,) = fetched({HOME: FULL}, "/", browser=browser)
    assert (why(got), got.body, browser.rendered) == (None, FULL, [])


def test_always_renders_every_page_that_is_html() -> None:
    browser = FakeBrowser()
    text = Fetched(Url.parse(HOME + "t"), Url.parse(HOME + "t"), 200, Headers("text/plain"), b"<script>")
    got = fetched({HOME: FULL, HOME + "t": text}, "/", "/t", "/missing", browser=browser, mode="always")
    assert [why(one) for one in got] == [("rendered", "rendered"), None, None]
    assert browser.rendered == ["/"]


def test_one_page_in_vain_and_no_other_page_of_the_site_is_rendered() -> None:
    browser = FakeBrowser({"/": SHELL})
    got = fetched(shells("/", "/about", "/team"), "/", "/about", "/team", browser=browser)
    assert browser.rendered == ["/"]
    assert got[0].body == SHELL.encode()
    said = "rendered: empty mount point; that gave +0 links and +0 characters, so no page of its site is rendered"
    assert [why(one) for one in got] == [("rendered-in-vain", said), None, None]


def test_the_first_link_of_a_page_helps() -> None:
    menu = SHELL.replace('<div id="root">', '<div id="root"><a href="/about">About</a>')
    (got,) = fetched(shells("/"), "/", browser=FakeBrowser({"/": menu}))
    assert why(got) == ("rendered", "rendered: empty mount point")
    linked = SHELL.replace('<div id="root">', '<a href="/imprint">Imprint</a><div id="root">')
    more = linked.replace('<div id="root">', '<div id="root"><a href="/about">About</a>')
    (got,) = fetched({HOME: linked.encode()}, "/", browser=FakeBrowser({"/": more}))
    assert (why(got) or ("", ""))[0] == "rendered-in-vain"


def test_where_rendering_helped_weaker_signs_are_enough() -> None:
    alone, together = FakeBrowser(), FakeBrowser()
    assert why(fetched({HOME + "thin": THIN}, "/thin", browser=alone)[0]) is None
    got = fetched({**shells("/"), HOME + "thin": THIN}, "/", "/thin", browser=together)
    said = "rendered: little text beside its scripts, rendering helped on its site"
    assert why(got[1]) == ("rendered", said)


@dataclass
class SlowFirst:
    """A web whose first page answers after all others."""

    web: FakeFetcher
    others: int
    are_there: asyncio.Event = field(default_factory=asyncio.Event)

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators
        if url.path == "/":
            await self.are_there.wait()
        got = await self.web.fetch(url, part=part)
        self.others -= url.path not in ("/", "/robots.txt")
        if self.others == 0:
            self.are_there.set()
        return got


@pytest.mark.parametrize("is_slow", [False, True], ids=["in order", "the first answers last"])
def test_the_first_request_decides_whichever_answer_comes_first(is_slow: bool) -> None:
    paths = ("/", *PATHS[5:9])
    browser = FakeBrowser({"/": SHELL})  # the first gains nothing, the others would
    web = FakeFetcher(shells(*paths))
    got = fetched(SlowFirst(web, len(paths) - 1) if is_slow else web, *paths, browser=browser)
    assert browser.rendered == ["/"]
    assert [why(one) is None for one in got] == [False, True, True, True, True]


def test_scripts_that_do_not_end_leave_the_page_as_it_was_sent() -> None:
    browser = FakeBrowser({"/": TimedOutError(HOME, "its scripts did not end in 30 s")})
    (got,) = fetched(shells("/"), "/", browser=browser)
    assert why(got) == ("not-rendered", "not rendered: its scripts did not end in 30 s")
    assert got.body == SHELL.encode()


def test_a_broken_browser_is_a_failure_of_the_page() -> None:
    browser = FakeBrowser({"/": UnreachableError(HOME, "the browser broke while rendering it")})
    with pytest.raises(UnreachableError, match="the browser broke"):
        fetched(shells("/"), "/", browser=browser)


def test_what_scripts_request_obeys_robots_and_a_script_is_fetched_once() -> None:
    browser = FakeBrowser(files=(("/app.js", "script"), ("/private/data", "fetch")))
    rules = b"User-agent: *\nDisallow: /private/"
    web = FakeFetcher({**shells("/", "/about"), HOME + "robots.txt": rules, HOME + "app.js": b"go()"})
    fetched(web, "/", "/about", browser=browser)
    assert web.requests.count(HOME + "app.js") == 1
    assert HOME + "private/data" not in web.requests
    assert [type(one) for one in browser.answers] == [Fetched, ForbiddenError] * 2


def test_a_page_may_not_use_the_login_of_another_site() -> None:
    browser = FakeBrowser(files=(("http://intern.example/secret", "fetch"), ("/own", "fetch")))
    named = [Url.parse("http://intern.example/"), Url.parse(HOME)]
    access = Access(headers=(("X-Key", "1"),)).limited_to(named)
    web = FakeFetcher({**shells("/"), "http://intern.example/secret": b"secret", HOME + "own": b"own"})
    fetched(web, "/", browser=browser, access=access)
    assert "http://intern.example/secret" not in web.requests
    assert HOME + "own" in web.requests


def test_a_rendered_page_has_no_validators_because_its_shell_stays_the_same() -> None:
    home = Url.parse(HOME)
    sent = Fetched(home, home, 200, Headers("text/html", etag='"1"', last_modified="x"), SHELL.encode())
    (got,) = fetched({HOME: sent}, "/", browser=FakeBrowser())
    assert (got.headers.etag, got.headers.last_modified) == (None, None)


_NOTICE = "<noscript>You need to enable JavaScript to run this app.</noscript><script>go()</script>"
_MENU = "".join(f"<a href=/{number}>Page {number}</a>" for number in range(20))


class TestCard:
    """What `auto` takes for a shell; the rules are scorecard.render of the base profile."""

    @pytest.mark.parametrize(
        ("html", "reason"),
        [
            ('<div id="app"></div><script src=/a.js></script>', "empty mount point"),
            ("<app-root> </app-root><script src=/a.js></script>", "empty mount point"),
            ('<main id="root"><!-- ssr --></main><script src=/a.js></script>', "empty mount point"),
            (_NOTICE + "<p>Acme makes alarms.</p>" * 8, "a notice asks"),
            ("<p>Loading</p><script src=/a.js></script>", "scripts, and hardly any text"),
            (f"<nav>{_MENU}</nav><main></main><script src=/a.js></script>", "a menu, but an empty main part"),
        ],
    )
    def test_a_shell(self, html: str, reason: str) -> None:
        (got,) = fetched({HOME: f"<html><body>{html}</body></html>".encode()}, "/", browser=FakeBrowser())
        assert got.rendered is not None
        assert reason in got.rendered.why.text

    @pytest.mark.parametrize(
        "html",
        [
            "<p>Loading</p>",
            f'<div id="app"></div><script src=/a.js></script><p>{"Text. " * 300}</p>',
            "<p>Acme</p><script type='application/ld+json'>{}</script>" + "<p>Words of ours. </p>" * 20,
            THIN.decode(),
            f'<div id="main-nav"></div><script src=/a.js></script><p>{"Text. " * 60}</p>',
        ],
    )
    def test_no_shell(self, html: str) -> None:
        browser = FakeBrowser()
        fetched({HOME: f"<html><body>{html}</body></html>".encode()}, "/", browser=browser)
        assert browser.rendered == []


def test_the_guide_has_the_limits() -> None:
    from honeyguide.adapters.render.browser import LIMITS

    guide = (Path(__file__).parents[3] / "docs" / "guides" / "rendering.md").read_text("utf-8")
    table = guide.partition("| Limit | Value |")[2].partition("## ")[0]
    said = [
        float(cell.replace(",", ""))
        for cell in re.findall(r"\| ([0-9][0-9.,]*)(?: [^|]*)?\|$", table, re.MULTILINE)
    ]
    assert said == list(LIMITS)


def test_a_pick_that_is_repeated_from_a_file_needs_no_browser(tmp_path: Path) -> None:
    (got,) = fetched(shells("/"), "/", browser=FakeBrowser())
    with ResponseFile(str(tmp_path / "kept"), writes=True) as file:
        file.put(got.url, "page", got)
        (again,) = file.get(got.url, "page") or (None,)
    assert isinstance(again, Fetched)
    assert (again.body, why(again)) == (got.body, why(got))


def test_a_pick_says_that_its_homepage_and_its_pages_are_rendered() -> None:
    """As in tests/journeys/test_render.py, with a fake browser."""

    async def run() -> dict[str, Any]:
        clock, web = SystemClock(), FakeFetcher(shells(*PATHS))
        polite = PoliteFetcher(
            web, clock, lambda body: read_robots(body, "honeyguide"), FetchPolicy(delay_s=0)
        )
        browsing: Any = FakeBrowser()
        fetcher = RenderingFetcher(polite, browsing, HtmlReader(), PROFILE)
        record: Any = await picker(PickRequest(render="auto", timings=False), fetcher, clock).pick(HOME)
        return dict(record)

    record = asyncio.run(run())
    assert (record["status"], record["reason"]) == ("ok", "the homepage is rendered: empty mount point")
    assert record["options"]["render"] == "auto"
    said = [
        point["reason"]
        for page in record["selected"]
        for point in page["points"]
        if point["rule"] == "rendered"
    ]
    assert said == ["rendered: empty mount point, rendering helped on its site"] * 4


def test_what_a_store_says_of_a_site_is_remembered() -> None:
    def page(url: str, rule: str) -> dict[str, Any]:
        return {"url": url, "points": [{"rule": rule, "points": 0, "reason": "x"}]}

    pages = [
        page("http://a.example/", "rendered-in-vain"),
        page("http://a.example/2", "rendered"),
        page("http://b.example/", "rendered"),
    ]
    assert rendered_sites([page("http://c.example/", "changed"), *pages]) == {
        "a.example": False,
        "b.example": True,
    }
