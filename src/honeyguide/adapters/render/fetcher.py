"""A polite fetcher whose pages are rendered: always, or where the card `render` of the profile says so (`auto`).

Owns: whether a page is rendered, with the reason; the facts that the card reads (`shell_facts`); the memory of each site; the
answers to what scripts request, which are fetched with robots.txt, pace and limits like any page. Must not know: how the browser
works, what follows from a fact. Start reading at `RenderingFetcher.fetch`.

`auto` decides on a site in the order of the requests: a page that may be a shell waits for those before it, until rendering has
helped once, or has not. So the decisions do not depend on which answer comes first.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from honeyguide.core.rules.facts import Facts
from honeyguide.core.why import Why
from honeyguide.errors import ForbiddenError, TimedOutError
from honeyguide.ports.fetch import ANYWHERE, PacedFetcher, Part, Rendered, RobotsFetcher

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from honeyguide.adapters.render.browser import Browser
    from honeyguide.core.crawl.frontier import SitePace
    from honeyguide.core.fetching import Access
    from honeyguide.core.page.page import Page
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.url import Url
    from honeyguide.ports.fetch import Fetched, PageReader, Robots, Trip, Validators

RENDERED, IN_VAIN, NOT_RENDERED = "rendered", "rendered-in-vain", "not-rendered"
CARD = "render"
_ENOUGH = 0.5  # of the card: the page is rendered
MORE_LINKS, MORE_CHARS = (
    5,
    400,
)  # than the page as it was sent: then rendering helps on its site; so does a first link
_HTML = frozenset({"", "text/html", "application/xhtml+xml"})
_MAX_SCRIPTS_BYTES = 32 * 2**20  # bytes; the least recently used is forgotten first


class PacedSource(PacedFetcher, RobotsFetcher, Protocol):
    """A paced fetcher that knows robots.txt."""


@dataclass(slots=True)
class _Site:
    """What is known of a site, and which of its pages are being fetched, in order."""

    is_helpful: bool | None = None
    turns: dict[int, asyncio.Event] = field(default_factory=dict)
    last: int = 0


@dataclass(slots=True)
class RenderingFetcher:
    """Fetches as `polite` does, and renders pages; `known` says on which sites rendering has helped before."""

    polite: PacedSource
    browser: Browser
    reader: PageReader
    profile: Profile
    mode: str = "auto"  # or always
    access: Access | None = None
    known: Mapping[str, bool] = field(default_factory=dict)
    _sites: dict[str, _Site] = field(default_factory=dict)
    _scripts: OrderedDict[Url, asyncio.Task[Fetched]] = field(default_factory=OrderedDict)
    _scripts_bytes: int = 0

    async def fetch(
        self,
        url: Url,
        *,
        validators: Validators | None = None,
        part: Part = Part.PAGE,
        trip: Trip = ANYWHERE,
    ) -> Fetched:
        """Fetch, and render what needs it; a page whose scripts do not end is the page as it was sent, and says so."""
        if part is not Part.PAGE:
            return await self.polite.fetch(url, validators=validators, part=part, trip=trip)
        site = self._sites.setdefault(url.site, _Site(self.known.get(url.site)))
        site.last += 1
        turn, ended = site.last, asyncio.Event()
        site.turns[turn] = ended
        try:
            got = await self.polite.fetch(url, validators=validators, part=part, trip=trip)
            if got.status != 200 or got.is_outside or _kind(got) not in _HTML or not got.body:
                return got
            if self.mode == "always":
                return await self._rendered(got, Why(RENDERED, "rendered"))
            return await self._decided(got, site, turn)
        finally:
            ended.set()
            del site.turns[turn]
            if not site.turns and site.is_helpful is None:
                del self._sites[url.site]

    async def robots(self, url: Url) -> Robots | None:
        """Give the rules of a URL's origin."""
        return await self.polite.robots(url)

    @property
    def delay_s(self) -> float:
        """The pause that every site gets."""
        return self.polite.delay_s

    def wait_until(self, site: str, until: float) -> None:
        """Ask a site nothing before then, because another worker has asked it."""
        self.polite.wait_until(site, until)

    def pace_of(self, site: str) -> SitePace:
        """Say when a site may be asked again."""
        return self.polite.pace_of(site)

    # --- auto ---

    async def _decided(self, got: Fetched, site: _Site, turn: int) -> Fetched:
        """Render a page if the card says so, by what the pages before it have shown of its site."""
        page = self.reader.page(got.body, got.url, got.headers.content_type)
        if b"<script" not in got.body.lower() or self._points(page, got, is_helpful=True)[0] < _ENOUGH:
            return got
        while site.is_helpful is None and (before := min(site.turns)) < turn:
            await site.turns[before].wait()
        points, words = self._points(page, got, is_helpful=site.is_helpful)
        if points < _ENOUGH:
            return got
        rendered = await self._rendered(got, Why(RENDERED, f"rendered: {words}"))
        if rendered.rendered is None or rendered.rendered.why.rule == NOT_RENDERED:
            return rendered
        new = self.reader.page(rendered.body, rendered.url, rendered.headers.content_type)
        links, chars = len(new.links) - len(page.links), len(new.text) - len(page.text)
        if site.is_helpful is None:
            needed = MORE_LINKS if page.links else 1
            site.is_helpful = links >= needed or chars >= MORE_CHARS
        if site.is_helpful:
            return rendered
        gave = f"{links:+,} links and {chars:+,} characters"
        why = Why(IN_VAIN, f"rendered: {words}; that gave {gave}, so no page of its site is rendered")
        return replace(got, rendered=Rendered(why, got.body, got.headers.content_type))

    def _points(self, page: Page, got: Fetched, *, is_helpful: bool | None) -> tuple[float, str]:
        score = self.profile.score(CARD, shell_facts(page, got.body, is_helpful))
        return score.value, ", ".join(score.words)

    # --- rendering ---

    async def _rendered(self, got: Fetched, why: Why) -> Fetched:
        sent = got.headers.content_type
        try:
            html = await self.browser.render(got, self._answer_to(got.url))
        except TimedOutError as error:
            return replace(
                got, rendered=Rendered(Why(NOT_RENDERED, f"not rendered: {error.why}"), got.body, sent)
            )
        # A shell stays the same while what it shows changes, so a server must not answer "not modified".
        headers = got.headers._replace(content_type="text/html; charset=utf-8", etag=None, last_modified=None)
        body = html.encode("utf-8", "replace")
        return replace(got, body=body, headers=headers, rendered=Rendered(why, got.body, sent))

    def _answer_to(self, page: Url) -> Callable[[Url, str], Awaitable[Fetched]]:
        async def answer(url: Url, kind: str) -> Fetched:
            is_own = (url.scheme, url.site) == (page.scheme, page.site)
            if not is_own and self.access is not None and self.access.headers_for(url):
                raise ForbiddenError(url.as_linked, "a page of another origin may not use its login")
            if kind != "script":
                return await self.polite.fetch(url, part=Part.RESOURCE)
            return await self._script(url)

        return answer

    async def _script(self, url: Url) -> Fetched:
        """Fetch a script once for all pages, as the cache of a browser does."""
        if (known := self._scripts.get(url)) is not None and not _has_failed(known):
            self._scripts.move_to_end(url)
            return await asyncio.shield(known)
        task = self._scripts[url] = asyncio.create_task(self.polite.fetch(url, part=Part.RESOURCE))
        got = await asyncio.shield(task)
        self._scripts_bytes += len(got.body)
        while self._scripts_bytes > _MAX_SCRIPTS_BYTES and len(self._scripts) > 1:
            _, oldest = self._scripts.popitem(last=False)
            self._scripts_bytes -= (
                0 if not oldest.done() or _has_failed(oldest) else len(oldest.result().body)
            )
        return got

    async def close(self) -> None:
        """End what still fetches scripts, and the browser."""
        tasks = list(self._scripts.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.browser.close()


def _has_failed(task: asyncio.Task[Fetched]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def _kind(got: Fetched) -> str:
    return (got.headers.content_type or "").partition(";")[0].strip().lower()


# --- what tells a shell for scripts from a page that was sent whole ---

_MAX_LOOKED_BYTES = 2 * 2**20  # bytes of a page that are looked at: shells are short
_SCRIPT = re.compile(rb"<script\b([^>]{0,2000})>", re.IGNORECASE)
_DATA = re.compile(rb"type\s{0,9}=\s{0,9}[\"']?(?:application/(?:ld\+)?json|text/template)", re.IGNORECASE)
_SRC = re.compile(rb"\ssrc\s{0,9}=", re.IGNORECASE)
# An element with nothing in it, whose name frameworks give to the place that they fill.
_MOUNT = re.compile(
    rb"<(?:div|main|section|body)\s[^<>]{0,300}?\bid\s{0,9}=\s{0,9}[\"']?"
    rb"(?:root|app|main|__next|___gatsby|__nuxt|app-root|react-root|svelte|q-app|mount|application|container|content)(?=[\"'\s>])"
    rb"[^<>]{0,300}>\s{0,99}(?:<!--[^<>]{0,99}-->\s{0,99})?</"
    rb"|<(?:app-root|my-app|app|[a-z]{1,20}-app)(?:\s[^<>]{0,300})?>\s{0,99}</",
    re.IGNORECASE,
)
_EMPTY_MAIN = re.compile(rb"<main\b[^<>]{0,300}>\s{0,99}(?:<!--[^<>]{0,99}-->\s{0,99})?</main", re.IGNORECASE)
_ASKS = re.compile(
    rb"<noscript\b[^<>]{0,300}>(?:(?!</noscript).){0,1000}?java\s?script", re.IGNORECASE | re.DOTALL
)


def shell_facts(page: Page, body: bytes, is_helpful: bool | None) -> Facts:
    """Measure a page as it was sent; `is_helpful` says whether rendering helped on its site, None before it was tried."""
    start = body[:_MAX_LOOKED_BYTES]
    scripts = [attributes for attributes in _SCRIPT.findall(start) if not _DATA.search(attributes)]
    text_chars = float(len(page.main.text)) if page.main is not None and page.main.is_marked else None
    return Facts(
        page_chars=float(len(page.text)),
        page_links=float(len(page.links)),
        text_chars=0.0 if _EMPTY_MAIN.search(start) else text_chars,
        script_files=float(sum(_SRC.search(attributes) is not None for attributes in scripts)),
        scripts=float(len(scripts)),
        has_empty_mount=_MOUNT.search(start) is not None,
        asks_for_scripts=_ASKS.search(start) is not None,
        rendering_helps=is_helpful,
    )
