"""Files from before stay readable: `old_records.jsonl` has a pick, a page and a plan entry, as version 0.1.0 wrote them.

A new field of a record is `NotRequired`, or the schema gets a new number and a reader for the old one. Do not rewrite the file.
"""

from __future__ import annotations

from pathlib import Path

import honeyguide
from honeyguide.core.records.fields import (
    CandidateRecord,
    PageRecord,
    PickRecord,
    PlanRecord,
    SelectedRecord,
    is_record,
)

OLD = Path(__file__).with_name("old_records.jsonl")


def test_records_from_before_are_read_as_they_are() -> None:
    pick, page, entry = honeyguide.read(OLD)
    assert is_record(pick, PickRecord)
    assert (len(pick["selected"]), len(pick["candidates"])) == (1, 2)
    assert all(is_record(one, SelectedRecord) for one in pick["selected"])
    assert all(is_record(one, CandidateRecord) for one in pick["candidates"])
    assert is_record(page, PageRecord)
    assert is_record(entry, PlanRecord)
