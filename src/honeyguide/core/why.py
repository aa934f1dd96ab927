"""Why: the rule that decided, and its sentence.

Owns: `Why`, the one type for every "because".
"""

from __future__ import annotations

from typing import NamedTuple


class Why(NamedTuple):
    """The rule that decided, and its sentence."""

    rule: str
    text: str
