"""Measure what the first look at each view of the studio costs on a store of a million pages, in a file or in PostgreSQL.

    python tools/check_views.py [STORE] [--pages 1000000] [--postgres]

Makes the store if it is not there (`bench/large_store.py`; with --postgres in a database server of its own, which needs PostgreSQL's
programs and psycopg). Each view is asked for once, in a studio that has just started, and its table row says what the process of the studio
used: CPU until the answer was there, and the most memory. For PostgreSQL it also says the CPU of the server's processes. Ends with 1 if a view takes more than 300 ms or 150 MB.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "shared")]
MOST_MS, MOST_MB = 300, 150
_PAGE = "https://www.host-7.example/section-3/topic-3/page-3"
VIEWS = {
    "runs": "/crawl",
    "pages": "/crawl/pages?run=1",
    "pages by score": "/crawl/pages?run=1&sort=score",
    "pages, search": "/crawl/pages?run=1&search=page-77",
    "pages, relevant": "/crawl/pages?run=1&filter=relevant&sort=url",
    "tree": "/crawl/tree?run=1",
    "tree of a site": "/crawl/tree?run=1&below=www.host-7.example/",
    "live": "/crawl/live?run=1",
    "live, events": "/crawl/live/events?run=1",
    "summary": "/crawl/summary?run=1",
    "plan": "/plan",
    "why": f"/why?url={quote(_PAGE, safe='')}",
}


@contextmanager
def studio(store: str) -> Iterator[tuple[int, str]]:
    """Start a studio; gives its process and address."""
    command = [sys.executable, "-m", "honeyguide", "studio", "--store", store, "--no-open"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:  # noqa: S603 - ourselves
        try:
            for line in process.stdout or ():
                if found := re.search(r"http://\S+token=\S+", line):
                    yield process.pid, found[0]
                    break
        finally:
            process.terminate()


def cpu_ms(process: int) -> float:
    """Read the CPU time of a process."""
    fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def server_ms(folder: Path | None) -> float:
    """Read the CPU time of a database server, with that of its children that have ended."""
    if folder is None:
        return 0.0
    first = (folder / "data" / "postmaster.pid").read_text("utf-8").splitlines()[0]
    fields = Path(f"/proc/{first}/stat").read_text("utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) * 1000 / os.sysconf("SC_CLK_TCK")


def most_mb(process: int) -> float:
    """Read the most memory that a process has had."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text("utf-8"))
    return int(found[1]) / 1024 if found else 0.0


def measure(store: str, path: str, server: Path | None) -> tuple[float, float, float, str]:
    """Ask for one view: milliseconds of CPU, megabytes, milliseconds of the database, and what was answered."""
    before_server = server_ms(server)
    with studio(store) as (process, address):
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        browser.open(address).read()
        before = cpu_ms(process)
        try:
            with browser.open(address.partition("/?")[0] + path) as answer:
                text = answer.readline() if "events" in path else answer.read()
            told = f"{len(text):,} bytes"
        except urllib.error.HTTPError as error:
            told = f"HTTP {error.code}: {re.sub('<[^>]+>', ' ', error.read().decode())[-200:].strip()}"
        used, most = cpu_ms(process) - before, most_mb(process)
    return used, most, server_ms(server) - before_server, told


def main() -> int:
    """Make the store if needed, and measure all views."""
    parser = argparse.ArgumentParser()
    parser.add_argument("store", nargs="?")
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--postgres", action="store_true")
    given = parser.parse_args()
    from bench.large_store import make

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server, store = None, given.store or str(folder / "large.db")
        if given.postgres:
            from postgres_server import Server

            running = Server(folder, "fsync = off", "max_wal_size = 8GB")
            stack.callback(running.stop)
            server, store = folder, given.store or running.new_database()
        if given.postgres or not Path(store).exists():
            make(store, given.pages, given.pages * 3 // 10, max(1, given.pages // 1000))
        say(f"| view | CPU, ms | MB | {'PostgreSQL, ms | ' if server else ''}answer |")
        say(f"|---|---:|---:|{'---:|' if server else ''}---|")
        too_much = False
        for name, path in VIEWS.items():
            used, most, database, told = measure(store, path, server)
            too_much |= used > MOST_MS or most > MOST_MB or told.startswith("HTTP")
            say(f"| {name} | {used:.0f} | {most:.0f} | {f'{database:.0f} | ' if server else ''}{told} |")
    return int(too_much)


def say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
