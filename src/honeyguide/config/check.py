"""Tables against the shapes of a profile: what is wrong with one that somebody wrote, all of it at once.

Owns: the words for mistakes of structure. Must not know: any key (`shape` has them). pydantic does the checking.
Start reading at `check_shape`.
"""

from __future__ import annotations

from functools import cache
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from honeyguide.config.fields import Shape
from honeyguide.config.problems import told
from honeyguide.config.shape import ProfileShape
from honeyguide.errors import ConfigError, Problem


def check_shape(raw: dict[str, Any], file: str) -> ProfileShape:
    """Check structure and types; all mistakes at once."""
    try:
        return _checker().validate_python(raw)
    except ValidationError as error:
        problems = tuple(_problem(detail["loc"], detail["type"], detail["msg"]) for detail in error.errors())
        raise ConfigError(file, told(problems)) from None


@cache
def _checker() -> TypeAdapter[ProfileShape]:
    return TypeAdapter(ProfileShape)


def key_path(location: tuple[str | int, ...]) -> str:
    """Write a place in a TOML file as its author would.

    >>> key_path(("scorecard", "link", "group", 0, "mode"))
    'scorecard.link.group[0].mode'
    """
    parts = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return parts.removeprefix(".")


def _problem(location: tuple[str | int, ...], kind: str, message: str) -> Problem:
    match kind:
        case "unexpected_keyword_argument":
            what = f"unknown key; {_allowed(location)}"
        case "missing":
            what = "is required"
        case "dataclass_type":
            what = message.replace(
                "Input should be a dictionary or an", "input should be a valid dictionary or"
            )
        case _:
            what = message[0].lower() + message[1:]
    return Problem(key_path(location), what)


def _allowed(location: tuple[str | int, ...]) -> str:
    """Name the keys that are allowed beside an unknown one."""
    kinds = ProfileShape.kinds()
    for part in location[:-1]:
        if (inner := _inner(kinds.get(str(part)))) is not None:
            kinds = inner.kinds()
    return "allowed are " + ", ".join(kinds)


def _inner(kind: Any) -> type[Shape] | None:
    """Find the shape inside list[...], dict[str, ...] or Annotated[...]."""
    if isinstance(kind, type) and issubclass(kind, Shape):
        return kind
    return next((found for part in get_args(kind) if (found := _inner(part)) is not None), None)
