"""Write what is generated: api.md, cli.md, profile-format.md, records.md of docs/reference; JSON Schemas; the stub of public names.

    python tools/make_reference.py           write all of them
    python tools/make_reference.py --check   exit with 1 if one is stale

The keys and their types come from `config.shapes`, the facts from `core.rules.facts`, the tests from `config.conditions`, the
commands from `cli`. What a key means is said in profile_keys.toml; a key without a sentence is an error.
"""

from __future__ import annotations

import inspect
import re
import sys
import tomllib
from collections import Counter
from datetime import datetime
from pathlib import Path
from types import ModuleType, UnionType
from typing import TYPE_CHECKING, Any, Literal, NotRequired, Union, get_args, get_origin

import click
from api_page import api_page
from json_schemas import schema_texts, sentences
from pydantic import TypeAdapter

import honeyguide
from honeyguide.cli.main import root
from honeyguide.config.conditions import _FOR_KIND
from honeyguide.config.shapes import ProfileShape
from honeyguide.core.records import answers as record_answers
from honeyguide.core.records import fields as record_fields
from honeyguide.core.recrawl.plan import UrlSignals
from honeyguide.core.rules.facts import BUILT_IN, FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT_HELP = "How to print; a table in a terminal, JSON lines otherwise."
COMMON_FROM = 2  # commands with the same option, which is then explained once
STUB = Path(honeyguide.__file__).with_name("__init__.pyi")
SCHEMAS = STUB.with_name("schemas")
REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"

# Where each table of a profile stands, what it is for, and the shape that checks it.
TABLES = (
    ("The top of the file", "ProfileShape", "Every other key is in a table or list below."),
    ("`[topic]`", "TopicShape", "What a crawl is about. Usually given with the command, not in the profile."),
    ("`[scope]`", "ScopeShape", "Files that are not pages, and parameters that are not part of a URL's identity."),
    ("`[query]`", "QueryShape", "The query of the contextual score (PICK-13), with the constants of BM25."),
    ("`[query.fields]`", "TextFieldShape", "One entry for each text that the query is matched against."),
    ("`[[filter]]`, `[[skip]]`, `[[strategy.NAME.filter]]`, `[[strategy.NAME.drop]]`, `[[traversal.NAME.skip]]`", "DecisionShape",
     "The first rule whose condition holds rejects a link. Filters decide before scores are known, drops after."),
    ("`[[bucket]]`, `[[strategy.NAME.bucket]]`", "BucketShape", "The first bucket whose condition holds names the kind of a page."),
    ("`[family]`", "FamilyShape", "The words by which families of pages that differ only in a name are recognised."),
    ("`[content]`", "ContentShape", "When a fetched page is empty (PICK-21), and which keywords are recorded."),
    ("`[scorecard.NAME]`", "CardShape", "A card: base plus groups of rules, kept in range."),
    ("`[[scorecard.NAME.group]]`", "GroupShape", "A group of rules."),
    ("Rules of a group", "RuleShape", "A rule pays points when its condition holds."),
    ("`[strategy.NAME]`", "StrategyShape", "How a pick orders and takes links."),
    ("`[want]`, `[never]`", "WishShape", "Pages that every pick is to have, or never (rule `never`). `--want` and `--never` add to them."),
    ("`[traversal.NAME]`", "TraversalShape", "The order in which a crawl follows links (TOPIC-3, TOPIC-4)."),
    ("`[traversal.NAME.learner]`", "LearnerShape", "Where a traversal by worth begins, and how fast it learns (TOPIC-4c). A traversal with a learner also uses the bonuses of `pages`, `moves_up`, `lookahead` and `skip`; `links`, `tunnel` and lanes belong to `focused-fixed` and `hybrid`."),
    ("What a page is expected to show", "ListShape", "`pager`, `hint` and `plain` of a learner."),
    ("Bands of a traversal", "BandShape", "A range of scores, from `at_least` up to the next band."),
    ("`[crawl]`", "CrawlShape", "The numbers of the crawl itself."),
    ("`[traps]`", "TrapShape", "The limits at which an endless site is recognised."),
    ("`[plan]`", "PlanShape", "Settings of a plan. Its points are the card `plan`."),
    ("Levels of a plan", "LevelShape", "A name for a range of plan scores (PLAN-2)."),
)  # fmt: skip

MEANING: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("profile_keys.toml").read_text("utf-8")
)

TESTS = {
    "starts": "begins with one of the words",
    "ends": "ends with one of the words",
    "has": "contains one of the words, also inside others",
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
        "- Tables are joined key by key: a key changes that key only. So are cards, strategies and traversals.",
        "- Entries of a list that have an `id` or a `name` (rules, groups, filters, skips, drops, buckets, levels) are joined",
        "  by it. An entry whose `id` is inherited changes the keys that it has. Another one is added at the end, or before",
        '  the entry that its key `before = "ID"` names. `remove = true` removes the inherited entry.',
        '- Lists of words are changed with `add` and `remove`: `absolute.add = ["gutter"]`, `absolute.remove = ["design"]`.',
        "- Any other value replaces the inherited one: numbers, texts, a whole `when`, and lists that are written out,",
        '  as in `absolute = ["gutter"]` and the bands of a traversal.',
        '- `replace = ["scorecard.link", "filter"]` at the top of the file names what is not joined but replaced as a whole: any',
        "  table, list or entry, such as `scorecard.link.group[anchor]`.",
        "",
        "Two keys at the top of a file are short for others: `page_cap = 6` sets the `cap` of every strategy, and `disallowed_paths`",
        "(a list, or `add` and `remove`) is `terms.disallowed_paths`. A file that has the longer key, too, is refused.",
        "",
        "`profile check` and `profile show --format json` report every card and list that a file replaces as a whole.",
        "A key is required in the joined profile, not in each file. In messages, entries are named by their `id` or `name`.",
        "",
    ]


def _tables() -> Iterator[str]:
    schema = TypeAdapter(ProfileShape).json_schema()
    shapes = {"ProfileShape": schema, **schema["$defs"]}
    for title, shape, about in TABLES:
        yield from [f"## {title}", "", about, "", "| key | type | default | meaning |", "|---|---|---|---|"]
        required = shapes[shape].get("required", ())
        keys, meaning = shapes[shape]["properties"], MEANING[shape]
        if keys.keys() != meaning.keys():
            raise LookupError(
                f"profile_keys.toml, {shape}: missing or too much: {', '.join(keys.keys() ^ meaning.keys())}"
            )
        for key, value in keys.items():
            default = "required" if key in required else _default(value.get("default"))
            yield f"| `{key}` | {_type(value)} | {default} | {meaning[key]} |"
        yield ""


def _default(value: Any) -> str:
    if value is None or value == "" or isinstance(value, dict | list):
        return "-"
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
    inner = {"text": "words", "table": "tables", "number": "numbers"}[re.split("[ ,]", _type(items))[0]]
    return f"two {inner}" if schema.get("maxItems") == 2 else f"list of {inner}"


def _object(schema: dict[str, Any]) -> str:
    inner = schema.get("additionalProperties")
    if not isinstance(inner, dict) or not inner:
        return "condition"
    of = re.split("[,≥>]", _type(inner))[0].strip()
    return (
        f"table of {of}s by name"
        if not of.startswith("list")
        else f"table of {of.replace('list', 'lists', 1)} by name"
    )


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
        "A condition is a table. Its entries must all hold. An entry is a fact with its tests, or one of:",
        "",
        "- `all = [condition, ...]`: each holds;",
        "- `any = [condition, ...]`: at least one holds;",
        "- `not = condition`: it is known not to hold.",
        "",
        "```toml",
        'when = { path = { starts = ["/services"] }, not = { slug = { word = ["jobs", "career*"] } } }',
        "```",
        "",
        "An unknown fact makes a test neither true nor false. The rule does not apply, and neither does a rule with `not` around",
        "the test. The score lists such facts as `unknown`.",
        "",
        "Words are compared without case, width and kinds of dashes. A word is written as it is, or as `$name` of a list in",
        "`terms`; a test takes one word or a list.",
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
        "A fact is filled when a rule first reads it. A fact of kind *texts* holds one text for each occurrence of the link,",
        "and a test holds if it holds for any of them. `card.NAME` is the value of a card that was scored before.",
        "",
        "| fact | kind | may be unknown | what it is |",
        "|---|---|---|---|",
    ]
    for name, fact in ((name, FIELDS[name]) for name in FIELDS if name in BUILT_IN):
        yield f"| `{name}` | {fact.kind.value} | {'yes' if fact.may_be_unknown else 'no'} | {fact.about} |"
    yield "| `card.NAME` | number | yes | value of the card NAME |"
    yield ""


# --- cli.md -----------------------------------------------------------------------------------------------------


def command_line() -> str:
    """Write the page about the command line."""
    lines = [
        "# The command line",
        "",
        "<!-- Written by tools/make_reference.py; change that, not this. -->",
        "",
        "Data goes to standard output, messages go to standard error. Exit codes: 0 done, 1 error, 2 wrong usage, 3 stopped by",
        "a budget or partial, 130 interrupted. `HONEYGUIDE_DEBUG=1` shows the traceback of an internal error.",
        "",
        "Every command has `-h` and `--help`. Commands that print records have `--no-color` and `--format table`, `jsonl` or",
        "`csv`: without it they print a table in a terminal and JSON lines elsewhere; `export` writes no table.",
        "",
    ]
    commands = list(_walk(root, ("honeyguide",)))
    rows = Counter(_option(option) for path, command in commands for option in _options(path, command))
    common = [row for row, times in rows.items() if times >= COMMON_FROM]
    for path, command in commands:
        lines += _command(path, command, common)
    lines += ["## Common options", "", "Several commands have these options with the same meaning.", ""]
    return "\n".join([*lines, "| option | meaning |", "|---|---|", *common, ""])


def _walk(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None:
                yield from _walk(child, (*path, name))


def _options(path: tuple[str, ...], command: click.Command) -> list[click.Option]:
    """List the options of a command that the top of the page does not explain."""
    return [
        param for param in command.params if isinstance(param, click.Option) and not _is_shared(param, path)
    ]


def _command(path: tuple[str, ...], command: click.Command, common: list[str]) -> Iterator[str]:
    yield from [
        f"## {' '.join(path)}",
        "",
        *_paragraphs(inspect.cleandoc(command.help or "")),
        "```text",
        _usage(path, command),
        "```",
        "",
    ]
    options = _options(path, command)
    own = [row for row in map(_option, options) if row not in common]
    if own:
        yield from ["| option | meaning |", "|---|---|", *own, ""]
    if len(own) < len(options):
        names = ", ".join(_names(option) for option in options if _option(option) in common)
        yield from [f"[Common options](#common-options): {names}.", ""]
    if isinstance(command, click.Group):
        context = click.Context(command)
        links = [f"[`{name}`](#{'-'.join((*path, name))})" for name in command.list_commands(context)]
        yield from [f"Commands: {', '.join(links)}.", ""]
    examples = getattr(command, "examples", ())
    if examples:
        yield from ["Examples:", "", "```text", *examples, "```", ""]


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        plain = " ".join(paragraph.split())
        yield from ["```text", plain, "```", ""] if paragraph.startswith("  ") else [plain, ""]


def _usage(path: tuple[str, ...], command: click.Command) -> str:
    words = [*path, "[OPTIONS]"]
    words += [_metavar(param) for param in command.params if isinstance(param, click.Argument)]
    if isinstance(command, click.Group):
        words.append("COMMAND [ARGS]...")
    return " ".join(words)


def _metavar(param: click.Argument) -> str:
    return param.metavar or (param.name or "").upper()


def _is_shared(option: click.Option, path: tuple[str, ...]) -> bool:
    """Tell whether an option is explained once, at the top."""
    return len(path) > 1 and (option.name == "no_color" or option.help == FORMAT_HELP)


def _names(option: click.Option) -> str:
    return ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))


def _option(option: click.Option) -> str:
    value = "" if option.is_flag else f" {option.metavar or _choices(option)}"
    shown = f" Default: `{option.default}`." if option.show_default and option.default is not None else ""
    cells = [text.replace("|", "\\|") for text in (f"{_names(option)}{value}", f"{option.help or ''}{shown}")]
    return f"| {cells[0]} | {cells[1]} |"


def _choices(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return ", ".join(f"`{choice}`" for choice in option.type.choices)
    return option.type.name.upper()


# --- records.md -------------------------------------------------------------------------------------------------


def records() -> str:
    """Write the page about records: the tables of fields, in the frame of records_page.md."""
    page = Path(__file__).with_name("records_page.md").read_text("utf-8")
    kinds = [*_record_kinds(record_fields), *_record_kinds(record_answers), UrlSignals]
    shared = _shared_fields(kinds)
    for kind in kinds:
        if f"{{{kind.__name__}}}" not in page:
            raise LookupError(f"records_page.md has no place for {kind.__name__}")
        page = page.replace(f"{{{kind.__name__}}}", "\n".join(_record(kind, shared)))
    rows = [f"| `{name}` | {kind} | {about} |" for (name, about), kind in shared.items()]
    return page.replace("{shared}", "\n".join(["| field | type | meaning |", "|---|---|---|", *rows]))


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
    """Write a record: its sentence, a table of its own fields, the names of those that it shares."""
    yield from [f"**{kind.__name__}**: {inspect.getdoc(kind)}", ""]
    rows = _rows(kind)
    own = [
        f"| `{name}` | {typed} | {about} |"
        for (name, about), typed in rows.items()
        if (name, about) not in shared
    ]
    if own:
        yield from ["| field | type | meaning |", "|---|---|---|", *own]
    names = ", ".join(f"`{field[0]}`" for field in rows if field in shared)
    if names:
        yield from ["", f"[Shared](#shared-fields): {names}."]


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
