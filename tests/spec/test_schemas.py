"""The JSON Schemas that are shipped: valid, as strict as the readers, and true of what the commands print."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from honeyguide import InputError, load_schema, rank_urls, score_url
from honeyguide.adapters.files.signals import read_signals
from honeyguide.app.plan import plan_record
from honeyguide.cli.main import root
from honeyguide.core.recrawl.plan import PlanEntry

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
NAMES = ("pick", "crawl", "plan", "signals")
NOW = datetime(2024, 6, 15, 8, tzinfo=UTC)
# The document's own rows, in its spelling.
EXAMPLE: dict[str, Any] = {
    "url": "https://reuters.com/world/europe", "visits": 150, "lastVisited": "2024-06-10T08:00:00Z",
    "lastChanged": "2024-06-14T22:00:00Z", "topicRelevance": 0.9, "hubDepth": 1, "isHub": True,
}  # fmt: skip
OLD: dict[str, Any] = {
    "url": "https://reuters.com/article/old-piece", "visits": 50, "last_visited": 1_718_436_600,
    "topic_relevance": 0.3, "hub_depth": 4, "is_hub": False,
}  # fmt: skip


def checker(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(load_schema(name))


def faults(name: str, record: object) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in checker(name).iter_errors(record)]


@pytest.mark.parametrize("name", NAMES)
def test_every_schema_is_valid_and_printed_as_it_is_shipped(name: str) -> None:
    schema = load_schema(name)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)
    result = CliRunner().invoke(root, ["schema", name])
    assert (result.exit_code, json.loads(result.stdout)) == (0, schema)


def test_an_unknown_schema_is_refused_with_one_sentence() -> None:
    with pytest.raises(InputError, match="no schema is named 'plans'; there are pick, crawl, plan, signals"):
        load_schema("plans")
    assert CliRunner().invoke(root, ["schema", "plans"]).exit_code == 2


# --- what the commands print ---


def printed(command: str) -> Iterator[tuple[str, Any]]:
    """Give the records that a command printed or wrote as JSON lines, from the frozen outputs."""
    for file in sorted(GOLDEN.glob("*.txt")):
        text = file.read_text("utf-8")
        words = text.splitlines()[0].removeprefix("$ honeyguide ").split()
        is_parquet = '{"schema": "' in text  # shows types, and has lists for tables
        if words[0] != command or "--explain" in words or is_parquet:
            continue
        for line in re.findall(r'^{"schema": .*}$', text, re.MULTILINE):
            yield file.name, json.loads(line)


@pytest.mark.parametrize(("command", "least"), [("pick", 5), ("crawl", 20), ("plan", 10)])
def test_what_is_printed_fits_the_schema(command: str, least: int) -> None:
    check = checker(command)
    records = list(printed(command))
    assert len(records) >= least
    for file, record in records:
        assert [f"{file} {error.json_path}: {error.message}" for error in check.iter_errors(record)] == []


def test_printed_records_use_every_part_of_the_schemas() -> None:
    # A field that no frozen output has would be checked by nothing.
    for command in ("pick", "crawl", "plan"):
        seen = {key for _, record in printed(command) for key in record}
        assert load_schema(command)["properties"].keys() - seen == set(), command


@pytest.mark.parametrize("command", ["pick", "crawl", "plan"])
def test_a_record_with_a_fault_does_not_fit(command: str) -> None:
    _, record = next(printed(command))
    assert faults(command, record) == []
    for name in record:
        lacking = {key: value for key, value in record.items() if key != name}
        is_optional = name not in load_schema(command)["required"]
        assert bool(faults(command, lacking)) is not is_optional, name
    assert faults(command, {**record, "extra": 1})
    assert faults(command, {**record, "schema": 1})
    assert faults(command, {**record, "schema": "2"})


@pytest.mark.parametrize(
    "fault",
    [
        {"score": 100.5},
        {"score": -1},
        {"score": "94"},
        {"score": None},
        {"reasons": "x"},
        {"points": [{"rule": "x"}]},
    ],
    ids=str,
)
def test_a_scored_url_with_a_fault_does_not_fit(fault: dict[str, object]) -> None:
    record: dict[str, Any] = {**plan_record(PlanEntry(1, score_url(EXAMPLE, now=NOW)))}
    assert faults("plan", record) == []
    assert faults("plan", {**record, **fault})


# --- what plan reads ---


def test_the_rows_of_the_document_fit() -> None:
    for row in (EXAMPLE, OLD):
        assert faults("signals", row) == []
    assert [item.url for item in rank_urls([OLD, EXAMPLE], now=NOW)] == [EXAMPLE["url"], OLD["url"]]


@pytest.mark.parametrize(
    "change",
    [
        {"visits": -1}, {"visits": 1.5}, {"visits": []}, {"topic_relevance": 1.01}, {"topic_relevance": -0.1},
        {"hub_depth": -1}, {"is_hub": "maybe"}, {"page_class": "homepage"}, {"importance": 0}, {"rate_a": 0, "rate_b": 1},
        {"rate_a": 1, "rate_b": 1e10}, {"url": None}, {"url": 7}, {"last_visited": []}, {"last_changed": True},
    ],
    ids=str,
)  # fmt: skip
def test_what_the_reader_refuses_the_schema_refuses(change: dict[str, object]) -> None:
    row = {**OLD, **change}
    with pytest.raises(InputError):
        read_signals(row)
    assert faults("signals", row)


@pytest.mark.parametrize("name", ["url", "visits", "topic_relevance", "hub_depth", "is_hub", "last_visited"])
def test_reader_and_schema_need_the_same_fields(name: str) -> None:
    row = {key: value for key, value in OLD.items() if key != name}
    is_needed = name == "url"
    assert bool(faults("signals", row)) is is_needed
    if is_needed:
        with pytest.raises(InputError, match=f"field {name}: is missing"):
            read_signals(row)
    else:
        assert getattr(read_signals(row), name) is None


@pytest.mark.parametrize(
    "change",
    [
        {"visits": None, "topic_relevance": None, "hub_depth": None, "is_hub": None},
        {"topic_relevance": 0}, {"topic_relevance": 1}, {"visits": 0}, {"last_visited": "2024-06-10"},
        {"rate_a": 1e-6, "rate_b": 1e9, "page_class": "hub", "importance": 2}, {"comment": "ignored"},
    ],
    ids=str,
)  # fmt: skip
def test_what_fits_is_read(change: dict[str, object]) -> None:
    row = {**OLD, **change}
    assert faults("signals", row) == []
    assert read_signals(row).url == OLD["url"]
