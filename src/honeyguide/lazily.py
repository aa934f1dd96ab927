"""Names of a package that are loaded when they are first asked for.

Owns: how that is done. Must not know: which names.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def names_of(package: str, rooms: Mapping[str, str]) -> Callable[[str], Any]:
    """Make a package's `__getattr__`; `rooms` are modules of it with the names that are there, between spaces."""
    homes = {name: room for room, names in rooms.items() for name in names.split()}

    def find(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return find
