"""An operator's ten minutes, for real: known URLs of two months are imported and planned, a watch is killed three times.

    python tools/check_watch.py [--minutes 10] [--per-hour 150] [--pages 400] [--kills 3]

A server on this machine has pages of which a third change every minute, and logs each request. Known URLs are imported, `plan` ranks
them, `watch` runs until the minutes are over, and dies by SIGKILL at random moments. Checked by the server's own log: requests never
exceed the budget, robots.txt and redirects included; pages that change are visited more often; each process goes on where the last
one died. Exit code 1 if a promise is broken. Start reading at `main`.
"""

from __future__ import annotations

# ruff: noqa: S311, S603, T201 - made-up pages, commands of our own, a report on the terminal
import argparse
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

CHANGING = 3  # one page in so many changes every minute
VISITED_DAYS = 60


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
        number = int(re.sub(r"\D", "", self.path) or 0)
        if self.path.startswith("/page") and number % 10 == 9:
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


def watch_and_kill(command: list[str], minutes: float, kills: int) -> list[str]:
    """Run the watch until the time is over, and kill it at random moments; returns what it said at its end."""
    end = time.monotonic() + minutes * 60
    chance = random.Random(7)
    moments = sorted(chance.uniform(0.1, 0.9) for _ in range(kills))
    stops = [end - minutes * 60 * (1.0 - moment) for moment in moments]
    for stop in stops:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            process.wait(max(0.0, stop - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
        print(f"killed after {minutes * 60 - (end - time.monotonic()):.0f} s", flush=True)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        process.wait(max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.terminate()
    _, said = process.communicate()
    return [f"exit code {process.returncode}", *said.splitlines()[-3:]]


def main() -> int:
    """Run the journey, and say what the server's log shows."""
    parser = argparse.ArgumentParser(description="Import, plan, watch and kill.")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--per-hour", type=int, default=150)
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
            "watch", "--store", store, "--per-hour", str(given.per_hour), "--cycle", "10", "--rest", "30", "--delay", "0.2",
            "--allow-private", "--log", str(log), "-q",
        )  # fmt: skip
        ended = watch_and_kill(command, given.minutes, given.kills)
        site.shutdown()
        return report(site, given, rows, best, [*ended, *log.read_text("utf-8").splitlines()[-1:]])


def report(site: Site, given: argparse.Namespace, rows: int, best: list[int], ended: list[str]) -> int:
    """Print what happened; 1 if the budget was exceeded, hardly used, or a process lost its place."""
    paths = Counter("redirect target" if "other" in path else path.split("-")[0] for _, path in site.log)
    visited = [int(re.sub(r"\D", "", path)) for _, path in site.log if path.startswith("/page")]
    changing = sum(page % CHANGING == 0 for page in visited)
    print(
        f"{rows:,} visits of {VISITED_DAYS} days imported; plan: {sum(p % CHANGING == 0 for p in best)} of 50 are changing pages"
    )
    print(f"{len(site.log)} requests of {given.per_hour} allowed in an hour: {dict(paths)}")
    print(f"{changing} of {len(visited)} visits went to the third of pages that changes; {given.kills} kills")
    print(*ended, sep="\n")
    is_kept = given.per_hour * given.minutes / 60 * 0.5 <= len(site.log) <= given.per_hour
    is_sound = is_kept and ended[0] == "exit code 0" and paths["/robots.txt"] == given.kills + 1
    print("kept" if is_sound else "BROKEN")
    return 0 if is_sound else 1


if __name__ == "__main__":
    sys.exit(main())
