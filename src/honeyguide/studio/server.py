"""The server: who may ask, which route answers, and how a view becomes a page or JSON.

Owns: `Studio`, the guard before every route, and `serve`. Everything is refused unless it comes from this machine, names this
server as its host, and knows the token; pages of other sites can neither read nor post. Must not know: what views show.
Start reading at `guard`.
"""

from __future__ import annotations

import asyncio
import gc
import hmac
import json
import secrets
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from aiohttp import web

from honeyguide.errors import HoneyguideError
from honeyguide.report.html import style_sheet
from honeyguide.studio import crawls, live, picks, plans, saving, what_if
from honeyguide.studio.shell import LOGO, View, failure, page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from honeyguide.studio.shell import Sources

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
    Draw = Callable[[Sources, web.Request], Awaitable[View]]

HOST = "127.0.0.1"
MAX_BODY = 2_000_000  # bytes of a post: a profile is at most one
_COOKIE = "honeyguide-studio"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# Views, each as a page and, with .json behind its path, as the records it shows.
VIEWS: dict[str, Draw] = {
    "/": picks.home,
    "/pick": picks.sites,
    "/pick/site": picks.site,
    "/pick/find": picks.find,
    "/pick/ways": picks.ways,
    "/what-if": what_if.controls,
    "/crawl": crawls.runs,
    "/crawl/pages": crawls.pages,
    "/crawl/summary": crawls.summary,
    "/crawl/tree": crawls.tree,
    "/crawl/live": live.live,
    "/why": crawls.why,
    "/plan": plans.due,
}
EVENTS: dict[str, Callable[[Sources, web.Request], AsyncIterator[Any]]] = {
    "/what-if/events": what_if.changes,
    "/crawl/live/events": live.live_events,
}
POSTS: dict[str, Callable[[Sources, Any], Awaitable[Any]]] = {
    "/what-if/profile": what_if.set_profile,
    "/what-if/label": saving.set_label,
    "/what-if/save": saving.save,
}


@dataclass(slots=True)
class Studio:
    """A server: what it shows, its port and its token."""

    sources: Sources
    port: int = 0
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def address(self) -> str:
        """Where the studio is opened the first time; then a cookie has the token."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """The name of the cookie: cookies do not tell ports apart."""
        return f"{_COOKIE}-{self.port}"


def guard(studio: Studio) -> Any:
    """Make the check before every route."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        refused = refusal(studio, request)
        if refused is not None:
            response: web.StreamResponse = web.Response(status=refused[0], text=f"{refused[1]}\n")
        elif "token" in request.query:
            response = web.Response(status=303, headers={"Location": request.path})
            response.set_cookie(studio.cookie, studio.token, httponly=True, samesite="Strict", path="/")
        else:
            response = await answered(handler, request)
        if not response.prepared:
            response.headers.update(_HEADERS)
        return response

    return check


def refusal(studio: Studio, request: web.Request) -> tuple[int, str] | None:
    """Say why a request is refused: another host name, another origin, another site, or no token."""
    hosts = {f"{HOST}:{studio.port}", f"localhost:{studio.port}"}
    if request.headers.get("Host", "").lower() not in hosts or len(request.headers.getall("Host")) > 1:
        return 421, f"This is http://{HOST}:{studio.port}/, and no other host."
    origin = request.headers.get("Origin")
    is_own = origin is not None and origin in {f"http://{host}" for host in hosts}
    if (origin is not None and not is_own) or (request.method not in ("GET", "HEAD") and not is_own):
        return 403, "Pages of other origins may not ask."
    if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
        return 403, "Pages of other sites may not ask."
    given = request.query.get("token") or request.cookies.get(studio.cookie) or ""
    if not hmac.compare_digest(given.encode("utf-8", "replace"), studio.token.encode()):
        return 401, "Open the address that honeyguide studio has printed: it has a token."
    return None


async def answered(handler: Handler, request: web.Request) -> web.StreamResponse:
    """Answer; a mistake of the user or of a file is one sentence on a page."""
    try:
        return await handler(request)
    except web.HTTPException as error:  # no such route, a body that is too large
        return web.Response(status=error.status, text=f"{error.reason}\n")
    except HoneyguideError as error:
        lines = str(error).split("\n")
        if request.path.endswith(".json") or request.method == "POST":
            return web.json_response({"error": lines}, status=400)
        return web.Response(status=400, text=page(failure(lines)), content_type="text/html")


def application(studio: Studio) -> web.Application:
    """Put guard and routes together."""
    app = web.Application(middlewares=[guard(studio)], client_max_size=MAX_BODY)
    for path, draw in VIEWS.items():
        app.router.add_get(path, _as_page(draw, studio.sources))
        app.router.add_get(
            f"{path.rstrip('/')}.json" if path != "/" else "/index.json", _as_json(draw, studio.sources)
        )
    for path, events in EVENTS.items():
        app.router.add_get(path, _as_events(events, studio.sources))
    for path, post in POSTS.items():
        app.router.add_post(path, _as_post(post, studio.sources))
    folder = files("honeyguide.studio")
    script, style = (
        (folder / "studio.js").read_text("utf-8"),
        style_sheet() + (folder / "studio.css").read_text("utf-8"),
    )
    app.router.add_get("/studio.js", _as_file(script, "text/javascript"))
    app.router.add_get("/studio.css", _as_file(style, "text/css"))
    app.router.add_get("/favicon.ico", _as_file(_ICON, "image/svg+xml"))
    return app


_ICON = LOGO.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')


def _as_page(draw: Draw, sources: Sources) -> Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        view = await draw(sources, request)
        return web.Response(text=page(view), content_type="text/html")

    return answer


def _as_json(draw: Draw, sources: Sources) -> Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        view = await draw(sources, request)
        return web.Response(text=json.dumps(view.data, ensure_ascii=False), content_type="application/json")

    return answer


def _as_events(events: Callable[[Sources, web.Request], AsyncIterator[Any]], sources: Sources) -> Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={**_HEADERS, "Content-Type": "text/event-stream"})
        await response.prepare(request)
        try:
            async for event in events(sources, request):
                await response.write(
                    f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode("utf-8", "replace")
                )
        except HoneyguideError as error:
            await response.write(f"data: {json.dumps({'error': str(error)})}\n\n".encode())
        return response

    return answer


def _as_post(post: Callable[[Sources, Any], Awaitable[Any]], sources: Sources) -> Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        try:
            sent = json.loads(await request.text())
        except (ValueError, RecursionError):
            return web.json_response({"error": ["the request is no JSON"]}, status=400)
        if not isinstance(sent, dict):
            return web.json_response({"error": ["the request is no object"]}, status=400)
        return web.json_response(await post(sources, sent))

    return answer


def _as_file(text: str, kind: str) -> Handler:
    async def answer(_request: web.Request) -> web.StreamResponse:
        return web.Response(text=text, content_type=kind, charset="utf-8")

    return answer


async def serve(studio: Studio, on_ready: Callable[[str], None]) -> None:
    """Serve until cancelled; `on_ready` gets the address when it can be opened. A file that has no picks is refused before."""
    if studio.sources.picks is not None:
        await asyncio.to_thread(picks.check_picks, studio.sources.picks)
    gc.set_threshold(
        100_000, 50, 1_000
    )  # pages in memory live long: looking at them again and again costs a fifth
    runner = web.AppRunner(application(studio), access_log=None, handle_signals=False, shutdown_timeout=0.5)
    await runner.setup()
    try:
        site = web.TCPSite(runner, HOST, studio.port)
        await site.start()
        studio.port = runner.addresses[0][1]
        on_ready(studio.address)
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()
