"""Every command says what it does and shows commands that work; help costs next to nothing."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest
from click.testing import CliRunner

from honeyguide import __version__, select_links
from honeyguide.cli.main import COMMANDS, root
from honeyguide.core.records import candidate_record

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from click.testing import Result

    Run = Callable[..., Result]
    Start = Callable[..., subprocess.Popen[bytes]]


def _walk(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None, name
            yield from _walk(child, (*path, name))


ALL = dict(_walk(root))
IDS = [" ".join(path) or "honeyguide" for path in ALL]


def _examples(path: tuple[str, ...]) -> list[str]:
    """Read the examples out of the help text that a user sees."""
    text = CliRunner().invoke(root, [*path, "--help"], prog_name="honeyguide").stdout
    section = re.search(r"^Examples:\n((?:  .*\n?)+)", text, re.MULTILINE)
    return [] if section is None else [line.strip() for line in section[1].splitlines()]


EXAMPLES = [(path, example) for path in ALL for example in _examples(path)]


@pytest.mark.parametrize("path", ALL, ids=IDS)
def test_every_command_has_a_summary_and_examples_of_itself(path: tuple[str, ...]) -> None:
    assert (ALL[path].help or "").strip()
    examples = _examples(path)
    assert examples
    assert all(example.startswith(" ".join(("honeyguide", *path))) for example in examples)


@pytest.mark.parametrize("path", ALL, ids=IDS)
def test_every_option_is_explained(path: tuple[str, ...]) -> None:
    options = [option for option in ALL[path].params if isinstance(option, click.Option)]
    assert [option.name for option in options if not option.help] == []


PICKED: dict[str, Any] = {
    **dict.fromkeys(("schema", "requests"), 2),
    **dict.fromkeys(("reason", "profile", "profile_hash", "title")),
    **{name: [] for name in ("selected", "candidates", "skipped", "replaced")},
    "site": "acme.example",
    "homepage": "https://acme.example/",
    "status": "ok",
    "strategy": "portfolio",
    "options": {
        **dict.fromkeys(("cap", "query", "scope", "render")),
        **dict.fromkeys(("include", "exclude", "want", "never"), ()),
    },
    "counts": {},
}
PICKED["options"]["content"] = None


def _write_labels() -> None:
    """Write labels of some sites, and what was picked from them."""
    listed = select_links('<a href="/services">Services</a>', "https://acme.example/").candidates
    picked = {**PICKED, "candidates": [candidate_record(candidate) for candidate in listed]}
    sites = [{"site": f"acme{number}.example"} for number in range(6)]
    homes = [{**site, "homepage": f"https://{site['site']}/"} for site in sites]
    Path("picks.jsonl").write_text("".join(f"{json.dumps(picked | home)}\n" for home in homes), "utf-8")
    labels = [{**site, "core": ["/services"]} for site in sites]
    Path("labels.jsonl").write_text("".join(f"{json.dumps(label)}\n" for label in labels), "utf-8")


@pytest.mark.parametrize(("path", "example"), EXAMPLES, ids=[example for _, example in EXAMPLES])
def test_examples_work(run: Run, crawled: Path, path: tuple[str, ...], example: str) -> None:
    assert path is not None
    assert crawled.exists()
    if path[-1:] == ("mcp",):
        pytest.importorskip("mcp", reason="an extra")
    if "studio" in example:
        pytest.skip("it serves until Ctrl-C; tests/studio/test_studio.py asks it")
    words = shlex.split(example.replace("--until 2035", "--until 2025"))  # a test does not wait for it
    if words[1] == "pick":  # of sites that do not answer: nothing leaves this machine
        local = [
            word.replace("www.acme.example", "localhost:9").replace("acme.example", "127.0.0.1:9")
            for word in words
        ]
        words = [*local, "--allow-private", "--retries", "0"]
    if words[1] == "learn":
        words = [*words, *(() if "--picks" in words else ("--picks", "picks.jsonl"))]
        _write_labels()
    elif "--picks" in words:
        Path("picks.jsonl").write_text(json.dumps(PICKED), "utf-8")
    source = Path(words.pop()).read_bytes() if "<" in words else b""
    result = run(*(word for word in words[1:] if word != "<"), input=source)
    assert result.exit_code == (3 if words[1] in ("pick", "learn") else 0), result.stderr
    written_only = {"init", "-o", "--markdown", "delete", "compact", "import", "workers", "mcp"} & set(words)
    assert written_only or result.stdout


def test_summaries_of_the_root_are_those_of_the_commands() -> None:
    for name, (_, summary) in COMMANDS.items():
        first = (ALL[(name,)].help or "").split("\n")[0].rstrip(".")
        assert first.startswith(summary.rstrip(".")), name


@pytest.mark.parametrize("argument", ["--help", "-h"])
def test_help(run: Run, argument: str) -> None:
    result = run(argument)
    assert result.exit_code == 0
    assert all(name in result.stdout for name in COMMANDS)


@pytest.mark.parametrize("words", [[], ["crawl"], ["url", "explain"]])
def test_help_is_a_word_too(run: Run, words: list[str]) -> None:
    result = run("help", *words)
    assert (result.exit_code, result.stdout) == (0, run(*words, "--help").stdout)


def test_version(run: Run) -> None:
    assert run("--version").stdout == f"honeyguide {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "needed", "heavy"),
    [
        (["--help"], "click", {"rich", "selectolax", "re2", "honeyguide.config", "honeyguide.app.arguments", "honeyguide.cli.commands.select"}),
        (
            ["crawl", "--help"],
            "honeyguide.cli.crawl_work",
            {
                "rich", "aiohttp", "selectolax", "sqlite3", "honeyguide.adapters.html.sitemaps", "honeyguide.app.plan",
                "honeyguide.app.watch", "honeyguide.adapters.files.markdown", "honeyguide.core.pick.select",
            },
        ),
    ],
)  # fmt: skip
def test_help_imports_nothing_heavy(start: Start, arguments: list[str], needed: str, heavy: set[str]) -> None:
    with start(*arguments, python=("-X", "importtime")) as process:
        assert process.stderr
        imported = {line.rpartition(b"|")[2].strip().decode() for line in process.stderr}
    assert process.returncode == 0
    assert needed in imported
    assert heavy & imported == set()


@pytest.mark.parametrize(
    "arguments", [[], ["nonsense"], ["url"], ["url", "nonsense"], ["plan"], ["plan", "--nonsense"]]
)
def test_wrong_usage_is_exit_code_2_with_nothing_on_stdout(run: Run, arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage: honeyguide" in result.stderr


@pytest.mark.parametrize(("wrong", "right"), [(["prfile"], "profile"), (["profile", "lst"], "list")])
def test_a_slip_of_the_pen_is_told_what_it_may_have_meant(run: Run, wrong: list[str], right: str) -> None:
    result = run(*wrong)
    assert result.exit_code == 2
    assert f"No such command {wrong[-1]!r}. Did you mean {right!r}?" in result.stderr


@pytest.mark.parametrize("group", ["url", "score", "profile"])
def test_no_summary_of_a_command_is_cut(run: Run, group: str) -> None:
    assert "..." not in run(group, "--help").stdout.partition("Commands:")[2].partition("Examples:")[0]


def test_a_number_that_is_none_is_called_so(run: Run) -> None:
    told = run("crawl", "https://a.example/", "--max-pages", "ten").stderr
    assert "'ten' is not a valid whole number." in told
    told = run("crawl", "https://a.example/", "--delay", "fast").stderr
    assert "'fast' is not a valid number." in told
