"""Look for a page, a file or a store that keeps a command busy for more than two seconds of CPU after SIGTERM or Ctrl-C.

    python tools/find_busy.py [--seconds 120] [--seed 1]

Makes odd pages, Markdown, rows, profiles, patterns and stores: pieces of markup and text repeated up to the limits, joined,
nested and damaged. Each case is a command in a process of its own. The signal is sent when it has used 0.2 to 1.2 seconds of
CPU, then its CPU is measured until it ends. Prints the cases, those that ended by themselves, orderly or by force, and the worst.
The exit code is 1 if a process used more than two seconds of CPU after the signal.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_S = 2.0
PIECES = (
    "<p>a", "<h2>a</h2>", "<div>", "<font>", "<b><p>", "<a href=/{n}>b</a>", "<a href=//接{n}续火災.example/>b</a>", "<ul><li>a",
    "<table><tr><td>a", "<td>a", "<tr>", "<option>", "<svg><title>a", "<a b=c ", "<!--", "&amp;", "<script>", "<nav><a href=?{n}>b</a>",
    "a\u0301\u0323", "\u0301\u0323", "\uff9e\u0301", "Σ", "\ufdfa", "fire ", "<main><p>fire", "<title>", "[a](", "[", "*a_b", "`", "> ", "- ",
    "  - a\n", "[a]: /b\n", "\0", "\x1b$B", "a", " ", "\n", "<loc>http://a/{n}</loc>", "Disallow: /*a*a{n}$\n", "%41", "'", '"', ",", "{{", "[[",
)  # fmt: skip
LINKS = "".join(
    f"<a href=/services/{n}>fire {n}</a> " for n in range(60)
).encode()  # so that a crawl has work
PATTERNS = (
    "fire",
    "a.{0,150}b!",
    "(?:a?b?){300}!",
    "(?:.?){150}z",
    "a" * 1400 + "!?b",
    "fire|alarm|" + "a" * 900,
)


class Case(NamedTuple):
    """A command, and what it is about in a few words."""

    name: str
    arguments: list[str]


def text_of(chance: random.Random, size: int) -> str:
    """Make a text of one to four pieces, repeated in runs or mixed."""
    pieces = chance.sample(PIECES, chance.choice((1, 1, 1, 2, 3, 4)))
    if chance.random() < 0.5:
        share = size // len(pieces)
        runs = (piece * (share // len(piece.encode()) + 1) for piece in pieces)
    else:
        whole = "".join(piece * chance.randint(1, 50) for piece in pieces)
        runs = (whole * (size // len(whole.encode()) + 1) for _ in range(1))
    text = "".join(runs)
    return "".join(f"{part}{n}" for n, part in enumerate(text.split("{n}"))) if "{n}" in text else text


class Site(BaseHTTPRequestHandler):
    """One page under every address; robots.txt is odd now and then."""

    body = b""
    robots = b""

    def do_GET(self) -> None:
        """Answer."""
        body = self.robots if self.path == "/robots.txt" else self.body
        kind = "text/plain" if self.path == "/robots.txt" else "text/html"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # a command that was ended hangs up
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def make_case(chance: random.Random, folder: Path, home: str) -> Case:
    """Choose a command and write what it reads."""
    size = chance.choice((1_000_000, 2_000_000, 4_500_000))
    text, pattern = text_of(chance, size), chance.choice(PATTERNS)
    data = text.encode("utf-8", "replace")
    Site.body, Site.robots = (LINKS + data)[:5_000_000], data[:500_000] if chance.random() < 0.2 else b""
    files = {
        "page.html": LINKS + data,
        "page.md": data[:1_900_000],
        "rows.csv": b"url,title\n" + data[:900_000],
        "rows.jsonl": b"".join(_row(n, text) for n in range(50)),
        "picks.jsonl": b"".join(_pick(n, text) for n in range(50)),
        "profile.toml": b'schema = 1\nextends = "docs"\nname = "p"\n' + data[:250_000],
        "odd.db": b"SQLite format 3\0" + data[:100_000],
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    base, here = ["--base", "https://a.example/"], ["--allow-private", "--delay", "0", "--quiet"]
    crawl = ["crawl", home, *here, "-o", "p.jsonl", "--topic", pattern]
    pages = ["--content", "--format", "jsonl"]
    makers: dict[Callable[[], list[str]], int] = {
        lambda: crawl: 4,
        lambda: [*crawl, "--content"]: 4,
        lambda: [*crawl, "--links", "--report", "r.html"]: 2,
        lambda: [*crawl, "--max-time", "1"]: 2,
        lambda: ["pick", home, *here]: 4,
        lambda: ["links", "page.html", *base]: 2,
        lambda: ["links", "page.md", *base]: 2,
        lambda: ["select", "page.html", *base]: 3,
        lambda: ["score", "page", "page.html", "--topic", pattern]: 3,
        lambda: ["plan", "rows.csv"]: 1,
        lambda: ["plan", "rows.jsonl"]: 1,
        lambda: ["diff", "picks.jsonl", "rows.jsonl"]: 1,
        lambda: ["pick", "-i", "rows.csv", *here]: 1,
        lambda: ["profile", "check", "profile.toml"]: 1,
        lambda: ["url", "normalize", text[:60_000].replace("\0", "") or "a"]: 1,
        lambda: ["export", "pages", "--store", "odd.db"]: 1,
        lambda: _stored(crawl, folder, ["export", "pages", *pages]): 2,
        lambda: _stored(crawl, folder, ["export", "pages", "--chunks", "500"]): 2,
        lambda: _stored(crawl, folder, ["rescore", "--topic", chance.choice(PATTERNS), *pages]): 2,
    }
    (maker,) = chance.choices(list(makers), list(makers.values()))
    arguments = maker()
    return Case(f"{' '.join(arguments)[:60]!r} | {size:,} bytes of {text[:40]!r}", arguments)


def _row(number: int, text: str) -> bytes:
    row = {
        "url": f"https://a.example/{number}",
        "visits": 1,
        "topic_relevance": 0,
        "hub_depth": 1,
        "is_hub": True,
    }
    return json.dumps({**row, "title": text[:400_000]}).encode() + b"\n"


def _pick(number: int, text: str) -> bytes:
    return (
        json.dumps({"schema": 2, "site": f"https://{number}.example/", "pages": [text[:400_000]]}).encode()
        + b"\n"
    )


def _stored(crawl: list[str], folder: Path, arguments: list[str]) -> list[str]:
    """Fill a store with pages of the site before the case begins, and give the case."""
    command = [
        sys.executable,
        "-m",
        "honeyguide",
        *crawl,
        "--traversal",
        "bfs",
        "--max-pages",
        "8",
        "--max-time",
        "60",
    ]
    null = subprocess.DEVNULL
    subprocess.run(command, cwd=folder, stdout=null, stderr=null, check=False)  # noqa: S603 - our own program
    return arguments


def run(case: Case, folder: Path, delay_s: float, number: int) -> tuple[float, float, int]:
    """Run a command; return its CPU and its seconds after the signal, and its exit code. It must end within a minute."""
    command = [sys.executable, "-m", "honeyguide", *case.arguments]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    null = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=folder, stdout=null, stderr=null) as process:  # noqa: S603 - our own program
        used_s = 0.0
        while process.poll() is None and used_s < delay_s:
            time.sleep(0.01)
            used_s = cpu_of(process.pid)
        if process.poll() is not None:
            return 0.0, 0.0, process.returncode
        sent = time.monotonic()
        process.send_signal(number)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
        lasted_s = time.monotonic() - sent
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    total_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return max(0.0, total_s - used_s), lasted_s, process.returncode


def cpu_of(pid: int) -> float:
    """Read the seconds of CPU that a process has used so far; this works on Linux."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Try cases until the time is over."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell's background jobs ignore it, and so would the cases
    chance = random.Random(options.seed)  # noqa: S311 - the same cases for the same seed
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ends: Counter[str] = Counter()
    worst, found, until = (0.0, 0.0, ""), [], time.monotonic() + options.seconds
    while time.monotonic() < until:
        with tempfile.TemporaryDirectory() as name:
            case = make_case(chance, Path(name), f"http://127.0.0.1:{server.server_port}/")
            number = chance.choice((signal.SIGTERM, signal.SIGINT))
            cpu_s, lasted_s, code = run(case, Path(name), chance.uniform(0.2, 1.2), number)
        ends[
            "before the signal" if not lasted_s else "by force" if code == -signal.SIGKILL else "orderly"
        ] += 1
        worst = max(worst, (cpu_s, lasted_s, case.name))
        if cpu_s > MOST_S:
            found.append(
                f"{cpu_s:.2f} s of CPU, {lasted_s:.2f} s, after {signal.Signals(number).name}: {case.name}"
            )
    lines = [
        f"{ends.total()} cases in {options.seconds:.0f} s, seed {options.seed}; ended: {dict(ends)}",
        f"worst after the signal: {worst[0]:.2f} s of CPU, {worst[1]:.2f} s: {worst[2]}",
        *(found or ["none above two seconds"]),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
