"""Stand-ins for the wrong parts of a table, so that the sound ones can be read all the same.

Owns: what stands in for what. Must not know: what is said of mistakes (`check`), what tables mean (`build`).
Start reading at `mend`. What is mended is only looked through for further mistakes; no profile is ever made of it.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import MISSING, fields
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from honeyguide.config.fields import Shape
from honeyguide.config.shape import WORD_CHARS, ProfileShape

if TYPE_CHECKING:
    from collections.abc import Iterable

Location = tuple[str | int, ...]

_TEXT = "?" * (WORD_CHARS + 1)  # longer than a name or a word may be: it is never somebody's own


def mend(raw: dict[str, Any], wrong: Iterable[Location]) -> tuple[dict[str, Any], frozenset[Location]]:
    """Put stand-ins where something is wrong or missing, and say where; what belongs nowhere is left out.

    >>> mended, places = mend({"terms": {"a": 3, "b": ["x"]}, "colour": 1}, [("terms", "a"), ("colour",)])
    >>> mended, sorted(places)
    ({'terms': {'a': [], 'b': ['x']}}, [('colour',), ('terms', 'a')])
    """
    mended = deepcopy(raw)
    return mended, frozenset(_put(mended, location) for location in wrong)


def _put(table: dict[str, Any], location: Location) -> Location:
    """Put one stand-in; what means something only as a whole is given up as a whole."""
    holder: Any = table
    kind: Any = ProfileShape
    for depth, part in enumerate(location, 1):
        inner = _at(kind, part)
        if depth == len(location) or not _has_parts(inner):
            if _is_optional(kind, part):
                holder.pop(part, None)
            else:
                holder[part] = stand_in(inner)
            return location[:depth]
        holder, kind = holder[part], inner
    return location


def stand_in(kind: Any) -> Any:
    """Give a value of a kind that leads to no mistake of its own.

    >>> from honeyguide.config.shape import CardShape
    >>> stand_in(CardShape), stand_in(Literal["first", "all"]), stand_in(float)
    ({'group': []}, 'first', 1)
    """
    kind = _bare(kind)
    if _is_shape(kind):
        return {key: stand_in(inner) for key, inner in kind.kinds().items() if not _is_optional(kind, key)}
    if kind is str:
        return _TEXT
    origin = get_origin(kind)
    if origin is Literal:
        return get_args(kind)[0]
    return origin() if origin in (list, dict) else 1  # which every number may be


def _at(kind: Any, part: str | int) -> Any:
    """Say what is meant to stand at a key or an index; None at a key that is unknown."""
    return kind.kinds().get(part) if _is_shape(kind := _bare(kind)) else get_args(kind)[-1]


def _bare(kind: Any) -> Any:
    """Take bounds and `| None` off a kind."""
    origin, parts = get_origin(kind), [part for part in get_args(kind) if part is not NoneType]
    is_wrapped = origin is Annotated or (origin in (Union, UnionType) and len(parts) == 1)
    return _bare(parts[0]) if is_wrapped else kind


def _has_parts(kind: Any) -> bool:
    """Tell whether a part may be mended without the rest: of tables, of lists of tables or words, not of a range."""
    kind = _bare(kind)
    if get_origin(kind) is list:
        each = _bare(get_args(kind)[0])
        return _is_shape(each) or each is str
    return _is_shape(kind) or get_origin(kind) is dict


def _is_optional(kind: Any, part: str | int) -> bool:
    """Tell whether a key may be left out: those with a default, and those that are unknown."""
    if not _is_shape(kind := _bare(kind)):
        return False
    required = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    return part not in required


def _is_shape(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Shape)
