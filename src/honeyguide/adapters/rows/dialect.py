r"""Patterns that both regex engines read alike: those of RE2 that can be written for polars' engine.

Owns: the part of the syntax that is sure. Must not know: polars, rules. Start reading at `lowered`.
Dialects differ on `\w`, `\s`, `\b`, `$` and classes; what is listed here is written so that both mean the same, and
whatever is not listed is not sure.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"(?P<plain>[A-Za-z0-9 _/:,;!@%=<>\"'-]|\.|\||\)|\((?:\?:)?(?!\?)|[*+?])"
    r"|(?P<edge>[\^$])"
    r"|(?P<set>\[(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[A-Za-z0-9 _])+\])"
    r"|\\(?P<letter>[dwsb])"
    r"|(?P<sign>\\[.+*?()|\[\]^$/-])"
)
_LETTERS = {"d": "[0-9]", "w": "[0-9A-Za-z_]", "s": "[\\t\\n\\f\\r ]", "b": "(?-u:\\b)"}
_EDGES = {"^": "\\A", "$": "\\z"}


def lowered(source: str, *, several: bool) -> str | None:
    r"""Write a pattern for the other engine, or None if it is not sure that it would mean the same.

    In `several` joined texts no edge may be asked for, nor a space, which the join is made of.

    >>> lowered("fire.?alarms?$", several=False)
    '(?i)fire.?alarms?\\z'
    >>> lowered("[^a]", several=False) is None
    True
    """
    written, at = "(?i)", 0
    while at < len(source):
        token = _TOKEN.match(source, at)
        if token is None or (several and (token["edge"] or token["letter"] == "s")):
            return None
        at = token.end()
        written += _EDGES.get(token[0]) or _LETTERS.get(token["letter"] or "") or token[0]
    return written
