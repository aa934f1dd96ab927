"""Attacks of a file, an address or a pattern that go just beyond a limit.

Each takes the number to go beyond, and the limit in force for those that hand it over themselves; it fails unless it is
stopped as `docs/reference/limits.md` says. `test_limits.py` runs them.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from honeyguide.adapters.files import links as link_rows
from honeyguide.adapters.files import sites as inputs
from honeyguide.adapters.files.logins import read_logins
from honeyguide.adapters.files.rows import RawRow, parse_object
from honeyguide.app.tools.results import read_plan
from honeyguide.cli.main import root
from honeyguide.config import load_profile
from honeyguide.core.crawl.traps import shape_trap
from honeyguide.core.fetching import Access
from honeyguide.core.recrawl.plan import KnownUrl, PlanQuery, UrlSignals
from honeyguide.core.recrawl.policies import Heuristic
from honeyguide.core.recrawl.ranking import RowTable
from honeyguide.core.text.fold import compose
from honeyguide.core.text.pattern import compile_pattern
from honeyguide.core.url.host import parse_host
from honeyguide.core.url.url import Url
from honeyguide.errors import ConfigError, InputError, PatternError, UrlError
from honeyguide.simulation.generated import generate_world
from honeyguide.simulation.run import POLICIES, Budget, simulate, simulated

# --- addresses, patterns, profiles --------------------------------------------------------------------------------


def url_chars(over: int, _limit: int) -> None:
    with pytest.raises(UrlError, match="longer than"):
        Url.parse("https://a.example/".ljust(over + 1, "x"))


def _trapped(url: str, name: str, limit: int) -> str | None:
    changed: dict[str, Any] = {name: limit}
    limits = replace(load_profile("docs", topic="x").traps, **changed)
    why = shape_trap(Url.parse(url), limits)
    return None if why is None else why.rule


def crawl_url_chars(over: int, limit: int) -> None:
    assert _trapped("https://a.example/".ljust(over + 1, "x"), "max_url_chars", limit) == "TRAP-1"


def crawl_segments(over: int, limit: int) -> None:
    url = "https://a.example/" + "/".join(f"a{n}" for n in range(over + 1))
    assert _trapped(url, "max_segments", limit) == "TRAP-2"


def host_chars(over: int, _limit: int) -> None:
    with pytest.raises(UrlError, match="its international host is longer than"):
        Url.parse(f"https://{'ü.' * (over // 2)}example/")


def label_chars(over: int, _limit: int) -> None:
    parse_host.cache_clear()
    with pytest.raises(UrlError, match="not a valid international name"):
        Url.parse(f"https://{'ü' * (over + 1)}.example/")


def marks_in_a_row(over: int, _limit: int) -> None:
    assert compose("q" + "\u0301" * (over + 1)).count("\u0301") == over


def pattern_chars(over: int, _limit: int) -> None:
    compile_pattern.cache_clear()
    with pytest.raises(PatternError, match="longer than"):
        compile_pattern("x" * (over + 1))


def pattern_steps(_over: int, _limit: int) -> None:
    compile_pattern.cache_clear()
    with pytest.raises(PatternError, match="steps for each character"):
        compile_pattern("(?:.?){200}z")


def _profile(text: str, folder: str) -> str:
    path = Path(folder, "p.toml")
    path.write_text(f'schema = 1\nextends = "company"\nname = "p"\n{text}', "utf-8")
    return str(path)


def profile_bytes(over: int, _limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.raises(ConfigError, match="larger than"):
        load_profile(_profile("#" * (over + 1), folder))


def settings_bytes(over: int, _limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("honeyguide.toml").write_text("[pick]\n".ljust(over + 1, "#"), "utf-8")
        assert "bytes; settings are short" in CliRunner().invoke(root, ["pick", "--show-config"]).stderr


def netrc_bytes(over: int, _limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "netrc"
        file.touch(0o600)
        file.write_text("\n" * (over + 1), "utf-8")
        with pytest.raises(InputError, match="must be a file of at most"):
            read_logins(str(file))


def own_headers(over: int, _limit: int) -> None:
    with pytest.raises(ConfigError, match="are too many"):
        Access(headers=tuple((f"X-{number}", "1") for number in range(over + 1)))


def own_header_chars(over: int, _limit: int) -> None:
    with pytest.raises(ConfigError, match="at most"):
        Access(headers=(("X-Key", "x" * (over + 1)),))


def profile_extends(over: int, _limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for n in range(over):
            parent = "company" if n == over - 1 else f"p{n + 1}.toml"
            Path(folder, f"p{n}.toml").write_text(f'schema = 1\nextends = "{parent}"\nname = "p"\n', "utf-8")
        with pytest.raises(ConfigError, match="too deep"):
            load_profile(str(Path(folder, "p0.toml")))


def profile_conditions(over: int, _limit: int) -> None:
    when = "{ not = " * (over + 1) + '{ path = { has = ["x"] } }' + " }" * (over + 1)
    rules = f'filter = [{{ id = "x", reason = "x", when = {when} }}]\n'
    with tempfile.TemporaryDirectory() as folder, pytest.raises(ConfigError, match="nested deeper"):
        load_profile(_profile(rules, folder))


def profile_depth(over: int, _limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.raises(ConfigError, match="nested too deeply"):
        load_profile(_profile("terms = " + "{ a = " * (over + 1) + "1" + " }" * (over + 1), folder))


def profile_dots(over: int, _limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.raises(ConfigError, match="dots"):
        load_profile(_profile(".".join("a" * (over + 2)) + " = 1", folder))


def _rules(condition: str, count: int, terms: int = 1) -> str:
    listed = ", ".join(f'"w{n}"' for n in range(terms))
    rules = ", ".join([f"{{ {condition.replace('#', str(n))} }}" for n in range(count)])
    return f'filter = [{{ id = "x", reason = "x", when = {{ any = [{rules}] }} }}]\n[terms]\nx = [{listed}]\n'


def _too_much(rules: str, match: str = "is one too many") -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.raises(ConfigError, match=match):
        load_profile(_profile(rules, folder))


def profile_tests(over: int, _limit: int) -> None:
    _too_much(_rules('path = { is = "a#" }', over + 1))


def profile_words(over: int, _limit: int) -> None:
    _too_much(_rules('path = { has = "$x" }', over // 1000 + 1, 1000))


def profile_patterns(over: int, _limit: int) -> None:
    _too_much(_rules('path = { matches = "a+b#" }', over + 1))


def card_rules(over: int, _limit: int) -> None:
    rules = [f'{{ id = "r{n}", reason = "r", points = 1 }}' for n in range(over + 1)]
    groups = [
        f'[[scorecard.own.group]]\nname = "g{first}"\nmode = "all"\nrules = [{", ".join(rules[first : first + 400])}]\n'
        for first in range(0, len(rules), 400)
    ]
    _too_much("".join(groups), "more than 1,000 rules in all")


def profile_problems(over: int, _limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.raises(ConfigError) as error:
        load_profile(_profile("".join(f"bad{n} = 1\n" for n in range(2 * over)), folder))
    assert len(error.value.problems) <= over + 1


# --- files that are given -----------------------------------------------------------------------------------------


def _file(data: bytes, work: Callable[[str], object], suffix: str = ".txt") -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"f{suffix}")
        path.write_bytes(data)
        work(str(path))


def _refused(data: bytes, words: str, *command: str, suffix: str = ".txt") -> None:
    """A command refuses a file, with one sentence."""

    def work(path: str) -> None:
        result = CliRunner().invoke(
            root, [part.replace("FILE", path) for part in command], prog_name="honeyguide"
        )
        assert result.exit_code == 1, result.output
        assert words in result.stderr

    _file(data, work, suffix)


def page_file_bytes(over: int, _limit: int) -> None:
    # The bound is a default of a function, so it is taken from there.
    files = importlib.import_module("honeyguide.adapters.files.read")
    with pytest.raises(InputError, match="larger than"):
        _file(b" " * (over + 1), lambda path: files.read_bytes(path, files.MAX_PAGE_BYTES))


def line_bytes(over: int, _limit: int) -> None:
    _refused(b"x" * (over + 1), "is longer than", "plan", "FILE", "--input-format", "jsonl")


def blank_lines(over: int, _limit: int) -> None:
    _refused(b"\n" * (over + 1), "blank lines", "plan", "FILE", "--input-format", "csv")


def json_nesting(over: int, _limit: int) -> None:
    with pytest.raises(InputError, match="nested deeper"):
        parse_object('{"a": ' + "[" * over + "]" * over + "}", "f", 1)


def stdin_bytes(over: int, _limit: int) -> None:
    command = ["plan", "-", "--input-format", "csv"]
    told = CliRunner().invoke(root, command, prog_name="honeyguide", input=b"x" * (over + 1))
    assert told.exit_code == 1
    assert "standard input: has more than" in told.stderr


def list_bytes(over: int, _limit: int) -> None:
    with pytest.raises(InputError, match="larger than"):
        _file(b"a.example\n" * (over // 10 + 1), inputs.read_sites)


def list_sites(over: int, _limit: int) -> None:
    with pytest.raises(InputError, match="more than"):
        _file(b"".join(b"s%d.example\n" % n for n in range(over + 1)), inputs.read_sites)


def list_site_chars(over: int, _limit: int) -> None:
    (row,) = inputs.check_sites(["a.example/".ljust(over + 1, "x")])
    assert "longer than" in row.problem


def list_line_chars(over: int, _limit: int) -> None:
    line = json.dumps({"url": "a.example", "x": "x" * over})

    def work(path: str) -> None:
        (row,) = inputs.read_sites(path)
        assert row.problem

    _file(line.encode(), work, ".jsonl")


def earlier_entries(over: int, _limit: int) -> None:
    entry = {
        "schema": 2,
        "rank": 1,
        "url": "https://a.example/",
        "score": 1,
        "level": "x",
        "reasons": [],
        "points": [],
        "next_due": None,
    }
    rows = "".join(
        json.dumps({**entry, "rank": n, "url": f"https://a.example/{n}"}) + "\n" for n in range(1, over + 2)
    )
    with pytest.raises(InputError, match="more than"):
        _file(rows.encode(), lambda path: list(read_plan(path)), ".jsonl")


def link_row_text(over: int, _limit: int) -> None:
    row = RawRow(1, "f line 1", {"url": "https://a.example/", "anchor": "x" * (over + 1)})
    with pytest.raises(InputError, match="longer than"):
        link_rows.link_of(row, 1)


def page_rows(over: int, _limit: int) -> None:
    rows = b"page,url\n" + b"".join(b"https://a.example/,/%d\n" % n for n in range(over + 1))
    _refused(rows, "has more than", "select", "FILE", suffix=".csv")


def page_texts(over: int, _limit: int) -> None:
    rows = b"page,url,anchor\n" + b"https://a.example/,/,0123456789\n" * (over // 10 + 1)
    _refused(rows, "characters of text", "select", "FILE", suffix=".csv")


def linking_pages(over: int, _limit: int) -> None:
    rows = b"page,url\n" + b"".join(b"https://a.example/%d,/\n" % n for n in range(over + 1))
    _refused(rows, "is one more than", "select", "FILE", suffix=".csv")


def plan_rows(over: int, _limit: int) -> None:
    names = b"url,visits,lastVisited,lastChanged,topicRelevance,hubDepth,isHub\n"
    rows = names + b"".join(b"https://a.example/%d,0,,,0,1,no\n" % n for n in range(over + 1))
    _refused(rows, "more than", "plan", "FILE", "--now", "2024-06-15T08:00:00Z", suffix=".csv")


def head_rows(over: int, _limit: int) -> None:
    rows = b"".join(b'{"url": "/%d", "title": "x"}\n' % n for n in range(over + 1))
    _refused(rows, "heads", "select", "--demo", "--heads", "FILE", suffix=".jsonl")


def record_bytes(over: int, _limit: int) -> None:
    record = json.dumps({"site": "a.example", "status": "ok", "selected": [], "x": "x" * over}).encode()
    _refused(record, "is longer than", "eval", "FILE", "--gold", "FILE", suffix=".jsonl")


def compared_urls(over: int, _limit: int) -> None:
    signals = [UrlSignals(f"https://a.example/{n}") for n in range(over + 1)]
    rows = [KnownUrl(n, f"row {n}", one) for n, one in enumerate([*signals, signals[-1]])]
    profile = load_profile("news")
    plan = RowTable(lambda: iter(rows), Heuristic(profile), profile, may_repeat=True).plan(
        PlanQuery(datetime(2026, 5, 1, tzinfo=UTC), top=1)
    )
    assert (plan.repeated.rows, plan.unremembered) == (0, True)


# --- simulations --------------------------------------------------------------------------------------------------


def world_changes(over: int, _limit: int) -> None:
    with pytest.raises(InputError, match="take fewer pages or days"):
        generate_world(f"poisson:pages={over},days=2,interval=1,spread=0", 1)


def simulated_fetches(over: int, _limit: int) -> None:
    world = generate_world("poisson:pages=5,days=1", 1)
    with pytest.raises(InputError, match="take less of it"):
        simulate(world, Budget("", over + 1), lambda sight: POLICIES["uniform"](sight, world))


def simulated_values(over: int, _limit: int) -> None:
    world = generate_world(f"poisson:pages={over // 24 + 1},days=1", 1)
    with pytest.raises(InputError, match="one by one"):
        simulated(Heuristic(load_profile("base")), world, Budget("", 24.0))


def world_rows(over: int, _limit: int) -> None:
    rows = "page,timestamp\n" + "".join(f"a,2026-01-01T00:00:{n:02}Z\n" for n in range(over + 1))
    _refused(rows.encode(), "split it", "simulate", "recrawl", "FILE", "--policies", "uniform", suffix=".csv")
