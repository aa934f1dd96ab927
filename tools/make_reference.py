"""Write what is generated: api.md, cli.md, profile-format.md, records.md of docs/reference; JSON Schemas; the stub of public names.

    python tools/make_reference.py           write all of them
    python tools/make_reference.py --check   exit with 1 if one is stale

The keys and their types come from `config.shapes`, the facts from `core.rules.facts`, the tests from `config.conditions`. What a key means is said in profile_keys.toml; a key without a sentence is an error.
"""

from __future__ import annotations

import inspect
import re
import sys
import tomllib
from datetime import datetime
from pathlib import Path
from types import ModuleType, UnionType
from typing import TYPE_CHECKING, Any, Literal, NotRequired, Union, get_args, get_origin

from api_page import api_page
from cli_page import command_line
from json_schemas import schema_texts, sentences
from pydantic import TypeAdapter

import honeyguide
from honeyguide.config.conditions import _FOR_KIND
from honeyguide.config.shapes import ProfileShape
from honeyguide.core.records import command_records
from honeyguide.core.records import fields as record_fields
from honeyguide.core.recrawl.plan import UrlSignals
from honeyguide.core.rules.facts import BUILT_IN, FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REQUIRED = "\\*"  # a star that Markdown shows
FEW_FIELDS = 2  # of a record, which are a list and no table
STUB = Path(honeyguide.__file__).with_name("__init__.pyi")
SCHEMAS = STUB.with_name("schemas")
REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"

# Where each table of a profile stands, what it is for, and the shape that checks it.
TABLES = (
    ("The top of the file", "ProfileShape", "Tables and lists have their own sections below."),
    ("`[topic]`", "TopicShape", "What a crawl is about; usually an option of the command instead."),
    ("`[scope]`", "ScopeShape", ""),
    ("`[query]`", "QueryShape", "The query of the contextual score (PICK-13), with the constants of BM25."),
    ("`[query.fields]`", "TextFieldShape", "One entry for each text that the query is matched against."),
    ("`[[filter]]`, `[[skip]]`, `[[strategy.NAME.filter]]`, `[[strategy.NAME.drop]]`, `[[strategy.NAME.look]]`, `[[traversal.NAME.skip]]`", "DecisionShape",
     "The first rule whose condition holds rejects a link. Filters decide before scores are known, drops after, looks when the page was fetched."),
    ("`[[bucket]]`, `[[strategy.NAME.bucket]]`", "BucketShape", "The first bucket whose condition holds names the kind of a page."),
    ("`[family]`", "FamilyShape", "How families of pages that differ only in a name are recognised."),
    ("`[content]`", "ContentShape", "When a fetched page is empty (PICK-21), and which keywords are recorded."),
    ("`[scorecard.NAME]`", "CardShape", "A card: base plus groups of rules, kept in range."),
    ("`[[scorecard.NAME.group]]`", "GroupShape", ""),
    ("Rules of a group", "RuleShape", "A rule pays points when its condition holds."),
    ("`[strategy.NAME]`", "StrategyShape", ""),
    ("`[[strategy.NAME.heading]]`", "HeadingShape", "The first entry whose condition holds names the kind of a submenu or group of cards (fact `listed`)."),
    ("`[strategy.NAME.groups]`", "GroupsShape", "Buckets by which such groups of links are read."),
    ("`[want]`, `[never]`", "WishShape", "Pages that every pick is to have, or never (rule `never`). `--want` and `--never` add to them."),
    ("`[traversal.NAME]`", "TraversalShape", "The order in which a crawl follows links (TOPIC-3, TOPIC-4)."),
    ("`[traversal.NAME.learner]`", "LearnerShape", "How a traversal by worth begins and learns (TOPIC-4c). It also uses `moves_up`, `lookahead`, `skip` and the bonuses of `pages`."),
    ("What a page is expected to show", "ListShape", "`pager`, `hint` and `plain` of a learner."),
    ("Bands of a traversal", "BandShape", "A range of scores, from `at_least` up to the next band."),
    ("`[crawl]`", "CrawlShape", ""),
    ("`[traps]`", "TrapShape", "Limits against endless sites."),
    ("`[[plan.levels]]`", "LevelShape", "A name for a range of plan scores (PLAN-2). The points are the card `plan`."),
)  # fmt: skip

MEANING: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("profile_keys.toml").read_text("utf-8")
)

TESTS = {
    "starts": "begins with one of the words",
    "ends": "ends with one of the words",
    "has": "contains one of the words, also inside other words",
    "word": "contains one of the words between spaces; `repair*` is the beginning of a word. For `slug`, `segment` and `label`",
    "is": "equals one of the words; the number; true or false",
    "matches": "matches a pattern in linear-time syntax, or `$topic`",
    "below": "is strictly below the number",
    "above": "is strictly above the number",
}


# --- profile-format.md ------------------------------------------------------------------------------------------


def profile_format() -> str:
    """Write the page about profiles."""
    return "\n".join([*_head(), *_tables(), *_conditions(), *_facts()])


def _head() -> list[str]:
    return [
        "# The format of profiles",
        "",
        "<!-- Written by tools/make_reference.py; change that, not this. -->",
        "",
        'A profile is a TOML file, or a JSON file with the same keys. Unknown keys are mistakes, and nothing is converted: `cap = "4"` is refused.',
        "[Profiles](../guides/profiles.md) shows how to start one, and what mistakes look like.",
        "",
        "A profile that extends another changes it piece by piece:",
        "",
        "- Tables, cards, strategies and traversals are joined key by key.",
        "- Entries of a list with an `id` or a `name` (rules, groups, filters, skips, drops, buckets, levels) are joined by it:",
        "  an inherited entry changes in the keys that are given, and `remove = true` removes it. Another entry is added at",
        '  the end, or before the entry that `before = "ID"` names.',
        '- Lists of words change with `add` and `remove`: `absolute.add = ["gutter"]`, `absolute.remove = ["design"]`.',
        "- Any other value replaces the inherited one: numbers, texts, a whole `when`, the bands of a traversal, a list that is",
        '  written out, as in `absolute = ["gutter"]`.',
        '- `replace = ["scorecard.link", "filter"]` at the top of the file replaces a table, list or entry as a whole, also one',
        "  such as `scorecard.link.group[anchor]`. `profile check` reports what is replaced.",
        "",
        "Two keys at the top of a file are short for others: `page_cap = 6` sets the `cap` of every strategy, and `disallowed_paths`",
        "is `terms.disallowed_paths`. A file with both forms is refused.",
        "",
        "`*` marks keys that are required in the joined profile, not in each file; `text[]` is a list of texts.",
        "",
    ]


def _tables() -> Iterator[str]:
    schema = TypeAdapter(ProfileShape).json_schema()
    shapes = {"ProfileShape": schema, **schema["$defs"]}
    for title, shape, about in TABLES:
        required = shapes[shape].get("required", ())
        keys, meaning = shapes[shape]["properties"], MEANING[shape]
        if keys.keys() != meaning.keys():
            raise LookupError(
                f"profile_keys.toml, {shape}: missing or too much: {', '.join(keys.keys() ^ meaning.keys())}"
            )
        rows = [
            (
                f"`{key}`{REQUIRED if key in required else ''}",
                (_type(value), _default(value.get("default")), meaning[key]),
            )
            for key, value in keys.items()
        ]
        yield from [f"## {title}", "", *([about, ""] if about else [])]
        yield from [*_table(("key", "type", "default", "meaning"), rows), ""]


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, tuple[str, ...]]]) -> Iterator[str]:
    """Write a table of names and what is said of each: names with equal cells share a row, an empty column is left out."""
    names: dict[tuple[str, ...], list[str]] = {}
    for name, cells in rows:
        names.setdefault(cells, []).append(name)
    filled = [place for place in range(len(heads) - 1) if any(cells[place] for cells in names)]
    yield f"| {' | '.join([heads[0], *(heads[place + 1] for place in filled)])} |"
    yield f"|{'---|' * (len(filled) + 1)}"
    for cells, same in names.items():
        yield f"| {' | '.join([', '.join(same), *(cells[place] for place in filled)])} |"


def _default(value: Any) -> str:
    if value is None or value == "" or isinstance(value, dict | list):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value}`" if isinstance(value, str) else f"`{value:g}`"


def _type(schema: dict[str, Any]) -> str:
    """Say in words what a value may be."""
    if "$ref" in schema:
        return "table"
    if "anyOf" in schema:
        return " or ".join(_type(option) for option in schema["anyOf"] if option.get("type") != "null")
    if "const" in schema or "enum" in schema:
        return " ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type")
    if kind == "array":
        return _array(schema)
    if kind == "object":
        return _object(schema)
    return {"string": "text", "boolean": "boolean", "integer": "integer", "number": "number"}[
        str(kind)
    ] + _bounds(schema)


def _array(schema: dict[str, Any]) -> str:
    items = schema["items"]
    if "enum" in items:
        return f"list of {_type(items)}"
    inner = re.split("[ ,]", _type(items))[0]
    return f"two {inner}s" if schema.get("maxItems") == 2 else f"{inner}[]"


def _object(schema: dict[str, Any]) -> str:
    inner = schema.get("additionalProperties")
    if not isinstance(inner, dict) or not inner:
        return "condition"
    return f"{re.split('[,≥>]', _type(inner))[0].strip()} by name"


def _bounds(schema: dict[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return "" if high >= 1e9 else f", {low:g}–{high:g}"
    if low is not None:
        return f" ≥{low:g}"
    above = schema.get("exclusiveMinimum")
    if above is None:
        return ""
    return f" >{above:g}" + ("" if high is None or high >= 1e9 else f", ≤{high:g}")


def _conditions() -> Iterator[str]:
    yield from [
        "## Conditions",
        "",
        "A condition is a table whose entries must all hold. An entry is a fact with its tests, or one of:",
        "",
        "- `all = [condition, ...]`: each holds;",
        "- `any = [condition, ...]`: at least one holds;",
        "- `not = condition`: it is known not to hold.",
        "",
        "```toml",
        'when = { path = { starts = ["/services"] }, not = { slug = { word = ["jobs", "career*"] } } }',
        "```",
        "",
        "An unknown fact makes a test neither true nor false: the rule does not apply, also with `not` around the test. The",
        "score lists such facts as `unknown`.",
        "",
        "Words are compared without case, width and kinds of dashes. A test takes a word, a list of words, or `$name` of a",
        "list in `terms`.",
        "",
        "| test | for facts that are | holds if the fact |",
        "|---|---|---|",
    ]
    for test, about in TESTS.items():
        kinds = [kind.value for kind, tests in _FOR_KIND.items() if test in tests]
        yield f"| `{test}` | {', '.join(kinds)} | {about} |"
    unknown = {test for tests in _FOR_KIND.values() for test in tests} - set(TESTS)
    if unknown:
        raise LookupError(f"tests without a sentence: {', '.join(unknown)}")
    yield ""


def _facts() -> Iterator[str]:
    yield from [
        "## Facts",
        "",
        "A fact of kind *texts* has one text for each occurrence of the link; a test holds if it holds for any of them.",
        "`number?` may be unknown.",
        "",
        "| fact | kind | what it is |",
        "|---|---|---|",
    ]
    for name, fact in ((name, FIELDS[name]) for name in FIELDS if name in BUILT_IN):
        yield f"| `{name}` | {fact.kind.value}{'?' if fact.may_be_unknown else ''} | {fact.about} |"
    yield "| `card.NAME` | number? | value of a card that was scored before |"
    yield ""


# --- records.md -------------------------------------------------------------------------------------------------


def records() -> str:
    """Write the page about records: the tables of fields, in the frame of records_page.md."""
    page = Path(__file__).with_name("records_page.md").read_text("utf-8")
    kinds = [*_record_kinds(record_fields), *_record_kinds(command_records), UrlSignals]
    shared = _shared_fields(kinds)
    for kind in kinds:
        if f"{{{kind.__name__}}}" not in page:
            raise LookupError(f"records_page.md has no place for {kind.__name__}")
        page = page.replace(f"{{{kind.__name__}}}", "\n".join(_record(kind, shared)))
    rows = [(f"`{name}`", (kind, about)) for (name, about), kind in shared.items()]
    return page.replace("{shared}", "\n".join(_table(("field", "type", "meaning"), rows)))


def _record_kinds(module: ModuleType) -> list[type]:
    """List the records of a module; the field of `OutputRecord` is explained at the top of the page."""
    names = re.findall(r"^class ((?!OutputRecord)\w+)\(\w+\):$", inspect.getsource(module), re.MULTILINE)
    return [getattr(module, name) for name in names]


def _rows(kind: type) -> dict[tuple[str, str], str]:
    """Give the type of each field, by its name and its sentence, which is the comment beside it."""
    about = sentences(kind)
    hints = {name: hint for name, hint in record_fields.fields(kind).items() if name != "schema"}
    return {(name, about[name]): _field_type(hint) for name, hint in hints.items()}


def _shared_fields(kinds: list[type]) -> dict[tuple[str, str], str]:
    """Give the fields that several records have with the same meaning; `?` if the value may be null in one of them."""
    found: dict[tuple[str, str], list[str]] = {}
    for kind in kinds:
        for field, typed in _rows(kind).items():
            found.setdefault(field, []).append(typed)
    shared: dict[
        str, tuple[str, str]
    ] = {}  # a name with two meanings is shared with the more frequent one only
    for field in sorted(found, key=lambda field: (-len(found[field]), field)):
        if len(found[field]) > 1:
            shared.setdefault(field[0], field)
    return {field: max(found[field], key=len) for _, field in sorted(shared.items())}


def _record(kind: type, shared: dict[tuple[str, str], str]) -> Iterator[str]:
    """Write a record: its sentence, its own fields, the names of those that it shares."""
    yield from [f"**{kind.__name__}**: {inspect.getdoc(kind)}", ""]
    rows = _rows(kind)
    own = [
        (f"`{name}`", (typed, about)) for (name, about), typed in rows.items() if (name, about) not in shared
    ]
    if len(own) <= FEW_FIELDS:
        yield from (f"- {name} ({typed}): {about}" for name, (typed, about) in own)
    else:
        yield from _table(("field", "type", "meaning"), own)
    names = ", ".join(f"`{field[0]}`" for field in rows if field in shared)
    if names:
        yield from [*([""] if own else []), f"[Shared](#shared-fields): {names}."]


def _field_type(hint: Any) -> str:
    """Write a type: `text?` may be null, `text[]` is a list."""
    if get_origin(hint) is NotRequired:
        return f"{_field_type(get_args(hint)[0])}, may be absent"
    args = get_args(hint)
    if get_origin(hint) in (UnionType, Union):
        return f"{_field_type(args[0])}?"
    if get_origin(hint) is Literal:
        return ", ".join(f"`{value}`" for value in args)
    if get_origin(hint) is list:
        return f"{_field_type(args[0])}[]"
    if get_origin(hint) is dict:
        return f"{_field_type(args[1])} by name"
    plain = {str: "text", int: "integer", float: "number", bool: "boolean", datetime: "time", Any: "any"}
    return plain.get(hint) or f"{hint.__name__}"


# --- writing ----------------------------------------------------------------------------------------------------


def pages() -> dict[Path, str]:
    """Make every generated page."""
    return {
        REFERENCE / "profile-format.md": profile_format(),
        REFERENCE / "cli.md": command_line(),
        REFERENCE / "records.md": records(),
        REFERENCE / "api.md": api_page(),
        STUB: public_names(),
        **{SCHEMAS / f"{name}.json": text for name, text in schema_texts().items()},
    }


def public_names() -> str:
    """Write the public names for type checkers, from the table that loads them."""
    table: dict[str, str] = honeyguide._NAMES  # type: ignore[attr-defined]  # noqa: SLF001 - the stub hides it
    imports = [
        f"from honeyguide.{module} import {name} as {name}"
        for module in sorted(table)
        for name in sorted(table[module].split())
    ]
    listed = [f'    "{name}",' for name in honeyguide.__all__]
    head = "# ruff: noqa: RUF022\n# fmt: off\n# Written by tools/make_reference.py from the table of __init__.py."
    return "\n".join([head, *imports, "", "__version__: str", "__all__ = [", *listed, "]", ""])


def main(args: list[str]) -> int:
    """Write the pages, or name those that are stale."""
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text("utf-8") != text]
    if args == ["--check"]:
        sys.stdout.writelines(f"stale: {path.name}; run python tools/make_reference.py\n" for path in stale)
        return 1 if stale else 0
    for path, text in pages().items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
