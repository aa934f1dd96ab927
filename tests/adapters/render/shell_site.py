"""A made-up company of 30 pages, sent whole or as a shell whose script fetches each page as JSON."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KINDS = ("services", "about", "references", "blog", "careers")
TRADES = ("sprinklers", "alarms", "extinguishers", "smoke-vents", "hydrants")
PATHS = [
    "/",
    *(f"/{kind}/" for kind in KINDS[:4]),
    *(f"/{kind}/{trade}" for kind in KINDS for trade in TRADES),
]
SHELL = '<!DOCTYPE html><html lang="en"><head><title>Acme</title></head><body><div id="root"></div><script src="/app.js"></script></body></html>'
APP = """
fetch("/data" + location.pathname).then(answer => answer.json()).then(page => {
  document.title = page.title;
  document.getElementById("root").innerHTML = page.html;
});
"""


def title_of(path: str) -> str:
    words = path.strip("/").replace("/", " ").replace("-", " ") or "home"
    return f"Acme Fire: {words}"


def body_of(path: str) -> str:
    links = "".join(f'<li><a href="{one}">{title_of(one)}</a></li>' for one in PATHS if one != path)
    text = f"We plan, install and inspect {title_of(path).lower()} for offices, schools and plants. " * 8
    return f"<header><nav><ul>{links}</ul></nav></header><main><h1>{title_of(path)}</h1><p>{text}</p></main>"


def static_page(path: str) -> str:
    head = f"<title>{title_of(path)}</title>"
    return f'<!DOCTYPE html><html lang="en"><head>{head}</head><body><div id="root">{body_of(path)}</div></body></html>'


def shell_answer(path: str) -> tuple[str, str]:
    if path == "/app.js":
        return "text/javascript", APP
    if path.startswith("/data/"):
        page = path.removeprefix("/data")
        return "application/json", json.dumps({"title": title_of(page), "html": body_of(page)})
    return "text/html; charset=utf-8", SHELL


def static_answer(path: str) -> tuple[str, str]:
    return "text/html; charset=utf-8", static_page(path)


class Site(ThreadingHTTPServer):
    """A loopback server that remembers what was requested; `pages` are exact answers, before those of `answer`."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self, answer: object = None, pages: dict[str, tuple[str, str | bytes]] | None = None
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer, self.pages = answer, pages or {}
        self.seen: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Site

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.server.seen.append(self.path)
        found = self.server.pages.get(path)
        if (
            found is None
            and callable(self.server.answer)
            and (path in PATHS or path.startswith(("/data/", "/app.js")))
        ):
            found = self.server.answer(path)
        kind, text = found or ("text/plain", "not here")
        body = text.encode() if isinstance(text, str) else text
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(answer: object = None, pages: dict[str, tuple[str, str | bytes]] | None = None) -> Iterator[Site]:
    site = Site(answer, pages)
    thread = threading.Thread(target=site.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.shutdown()
        site.server_close()
        thread.join()
