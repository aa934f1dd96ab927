"""What must hold for every command: no traceback, quiet ends, harmless output, bounded input."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from honeyguide.adapters.files.read import MAX_PAGE_BYTES
from honeyguide.cli.main import Root
from honeyguide.cli.output import number
from honeyguide.core.records import csv_cell, json_line
from honeyguide.core.text.printable import printable

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]
    Start = Callable[..., subprocess.Popen[bytes]]

READERS = [
    ("links",),
    ("select", "--base", "https://a.example/"),
    ("score", "page", "--topic", "fire"),
    ("plan", "--input-format", "csv"),
]


@pytest.mark.parametrize("command", READERS, ids=[command[0] for command in READERS])
@pytest.mark.parametrize("file", ["missing.html", ".", "no/such/file", "a\0b", "x" * 5000])
def test_a_file_that_cannot_be_read_is_one_sentence(run: Run, command: tuple[str, ...], file: str) -> None:
    result = run(*command, file)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", READERS[:3], ids=[command[0] for command in READERS[:3]])
def test_a_page_that_is_too_large_is_one_sentence(run: Run, command: tuple[str, ...]) -> None:
    with Path("large.html").open("wb") as file:
        file.truncate(MAX_PAGE_BYTES + 1)
    result = run(*command, "large.html")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: large.html: is larger than 20 MB; give a smaller file\n"


@pytest.mark.parametrize("command", READERS[:3], ids=[command[0] for command in READERS[:3]])
@pytest.mark.parametrize(("data", "what"), [(b" \n", "is empty"), (b"%PDF-1.4 ...", "is not HTML")])
def test_what_is_no_page_is_one_sentence(run: Run, command: tuple[str, ...], data: bytes, what: str) -> None:
    Path("odd.html").write_bytes(data)
    result = run(*command, "odd.html")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"Error: odd.html: {what}; give the HTML of a page\n"


def test_a_file_name_cannot_write_to_the_terminal(run: Run) -> None:
    result = run("links", "\x1b[31mred\nnext")
    assert "\x1b" not in result.stderr
    assert len(result.stderr.splitlines()) <= 2


def _failing(error: BaseException) -> Root:
    def fail() -> None:
        raise error

    return Root("honeyguide", commands={"fail": click.Command("fail", callback=fail)})


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (BrokenPipeError(), 0, ""),
        (KeyboardInterrupt(), 130, "Stopped by Ctrl-C; files and stores are as they were.\n"),
        (OSError(28, "No space left on device"), 1, "Error: output: No space left on device\n"),
        (click.UsageError("no"), 2, "Error: no\n"),
    ],
)
def test_how_a_command_ends(error: BaseException, code: int, message: str) -> None:
    result = CliRunner().invoke(_failing(error), ["fail"])
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.endswith(message)


def test_a_bug_is_one_sentence_unless_asked_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    root = _failing(ZeroDivisionError("oh"))
    result = CliRunner().invoke(root, ["fail"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: internal error, ZeroDivisionError: oh; this is a bug")
    monkeypatch.setenv("HONEYGUIDE_DEBUG", "1")
    assert isinstance(CliRunner().invoke(root, ["fail"]).exception, ZeroDivisionError)


def test_a_closed_pipe_ends_quietly(start: Start) -> None:
    with start("url", "normalize", "-") as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(b"http://a.example/\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"http://a.example/\n"
        process.stdout.close()
        process.stdin.write(b"http://a.example/\n")
        process.stdin.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_help_into_a_closed_pipe_ends_quietly(start: Start) -> None:
    with start("--help") as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""


def test_an_interrupt_ends_with_130_and_no_traceback(start: Start) -> None:
    with start("url", "normalize", "-") as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(b"http://a.example/\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"http://a.example/\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b"Stopped by Ctrl-C; files and stores are as they were.\n"
    assert process.returncode == 130


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("words", [("profile", "list"), ("--help",), ("--version",), ("plan", "--help")])
def test_a_full_disk_is_one_sentence(start: Start, words: tuple[str, ...]) -> None:
    with start(*words, redirect="> /dev/full", PYTHONUNBUFFERED="") as process:
        _, messages = process.communicate()
    assert (process.returncode, messages) == (1, b"Error: output: No space left on device\n")


CLOSED = b"Error: standard output: is closed; let it go to a file or a pipe\n"


@pytest.mark.parametrize(
    ("redirect", "message"), [(">&-", CLOSED), ("<&-", b"Error: standard input: is closed\n")]
)
def test_closed_streams_are_no_bug(start: Start, redirect: str, message: bytes) -> None:
    with start("url", "normalize", "-", redirect=redirect) as process:
        _, messages = process.communicate(b"http://a.example/")
    assert (process.returncode, messages) == (1, message)


@pytest.mark.parametrize(
    "more", [("--format", "csv"), ("--format", "jsonl"), ("--format", "table"), ("--help",)]
)
def test_what_goes_nowhere_is_not_done(start: Start, more: tuple[str, ...]) -> None:
    with start("plan", "known.csv", *more, redirect=">&-") as process:
        _, messages = process.communicate()
    assert (process.returncode, messages) == (1, CLOSED)


def test_a_file_can_be_written_where_standard_output_is_closed(start: Start, folder: Path) -> None:
    with start("plan", "known.csv", "-o", "plan.csv", redirect=">&-") as process:
        process.communicate()
    assert process.returncode == 0
    assert len((folder / "plan.csv").read_text("utf-8").splitlines()) == 4


def test_json_stays_json_where_the_output_knows_no_letters(start: Start) -> None:
    with start("url", "explain", "http://a.example/é😀", PYTHONIOENCODING="ascii") as process:
        data, _ = process.communicate()
    assert json.loads(data)["text"] == "http://a.example/é😀"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("Löschen 接口", "Löschen 接口"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\x9bb", "a\\x9bb"),
        ("a\r\nb\tc", "a  b c"),
        ("a\u202eb\u200bc", "abc"),
        ("a\x00b", "a\\x00b"),
        ("a\ud800b", "a\\ud800b"),
        ("a\u2028b\u00a0c", "a b c"),
        ("a\x85b", "a\\x85b"),
    ],
)
def test_text_for_a_terminal_is_harmless(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@x", "'@x"),
        ("\t=1", "' =1"),
        ("\r=1", "' =1"),
        (["=1"], "'=1"),
        (-1, "-1"),
        (0.5, "0.5"),
        (None, ""),
        (True, "true"),
        ([], ""),
        ("plain", "plain"),
    ],
)
def test_a_cell_is_never_a_formula(value: object, cell: str) -> None:
    assert csv_cell(value) == cell


def test_json_is_safe_to_look_at() -> None:
    line = json_line({"a": "\x1b\x9b\u202e\ud800é\n"})
    assert line == '{"a": "\\u001b\\u009b\\u202e\\ud800é\\n"}'


@pytest.mark.parametrize(
    ("value", "shown"),
    [(94.0, "94"), (0.30000000000000004, "0.3"), (-5.0, "-5"), (1 / 3, "0.333"), (None, "-")],
)
def test_numbers_without_noise(value: float | None, shown: str) -> None:
    assert number(value) == shown
