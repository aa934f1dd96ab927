"""Rows of JSON lines, for commands that read other things than known URLs.

Owns: nothing of its own; the formats are in `adapters.rowfiles`.
"""

from __future__ import annotations

from honeyguide.adapters.rowfiles import parse_object

__all__ = ["parse_object"]
