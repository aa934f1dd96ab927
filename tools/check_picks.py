"""Pick from thousands of sites in one run, to see whether memory is flat, and records are the same after many kills.

    python tools/check_picks.py FOLDER [--count 5000] [--kills 20] [--concurrency 16]

FOLDER has a folder of static files for each site. One server on this machine serves them under as many addresses 127.x.y.z as
are wanted, again and again the same sites. The first run is left alone, and its memory, CPU and requests are
measured; the second is killed with SIGKILL at random moments and started again. The exit code is 1 if their records differ.
"""

from __future__ import annotations

import argparse
import filecmp
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST = (127, 1, 0, 1)
KINDS = {".xml": "application/xml", ".txt": "text/plain; charset=utf-8"}


class Sites:
    """The sites of a folder, by address: the number of an address, counted round, chooses the site."""

    def __init__(self, folder: Path) -> None:
        self._roots = sorted(path for path in folder.resolve().iterdir() if path.is_dir())
        self.requests = 0
        self.answer = cache(self._answer)

    def _answer(self, host: str, path: str) -> tuple[int, str, bytes]:
        """Return the status, the type or location, and the body."""
        root = self._roots[number_of(host) % len(self._roots)]
        base = (root / unquote(path).lstrip("/")).resolve()
        if root not in (base, *base.parents):
            return 404, KINDS[".txt"], b"not found"
        named = base.with_name(f"{base.name}.html")
        for file in (base / "index.html", named) if path.endswith("/") else (base, named):
            if file.is_file():
                return 200, KINDS.get(file.suffix, "text/html; charset=utf-8"), file.read_bytes()
        if not path.endswith("/") and (base / "index.html").is_file():
            return 301, f"{path}/", b""
        return 404, KINDS[".txt"], b"not found"


def addresses() -> Iterator[str]:
    """Give addresses of this machine, one after the other."""
    start = int.from_bytes(bytes(FIRST), "big")
    return (".".join(map(str, number.to_bytes(4, "big"))) for number in itertools.count(start))


def number_of(host: str) -> int:
    """Return the place of an address among them."""
    return int.from_bytes(bytes(map(int, host.split("."))), "big") - int.from_bytes(bytes(FIRST), "big")


class Server(ThreadingHTTPServer):
    """Serves all sites; a client that was killed is no news."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, sites: Sites) -> None:
        self.sites = sites
        super().__init__(("0.0.0.0", 0), Handler)  # noqa: S104 - every address of 127/8

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing."""


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        """Answer with the file that a static host would choose."""
        self.server.sites.requests += 1
        host = self.headers["Host"].partition(":")[0]
        status, kind, body = self.server.sites.answer(host, urlsplit(self.path).path)
        self.send_response(status)
        self.send_header("Location" if status == 301 else "Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def start(listed: Path, output: Path, concurrency: int) -> subprocess.Popen[bytes]:
    """Start a run, or resume it."""
    options = [
        "--allow-private",
        "--delay",
        "0",
        "--no-timings",
        "--quiet",
        "--concurrency",
        str(concurrency),
    ]
    command = [sys.executable, "-m", "honeyguide", "pick", "-i", str(listed), "-o", str(output), *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command


def resident_mb(pid: int) -> float:
    """Return the memory of a process, or 0 if it has ended."""
    try:
        text = Path(f"/proc/{pid}/statm").read_text("ascii")
    except OSError:
        return 0.0
    return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure(listed: Path, output: Path, concurrency: int, sites: Sites) -> None:
    """Run once without a disturbance, and print what it took."""
    began, requests = time.monotonic(), sites.requests
    process = start(listed, output, concurrency)
    seen = []
    while process.poll() is None:
        seen.append(resident_mb(process.pid))
        time.sleep(0.5)
    spent = os.times()
    seen = [megabytes for megabytes in seen if megabytes]
    count = len(listed.read_text("ascii").split())
    fifths = [max(seen[len(seen) * part // 5 : len(seen) * (part + 1) // 5], default=0) for part in range(5)]
    cpu_s = spent.children_user + spent.children_system
    say(f"{count} sites in {time.monotonic() - began:.0f} s, exit code {process.returncode}")
    say(f"memory, largest in each fifth of the run: {', '.join(f'{one:.0f}' for one in fifths)} MB")
    say(f"{(sites.requests - requests) / count:.2f} requests and {1000 * cpu_s / count:.1f} ms of CPU a site")


def kill_often(listed: Path, output: Path, concurrency: int, moments: list[float]) -> None:
    """Kill a run whenever its file has grown to one of the sizes, and let it end at last."""
    killed = 0
    for size in moments:
        process = start(listed, output, concurrency)
        while process.poll() is None and (not output.exists() or output.stat().st_size < size):
            time.sleep(0.02)
        if process.poll() is None:
            process.kill()
            killed += 1
        process.wait()
    say(f"killed {killed} times")
    code = start(listed, output, concurrency).wait()
    say(f"the last run ended with exit code {code}")


def main() -> int:
    """Make both runs, and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--concurrency", type=int, default=16)
    asked = parser.parse_args()
    sites = Sites(asked.folder)
    server = Server(sites)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        listed, one, two = (Path(folder, name) for name in ("sites.txt", "one.jsonl", "two.jsonl"))
        port = server.server_address[1]
        names = itertools.islice(addresses(), asked.count)
        listed.write_text("".join(f"http://{name}:{port}/\n" for name in names), "ascii")
        measure(listed, one, asked.concurrency, sites)
        chance = random.Random(1)  # noqa: S311 - moments, no secrets
        moments = sorted(chance.uniform(0, 0.98) * one.stat().st_size for _ in range(asked.kills))
        kill_often(listed, two, asked.concurrency, moments)
        same = filecmp.cmp(one, two, shallow=False)
        with one.open(encoding="utf-8") as lines:
            statuses = [json.loads(line)["status"] for line in lines]
        say(
            f"{len(statuses)} records, {statuses.count('ok')} ok; the records of both runs are {'equal' if same else 'DIFFERENT'}"
        )
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
