"""Peers are optional: one that is not installed is left out of the table and named below it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

MISSING: dict[str, str] = {}  # module name -> why it is not in the table


def offered(module: str) -> Any:
    """Import a peer's module, or note that it is missing and give None."""
    try:
        return import_module(module)
    except ImportError as error:
        MISSING[module] = str(error)
        return None
