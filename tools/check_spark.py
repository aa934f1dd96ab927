"""Run the tests of Spark and DuckDB with both of them, in an environment of its own, and measure what a plan in Spark costs.

    python tools/check_spark.py [FOLDER] [--rows N]

Makes a virtual environment in FOLDER (a temporary one without it), runs the tests of plans in Spark and of plan cards as SQL, the slow ones
too, and then ranks N made-up rows (2,000,000) with `plan` and in Spark on this machine: both must give the same URLs, scores, levels and reasons. Java
17 must be there. Spark is large, so it is not in the extra dev.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ("tests/bulk/test_spark.py", "tests/core/rules/test_sql.py")
TOP = 1_000


def main() -> int:
    """Set the environment up, run the tests, and compare the plans."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument(
        "--compare", type=Path, help="for a process of our own: compare the plans of this folder"
    )
    given = parser.parse_args()
    if given.compare:
        return compare(given.compare, given.rows)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(given.folder or scratch)
        python = str(folder / "bin" / "python")
        if not Path(python).exists():
            venv.create(folder, with_pip=True)
        install = [python, "-m", "pip", "install", "-q", "-e", f"{ROOT}[bulk,postgres,spark]"]
        subprocess.run([*install, "pytest", "duckdb>=1.0"], check=True)  # noqa: S603 - our own arguments
        tests = [python, "-m", "pytest", "-q", "-m", "slow or not slow", *TESTS]
        failed = subprocess.run(tests, cwd=ROOT, check=False).returncode  # noqa: S603 - as above
        command = [python, __file__, "--compare", scratch, "--rows", str(given.rows)]
        return failed or subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603 - as above


def compare(folder: Path, rows: int) -> int:
    """Rank the same rows both ways, and print the CPU time of each; that of Spark is without its start."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "shared")]
    import polars as pl
    from bench.plan_rows import NOW, generate
    from spark_session import session

    from honeyguide import plan_file
    from honeyguide.bulk.spark import plan

    generate(folder / "known.parquet", rows)
    pl.read_parquet(folder / "known.parquet").sort("url").write_parquet(folder / "sorted.parquet")
    plan_file(str(folder / "sorted.parquet"), now=NOW, top=1)  # imports are not measured
    before = cpu_s()
    entries = plan_file(str(folder / "sorted.parquet"), now=NOW, top=TOP).entries
    own = cpu_s() - before
    spark = session()
    frame = spark.read.parquet(str(folder / "known.parquet"))
    plan(frame.limit(100), 10, now=NOW).collect()  # nor the first start of Spark's workers
    before = cpu_s() + cpu_of_others()
    found = [tuple(row) for row in plan(frame, TOP, now=NOW).collect()]
    cluster = cpu_s() + cpu_of_others() - before
    expected = [
        (one.scored.url, one.scored.score.value, one.scored.level.name, list(one.scored.reasons))
        for one in entries
    ]
    sys.stdout.write(
        f"{rows:,} rows, the best {TOP:,}: one process {own:.1f} s CPU, Spark {cluster:.1f} s, {cluster / own:.0f} times as much"
        "\n"
    )
    sys.stdout.write("equal\n" if found == expected else "NOT EQUAL\n")
    return int(found != expected)


def cpu_s() -> float:
    """Read the CPU time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def cpu_of_others() -> float:
    """Read the CPU time of the processes below this one: the Java machine and its Python workers, and those that have ended."""
    ticks, parents, times = os.sysconf("SC_CLK_TCK"), {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text("utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
        times[int(stat.parent.name)] = sum(map(int, fields[11:15])) / ticks

    def is_below(process: int) -> bool:
        while process in parents:
            process = parents[process]
            if process == os.getpid():
                return True
        return False

    return sum(time for process, time in times.items() if is_below(process))


if __name__ == "__main__":
    raise SystemExit(main())
