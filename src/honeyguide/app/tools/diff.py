"""What changed from one file of picks to another, as records; plans are compared by `app.plan`.

Must not know: arguments, terminals. Start reading at `compare_picks`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.adapters.files.read import kind_of, read_lines
from honeyguide.adapters.files.results import MAX_RECORD_BYTES, read_picks
from honeyguide.adapters.files.rows import json_object
from honeyguide.core.pick.evaluate import compare_sites
from honeyguide.core.records import SCHEMA
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from honeyguide.core.records import Record


def is_pick_file(file: str) -> bool:
    """Tell whether the first record of a file is that of a pick: it has a site."""
    if kind_of(file) == "parquet":
        return False
    first = next((text for _, text in read_lines(file, limit=MAX_RECORD_BYTES) if text.strip()), "")
    if not first:
        raise InputError("is empty; give picks or a plan", file=file)
    return first.startswith("{") and "site" in json_object(first, file)


def compare_picks(earlier: str, later: str) -> tuple[list[Record], list[str]]:
    """List the pages that entered, left or moved from one file of picks to another, and the sites that only one has."""
    before, now = (read_picks(file, keep_others=True) for file in (earlier, later))
    changes: list[Record] = [
        {"schema": SCHEMA, "site": site, "url": one.url, "change": one.kind, "reason": one.why}
        for site, picked in now.items()
        if site in before
        for one in compare_sites(picked, before[site])
    ]
    return changes, [site for site in {**now, **before} if site not in now or site not in before]
