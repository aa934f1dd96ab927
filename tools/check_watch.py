"""An operator's ten minutes, for real: known URLs of two months are imported and planned, a watch is killed three times.

    python tools/check_watch.py [--minutes 10] [--per-hour 50] [--pages 400] [--kills 3]

A server on this machine has pages of which a third change every minute, and logs each request. Known URLs are imported, `plan` ranks
them, `watch` runs until the minutes are over, and dies by SIGKILL three times, each time while a request is under way. Checked by the
server's own log: no hour has more requests than the budget, which is so small that it is spent before the end, robots.txt and
redirects included; the store has a visit for each answer,
and no page is asked for again before its rest, except what was under way at a kill. Exit code 1 if a promise is broken. Start reading
at `main`.
"""

from __future__ import annotations

# ruff: noqa: S311, S603, T201 - made-up pages, commands of our own, a report on the terminal
import argparse
import itertools
import json
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from honeyguide.app.runs import opened_store
from honeyguide.core.crawl.frontier import digest_of
from honeyguide.core.url.url import Tracking, Url

CHANGING = 3  # one page in so many changes every minute
REDIRECTS = 10  # one page in so many leads to another
VISITED_DAYS = 60
REST_S = 30
HOUR_S = 3600
UNDER_WAY_S = 2.0  # a page that was asked for so shortly before a kill may not be in the store


class Site(ThreadingHTTPServer):
    """Pages, some behind a redirect, and the time and path of each request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.log: list[tuple[float, str]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        self.server.log.append((time.time(), self.path))
        number = _number(self.path)
        if _redirects(self.path):
            self.send_response(302)
            self.send_header("Location", f"/other-{number}")
            self.end_headers()
            return
        is_page = self.path != "/robots.txt"
        version = int(time.time() // 60) if number % CHANGING == 0 else 0
        body = f"<title>page {number}</title><p>version {version} of page {number}</p>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if is_page else "text/plain")
        self.end_headers()
        self.wfile.write(body if is_page else b"")

    def log_message(self, *_: object) -> None:
        """Stay quiet: `Site.log` has everything."""


def write_known(path: Path, port: int, pages: int) -> int:
    """Write the visits of two months; changing pages had changed at each, others never."""
    start = datetime.now(UTC).replace(microsecond=0) - timedelta(days=VISITED_DAYS + 1)
    with path.open("w", encoding="utf-8") as file:
        rows = 0
        for day in range(0, VISITED_DAYS, 5):
            for page in range(pages):
                at = start + timedelta(days=day, seconds=page)
                changed = None if day == 0 else page % CHANGING == 0
                row = {
                    "url": f"http://127.0.0.1:{port}/page-{page}",
                    "last_visited": at.isoformat(),
                    "changed": changed,
                }
                file.write(json.dumps(row) + "\n")
                rows += 1
    return rows


def honeyguide(*arguments: str) -> list[str]:
    """Make a command line."""
    return [sys.executable, "-m", "honeyguide", *arguments]


def watch_and_kill(
    command: list[str], site: Site, minutes: float, kills: int
) -> tuple[list[float], list[str]]:
    """Run the watch until the time is over, and kill it; returns when, and what the last one said at its end."""
    began = time.monotonic()
    chance = random.Random(7)
    moments = [(kill + chance.uniform(0.2, 0.8)) / (kills + 1) for kill in range(kills)]
    killed: list[float] = []
    for moment in moments:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
        time.sleep(max(0.0, began + moment * minutes * 60 - time.monotonic()))
        seen = len(site.log)
        while len(site.log) == seen and process.poll() is None:
            time.sleep(0.001)
        process.kill()
        killed.append(time.time())
        was = process.wait()
        print(
            f"killed after {time.monotonic() - began:.0f} s: exit code {was}, under way: {site.log[-1][1]}",
            flush=True,
        )
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        process.wait(max(0.0, began + minutes * 60 - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.terminate()
    _, said = process.communicate()
    return killed, [f"exit code {process.returncode}", *said.splitlines()[-3:]]


def main() -> int:
    """Run the journey, and say what the server's log shows."""
    parser = argparse.ArgumentParser(description="Import, plan, watch and kill.")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--per-hour", type=int, default=50)
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--kills", type=int, default=3)
    given = parser.parse_args()
    with Site() as site, tempfile.TemporaryDirectory() as folder:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        known, store, log = Path(folder, "known.jsonl"), str(Path(folder, "s.db")), Path(folder, "rounds.log")
        rows = write_known(known, site.server_port, given.pages)
        subprocess.run(honeyguide("import", str(known), "--store", store, "-q"), check=True)
        planned = subprocess.run(
            honeyguide("plan", "--store", store, "--top", "50", "--format", "jsonl"),
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        best = [int(json.loads(line)["url"].rpartition("-")[2]) for line in planned.stdout.splitlines()]
        command = honeyguide(
            "watch", "--store", store, "--per-hour", str(given.per_hour), "--cycle", "10", "--rest", str(REST_S), "--delay", "0.2",
            "--allow-private", "--log", str(log), "-q",
        )  # fmt: skip
        killed, ended = watch_and_kill(command, site, given.minutes, given.kills)
        site.shutdown()
        print(
            f"{rows:,} visits of {VISITED_DAYS} days imported; plan: {sum(p % CHANGING == 0 for p in best)} of 50 are changing pages"
        )
        print(*ended, *log.read_text("utf-8").splitlines()[-1:], sep="\n")
        problems = [
            *([] if ended[0] == "exit code 0" else [f"the last watch ended with {ended[0]}"]),
            *budget_problems(site.log, given.per_hour, given.minutes, given.kills),
            *visit_problems(site, store, killed),
        ]
        print(*problems, "BROKEN" if problems else "kept", sep="\n")
        return 1 if problems else 0


def budget_problems(log: list[tuple[float, str]], per_hour: int, minutes: float, kills: int) -> list[str]:
    """Count requests by the server's log: the busiest hour, and whether the budget was used at all."""
    kinds = Counter("redirect target" if "other" in path else path.split("-")[0] for _, path in log)
    times = [at for at, _ in log]
    busiest = max((sum(0 <= at - first < HOUR_S for at in times) for first in times), default=0)
    print(
        f"{len(log)} requests in {minutes:g} minutes, {busiest} in the busiest hour of {per_hour} allowed: {dict(kinds)}"
    )
    found = []
    if busiest > per_hour:
        found.append("more requests than the budget allows")
    if len(log) < per_hour * minutes / 60 * 0.5:
        found.append("less than half of the budget was used")
    if kinds["/robots.txt"] != kills + 1:
        found.append("each process should ask for robots.txt once")
    return found


def visit_problems(site: Site, store: str, killed: list[float]) -> list[str]:
    """Compare the server's log with the visits of the store, page by page."""

    def is_under_way(at: float) -> bool:
        return any(0 <= kill - at < UNDER_WAY_S for kill in killed)

    asked: dict[str, list[float]] = {}
    for at, path in site.log:
        asked.setdefault(path, []).append(at)
    last_pages = [path for path in asked if path != "/robots.txt" and not _redirects(path)]
    lost, invented, unwritten, answers = [], [], 0, 0
    with opened_store(store) as opened:
        for path in last_pages:
            url = Url.parse(f"http://127.0.0.1:{site.server_port}{path}")
            visits = len(opened.history.visits(digest_of(url, Tracking())))
            answers += len(asked[path])
            unwritten += len(asked[path]) - visits
            sure = sum(not is_under_way(at) for at in asked[path])
            lost += [path] if visits < sure else []
            invented += [path] if visits > len(asked[path]) else []
    early = [
        (path, first, second)
        for path, times in asked.items()
        if path.startswith("/page")
        for first, second in itertools.pairwise(times)
        if second - first < REST_S
    ]
    repeated = [path for path, first, _ in early if not is_under_way(first)]
    changing = sum(_number(path) % CHANGING == 0 for _, path in site.log if path.startswith("/page"))
    pages = sum(path.startswith("/page") for _, path in site.log)
    print(f"{changing} of {pages} requests of pages went to the third of pages that changes")
    print(
        f"{answers} answers, {unwritten} of them under way at one of {len(killed)} kills and not in the store;"
        f" {len(early)} pages asked for again before their rest for that reason"
    )
    return [
        *([f"answers that the store has not: {lost}"] if lost else []),
        *([f"visits that were not made: {invented}"] if invented else []),
        *([f"asked for again too early: {repeated}"] if repeated else []),
    ]


def _number(path: str) -> int:
    return int(re.sub(r"\D", "", path) or 0)


def _redirects(path: str) -> bool:
    return path.startswith("/page") and _number(path) % REDIRECTS == REDIRECTS - 1


if __name__ == "__main__":
    sys.exit(main())
