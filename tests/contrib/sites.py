"""Sites on loopback for the tests of plug-ins: sections, some of them about the topic; and what `honeyguide crawl` fetches of them."""

from __future__ import annotations

import random
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from honeyguide import FetchPolicy, crawl

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TOPIC = "fire|alarm"
QUICK = FetchPolicy(delay_s=0, jitter=0, allow_private=True)
_WORDS = ["fire", "alarm", "kitchen", "garden", "water", "roof"]


def _pages() -> dict[str, bytes]:
    chance = random.Random(11)  # noqa: S311 - a site, not a secret
    names = [f"/{chance.choice(_WORDS)}-{number}" for number in range(80)]
    pages = {}
    for name in ["/", *names]:
        anchors = "".join(
            f'<li><a href="{link}">{link[1:].replace("-", " ")}</a>' for link in chance.sample(names, 7)
        )
        text = f"<p>All about {name[1:]}: {' '.join(chance.choices(_WORDS, k=60))}.</p>"
        title = name.strip("/") or "Contents"
        html = f"<html><title>{title}</title><body><main><h1>{title}</h1>{text}<ul>{anchors}</ul></main></body></html>"
        pages[name] = html.encode()
    return pages


class Site:
    """The site: its address, and the paths that were asked for, without robots.txt."""

    def __init__(self, port: int) -> None:
        self.root = f"http://127.0.0.1:{port}/"
        self.asked: list[str] = []


def ring(count: int = 60) -> dict[str, bytes]:
    """Make a site whose pages lead to the next ones; some have a link that is no page, some lead to pages that are gone."""
    pages = {}
    for number in range(count):
        links = [f"/alarm-{(number + step) % count}" for step in (1, 2, 7)]
        links += ["mailto:a@acme.example"] * (number % 10 == 3) + [f"/gone-{number}"] * (number % 20 == 5)
        links.append(f"/alarm-{(number + 11) % count}")
        html = f"<title>{number}</title><p>Alarm {number}." + "".join(
            f"<a href='{one}'>Alarm</a> " for one in links
        )
        pages[f"/alarm-{number}"] = html.encode()
    return {"/": pages["/alarm-0"], **pages}


@contextmanager
def served(pages: Mapping[str, bytes] | None = None) -> Iterator[Site]:
    """Serve a site."""
    known = _pages() if pages is None else pages

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.path.startswith(("/robots.txt", "/favicon")):
                site.asked.append(self.path)
            body = known.get(self.path)
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = Site(server.server_address[1])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()


def crawled(count: int) -> list[str]:
    """Give the paths that `honeyguide crawl` fetches, in its order."""
    with served() as site:
        return [
            "/" + page.url.removeprefix(site.root)
            for page in crawl(site.root, topic=TOPIC, max_pages=count, policy=QUICK)
        ]
