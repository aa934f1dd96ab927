"""`honeyguide profile`: list, show, check and start profiles.

Owns: these four commands and the starter text. Must not know: what a profile may contain (`honeyguide.config` does).
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from honeyguide.cli.command import CommandGroup
from honeyguide.cli.output import Column, note, output_options, print_table, say, write_records
from honeyguide.config import bundled_profiles, load_profile, profile_source
from honeyguide.config.extend import read_profile, unused_terms
from honeyguide.core.records import SCHEMA
from honeyguide.errors import ConfigError, InputError

if TYPE_CHECKING:
    from honeyguide.cli.output import Format
    from honeyguide.core.records import Record
    from honeyguide.core.rules.profile import Profile


DEFAULT = "portfolio"  # what select and pick choose by
LIST_COLUMNS = ("schema", "name", "description", "strategies", "hash")
CHECK_COLUMNS = ("schema", "file", "ok", "name", "hash", "replaced", "problems")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")


@click.group(cls=CommandGroup, examples=("honeyguide profile list", "honeyguide profile init roofers"))
def profile() -> None:
    """List, show, check and start profiles: the words and points by which pages are judged."""


@profile.command("list", examples=("honeyguide profile list",))
@output_options
def list_(output: Format) -> None:
    """List the profiles that come with Honeyguide."""
    profiles = [load_profile(name) for name in bundled_profiles()]
    if output == "table":
        columns = (
            Column("Name", keep=True),
            Column("Description"),
            Column("Strategies"),
            Column("Hash", keep=True),
        )
        print_table(
            columns, ([p.name, p.description, ", ".join(p.strategies) or "-", p.hash] for p in profiles)
        )
        return
    write_records(
        output,
        (
            {
                "schema": SCHEMA,
                "name": p.name,
                "description": p.description,
                "strategies": list(p.strategies),
                "hash": p.hash,
            }
            for p in profiles
        ),
        LIST_COLUMNS,
    )


@profile.command(
    examples=("honeyguide profile show fire-protection", "honeyguide profile show company --format json")
)
@click.argument("name")
@click.option(
    "--format",
    "output",
    type=click.Choice(["toml", "json"]),
    default="toml",
    help="The file, or all it comes to as JSON.",
)
def show(name: str, output: str) -> None:
    """Print a profile as it is written, or joined with what it extends."""
    if output == "toml":
        text = profile_source(name)
    else:
        extended = read_profile(name)
        _note_replaced(name, extended.replaced)
        text = json.dumps(extended.table, indent=2, ensure_ascii=False, default=str)
    sys.stdout.write(_harmless(text.rstrip("\n")) + "\n")


@profile.command(
    examples=(
        "honeyguide profile check plumbers.toml",
        "honeyguide profile check fire-protection --format csv",
    )
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@output_options
def check(files: tuple[str, ...], output: Format) -> None:
    """Check profiles: print ok and the hash, or all mistakes.

    Notes name terms that no rule uses, and inherited cards and lists that the file replaces as a whole.
    """
    records = [_checked(file) for file in files]
    if output == "table":
        for record in records:
            verdict = (
                [f"{record['file']}: ok {record['hash']} ({record['name']})"]
                if record["ok"]
                else record["problems"]
            )
            for line in verdict:
                say(line)
    else:
        write_records(output, records, CHECK_COLUMNS)
    if not all(record["ok"] for record in records):
        click.get_current_context().exit(1)


@profile.command(
    examples=(
        "honeyguide profile init roofers",
        "honeyguide profile init roofers --extends base -o my-profile.toml --force",
    )
)
@click.argument("name")
@click.option(
    "-o",
    "--output",
    "file",
    metavar="FILE",
    help="Where to write; NAME.toml if not given, - is standard output.",
)
@click.option(
    "--extends", default="company", show_default=True, metavar="NAME", help="The profile to start from."
)
@click.option("--force", is_flag=True, help="Overwrite the file if it exists.")
def init(name: str, file: str | None, extends: str, force: bool) -> None:
    """Write a commented profile to start from."""
    if not _NAME.fullmatch(name):
        raise click.BadParameter("use small letters, digits and hyphens.", param_hint="NAME")
    parent = load_profile(extends)  # says what is wrong before anything is written
    text = _starter(name, extends)
    if file == "-":
        sys.stdout.write(text)
        return
    path = Path(file or f"{name}.toml")
    try:
        with path.open("w" if force else "x", encoding="utf-8", newline="\n") as target:
            target.write(text)
    except FileExistsError:
        raise InputError(
            "exists already; choose another name with -o, or overwrite it with --force", file=str(path)
        ) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be written: {why}", file=str(path)) from None
    note(f"wrote {path}; try it with: honeyguide {_first_try(path, parent)}")


def _checked(file: str) -> Record:
    try:
        loaded = load_profile(file)
        extended = read_profile(file)
    except ConfigError as error:
        problems = str(error).split("\n")
        return {
            "schema": SCHEMA,
            "file": file,
            "ok": False,
            "name": None,
            "hash": None,
            "replaced": [],
            "problems": problems,
        }
    for problem in unused_terms(extended):
        note(f"{file}: {problem}")
    _note_replaced(file, extended.replaced)
    return {
        "schema": SCHEMA,
        "file": file,
        "ok": True,
        "name": loaded.name,
        "hash": loaded.hash,
        "replaced": list(extended.replaced),
        "problems": [],
    }


def _note_replaced(file: str, replaced: tuple[str, ...]) -> None:
    """Report the cards and lists that a profile replaces as a whole: a rule or word of its parent may be missed."""
    if replaced:
        note(f"{file}: replaces as a whole what it inherits: {', '.join(replaced)}")


def _harmless(text: str) -> str:
    """Keep lines and tabs of somebody's file, escape what a terminal would obey."""
    return "".join(char if char.isprintable() or char in "\n\t" else ascii(char)[1:-1] for char in text)


def _starter(name: str, extends: str) -> str:
    """Write a first profile, with the words that the rules of its parent use."""
    used = read_profile(extends).table.get("terms", {})
    words = "".join(text for term, text in _TERMS.items() if term in used)
    query = _QUERY if load_profile(extends).strategies else ""
    return _HEAD.format(name=name, extends=json.dumps(extends)) + query + _OWN_WORDS + words


def _first_try(path: Path, profile: Profile) -> str:
    """Name a command that shows what a profile does, of those that it has rules for."""
    if not profile.strategies:
        return f"score link https://acme.example/docs/alarms --topic alarm --profile {path}"
    strategy = "" if DEFAULT in profile.strategies else f" --strategy {next(iter(profile.strategies))}"
    return f"select --demo{strategy} --profile {path}"


_HEAD = """\
# A profile: what is worth a visit, as data. Check it with: honeyguide profile check {name}.toml
# See everything it inherits with: honeyguide profile show {name}.toml --format json
schema = 1
extends = {extends}
name = "{name}"
description = "Say here what kind of site this profile is for."
"""
_QUERY = """
# What the strategy `blend` looks for in titles, descriptions, link texts and addresses of the linked pages.
[query]
text = "services repair installation maintenance about"
"""
_OWN_WORDS = """
# Words that rules refer to as $name. An entry here replaces the inherited list; NAME.add = [...] adds words to it.
[terms]
"""
_TERMS = {
    "trade_words": """\
# Beginnings of words that mean a service, in addresses and link texts: the strategy `portfolio`, the default.
trade_words = ["servic*", "install*", "repair*", "mainten*", "inspect*", "system*", "design*", "monitor*", "test*"]
""",
    "absolute": """\
# Words in an address that always mean a service; the strategy `rules` pays 85 points for one of them.
absolute = ["installation", "install", "maintenance", "inspection", "protection"]
""",
    "service_terms": """\
# Words in an address that often mean a service: 60 points.
service_terms = ["repair", "system", "design", "monitoring", "testing"]
""",
    "tier1": """\
# Strong and standard words for the strategy `blend`.
tier1 = ["installation", "maintenance", "inspection", "repair"]
""",
    "tier2": """\
tier2 = ["system", "testing", "design"]
""",
    "path_hints": """\
# Parts of an address that suggest a page worth reading, whatever the topic: crawls pay 2 points for one of them.
path_hints = ["docs", "/api", "reference", "manual", "guide", "tutorial"]
""",
}
