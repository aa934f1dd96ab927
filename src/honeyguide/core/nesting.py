"""How deep data is nested: what strangers write may be nested deeper than Python can follow.

Owns: `is_deeper`. Must not know: formats. JSON and TOML become lists and tables within each other, and whatever looks
at those by recursion, as printing does, ends at a depth that depends on who called it. So depth is bounded on entry.
"""

from __future__ import annotations

from typing import Any


def is_deeper(value: Any, most: int) -> bool:
    """Tell whether lists and tables are nested deeper than `most`; nothing is followed further than that.

    >>> is_deeper([{"a": []}], 3), is_deeper([{"a": []}], 2)
    (False, True)
    """
    level = [value]
    for _ in range(most + 1):
        inner = [part for part in level if isinstance(part, dict | list)]
        if not inner:
            return False
        level = [item for part in inner for item in (part.values() if isinstance(part, dict) else part)]
    return True
