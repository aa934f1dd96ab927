"""`honeyguide profile` and `schema`: list, show, check and start profiles; print the schema of records."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from honeyguide.app.tools import profiles
from honeyguide.app.tools.profiles import SCHEMAS, schema_text
from honeyguide.cli.command import Command, CommandGroup, option, takes
from honeyguide.cli.options import rejected_options
from honeyguide.cli.output import (
    Column,
    emit,
    note,
    output_options,
    print_table,
    say,
)
from honeyguide.core.records.command_records import ProfileCheckRecord, ProfileRecord
from honeyguide.core.records.fields import columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from honeyguide.core.records import Record


@click.group(cls=CommandGroup, examples=("honeyguide profile list", "honeyguide profile init roofers"))
def profile() -> None:
    """List, show, check and start profiles: the words and points by which pages are judged."""


@profile.command("list", examples=("honeyguide profile list",))
@output_options
def list_() -> None:
    """List the profiles that come with Honeyguide."""
    emit(profiles.list_profiles(), columns(ProfileRecord), _show_list)


def _show_list(records: Iterable[Record]) -> None:
    columns = (Column.whole("Name"), Column("Description"), Column("Strategies"), Column.whole("Hash"))
    rows = ([r["name"], r["description"], ", ".join(r["strategies"]) or "-", r["hash"]] for r in records)
    print_table(columns, rows)


@profile.command(
    examples=("honeyguide profile show fire-protection", "honeyguide profile show company --format json")
)
@click.argument("name")
@click.option(
    "--format",
    "output",
    type=click.Choice(["toml", "json"]),
    default="toml",
    show_default=True,
    help="The file itself, or the whole profile as JSON.",
)
def show(name: str, output: str) -> None:
    """Print a profile as it is written, or joined with what it extends."""
    text, replaced = profiles.show_profile(name, as_json=output == "json")
    _note_replaced(name, replaced)
    # The lines and tabs of the file stay; what a terminal would obey is escaped.
    text = "".join(char if char.isprintable() or char in "\n\t" else ascii(char)[1:-1] for char in text)
    sys.stdout.write(text.rstrip("\n") + "\n")


@profile.command(
    examples=(
        "honeyguide profile check plumbers.toml",
        "honeyguide profile check fire-protection --format csv",
    )
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@output_options
def check(files: tuple[str, ...]) -> None:
    """Check profiles: print ok and the hash, or all mistakes.

    Notes name terms that no rule uses, and inherited cards and lists that the file replaces as a whole.
    """
    checked = [profiles.check_profile(file) for file in files]
    for record, unused in checked:
        for problem in unused:
            note(f"{record['file']}: {problem}")
        _note_replaced(record["file"], record["replaced"])
    emit([record for record, _ in checked], columns(ProfileCheckRecord), _show_checked)
    if not all(record["ok"] for record, _ in checked):
        click.get_current_context().exit(1)


def _show_checked(records: Iterable[Record]) -> None:
    for record in records:
        ok = f"{record['file']}: ok {record['hash']} ({record['name']})"
        for line in [ok] if record["ok"] else record["problems"]:
            say(line)


@dataclass(frozen=True, slots=True)
class _InitOptions:
    file: str | None = option(
        "-o --output FILE", "Write to FILE; - is standard output.  [default: NAME.toml]"
    )
    extends: str = option("--extends NAME", "The profile to start from.", default="company")
    force: bool = option("--force", "Overwrite the file if it exists.")


@profile.command(
    examples=(
        "honeyguide profile init roofers",
        "honeyguide profile init roofers --extends base -o my-profile.toml --force",
    )
)
@click.argument("name")
@takes(options=_InitOptions)
def init(name: str, options: _InitOptions) -> None:
    """Write a commented profile to start from."""
    with rejected_options({"name": "NAME"}):
        text, strategies = profiles.start_profile(name, options.extends)
    if options.file == "-":
        sys.stdout.write(text)
        return
    path = Path(options.file or f"{name}.toml")
    profiles.check_profile_file(path, force=options.force)
    profiles.write_profile(path, text, force=options.force)
    note(f"wrote {path}; try it with: honeyguide {_first_try(path, strategies)}")


def _first_try(path: Path, strategies: Sequence[str]) -> str:
    if not strategies:
        return f"score link https://acme.example/docs/alarms --topic alarm --profile {path}"
    strategy = "" if "portfolio" in strategies else f" --strategy {strategies[0]}"  # the default of select
    return f"select --demo{strategy} --profile {path}"


def _note_replaced(file: str, replaced: Sequence[str]) -> None:
    """Report the cards and lists that a profile replaces as a whole: a rule or word of its parent may be missed."""
    if replaced:
        note(f"{file}: replaces as a whole what it inherits: {', '.join(replaced)}")


@click.command(cls=Command, examples=("honeyguide schema plan", "honeyguide schema signals"))
@click.argument("name", type=click.Choice(SCHEMAS))
def schema(name: str) -> None:
    """Print the JSON Schema of the records of pick, crawl or plan, or of the signals that plan reads."""
    sys.stdout.write(schema_text(name))
