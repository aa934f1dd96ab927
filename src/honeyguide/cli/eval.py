"""`honeyguide eval`: how good picks are, by labels of one's own, and what changed between two runs.

Owns: the command, its records, and reading picks and gold files. Must not know: how the figures are made
(`core.evaluate`). Start reading at `eval`. Picks are read one record at a time: only what is judged is kept.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from honeyguide.adapters.rows.rowfiles import json_object
from honeyguide.cli.command import PARTIAL, Command
from honeyguide.cli.files import STDIN, name_of, opened, read_text
from honeyguide.cli.output import Column, note, output_options, print_table, say, write_records
from honeyguide.core.evaluate import (
    CORE,
    JUNK,
    LABELS,
    Gold,
    Picked,
    Seen,
    compare_sites,
    judge_site,
    match_sites,
    page_name,
    share,
    site_key,
    total,
)
from honeyguide.core.records import SCHEMA
from honeyguide.errors import InputError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.cli.output import Format
    from honeyguide.core.evaluate import Change, Judged, Tally, Totals
    from honeyguide.core.records import Record

    Changes = dict[str, list[Change]]

MAX_RECORD_BYTES = 64_000_000  # a site with 20,000 links and the content of its pages has less
MAX_NAME = 200  # characters of what was asked for but is no site
NAMED_AT_MOST = 10  # sites in a note
COLUMNS = (
    "schema", "kind", "site", "verdict", "picks", "core", "good", "junk", "core_pages", "labels", "has_record",
    "entered", "left", "moved",
)  # fmt: skip


@click.command(
    "eval",
    cls=Command,
    examples=(
        "honeyguide eval now.jsonl --gold gold.jsonl",
        "honeyguide eval now.jsonl --gold gold.jsonl --compare before.jsonl --format csv",
    ),
)
@click.argument("picks", metavar="PICKS")
@click.option(
    "--gold",
    required=True,
    metavar="PATH",
    help="Labels: JSON lines, or a folder with one JSON file for each site.",
)
@click.option(
    "--compare", metavar="PICKS", help="Another run: say which picks entered, left or moved, and why."
)
@click.option(
    "--cap",
    type=click.IntRange(1, 1000),
    default=4,
    show_default=True,
    metavar="N",
    help="Judge the first N picks.",
)
@output_options
def eval(picks: str, gold: str, compare: str | None, cap: int, output: Format) -> None:  # noqa: A001 - a command's name
    """Judge the picks of a run by labels of your own.

    PICKS are records of `honeyguide pick` as JSON lines, or `-` for standard input. A label is an object with `site`,
    and the lists `core`, `acceptable` and `junk` of paths or URLs. A site is good if three quarters of --cap are core or
    acceptable pages, or all of them where it has fewer. The exit code is 3 if a labelled site has no record.
    """
    labels = read_gold(gold)
    before = None if compare is None else read_picks(compare, keep_others=True)
    now = read_picks(picks, keep_others=before is not None)
    matched = match_sites(labels, now)
    if not matched:
        raise InputError(
            f"has no record of a labelled site: it has {_named(list(now))}, labelled are {_named(list(labels))}; "
            "host and port must be the same",
            file=name_of(picks),
        )
    names = {picked.site: site for site, picked in matched.items()}
    _check(
        [site for site in labels if site not in matched],
        [site for site in now if site not in names],
        picks,
        gold,
    )
    judged = [judge_site(one, matched.get(site), cap) for site, one in labels.items()]
    changes = (
        None if before is None else {names.get(site, site): found for site, found in _changes(now, before)}
    )
    if output == "table":
        _show(judged, changes)
    else:
        _write(output, judged, changes)
    if not all(site.has_record for site in judged):
        click.get_current_context().exit(PARTIAL)


# --- reading ----------------------------------------------------------------------------------------------------


def read_gold(path: str) -> dict[str, Gold]:
    """Read labels, by site."""
    found: dict[str, Gold] = {}
    for where, row in _gold_rows(path):
        site = _site(row, where)
        if site in found:
            raise InputError(f"labels {site} a second time; keep one of them", file=where)
        found[site] = Gold(site, _labels(row, where))
    if not found:
        raise InputError(
            "has no labels; write one object with site, core, acceptable, junk for each site", file=path
        )
    return found


def _gold_rows(path: str) -> Iterator[tuple[str, Record]]:
    if path == STDIN or not Path(path).is_dir():
        yield from _rows(path)
        return
    for file in sorted(Path(path).glob("*.json")):
        text = read_text(str(file))
        yield str(file), json_object(text, str(file), is_line=False)


def _labels(row: Record, where: str) -> dict[str, str]:
    """Read the labels of a site; a page is junk or not, never both."""
    found: dict[str, str] = {}
    for label in LABELS:
        pages = row.get(label, None if label == CORE else [])
        if not isinstance(pages, list) or not all(isinstance(page, str) and page for page in pages):
            raise InputError("should be a list of paths or URLs", file=where, field=label)
        for page in pages:
            if label == JUNK and page_name(page) in found:
                raise InputError(
                    f"{shown(page)} is {found[page_name(page)]} too; keep one of them", file=where, field=JUNK
                )
            found.setdefault(page_name(page), label)
    return found


def read_picks(path: str, *, keep_others: bool) -> dict[str, Picked]:
    """Read the records of a run, by the site that was asked for."""
    found: dict[str, Picked] = {}
    for where, row in _rows(path):
        site, homepage = _key(_asked(row, where)), row.get("homepage")
        if site in found:
            raise InputError(f"is a second record of {site}; keep one of them", file=where)
        selected = _pages(row, "selected", where)
        others = (
            [page for page in _pages(row, "candidates", where) if page.rank is None] if keep_others else []
        )
        status = str(row.get("status") or "ok")
        arrived = _key(homepage) if isinstance(homepage, str) else None
        found[site] = Picked(site, tuple(selected), tuple(others), status, arrived)
    return found


def _pages(row: Record, name: str, where: str) -> list[Seen]:
    pages = row.get(name, [])
    if not isinstance(pages, list) or not all(
        isinstance(page, dict) and isinstance(page.get("url"), str) for page in pages
    ):
        raise InputError(
            "should be a list of objects with a url, as honeyguide pick writes them", file=where, field=name
        )
    return [_seen(page, place if name == "selected" else None) for place, page in enumerate(pages, 1)]


def _seen(page: Record, place: int | None) -> Seen:
    out, score, rank = page.get("out"), page.get("score"), page.get("rank")
    known = isinstance(score, int | float) and math.isfinite(score)
    return Seen(
        url=page["url"],
        rank=rank if isinstance(rank, int) else place,
        score=score if known else None,
        bucket=str(page["bucket"]) if page.get("bucket") else None,
        out=f"{out.get('rule')}, {out.get('why')}" if isinstance(out, dict) else None,
    )


def _rows(path: str) -> Iterator[tuple[str, Record]]:
    """Read JSON lines whose records may be large; each comes with the words that name its place."""
    with opened(path) as file:
        line = 0
        while data := file.readline(MAX_RECORD_BYTES + 1):
            line += 1
            where = f"{name_of(path)} line {line}"
            if len(data) > MAX_RECORD_BYTES:
                raise InputError(f"is longer than {MAX_RECORD_BYTES / 1e6:g} MB", file=where)
            try:
                text = data.decode("utf-8-sig" if line == 1 else "utf-8")
            except UnicodeDecodeError:
                raise InputError("is not UTF-8; save the file as UTF-8", file=where) from None
            if text.strip():
                yield where, json_object(text, where)


def _site(row: Record, where: str) -> str:
    """Read the site of labels, which must be one."""
    site = _asked(row, where)
    try:
        return site_key(site)
    except UrlError as error:
        raise InputError(f"is no site: {shown(site)}: {error.why}", file=where, field="site") from None


def _asked(row: Record, where: str) -> str:
    site = row.get("site")
    if not isinstance(site, str) or not site.strip():
        raise InputError("is missing: the address that was asked for", file=where, field="site")
    return site.strip()


def _key(text: str) -> str:
    """Name the site of a record; what was asked for may be no address, and then stands for itself."""
    try:
        return site_key(text)
    except UrlError:
        return text[:MAX_NAME]


def _check(without_record: list[str], without_gold: list[str], picks: str, gold: str) -> None:
    """Say which sites cannot be judged."""
    if without_record:
        note(f"{name_of(picks)} has no record of {_named(without_record)}: judged as no picks")
    if without_gold:
        note(f"{name_of(gold)} has no labels of {_named(without_gold)}: not judged")


def _named(sites: list[str]) -> str:
    more = len(sites) - NAMED_AT_MOST
    return (
        ", ".join(sites[:NAMED_AT_MOST]) + (f" and {more} more" if more > 0 else "") if sites else "no site"
    )


def _changes(now: dict[str, Picked], before: dict[str, Picked]) -> Iterator[tuple[str, list[Change]]]:
    """Compare the sites that both runs have; the others are named."""
    for ours, theirs, run in ((now, before, "this run"), (before, now, "the other run")):
        only = [site for site in ours if site not in theirs]
        if only:
            note(f"only {run} has {_named(only)}: not compared")
    pairs = ((site, compare_sites(picked, before[site])) for site, picked in now.items() if site in before)
    return ((site, changes) for site, changes in pairs if changes)


# --- data -------------------------------------------------------------------------------------------------------


def _write(output: Format, judged: list[Judged], changes: Changes | None) -> None:
    """Write a record for each site; JSON lines end with one for the whole run."""
    records = [_record(site.site, site, changes) for site in judged]
    known = {site.site for site in judged}
    records += [_record(site, None, changes) for site in changes or {} if site not in known]
    if output == "jsonl":
        records.append(_total_record(total(judged)))
    write_records(output, records, COLUMNS)


def _record(site: str, judged: Judged | None, changes: Changes | None) -> Record:
    """Write a site; without labels its figures are not known, without another run its changes are not."""
    figures = dict.fromkeys(COLUMNS[3:-3])
    if judged is not None:
        figures |= {
            "verdict": _verdict(judged), "picks": len(judged.labels), "core": judged.core, "good": judged.good,
            "junk": judged.junk, "core_pages": judged.core_pages, "labels": [label or "unlabelled" for label in judged.labels],
            "has_record": judged.has_record,
        }  # fmt: skip
    found = None if changes is None else changes.get(site, [])
    kinds = {
        kind: None if found is None else [_change(c) for c in found if c.kind == kind]
        for kind in COLUMNS[-3:]
    }
    return {"schema": SCHEMA, "kind": "site", "site": site, **figures, **kinds}


def _change(change: Change) -> Record:
    return {"url": change.url, "why": change.why}


def _total_record(totals: Totals) -> Record:
    buckets = [{"bucket": name, **_tally(tally)} for name, tally in totals.buckets.items()]
    figures = {
        "sites": totals.sites,
        "good_sites": totals.good,
        "core_sites": totals.core,
        **_tally(totals.picks),
    }
    return {
        "schema": SCHEMA,
        "kind": "total",
        **figures,
        "coverage": _rounded(totals.coverage),
        "buckets": buckets,
    }


def _tally(tally: Tally) -> Record:
    return {**asdict(tally), "precision": _rounded(tally.precision)}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _verdict(judged: Judged) -> str:
    """Say it in a word; capitals, so that it is seen without colour."""
    return ("ok" if judged.ok else "BAD") if judged.has_record else "BAD, no record"


# --- people -----------------------------------------------------------------------------------------------------


def _show(judged: list[Judged], changes: Changes | None) -> None:
    """Print sites, buckets and totals, then what changed."""
    counts = tuple(Column(name, right=True, keep=True) for name in ("Picks", "Core", "Good", "Junk"))
    rows = [[s.site, *map(str, (len(s.labels), s.core, s.good, s.junk)), _verdict(s)] for s in judged]
    print_table((Column("Site"), *counts, Column("Verdict", keep=True)), rows)
    say()
    totals = total(judged)
    rows = [[name, *_cells(tally)] for name, tally in (*totals.buckets.items(), ("all", totals.picks))]
    print_table((Column("Bucket"), *counts, Column("Precision", right=True, keep=True)), rows)
    say()
    say(
        f"{totals.good} of {totals.sites} sites good ({_percent(share(totals.good, totals.sites))}), {totals.core} by core pages alone"
    )
    say(
        f"{totals.picks.junk} junk in {totals.picks.picks} picks; {_percent(totals.coverage)} of the core pages were picked"
    )
    if changes is not None:
        _show_changes(changes)


def _cells(tally: Tally) -> list[str]:
    return [*map(str, (tally.picks, tally.core, tally.good, tally.junk)), _percent(tally.precision)]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def _show_changes(changes: Changes) -> None:
    say()
    if not changes:
        say("No picks changed.")
        return
    say(f"Picks changed on {len(changes)} {'site' if len(changes) == 1 else 'sites'}:")
    say()
    rows = [[site, c.kind, f"{c.url}\n  {c.why}"] for site, found in changes.items() for c in found]
    print_table((Column("Site"), Column("Page", keep=True), Column("and why")), rows)
