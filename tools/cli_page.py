"""Make docs/reference/cli.md: every command of `cli` with its help, its usage, its examples and its options.

`make_reference.py` writes the page. An option that several commands have with the same meaning is explained once.
"""

from __future__ import annotations

import inspect
from collections import Counter
from typing import TYPE_CHECKING

import click

from honeyguide.cli.command import options_of
from honeyguide.cli.main import root
from honeyguide.cli.options import FetchOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

# --concurrency differs by command.
REQUEST_OPTIONS = {option.name for option in options_of(FetchOptions)} - {"concurrency"}
OPTION_TABLE = ("| option | meaning |", "|---|---|")
CLI_HEAD = """# The command line

<!-- Written by tools/make_reference.py; change that, not this. -->

Data goes to standard output, messages to standard error. Exit codes: 0 done, 1 error, 2 wrong usage, 3 stopped by
a budget or partial, 130 interrupted. `HONEYGUIDE_DEBUG=1` shows the traceback of an internal error.

`FILE…`: an option that may be repeated. Most commands have these options:

| option | meaning |
|---|---|
| `-h`, `--help` | Show options and examples. |
| `--format` `table`, `jsonl`, `csv`, `parquet`, `xlsx` | How to write. Default: by the name of `-o`, else a table in a terminal, JSON lines in a pipe. `parquet` and `xlsx` need `-o` of `pick`, `crawl`, `plan`, `export` or `rescore`. `export` and `rescore` print no table. |
| `-q`, `--quiet` | Print no progress and no summary. |
| `-v`, `--verbose` | Log what is done to standard error; `-vv` also logs every request and every rule. |
| `--no-color` | Print without colour, as `NO_COLOR=1` does. |
| `--show-config` | Print the value of each option, and where it comes from. |

Commands that fetch (`pick`, `crawl`, `watch`, `learn`) have these, too:
"""
COMMON_FROM = 2  # commands with the same option, which is then explained once


def command_line() -> str:
    """Write the page about the command line: options of most commands, each command, options of several commands."""
    commands = list(_walk(root, ("honeyguide",)))
    rows: dict[str, list[str]] = {}  # of each option, with its default in each command
    for path, command in commands:
        for option in _options(path, command):
            rows.setdefault(_option(option, with_default=False), []).append(_option(option))
    usual: dict[str, str] = {}  # an option with two meanings is common with the more frequent one only
    for row in sorted(rows, key=lambda row: -len(rows[row])):
        usual.setdefault(_first_name(row), row)
    common = {
        row: Counter(rows[row]).most_common(1)[0][0]
        for row in usual.values()
        if len(rows[row]) >= COMMON_FROM
    }
    fetching = [_option(option) for option in options_of(FetchOptions) if option.name in REQUEST_OPTIONS]
    lines = [CLI_HEAD, *OPTION_TABLE, *fetching, ""]
    for path, command in commands:
        if command.params:  # not a group, whose commands follow
            lines += _command(path, command, common)
    lines += [
        "## Common options",
        "",
        "Options that several commands have; a command names its default if it differs.",
        "",
    ]
    return "\n".join([*lines, *OPTION_TABLE, *sorted(common.values(), key=_first_name), ""])


def _first_name(row: str) -> str:
    """Give the long name of an option."""
    return row.partition("`--")[2].partition("`")[0]


def _walk(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None:
                yield from _walk(child, (*path, name))


def _options(path: tuple[str, ...], command: click.Command) -> list[click.Option]:
    """List the options of a command that the top of the page does not explain."""
    return [
        param for param in command.params if isinstance(param, click.Option) and not _is_shared(param, path)
    ]


def _command(path: tuple[str, ...], command: click.Command, common: dict[str, str]) -> Iterator[str]:
    paragraphs = list(_paragraphs(inspect.cleandoc(command.help or "")))
    examples = getattr(command, "examples", ())
    yield from [f"## {' '.join(path)}", "", *(paragraphs if len(path) > 1 else paragraphs[:2])]
    yield from ["```text", _usage(path, command), "", *examples, "```", ""]
    options = _options(path, command)
    own = [option for option in options if _option(option, with_default=False) not in common]
    if own:
        yield from [*OPTION_TABLE, *map(_option, own), ""]
    shared = [_shared_name(option, common) for option in options if option not in own]
    if shared:
        yield from [f"[Common](#common-options): {', '.join(shared)}.", ""]


def _shared_name(option: click.Option, common: dict[str, str]) -> str:
    """Name an option that several commands have, with its default if most of them have another one."""
    is_usual = _option(option) == common[_option(option, with_default=False)]
    default = _meaning(option)[1]
    return _names(option) if is_usual else f"{_names(option)} (default: {default or 'none'})"


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        plain = " ".join(paragraph.split())
        yield from ["```text", plain, "```", ""] if paragraph.startswith("  ") else [plain, ""]


def _usage(path: tuple[str, ...], command: click.Command) -> str:
    words = [*path, "[OPTIONS]"]
    words += [_metavar(param) for param in command.params if isinstance(param, click.Argument)]
    if isinstance(command, click.Group):
        words.append("COMMAND [ARGS]...")
    return " ".join(words)


def _metavar(param: click.Argument) -> str:
    return param.metavar or (param.name or "").upper()


def _is_shared(option: click.Option, path: tuple[str, ...]) -> bool:
    """Tell whether the top of the page explains an option."""
    if option.name in REQUEST_OPTIONS:
        return path[-1] != "mcp"
    is_usual = option.name in ("quiet", "verbose", "no_color")
    return is_usual or (option.help or "").startswith("How to write.")


def _names(option: click.Option) -> str:
    return ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))


def _meaning(option: click.Option) -> tuple[str, str]:
    """Give the help of an option and its default, which either click shows or the help itself ends with."""
    about, _, default = (option.help or "").removesuffix("]").partition("  [default: ")
    if option.show_default and option.default is not None:
        default = f"`{option.default}`"
    return about, default


def _option(option: click.Option, *, with_default: bool = True) -> str:
    value = "" if option.is_flag or option.count else f" {option.metavar or _choices(option)}"
    about, default = _meaning(option)
    if option.multiple and value:
        value, about = f"{value}…", about.replace("; may be repeated", "")
    shown = f" Default: {default}." if default and with_default else " Required." if option.required else ""
    cells = [text.replace("|", "\\|") for text in (f"{_names(option)}{value}", f"{about}{shown}")]
    return f"| {cells[0]} | {cells[1]} |"


def _choices(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return ", ".join(f"`{choice}`" for choice in option.type.choices)
    return option.type.name.upper()
