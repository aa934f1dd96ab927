"""`honeyguide.toml` sets what never changes; --show-config says what is in force; -v, -V and completion work."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from honeyguide import __version__
from honeyguide.cli.main import root
from honeyguide.cli.settings import LEAST_DELAY_S
from honeyguide.core.fetching import FetchPolicy
from honeyguide.testing.fakes import served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from click.testing import Result

    from honeyguide.testing.fakes import LoopbackServer

    Run = Callable[..., Result]

LINK = ("score", "link", "https://acme.example/api")


def _commands(
    group: click.Group, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(_commands(root))


@pytest.fixture
def write(folder: Path) -> Callable[[str], None]:
    def writer(text: str) -> None:
        (folder / "honeyguide.toml").write_text(text, "utf-8")

    return writer


# --- values ---


def test_the_file_gives_the_value_of_an_option_and_the_command_line_wins(
    run: Run, write: Callable[[str], None]
) -> None:
    write('[score.link]\ntopic = "api"\n')
    from_file = run(*LINK, "--format", "jsonl")
    assert from_file.exit_code == 0, from_file.stderr
    assert "topic in URL" in from_file.stdout
    assert "honeyguide.toml sets --topic" in from_file.stderr
    typed = run(*LINK, "--topic", "nothing", "--format", "jsonl")
    assert "topic in URL" not in typed.stdout
    assert typed.stderr == ""


def test_the_file_is_found_upwards_from_the_working_folder(
    run: Run, write: Callable[[str], None], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write('[score.link]\ntopic = "api"\n')
    (folder / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(folder / "a" / "b")
    assert run(*LINK).exit_code == 0
    (folder / "a" / "honeyguide.toml").write_text("", "utf-8")  # the nearest counts alone
    assert run(*LINK).exit_code == 2


def test_no_file_above_the_home_folder_is_used(
    run: Run, write: Callable[[str], None], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write('[score.link]\ntopic = "api"\n')
    inside = folder / "home" / "project"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    monkeypatch.setenv("HOME", str(folder / "home"))
    assert run(*LINK).exit_code == 2
    (folder / "home" / "honeyguide.toml").write_text('[score.link]\ntopic = "api"\n', "utf-8")
    assert run(*LINK).exit_code == 0


def test_a_file_of_another_user_is_not_used(
    run: Run, write: Callable[[str], None], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write('[score.link]\ntopic = "api"\n')
    real = os.stat(folder / "honeyguide.toml")  # noqa: PTH116 - before it is replaced
    other = os.stat_result([*real[:4], 4321, *real[5:]])
    stat_of = type(folder).stat
    monkeypatch.setattr(
        type(folder),
        "stat",
        lambda path, **how: other if path.name == "honeyguide.toml" else stat_of(path, **how),
    )
    result = run(*LINK)
    assert result.exit_code == 2
    assert "belongs to another user, and is not used" in result.stderr


def test_common_values_hold_for_every_command_that_has_the_option(
    run: Run, write: Callable[[str], None]
) -> None:
    write('[common]\ncontact = "mailto:me@acme.example"\ndelay = 2\n[crawl]\ndelay = 3.5\n')
    for command, delay, table in (("pick", 2.0, "common"), ("watch", 2.0, "common"), ("crawl", 3.5, "crawl")):
        shown = run(command, "--show-config").stdout
        assert f"delay = {delay}  # honeyguide.toml, [{table}]" in shown
        assert 'contact = "mailto:me@acme.example"  # honeyguide.toml, [common]' in shown
    assert run("url", "normalize", "https://a.example/").exit_code == 0  # it has none of them


def test_flags_lists_counts_and_profiles_of_the_file(
    run: Run, write: Callable[[str], None], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '[pick]\nno-timings = true\nexclude = ["jobs", "team"]\nverbose = 2\nprofile = "plumbers.toml"\n'
    write(text)
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    shown = run("pick", "--show-config").stdout
    for line in text.splitlines()[1:4]:
        assert f"{line}  # honeyguide.toml, [pick]" in shown
    path = folder / "plumbers.toml"
    assert f'profile = "{path}"  # honeyguide.toml, [pick]' in shown  # it starts at the file


# --- mistakes ---


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[pick]\nkap = 4\n", "[pick] kap: is not an option here; there are cap, "),
        ("[common]\ncap = 4\n", "[common] cap: is not an option here; there are concurrency, contact, delay"),
        ("[pikc]\ncap = 4\n", "pikc: is not the name of a command; tables are common, demo, pick"),
        ("cap = 4\n", "cap: stands outside of a table; tables are common"),
        ("pick = 4\n", "pick: must be a table, [pick]"),
        ('[pick]\ncap = "4"\n', '[pick] cap: must be a whole number, not "4"'),
        ("[pick]\ncap = true\n", "[pick] cap: must be a whole number, not true"),
        ('[pick]\ndelay = "1"\n', '[pick] delay: must be a number, not "1"'),
        ("[pick]\ncap = 0\n", "[pick] cap: 0 is not in the range 1<=x<=1000."),
        ("[pick]\ndelay = nan\n", "[pick] delay: "),
        ("[common]\ndelay = 0.49\n", "[common] delay: less than 0.5 is accepted on the command line only"),
        ("[pick]\nquiet = 1\n", "[pick] quiet: must be true or false, not 1"),
        ('[pick]\ninclude = "a"\n', '[pick] include: must be a list of texts, not "a"'),
        ("[pick]\ninclude = [1]\n", "[pick] include: must be a list of texts, not a list"),
        ("[pick]\nquery = 1\n", "[pick] query: must be a text in quotes, not 1"),
        ("[pick]\nformat = 1\n", "[pick] format: must be one of table, jsonl, csv, parquet"),
        ('[pick]\nformat = "xml"\n', "[pick] format: 'xml' is not one of"),
        ("[pick.cap]\nx = 1\n", "[pick] cap: must be a whole number, not a table"),
        ("[pick", "is not TOML: "),
        ("x = " + "[" * 9_000, "is not TOML: "),
        ("[pick]\ncap" + ".a" * 5_000 + " = 1\n", "[pick] cap: must be a whole number, not a table"),
        ("#" * 20_000, "has more than 16,384 bytes"),
        ('[pick]\nquery = "\\u001b[31m"\nkap = "\\u202e"', "[pick] kap: is not an option here"),
    ],
)
def test_a_mistake_is_one_sentence_with_the_file_the_key_and_what_is_allowed(
    run: Run, write: Callable[[str], None], folder: Path, text: str, words: str
) -> None:
    write(text)
    result = run("pick", "127.0.0.1:9")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith(f"Error: {folder / 'honeyguide.toml'}: {words}")
    assert result.stderr.count("\n") == 1
    assert all(char.isprintable() for char in result.stderr.rstrip("\n"))


def test_a_file_that_cannot_be_read_is_one_sentence(run: Run, folder: Path) -> None:
    (folder / "honeyguide.toml").mkdir()
    assert run(*LINK).stderr == f"Error: {folder / 'honeyguide.toml'}: is not a file\n"
    (folder / "honeyguide.toml").rmdir()
    os.mkfifo(folder / "honeyguide.toml")
    assert run(*LINK).stderr == f"Error: {folder / 'honeyguide.toml'}: is not a file\n"


# --- a folder of a stranger ---


def _options(command: click.Command) -> list[click.Option]:
    return [param for param in command.params if isinstance(param, click.Option)]


REFUSED = [
    (path, max(option.opts, key=len).lstrip("-"))
    for path, command in COMMANDS.items()
    for option in _options(command)
    if set((option.metavar or "").split("|")) & {"FILE", "DIR", "PATH", "PICKS", "PLAN"}
    or {"--allow-private", "--header", "--proxy"} & set(option.opts)
]


def test_dangerous_options_are_known() -> None:
    keys = {key for _, key in REFUSED}
    assert {
        "allow-private",
        "header",
        "proxy",
        "netrc",
        "store",
        "output",
        "markdown",
        "warc",
        "report",
        "input",
        "sitemap",
    } <= keys


@pytest.mark.parametrize(("path", "key"), REFUSED, ids=[f"{' '.join(path)} {key}" for path, key in REFUSED])
def test_options_that_read_write_or_open_are_refused_in_the_file(
    run: Run, write: Callable[[str], None], path: tuple[str, ...], key: str
) -> None:
    write(f"[{'.'.join(path)}]\n{key} = true\n")
    result = run(*path, "--show-config")
    assert result.exit_code == 1
    assert f"[{'.'.join(path)}] {key}: is accepted on the command line only" in result.stderr


def test_private_addresses_are_not_opened_for_all_commands_either(
    run: Run, write: Callable[[str], None]
) -> None:
    write("[common]\nallow-private = true\n")
    assert "allow-private: is accepted on the command line only" in run("pick", "a.example").stderr


# --- what is in force ---


@pytest.mark.parametrize("path", COMMANDS, ids=[" ".join(path) for path in COMMANDS])
def test_every_command_shows_what_is_in_force(run: Run, path: tuple[str, ...]) -> None:
    result = run(*path, "--show-config")
    assert result.exit_code == 0, result.stderr
    first, table, *lines = result.stdout.splitlines()
    assert first.startswith(f"# honeyguide {' '.join(path)}: ")
    assert table == f"[{'.'.join(path)}]"
    shown = [line.removeprefix("# ").partition(" ")[0].rstrip(":") for line in lines]
    assert shown == [max(option.opts, key=len).lstrip("-") for option in _options(COMMANDS[path])]
    tomllib.loads(result.stdout)


def test_what_is_shown_can_be_the_file(run: Run, write: Callable[[str], None]) -> None:
    shown = run("pick", "--show-config", "--exclude", "a\x1b'\"🙂", "--delay", "2").stdout
    assert "delay = 2.0  # command line" in shown
    assert "\x1b" not in shown
    write(shown)
    again = run("pick", "--show-config").stdout
    assert "delay = 2.0  # honeyguide.toml, [pick]" in again
    assert [line.partition("  #")[0] for line in again.splitlines()[1:]] == [
        line.partition("  #")[0] for line in shown.splitlines()[1:]
    ]


def test_usual_values_are_shown_even_where_the_fetch_policy_has_them(run: Run) -> None:
    shown = run("pick", "--show-config").stdout
    assert "# delay: 0.5  # default" in shown
    assert 'strategy = "portfolio"  # default' in shown
    assert "# query: not set  # default" in shown


def test_a_crawl_of_what_is_due_ignores_what_the_file_says_of_new_crawls(
    run: Run, crawled: Path, write: Callable[[str], None]
) -> None:
    assert crawled.exists()
    write('[crawl]\ntopic = "api"\n')
    result = run("crawl", "--due")
    assert result.exit_code == 0, result.stderr
    assert "nothing is due" in result.stderr


# --- logs, version, completion, defaults ---


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("plan", "known.csv", "--now", "2024-06-15"), "reading known.csv"),
        (("select", "links.csv"), "reading links.csv"),
        (("score", "links", "known.csv", "--topic", "world"), "reading known.csv"),
    ],
)
def test_commands_that_read_much_log_what_they_read(run: Run, command: tuple[str, ...], words: str) -> None:
    assert words in run(*command, "-v").stderr
    assert words not in run(*command).stderr


def test_commands_that_fetch_log_pages_and_with_more_requests(
    run: Run, manual: Callable[[], LoopbackServer]
) -> None:
    with served(manual()) as (home,):
        crawl = ("crawl", home, "--topic", "asyncio", "--allow-private", "--delay", "0", "-q")
        some = run(*crawl, "-v", "--restart")
        more = run(*crawl, "-vv", "--restart")
        none = run(*crawl, "--restart")
    page = f"{home.rstrip('/')}/library/asyncio.html"
    assert f"{page}: " in some.stderr
    assert "GET " not in some.stderr
    assert f"GET {page}: 200, " in more.stderr
    assert none.stderr == ""


def test_the_version(run: Run) -> None:
    assert run("-V").stdout == run("--version").stdout == f"honeyguide {__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.slow
def test_shells_complete_commands_and_options(shell: str, folder: Path) -> None:
    def completed(**given: str) -> str:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **given}
        command = [sys.executable, "-m", "honeyguide"]
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
        return done.stdout

    assert f"_HONEYGUIDE_COMPLETE={shell}_complete" in completed(_HONEYGUIDE_COMPLETE=f"{shell}_source")
    number = {"bash": "1", "zsh": "1", "fish": "cra"}[shell]
    words = "honeyguide cra"
    found = completed(_HONEYGUIDE_COMPLETE=f"{shell}_complete", COMP_WORDS=words, COMP_CWORD=number)
    assert "crawl" in found.replace(",", "\n").split()
    number = {"bash": "2", "zsh": "2", "fish": "--show"}[shell]
    words = "honeyguide pick --show"
    found = completed(_HONEYGUIDE_COMPLETE=f"{shell}_complete", COMP_WORDS=words, COMP_CWORD=number)
    assert "--show-config" in found.replace(",", "\n").split()


@pytest.mark.parametrize("path", COMMANDS, ids=[" ".join(path) for path in COMMANDS])
def test_help_shows_defaults_in_one_way(path: tuple[str, ...]) -> None:
    text = " ".join(CliRunner().invoke(root, [*path, "--help"], prog_name="honeyguide").stdout.split())
    assert "default is" not in text
    assert "if not given" not in text
    for option in _options(COMMANDS[path]):
        if isinstance(option.default, (int, float)) and not option.is_flag and not option.count:
            assert f"[default: {option.default}" in text, option.name


def test_a_file_may_slow_requests_down_and_not_hurry_them() -> None:
    assert FetchPolicy().delay_s == LEAST_DELAY_S
