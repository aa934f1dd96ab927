"""Show that another tree of Honeyguide, such as an older commit, gives the same records as this one, byte for byte.

    python tools/check_same.py OLD_TREE URL... [--crawl "OPTIONS"]... [--pick "OPTIONS"]... [--sites FILE]

Both trees need an environment in `.venv`. Each URL is crawled by both trees with each set of crawl options; what is compared are
the records, and of the stores all rows of the frontier with the pages that link them. `--sites` is a list of homepages, which
both trees pick with each set of pick options. Only times of day and durations may differ. The exit code is 1 if anything differs.
"""
# ruff: noqa: T201, S603 - a script that prints, and runs our own commands

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent.parent
TIMES = {"fetched_at", "elapsed_s", "picked_at"}
CRAWLS = [
    f"--topic 'asyncio|coroutine|event loop' --traversal {traversal} --concurrency {concurrency}"
    for traversal in ("focused", "focused-fixed", "hybrid", "bfs", "dfs")
    for concurrency in (1, 32)
]
PICKS = [f"--strategy {strategy}" for strategy in ("rules", "blend", "portfolio")]
# Runs in the environment of a tree, and reads its store through the names that all versions have.
FRONTIER = """
import json, sys
from honeyguide.app.runs import opened_store
from honeyguide.core.crawl.frontier import digest_of
from honeyguide.core.url.url import Url
from honeyguide import load_profile
tracking = load_profile("docs").scope.tracking
with opened_store(sys.argv[1], read_only=True) as store:
    for run in store.runs.list():
        ledger = store.ledger(run)
        for row in ledger.rows():
            row, seen = ledger.find(digest_of(Url.parse(row.url), tracking)) or (row, ())
            print(json.dumps([*row._replace(due_at=None), *seen], default=str))
        print(json.dumps(ledger.counts()._asdict(), default=dict, sort_keys=True))
"""


def main() -> int:
    """Compare all jobs; 1 if one differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path, metavar="OLD_TREE")
    parser.add_argument("urls", nargs="*", metavar="URL")
    parser.add_argument(
        "--crawl", action="append", metavar="OPTIONS", help="default: all traversals, at 1 and 32"
    )
    parser.add_argument("--pick", action="append", metavar="OPTIONS", help="default: all strategies")
    parser.add_argument("--sites", type=Path, metavar="FILE")
    args = parser.parse_args()
    jobs = [("crawl", [url, *shlex.split(options)]) for url in args.urls for options in args.crawl or CRAWLS]
    if args.sites:
        jobs += [("pick", ["-i", str(args.sites), *shlex.split(options)]) for options in args.pick or PICKS]
    different = 0
    for command, options in jobs:
        old, new = (list(_lines(tree, command, options)) for tree in (args.old.resolve(), HERE))
        print(f"{command} {' '.join(options)}: {_compared(old, new)}", flush=True)
        different += old != new
    return 1 if different else 0


def _compared(old: list[str], new: list[str]) -> str:
    if old == new:
        return f"{len(old)} lines, the same"
    place = next(
        (n for n, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]),
        min(len(old), len(new)),
    )
    first = [lines[place][:2_000] if place < len(lines) else "nothing" for lines in (old, new)]
    return f"DIFFERENT from line {place} of {len(old)} and {len(new)}\n  old: {first[0]}\n  new: {first[1]}"


def _lines(tree: Path, command: str, options: list[str]) -> Iterator[str]:
    """Run a command of a tree, and give what it wrote and what it knows, a line each, without times."""
    with tempfile.TemporaryDirectory() as folder:
        output, store = Path(folder, "out.jsonl"), Path(folder, "store.db")
        kept = ["--store", str(store), "--no-keep"] if command == "crawl" else []
        fixed = ["-o", str(output), "--allow-private", "--delay", "0", "-q", *kept]
        python = tree / ".venv/bin/python"
        call = [str(python), "-m", "honeyguide", command, *options, *fixed]
        ended = subprocess.run(call, capture_output=True, text=True, check=False, cwd=folder)
        if not output.exists():
            sys.exit(f"{' '.join(call)}: {ended.stderr}")
        for line in output.read_text(encoding="utf-8").splitlines():
            yield json.dumps(_without_times(json.loads(line)))
        if command == "crawl":
            dumped = subprocess.run(
                [str(python), "-c", FRONTIER, str(store)], capture_output=True, text=True, check=True
            )
            yield from dumped.stdout.splitlines()


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(one) for key, one in value.items() if key not in TIMES}
    return [_without_times(one) for one in value] if isinstance(value, list) else value


if __name__ == "__main__":
    sys.exit(main())
