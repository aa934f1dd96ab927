"""Measure the peak memory of a crawl over hostile hosts on this machine.

    python tools/check_memory.py [--hosts 300] [--most-mb 400] [--pages 600]

Every host of 127.0.0.0/8 that is used serves a robots.txt of 500 KiB full of rules, and pages that attack memory, each
in its own way: large ones, ones that break off, compressed bombs (gzip, brotli where it is installed) beyond the limit and
right below it, endless headers, a million tags, links by the hundred thousand, and long runs of one letter. No host hangs,
and the crawl waits for each of them as long as it takes, so that a busy machine measures the same. The peak is VmHWM of the
process, so this needs Linux. Exit code 1 if the crawl took more than --most-mb, failed, or did not get the robots.txt of
every host.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import importlib
import importlib.util
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

MB = 1024 * 1024
_PATIENT = """
from honeyguide.cli.main import main
from honeyguide.core.fetching import FetchPolicy
plain = FetchPolicy.__init__
limits = dict.fromkeys(("connect_timeout_s", "read_timeout_s", "total_timeout_s", "trip_timeout_s", "site_timeout_s"), 86400.0)
FetchPolicy.__init__ = lambda self, *values, **named: plain(self, *values, **limits | named)
main()
"""
_ROBOTS = b"User-agent: *\n" + b"".join(b"allow:/%05x*\n" % n for n in range(500 * 1024 // 14))


def answer(body: bytes, *headers: str) -> bytes:
    """Make one answer."""
    head = ["HTTP/1.1 200 OK", "Content-Type: text/html", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*head, "Connection: close", "", ""]).encode() + body


def bodies() -> dict[str, bytes]:
    """Make the answers, by path."""
    names = ("full", "large", "gzip", "cut", "brotli", "headers", "tags", "links", "letters", "deep")
    home = "<title>fire</title>" + "".join(f"<a href=/{name}>fire {name}</a> " for name in names)
    bomb = b"<p>fire " + b"a" * (60 * MB)
    large = b"<p>fire " + b"word " * MB
    made = {
        "/": answer(home.encode()),
        "/robots.txt": answer(_ROBOTS),
        "/full": answer(
            gzip.compress(b"<p>fire " + b"word " * (2 * MB - MB // 100), 9), "Content-Encoding: gzip"
        ),
        "/large": answer(large[: 5 * MB]),
        "/cut": answer(large[: 5 * MB])[: 4 * MB],
        "/gzip": answer(gzip.compress(bomb, 9), "Content-Encoding: gzip"),
        "/headers": b"HTTP/1.1 200 OK\r\n" + b"X-A: " + b"a" * (2 * MB) + b"\r\n\r\n",
        "/tags": answer(b"<p>fire" + b"<b>x" * MB),
        "/links": answer(b"<p>fire" + b"".join(b"<a href=/p%d>fire %d</a>" % (n, n) for n in range(100_000))),
        "/letters": answer(("<title>fire</title><p>" + "\u0301" * (2 * MB)).encode()),
        "/deep": answer(b"<p>fire" + b"<div>" * MB),
    }
    if importlib.util.find_spec("brotli"):
        brotli = importlib.import_module("brotli")
        made["/brotli"] = answer(brotli.compress(bomb), "Content-Encoding: br")
    return made


class Hosts:
    """The hosts, in a thread of their own."""

    def __init__(self, count: int) -> None:
        self.names = [f"127.0.{1 + n // 250}.{1 + n % 250}" for n in range(count)]
        self.port = 0
        self.robots = 0  # how many robots.txt were sent whole
        self._answers = bodies()
        self._ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True).start()
        self._ready.wait()

    async def _serve(self) -> None:
        first = await asyncio.start_server(self._accept, self.names[0], 0)
        self.port = first.sockets[0].getsockname()[1]
        for name in self.names[1:]:
            await asyncio.start_server(self._accept, name, self.port)
        self._ready.set()
        await asyncio.Event().wait()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode()
            writer.write(self._answers.get(path, answer(b"<p>fire")))
            await writer.drain()
            self.robots += path == "/robots.txt"
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def watch(crawl: subprocess.Popen[str]) -> int:
    """Wait for a process to end; gives the most memory that it took, in MB."""
    status, peak = Path(f"/proc/{crawl.pid}/status"), 0
    while crawl.poll() is None:
        found = re.search(r"VmHWM:\s*(\d+)", status.read_text())
        peak = max(peak, int(found[1]) if found else 0)
        time.sleep(0.2)
    return peak // 1024


def main() -> int:
    """Crawl the hosts and say what it took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hosts", type=int, default=300, metavar="N")
    parser.add_argument("--pages", type=int, default=600, metavar="N")
    parser.add_argument("--most-mb", type=int, default=400, metavar="MB")
    asked = parser.parse_args()
    hosts = Hosts(asked.hosts)
    seeds = [f"http://{name}:{hosts.port}/" for name in hosts.names]
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        command = [
            sys.executable, "-c", _PATIENT, "crawl", *seeds, "--topic", "fire", "--allow-private", "--delay", "0",
            "--retries", "0", "--max-pages", str(asked.pages), "--store", str(Path(folder, "h.db")),
            "-o", str(Path(folder, "pages.jsonl")), "--quiet",
        ]  # fmt: skip
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as crawl:  # noqa: S603 - our own command
            peak_mb = watch(crawl)
            said = crawl.stderr.read() if crawl.stderr else ""
        output = Path(folder, "pages.jsonl")
        pages = output.read_bytes().count(b"\n") if output.exists() else 0
    sys.stdout.write(
        f"{asked.hosts} hosts, {hosts.robots} robots.txt, {pages} pages, {time.monotonic() - began:.0f} s, peak {peak_mb} MB, "
        f"exit code {crawl.returncode}\n{said[-500:]}"
    )
    is_whole = crawl.returncode in (0, 3) and pages > 0 and hosts.robots >= asked.hosts
    return 0 if is_whole and peak_mb <= asked.most_mb else 1


if __name__ == "__main__":
    sys.exit(main())
