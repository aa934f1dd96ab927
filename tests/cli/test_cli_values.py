"""Values that options refuse: empty texts, numbers that are none, and numbers that nobody means."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import click
import pytest

from honeyguide.cli.command import NonEmptyText, Number
from honeyguide.cli.main import root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from click.testing import Result

    Run = Callable[..., Result]

HUGE = "9" * 23


def options(
    command: click.Command, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Option]]:
    """Give every option of every command."""
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            below = command.get_command(ctx, name)
            assert below is not None
            yield from options(below, (*words, name))
    yield from ((words, param) for param in command.params if isinstance(param, click.Option))


EVERY = [
    pytest.param(words, one, id=" ".join((*words, one.opts[0])))
    for words, one in options(root)
    if words != ("simulate", "recrawl") or one.name != "days"  # the library has its bounds
]


@pytest.mark.parametrize(("words", "option"), EVERY)
def test_every_number_has_bounds_and_every_text_says_something(
    words: tuple[str, ...], option: click.Option
) -> None:
    kind = option.type
    if isinstance(kind, click.FloatRange):
        assert isinstance(kind, Number), words
    if isinstance(kind, click.FloatRange | click.IntRange):
        assert kind.min is not None
        assert kind.max is not None
        assert isfinite(kind.max)
    else:
        assert kind.name in ("text", "boolean", "choice")
    if kind.name == "text" and option.default != "":
        assert isinstance(kind, NonEmptyText), words


@pytest.mark.parametrize(
    "words",
    [
        ("crawl", "https://a.example/", "--traversal", "bfs", "--markdown"),
        ("crawl", "https://a.example/", "--traversal", "bfs", "--warc"),
        ("crawl", "https://a.example/", "--traversal", "bfs", "--include"),
        ("crawl", "https://a.example/", "--traversal", "bfs", "--exclude"),
        ("crawl", "https://a.example/", "--traversal", "bfs", "-o"),
        ("crawl", "https://a.example/", "--traversal", "bfs", "--related", "x", "--related"),
        ("pick", "a.example", "--include"),
        ("plan", "known.csv", "--now"),
        ("plan", "known.csv", "-o"),
        ("watch", "--per-hour", "1", "--until"),
    ],
)
def test_an_empty_text_is_not_the_same_as_none(run: Run, words: tuple[str, ...]) -> None:
    result = run(*words, "")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1].endswith(": it is empty; give a value, or leave the option out.")
    assert f"'{words[-1]}'" in result.stderr or "'--output'" in result.stderr


@pytest.mark.parametrize("value", ["nan", "NaN", "inf", "-inf", "1e400", HUGE])
@pytest.mark.parametrize(
    "words",
    [
        ("crawl", "https://a.example/", "--traversal", "bfs", "--max-time"),
        ("crawl", "https://a.example/", "--traversal", "bfs", "--max-depth"),
        ("crawl", "https://a.example/", "--traversal", "bfs", "--max-pages"),
        ("crawl", "https://a.example/", "--traversal", "bfs", "--delay"),
        ("watch", "--per-hour", "1", "--cycle"),
        ("watch", "--per-hour", "1", "--rest"),
        ("watch", "--per-hour", "1", "--listen"),
        ("plan", "known.csv", "--min-score"),
        ("plan", "known.csv", "--top"),
        ("score", "links", "known.csv", "--topic", "x", "--min-score"),
    ],
)
def test_what_is_no_number_or_too_large_is_refused(run: Run, words: tuple[str, ...], value: str) -> None:
    result = run(*words, value)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Invalid value for '{words[-1]}': " in result.stderr
