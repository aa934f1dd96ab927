"""Change the core in one small place at a time, and report the changes that no test notices.

    python tools/mutate.py                                        60 changes of all of core
    python tools/mutate.py src/honeyguide/core/url --sample 200   200 changes of these modules
    python tools/mutate.py --then tests/jobs tests/journeys       what survives meets these tests, too

Comparisons are flipped, numbers are one greater or less, `and` becomes `or`, `not` and arithmetic signs are dropped or
swapped, conditions and returned booleans are negated, and words are removed from sets of words. Each change is made in a
copy of the package, and the tests of its area run on that copy, so that several processes may do this at once. A test run
that takes too long counts as a noticed change. The same --seed and --sample choose the same changes.

Exits with 1 if a change survives.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
CORE = SOURCE / "honeyguide" / "core"
DOCTESTS = "tests/docs/test_doctests.py::test_doctests[{module}]"
AREAS = {  # a folder of core: the tests that must notice its changes
    "text": ("core/text", "properties/test_text_properties.py", "core/rules", "spec/test_urls.py"),
    "url": ("core/url", "spec/test_urls.py", "properties/test_url_properties.py"),
    "page": ("core/page", "core/crawl", "spec/test_pages.py", "adapters/html"),
    "rules": ("core/rules", "spec", "properties/test_scoring_properties.py", "config", "core/text"),
    "fetching.py": ("core/test_fetching.py", "journeys/test_polite.py", "adapters/http/test_http.py"),
    "pick": ("core/pick", "spec", "properties/test_scoring_properties.py", "jobs/test_pick.py"),
    "crawl": (
        "core/crawl",
        "spec/test_topic.py",
        "contracts",
        "properties/test_frontier_properties.py",
        "journeys/test_crawl_sites.py",
    ),
    "recrawl": ("core/recrawl", "spec/test_plan.py", "properties/test_rate_properties.py"),
    "records": ("core/records", "spec/test_schemas.py", "spec/test_source_documents.py", "report"),
    "why.py": ("core", "spec"),
}
FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
SWAPPED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: the module, the number of the node in it, the number of the change, and both as text."""

    path: Path
    node: int
    change: int
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        source = self.path.read_text("utf-8").splitlines()[self.line - 1].strip()
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.before}  ->  {self.after}  in  {source}"

    def write(self, source: Path) -> None:
        """Write the changed module into a copy of src."""
        tree = ast.parse(self.path.read_text("utf-8"))
        node = list(ast.walk(tree))[self.node]
        new = changes_of(node)[self.change]
        replaced = _Replace(node, new).visit(tree)
        (source / self.path.relative_to(SOURCE)).write_text(
            ast.unparse(ast.fix_missing_locations(replaced)), "utf-8"
        )


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Put the new node where the old one is."""
        return self._new if node is self._old else self.generic_visit(node)


def changes_of(node: ast.AST) -> list[ast.expr]:
    """Make the changes of one node, each as a node that takes its place."""
    match node:
        case ast.Compare(ops=[op, *_]) if type(op) in FLIPPED:
            return [_with(node, ops=[FLIPPED[type(op)](), *node.ops[1:]])]
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            return [_with(node, op=other), *(part for part in node.values if len(node.values) > 2)]
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            return [node.operand]
        case ast.BinOp() if type(node.op) in SWAPPED:
            return [_with(node, op=SWAPPED[type(node.op)]())]
        case ast.Constant(value=bool()):
            return [ast.Constant(not node.value)]
        case ast.Constant(value=int() | float() as number):
            return [ast.Constant(number + 1), ast.Constant(number - 1)]
        case ast.IfExp():
            return [_with(node, test=ast.UnaryOp(ast.Not(), node.test))]
        case ast.Set() | ast.Tuple(ctx=ast.Load()) if len(node.elts) > 3 and all(map(_is_word, node.elts)):
            return [_with(node, elts=node.elts[:at] + node.elts[at + 1 :]) for at in range(len(node.elts))]
        case _:
            return []


def _with(node: ast.expr, **fields: object) -> ast.expr:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _is_word(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def mutants_of(path: Path) -> Iterator[Mutant]:
    """List every change of a module; annotations and `if TYPE_CHECKING` have no effect, so they are left out."""
    tree = ast.parse(path.read_text("utf-8"))
    inert = {id(part) for node in ast.walk(tree) for root in _inert(node) for part in ast.walk(root)}
    for number, node in enumerate(ast.walk(tree)):
        if id(node) not in inert:
            for change, new in enumerate(changes_of(node)):
                line = getattr(node, "lineno", 0)
                yield Mutant(path, number, change, line, _short(node), _short(new))


def _inert(node: ast.AST) -> list[ast.AST]:
    found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        found.append(node)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "dataclass":
        found.append(node)
    return [one for one in found if one is not None]


def _short(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 100 else f"{text[:60]} … {text[-37:]}"


def tests_of(path: Path) -> list[str]:
    """Name the tests of a module's area, its doctests first because they are quick."""
    module = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    area = path.relative_to(CORE).parts[0]
    return [
        DOCTESTS.format(module=module),
        "tests/core/test_edges.py",
        *(f"tests/{test}" for test in AREAS[area]),
    ]


def run_tests(source: Path, tests: list[str], limit_s: float) -> bool:
    """Run tests on a copy of src; True if all pass in time."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    env = {
        **os.environ,
        "PYTHONPATH": str(source),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(source.parent / "examples"),
    }
    try:
        done = subprocess.run([*command, *tests], cwd=ROOT, env=env, capture_output=True, timeout=limit_s)  # noqa: S603, PLW1510 - our own tests
    except subprocess.TimeoutExpired:
        return False
    if done.returncode not in (0, 1, 2):  # neither passed, nor failed, nor failed while collecting
        raise SystemExit(done.stdout.decode() + done.stderr.decode())
    return done.returncode == 0


class Bench:
    """Copies of src, one for each process that runs tests."""

    def __init__(self, folder: Path, jobs: int, limit_s: float) -> None:
        self._free: SimpleQueue[Path] = SimpleQueue()
        self._limit_s = limit_s
        for number in range(jobs):
            copied = folder / str(number) / "src"
            shutil.copytree(SOURCE, copied, ignore=shutil.ignore_patterns("__pycache__"))
            self._free.put(copied)

    def check(self, tests: list[str]) -> None:
        """Stop if the tests fail on the core as it is: then they would notice every change."""
        source = self._free.get()
        if not run_tests(source, tests, self._limit_s):
            raise SystemExit(f"these tests fail, or take too long, without any change: {' '.join(tests)}")
        self._free.put(source)

    def survives(self, mutant: Mutant, tests: list[str]) -> bool:
        """Say whether the tests pass although the module is changed."""
        source = self._free.get()
        try:
            mutant.write(source)
            return run_tests(source, tests, self._limit_s)
        finally:
            shutil.copy(mutant.path, source / mutant.path.relative_to(SOURCE))
            self._free.put(source)


def main(argv: list[str] | None = None) -> int:
    """Make the changes, and print those that survive."""
    options = _options(argv)
    modules = sorted(
        {file for path in options.paths for file in (path.rglob("*.py") if path.is_dir() else [path])}
    )
    every = [mutant for module in modules for mutant in mutants_of(module)]
    chosen = random.Random(options.seed).sample(every, min(options.sample, len(every)))  # noqa: S311 - no secret
    chosen.sort(key=lambda mutant: (mutant.path, mutant.node, mutant.change))
    _say(f"{len(chosen)} of {len(every)} changes of {len(modules)} modules, seed {options.seed}")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.jobs, options.limit)
        areas = {tuple(tests_of(mutant.path)[1:]) for mutant in chosen}
        areas |= {tuple(options.then)} if options.then else set()

        def survives(mutant: Mutant) -> bool:
            tests = tests_of(mutant.path)
            is_alive = bench.survives(mutant, tests) and (
                not options.then or bench.survives(mutant, options.then)
            )
            _say(f"{'SURVIVES' if is_alive else 'noticed '} {mutant}")
            return is_alive

        with ThreadPoolExecutor(options.jobs) as threads:
            list(threads.map(bench.check, map(list, sorted(areas))))
            alive = list(threads.map(survives, chosen))
    _say(f"{sum(alive)} of {len(chosen)} survive")
    return int(any(alive))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "paths", nargs="*", type=_inside_core, default=[CORE], help="modules or folders of core"
    )
    parser.add_argument("--sample", type=int, default=60, help="how many changes (60)")
    parser.add_argument("--seed", type=int, default=0, help="which changes (0)")
    parser.add_argument("--limit", type=float, default=600, help="seconds for the tests of one change (600)")
    parser.add_argument("--jobs", type=int, default=2, help="test runs at once (2)")
    parser.add_argument("--then", nargs="+", default=[], metavar="TEST", help="more tests for what survives")
    return parser.parse_args(argv)


def _inside_core(text: str) -> Path:
    path = Path(text).resolve()
    if not path.exists() or not path.is_relative_to(CORE):
        raise argparse.ArgumentTypeError(f"{text} is not in {CORE.relative_to(ROOT)}")
    return path


if __name__ == "__main__":
    sys.exit(main())
