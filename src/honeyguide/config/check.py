"""Mistakes of structure: what is wrong with a table that somebody wrote, all of it at once.

Owns: the sentences for mistakes of structure. Must not know: what a key means (`shapes` has the keys, `build` reads
them). pydantic does the checking. Start reading at `check_shape`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, get_args

from pydantic import TypeAdapter, ValidationError

from honeyguide.config.files import limit_problems
from honeyguide.config.shapes import ProfileShape, Shape
from honeyguide.errors import ConfigError, Problem

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Location = tuple[str | int, ...]


def check_shape(raw: dict[str, Any], file: str) -> None:
    """Raise all mistakes of structure and types at once."""
    try:
        _checker().validate_python(raw)
    except ValidationError as error:
        problems = [_problem(detail, raw) for detail in error.errors()]
        raise ConfigError(file, limit_problems(problems)) from None


@cache
def _checker() -> TypeAdapter[ProfileShape]:
    return TypeAdapter(ProfileShape)


def key_path(location: Location, raw: Any = None) -> str:
    """Write a place in a TOML file; entries of a list are named by id or name, because an index counts inherited ones.

    >>> key_path(("scorecard", "link", "group", 0, "mode"), {"scorecard": {"link": {"group": [{"name": "url"}]}}})
    'scorecard.link.group[url].mode'
    """
    path = ""
    for part in location:
        try:
            raw = raw[part]
        except (LookupError, TypeError):
            raw = None
        entry = raw if isinstance(raw, dict) else {}
        path += f"[{entry.get('id', entry.get('name', part))}]" if isinstance(part, int) else f".{part}"
    return path.removeprefix(".")


def _problem(detail: ErrorDetails, raw: dict[str, Any]) -> Problem:
    location, message = detail["loc"], detail["msg"]
    match detail["type"]:
        case "unexpected_keyword_argument":
            what = f"unknown key; allowed are {', '.join(_keys(location))}"
        case "missing":
            what = "is required"
        case "dataclass_type":
            what = "should be a table"
        case _:
            what = message[0].lower() + message[1:]
    return Problem(key_path(location, raw), what)


def _keys(location: Location) -> list[str]:
    """Name the keys that are allowed beside an unknown one."""
    keys = ProfileShape.__annotations__
    for part in location[:-1]:
        if (inner := _inner(keys.get(str(part)))) is not None:
            keys = inner.__annotations__
    return list(keys)


def _inner(kind: Any) -> type[Shape] | None:
    """Find the shape inside list[...], dict[str, ...] or Annotated[...]."""
    if isinstance(kind, type) and issubclass(kind, Shape):
        return kind
    return next((found for part in get_args(kind) if (found := _inner(part)) is not None), None)
