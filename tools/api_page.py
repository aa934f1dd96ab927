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

All names but `Answers`, `CrawlJob` and `SiteRow`, which are internal, are imported from `honeyguide`. [The library](../guides/library.md) shows them at work. Names that are not on this page may change with every version.

These parameters mean the same everywhere:

| parameter | meaning |
|---|---|
| `profile` | a `Profile`, or its name or path |
| `now` | the time as of which URLs are scored; None: the current time |
| `scope` | the hosts that are one site: the same `host`, also with or without `www`, or all of the `domain`; None: as the strategy says |
| `render` | whether scripts of pages are run: `never`, `auto`, `always` |
| `fetcher`, `clock` | replace our own; robots.txt and pauses stay the same |
| `kind`, `input_format` | format of files: `csv`, `jsonl`, `parquet`; None: by their names |
| `columns` | names of columns, by field: `{"visits": "n"}` |
| `reject` | receives wrong rows; without it, a wrong row is an error |
| `on_rows` | receives the name of each table, and how many of its rows were read |
| `on_note` | receives notes, such as a sitemap that cannot be read |

`Record` and `ChunkRecord` are dicts with the fields of a [record](records.md); `OnPage` is `Callable[[Record, PageAttachments], None]`, `OnRows` is `Callable[[str, int], None]`,
`Note` is `Callable[[str], None]`. Callbacks are plain functions, which the event loop calls: keep them short. `PageClass` is `hub`, `article` or `page`.
"""
SAID_ABOVE = ("__version__", "ChunkRecord", "Record")  # dicts, and what needs no entry
SAID_BY_NAME = 7  # words: a member with a shorter sentence is in the listing only


def api_page() -> str:
    """Write the page: functions, types, errors."""
    names = [name for name in honeyguide.__all__ if name not in SAID_ABOVE]
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
        members = _members(value)
        lines = [_signature(name, value), *(_member(*member) for member in members.items())]
        yield f"### {name}\n"
        if any(lines):
            yield "```text\n" + "\n".join([lines[0] or name, *lines[1:]]) + "\n```\n"
        yield from _docstring(inspect.getdoc(value) or "")
        said = [f"- `{member}`: {_first(owned)}" for member, owned in members.items() if _says_more(owned)]
        if said:
            yield "\n".join(said) + "\n"


def _signature(name: str, value: Any) -> str:
    if isinstance(value, EnumMeta):
        members: list[Any] = list(value)
        return f"{name}: {', '.join(str(member.value) for member in members)}"
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    given = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    found = [_parameter(one) for one in given]
    named = next((place for place, one in enumerate(given) if one.kind is one.KEYWORD_ONLY), None)
    if named is not None and all(one.kind is not one.VAR_POSITIONAL for one in given):
        found.insert(named, "*")  # what follows is given by name
    returned = signature.return_annotation
    if inspect.iscoroutinefunction(value):
        name = f"await {name}"
    arrow = "" if returned is signature.empty or inspect.isclass(value) else f" -> {_plain(returned)}"
    if found == ["*args", "**kwargs"]:  # a protocol
        return ""
    line = f"{name}({', '.join(found)}){arrow}"
    if len(line) <= 100:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in found) + f"){arrow}"


def _member(name: str, member: Any) -> str:
    """Write a property with its type, a method with its parameters."""
    getter = member.fget if isinstance(member, property) else getattr(member, "func", None)
    if getter is not None:
        return f"  .{name}: {_plain(inspect.signature(getter).return_annotation)}"
    return "\n".join(f"  {line}" for line in _signature(f".{name}", inspect.unwrap(member)).split("\n"))


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
    text = re.sub(r"ForwardRef\('([^']*)'\)", r"\1", text)
    return re.sub(r"(honeyguide|collections|typing|pathlib|datetime)(\.\w+)*\.(?=[A-Z])", "", text)


def _docstring(text: str) -> Iterator[str]:
    """Give the paragraphs; an example is a listing."""
    for paragraph in filter(None, text.split("\n\n")):
        if paragraph.lstrip().startswith(">>>"):
            yield f"```text\n{inspect.cleandoc(paragraph)}\n```\n"
        else:
            yield f"{' '.join(paragraph.split())}\n".replace("<", "&lt;")


def _members(value: Any) -> dict[str, Any]:
    """List the methods and properties that have a sentence."""
    if not inspect.isclass(value):
        return {}
    return {
        name: member
        for name, member in vars(value).items()
        if not name.startswith("_") and inspect.getdoc(member) and _is_own(member)
    }


def _says_more(member: Any) -> bool:
    return len(_first(member).split()) > SAID_BY_NAME


def _is_own(member: Any) -> bool:
    return inspect.isfunction(member) or isinstance(member, property | classmethod) or hasattr(member, "func")


def _first(value: Any) -> str:
    return " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split()).replace("<", "&lt;")
