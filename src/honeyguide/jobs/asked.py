"""How a run was asked for, as the store keeps it: enough to go on with it without saying it again.

Owns: the JSON of `RunSpec.request`. Must not know: who reads it, how profiles are loaded. Budgets are not part of it:
whoever goes on brings their own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from honeyguide.errors import InputError

if TYPE_CHECKING:
    from honeyguide.core.frontier import Run


@dataclass(frozen=True, slots=True)
class Asked:
    """What of a request makes a run what it is; `profile` is the name or path it was loaded by."""

    traversal: str = "focused"
    max_depth: int | None = None
    include: str | None = None
    exclude: str | None = None
    follow_external: bool = False
    profile: str = ""
    related: tuple[str, ...] | None = None


def written(asked: Asked) -> str:
    """Write it down.

    >>> written(Asked(max_depth=3))
    '{"traversal": "focused", "max_depth": 3}'
    """
    values: dict[str, Any] = {name: getattr(asked, name) for name in Asked.__slots__}
    return json.dumps({name: value for name, value in values.items() if value not in (None, False, "")})


def read_asked(run: Run) -> Asked:
    """Read how a run was asked for; one of an older version does not say it."""
    try:
        values = json.loads(run.spec.request or "")
        related = values.pop("related", None)
        return Asked(**values, related=None if related is None else tuple(related))
    except (ValueError, TypeError, AttributeError):
        raise InputError(
            f"run {run.id} ({run.spec.command or 'crawl'}) does not say how it was asked for, because another version "
            "made it; add --due to the command that made it"
        ) from None
