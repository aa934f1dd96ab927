"""Recrawl policies by name, and those that another package brings."""

from __future__ import annotations

import asyncio
import json
import sys
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from honeyguide import (
    FetchPolicy,
    FormulaPolicy,
    SimulateRequest,
    WatchBudget,
    WatchRequest,
    load_profile,
    observe,
    plan_file,
    plan_store,
    simulate_policies,
    watch_store,
)
from honeyguide.adapters.policies import load_policy, policy_names
from honeyguide.cli.main import root
from honeyguide.core.recrawl.priors import Priors
from honeyguide.core.recrawl.signals import PageState
from honeyguide.errors import InputError

NOW = datetime(2024, 6, 15, tzinfo=UTC)
PLUGIN = """
from honeyguide.core.recrawl.policies import Learned, ValuePart, explain_value

class Shortest:
    name = "shortest"
    def value(self, page, now):
        return 1 / len(page.url)
    def judge(self, page, now, price):
        return explain_value(self, page, now, price, [ValuePart("length", self.value(page, now), "short")])

def shortest(profile, priors):
    return Shortest()

def broken(profile, priors):
    raise KeyError("nothing works")

def none(profile, priors):
    pass

class Raising(Shortest):
    name = "raising"
    def value(self, page, now):
        return {}["rate"]

class Judging(Shortest):
    name = "judging"
    def judge(self, page, now, price):
        return 5

def raising(profile, priors):
    return Raising()

class Heir(Learned):
    name = "heir"
    def value(self, page, now):
        return {}["rate"]

def heir(profile, priors):
    return Heir(priors)

def judging(profile, priors):
    return Judging()
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another package, as an installer would leave it."""
    (tmp_path / "short_first.py").write_text(PLUGIN, encoding="utf-8")
    info = tmp_path / "short_first-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: short-first\nVersion: 1.0\n", encoding="utf-8"
    )
    names = {name: name for name in ("shortest", "broken", "none", "raising", "judging", "heir")} | {
        "learned": "shortest"
    }
    entries = "".join(f"{name} = short_first:{made}\n" for name, made in names.items())
    (info / "entry_points.txt").write_text(f"[honeyguide.policies]\n{entries}", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))


def test_our_own_policies_need_no_plugin() -> None:
    assert load_policy("learned", load_profile("news"), Priors()).name == "learned"
    assert policy_names()[:2] == ["learned", "heuristic"]


@pytest.mark.usefixtures("plugin")
def test_a_package_brings_a_policy() -> None:
    policy = load_policy("shortest", load_profile("news"), Priors())
    found = policy.judge(PageState("https://a.example/", visits=1, visited_at=0.0), 100.0, 1 / 18)
    assert (found.score.value, found.score.words[0]) == (60.0, "short")
    assert policy_names()[-5:] == ["heir", "judging", "none", "raising", "shortest"]


@pytest.mark.usefixtures("plugin")
def test_our_own_names_come_first() -> None:
    assert load_policy("learned", load_profile("news"), Priors()).name == "learned"


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("broken", "cannot be made: KeyError: 'nothing works'"),
        ("none", "the policy 'none': short_first:none makes NoneType, which has no name, value, judge"),
        ("newest", "there is no policy 'newest'; there are learned,"),
    ],
)
def test_what_is_wrong_is_said(name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_policy(name, load_profile("news"), Priors())
    assert message in str(caught.value)


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("raising", "cannot value pages: KeyError: 'rate'"),
        ("heir", "cannot value pages: KeyError: 'rate'"),
        ("judging", "judge returns int, not VisitValue"),
    ],
)
def test_a_mistake_in_a_policy_is_a_sentence_about_it(tmp_path: Path, name: str, message: str) -> None:
    observe(tmp_path / "s.db", "https://a.example/")
    with pytest.raises(InputError, match=f"the policy '{name}' cannot value pages: .*") as caught:
        plan_store(tmp_path / "s.db", policy=name)
    assert message in str(caught.value)
    watching = WatchRequest(WatchBudget(9, rounds=1), "news", policy=name, rest_s=0.0)
    if name == "raising":
        with pytest.raises(InputError, match=message):
            asyncio.run(watch_store(tmp_path / "s.db", watching, FetchPolicy()))


@pytest.mark.parametrize(("name", "formula"), [("", lambda _maths, page: page.weight), ("odd", None)])
def test_a_formula_needs_a_name_and_a_function(name: str, formula: Any) -> None:
    with pytest.raises(InputError, match="a policy needs a name and a function"):
        FormulaPolicy(name, formula, "odd")


@pytest.mark.usefixtures("plugin")
def test_the_command_line_takes_it_too(tmp_path: Path) -> None:
    known = tmp_path / "known.csv"
    known.write_text(
        "url,visits,topic_relevance,hub_depth,is_hub\nhttps://a.example/long-name,1,0.5,1,false\n"
        "https://a.example/b,1,0.5,1,false\n",
        encoding="utf-8",
    )
    done = CliRunner().invoke(root, ["plan", str(known), "--policy", "shortest", "--format", "jsonl"])
    assert done.exit_code == 0, done.output
    assert [json.loads(line)["url"] for line in done.stdout.splitlines()] == [
        "https://a.example/b",
        "https://a.example/long-name",
    ]
    done = CliRunner().invoke(root, ["plan", str(known), "--policy", "nobody"])
    assert (done.exit_code, "'raising', 'shortest'" in done.output) == (2, True)


# --- the example of the guide ---

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "planning.md"
BROKEN = """
def wrong(profile, priors):
    return FormulaPolicy("wrong", lambda maths, page: maths.nothing(page.weight), "no")

def endless(profile, priors):
    return FormulaPolicy("endless", lambda maths, page: page.weight * 1e999, "no")

def text(profile, priors):
    return FormulaPolicy("text", lambda maths, page: "a", "no")

def branching(profile, priors):
    return FormulaPolicy("branching", lambda maths, page: 1.0 if page.waited_h > 24.0 else 0.0, "no")

def void(profile, priors):
    return FormulaPolicy("void", lambda maths, page: page.weight / (page.weight - page.weight), "no")
"""


@pytest.fixture
def overdue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The module of the guide, and two wrong ones, as a package that an installer would leave."""
    (tmp_path / "overdue.py").write_text(
        _block("<!-- file: overdue.py -->\n```python\n") + BROKEN, encoding="utf-8"
    )
    package = tomllib.loads(_block("<!-- file: pyproject.toml -->\n```toml\n"))
    assert package["tool"]["setuptools"]["py-modules"] == ["overdue"]
    policies = package["project"]["entry-points"]["honeyguide.policies"]
    info = tmp_path / "overdue-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: overdue\nVersion: 1.0\n", encoding="utf-8")
    wrong = {name: f"overdue:{name}" for name in ("wrong", "endless", "text", "branching", "void")}
    names = "".join(f"{name} = {where}\n" for name, where in {**policies, **wrong}.items())
    (info / "entry_points.txt").write_text(f"[honeyguide.policies]\n{names}", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "overdue", raising=False)
    return tmp_path


def _block(start: str) -> str:
    """Give a listing of the guide by what stands before it."""
    return GUIDE.read_text("utf-8").partition(start)[2].partition("```")[0]


def write_known(folder: Path) -> list[str]:
    """Write the same rows as JSON lines and as Parquet; some have no rate, some were never visited."""
    pl = pytest.importorskip("polars", reason="polars is an extra")
    random = Random(4)  # noqa: S311 - made-up rows
    rows = [
        {
            "url": f"https://h{number % 5}.example/{number}",
            "last_visited": None if number % 7 == 0 else NOW - timedelta(hours=random.uniform(0, 5000)),
            "topic_relevance": random.random(),
            "is_hub": number % 11 == 0,
            "rate_a": random.uniform(0.2, 9) if number % 3 else None,
            "rate_b": random.uniform(1, 900) if number % 3 else None,
        }
        for number in range(300)
    ]
    text = "".join(json.dumps(row, default=datetime.isoformat) + "\n" for row in rows)
    (folder / "known.jsonl").write_text(text, encoding="utf-8")
    pl.DataFrame(rows).write_parquet(folder / "known.parquet")
    return [str(folder / name) for name in ("known.jsonl", "known.parquet")]


def test_the_formula_of_the_guide_ranks_rows_and_columns_alike(overdue: Path) -> None:
    by_rows, by_columns = (
        plan_file(path, now=NOW, policy="overdue", top=40) for path in write_known(overdue)
    )
    assert [(one.rank, one.scored.score) for one in by_rows.entries] == [
        (one.rank, one.scored.score) for one in by_columns.entries
    ]
    assert [one.scored.url for one in by_rows.entries] == [one.scored.url for one in by_columns.entries]
    assert by_rows.levels == by_columns.levels
    assert by_rows.entries[0].scored.reasons[0] == "chance of a change"


@pytest.mark.usefixtures("overdue")
@pytest.mark.filterwarnings("error")
def test_a_formula_that_divides_by_nothing_is_one_sentence_of_a_simulation() -> None:
    pytest.importorskip("numpy")  # an extra
    world = ["simulate", "recrawl", "poisson:pages=9,days=5", "-q", "--policies", "void"]
    done = CliRunner().invoke(root, world)
    assert (done.exit_code, done.output.count("\n")) == (1, 1), done.output
    assert "the policy 'void'" in done.output
    assert "RuntimeWarning" not in done.output


@pytest.mark.usefixtures("overdue")
def test_the_formula_of_the_guide_runs_in_simulations() -> None:
    pytest.importorskip("numpy")  # an extra
    request = SimulateRequest(("poisson:pages=60,days=20",), policies=("overdue", "uniform"), budgets=("5d",))
    found = {one.policy: one.freshness for one in simulate_policies(request)}
    assert list(found)[:3] == ["overdue", "uniform", "known-rates"]
    assert 0.5 < found["overdue"] < found["known-rates"]
    world = ["simulate", "recrawl", "poisson:pages=9,days=5", "-q", "--policies"]
    done = CliRunner().invoke(root, [*world, "overdue"])
    assert done.exit_code == 0, done.output
    wrong = CliRunner().invoke(root, [*world, "overdu"])
    assert (wrong.exit_code, "is none of learned, heuristic" in wrong.output) == (2, True)


@pytest.mark.usefixtures("plugin")
def test_a_policy_without_a_formula_is_simulated_page_by_page() -> None:
    pytest.importorskip("numpy")  # an extra
    request = SimulateRequest(("poisson:pages=40,days=9",), policies=("shortest",))
    assert simulate_policies(request)[0].policy == "shortest"
    large = SimulateRequest(("poisson:pages=90000,days=60",), policies=("shortest",), budgets=("90000/day",))
    with pytest.raises(InputError, match="one by one; take fewer pages or days, or make it a FormulaPolicy"):
        simulate_policies(large)


@pytest.mark.parametrize(
    ("name", "message"),
    [("wrong", "cannot value pages: "), ("endless", "no number"), ("text", "convert string to float")],
)
def test_a_formula_that_fails_is_one_sentence(overdue: Path, name: str, message: str) -> None:
    pytest.importorskip("numpy")  # an extra
    for path in write_known(overdue):
        with pytest.raises(InputError, match=message):
            plan_file(path, now=NOW, policy=name)
    with pytest.raises(InputError, match=message):
        simulate_policies(SimulateRequest(("poisson:pages=9,days=5",), policies=(name,)))


def test_a_formula_that_branches_is_told_to_use_where(overdue: Path) -> None:
    pytest.importorskip("numpy")  # an extra
    with pytest.raises(InputError, match=r"use maths\.where instead of if") as caught:
        plan_file(write_known(overdue)[1], now=NOW, policy="branching")
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=r"use maths\.where instead of if"):
        simulate_policies(SimulateRequest(("poisson:pages=9,days=5",), policies=("branching",)))
