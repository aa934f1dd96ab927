"""Freeze what every command gives on the demo site, and compare two such sets.

    python tools/golden.py --write DIR
    python tools/golden.py --compare A B [--whole]

Each case is a file: the command, its exit code, what it printed to standard output and to standard error, and the files
it wrote; Parquet is shown as JSON lines. Ports, minutes and seconds of the crawl, durations, folders and the version are
replaced; everything else is as it was, byte for byte. --compare lists what differs by case, and all fields that have
another name at the end; of a long difference it shows the beginning, --whole all of it. The exit code is then 1.
tests/journeys/test_golden.py compares tests/golden with what the commands give now.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from pathlib import Path

from freezing.cases import CASES, write_inputs
from freezing.comparing import compared
from freezing.running import Runner, settled
from freezing.serving import SITE, serve


def write(folder: Path) -> None:
    """Run all cases, and make the folder hold what they gave and nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {f"{case.name}.txt" for case in CASES}
    if len(names) < len(CASES):
        raise ValueError("two cases have one name")
    warnings.simplefilter("ignore")  # those of libraries come once in a process, with whichever case is first
    with tempfile.TemporaryDirectory() as made, serve() as served, settled():
        write_inputs(Path(made), SITE)
        runner = Runner(Path(made), served)
        for case in CASES:
            (folder / f"{case.name}.txt").write_bytes(runner.freeze(case).encode("utf-8", "backslashreplace"))
    for path in folder.glob("*.txt"):
        if path.name not in names:
            path.unlink()


def main() -> int:
    """Write or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--write", type=Path, metavar="DIR")
    asked.add_argument("--compare", type=Path, nargs=2, metavar=("A", "B"))
    parser.add_argument("--whole", action="store_true")
    args = parser.parse_args()
    if args.write:
        write(args.write)
        return 0
    told = compared(*args.compare, whole=args.whole)
    sys.stdout.write("".join(f"{line}\n" for line in told) or "no difference\n")
    return int(bool(told))


if __name__ == "__main__":
    sys.exit(main())
