"""Mistakes of structure, all at once: pydantic finds them, this module words them. Start reading at `check_shape`.

Must not know: what a key means (`shapes` has the keys, `build` reads them).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, get_args

from pydantic import TypeAdapter, ValidationError

from honeyguide.config.extend import SHORT_KEYS
from honeyguide.config.files import limit_problems
from honeyguide.config.shapes import ProfileShape, Shape
from honeyguide.errors import ConfigError, Problem

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Location = tuple[str | int, ...]
_SENTENCES = {"missing": "is required", "dataclass_type": "should be a table"}  # else pydantic's own


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
    """Write a place in a TOML file; entries of a list are named by id or name, because an index counts inherited ones."""
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
    location, kind, message = detail["loc"], detail["type"], detail["msg"]
    what = _SENTENCES.get(kind, message[0].lower() + message[1:])
    if kind == "unexpected_keyword_argument":
        what = f"unknown key; allowed are {', '.join(_keys(location))}"
    return Problem(key_path(location, raw), what)


def _keys(location: Location) -> list[str]:
    """Name the keys that are allowed beside an unknown one."""
    keys = ProfileShape.__annotations__
    for part in location[:-1]:
        if (inner := _inner(keys.get(str(part)))) is not None:
            keys = inner.__annotations__
    return [*keys, *(SHORT_KEYS if len(location) == 1 else ())]


def _inner(kind: Any) -> type[Shape] | None:
    """Find the shape inside list[...], dict[str, ...] or Annotated[...]."""
    if isinstance(kind, type) and issubclass(kind, Shape):
        return kind
    return next((found for part in get_args(kind) if (found := _inner(part)) is not None), None)
