"""Plan beside others: the best 100 of many known URLs in Parquet, with time and memory.

    python -m bench.plan [--rows 10000000] [--rounds 3] [--file known.parquet] [-o table.md]

Owns: the entrants and their table. Each entrant runs in a process of its own, which reports its time without imports
and the most memory it had. Start reading at `ENTRANTS`. Rows are made up, the same everywhere (`plan_rows.py`).
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.plan_rows import NOW, generate

if TYPE_CHECKING:
    from collections.abc import Callable

TOP = 100
SAMPLE = 100_000  # rows that the loop is timed on
_READ = ["visits", "last_visited", "last_changed", "topic_relevance", "hub_depth", "is_hub"]


def _plan(path: str, policy: str) -> Callable[[], list[str]]:
    import honeyguide.bulk.learned_table  # noqa: F401 - imports are not timed
    from honeyguide import load_profile
    from honeyguide.app.known_urls.files import known_sources, open_known
    from honeyguide.core.recrawl.plan import PlanQuery

    profile = load_profile("news")

    def run() -> list[str]:
        plan = open_known(known_sources([path]), profile, policy=policy).plan(PlanQuery(NOW, top=TOP))
        return [entry.scored.url for entry in plan.entries]

    return run


def ours(path: str) -> Callable[[], list[str]]:
    """The column evaluator: all rows checked, levels counted, the winners with their reasons."""
    return _plan(path, "heuristic")


def learned(path: str) -> Callable[[], list[str]]:
    """The policy that learns, on the same rows with rates: checks, levels and reasons as above, and when visits are due."""
    return _plan(with_rates(path), "learned")


def ours_with_rates(path: str) -> Callable[[], list[str]]:
    """The column evaluator on the rows with rates, which are checked, too."""
    return _plan(with_rates(path), "heuristic")


def with_rates(path: str) -> str:
    """Name the file whose rows have rates."""
    return str(Path(path).with_suffix(".rates.parquet"))


def floor(path: str) -> Callable[[], list[str]]:
    """Reading the columns and nothing else."""
    import polars as pl

    def run() -> list[str]:
        pl.read_parquet(path, columns=_READ)
        return []

    return run


def _visited(row: dict[str, Any]) -> tuple[float, list[str]]:
    if row["last_visited"] is None:
        return 0, []
    hours = (NOW - row["last_visited"]).total_seconds() / 3600
    if hours < 1:
        return -30, ["Recently visited (<1h)"]
    if hours < 24:
        return -10, ["Visited today"]
    return (15, ["Not visited in 7+ days"]) if hours > 168 else (0, [])


def _score(row: dict[str, Any]) -> tuple[float, list[str]]:
    paid, reasons = _visited(row)
    value = 50 + paid
    if row["last_changed"] is not None and (NOW - row["last_changed"]).total_seconds() < 86400:
        value += 20
        reasons.append("Changed in last 24h")
    value += int(row["topic_relevance"] * 15 + 0.5)
    if row["topic_relevance"] > 0.8:
        reasons.append("High topic relevance")
    if row["is_hub"]:
        value += 10
        reasons.append("Is a hub page")
    if row["hub_depth"] > 3:
        value -= 5
        reasons.append("Deep URL")
    return min(max(value, 0), 100), reasons


def loop(path: str) -> Callable[[], list[str]]:
    """A straightforward Python loop, on the first rows."""
    import polars as pl

    rows = pl.scan_parquet(path).head(SAMPLE).collect().to_dicts()

    def run() -> list[str]:
        scored = [(*_score(row), row["url"]) for row in rows]
        return [url for _, _, url in sorted(scored, key=lambda item: -item[0])[:TOP]]

    return run


# Times are compared as whole numbers: intervals of time zones cost duckdb ten times as much.
_SQL = """
select url, greatest(0, least(100, 50
  + case when {now} - epoch_us(last_visited) < 3600000000 then -30
         when {now} - epoch_us(last_visited) < 86400000000 then -10
         when {now} - epoch_us(last_visited) > 604800000000 then 15 else 0 end
  + case when {now} - epoch_us(last_changed) < 86400000000 then 20 else 0 end
  + floor(topic_relevance * 15 + 0.5)
  + case when is_hub then 10 else 0 end
  + case when hub_depth > 3 then -5 else 0 end)) as score
from read_parquet('{path}', file_row_number = true)
order by score desc, file_row_number limit {top}
"""


def duckdb(path: str) -> Callable[[], list[str]]:
    """The same score as SQL, without reasons, checks and levels."""
    import duckdb as engine

    query = _SQL.format(path=path, now=int(NOW.timestamp()) * 1_000_000, top=TOP)
    return lambda: [row[0] for row in engine.sql(query).fetchall()]


ENTRANTS = {
    "honeyguide plan": ours,
    "honeyguide plan, rows with rates": ours_with_rates,
    "honeyguide plan, rows with rates, learned": learned,
    "polars, reading the columns": floor,
    "duckdb SQL": duckdb,
    "Python loop": loop,
}


def child(name: str, path: str) -> None:
    """Run one entrant and report."""
    gc.set_threshold(50_000)  # as our command line does, for everybody
    run = ENTRANTS[name](path)
    wall, cpu = time.perf_counter(), time.process_time()
    found = run()
    report = {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak_mb": _peak_mb(),
        "found": found,
    }
    print(json.dumps(report))


def _peak_mb() -> float:
    """Say how much memory this process has had; `ru_maxrss` also counts what its parent had when it started us."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text("ascii"))[1]) / 1024  # type: ignore[index]  # always there
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(path: Path, rounds: int) -> dict[str, list[dict[str, Any]]]:
    """Run everybody once a round; who cannot run is left out."""
    reports: dict[str, list[dict[str, Any]]] = {name: [] for name in ENTRANTS}
    for number in range(rounds):
        names = list(ENTRANTS)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            command = [sys.executable, "-m", "bench.plan", "--child", name, "--file", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ourselves
            if done.returncode == 0:
                reports[name].append(json.loads(done.stdout))
            elif not number:
                print(f"left out: {name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    return {name: listed for name, listed in reports.items() if listed}


def table(reports: dict[str, list[dict[str, Any]]], rows: int) -> str:
    """Write Markdown: medians, and how many times the floor."""
    times = {name: _medians(name, listed, rows) for name, listed in reports.items()}
    floor_cpu, floor_wall, _ = times["polars, reading the columns"]
    lines = [
        f"| top {TOP} of {rows:,} rows | CPU s | × reading | wall s | × reading | peak MB |", "|---|---|---|---|---|---|"
    ]  # fmt: skip
    for name, (cpu, wall, peak) in times.items():
        label = f"{name} (extrapolated from {SAMPLE:,})" if name == "Python loop" else name
        memory = "–" if name == "Python loop" else f"{peak:,.0f}"
        lines.append(
            f"| {label} | {cpu:.2f} | {cpu / floor_cpu:.2f} | {wall:.2f} | {wall / floor_wall:.2f} | {memory} |"
        )
    same = [name for name in ("duckdb SQL",) if name in reports]
    for name in same:
        verdict = (
            "the same" if reports[name][0]["found"] == reports["honeyguide plan"][0]["found"] else "OTHER"
        )
        lines.append(f"\n{name} finds {verdict} {TOP} URLs in the same order.")
    return "\n".join(lines) + "\n"


def _medians(name: str, reports: list[dict[str, Any]], rows: int) -> tuple[float, float, float]:
    times = rows / SAMPLE if name == "Python loop" else 1.0
    cpu, wall, peak = (median(report[key] for report in reports) for key in ("cpu", "wall", "peak_mb"))
    return cpu * times, wall * times, peak


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.plan", description="Measure plan beside its peers."
    )
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--file", type=Path, help="where the made-up rows are kept; made if not there")
    parser.add_argument("-o", "--output", type=Path, help="write the table here")
    parser.add_argument("--child", choices=list(ENTRANTS), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(asked.child, str(asked.file))
        return
    path = asked.file or Path(tempfile.gettempdir()) / f"honeyguide-plan-{asked.rows}.parquet"
    generate(path, asked.rows)
    generate(Path(with_rates(str(path))), asked.rows, with_rates=True)
    report = table(measure(path, asked.rounds), asked.rows)
    report += f"\nMedians of {asked.rounds} rounds. Python {platform.python_version()} on {platform.system()}; {_versions()}.\n"
    if asked.output:
        asked.output.write_text(report, encoding="utf-8")
    else:
        print(report)


def _versions() -> str:
    found = []
    for name in ("polars", "duckdb"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


if __name__ == "__main__":
    main()
