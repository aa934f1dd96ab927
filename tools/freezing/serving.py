"""The demo site at an address that never changes, today and as it might be later.

Owns: `Served`, and what is different later. Must not know: the commands that visit it. Start reading at `serve`.
Equal pages are ordered by a hash of their URLs, and so by the port: it has to be the same in every run, although any
port may be taken. Connections of this process to `SITE` are therefore led to wherever the site is served.
"""

from __future__ import annotations

import socket
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from urllib.parse import urlsplit

from honeyguide.demo import serve_demo

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST, PORT = "127.0.0.1", 43117
SITE = f"http://{HOST}:{PORT}/"
_OTHER_WORDS = (
    (b"Twenty-two engineers", b"Twenty-five engineers and a dog"),
    (b"Our new van is here</a></li>", b'Our new van is here</a></li><li><a href="/alarm-advice">Alarm advice</a></li>'),
)  # fmt: skip
_GONE = "/blog/how-often-to-check-an-alarm"


class Served:
    """Where connections to the site go: to the site of today, or of later."""

    def __init__(self, today: int, later: int) -> None:
        self._ports = (today, later)
        self.is_later = False

    @property
    def port(self) -> int:
        """The port that is meant now."""
        return self._ports[self.is_later]


@contextmanager
def serve() -> Iterator[Served]:
    """Serve the site at `SITE` while the block runs, for this process alone."""
    with serve_demo() as today:
        port = urlsplit(today).port or 0
        with _serve_later(port) as later:
            served, real = Served(port, later), socket.socket.connect

            def connect(self: socket.socket, address: Any) -> None:
                real(self, (HOST, served.port) if address == (HOST, PORT) else address)

            with patch.object(socket.socket, "connect", connect):
                yield served


@contextmanager
def _serve_later(today: int) -> Iterator[int]:
    """Serve the site with other words and a page less; gives its port."""
    server = ThreadingHTTPServer((HOST, 0), partial(_Later, today))
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Later(BaseHTTPRequestHandler):
    """Answers with what the site of today says, changed."""

    def __init__(self, today: int, *args: Any) -> None:
        self._today = today
        super().__init__(*args)

    def do_GET(self) -> None:
        """Ask the site of today, and change what it says."""
        asked = HTTPConnection(HOST, self._today)
        asked.request("GET", "/nothing" if self.path == _GONE else self.path)
        answer = asked.getresponse()
        body = answer.read()
        for old, new in _OTHER_WORDS:
            body = body.replace(old, new)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.getheader("Content-Type") or "")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        asked.close()

    def log_message(self, *_args: Any) -> None:
        """Say nothing: what is printed is frozen."""
