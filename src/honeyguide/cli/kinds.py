"""What the values of options may be: texts that say something, and numbers that somebody can mean.

Owns: the types that options are declared with, and their largest numbers. Must not know: any option in particular.
Start reading at `Number`.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 1_000_000_000  # of whatever is counted
MOST_DEPTH = 1_000_000
YEAR_S = 366 * 86_400  # no option that is a time goes beyond


class Number(click.FloatRange):
    """A number of a range, which `nan` is not, although it is neither below nor above."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number."""
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"{value!r} is not a valid number.", param, ctx)
        return number


class Text(click.types.StringParamType):
    """A text that is not empty: an empty one is a variable that was not set, and would be taken for nothing given."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a text."""
        if value in ("", b""):
            self.fail("it is empty; give a value, or leave the option out.", param, ctx)
        return super().convert(value, param, ctx)


def refine(params: Iterable[click.Parameter]) -> None:
    """Have options refuse empty texts, and say what they expect: not "'ten' is not a valid integer range".

    Where an empty text is what an option has anyway, it says something.
    """
    for param in params:
        is_text = isinstance(param, click.Option) and type(param.type) is click.types.StringParamType
        if is_text and param.default != "":
            param.type = Text()
        elif isinstance(param.type, click.IntRange):
            param.type.name = "whole number"
        elif isinstance(param.type, click.FloatRange):
            param.type.name = "number"
