"""docs/reference/source-documents.md: every name that it gives is there. test_requirements.py looks for the decisions."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, reduce
from pathlib import Path
from typing import Any

import click
import pytest
import spec_ids

import honeyguide
from honeyguide.app.tools.profiles import show_profile
from honeyguide.cli.main import root
from honeyguide.config.shapes import SHORT_KEYS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "source-documents.md"
SPAN = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Name:
    """A name of the page: what it is called here, and of what kind it is."""

    text: str
    kind: str


def tables(head: str) -> Iterator[list[str]]:
    """Give the cells of all rows of the tables that begin with this head."""
    found = re.findall(rf"^{re.escape(head)}\n\|[-|]+\n((?:\|.*\n)+)", PAGE.read_text("utf-8"), re.MULTILINE)
    for table in found:
        for line in table.splitlines():
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


NAMES = [
    Name(span, kind)
    for _, here, kind in tables("| in the document | here | kind |")
    for span in SPAN.findall(here)
    if kind != "page"  # links between pages are followed by test_docs.py
]
COMMANDS = [
    span
    for row in tables("| document | is | with |")
    for span in SPAN.findall(row[2])
    if span.startswith("honeyguide ")
]


def is_public(text: str) -> bool:
    """Look for `name`, `Type.attribute`, or `function(parameter=)` among the public names."""
    name, _, arguments = text.partition("(")
    owner, _, attribute = name.partition(".")
    if owner not in honeyguide.__all__:
        return False
    value = getattr(honeyguide, owner)
    if attribute:
        return hasattr(value, attribute) or attribute in inspect.get_annotations(value)
    wanted = {part.partition("=")[0].strip() for part in arguments.rstrip(")").split(",")} - {""}
    return not wanted or wanted <= inspect.signature(value).parameters.keys()


def is_command(text: str) -> bool:
    """Look for `honeyguide COMMAND --option value`: the command, and each of its options."""
    program, *words = text.split()
    command: click.Command | None = root
    while words and isinstance(command, click.Group) and not words[0].startswith("-"):
        command = command.get_command(click.Context(command), words.pop(0))
    if program != "honeyguide" or command is None:
        return False
    known = {option for param in command.params for option in param.opts}
    return {word for word in words if word.startswith("--")} <= known


@cache
def settings() -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(show_profile("fire-protection", as_json=True)[0])
    return whole


def is_setting(text: str) -> bool:
    """Look for a key of the profile, with the names of the tables above it."""
    if text in SHORT_KEYS:
        return True
    try:
        reduce(lambda table, key: table[key], text.split("."), settings())
    except (KeyError, TypeError):
        return False
    return True


def is_field(text: str, record: str) -> bool:
    """Look for a field in the schema of a record; `candidates.score` is a field of what the list holds."""
    whole = honeyguide.load_schema(record)

    def properties(schema: dict[str, Any]) -> dict[str, Any]:
        if "anyOf" in schema:
            return properties(schema["anyOf"][0])  # the other is null
        if "$ref" in schema:
            return properties(whole["$defs"][schema["$ref"].rpartition("/")[2]])
        found: dict[str, Any] = schema.get("properties") or properties(
            schema.get("items", {"properties": {"": {}}})
        )
        return found

    schema = whole
    for name in text.split("."):
        if name not in properties(schema):
            return False
        schema = properties(schema)[name]
    return True


CHECKS: dict[str, Callable[[str], bool]] = {
    "function": is_public,
    "type": is_public,
    "command": is_command,
    "setting": is_setting,
    "rule": lambda text: text in spec_ids.stated(),
    "strategy": lambda text: text in settings()["strategy"],
    "traversal": lambda text: text in settings()["traversal"],
    "policy": lambda text: (
        is_command(f"honeyguide plan --policy {text}") and text in ("heuristic", "learned")
    ),
    "field of pick": lambda text: is_field(text, "pick"),
    "field of crawl": lambda text: is_field(text, "crawl"),
    "field of plan": lambda text: is_field(text, "plan"),
}


def test_the_page_names_what_the_documents_name() -> None:
    assert len(NAMES) > 100
    assert {name.kind for name in NAMES} == CHECKS.keys()
    assert len(COMMANDS) >= 9


@pytest.mark.parametrize("name", NAMES, ids=lambda name: f"{name.kind}: {name.text}")
def test_every_name_is_there(name: Name) -> None:
    assert CHECKS[name.kind](name.text)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_strategy_is_one_flag_away(command: str) -> None:
    assert is_command(command)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("function", "select_links_simple"), ("function", "select_links(style=)"), ("type", "ScoredUrl.sum"),
        ("type", "Scored"), ("command", "honeyguide plan --most"), ("command", "honeyguide rank"),
        ("command", "plan --top"), ("setting", "terms.tier3"), ("setting", "query.text.more"), ("rule", "PICK"),
        ("strategy", "simple"), ("traversal", "smart"), ("policy", "planning"),
        ("field of pick", "candidates.final_score"), ("field of pick", "counts.links.more"), ("field of plan", "url.more"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_not_found(kind: str, text: str) -> None:
    assert not CHECKS[kind](text)


@pytest.mark.parametrize(
    ("document", "here"),
    [
        ("select_links_simple", "select_links"),
        ("scoreUrlPriority", "score_url"),
        ("rankUrlsForCrawling", "rank_urls"),
        ("score_link", "score_link"),
        ("score_page", "score_page"),
    ],
)
def test_functions_of_the_documents_have_one_name_here(document: str, here: str) -> None:
    rows = [row for row in tables("| in the document | here | kind |") if f"`{document}`" in row[0]]
    assert [SPAN.findall(row[1])[0].partition("(")[0] for row in rows] == [here]
    assert (document in honeyguide.__all__) is (document == here)


def test_every_decision_has_its_reason() -> None:
    for number, says, here, because in tables("| no. | the document says | here | because |"):
        assert min(len(says), len(here), len(because)) > 8, number
