"""`honeyguide diff`, `eval` and `learn`: what changed between two runs, how good picks are by labels, and what labels teach.

Owns: the commands and their tables. Must not know: how figures are made and changes chosen (`app.tools.evaluate`). Start
reading at `diff`, `eval` and `learn`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from honeyguide.app.arguments import strategy_profile
from honeyguide.app.files import name_of
from honeyguide.app.tools import evaluate
from honeyguide.app.tools.evaluate import interval, name_sites, verdict
from honeyguide.app.tools.profiles import check_profile_file, profile_text, write_profile
from honeyguide.app.tools.results import compare_picks, compare_plans, is_pick_file
from honeyguide.cli import stopping
from honeyguide.cli.command import PARTIAL, Command, option, takes
from honeyguide.cli.options import FetchOptions, check_distinct
from honeyguide.cli.output import (
    Column,
    chosen_format,
    emit,
    note,
    number,
    output_options,
    points,
    print_table,
    say,
)
from honeyguide.cli.progress import Progress
from honeyguide.core.records.command_records import PickChangeRecord, PlanChangeRecord
from honeyguide.core.records.fields import columns
from honeyguide.core.url.url import display

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from honeyguide.app.tools.evaluate import Evaluation, LearnedProfile, Totals
    from honeyguide.core.records import Record


@click.command(
    cls=Command,
    examples=(
        "honeyguide diff before.jsonl now.jsonl",
        "honeyguide diff before.jsonl now.jsonl --format csv",
    ),
)
@click.argument("earlier", metavar="A")
@click.argument("later", metavar="B")
@output_options
def diff(earlier: str, later: str) -> None:
    """Say what changed from one file of picks or plans to another, and why.

    A is the earlier file, B the later one: JSON lines of honeyguide pick, or JSON lines, CSV or Parquet of honeyguide plan.
    """
    kinds = {is_pick_file(earlier), is_pick_file(later)} - {None}
    if len(kinds) > 1:
        raise click.UsageError("One file has picks and the other a plan; give two of one kind.")
    if True not in kinds:
        changes = compare_plans(earlier, later)
        emit(changes, columns(PlanChangeRecord), lambda _: _show_changes(changes))
        return
    changes, alone = compare_picks(earlier, later)
    if alone:
        note(f"only one of the files has {name_sites(alone)}: not compared")
    emit(changes, columns(PickChangeRecord), lambda _: _show_changes(changes))


def _show_changes(changes: Sequence[Record]) -> None:
    is_plan = any("points" in change for change in changes)
    if not changes:
        say("Nothing changed.")
        return
    rows = []
    for change in changes:
        scores = [f"{number(change['score_before'])} to {number(change['score'])}"] if is_plan else []
        rows.append([change["change"], *scores, "\n  ".join([display(change["url"]), *_causes(change)])])
    scored = (Column.whole("Score"),) if is_plan else ()
    print_table((Column.whole("Change"), *scored, Column("URL and why")), rows)
    say()
    say(", ".join(f"{count:,} {kind}" for kind, count in Counter(c["change"] for c in changes).items()))


def _causes(change: Record) -> list[str]:
    """Write the sentences of a change, then the points that differ."""
    if "points" not in change:
        return [change["reason"]]
    paid = [f"{points(entry['points'])} {entry['reason']}" for entry in change["points"]]
    return [*change["reasons"][: len(change["reasons"]) - len(paid)], *paid]


# --- labels ---

_CAP = 4  # as judge_picks has it


@dataclass(frozen=True, slots=True)
class _EvalOptions:
    gold: str = option(
        "--gold PATH", "Labels: JSON lines, or a folder with a JSON file of each site.", required=True
    )
    cap: int | None = option(
        "--cap N", "Judge the first N picks.  [default: 4]", type=click.IntRange(1, 1000)
    )


@click.command(
    "eval",
    cls=Command,
    examples=("honeyguide eval now.jsonl --gold gold.jsonl",),
)
@click.argument("picks", metavar="PICKS")
@takes(options=_EvalOptions)
@output_options
def eval(picks: str, options: _EvalOptions) -> None:  # noqa: A001 - a command's name
    """Judge the picks of a run by labels of your own.

    PICKS are records of `honeyguide pick` as JSON lines, or `-` for standard input. A label is an object with `site`,
    and the lists `core`, `acceptable` and `junk` of paths or URLs. A site is good if three quarters of --cap are core or
    acceptable pages, or all such pages if it has fewer. The exit code is 3 if a labelled site has no record.
    """
    cap = _CAP if options.cap is None else options.cap
    judged = evaluate.judge_picks(picks, options.gold, cap=cap)
    if options.cap is None and judged.most > cap:
        note(f"only the first {cap} picks of a site are judged; --cap {judged.most} judges all")
    if judged.elsewhere:
        note(evaluate.elsewhere_note(judged.elsewhere))
    if judged.missing:
        note(f"{name_of(picks)} has no record of {name_sites(judged.missing)}: judged as no picks")
    if judged.unlabelled:
        note(f"{name_of(options.gold)} has no labels of {name_sites(judged.unlabelled)}: not judged")
    records = list(map(evaluate.site_record, judged.sites))
    if chosen_format() == "jsonl":
        records.append(evaluate.total_record(judged))
    emit(records, evaluate.EVAL_COLUMNS, lambda _: _show_evaluation(judged))
    if judged.missing:
        click.get_current_context().exit(PARTIAL)


def _show_evaluation(judged: Evaluation) -> None:
    counts = tuple(Column.number(name) for name in ("Picks", "Core", "Good", "Junk"))
    rows = [[s.site, *map(str, (len(s.labels), s.core, s.good, s.junk)), verdict(s)] for s in judged.sites]
    print_table((Column("Site"), *counts, Column.whole("Verdict")), rows)
    say()
    totals = judged.totals
    rows = [
        [name, *map(str, (tally.picks, tally.core, tally.good, tally.junk)), _percent(tally.precision)]
        for name, tally in (*totals.buckets.items(), ("all", totals.picks))
    ]
    print_table((Column("Bucket"), *counts, Column.number("Precision")), rows)
    say()
    for line in _total_lines(totals):
        say(line)
    if (first := judged.first_links) is not None:
        say()
        say("For comparison, the first links of each homepage:")
        for line in _total_lines(first):
            say(f"  {line}")


def _total_lines(totals: Totals) -> Iterator[str]:
    counts = totals.picks
    good = _with_interval(totals.good, totals.sites)
    yield f"{totals.good} of {totals.sites} sites good ({good}), {totals.core} by core pages alone"
    yield f"{counts.junk} junk in {counts.picks} picks ({_with_interval(counts.junk, counts.picks)})"
    picked = _with_interval(counts.core, totals.could)
    of_all = f"{_percent(totals.coverage)} of all core pages"
    yield f"{counts.core} core pages picked of {totals.could} that have a place ({picked}); {of_all}"


def _with_interval(part: int, whole: int) -> str:
    """Write a share with the interval in which it lies with 95 % probability."""
    ends = interval(part, whole)
    return "-" if ends is None else f"{part / whole:.0%}, interval {ends[0]:.0%} to {ends[1]:.0%}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


# --- learning ---


@dataclass(frozen=True, slots=True)
class _LearnOptions:
    file: str | None = option("-o --output FILE", "Write the profile to FILE, if a change is worth it.")
    force: bool = option("--force", "Overwrite the file if it exists.")
    picks: str | None = option(
        "--picks PICKS", "Records of pick for these sites, which are fetched otherwise."
    )
    strategy: str = option("--strategy NAME", "The strategy whose points change.", default="portfolio")
    profile: str | None = option(
        "--profile NAME", "Name or path of the profile.  [default: the strategy's own]"
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

    LABELS are those of `honeyguide eval --gold`, for a few dozen sites. The result extends the profile; each change stands
    beside its evidence. Figures come from held-out sites. The exit code is 3 if no change is worth it, or a labelled site has no links.
    """
    check_distinct((labels, options.picks), (options.file,))
    if options.file:
        check_profile_file(Path(options.file), force=options.force)
    gold = evaluate.labels_of(labels)
    strategy_profile(options.strategy, options.profile)  # a wrong one is an error before anything is fetched
    records = options.picks or _picked(list(gold), options, fetching)
    progress = Progress("step", total=evaluate.STEPS)
    with progress.shown(quiet=options.quiet):

        def on_fold(done: int, steps: int) -> None:
            progress.done, progress.total = done, steps
            progress.update()

        learned = evaluate.learn_from(
            gold,
            records,
            strategy=options.strategy,
            profile=options.profile,
            cap=options.cap,
            on_fold=on_fold,
        )
    found = evaluate.change_records(learned)
    if chosen_format() == "jsonl":
        found.append(evaluate.lesson_record(learned))
    emit(found, evaluate.LEARN_COLUMNS, lambda _: _show_lesson(learned))
    for line in evaluate.notes(learned):
        note(line)
    if options.file and learned.lesson.proposals:
        write_profile(Path(options.file), profile_text(learned, Path(options.file)), force=True)
        note(f"wrote {options.file}; try it with: honeyguide pick SITE --profile {options.file}")
    elif options.file:
        note(f"{options.file} is not written, because no change is worth it")
    if learned.missing or not learned.lesson.proposals:
        click.get_current_context().exit(PARTIAL)


def _picked(sites: list[str], options: _LearnOptions, fetching: FetchOptions) -> list[Record]:
    """Pick from the labelled sites, as the profile is now."""
    from honeyguide.app.pick import PickRequest, pick_sites

    records: dict[int, Record] = {}
    progress = Progress("site", total=len(sites))
    request = PickRequest(strategy=options.strategy, profile=options.profile, cap=options.cap)
    with progress.shown(quiet=options.quiet):

        def finish(place: int, record: Record) -> None:
            records[place] = record
            progress.done += 1
            progress.update()

        stopping.run(pick_sites(sites, request, fetching.policy, finish))
    return [records[place] for place in sorted(records)]


def _show_lesson(learned: LearnedProfile) -> None:
    lesson, figures = learned.lesson, evaluate.figures
    say(f"{learned.profile.name} on {learned.sites} labelled sites: {figures(lesson.before)}")
    if not lesson.proposals:
        say(f"No change is worth it: none of them helps on held-out sites ({lesson.folds} folds).")
        return
    say(f"With these changes, on held-out sites ({lesson.folds} folds): {figures(lesson.after)}")
    for proposal in lesson.proposals:
        say(f"  {evaluate.sentence(proposal, lesson.folds)}")
