"""`honeyguide simulate recrawl`: worlds in, figures out, and one sentence for whatever is wrong."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.cli.output import Column, print_table
from honeyguide.cli.progress import Progress
from honeyguide.core.recrawl.history import Visit

Run = Callable[..., Result]
SMALL = "poisson:pages=60,days=8,hosts=3"
CHANGES = "page,timestamp,kind\n" + "".join(
    f"{page},2024-01-{day:02d}T0{day % 9}:30:00Z,{'created' if day == 1 else 'changed'}\n"
    for page, step in (("a", 1), ("b", 3), ("c", 7))
    for day in range(1, 30, step)
)


@pytest.fixture(autouse=True)
def changes(folder: Path) -> None:
    (folder / "changes.csv").write_text(CHANGES, "utf-8")


def records(result: Result) -> list[dict[str, object]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_records_have_a_policy_each_and_the_references_last(run: Run) -> None:
    found = records(
        run("simulate", "recrawl", SMALL, "--policies", "uniform,learned", "--budgets", "4d,30/day")
    )
    assert [(item["budget"], item["policy"], item["is_reference"]) for item in found] == [
        (budget, policy, is_reference)
        for budget in ("4d", "30/day")
        for policy, is_reference in (
            ("uniform", False),
            ("learned", False),
            ("known-rates", True),
            ("optimum", True),
            ("all-knowing", True),
        )
    ]
    first = found[0]
    assert first["fetches"] == 15 * 8
    assert 0 < float(str(first["freshness"])) < 1
    hosts = first["hosts"]
    assert isinstance(hosts, dict)
    assert sum(hosts.values()) == 15 * 8
    assert isinstance(first["days"], list)
    assert len(first["days"]) == 5
    assert first["discovery_h"] is None


def test_a_file_has_no_optimum_and_is_measured_by_known_rates(run: Run) -> None:
    found = records(run("simulate", "recrawl", "changes.csv", "--policies", "uniform", "--budgets", "3d"))
    assert [item["policy"] for item in found] == ["uniform", "known-rates", "all-knowing"]
    assert found[1]["of_best"] == 1.0
    assert found[2]["of_all_knowing"] == 1.0


def test_the_same_seed_prints_the_same_bytes(run: Run) -> None:
    first, again = (
        run("simulate", "recrawl", "news:articles=9,days=5", "--seed", "4").stdout_bytes for _ in range(2)
    )
    other = run("simulate", "recrawl", "news:articles=9,days=5", "--seed", "5").stdout_bytes
    assert first == again != other


@pytest.mark.parametrize("width", ["20", "60", "80"])
def test_numbers_are_never_cut(run: Run, monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    asked = (
        "simulate",
        "recrawl",
        SMALL,
        "--policies",
        "adaptive-interval",
        "--days",
        "6",
        "--format",
        "table",
    )
    wide = run(*asked).stdout.splitlines()
    monkeypatch.setenv("COLUMNS", width)
    narrow = run(*asked).stdout.splitlines()
    (one,) = (line for line in wide if line.startswith("adaptive-interval"))
    (other,) = (line for line in narrow if line.startswith("adaptive-int"))
    assert other.split()[1:] == one.split()[1:]
    assert "…" not in "".join(narrow)


def test_a_number_of_any_length_is_whole_at_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    names = ("Policy", "Fresh", "Late", "Best", "Age", "Idle", "New", "Day 1", "Day 3")
    columns = [Column(name, right=place > 0, keep=place > 0) for place, name in enumerate(names)]
    numbers = ["0.847", "0.845", "299812345.1", "1299 d", "55", "2998 d", "0.974", "0.920"]
    print_table(columns, [["adaptive-interval", *numbers]])
    assert [part for part in capsys.readouterr().out.split() if part in " ".join(numbers).split()] == (
        " ".join(numbers).split()
    )


def test_a_table_fits_a_terminal_and_explains_itself(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = run("simulate", "recrawl", SMALL, "changes.csv", "--format", "table", "--days", "6")
    lines = result.stdout.splitlines()
    assert lines[0] == f"{SMALL}, budget 10d"
    assert lines[2].split() == [
        "Policy",
        "Fresh",
        "Late",
        "Best",
        "Age",
        "Idle",
        "New",
        "Day",
        "1",
        "Day",
        "3",
    ]
    assert "changes.csv, budget 10d" in lines
    assert "…" not in result.stdout
    legend = " ".join(lines[lines.index("", len(lines) - 12) :])
    assert "Best: Late in percent of optimum, or of known-rates where there is no optimum." in legend
    for name in ("known-rates: ", "optimum: ", "all-knowing: "):
        assert name in legend
    assert max(map(len, lines)) <= 80


def test_the_report_uses_the_words_of_the_table(run: Run, folder: Path) -> None:
    asked = (
        "simulate",
        "recrawl",
        SMALL,
        "--policies",
        "uniform",
        "--format",
        "table",
        "--report",
        "r.html",
    )
    printed = run(*asked).stdout.splitlines()
    report = (folder / "r.html").read_text("utf-8")
    for name in re.split(r"\s{2,}", printed[2]):
        assert f"<th>{name}</th>" in report
    assert "all-knowing: knows every change" in report


def test_the_help_has_no_words_of_a_library(run: Run) -> None:
    shown = run("simulate", "recrawl", "--help").stdout
    assert "RANGE" not in shown
    assert "honeyguide simulate recrawl [OPTIONS] [WORLD]..." in shown


def test_csv_and_files(run: Run, folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run("simulate", "recrawl", SMALL, "--format", "csv").stdout)))
    assert rows[0]["policy"] == "learned"
    assert run("simulate", "recrawl", SMALL, "-o", "out.csv").stdout == ""
    assert list(csv.DictReader(io.StringIO((folder / "out.csv").read_text("utf-8")))) == rows
    run("simulate", "recrawl", SMALL, "-o", "out.jsonl")
    written = [json.loads(line) for line in (folder / "out.jsonl").read_text("utf-8").splitlines()]
    assert [item["policy"] for item in written] == [row["policy"] for row in rows]


def test_host_limit_and_empty_start(run: Run) -> None:
    free = records(run("simulate", "recrawl", SMALL, "--policies", "uniform", "--budgets", "60/day"))[0]
    tight = records(
        run(
            "simulate",
            "recrawl",
            SMALL,
            "--policies",
            "uniform",
            "--budgets",
            "60/day",
            "--host-limit",
            "5/day",
        )
    )[0]
    empty = records(
        run("simulate", "recrawl", SMALL, "--policies", "uniform", "--budgets", "60/day", "--empty")
    )[0]
    assert free["fetches"] == 480
    hosts = tight["hosts"]
    assert isinstance(hosts, dict)
    assert max(hosts.values()) <= 5 * 8 + 1
    assert float(str(empty["freshness"])) < float(str(free["freshness"]))


def test_a_report_needs_nothing_and_escapes_everything(run: Run, folder: Path) -> None:
    nasty = "<script>x&y.csv"
    (folder / nasty).write_text(CHANGES.replace("page,timestamp,kind", "page,timestamp,kind,host").replace(
        "Z,changed\n", "Z,changed,<b>\n").replace("Z,created\n", "Z,created,<b>\n").replace("c,", "d,", 1), "utf-8")  # fmt: skip
    (folder / "two.csv").write_text("page,timestamp\nhttps://a.example/,2024-01-01T00:00:00Z\nhttps://b.example/,2024-01-09T00:00:00Z\n", "utf-8")  # fmt: skip
    result = run("simulate", "recrawl", nasty, "two.csv", "--budgets", "3d", "--report", "r.html")
    assert result.exit_code == 0, result.output
    text = (folder / "r.html").read_text("utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;x&amp;y.csv" in text
    assert "<b>" not in text
    assert "b.example" in text
    assert len(re.findall("<polyline ", text)) == 2 * 7
    assert not re.search(r"(?:src|href|url)\s*[=(](?!\"#)", text)  # places on the page itself
    assert not re.search(r"\bstyle=", text)


def test_a_store_is_a_world(run: Run, crawled: Path) -> None:
    result = run("simulate", "recrawl", "--store", "honeyguide.db")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: honeyguide.db: no visit has seen a change yet; crawl again first, when pages may have changed\n"
    )
    assert crawled.exists()


def test_a_store_whose_visits_saw_no_change(run: Run, folder: Path) -> None:
    store = SqliteStore(folder / "s.db")
    with store.transaction():
        for day in range(3):
            store.history.record(Visit("https://a.example/", 1, 1.7e9 + day * 86_400.0, 200, "x"), 1)
    store.close()
    result = run("simulate", "recrawl", "--store", "s.db")
    assert (result.exit_code, "s.db: no visit has seen a change yet; " in result.stderr) == (1, True)


def test_a_store_with_changes(run: Run, folder: Path) -> None:
    store = SqliteStore(folder / "s.db")
    with store.transaction():
        for page in ("a", "b"):
            url = f"https://{page}.example/"
            for day, content in enumerate("xxyyz" if page == "a" else "xxxxx"):
                visit = Visit(url, ord(page), 1.7e9 + day * 86_400.0, 200, content)
                store.history.record(visit, 1)
    store.close()
    found = records(
        run("simulate", "recrawl", "--store", "s.db", "--policies", "uniform", "--budgets", "2/day")
    )
    assert found[0]["world"] == "s.db"
    assert found[0]["fetches"] == 8
    assert found[0]["nothing_share"] == 0.75


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            (),
            "name one: a CSV file, one of poisson, bursty, periodic, seasonal, mixed, news, archive, or a store.",
        ),
        (
            ("changes.csv", SMALL, "--from", "2024-01-01T00:00:00Z"),
            f"--from: only a history has a time to begin at; '{SMALL}' is made up",
        ),
        ((SMALL, "--policies", "magic"), "'magic' is none of learned, heuristic, uniform, proportional"),
        (
            (SMALL, "--budgets", "0d"),
            "'0d' is no budget; write 60d (every page once in 60 days), 500/day or 20/hour.",
        ),
        ((SMALL, "--budgets", "0/day"), "'0/day' is no budget"),
        ((SMALL, "--budgets", ""), "'--budgets': it is empty"),
        ((SMALL, "--budgets", "9e9d"), "'9e9d' is no budget"),
        ((SMALL, "--host-limit", "5"), "'5' is no limit; write 100/day or 6/hour."),
        ((SMALL, "--days", "0"), "--days: 0 is no time; give more than 0 and up to 36500."),
        ((SMALL, "--from", "2024-01-01T08:00"), "'2024-01-01T08:00' has no time zone"),
        ((SMALL, "-o", "out.txt"), "'out.txt' should end in .jsonl, .ndjson, .csv; or choose a --format."),
        ((SMALL, "--report", "out.md"), "'out.md' should end in .html or .htm."),
    ],
)
def test_usage_is_one_sentence_and_exit_2(run: Run, args: tuple[str, ...], message: str) -> None:
    result = run("simulate", "recrawl", *args)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("nowhere.csv",), "nowhere.csv: cannot be read: No such file or directory; check the path"),
        (("home.html",), "home.html, field page: its first line has no column of that name"),
        (("poisson:size=3",), "poisson: 'size' is none of its settings"),
        (("poisson:pages=0",), "poisson, field pages: '0' should be a whole number from 1 to 1,000,000"),
        (
            ("poisson:interval=0",),
            "poisson, field interval: '0' should be a number above 0 and up to 100,000",
        ),
        (("poisson:importance=1",), "poisson, field importance: '1' should be a number from 0 to 0.99"),
        (
            (SMALL, "nowhere:pages=2"),
            "nowhere:pages=2: is neither a file nor one of the worlds there are: poisson, bursty, periodic",
        ),
        (("--store", "nowhere.db"), "nowhere.db: no such store; create one with honeyguide crawl"),
        ((SMALL, "--budgets", "900000000/day"), "budget 900000000/day is more than 50,000,000 fetches"),
        (
            ("changes.csv", "--from", "2030-01-01T00:00:00Z"),
            "changes.csv: spans no time; give --from and --days",
        ),
    ],
)
def test_bad_input_is_one_sentence_and_exit_1(run: Run, args: tuple[str, ...], message: str) -> None:
    result = run("simulate", "recrawl", *args)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {message}")
    assert result.stderr.count("\n") == 1


# --- what it says ---


def test_the_files_that_were_written_are_named(run: Run) -> None:
    asked = (
        "simulate",
        "recrawl",
        SMALL,
        "--policies",
        "uniform",
        "--output",
        "o.jsonl",
        "--report",
        "r.html",
    )
    result = run(*asked)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "o.jsonl, r.html: 4 outcomes\n"
    assert run(*asked, "--quiet").stderr == ""
    assert run("simulate", "recrawl", SMALL, "--policies", "uniform").stderr == ""


@pytest.mark.usefixtures("_progress_lines")
def test_a_log_gets_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    clock, running = [100.0], [""]
    progress = Progress(
        "simulation", total=3, started=100.0, clock=lambda: clock[0], details=lambda _now: running[-1:]
    )
    with progress.shown(quiet=False):
        for second, what in ((101.0, "learned"), (109.0, "uniform"), (110.0, "known-rates")):
            clock[0] = second
            progress.done = len(running) - 1
            running.append(what)
            progress.update()
    assert capsys.readouterr().err == "1 of 3 simulations, 0.1 a second, uniform, about 18 s left\n"
    assert progress.done == 2


def test_a_terminal_sees_which_policy_runs(folder: Path) -> None:
    pty = pytest.importorskip("pty")  # not on every system
    ours, theirs = pty.openpty()
    path = os.pathsep.join(filter(None, sys.path))
    env = {**os.environ, "PYTHONPATH": path, "TERM": "xterm-256color", "COLUMNS": "120"}
    command = [
        sys.executable,
        "-m",
        "honeyguide",
        "simulate",
        "recrawl",
        SMALL,
        "--policies",
        "uniform",
        "-o",
        "o.csv",
    ]
    with subprocess.Popen(command, cwd=folder, env=env, stdout=theirs, stderr=theirs) as process:  # noqa: S603 - our own program
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b"")).decode()
    os.close(ours)
    assert process.returncode == 0, shown
    assert f"budget 10d, {SMALL}" in shown
    assert "o.csv: 4 outcomes" in shown


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # how a terminal says that the other side is gone
        return b""
