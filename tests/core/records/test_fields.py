"""What every command writes has the fields of the table, in their order."""

import json
from pathlib import Path
from typing import Any, NotRequired, get_origin, is_typeddict

import pytest

from honeyguide.core.records import command_records
from honeyguide.core.records import fields as table
from honeyguide.core.records.fields import (
    SCHEMA,
    CandidateRecord,
    OutputRecord,
    PageRecord,
    columns,
    fields,
    is_record,
)

CANDIDATE = tuple(fields(CandidateRecord))
GOLDEN = Path(__file__).resolve().parents[2] / "golden"
RECORDS = [
    kind
    for module in (table, command_records)
    for kind in vars(module).values()
    if is_typeddict(kind) and kind.__module__ == module.__name__ and "schema" in fields(kind)
    if kind is not OutputRecord
]


def test_what_commands_print_is_in_the_table() -> None:
    seen = set()
    for file in sorted(GOLDEN.glob("*.txt")):
        for line in file.read_text("utf-8").splitlines():
            if not line.startswith('{"schema": ') or line.startswith('{"schema": "'):  # types of Parquet
                continue
            record: dict[str, Any] = json.loads(line)
            assert record["schema"] == SCHEMA
            kinds = [kind.__name__ for kind in RECORDS if has_fields(record, kind)]
            kinds += ["EvalTotal"] if record.get("kind") == "total" else []
            kinds += ["Select"] if tuple(record)[-len(CANDIDATE) :] == CANDIDATE else []
            assert len(kinds) == 1, (file.name, list(record), kinds)
            seen.update(kinds)
    # Workers are listed only while they work: tests/journeys/test_workers.py has theirs.
    assert {kind.__name__ for kind in RECORDS} - {"WorkerRecord"} <= seen


def has_fields(record: dict[str, Any], kind: Any) -> bool:
    names = [
        name for name, hint in fields(kind).items() if name in record or get_origin(hint) is not NotRequired
    ]
    return list(record) == names


def test_values_have_their_types() -> None:
    lines = (GOLDEN / "crawl-links.txt").read_text("utf-8").splitlines()
    pages = [json.loads(line) for line in lines if line.startswith('{"schema": ')]
    assert pages
    assert all(is_record(page, PageRecord) for page in pages)
    assert not is_record({**pages[0], "depth": "1"}, PageRecord)
    assert not is_record({**pages[0], "links": [{}]}, PageRecord)
    assert not is_record({name: pages[0][name] for name in pages[0] if name != "duplicate_of"}, PageRecord)


@pytest.mark.parametrize("kind", RECORDS)
def test_columns_are_fields(kind: Any) -> None:
    names = [column.partition(".")[0] for column in columns(kind)]
    assert list(dict.fromkeys(names)) == [name for name in fields(kind) if name in names]
