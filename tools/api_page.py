"""Make docs/reference/api.md: every public name of the package with its signature and its docstring.

`make_reference.py` writes the page. Must not know: how it is shown. Examples in docstrings are run by tests/docs/test_doctests.py.
"""

from __future__ import annotations

import inspect
import re
from enum import EnumMeta
from typing import TYPE_CHECKING, Any

import honeyguide

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = """# Python API

<!-- Written by tools/make_reference.py from the docstrings of the public names; change those, not this. -->

All names are imported from `honeyguide`. [The library](../guides/library.md) shows them at work. Names that are not on this page may change with every version.
"""


def api_page() -> str:
    """Write the page: functions, types, errors."""
    names = [name for name in honeyguide.__all__ if name != "__version__"]
    values = {name: inspect.unwrap(getattr(honeyguide, name)) for name in names}
    errors = {name for name in names if name.endswith("Error")}
    functions = {name for name in names if name.islower()}
    parts = [HEAD, "## Functions\n", *_entries(values, functions)]
    parts += ["## Types\n", *_entries(values, set(names) - functions - errors), "## Errors\n"]
    parts += [f"- `{name}`: {_first(values[name])}" for name in sorted(errors)]
    return "\n".join(parts) + "\n"


def _entries(values: dict[str, Any], names: set[str]) -> Iterator[str]:
    for name in sorted(names, key=str.lower):
        value = values[name]
        yield f"### {name}\n"
        signature = _signature(name, value)
        if signature:
            yield f"```text\n{signature}\n```\n"
        yield from _docstring(inspect.getdoc(value) or "")
        yield from _members(value)


def _signature(name: str, value: Any) -> str:
    if isinstance(value, EnumMeta):
        members: list[Any] = list(value)
        return f"{name}: {', '.join(str(member.value) for member in members)}"
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    found = [_parameter(parameter) for parameter in signature.parameters.values() if parameter.name != "self"]
    returned = signature.return_annotation
    arrow = "" if returned is signature.empty or inspect.isclass(value) else f" -> {_plain(returned)}"
    if found == ["*args", "**kwargs"]:  # a protocol
        return ""
    line = f"{name}({', '.join(found)}){arrow}"
    if len(line) <= 100:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in found) + f"){arrow}"


def _parameter(parameter: inspect.Parameter) -> str:
    star: dict[Any, str] = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
    kind = "" if parameter.annotation is parameter.empty else f": {_plain(parameter.annotation)}"
    default = parameter.default
    shown = "" if default is parameter.empty else f" = {default!r}"
    if re.search(r" at 0x|<|\(", shown) or len(shown) > 40:
        shown = " = ..."
    return f"{star.get(parameter.kind, '')}{parameter.name}{kind}{shown}"


def _plain(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"(honeyguide|collections|typing|pathlib|datetime)(\.\w+)*\.(?=[A-Z])", "", text)


def _docstring(text: str) -> Iterator[str]:
    """Give the paragraphs; an example is a listing."""
    for paragraph in filter(None, text.split("\n\n")):
        if paragraph.lstrip().startswith(">>>"):
            yield f"```text\n{inspect.cleandoc(paragraph)}\n```\n"
        else:
            yield f"{' '.join(paragraph.split())}\n".replace("<", "&lt;")


def _members(value: Any) -> Iterator[str]:
    """List the methods and properties that have a sentence."""
    if not inspect.isclass(value):
        return
    found = [
        f"- `{name}`: {_first(member)}"
        for name, member in vars(value).items()
        if not name.startswith("_") and inspect.getdoc(member) and _is_own(member)
    ]
    if found:
        yield "\n".join(found) + "\n"


def _is_own(member: Any) -> bool:
    return inspect.isfunction(member) or isinstance(member, property | classmethod) or hasattr(member, "func")


def _first(value: Any) -> str:
    return " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split()).replace("<", "&lt;")
