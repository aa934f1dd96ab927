"""A crawl in a process of its own: what it used, by the kernel's account, and what it fetched, by the server's.

Owns: starting and waiting, nginx for a folder, reading the access log. Must not know: who crawls. Start reading at `run_apart`, `site`
and `AccessLog`.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

_REQUEST = re.compile(r'"[A-Z]+ (\S+) HTTP/[\d.]+" (\d{3}) (\d+)')  # of nginx's and Apache's usual formats
_CONFIG = """\
daemon off; worker_processes 1; pid {home}/pid; error_log {home}/error.log; events {{}}
http {{
  types {{ text/html html htm; text/css css; image/png png; application/javascript js; text/plain txt; image/svg+xml svg; }}
  access_log {home}/access.log; keepalive_requests 1000000; client_body_temp_path {home}/body; proxy_temp_path {home}/proxy;
  fastcgi_temp_path {home}/fastcgi; uwsgi_temp_path {home}/uwsgi; scgi_temp_path {home}/scgi;
  server {{ listen 127.0.0.1:{port}; root {folder}; index index.html; }}
}}
"""
_START_S = 10.0
_SETTLE_S = 0.3  # a line is written when its answer has been sent, which may be after the client has gone


@dataclass(frozen=True, slots=True)
class Used:
    """What a process and its children used."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def environment(folder: str) -> dict[str, str]:
    """Give a process a folder as its home; what is compiled is kept, because a program that compiles itself at each start is not what is measured."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    path = os.pathsep.join(filter(None, (os.getcwd(), os.environ.get("PYTHONPATH"))))  # noqa: PTH109 - a text is wanted, not a Path
    homes = dict.fromkeys(("HOME", "CRAWL4_AI_BASE_DIRECTORY", "CRAWLEE_STORAGE_DIR"), folder)
    return {**kept, **homes, "PYTHONPATH": path}


def run_apart(command: Sequence[str], folder: str, *, expected: Iterable[int] = (0,)) -> Used:
    """Run a command in a folder that is its home, too; an exit code that is not expected ends it all."""
    began = time.monotonic()
    with subprocess.Popen(  # noqa: S603 - ourselves
        command,
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        told = process.stderr.read() if process.stderr else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in expected:
        sys.exit(f"{' '.join(command)}\nended with exit code {process.returncode}:\n{told[-2000:]}")
    cpu_s = usage.ru_utime + usage.ru_stime
    return Used(cpu_s, time.monotonic() - began, usage.ru_maxrss / 1024)


def add_site(parser: argparse.ArgumentParser) -> None:
    """Let a command name a site: a folder, or an address with the access log of its server."""
    parser.add_argument("--folder", type=Path, help="serve this folder by nginx")
    parser.add_argument("--url", help="or where to start on a server that is there")
    parser.add_argument("--log", type=Path, help="and the access log of that server")


@contextmanager
def site(asked: argparse.Namespace) -> Iterator[None]:
    """Have the site that a command names, as `asked.url` and `asked.log`."""
    if asked.folder is None:
        if asked.url is None or asked.log is None:
            sys.exit("name --folder, or --url and --log: pages are counted by the server")
        yield
        return
    nginx = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if nginx is None or not asked.folder.is_dir():
        sys.exit(f"{asked.folder}: a folder and nginx are needed; or name --url and --log of another server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="bench-site-") as home:
        config = Path(home, "nginx.conf")
        config.write_text(_CONFIG.format(home=home, port=port, folder=asked.folder.resolve()), "utf-8")
        command = [nginx, "-c", str(config), "-e", f"{home}/error.log"]
        server = subprocess.Popen(command, stderr=subprocess.DEVNULL)  # noqa: S603 - found above
        try:
            _wait_for(port)
            asked.url, asked.log = f"http://127.0.0.1:{port}/", Path(home, "access.log")
            yield
        finally:
            server.terminate()
            server.wait()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return
    sys.exit("nginx did not start")


@dataclass(frozen=True, slots=True)
class Request:
    """A line of the access log."""

    target: str
    status: int
    sent_bytes: int


class AccessLog:
    """Reads what a server wrote since the last call."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = path.stat().st_size

    def take(self) -> list[Request]:
        """Give the requests since the last call, in the order in which they were answered; robots.txt is left out."""
        time.sleep(_SETTLE_S)
        with self._path.open("rb") as file:
            file.seek(self._at)
            text = file.read().decode("utf-8", "replace")
            self._at = file.tell()
        found = [Request(target, int(status), int(sent)) for target, status, sent in _REQUEST.findall(text)]
        return [request for request in found if request.target.partition("?")[0] != "/robots.txt"]
