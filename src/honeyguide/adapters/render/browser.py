"""Chromium without a network: it runs the scripts of one page, and whoever calls answers every request.

Owns: finding and starting the browser, what a page may do, and the limits at which it is stopped. A page is hostile: it has no
name server, no proxy, no UDP, where Linux allows it not even a network interface, and one tab for its time alone. Must not
know: which pages are rendered, robots.txt, HTTP. Start reading at `Browser.render`.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide.core.url.url import Url
from honeyguide.errors import FetchError, InputError, TimedOutError, UnreachableError, UrlError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from honeyguide.ports.fetch import Fetched

    Answer = Callable[[Url, str], Awaitable[Fetched]]

_NAMES = ("chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome")
_ANSWERED = frozenset({"script", "xhr", "fetch"})  # images, fonts, media, styles and frames are refused
_NO_EXTRA = "rendering needs a library: pip install 'playwright>=1.65'"
_NO_BROWSER = "rendering needs Chromium: install chromium-headless-shell or chromium, or run playwright install chromium"
# A request that nobody answers has no name server, no proxy and no UDP.
_GUARDS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://nowhere.invalid:9",
    "--proxy-bypass-list=<-loopback>",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--no-pings",
    "--blink-settings=imagesEnabled=false",
    "--js-flags=--max-old-space-size=256",
)
_NOBODY = "http://nobody.invalid"  # may read it from another origin; without the header, playwright allows everybody
# Run before the page's own scripts: what could leave by UDP is gone, and chance is the same each time.
_PREPARE = """
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "WebSocketStream"]) delete globalThis[name];
globalThis.open = () => null;
let seed = 1;
Math.random = () => (seed = seed * 48271 % 2147483647) / 2147483647;
"""
# Read in a world of its own, so that the page cannot change what it means.
_READ = (
    "document.documentElement ? '<!DOCTYPE html>' + document.documentElement.outerHTML.slice(0, {most}) : ''"
)


class RenderLimits(NamedTuple):
    """What rendering one page may cost, and the browser as a whole."""

    time_s: float = 30.0  # of a page, its requests and their pauses included
    settle_s: float = 0.3  # without a request after the page has loaded: then it is read
    read_s: float = 3.0  # for reading the page, and for closing its tab
    max_requests: int = 50  # of a page
    max_bytes: int = 20 * 2**20  # of all answers to a page
    max_chars: int = 10 * 2**20  # of the page that scripts have made
    tabs: int = 4  # at a time
    max_pages: int = 200  # then a new browser starts, because browsers grow
    cpu_s: int = 300  # of one process of the browser
    data_kb: int = 2 * 2**20  # memory of one process of the browser


LIMITS = RenderLimits()


def find_browser() -> Path:
    """Find a browser on this machine: the smallest first; the one of playwright is where PLAYWRIGHT_BROWSERS_PATH says."""
    if find_spec("playwright") is None:
        raise InputError(_NO_EXTRA)
    for path in (*map(shutil.which, _NAMES[:2]), *_downloaded(), *map(shutil.which, _NAMES[2:])):
        if path is not None:
            return Path(path)
    raise InputError(_NO_BROWSER)


def _downloaded() -> Iterator[Path]:
    folder = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path("~/.cache/ms-playwright").expanduser()
    for pattern in ("chromium_headless_shell-*/*/*headless*shell", "chromium-*/*/chrome"):
        yield from sorted(Path(folder).glob(pattern), reverse=True)


def _isolation() -> Sequence[str]:
    """Give the command that starts a program without any network interface; empty where the system does not allow it."""
    if not sys.platform.startswith("linux") or (unshare := shutil.which("unshare")) is None:
        return ()
    mapped = () if os.geteuid() == 0 else ("--map-current-user",)
    command = (unshare, *mapped, "--net", "--")
    try:
        tried = subprocess.run([*command, "true"], capture_output=True, check=False, timeout=10)  # noqa: S603 - a command of ours
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return command if tried.returncode == 0 else ()


def _launcher(browser: Path, folder: str, isolation: Sequence[str], limits: RenderLimits) -> str:
    """Write the script that starts the browser with limits on its CPU time and memory; elsewhere than on Linux it has none."""
    if not sys.platform.startswith("linux"):
        return str(browser)
    script = Path(folder) / "chromium"
    started = shlex.join([*isolation, str(browser)])
    limited = f"ulimit -c 0 -t {limits.cpu_s}\nulimit -d {limits.data_kb}\n"
    script.write_text(f'#!/bin/sh\n{limited}exec {started} "$@"\n', "utf-8")
    script.chmod(0o700)
    return str(script)


@dataclass(slots=True)
class _Traffic:
    """The requests of one page."""

    document: bytes
    content_type: str | None
    is_loaded: bool = False
    requests: int = 0
    pending: int = 0
    taken_bytes: int = 0


@dataclass(slots=True)
class Browser:
    """A browser that starts with the first page, and again after a crash; `close` ends it.

    `is_isolated` says that it has no network interface, where the system allows that; its own settings allow no connection either.
    """

    agent: str
    limits: RenderLimits = LIMITS
    is_isolated: bool = True
    path: Path = field(default_factory=find_browser)
    started: int = 0  # how many browsers were, so far
    newest: Any = None
    _tabs: asyncio.Semaphore = field(init=False)
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _open: set[Any] = field(default_factory=set)  # browsers; an old one ends with its last page
    _driver: Any = None
    _pages: int = 0
    _folder: TemporaryDirectory[str] | None = None

    def __post_init__(self) -> None:
        self._tabs = asyncio.Semaphore(self.limits.tabs)

    async def render(self, got: Fetched, answer: Answer) -> str:
        """Run the scripts of a fetched page and give its HTML then; `answer` fetches what they request.

        Raises `TimedOutError` where they do not end in time, `UnreachableError` where the browser broke.
        """
        from playwright.async_api import Error

        async with self._tabs:
            browser = await self._started(got.url)
            context = None
            try:
                context = await browser.new_context(
                    accept_downloads=False, service_workers="block", user_agent=self.agent, locale="en-US", timezone_id="UTC"
                )  # fmt: skip
                return await self._render(context, got, answer)
            except Error as error:
                if browser.is_connected() and "crashed" not in str(error):
                    raise TimedOutError(got.url.as_linked, "its scripts did not let it be read") from None
                raise UnreachableError(got.url.as_linked, "the browser broke while rendering it") from None
            finally:
                await self._end(browser, context)

    async def close(self) -> None:
        """End all browsers."""
        for browser in list(self._open):
            await _within(self.limits.read_s, browser.close())
        if self._driver is not None:
            await _within(self.limits.read_s, self._driver.stop())
            self._driver = None
        if self._folder is not None:
            self._folder.cleanup()

    # --- the browser ---

    async def _started(self, url: Url) -> Any:
        """Give the browser, and start one where there is none, it crashed, or it has rendered many pages."""
        from playwright.async_api import Error, async_playwright

        async with self._starting:
            self._pages += 1
            is_usable = self.newest is not None and self.newest.is_connected()
            if is_usable and self._pages <= self.limits.max_pages:
                return self.newest
            if self._driver is None:
                self._folder = TemporaryDirectory(prefix="honeyguide-render-")
                self._driver = await async_playwright().start()
            isolation = await asyncio.to_thread(_isolation) if self.is_isolated else ()
            folder = self._folder.name if self._folder else ""
            try:
                self.newest = await self._driver.chromium.launch(
                    executable_path=_launcher(self.path, folder, isolation, self.limits),
                    args=list(_GUARDS),
                    chromium_sandbox=not hasattr(os, "geteuid") or os.geteuid() != 0,  # root has none
                )
            except Error as error:
                first = next(iter(str(error).splitlines()), "")
                failure = UnreachableError(url.as_linked, f"{self.path} does not start: {first}")
                failure.retryable = False
                raise failure from None
            self._open.add(self.newest)
            self._pages, self.started = 1, self.started + 1
            return self.newest

    async def _end(self, browser: Any, context: Any) -> None:
        """Close a tab; a browser that does not close it in time, or is not the newest, ends."""
        is_closed = context is None or await _within(self.limits.read_s, context.close())
        is_old = browser is not self.newest and not browser.contexts
        if not is_closed or is_old or not browser.is_connected():
            self.newest = None if browser is self.newest else self.newest
            self._open.discard(browser)
            await _within(self.limits.read_s, browser.close())

    # --- one page ---

    async def _render(self, context: Any, got: Fetched, answer: Answer) -> str:
        traffic = _Traffic(got.body, got.headers.content_type)
        await context.route("**/*", lambda route: self._route(route, got.url, traffic, answer))
        await context.route_web_socket("**/*", lambda socket: socket.close())
        await context.add_init_script(f"(() => {{{_PREPARE}}})()")
        page = await context.new_page()
        context.on("page", lambda other: asyncio.ensure_future(_within(self.limits.read_s, other.close())))
        devtools = await context.new_cdp_session(page)
        frame = (await devtools.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        with suppress(TimeoutError):  # what is there by then is read
            async with asyncio.timeout(self.limits.time_s):
                await page.goto(got.url.as_linked, wait_until="load", timeout=0)
                await self._settle(traffic)
        traffic.requests = self.limits.max_requests  # no more of them
        for is_last in (False, True):
            with suppress(TimeoutError):
                async with asyncio.timeout(self.limits.read_s):
                    return await self._read(devtools, frame, stops_scripts=is_last)
        raise TimedOutError(got.url.as_linked, f"its scripts did not end in {self.limits.time_s:g} s")

    async def _settle(self, traffic: _Traffic) -> None:
        """Wait until no request was made and none was pending for a while."""
        before = -1
        while traffic.pending or traffic.requests != before:
            before = traffic.requests
            await asyncio.sleep(self.limits.settle_s)

    async def _read(self, devtools: Any, frame: str, *, stops_scripts: bool) -> str:
        """Read the page; an endless script is stopped first, if it has not let us read before."""
        if stops_scripts:
            await devtools.send("Runtime.terminateExecution")
        world = await devtools.send("Page.createIsolatedWorld", {"frameId": frame})
        code = _READ.format(most=self.limits.max_chars)
        wish = {"expression": code, "contextId": world["executionContextId"], "returnByValue": True}
        found = await devtools.send("Runtime.evaluate", wish)
        if "exceptionDetails" in found:  # stopped as well
            raise TimeoutError
        return str(found["result"].get("value", ""))

    async def _route(self, route: Any, url: Url, traffic: _Traffic, answer: Answer) -> None:
        """Answer a request, or refuse it: what is no script and no data, what sends data, and all beyond the limits."""
        from playwright.async_api import Error

        request = route.request
        with suppress(Error):  # the tab is closed by now
            if request.is_navigation_request() and not traffic.is_loaded:
                traffic.is_loaded = True
                headers = {"content-type": traffic.content_type or "text/html"}
                await route.fulfill(status=200, headers=headers, body=traffic.document)
                return
            is_wanted = request.resource_type in _ANSWERED and request.method == "GET"
            if not is_wanted or traffic.requests >= self.limits.max_requests:
                # A navigation that is aborted, and not refused, leaves the page as it is.
                await route.abort("aborted" if request.is_navigation_request() else "blockedbyclient")
                return
            traffic.requests += 1
            traffic.pending += 1
            try:
                found = await _asked(request, url, answer)
            finally:
                traffic.pending -= 1
            traffic.taken_bytes += len(found.body) if found else 0
            if found is None or traffic.taken_bytes > self.limits.max_bytes:
                await route.abort("blockedbyclient")
                return
            headers = {"access-control-allow-origin": found.headers.allow_origin or _NOBODY}
            headers |= {"content-type": kind} if (kind := found.headers.content_type) else {}
            await route.fulfill(status=found.status, headers=headers, body=found.body)


async def _asked(request: Any, url: Url, answer: Answer) -> Fetched | None:
    try:
        return await answer(Url.parse(request.url, url), request.resource_type)
    except (FetchError, UrlError):
        return None


async def _within(seconds: float, work: Awaitable[object]) -> bool:
    """Await something that a hostile page may hold up; tell whether it ended well in time."""
    try:
        async with asyncio.timeout(seconds):
            await work
    except Exception:  # noqa: BLE001 - a tab or browser that is gone raises anything
        return False
    return True
