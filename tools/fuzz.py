"""Feed hostile input to everything that reads what strangers write.

    python tools/fuzz.py TARGET [--cases N] [--seed S] [--jobs 2] [--seconds T] [CORPUS_DIRS...]

Targets are urls, hrefs, html, robots, sitemaps, markdown, profiles, patterns, csv, jsonl, parquet and stores, or `all`.
Every file below the directories is read as it is, then serves as a seed; of JSON files every string is one. For each
target this prints how many cases ran, the slowest, the peak of memory, and each kind of failure with the shortest case
that shows it. The same seed makes the same cases. The exit code is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzing.running import Amount, Outcome, fuzz
from fuzzing.targets import TARGETS

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_FILE_BYTES = 5_000_000


def documents(folders: list[Path]) -> Iterator[bytes]:
    """Read every file below the folders, in the order of names."""
    for folder in folders:
        for file in sorted(folder.rglob("*") if folder.is_dir() else [folder]):
            if file.is_file():
                data = file.read_bytes()[:MAX_FILE_BYTES]
                yield data
                if file.suffix == ".json":
                    yield from (text.encode("utf-8", "surrogatepass") for text in strings(json.loads(data)))


def strings(value: Any) -> Iterator[str]:
    """Find every string in a JSON document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def run_share(name: str, amount: Amount, corpus: list[bytes]) -> Outcome:
    """Run one process's share."""
    return fuzz(TARGETS[name](), amount, corpus)


def run(name: str, options: argparse.Namespace, corpus: list[bytes]) -> Outcome:
    """Run a target, divided among processes; each has a seed of its own, and its part of the corpus."""
    jobs, total = options.jobs, Outcome()
    shares = [
        (
            name,
            Amount(len(range(job, options.cases, jobs)), options.seconds, options.seed + job),
            corpus[job::jobs],
        )
        for job in range(jobs)
    ]
    if jobs == 1:
        return run_share(*shares[0])
    with ProcessPoolExecutor(jobs) as pool:
        for outcome in pool.map(run_share, *zip(*shares, strict=True)):
            total.add(outcome)
    return total


def told(name: str, outcome: Outcome) -> str:
    """Say what came of it."""
    lines = [
        (
            f"{name:<10}{outcome.cases:>12,} cases, slowest {outcome.slowest_s:.3f} s, peak {outcome.peak_mb:.0f} MB "
            f"(+{outcome.grown_mb:.0f}), {outcome.failed} failed"
        )
    ]
    lines.append(f"{'':<10}slowest: {outcome.slowest}")
    for failure in outcome.failures.values():
        lines += [
            f"  {failure.kind}",
            f"    case: {failure.case}",
            *(f"    {line}" for line in failure.story.splitlines()),
        ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        description="Feed hostile input to everything that reads what strangers write."
    )
    parser.add_argument("target", choices=[*TARGETS, "all"])
    parser.add_argument("corpus", nargs="*", type=Path, metavar="CORPUS_DIR")
    parser.add_argument("--cases", type=int, default=10_000, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--jobs", type=int, default=1, metavar="J")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), metavar="T", help="stop after so many seconds"
    )
    options = parser.parse_intermixed_args()
    corpus = list(documents(options.corpus))
    good = True
    for name in TARGETS if options.target == "all" else (options.target,):
        outcome = run(name, options, corpus)
        sys.stdout.write(told(name, outcome))
        sys.stdout.flush()
        good &= not outcome.failed
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
