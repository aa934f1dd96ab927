"""What operators wait for: plans of large files, of many files, and of a store, beside the time that reading them takes.

    python -m bench.operators [--folder FOLDER] [--rows 2000000] [--files 25] [--stored 1200000] [--rounds 3]
    python -m bench.operators --task import known.csv

Owns: the table. Each line runs in a process of its own, which reports its CPU time without imports. Rows are made up, the
same everywhere (`plan_rows.py`); the store is made by `import_known` from the CSV file.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench.plan_rows import NOW, _part, generate

if TYPE_CHECKING:
    from collections.abc import Callable

    Report = dict[str, float | None]

_READ = ["visits", "last_visited", "last_changed", "topic_relevance", "hub_depth", "is_hub"]


def read(path: str) -> Callable[[], object]:
    """Reading the columns and nothing else."""
    import polars as pl

    return lambda: pl.read_csv(path) if path.endswith(".csv") else pl.read_parquet(path, columns=_READ)


def plan(path: str, policy: str | None = None) -> Callable[[], object]:
    """The best 100, all rows checked, levels counted."""
    import honeyguide.bulk.learned_table
    import honeyguide.bulk.store.table  # noqa: F401 - imports are not timed
    from honeyguide import load_profile
    from honeyguide.app.plan import PlanQuery, PlanRequest, open_plan

    profile = load_profile("news")
    is_store = path.endswith(".db")
    request = PlanRequest(
        profile, () if is_store else (path,), store=path if is_store else None, policy=policy
    )

    def run() -> object:
        with open_plan(request) as session:
            return session.ranker.plan(PlanQuery(NOW, top=100)).rows

    return run


def load(path: str) -> Callable[[], object]:
    """Bringing known URLs into a new store."""
    import honeyguide.bulk.known_rows  # noqa: F401 - imports are not timed
    from honeyguide import import_known

    def run() -> object:
        with tempfile.TemporaryDirectory() as folder:
            return import_known(path, Path(folder, "new.db")).rows

    return run


def prepare(folder: Path, rows: int, files: int, stored: int) -> None:
    """Make what is not there yet."""
    import polars as pl

    from honeyguide import import_known

    folder.mkdir(parents=True, exist_ok=True)
    generate(folder / "known.parquet", rows)
    if not (folder / "known.csv").exists():
        pl.read_parquet(folder / "known.parquet").write_csv(folder / "known.csv")
    (folder / "many").mkdir(exist_ok=True)
    for number in range(files):
        if not (path := folder / "many" / f"{number:03}.parquet").exists():
            _part(number * rows, rows, with_rates=False).write_parquet(path, row_group_size=250_000)
    if not (folder / "known.db").exists():
        known = pl.read_parquet(folder / "known.parquet").head(stored)
        known.write_parquet(folder / "stored.parquet")
        import_known(str(folder / "stored.parquet"), folder / "known.db")


def cpu_s() -> float:
    """The CPU time of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure each task, or the one that is named."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir(), "operators"))
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--files", type=int, default=25)
    parser.add_argument("--stored", type=int, default=1_200_000, help="rows of the store")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--task", nargs=2, help="for processes of our own")
    given = parser.parse_args()
    if given.task:
        print(json.dumps(measure(*given.task)))
        return
    prepare(given.folder, given.rows, given.files, given.stored)
    print("| task | CPU seconds, median (all) | rows |\n|---|---|---|")
    for path in ("known.csv", "known.parquet", "many/*.parquet", "known.db"):
        tasks = ("read", "plan") if not path.endswith(".db") else ("plan",)
        found: dict[str, list[Report]] = {task: [] for task in tasks}
        for _ in range(given.rounds):
            for task in tasks:
                command = [sys.executable, "-m", "bench.operators", "--task", task, str(given.folder / path)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - this module
                found[task].append(json.loads(done.stdout))
        for task, reports in found.items():
            times = sorted(report["cpu_s"] or 0.0 for report in reports)
            listed = ", ".join(f"{one:.2f}" for one in times)
            print(
                f"| {task} {path} | {median(times):.2f} ({listed}) | {reports[0]['rows'] or ''} |", flush=True
            )


def measure(task: str, path: str) -> Report:
    """Run a task in this process."""
    gc.set_threshold(50_000)  # as our command line does, for everybody
    run = {"read": read, "plan": plan, "import": load}[task](path)
    before = cpu_s()
    found = run()
    return {"cpu_s": round(cpu_s() - before, 2), "rows": found if isinstance(found, int) else None}


if __name__ == "__main__":
    main()
