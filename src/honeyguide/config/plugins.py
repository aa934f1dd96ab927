"""Facts that plug-ins measure: functions of installed packages, by the entry points `honeyguide.facts`.

Plug-ins measure, rules decide: a function says something of a link or of a fetched page, and a profile may read it by its name.
Must not know: what rules do with it. Start reading at `load_facts`.
"""

from __future__ import annotations

import inspect
import logging
import math
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from honeyguide.core.rules.facts import BUILT_IN, FactKind, Field, register
from honeyguide.core.text.fold import fold
from honeyguide.errors import ConfigError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from honeyguide.core.rules.facts import Value

GROUP = "honeyguide.facts"
_KINDS = {"bool": FactKind.FLAG, "float": FactKind.NUMBER, "int": FactKind.NUMBER, "str": FactKind.TEXT}
_LOG = logging.getLogger("honeyguide.facts")


@cache
def load_facts() -> None:
    """Add the facts of all plug-ins that are installed; a profile that reads an unknown fact asks for it."""
    entries = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))
    for before, entry in zip([None, *entries], entries, strict=False):
        if before is not None and before.name == entry.name:
            raise _wrong(entry.name, f"is measured by {before.value} and {entry.value}; remove one of them")
        try:
            function = entry.load()
        except Exception as error:  # whatever a stranger's module does when it is imported
            raise _wrong(entry.name, f"cannot be loaded from {entry.value}: {error}") from error
        add_fact(entry.name, function)


def add_fact(name: str, function: Callable[[Any], Any]) -> None:
    """Add a fact that rules can read: `function` takes a `link` or a `page`, by the name of its parameter.

    Its annotation says what it gives: bool, float or str; None is an unknown fact.
    """
    if name in BUILT_IN or not name.isidentifier():
        raise _wrong(name, "is the name of a fact of Honeyguide, or no name at all; choose another")
    try:
        parameter = next(iter(inspect.signature(function).parameters), "")
        given = inspect.get_annotations(function).get("return", "")
    except TypeError:
        raise _wrong(name, "is no function") from None
    kind = _KINDS.get(str(getattr(given, "__name__", given)).strip("'\"").removesuffix(" | None"))
    if kind is None or parameter not in ("link", "page"):
        what = "should be a function of `link` or `page` that is annotated to give bool, float or str"
        raise _wrong(name, what)
    about = (inspect.getdoc(function) or "measured by a plug-in").partition("\n")[0]
    field = Field(name, kind, about)
    measure = _guarded(name, function, kind)
    if parameter == "link":
        register(field, of_link=lambda link, _head: measure(link))
    else:
        register(field, of_page=measure)


def _guarded(name: str, function: Callable[[Any], Any], kind: FactKind) -> Callable[[Any], Value]:
    """Make a fact of what a function gives; an error, or a value of another kind, is an unknown fact, and is logged once."""
    is_told = False

    def measure(what: Any) -> Value:
        nonlocal is_told
        try:
            return _value(function(what), kind)
        except Exception as error:  # noqa: BLE001 - a plug-in's bug costs a fact, not the run
            if not is_told:
                _LOG.warning("the fact %s is unknown, because its plug-in failed: %s", name, error)
            is_told = True
            return None

    return measure


def _value(given: Any, kind: FactKind) -> Value:
    if given is None:
        return None
    if kind is FactKind.TEXT:
        return fold(str(given))
    if kind is FactKind.FLAG:
        return bool(given)
    number = float(given)
    if not math.isfinite(number):
        raise ValueError(f"{number} is no number that rules can compare")
    return number


def _wrong(name: str, what: str) -> ConfigError:
    return ConfigError(GROUP, (Problem(name, what),))
