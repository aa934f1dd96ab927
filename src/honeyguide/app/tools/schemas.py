"""JSON Schemas of records and signals, which `tools/make_reference.py` makes from the tables of fields."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from honeyguide.errors import InputError

SCHEMAS = ("pick", "crawl", "plan", "signals")


def load_schema(name: str) -> dict[str, Any]:
    """Load the JSON Schema of the records of `pick`, `crawl` or `plan`, or of the `signals` that plan reads."""
    schema: dict[str, Any] = json.loads(schema_text(name))
    return schema


def schema_text(name: str) -> str:
    """Read a schema as it is shipped."""
    if name not in SCHEMAS:
        raise InputError(f"no schema is named {name!r}; there are {', '.join(SCHEMAS)}", field="name")
    return (files("honeyguide") / "schemas" / f"{name}.json").read_text("utf-8")
