"""`honeyguide pick` over lists of sites, against real HTTP on loopback."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from patience import HANG_S, wait_until

from honeyguide.cli.commands.pick import PrintedRecords
from honeyguide.cli.progress import Progress
from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]
    Start = Callable[..., subprocess.Popen[bytes]]

HOME = b"""<title>Acme \x1b[31m</title><nav><a href="/services">Services</a> <a href="/about">About us</a>
<a href="/privacy">Privacy</a></nav><p>We install and repair things, and have done so for a long time.</p>"""
PAGE = (
    b"<title>Page</title><h1>Services</h1><p>"
    + b"We install, inspect and repair sprinklers in your town. " * 20
    + b"</p>"
)
ABOUT = (
    b"<title>About</title><h1>About us</h1><p>"
    + b"Our family has run this company for three generations. " * 20
    + b"</p>"
)
QUICK = ("--allow-private", "--delay", "0", "--retries", "0", "--no-timings")


async def _silence(_: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


def site(status: str = "200 OK") -> LoopbackServer:
    pages = {"/": response(HOME, status=status), "/services": response(PAGE), "/about": response(ABOUT)}
    return LoopbackServer(pages)


def silent() -> LoopbackServer:
    return LoopbackServer({"/": _silence})


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def sites_of(text: str) -> list[str]:
    return [record["site"] for record in records(text)]


# --- standard output ---


def test_content_is_markdown_or_text(run: Run) -> None:
    with served(site()) as (home,):
        asked = ("pick", home, *QUICK, "--cap", "1", "--content")
        markdown, plain, text = (
            json.loads(run(*asked, *more).stdout) for more in ((), ("markdown",), ("text",))
        )
    assert (markdown, markdown["options"]["content"]) == (plain, "markdown")
    (marked,), (bare,) = markdown["selected"], text["selected"]
    assert (text["options"]["content"], "markdown" in bare, "text" in marked) == ("text", False, False)
    assert marked["markdown"].startswith("# Services\n")
    assert bare["text"].startswith("Services\n")
    assert bare["headings"] == marked["headings"] == ["Services"]


def test_records_in_input_order(run: Run) -> None:
    with served(site(), site("404 Not Found"), site()) as sites:
        result = run("pick", *sites, *QUICK)
    assert result.exit_code == 0, result.stderr
    found = records(result.stdout)
    assert [record["site"] for record in found] == sites
    assert [record["status"] for record in found] == ["ok", "http_error", "ok"]
    assert [page["url"] for page in found[0]["selected"]] == [f"{sites[0]}services", f"{sites[0]}about"]
    assert "elapsed_s" not in found[0]
    assert "3 sites, 2 ok, 1 not ok (1 http_error)" in result.stderr


def test_the_same_bytes_at_any_concurrency(run: Run) -> None:
    with served(*(site() for _ in range(4))) as sites:
        one, many = (run("pick", *sites, *QUICK, "--concurrency", count).stdout for count in ("1", "8"))
    assert one == many


def test_a_table_for_a_person(run: Run) -> None:
    with served(site()) as sites:
        result = run("pick", *sites, "N/A", *QUICK, "--format", "table")
    assert result.exit_code == 0, result.stderr
    home = sites[0]
    assert result.stdout.startswith(f"{home}  ok  {home}\n  Acme \\x1b[31m\n")
    assert "/services" in result.stdout
    assert "+" in result.stdout
    assert "N/A  unreachable\n  argument 2: is not an address: a name without a dot\n" in result.stdout
    assert "2 sites, 1 ok, 1 not ok (1 unreachable); " in result.stdout


def test_csv_on_standard_output(run: Run) -> None:
    with served(site()) as sites:
        rows = list(csv.DictReader(run("pick", *sites, *QUICK, "--format", "csv").stdout.splitlines()))
    assert [(row["site"], row["selected_rank"]) for row in rows] == [(sites[0], "1"), (sites[0], "2")]


AREAS = b"""<nav><a href=/services/fire-alarms>Fire alarms</a><a href=/service-areas>Areas</a><a href=/locations>Places</a>
<a href=/blog/fire-drill>Fire alarm and sprinkler drill</a><a href=/x/y/z?q=1>x</a></nav>"""
COUNTED = {
    "links": 5, "filtered": 2, "candidates": 3, "above_threshold": 1, "selected": 1, "rejected_service_area": 2,
    "rejected_blog": 1, "rejected_blog_quota": 0,
}  # fmt: skip


def test_the_counts_of_the_prd_are_logged_and_in_every_format(run: Run) -> None:
    # PICK-20: candidates, filtered, above threshold, selected, the blog rule, service areas.
    pages = {"/": response(AREAS), "/services/fire-alarms": response(PAGE)}
    asked = ("--strategy", "blend", *QUICK)
    with served(LoopbackServer(pages)) as sites:
        table, lines = (run("pick", *sites, *asked, "--format", name, "-v") for name in ("csv", "jsonl"))
        deep, silent = (run("pick", *sites, *asked, *more).stderr for more in (("-vv",), ()))
    (row,) = csv.DictReader(table.stdout.splitlines())
    assert {name: int(row[f"counts_{name}"]) for name in COUNTED} == COUNTED
    assert records(lines.stdout)[0]["counts"].items() >= COUNTED.items()
    said = (
        "5 links, 2 filtered, 3 candidates, 1 above threshold, 1 selected, 2 rejected by service area, "
        "1 rejected by blog, 0 rejected by blog quota"
    )
    assert f"{sites[0]}: {said}\n" in lines.stderr
    assert "1 rejected by threshold" not in lines.stderr
    assert "1 rejected by threshold" in deep
    assert said not in silent


def test_lists_from_everywhere_each_site_once(run: Run) -> None:
    with served(site(), site(), site()) as sites:
        Path("sites.csv").write_text(f"name,website\nA,{sites[1]}\nB,\nC,{sites[0]}\n")
        result = run("pick", sites[0], "-", "-i", "sites.csv", *QUICK, input=f"{sites[2]}\n{sites[1]}\n")
    found = records(result.stdout)
    assert [record["site"] for record in found] == [sites[0], sites[1], "B,", sites[2]]
    assert (found[2]["status"], found[2]["reason"]) == ("unreachable", "sites.csv line 3: names no site")
    assert (
        f"Note: 2 sites are repeated and picked once; the first repeated one is '{sites[0]}'\n"
        in result.stderr
    )


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("a.example", "--format", "parquet"),
        ("a.example", "--format", "table", "-o", "x.jsonl"),
        ("a.example", "--restart"),
        ("a.example", "--retry-failed"),
        ("a.example", "--restart", "--retry-failed", "-o", "x"),
        ("a.example", "--report", "x.pdf"),
        ("a.example", "--concurrency", "0"),
        ("-i", "urls.txt", "-o", "./urls.txt"),
        ("a.example", "-o", "x.md", "--report", "x.md"),
        ("-i", "notes.md", "--report", "x/../notes.md"),
        ("a.example", "-o", "x.docx"),
        ("a.example", "--column", "site"),
    ],
)
def test_wrong_usage(run: Run, arguments: tuple[str, ...]) -> None:
    result = run("pick", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-i", "missing.csv"), "missing.csv: cannot be read"),
        (("-i", "known.csv", "--column", "site"), "known.csv: has no column site; it has url, visits"),
        (("a.example", "--profile", "nonsense"), "nonsense"),
        (
            ("known.csv",),
            "known.csv: is a file here: -i known.csv reads it; for the site, write https:// in front",
        ),
        (("-i", "home.html", "--column", "x"), "home.html: is read as sitemap, which has no column x"),
        (("a.example", "--profile", "docs"), "docs: strategy: has no 'portfolio'"),
        (
            ("a.example", "--strategy", "luck"),
            "company: strategy: has no 'luck'; it has rules, blend, portfolio",
        ),
        (("a.example", "--include", "("), "pattern '('"),
        (("a.example", "--contact", "ü"), "policy: contact: must be printable ASCII"),
    ],
)
@pytest.mark.parametrize("output", [(), ("-o", "picks.jsonl"), ("--format", "csv")])
def test_an_error_is_one_sentence_and_leaves_nothing(
    run: Run, folder: Path, arguments: tuple[str, ...], words: str, output: tuple[str, ...]
) -> None:
    before = sorted(folder.iterdir())
    result = run("pick", *arguments, *output)
    assert (result.exit_code, result.stdout) == (1, "")
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert sorted(folder.iterdir()) == before


def test_a_list_in_another_encoding_is_refused_before_its_names_are_damaged(run: Run) -> None:
    Path("list.csv").write_bytes("name;website\nZürich AG;a.example\n".encode("cp1252"))
    result = run("pick", "-i", "list.csv", "-o", "picks.jsonl")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: list.csv line 2: is not UTF-8; save the file as UTF-8\n"
    assert not Path("picks.jsonl").exists()


# --- files ---


def test_a_file_is_complete_and_stays(run: Run, folder: Path) -> None:
    with served(site(), site()) as sites:
        command = ("pick", *sites, "N/A", *QUICK, "-o", "picks.jsonl")
        first = run(*command)
        assert (first.exit_code, first.stdout) == (0, ""), first.stderr
        assert "picks.jsonl: 3 sites, 2 ok, 1 not ok (1 unreachable); " in first.stderr
        text = Path("picks.jsonl").read_text("utf-8")
        assert sites_of(text) == [*sites, "N/A"]
        again = run(*command)
    assert again.exit_code == 0
    assert (
        "Note: picks.jsonl is complete already, 1 not ok (1 unreachable); --restart picks again, "
        "--retry-failed where the status is not ok\n" in again.stderr
    )
    assert Path("picks.jsonl").read_text("utf-8") == text
    assert [file.name for file in folder.glob("picks*")] == ["picks.jsonl"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--strategy", "rules"), "strategy: portfolio there, rules here"),
        (("--cap", "1"), "(cap: 2 there, 1 here)"),
        (("--include", "about"), "(include: =zzz|about there, =zzz|about, about here)"),
        (("--exclude", "about"), "exclude: none there, about here"),
        (("--query", "roof"), "query: none there, roof here"),
        (("--content",), "content: none there, markdown here"),
        (("--content", "text"), "content: none there, text here"),
        (("-",), "holds other sites than those asked for"),
    ],
)
@pytest.mark.parametrize("name", ["picks.jsonl", "picks.csv", "picks.xlsx", "picks.parquet"])
def test_another_run_on_the_same_file_is_one_sentence(
    run: Run, name: str, more: tuple[str, ...], words: str
) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("polars")  # an extra
    if name.endswith(("csv", "xlsx")) and "--content" in more:
        pytest.skip("a table has no room for the content")
    with served(site()) as sites:
        command = ("pick", *QUICK, "-o", name, "--cap", "2", "--include", "=zzz|about", *sites)
        run(*command, "=N/A")
        before = Path(name).read_bytes()
        again = run(*command, "=N/A")
        assert f"{name}: 2 sites, 2 of them done before, 1 ok, 1 not ok (1 unreachable)" in again.stderr
        result = run(*command, *([] if more == ("-",) else ["=N/A"]), *more, input="b.example")
    assert (result.exit_code, result.stdout) == (1, "")
    assert words in re.sub("[\"']", "", result.stderr)
    assert "use --restart to start over, or another -o" in result.stderr
    assert Path(name).read_bytes() == before


def test_a_list_of_a_table_does_not_grow(run: Run) -> None:
    with served(site(), site()) as sites:
        run("pick", sites[0], *QUICK, "-o", "picks.csv")
        result = run("pick", *sites, *QUICK, "-o", "picks.csv")
    assert (result.exit_code, result.stdout) == (1, "")
    why = "a list may grow only at its end, after -o FILE.jsonl is complete"
    assert f"picks.csv: holds fewer sites than those asked for: {why}; use --restart" in result.stderr


def test_a_list_that_grew_goes_on(run: Run) -> None:
    with served(site(), site()) as sites:
        run("pick", sites[0], *QUICK, "-o", "picks.jsonl")
        first = Path("picks.jsonl").read_text("utf-8")
        result = run("pick", *sites, *QUICK, "-o", "picks.jsonl")
    assert result.exit_code == 0, result.stderr
    assert "picks.jsonl: 2 sites, 1 of them done before, 2 ok; " in result.stderr
    assert "is complete already" not in result.stderr
    text = Path("picks.jsonl").read_text("utf-8")
    assert text.startswith(first)
    assert sites_of(text) == sites


def test_a_strategy_of_the_profile_is_used(run: Run) -> None:
    text = 'name = "careful"\nextends = "company"\n[strategy.services]\ncard = "worth"\ncap = 1\norder = ["score"]\n'
    Path("careful.toml").write_text(text, "utf-8")
    with served(site()) as sites:
        result = run("pick", *sites, *QUICK, "--profile", "careful.toml", "--strategy", "services")
    assert result.exit_code == 0, result.stderr
    (found,) = records(result.stdout)
    assert (found["strategy"], len(found["selected"])) == ("services", 1)


def test_a_query_that_changes_nothing_is_told(run: Run) -> None:
    words = "Note: strategy portfolio does not use --query; --strategy blend does\n"
    assert words in run("pick", "N/A", "--query", "sprinkler", *QUICK).stderr
    assert words in run("select", "--demo", "--query", "sprinkler").stderr
    for command in (("pick", "N/A", *QUICK), ("select", "--demo")):
        assert "--query" not in run(*command, "--query", "sprinkler", "--strategy", "blend").stderr


def test_who_has_the_option_is_told_of_it(run: Run) -> None:
    Path("names.csv").write_text("name,phone\nA,1\n", "utf-8")
    words = "Error: names.csv: has no column domain, website or url; it has name, phone"
    assert run("pick", "-i", "names.csv").stderr == f"{words}; name one of these with --column\n"
    assert (
        run("crawl", "-i", "names.csv", "--topic", "x").stderr
        == f"{words}; name one of these with --column\n"
    )
    words = "Error: names.csv: has no column fone; it has name, phone; did you mean phone?\n"
    assert run("pick", "-i", "names.csv", "--column", "fone").stderr == words


def test_a_file_that_is_named_as_a_site_is_told_by_crawl_too(run: Run) -> None:
    assert "-i known.csv reads it" in run("crawl", "known.csv", "--topic", "x").stderr


def test_what_put_all_links_out_is_named(run: Run) -> None:
    with served(site()) as sites:
        (found,) = records(run("pick", *sites, *QUICK, "--include", "zzz").stdout)
    assert found["status"] == "partial"
    assert found["reason"] == (
        "the homepage links to no inner page that could be chosen; 3 links are rejected: 2 by include, 1 by disallowed-path"
    )


def test_all_links_are_counted(run: Run) -> None:
    with served(LoopbackServer({"/": response(HOME + b'<a href="mailto:a@b.example">m</a>')})) as sites:
        (found,) = records(run("pick", *sites, *QUICK).stdout)
    assert (found["counts"]["links"], found["counts"]["skipped"]) == (3, 1)


def test_a_file_of_somebody_else_is_left_alone(run: Run) -> None:
    Path("mine.jsonl").write_text("<h1>Mine</h1>\n", "utf-8")
    result = run("pick", "a.example", "-o", "mine.jsonl", "--restart")
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: mine.jsonl: exists and is no output of this command; choose another -o\n",
    )


def test_fresh_starts_over(run: Run) -> None:
    with served(site()) as sites:
        run("pick", *sites, *QUICK, "-o", "picks.jsonl")
        result = run("pick", *sites, *QUICK, "-o", "picks.jsonl", "--restart", "--cap", "1")
    assert result.exit_code == 0, result.stderr
    assert [len(record["selected"]) for record in records(Path("picks.jsonl").read_text("utf-8"))] == [1]


@pytest.mark.parametrize("name", ["picks.jsonl", "picks.csv"])
def test_what_cannot_begin_leaves_the_old_file(run: Run, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with served(site()) as sites:
        run("pick", *sites, *QUICK, "-o", name)
        old = Path(name).read_bytes()
        monkeypatch.setenv("HTTP_PROXY", "ftp://x")
        result = run("pick", *sites, *QUICK, "-o", name, "--restart")
    assert (result.exit_code, "environment: http_proxy" in result.stderr) == (1, True)
    assert Path(name).read_bytes() == old
    assert not Path(f"{name}.journal").exists()


@pytest.mark.parametrize("name", ["picks.csv", "picks.parquet"])
def test_tables(run: Run, folder: Path, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("polars")  # an extra
    with served(site(), site()) as sites:
        first = run("pick", *sites, *QUICK, "-o", name)
        again = run("pick", *sites, *QUICK, "-o", name)
        other = run("pick", sites[0], *QUICK, "-o", name)
        retried = run("pick", *sites, *QUICK, "-o", name, "--retry-failed")
    assert first.exit_code == 0, first.stderr
    assert (again.exit_code, "is complete already" in again.stderr) == (0, True)
    assert (other.exit_code, "holds other sites" in other.stderr) == (1, True)
    assert (retried.exit_code, "use --restart, or -o FILE.jsonl" in retried.stderr) == (1, True)
    assert [file.name for file in folder.glob("picks*")] == [name]


def test_failed_sites_are_tried_again(run: Run) -> None:
    server = site("404 Not Found")
    with served(site(), server, site()) as sites:
        command = ("pick", *sites, *QUICK, "-o", "picks.jsonl")
        run(*command)
        assert [record["status"] for record in records(Path("picks.jsonl").read_text("utf-8"))] == [
            "ok",
            "http_error",
            "ok",
        ]
        server.answers["/"] = response(HOME)
        asked = len(server.requests)
        result = run(*command, "--retry-failed")
        assert len(server.requests) > asked
    assert result.exit_code == 0, result.stderr
    found = records(Path("picks.jsonl").read_text("utf-8"))
    assert [(record["site"], record["status"]) for record in found] == [(address, "ok") for address in sites]
    assert "3 sites, 2 of them done before, 3 ok" in result.stderr
    assert "is complete already" not in result.stderr


def test_reports_get_every_record(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[tuple[list[str], str]] = []
    monkeypatch.setattr(
        "honeyguide.report.write_report",
        lambda found, path, *_: written.append(([record["site"] for record in found], path.name)),
    )
    with served(site()) as sites:
        for output in ((), ("-o", "picks.jsonl"), ("-o", "picks.csv")):
            result = run("pick", "N/A", *sites, *QUICK, *output, "--report", "a.html", "--report", "b.md")
            assert result.exit_code == 0, result.stderr
    assert written == [(["N/A", *sites], name) for _ in range(3) for name in ("a.html", "b.md")]


# --- Ctrl-C ---


@pytest.mark.parametrize("name", ["picks.jsonl", "picks.csv"])
@pytest.mark.slow
def test_an_interrupt_keeps_what_is_finished(run: Run, start: Start, folder: Path, name: str) -> None:
    slow, last = silent(), site()
    journal = folder / f"{name}.journal"
    with served(site(), slow, last) as sites:
        command = ("pick", *sites, *QUICK, "-o", name)
        with start(*command) as process:
            wait_until(lambda: journal.exists() and sites[2].encode() in journal.read_bytes())
            kept = (folder / "picks.jsonl", journal)
            wait_until(lambda: any(file.exists() and sites[0].encode() in file.read_bytes() for file in kept))
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate(timeout=HANG_S)
        assert process.returncode == 130, stderr
        assert b"Note: stopped; 2 of 3 sites are finished: the same command resumes" in stderr
        assert b"Traceback" not in stderr
        if name == "picks.csv":
            assert _csv_sites(folder / name) == [sites[0], sites[2]]
        slow.answers["/"] = response(HOME)
        asked = len(last.requests)
        result = run(*command)
        assert result.exit_code == 0, result.stderr
        assert len(last.requests) == asked
    assert "3 sites, 2 of them done before, " in result.stderr
    path = folder / name
    assert (sites_of(path.read_text("utf-8")) if name == "picks.jsonl" else _csv_sites(path)) == sites
    assert [file.name for file in folder.glob("picks*")] == [name]


def _csv_sites(path: Path) -> list[str]:
    return list(dict.fromkeys(row["site"] for row in csv.DictReader(path.read_text("utf-8").splitlines())))


def test_an_interrupt_without_a_file_says_what_would_help(start: Start) -> None:
    with served(site(), silent()) as sites, start("pick", *sites, *QUICK) as process:
        assert process.stdout
        assert sites_of(process.stdout.readline().decode()) == [sites[0]]
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=HANG_S)
    assert process.returncode == 130
    assert b"Note: stopped; 1 of 2 sites are finished: -o FILE would keep them, to resume" in stderr


def test_what_waited_for_others_is_printed_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    sink = PrintedRecords("jsonl", 4, keep=True)
    for index in (3, 0, 2):
        sink.add(index, {"site": str(index)})
    assert sites_of(capsys.readouterr().out) == ["0"]
    sink.write()
    assert sites_of(capsys.readouterr().out) == ["2", "3"]
    assert [record["site"] for record in sink.records()] == ["0", "2", "3"]


def test_two_runs_on_one_file_are_one_sentence(run: Run, start: Start) -> None:
    slow = silent()
    with served(slow) as sites:
        command = ("pick", *sites, *QUICK, "-o", "picks.jsonl")
        with start(*command) as process:
            wait_until(lambda: slow.requests)
            result = run(*command)
            process.kill()
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: picks.jsonl: another run is writing it; wait until that has ended\n",
    )


def test_quiet_says_nothing(run: Run) -> None:
    with served(site()) as sites:
        assert run("pick", *sites, *QUICK, "--quiet", "-o", "picks.jsonl").stderr == ""


# --- progress ---


@pytest.mark.usefixtures("_progress_lines")
def test_a_log_gets_few_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([1.0, 6.0, 7.0, 70.0])
    progress = Progress("site", total=4, started=0.0, clock=lambda: next(times))
    with progress.shown(quiet=False):
        for _ in range(4):
            progress.done += 1
            progress.update()
    assert capsys.readouterr().err.splitlines() == [
        "2 of 4 sites, 0.3 a second, about 6 s left",
        "4 of 4 sites, 3.4 a minute",
    ]


@pytest.mark.parametrize(
    "more", [("--format", "table"), ("-o", "picks.jsonl"), ("-o", "picks.jsonl", "--quiet")]
)
@pytest.mark.slow
def test_a_terminal_gets_a_live_line(folder: Path, more: tuple[str, ...]) -> None:
    pty = pytest.importorskip("pty")  # not on every system
    ours, theirs = pty.openpty()
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "TERM": "xterm-256color",
        "COLUMNS": "100",
    }
    with served(site(), site()) as sites:
        command = [sys.executable, "-m", "honeyguide", "pick", *sites, *QUICK, *more]
        with subprocess.Popen(command, cwd=folder, env=env, stdout=theirs, stderr=theirs) as process:  # noqa: S603 - our own program
            os.close(theirs)
            shown = b"".join(iter(lambda: _read(ours), b"")).decode()
    os.close(ours)
    assert process.returncode == 0, shown
    assert (" of 2 sites" in shown) == ("--quiet" not in more)
    assert ("/services" in shown) == ("table" in more)
    assert "\x1b[31m\n" not in shown


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # how a terminal says that the other side is gone
        return b""
