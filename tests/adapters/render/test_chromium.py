"""The browser of --render: no way out, and every page ends in the limits. Needs honeyguide[render] and Chromium (tools/check_render.py)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

import pytest
from hostile_page import Listeners, listening

pytest.importorskip("playwright", reason="needs honeyguide[render]: tools/check_render.py runs it")

from honeyguide.adapters.render.browser import Browser, RenderLimits, find_browser
from honeyguide.core.url.url import Url
from honeyguide.errors import FetchError, ForbiddenError, InputError, TimedOutError
from honeyguide.ports.fetch import Fetched, Headers

try:
    find_browser()
except InputError as missing:
    pytest.skip(str(missing), allow_module_level=True)

PAGE = Url.parse("http://acme.example/")
QUICK = RenderLimits(time_s=2.0, settle_s=0.3, read_s=2.0)


@dataclass
class Net:
    """Answers what a page requests, and remembers it."""

    files: dict[str, Fetched] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def answer(self, url: Url, _kind: str) -> Fetched:
        self.asked.append(url.as_linked)
        if url.path not in self.files:
            raise ForbiddenError(url.as_linked, "not here")
        return self.files[url.path]


def page_of(html: str, kind: str = "text/html; charset=utf-8", url: Url = PAGE) -> Fetched:
    return Fetched(url, url, 200, Headers(content_type=kind), html.encode())


def rendered(
    html: str, limits: RenderLimits = QUICK, net: Net | None = None, *, is_isolated: bool = True
) -> str:
    async def run() -> str:
        browser = Browser("honeyguide-test", limits, is_isolated)
        try:
            return await browser.render(page_of(html), (net or Net()).answer)
        finally:
            await browser.close()

    return asyncio.run(run())


@pytest.fixture
def listeners() -> Iterator[Listeners]:
    with listening() as found:
        yield found


async def _unguarded(html: str) -> None:
    """Open the page in a browser as playwright starts it: what the listeners see then is what there is to stop."""
    from playwright.async_api import async_playwright

    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=str(find_browser()))
        page = await browser.new_page()
        await page.route(PAGE.as_linked, lambda route: route.fulfill(body=html, content_type="text/html"))
        await page.goto(PAGE.as_linked, wait_until="commit")
        await asyncio.sleep(3)
        await browser.close()


class TestWaysOut:
    def test_a_browser_without_our_guards_reaches_the_listeners(self, listeners: Listeners) -> None:
        asyncio.run(_unguarded(listeners.page))
        assert len(listeners.tcp) > 5
        assert listeners.udp
        assert listeners.names is None or len(listeners.names) > 2

    @pytest.mark.parametrize("is_isolated", [True, False], ids=["no network interface", "settings alone"])
    def test_nothing_leaves_ours(self, listeners: Listeners, is_isolated: bool) -> None:
        net = Net()
        limits = QUICK._replace(time_s=10.0, settle_s=2.5)  # the page leaves itself after 2 s
        html = rendered(listeners.page, limits, net, is_isolated=is_isolated)
        assert "tried 3" in html
        assert (listeners.tcp, listeners.udp, listeners.names or []) == ([], [], [])
        assert any("/fetch" in url for url in net.asked)  # it came to us, and was refused

    def test_a_redirect_that_is_answered_leads_nowhere(self, listeners: Listeners) -> None:
        at = Url.parse("http://acme.example/redirect")
        there = f"http://127.0.0.1:{listeners.tcp_port}/"
        net = Net({"/redirect": Fetched(at, at, 302, Headers(location=there))})
        rendered("<script>fetch('/redirect')</script>", net=net, is_isolated=False)
        assert net.asked == ["http://acme.example/redirect"]
        assert listeners.tcp == []


class TestLimits:
    def test_an_endless_script_ends_and_the_page_is_read_as_it_is(self) -> None:
        assert "<p>Hello</p>" in rendered("<p>Hello</p><script>for (;;) {}</script>")

    def test_endless_scripts_one_after_the_other_end_too(self) -> None:
        again = "<script>for (;;) {}</script>" * 50 + "<script>setInterval(() => { for (;;) {} }, 0)</script>"
        with pytest.raises(TimedOutError, match="did not end in 2 s") as error:
            rendered(f"<p>Hello</p>{again}")
        assert error.value.url == PAGE.as_linked

    def test_an_endless_worker_does_not_hold_up_the_page(self) -> None:
        code = "new Worker(URL.createObjectURL(new Blob(['for (;;) {}'])))"
        assert "Hello" in rendered(f"<p>Hello</p><script>{code}</script>")

    @pytest.mark.parametrize(
        "code",
        [
            "let n = 0; const again = () => { alert(n++); setTimeout(again, 0); }; again()",
            "setInterval(() => { confirm('x'); prompt('y'); }, 10); onbeforeunload = () => 'stay'",
            "setInterval(() => open('about:blank'), 10)",
            "setInterval(() => document.body.append('more '), 1)",
            "setInterval(() => { location.href = '/again'; }, 50)",
            "setInterval(() => { const a = document.createElement('a'); a.download = 'x'; a.href = URL.createObjectURL(new Blob(['x'])); a.click(); }, 50)",
            "const f = () => { fetch('/more').catch(() => 0).then(() => setTimeout(f, 1)) }; f()",
            "print(); Notification.requestPermission(); navigator.geolocation.getCurrentPosition(() => 0)",
        ],
        ids=["alerts", "dialogs", "pop-ups", "growth", "navigation", "downloads", "requests", "permissions"],
    )
    def test_a_page_that_does_not_end_is_read_as_it_is(self, code: str) -> None:
        net = Net()
        html = rendered(f"<p>Hello</p><script>{code}</script>", net=net)
        assert "<p>Hello</p>" in html
        assert len(net.asked) <= QUICK.max_requests

    def test_an_alert_loop_without_a_pause_ends(self) -> None:
        try:
            html = rendered("<p>Hello</p><script>for (;;) alert(1)</script>")
        except FetchError as error:
            html = f"<p>Hello</p> {error}"
        assert "<p>Hello</p>" in html

    def test_a_page_may_not_grow_beyond_a_limit(self) -> None:
        code = "document.body.textContent = 'x'.repeat(1000000)"
        html = rendered(f"<p>Hello</p><script>{code}</script>", QUICK._replace(max_chars=10_000))
        assert len(html) <= 10_000 + len("<!DOCTYPE html>")

    def test_answers_are_bounded_together(self) -> None:
        at = Url.parse("http://acme.example/big")
        net = Net({"/big": Fetched(at, at, 200, Headers("text/plain"), b"x" * 1000)})
        code = "(async () => { for (let n = 0; n < 5; n++) try { await fetch('/big?' + n); document.body.append('+') } catch { document.body.append('-') } })()"
        html = rendered(f"<body><script>{code}</script>", QUICK._replace(max_bytes=2_500), net)
        assert "++---" in html

    def test_images_styles_frames_and_posts_are_not_requested(self) -> None:
        net = Net()
        rendered(
            "<link rel=stylesheet href=/a.css><img src=/a.png><iframe src=/f></iframe><script src=/a.js></script>"
            "<script>fetch('/post', {method: 'POST'}).catch(() => 0); fetch('/get').catch(() => 0)</script>",
            net=net,
        )
        assert sorted(net.asked) == ["http://acme.example/a.js", "http://acme.example/get"]

    def test_a_script_gets_no_more_memory_than_the_limit(self) -> None:
        code = "const kept = []; while (kept.length < 64) { const b = new Uint8Array(64e6); b.fill(1); kept.push(b); } document.body.append('has it')"
        try:
            html = rendered(f"<body><script>{code}</script>", QUICK._replace(time_s=60.0, data_kb=1_000_000))
        except FetchError as error:
            html = str(error)
        assert ">has it<" not in html.replace("</script>", "")


class TestRestart:
    def test_after_a_crash_the_next_page_has_a_new_browser(self) -> None:
        async def run() -> tuple[list[str], int]:
            browser, net = Browser("honeyguide-test", QUICK), Net()
            said = []
            try:
                for html in ("<p>one</p>", "<script>for (;;) {}</script>" * 50, "<p>three</p>"):
                    try:
                        said.append(await browser.render(page_of(html), net.answer))
                    except FetchError as error:
                        said.append(type(error).__name__)
                    if "one" in html:
                        await browser.newest.close()  # as a crash would
            finally:
                await browser.close()
            return said, browser.started

        said, started = asyncio.run(run())
        assert "<p>one</p>" in said[0]
        assert said[1] == "TimedOutError"
        assert "<p>three</p>" in said[2]
        assert started >= 2


Answer = Callable[[Url, str], Awaitable[Fetched]]


def test_the_page_cannot_change_how_it_is_read() -> None:
    code = "Object.defineProperty(Element.prototype, 'outerHTML', {get: () => 'lie'}); String.prototype.slice = () => 'lie'"
    assert "lie" not in rendered(
        f"<p>Hello</p><script>{code.replace('lie', 'l' + chr(92) + 'x69e')}</script>"
    )


def test_chance_is_the_same_each_time() -> None:
    html = "<body><script>document.write(Math.random(), ' ', Math.random())</script>"
    assert rendered(html) == rendered(html)


def test_another_origin_is_read_only_if_it_allows_that() -> None:
    code = (
        "for (const path of ['/closed', '/open']) fetch('http://other.example' + path).then(a => a.text())"
        ".then(t => document.body.append(t + ' read '), () => document.body.append(path + ' kept '))"
    )
    at = Url.parse("http://other.example/")
    net = Net(
        {
            "/closed": Fetched(at, at, 200, Headers("text/plain"), b"secret"),
            "/open": Fetched(at, at, 200, Headers("text/plain", allow_origin="*"), b"public"),
        }
    )
    html = rendered(f"<body><script>{code}</script>", net=net)
    assert "/closed kept" in html
    assert "public read" in html
    assert "secret" not in html
