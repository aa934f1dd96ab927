"""Where the CPU time of a crawl goes, stage by stage: `python -m bench.stages --folder DIR [--rounds 5]`.

Crawls a site, each time in a process of its own, and looks at the stack at every tick of the process's CPU clock: a sample counts for the
first stage on its stack, from the outside in. So links that are described when they are judged count as judging. Start reading
at `STAGES`.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench.apart import add_site, environment, site
from bench.crawl import TOPIC

if TYPE_CHECKING:
    from types import FrameType

# A stage, and what the path and the function of a frame end with, or have in them. Those of reading a page come first.
_HTML = "adapters/html/"
STAGES = (
    ("starting: imports", ("<frozen importlib._bootstrap>",)),
    ("reading: encoding, limits of markup", (f"{_HTML}guards.py", f"{_HTML}charset.py")),
    ("reading: lexbor", (f"{_HTML}walk.py __init__",)),
    ("reading: walk", (f"{_HTML}walk.py _walk",)),
    ("reading: links", (f"{_HTML}links.py",)),
    ("reading: text, metadata, main text", (_HTML,)),
    ("judging: links, relevance, likeness", ("core/crawl/", "core/rules/", "core/page/", "core/recrawl/")),
    ("store", ("adapters/store/",)),
    ("HTTP, robots.txt", ("adapters/http/", "/aiohttp/", "jobs/politeness.py")),
)
_REST = "the rest: event loop, records, URLs"
_TICK_S = 0.001
_SAMPLES = "BENCH_STAGES"  # where a process writes its samples


def main() -> None:
    """Crawl in rounds, and print the shares."""
    parser = argparse.ArgumentParser(prog="python -m bench.stages", description=__doc__)
    add_site(parser)
    parser.add_argument("--topic", default=TOPIC)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with site(given):
        rounds = [_shares(given.url, given.topic) for _ in range(given.rounds)]
    names = [*(name for name, _ in STAGES), _REST]
    print("| stage | CPU ms a page, median | share |\n|---|---:|---:|")
    for name in names:
        print(
            f"| {name} | {median(one['ms'] * one[name] for one in rounds):.2f}"
            f" | {100 * median(one[name] for one in rounds):.0f} % |"
        )
    print(f"| all | {median(one['ms'] for one in rounds):.2f} | 100 % |")
    print(f"\nRounds: {given.rounds}; Python {platform.python_version()}.")


def _shares(url: str, topic: str) -> defaultdict[str, float]:
    """Crawl a site in a process; give the share of each stage, and as `ms` what a page costs."""
    with tempfile.TemporaryDirectory(prefix="bench-stages-") as folder:
        samples = Path(folder, "samples.json")
        words = ["crawl", url, "--topic", topic, "--max-pages", "10000", "--delay", "0", "--allow-private"]
        command = [sys.executable, "-c", "from bench.stages import sampled; sampled()"]
        subprocess.run(  # noqa: S603 - ourselves
            [*command, *words, "--quiet", "--no-keep", "-o", "pages.jsonl"],
            cwd=folder,
            env={**environment(folder), _SAMPLES: str(samples)},
            check=True,
        )
        counts = dict(json.loads(samples.read_text("utf-8")))
        pages = Path(folder, "pages.jsonl").read_bytes().count(b"\n")
    cpu_s = counts.pop("cpu_s")
    shares = {name: count / sum(counts.values()) for name, count in counts.items()}
    return defaultdict(float, shares, ms=cpu_s * 1000 / pages)


def sampled() -> None:
    """Run the command line, and write how many samples each stage has."""
    from honeyguide.cli.main import main as command_line

    found: Counter[str] = Counter()
    known: dict[tuple[str, str], str | None] = {}

    def sample(_number: int, frame: FrameType | None) -> None:
        stages = []
        while frame is not None:
            code = frame.f_code
            key = code.co_filename, code.co_name
            if key not in known:
                known[key] = _stage_of(*key)
            if (stage := known[key]) is not None:
                stages.append(stage)
            frame = frame.f_back
        found[_outermost(stages)] += 1

    def write() -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        used = os.times()
        report = {**found, "cpu_s": used.user + used.system}
        Path(os.environ[_SAMPLES]).write_text(json.dumps(report), "utf-8")

    atexit.register(write)
    signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, _TICK_S, _TICK_S)
    command_line(None)


def _stage_of(path: str, function: str) -> str | None:
    where = f"{path} {function}"
    return next((name for name, marks in STAGES if any(mark in where for mark in marks)), None)


def _outermost(stages: list[str]) -> str:
    """Choose the stage of a stack from the inside out; what reading a page does is told apart by the innermost."""
    if not stages:
        return _REST
    outer = stages[-1]
    if outer.startswith("reading"):
        return next(stage for stage in stages if stage.startswith("reading"))
    return outer


if __name__ == "__main__":
    main()
