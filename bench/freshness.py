"""Freshness of recrawl policies over several seeds: mean, standard error, and the difference to another checkout.

    python -m bench.freshness poisson:pages=2000 mdn.csv --budgets 60d,180d --seeds 10 [--first 201] [--before CHECKOUT] [--policies learned,uniform]

Owns: the table. A seed draws a made-up world, and the order of the pages of a history, which decides between equal values.
Differences are those of the same seed, so their spread is less than that of either code. Figures are of the whole run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import mean, stdev

Figures = dict[tuple[str, str, str], list[float]]


def measure(worlds: list[str], budgets: list[str], policies: list[str], seeds: range) -> None:
    """Print the freshness of each run as a line of JSON."""
    import numpy as np

    from honeyguide.simulation.generated import generate_world
    from honeyguide.simulation.measures import fresh_spans, freshness
    from honeyguide.simulation.run import POLICIES, Budget, simulate
    from honeyguide.simulation.worlds import Window, read_world

    for text in worlds:
        for seed in seeds:
            is_file = text.endswith(".csv")
            world = read_world(text, Window(), seed) if is_file else generate_world(text, seed, None)
            for budget in budgets:
                per_day = world.alive / float(budget.removesuffix("d"))
                for policy in policies:
                    make = POLICIES[policy]
                    log = simulate(world, Budget(budget, per_day), lambda sight: make(sight, world))  # noqa: B023 - called at once
                    found = freshness(world, fresh_spans(world, log), np.array([0.0, world.hours]))
                    name = Path(text).stem if is_file else text
                    print(json.dumps([name, budget, policy, float(found[0])]), flush=True)


def collect(arguments: list[str], source: Path | None = None) -> Figures:
    """Measure in a process of its own, with the code of this or of another checkout."""
    paths = [str(source / "src")] if source else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "bench.freshness", *arguments, "--child"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603 - this module
    figures: Figures = {}
    for line in done.stdout.splitlines():
        world, budget, policy, value = json.loads(line)
        figures.setdefault((world, budget, policy), []).append(value)
    return figures


def spread(values: list[float], digits: int = 4) -> str:
    """Write a mean and its standard error."""
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return f"{mean(values):.{digits}f} ± {error:.{digits}f}"


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description="Measure the freshness of policies over several seeds.")
    parser.add_argument("worlds", nargs="+", help="CSV files of histories, or made-up worlds")
    parser.add_argument("--budgets", default="60d", help="days in which each page is fetched once")
    parser.add_argument("--policies", default="learned")
    parser.add_argument("--seeds", type=int, default=10, help="how many")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--before", type=Path, help="a checkout to compare with")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    budgets, policies = given.budgets.split(","), given.policies.split(",")
    if given.child:
        measure(given.worlds, budgets, policies, range(given.first, given.first + given.seeds))
        return
    arguments = [*given.worlds, "--budgets", given.budgets, "--policies", given.policies]
    arguments += ["--seeds", str(given.seeds), "--first", str(given.first)]
    now = collect(arguments)
    before = collect(arguments, given.before) if given.before else {}
    print("| world | budget | policy | freshness |", "before | difference, % |" if before else "")
    print("|---|---|---|---|", "---|---|" if before else "")
    for key, values in now.items():
        cells = [*key, spread(values)]
        if key in before:
            pairs = zip(values, before[key], strict=True)
            cells += [spread(before[key]), spread([100.0 * (new / old - 1.0) for new, old in pairs], 2)]
        print("|", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
