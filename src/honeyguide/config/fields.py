"""What a shape is: a table of a profile whose keys are the fields of a class.

Owns: bounds of fields, reading tables that are known to be right, and hashing them. Must not know: any key (`shape` has them), nor
what is said of mistakes (`check`). pydantic is told here what it needs to check the same classes, and is imported only
when it does: it takes a tenth of a second. Start reading at `Shape.read`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Self,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

S = TypeVar("S", bound="Shape")


class ValueBounds:
    """The bounds of a value, by the names that pydantic has for them."""

    def __init__(self, **bounds: float) -> None:
        self.bounds = bounds

    def __get_pydantic_core_schema__(self, kind: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return {**handler(kind), **self.bounds}


class Shape:
    """Unknown keys are mistakes, and nothing is converted behind the author's back."""

    __slots__: ClassVar[tuple[str, ...]] = ()
    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid", "strict": True}

    @classmethod
    def __get_pydantic_core_schema__(cls, kind: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(kind)
        table: Any = handler.resolve_ref_schema(schema)
        table["strict"] = False  # a strict dataclass takes no tables, only instances; its fields stay strict
        return schema

    @classmethod
    def read(cls, raw: dict[str, Any]) -> Self:
        """Read a table that is known to be right: one of our own, which the tests have checked.

        >>> from honeyguide.config.shapes import BandShape
        >>> BandShape.read({"at_least": 3, "lane": "deep"}).table()
        {'at_least': 3.0, 'lane': 'deep', 'bonus': 0.0}
        """
        kind: Any = cls
        made: Self = _reader(kind)(raw)
        return made

    @classmethod
    def kinds(cls) -> dict[str, Any]:
        """Give what is meant to stand at each key."""
        return cls.__annotations__

    def table(self) -> dict[str, Any]:
        """Give the fields by name; shapes within stay shapes."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass_transform(frozen_default=True, kw_only_default=True)
def shape(kind: type[S]) -> type[S]:
    """Make a dataclass with no more than is used of one: each method would be made again at every start.

    That shapes stay as they are is the type checker's business.
    """
    return dataclass(slots=True, kw_only=True, eq=False, repr=False)(kind)


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """Make what reads a value of a kind: tables become shapes, whole numbers become fractions where those are meant."""
    if isinstance(kind, type) and issubclass(kind, Shape):
        readers = {name: _reader(inner) for name, inner in kind.kinds().items()}
        return lambda raw: kind(**{name: readers[name](value) for name, value in raw.items()})
    if kind is float:
        return float
    origin, parts = get_origin(kind), [part for part in get_args(kind) if part is not NoneType]
    if origin is Annotated or (origin in (Union, UnionType) and len(parts) == 1):
        return _reader(parts[0])
    each = _reader(parts[-1]) if origin in (list, dict) else _same
    if each is _same:
        return _same
    if origin is list:
        return lambda raw: [each(value) for value in raw]
    return lambda raw: {name: each(value) for name, value in raw.items()}


def _same(raw: Any) -> Any:
    return raw


def stable_hash(data: Any) -> str:
    """Hash what a profile says, not how its file looks.

    >>> stable_hash({"b": 1, "a": 2}) == stable_hash({"a": 2, "b": 1})
    True
    """
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _plain(value: Any) -> Any:
    """Give what JSON has no word for: shapes, and dates."""
    return value.table() if isinstance(value, Shape) else str(value)
