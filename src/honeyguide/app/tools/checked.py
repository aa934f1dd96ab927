"""Arguments of the public functions, checked by their annotations: a wrong type is a sentence, not a traceback.

Owns: `checked`, which `honeyguide` puts around its functions, `checked_methods` for its classes, and `in_python`, because errors name
arguments there and no options. Must not know: any function in particular.
"""

from __future__ import annotations

import collections.abc
import inspect
import re
import typing
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache, wraps
from importlib import import_module
from itertools import islice
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, TypeVar

import honeyguide
from honeyguide.errors import HoneyguideError, InputError, PatternError, UrlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# Called millions of times: their arguments are checked when they failed.
_HOT = frozenset({"display", "normalize"})
_MAX_ITEMS = 1_000  # of a list that are looked at; rows of tables are checked where they are read
_NAME = re.compile(r"[A-Za-z_]\w*")
_NAMES: dict[str, Any] = {
    **{name: getattr(collections.abc, name) for name in ("Callable", "Iterable", "Mapping", "Sequence")},
    "Any": Any,
    "Path": Path,
    "datetime": datetime,
    "None": None,
    "OnPage": collections.abc.Callable,
    "OnRows": collections.abc.Callable,
    "Note": collections.abc.Callable,
    **{kind.__name__: kind for kind in (bool, bytes, dict, float, frozenset, int, list, object, str, tuple)},
}
_INTERNAL = {  # of fields and parameters, but not public
    "KeptPick": "app.views.kept_pick",
    "RunSpec": "core.crawl.frontier",
    "SiteRow": "adapters.files.sites",
}
Kind = TypeVar("Kind", bound=type)
_NUMBERS: dict[Any, Any] = {int: Integral, float: Real}


_PYTHON = {
    "allow-private": "FetchPolicy(allow_private=True)",
    "netrc": "Access(logins=…)",
    "render auto": 'render="auto"',
    "column NAME": 'columns={"url": NAME}',
    "column FIELD=NAME": "columns={FIELD: NAME}",
    "column": "columns=",
    "store FILE": "the path of another",
    "due": "CrawlRequest(only_due=True)",
    "keep": "CrawlRequest(keep_bytes=…)",
    **{
        name: f"{name.replace('-', '_')}="
        for name in ("base", "scope", "top", "run", "store", "include", "exclude", "max-depth")
    },
}
_NAME_ONE = "name one, such as fire|alarm"
_LOADED = 'load_profile("docs", topic="fire|alarm") as profile'
_OPTION = re.compile(rf"(?<![\w-])--({'|'.join(_PYTHON)})(?![\w-])")


def in_python(text: str) -> str:
    """Name arguments where a sentence names options of the command line.

    >>> in_python("its address is not on the public web (loopback); --allow-private visits it")
    'its address is not on the public web (loopback); FetchPolicy(allow_private=True) visits it'
    """
    return _OPTION.sub(lambda found: _PYTHON[found[1]], text) if "--" in text else text


@contextmanager
def _python_errors(topic: str, given: Mapping[str, Any]) -> Iterator[None]:
    try:
        yield
    except HoneyguideError as error:
        where = _argument_of(error, given)
        error.args = tuple(where + in_python(line).replace(_NAME_ONE, topic) for line in error.args)
        raise


def _argument_of(error: HoneyguideError, given: Mapping[str, Any]) -> str:
    """Name the argument that a URL or a pattern was given as: errors about texts do not know where these come from."""
    match error:
        case UrlError(text=text) | PatternError(pattern=text):
            names = (name for name, value in given.items() if _has_text(value, text))
            name = next(names, None)
            return f"field {name}: " if name and not str(error).startswith("field ") else ""
    return ""


def _has_text(value: Any, text: str) -> bool:
    values = islice(value, _MAX_ITEMS) if isinstance(value, (list, tuple, dict, set, frozenset)) else (value,)
    return any(isinstance(one, str) and one == text for one in values)


def _items(items: Iterator[Any], topic: str, given: Mapping[str, Any]) -> Iterator[Any]:
    """Give items whose errors name arguments."""
    with _python_errors(topic, given):
        yield from items


def checked_methods(kind: Kind) -> Kind:
    """Make the public methods of a class, and its constructor if it has one, check their arguments as `checked` does."""
    for name, method in list(vars(kind).items()):
        if inspect.isfunction(method) and (name == "__init__" or not name.startswith("_")):
            setattr(kind, name, checked(method, kind.__name__ if name == "__init__" else name))
    return kind


def checked(function: Callable[..., Any], name: str = "") -> Callable[..., Any]:
    """Make a function reject arguments that are not of their declared types, by an `InputError` that says so.

    `name` is what its messages call it.
    """
    signature, name = inspect.signature(function), name or function.__name__
    topic = f'pass topic="fire|alarm", or {_LOADED}' if "topic" in signature.parameters else f"pass {_LOADED}"

    def check(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Mapping[str, Any]:
        given = _bound(name, signature, args, kwargs)
        for parameter, value in given.items():
            annotation, kind = (
                signature.parameters[parameter].annotation,
                signature.parameters[parameter].kind,
            )
            if annotation is inspect.Parameter.empty or kind is inspect.Parameter.VAR_KEYWORD:
                continue  # self; settings, which are checked as the fields of their request
            for place, expected, found in _mistakes(parameter, annotation, value):
                raise InputError(f"{name}: {place} must be {expected}, not {_name_of(found, expected)}")
        return {**given, **kwargs}

    @wraps(function)
    def eager(*args: Any, **kwargs: Any) -> Any:
        given = check(args, kwargs)
        with _python_errors(topic, given):
            result = function(*args, **kwargs)
        return _items(result, topic, given) if inspect.isgenerator(result) else result

    @wraps(function)
    async def awaited(*args: Any, **kwargs: Any) -> Any:
        with _python_errors(topic, check(args, kwargs)):
            return await function(*args, **kwargs)

    @wraps(function)
    def hot(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (AttributeError, TypeError):
            check(args, kwargs)
            raise

    if inspect.iscoroutinefunction(function):
        return awaited
    return hot if function.__name__ in _HOT else eager


def _bound(
    name: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Mapping[str, Any]:
    try:
        return signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        raise InputError(f"{name}: {error}") from None


def check_fields(value: Any) -> None:
    """Reject fields of a request, or of an answer, that are not of their declared types."""
    for one in fields(value):
        for place, expected, found in _mistakes(one.name, str(one.type), getattr(value, one.name)):
            raise InputError(f"must be {expected}, not {_name_of(found, expected)}", field=place)


def _mistakes(name: str, annotation: str, value: Any) -> Iterator[tuple[str, str, Any]]:
    """Find values of a wrong type: the argument, or fields of a request."""
    if _is_callback(_type_of(annotation)) and _is_async(value):  # nobody would await it
        yield name, "a plain function", value
    elif not _fits(value, _type_of(annotation)):
        yield name, annotation, value
    elif is_dataclass(value) and type(value).__name__.endswith(
        ("Request", "Budget", "Budgets", "Policy", "Access")
    ):
        for one in fields(value):
            yield from _mistakes(f"{name}.{one.name}", str(one.type), getattr(value, one.name))


def _name_of(value: Any, annotation: str) -> str:
    """Name the type of a value; of a list or a dict, also that of the item that does not fit."""
    name = "async def" if _is_async(value) else type(value).__name__
    if not isinstance(value, (list, tuple, dict)):
        return name
    kind = _type_of(annotation)
    if isinstance(value, dict):
        items = ((key, one) for key, one in value.items() if not _fits({key: one}, kind))
        found = next((f"{type(key).__name__} to {type(one).__name__}" for key, one in items), None)
        return f"{name} of {found}" if found else name
    wrong = (type(one).__name__ for one in value if not _fits(type(value)([one]), kind))
    return f"{name} of {first}" if (first := next(wrong, None)) else name


def _is_callback(kind: Any) -> bool:
    """Tell whether an annotation names a function."""
    return collections.abc.Callable in (kind, typing.get_origin(kind)) or any(
        map(_is_callback, typing.get_args(kind))
    )


def _is_async(value: Any) -> bool:
    """Tell whether calling a value gives something to await."""
    called = (value, value.__call__) if callable(value) else ()
    return any(inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one) for one in called)


@cache
def _type_of(annotation: str) -> Any:
    """Evaluate an annotation of ours; a name that is not public may be anything."""
    names = {name: _named(name) for name in _NAME.findall(annotation)}
    return eval(annotation, {"__builtins__": {}}, names)  # noqa: S307 - the annotation stands in our own code


def _named(name: str) -> Any:
    if name in _NAMES:
        return _NAMES[name]
    if name in _INTERNAL:
        return getattr(import_module(f"honeyguide.{_INTERNAL[name]}"), name)
    return getattr(honeyguide, name) if name in honeyguide.__all__ else Any


def _fits(value: Any, kind: Any) -> bool:
    origin, items = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return True
    if kind in (None, NoneType):
        return value is None
    if origin in (typing.Union, UnionType):
        return any(_fits(value, one) for one in items)
    if collections.abc.Callable in (kind, origin):
        return callable(value)
    if origin is not None:
        return _fits_items(value, origin, items)
    if isinstance(value, bool):
        return kind in (bool, object)
    return isinstance(value, _NUMBERS.get(kind, kind))


def _fits_items(value: Any, origin: Any, items: tuple[Any, ...]) -> bool:
    """Tell whether a value is a container of these items; a text is none, because its letters are not meant."""
    if isinstance(value, (str, bytes)) or not isinstance(value, origin):
        return False
    if origin is collections.abc.Mapping:
        first = islice(value.items(), _MAX_ITEMS)
        return len(items) < 2 or all(_fits(key, items[0]) and _fits(one, items[1]) for key, one in first)
    if not isinstance(value, collections.abc.Collection):
        return True  # what can be read once is not read here
    if origin is tuple and items[-1] is not Ellipsis:
        return len(value) == len(items) and all(map(_fits, value, items))
    return all(_fits(one, items[0]) for one in islice(value, _MAX_ITEMS))
