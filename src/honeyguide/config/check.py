"""Tables against the shapes of a profile: what is wrong with one that somebody wrote, all of it at once.

Owns: the words for mistakes of structure, and which other mistakes would only follow from these. Must not know: what a
key means (`shape` has them, `build` reads them). pydantic does the checking. Start reading at `check_shape`.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import MISSING, dataclass, fields
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from honeyguide.config.fields import Shape
from honeyguide.config.files import MAX_TOLD, is_joined, nearest, told
from honeyguide.config.shapes import WORD_CHARS, ProfileShape
from honeyguide.errors import ConfigError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pydantic_core import ErrorDetails

# What conditions and strategies refer to. Where one of these is lost, a reference to it is no mistake of its own.
_REFERRED: tuple[Location, ...] = (("terms",), ("scorecard",), ("topic",), ("topic", "pattern"))


@dataclass(frozen=True, slots=True)
class Checked:
    """A checked table: its shape, with stand-ins at the places that are wrong, and what is wrong with these.

    `unsure` are the tables that may lack what others refer to; `broken` says why `extends` does not lead to its end.
    """

    shape: ProfileShape
    problems: tuple[Problem, ...] = ()
    places: tuple[str, ...] = ()
    unsure: frozenset[str] = frozenset()
    broken: ConfigError | None = None

    def is_news(self, problem: Problem) -> bool:
        """Tell whether a mistake that was found later stands where nothing was wrong before."""
        where = problem.where
        return not any(where == at or where.startswith((f"{at}.", f"{at}[")) for at in self.places)


def check_shape(raw: dict[str, Any], file: str, broken: ConfigError | None = None) -> Checked:
    """Check structure and types of what was read, up to where `extends` broke; all mistakes at once.

    They are raised only where there are so many that no other would be told.
    """
    chain = tuple(_of_chain(broken, file))
    unsure = _REFERRED if broken else ()
    try:
        return Checked(_checker().validate_python(raw), chain, (), _tables(unsure), broken)
    except ValidationError as error:
        details = error.errors()
    problems = (*chain, *(_problem(one) for one in details if _is_own(one, broken)))
    if len(problems) > MAX_TOLD:
        raise ConfigError(file, told(problems))
    mended, put = mend(raw, [one["loc"] for one in details])
    slips = dict(_slips(raw, details))
    places = [*put, *(meant for meant, is_there in slips.items() if not is_there)]
    unsure = unsure or tuple(at for at in _REFERRED if at in put or at in slips)
    paths = tuple(key_path(at) for at in places)
    return Checked(ProfileShape.read(mended), problems, paths, _tables(unsure), broken)


def _tables(locations: Sequence[Location]) -> frozenset[str]:
    return frozenset(str(location[0]) for location in locations)


@cache
def _checker() -> TypeAdapter[ProfileShape]:
    return TypeAdapter(ProfileShape)


def key_path(location: Location) -> str:
    """Write a place in a TOML file as its author would.

    >>> key_path(("scorecard", "link", "group", 0, "mode"))
    'scorecard.link.group[0].mode'
    """
    parts = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return parts.removeprefix(".")


def _of_chain(broken: ConfigError | None, file: str) -> Sequence[Problem]:
    """Give what is wrong with `extends`; another file's mistake is told with its name."""
    if broken is None or broken.file == file:
        return broken.problems if broken else ()
    return [Problem("extends", f"{broken.file}: {problem}") for problem in broken.problems]


def _is_own(detail: ErrorDetails, broken: ConfigError | None) -> bool:
    """Tell whether something would be wrong also if `extends` led to its end."""
    location = detail["loc"]
    is_of_chain = location == ("extends",) or (detail["type"] == "missing" and is_joined(location))
    return broken is None or not is_of_chain


def _slips(raw: dict[str, Any], details: Sequence[ErrorDetails]) -> Iterator[tuple[Location, bool]]:
    """Find the keys that were meant by those that are nearly so called, and whether these are there as well."""
    for location in (one["loc"] for one in details if one["type"] == "unexpected_keyword_argument"):
        *path, key = location
        table: Any = raw
        for part in path:
            table = table[part]
        if (meant := nearest(str(key), _keys(location))) is not None:
            yield (*path, meant), meant in table


def _problem(detail: ErrorDetails) -> Problem:
    location, message = detail["loc"], detail["msg"]
    match detail["type"]:
        case "unexpected_keyword_argument":
            what = f"unknown key; allowed are {', '.join(_keys(location))}"
        case "missing":
            what = "is required"
        case "dataclass_type":
            what = message.replace(
                "Input should be a dictionary or an", "input should be a valid dictionary or"
            )
        case _:
            what = message[0].lower() + message[1:]
    return Problem(key_path(location), what)


def _keys(location: Location) -> list[str]:
    """Name the keys that are allowed beside an unknown one."""
    kinds = ProfileShape.kinds()
    for part in location[:-1]:
        if (inner := _inner(kinds.get(str(part)))) is not None:
            kinds = inner.kinds()
    return list(kinds)


def _inner(kind: Any) -> type[Shape] | None:
    """Find the shape inside list[...], dict[str, ...] or Annotated[...]."""
    if isinstance(kind, type) and issubclass(kind, Shape):
        return kind
    return next((found for part in get_args(kind) if (found := _inner(part)) is not None), None)


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

    >>> from honeyguide.config.shapes import CardShape
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
