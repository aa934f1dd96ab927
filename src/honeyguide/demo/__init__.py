"""A small company site of our own, for the first run: its pages, and a server for them.

Owns: the made-up company Larkspur Fire, and nothing else. Start reading at `serve_demo`.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from importlib.resources.abc import Traversable
from threading import Thread
from typing import Any

HOST = "127.0.0.1"
TYPES = {".html": "text/html; charset=utf-8", ".txt": "text/plain; charset=utf-8"}


@contextmanager
def serve_demo(port: int = 0) -> Iterator[str]:
    """Serve the site while the block runs, on a port, or one that is free; gives its address."""
    site = dict(_pages(files("honeyguide.demo") / "site", ""))
    server = ThreadingHTTPServer((HOST, port), partial(_Answer, site))
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_address[1]}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _pages(folder: Traversable, path: str) -> Iterator[tuple[str, tuple[str, bytes]]]:
    """Give each file under the path it is served at: `about.html` is /about, `index.html` the folder itself."""
    for entry in folder.iterdir():
        stem, dot, end = entry.name.rpartition(".")
        if entry.is_dir():
            yield from _pages(entry, f"{path}/{entry.name}")
        elif f"{dot}{end}" in TYPES:
            name = f"{path}/{entry.name if end == 'txt' else stem.removesuffix('index')}"
            yield name, (TYPES[f"{dot}{end}"], entry.read_bytes())


class _Answer(BaseHTTPRequestHandler):
    """Answers a request with a page of the site, or 404."""

    server_version = "honeyguide-demo"
    sys_version = ""

    def __init__(self, site: Mapping[str, tuple[str, bytes]], *args: Any) -> None:
        self._site = site
        super().__init__(*args)

    def do_GET(self) -> None:
        """Send a page; its query changes nothing."""
        path = self.path.partition("?")[0]
        found = self._site.get(path if path == "/" else path.rstrip("/"))
        kind, body = found or (TYPES[".html"], b"<title>Not found</title><p>There is no such page.")
        self.send_response(HTTPStatus.OK if found else HTTPStatus.NOT_FOUND)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: Any) -> None:
        """Say nothing: the terminal belongs to the command."""
