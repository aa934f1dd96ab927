"""Addresses that stand bare in Markdown, as people write lists: made links, which the parser of Markdown then finds.

Owns: telling a bare address from one that belongs to a link. Must not know: what is done with the links.
"""

from __future__ import annotations

import re

_BARE = re.compile(r"(?<![^\s*_~|(:;,-])https?://[^\s<>`\[\]|\\]+", re.IGNORECASE)


def autolinked(line: str) -> str:
    """Put bare addresses of a line into angle brackets, as Markdown wants links; those of other links stay.

    >>> autolinked("- http://a.example/, [b](http://b.example)")
    '- <http://a.example/>, [b](http://b.example)'
    """
    parts, done, brackets = [], 0, 0
    for found in _BARE.finditer(line):
        before = line[done : found.start()]
        brackets += before.count("[") - before.count("]")
        url = found[0].rstrip(".,;:!?*_~'\")")
        is_bare = brackets <= 0 and not before.rstrip().endswith(("](", "]:"))
        parts += [before, f"<{url}>" if is_bare else url]
        done = found.start() + len(url)
    return "".join([*parts, line[done:]])
