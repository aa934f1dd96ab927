"""Pages per second and CPU a page of `focused`, beside `focused-fixed`: with a delay and without, near and far, one site and ten.

    python -m bench.pace FOLDER [--topic TOPIC] [--pages 40] [--rounds 3]

FOLDER is a manual as HTML files, such as /usr/share/doc/postgresql-doc-15/html. It is served on loopback, under ten addresses where ten
sites are wanted, with a pause before each answer. Each crawl is a process of its own; its CPU is the user time of that process without
what it takes to start. The traversals take turns.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import ClassVar, NamedTuple

TRAVERSALS = ("focused", "focused-fixed")


class Case(NamedTuple):
    """One way to crawl."""

    name: str
    latency_s: float
    delay: str | None
    sites: int
    pages: int


class Handler(SimpleHTTPRequestHandler):
    """Answers after a pause."""

    latency_s: ClassVar[float] = 0.0
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Wait, and answer."""
        time.sleep(Handler.latency_s)
        super().do_GET()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def crawl(case: Case, traversal: str, topic: str, port: int) -> tuple[float, float]:
    """Crawl; give the seconds from the first to the last page, and those of user CPU."""
    seeds = [f"http://127.0.1.{n + 1}:{port}/" for n in range(case.sites)]
    options = [
        "--topic",
        topic,
        "--traversal",
        traversal,
        "--max-pages",
        str(case.pages),
        "--allow-private",
        "--quiet",
    ]
    options += [] if case.delay is None else ["--delay", case.delay]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "honeyguide", "crawl", *seeds, *options, "--store", f"{folder}/h.db"]
        began, before = time.monotonic(), os.times()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)  # noqa: S603 - our own command
        after = os.times()
    return time.monotonic() - began, after.children_user - before.children_user


def measure(case: Case, topic: str, port: int, rounds: int) -> None:
    """Crawl in turns, and print the medians."""
    Handler.latency_s = case.latency_s
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in TRAVERSALS}
    start: list[tuple[float, float]] = []
    for _ in range(rounds):
        start.append(crawl(case._replace(pages=1, sites=1, delay="0"), TRAVERSALS[0], topic, port))
        for name in TRAVERSALS:
            spent[name].append(crawl(case, name, topic, port))
    first_s, first_cpu_s = (median(values) for values in zip(*start, strict=True))
    for name in TRAVERSALS:
        seconds, cpu_s = (median(values) for values in zip(*spent[name], strict=True))
        pace = (case.pages - 1) / max(1e-9, seconds - first_s)
        cpu_ms = 1000 * (cpu_s - first_cpu_s) / (case.pages - 1)
        sys.stdout.write(
            f"{case.name:<42} {name:<14} {pace:7.2f} pages a second  {cpu_ms:5.2f} ms CPU a page\n"
        )
        sys.stdout.flush()


def main() -> None:
    """Serve, and measure each case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--topic", default="index|vacuum")
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    server = ThreadingHTTPServer(("0.0.0.0", 0), partial(Handler, directory=str(args.folder)))  # noqa: S104 - 127.0.1.x
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pages = args.pages
    cases = (
        Case("one site, default delay, 50 ms", 0.05, None, 1, pages),
        Case("ten sites, default delay, 50 ms", 0.05, None, 10, 10 * pages),
        Case("one site, default delay, 1 s", 1.0, None, 1, pages),
        Case("one site, no delay, 50 ms", 0.05, "0", 1, 5 * pages),
        Case("one site, no delay, 1 s", 1.0, "0", 1, pages),
        Case("one site, no delay, no latency", 0.0, "0", 1, 10 * pages),
    )
    for case in cases:
        measure(case, args.topic, server.server_port, args.rounds)


if __name__ == "__main__":
    main()
