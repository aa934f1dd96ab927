"""`honeyguide explain`: what became of a URL in a crawl, and why.

Owns: the command and its record; the sentences are in explain_words.py. Must not know: how any of it was decided.
Start reading at `explain`.
"""

from __future__ import annotations

import re
import time
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

import click

from honeyguide import app
from honeyguide.app.history import describe_history
from honeyguide.cli.command import Command
from honeyguide.cli.commands.crawl.ending import words_of
from honeyguide.cli.commands.crawl.explain_words import overflow_of, story_of
from honeyguide.cli.commands.crawl.runs import find_run, run_option, store_option
from honeyguide.cli.options import is_path, on_sites
from honeyguide.cli.output import normalised, note, output_options, say, write_records
from honeyguide.core.crawl.frontier import digest_of
from honeyguide.core.crawl.sitemap import POSITION
from honeyguide.core.records import SCHEMA, Record, complete, iso, was_read
from honeyguide.core.text.printable import tidy
from honeyguide.core.url.scope import OTHER_SITE, classify_url
from honeyguide.core.url.steps import scheme_of, trim
from honeyguide.core.url.url import Url
from honeyguide.core.url.url import explain as steps_of
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from honeyguide.cli.output import Format
    from honeyguide.core.crawl.frontier import FrontierRow, Run, Sighting
    from honeyguide.core.recrawl.history import HistoryEntry
    from honeyguide.core.rules.profile import Profile
    from honeyguide.ports.store import Frontier, Store


COLUMNS = ("schema", "url", "run", "state", "verdict.kind", "verdict.rule", "relevance_score", "lane", "priority", "depth",
           "parent", "seen", "attempts", "out.rule", "out.why")  # fmt: skip


_NOT_MODIFIED = 304
_PORT = re.compile(r"[0-9]{1,5}(?:[/?#]|$)")
_BONUS = "parent-bonus"  # is paid to the priority of a link, not to its score (TOPIC-3)


@click.command(
    cls=Command,
    examples=(
        "honeyguide explain https://docs.example.org/library/asyncio.html",
        "honeyguide explain https://docs.example.org/about --run 1 --format jsonl",
    ),
)
@click.argument("text", metavar="URL")
@store_option
@run_option
@output_options
def explain(text: str, store: str, run: int | None, output: Format) -> None:
    """Say what became of a URL in a crawl, and why: how it reads, who links it, what it scored, when it was fetched.

    URL may be a path alone, as crawl prints it. Without --run the newest crawl that has met the URL tells; if none has,
    the newest whose site it is.
    """
    opened = app.open_store(store, read_only=True)
    try:
        record = _explained(text, opened, _chosen(text, opened, run))
    finally:
        opened.close()
    if output == "table":
        for line in record["sentences"]:
            say(line)
    else:
        write_records(output, [record], COLUMNS)


# --- who is asked ---


class _Asked(NamedTuple):
    """A URL, as it is written in full, and the run that is asked about it."""

    address: str
    url: Url
    run: Run
    profile: Profile

    @property
    def digest(self) -> int:
        return digest_of(self.url, self.profile.scope.tracking)


def _chosen(text: str, store: Store, number_: int | None) -> _Asked:
    """Find the run to ask: the one that is named, else the newest that knows the URL, else the newest whose site it is."""
    named = find_run(store, number_)
    runs = [named] if number_ is not None else reversed(store.runs())
    others: list[_Asked] = []
    for run in runs:
        profile, frontier = app.profile_of_run(run, note), store.frontier(run)
        for address in _addresses(text, frontier):
            asked = _Asked(address, Url.parse(address), run, profile)
            if found := frontier.find(asked.digest):
                return asked if address == text else _as_met(asked, found[0])
            others.append(asked)
    if is_path(text):
        raise InputError(f"{shown(text)} is a path that no crawl has met; give the whole address")
    inside = (one for one in others if _verdict(one, store.frontier(one.run))["rule"] != OTHER_SITE)
    return next(inside, others[0])


def _as_met(asked: _Asked, row: FrontierRow) -> _Asked:
    """Take the scheme that the crawl has met, where none was written."""
    scheme = "http" if row.url.startswith("http:") else "https"
    address = f"{scheme}{asked.address.removeprefix('https')}"
    return asked._replace(address=address, url=Url.parse(address))


def _addresses(text: str, frontier: Frontier) -> list[str]:
    """Complete what is written: a path on each site of the crawl, a host by `https://`."""
    return on_sites(text, frontier.sites()) if is_path(text) else [_address(text)]


def _address(text: str) -> str:
    """Complete a host that is written without `https://`; what follows its colon, if it has one, is a port.

    >>> _address("localhost:8000/a"), _address("mailto:a@b.example")
    ('https://localhost:8000/a', 'mailto:a@b.example')
    """
    trimmed = trim(text)
    scheme = scheme_of(trimmed)
    return text if scheme and not _PORT.match(trimmed, len(scheme) + 1) else f"https://{text}"


# --- the record ---


def _explained(text: str, store: Store, asked: _Asked) -> Record:
    run, profile, frontier, digest = asked.run, asked.profile, store.frontier(asked.run), asked.digest
    found = frontier.find(digest)
    row, seen = found or (None, ())
    record: Record = {
        "schema": SCHEMA,
        "text": text,
        "url": asked.url.text if row is None else normalised(row.url),
        "as_linked": None if row is None else row.url,
        "key": asked.url.key(profile.scope.tracking),
        "steps": [
            {"rule": step.rule, "name": step.name, "before": step.before, "after": step.after}
            for step in steps_of(asked.address)
            if step.changed
        ],
        "read_as": asked.url.text,
        "run": run.id,
        "command": run.spec.command,
        "verdict": _verdict(asked, frontier),
        "state": None if row is None else row.state.name.lower(),
        "relevance_score": None if row is None else tidy(row.score),
        "lane": (row.lane or None) if row else None,
        "priority": None if row is None else tidy(row.priority),
        "depth": None if row is None else row.depth,
        "parent": None if row is None else normalised(row.parent),
        "seen": 0 if row is None else row.seen,
        "sightings": [_sighting(parent, one, profile) for parent, one in seen],
        "attempts": 0 if row is None else row.attempts,
        "due_at": None if row is None or row.due_at is None else iso(row.due_at),
        "out": {"rule": row.why.rule, "why": row.why.text} if row and row.why else None,
        "page": _page(frontier, row),
        "visits": [
            {"run": number_, "at": iso(at), "status": status}
            for number_, at, status in store.history.visits(digest)
        ],
    }
    record["read"] = _last_read(frontier, row, record)
    known = store.history.get(digest)
    told = [] if known is None else _remembered(known, record, store, profile)
    return {
        **record,
        "history": None if known is None else _history(known),
        "sentences": story_of(record, run, row, profile) + overflow_of(row, frontier) + told,
    }


def _history(known: HistoryEntry) -> Record:
    """Write what is remembered across runs."""
    return {
        "first_seen": iso(known.first_seen),
        "seen_at": None if known.seen_at is None else iso(known.seen_at),
        "changed_at": None if known.changed_at is None else iso(known.changed_at),
        "changes": known.changes,
        "unchanged": known.unchanged,
        "failures": known.failures,
        "kind": known.kind,
        "rate": None if known.rate is None else list(known.rate),
        "found": None if known.found is None else list(known.found),
        "lastmod": known.lastmod,
        "moved_to": known.arrived if known.is_moved else None,
    }


def _remembered(known: HistoryEntry, record: Record, store: Store, profile: Profile) -> list[str]:
    not_modified = sum(visit["status"] == _NOT_MODIFIED for visit in record["visits"])
    site = store.history.site(known.site)
    return describe_history(known, profile, time.time(), site, not_modified)


def _verdict(asked: _Asked, frontier: Frontier) -> Record:
    """Judge the URL as a link of the crawl's first seed; every site of the crawl is inside."""
    url, scope = asked.url, asked.profile.scope
    start = next(iter(frontier.seeds()), url)
    verdict = classify_url(url, url.parse("/robots.txt", start), scope, start)
    if verdict.rule == OTHER_SITE and url.site in frontier.sites():
        verdict = classify_url(url, url.parse("/robots.txt", url), scope)
    return {
        "kind": verdict.kind.value,
        "rule": verdict.rule,
        "id": verdict.id,
        "detail": verdict.detail or None,
    }


def _sighting(parent: str | None, seen: Sighting, profile: Profile) -> Record:
    is_listed = seen.position == POSITION
    paid = [_point(text, profile) for text in seen.points.split(",") if text and not text.endswith(":0")]
    return {
        "parent": normalised(parent),
        "anchor_text": None if is_listed else seen.anchor,
        "position": seen.position,
        "lastmod": (seen.anchor or None) if is_listed else None,
        "relevance_score": tidy(seen.score),
        "points": [point for point in paid if point["rule"] != _BONUS],
        "bonus": [point for point in paid if point["rule"] == _BONUS],
        "lane": seen.lane or None,
    }


def _point(text: str, profile: Profile) -> Record:
    """Read `rule:points`; the words are those of the profile's card for links."""
    rule, _, paid = text.rpartition(":")
    card = profile.cards.get("link")
    words = {one.id: one.reason for group in card.card.groups for one in group.rules} if card else {}
    named = {**words, _BONUS: "found on a good page", "range": "a score ends at 10"}
    return {"rule": rule, "points": tidy(float(paid)), "reason": named.get(rule) or words_of(rule) or rule}


def _page(frontier: Frontier, row: FrontierRow | None) -> Record | None:
    """Find the record of the page, by its claim."""
    if row is None or row.claim is None:
        return None
    claim, record = next(frontier.pages(after=row.claim - 1), (0, None))
    return complete(record) if record is not None and claim == row.claim else None


def _last_read(frontier: Frontier, row: FrontierRow | None, record: Record) -> Record | None:
    """Find the record of the last visit that read the page, where that is not the last visit of all."""
    page = record["page"]
    if row is None or row.claim is None or page is None or was_read(page) or len(record["visits"]) == 1:
        return None
    last = row.claim
    earlier = takewhile(lambda item: item[0] < last, frontier.pages())
    read = None
    for _, one in earlier:
        read = one if one["url"] == page["url"] and was_read(one) else read
    return None if read is None else complete(read)
