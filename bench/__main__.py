"""The one command: `python -m bench [--only NAME] [--pages DIR] [-o table.md]`."""

from __future__ import annotations

import argparse
import platform
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from bench.measure import ROUNDS, Row, run_contest, table
from bench.peers import MISSING
from bench.sample import from_folder, made_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.sample import Sample

JOBS = ("urls", "links", "scores", "bm25", "start")  # each a module of that name with contests(sample)
_PEERS = ("scrapy", "crawl4ai", "w3lib", "courlan", "url-normalize", "yarl", "ada-url", "rank-bm25", "bm25s",
          "beautifulsoup4", "lxml", "selectolax")  # fmt: skip


def main() -> None:
    asked = _arguments()
    sample = from_folder(asked.pages) if asked.pages else made_up()
    report = "\n".join(_report(sample, asked.only or JOBS, asked.rounds))
    if asked.output:
        asked.output.write_text(report, encoding="utf-8")
    else:
        print(report)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measure Honeyguide beside its peers."
    )
    parser.add_argument("--only", action="append", choices=JOBS, help="one job; may be given again")
    parser.add_argument(
        "--pages", type=Path, help="a folder of HTML files to measure on, instead of made-up pages"
    )
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help="timings of each entrant (default %(default)s)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, help="write the Markdown here instead of to standard output"
    )
    return parser.parse_args()


def _report(sample: Sample, jobs: tuple[str, ...], rounds: int) -> Iterator[str]:
    rows: list[Row] = []
    notes: list[str] = []
    for job in jobs:
        for contest in import_module(f"bench.{job}").contests(sample):
            print(f"measuring: {contest.job}", file=sys.stderr)
            rows += run_contest(contest, rounds)
            notes += contest.notes
    yield table(rows)
    yield f"Medians of {rounds} interleaved rounds, CPU time; the ratio is theirs ÷ ours, *rounds* its span over the rounds.\n"
    yield f"Input: {sample.describe()}.\n"
    yield f"Python {platform.python_version()} on {platform.system()} {platform.machine()}; {', '.join(_versions())}.\n"
    yield from (f"- {note}" for note in notes)
    yield from (f"- left out: {module} ({why})" for module, why in MISSING.items())
    yield ""


def _versions() -> Iterator[str]:
    for name in ("honeyguide", *_PEERS):
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            continue


if __name__ == "__main__":
    main()
