"""`honeyguide profile` and `learn`: list, show, check, start and learn profiles; `schema`: print the schema of records."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from honeyguide.app.tools import profiles
from honeyguide.app.tools.profiles import SCHEMAS, schema_text
from honeyguide.cli.command import PARTIAL, Command, CommandGroup, option, takes
from honeyguide.cli.options import FetchOptions, check_distinct, rejected_options
from honeyguide.cli.output import (
    Column,
    emit,
    given_format,
    is_plain,
    note,
    output_options,
    print_table,
    say,
    usual_format,
)
from honeyguide.cli.progress import Progress
from honeyguide.core.records.answers import ProfileCheckRecord, ProfileRecord
from honeyguide.core.records.fields import columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from honeyguide.app.tools.evaluate import LearnedProfile
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


# --- learning ---


@dataclass(frozen=True, slots=True)
class _LearnOptions:
    file: str | None = option("-o --output FILE", "Write the profile to FILE, if a change is worth it.")
    force: bool = option("--force", "Overwrite the file if it exists.")
    picks: str | None = option(
        "--picks PICKS", "Records of pick for these sites; without them the sites are fetched."
    )
    strategy: str = option("--strategy NAME", "The strategy whose points change.", default="portfolio")
    profile: str | None = option(
        "--profile NAME", "Name or path of the profile to change.  [default: the strategy's own]"
    )
    cap: int | None = option(
        "--cap N", "Judge the first N picks.  [default: the profile's, 4]", type=click.IntRange(1, 1000)
    )
    quiet: bool = option("-q --quiet", "Print no progress.")


@click.command(
    cls=Command,
    examples=(
        "honeyguide learn labels.jsonl -o my.toml",
        "honeyguide learn labels.jsonl --picks picks.jsonl -o my.toml --force",
    ),
)
@click.argument("labels", metavar="LABELS")
@takes(options=_LearnOptions, fetching=FetchOptions)
@output_options
def learn(labels: str, options: _LearnOptions, fetching: FetchOptions) -> None:
    """Propose other points and words for a profile, from pages that you labelled.

    LABELS are those of `honeyguide eval --gold`: JSON lines with `site`, and the lists `core` (wanted), `acceptable` and `junk`
    of paths or URLs; a few dozen sites. The result extends the profile: each change is a line with the pages that
    ask for it. What it gains is judged on sites that it was not learned from. The exit code is 3 if a labelled site has no links.
    """
    from honeyguide.app.tools import evaluate as learning  # not for those who list profiles

    check_distinct((labels, options.picks), (options.file,))
    if options.file and not options.force and Path(options.file).exists():
        raise click.UsageError(
            f"{options.file} exists already; choose another name, or overwrite it with --force."
        )
    gold = learning.labels_of(labels)
    learning.check_strategy(options.strategy, options.profile)
    records = options.picks or _picked(list(gold), options, fetching)
    progress = Progress("step", total=learning.STEPS)
    with progress.shown(quiet=options.quiet, no_color=is_plain()):

        def on_fold(done: int, steps: int) -> None:
            progress.done, progress.total = done, steps
            progress.update()

        learned = learning.learn_from(
            gold,
            records,
            strategy=options.strategy,
            profile=options.profile,
            cap=options.cap,
            on_fold=on_fold,
        )
    found = learning.change_records(learned)
    if (given_format() or usual_format()) == "jsonl":
        found.append(learning.lesson_record(learned))
    emit(found, learning.LEARN_COLUMNS, lambda _: _show_lesson(learned))
    for line in learning.notes(learned):
        note(line)
    if options.file and learned.lesson.proposals:
        profiles.write_profile(
            Path(options.file), profiles.profile_text(learned, Path(options.file)), force=True
        )
        note(f"wrote {options.file}; try it with: honeyguide pick SITE --profile {options.file}")
    elif options.file:
        note(f"{options.file} is not written, because no change is worth it")
    if learned.missing:
        click.get_current_context().exit(PARTIAL)


def _picked(sites: list[str], options: _LearnOptions, fetching: FetchOptions) -> list[Record]:
    """Pick from the labelled sites, as the profile is now."""
    from honeyguide.app.pick import PickRequest, pick_sites

    records: dict[int, Record] = {}
    progress = Progress("site", total=len(sites))
    request = PickRequest(strategy=options.strategy, profile=options.profile, cap=options.cap)
    with progress.shown(quiet=options.quiet, no_color=is_plain()):

        def finish(place: int, record: Record) -> None:
            records[place] = record
            progress.done += 1
            progress.update()

        asyncio.run(pick_sites(sites, request, fetching.policy, finish))
    return [records[place] for place in sorted(records)]


def _show_lesson(learned: LearnedProfile) -> None:
    for line in _lesson_lines(learned):
        say(line)


def _lesson_lines(learned: LearnedProfile) -> Iterator[str]:
    from honeyguide.app.tools.evaluate import figures, sentence

    lesson = learned.lesson
    yield f"{learned.profile.name} on {learned.sites} labelled sites: {figures(lesson.before)}"
    if not lesson.proposals:
        yield f"No change is worth it: none of them helps on held-out sites ({lesson.folds} folds)."
        return
    yield f"With these changes, on held-out sites ({lesson.folds} folds): {figures(lesson.after)}"
    for proposal in lesson.proposals:
        yield f"  {sentence(proposal, lesson.folds)}"


@click.command(cls=Command, examples=("honeyguide schema plan", "honeyguide schema signals"))
@click.argument("name", type=click.Choice(SCHEMAS))
def schema(name: str) -> None:
    """Print the JSON Schema of the records of pick, crawl or plan, or of the signals that plan reads."""
    sys.stdout.write(schema_text(name))
