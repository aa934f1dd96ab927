"""JSON Schemas (2020-12) of what `pick`, `crawl` and `plan` write, and of the signals that `plan` reads.

`make_reference.py` writes them to src/honeyguide/schemas. Fields, types and sentences come from the tables of fields: the
records of core/records/fields.py and `UrlSignals`, whose bounds are those of its readers. A sentence that begins with a
range, such as "0 to 100", bounds its field.
"""

from __future__ import annotations

import inspect
import json
import re
from datetime import datetime
from functools import partial
from types import UnionType
from typing import Any, Literal, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

from honeyguide.adapters.files import signals
from honeyguide.core.records.fields import SCHEMA, OutputRecord, PageRecord, PickRecord, PlanRecord, fields
from honeyguide.core.recrawl import plan

RECORDS = {"pick": PickRecord, "crawl": PageRecord, "plan": PlanRecord}
DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]

_RANGE = re.compile(r"(\d+) to (\d+)(?:;| \(|$)")
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def schema_texts() -> dict[str, str]:
    """Write every schema, by name."""
    schemas = {
        **{name: _record_schema(name, kind) for name, kind in RECORDS.items()},
        "signals": _signals_schema(),
    }
    return {name: json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for name, schema in schemas.items()}


def sentences(kind: type) -> dict[str, str]:
    """Read the sentence of each field, which is the comment beside it."""
    source = inspect.getsource(OutputRecord) + inspect.getsource(
        kind
    )  # every record of an output begins with that
    found = re.findall(r"^    (\w+): .*?  # (.+)$", source, re.MULTILINE)
    missing = get_type_hints(kind).keys() - dict(found).keys()
    if missing:
        raise LookupError(f"{kind.__name__} has no sentence for {', '.join(sorted(missing))}")
    return dict(found)


def _head(name: str, kind: type) -> Schema:
    about = (inspect.getdoc(kind) or "").partition("\n")[0]
    return {"$schema": DIALECT, "title": f"honeyguide {name}: {kind.__name__}", "description": about}


def _record_schema(name: str, kind: type) -> Schema:
    definitions: dict[str, Schema] = {}
    schema = _head(name, kind) | _object(kind, definitions)
    return schema | {"$defs": dict(sorted(definitions.items()))}


def _object(kind: type, definitions: dict[str, Schema]) -> Schema:
    hints, about = fields(kind), sentences(kind)
    properties = {}
    for name, hint in hints.items():
        found = _RANGE.match(about[name])
        bounds = {"minimum": int(found[1]), "maximum": int(found[2])} if found else {}
        typed = {"const": SCHEMA} if name == "schema" else _type(hint, definitions)
        properties[name] = {"description": about[name]} | typed | bounds
    required = [name for name, hint in hints.items() if get_origin(hint) is not NotRequired]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _type(hint: Any, definitions: dict[str, Schema]) -> Schema:
    args = get_args(hint)
    if get_origin(hint) is NotRequired:
        return _type(args[0], definitions)
    if isinstance(hint, UnionType):
        options = [_type(arg, definitions) for arg in args]
        if all(option.keys() == {"type"} for option in options):
            return {"type": [option["type"] for option in options]}
        return {"anyOf": options}
    if get_origin(hint) is list:
        return {"type": "array", "items": _type(args[0], definitions)}
    if get_origin(hint) is dict:
        return {"type": "object", "additionalProperties": _type(args[1], definitions)}
    if is_typeddict(hint):
        if hint.__name__ not in definitions:
            definitions[hint.__name__] = {}  # a record may contain itself
            definitions[hint.__name__] |= {"description": inspect.getdoc(hint)} | _object(hint, definitions)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    return {"type": _PLAIN[hint]}


# --- signals ---


def _signals_schema() -> Schema:
    """Describe a row as JSON; `plan` also accepts the camelCase names, numbers as text, and columns that it ignores."""
    about, hints = (
        sentences(plan.UrlSignals),
        get_type_hints(plan.UrlSignals),
    )
    properties = {name: {"description": about[name]} | _signal(name, hint) for name, hint in hints.items()}
    camel = {old: new for old, new in signals._CAMEL.items() if new in properties}  # noqa: SLF001 - the reader's own table
    also = {
        old: {"description": f"the same as {new}"} | _signal(new, hints[new]) for old, new in camel.items()
    }
    return _head("signals", plan.UrlSignals) | {
        "type": "object",
        "properties": properties | also,
        "required": ["url"],
    }


def _signal(name: str, hint: Any) -> Schema:
    """Type a signal, with the bounds of its reader."""
    kinds = get_args(hint) or (hint,)
    if datetime in kinds:
        return {"type": ["string", "number", "null"]}
    if any(get_origin(kind) is Literal for kind in kinds):
        return {"enum": [*(value for kind in kinds for value in get_args(kind)), None]}
    reader = signals._READERS[name]  # noqa: SLF001 - the bounds stand nowhere else
    bounds: Schema = {"minimum": 0} if int in kinds else {}
    if isinstance(reader, partial) and "low" in reader.keywords:
        bounds = {"minimum": reader.keywords["low"], "maximum": reader.keywords["high"]}
    types = [_PLAIN[kind] for kind in kinds]
    return {"type": types[0] if len(types) == 1 else types} | bounds
