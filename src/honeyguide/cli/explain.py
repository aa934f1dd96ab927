"""`honeyguide explain`: what became of a URL in a crawl, and why.

Owns: the command, its record and its sentences. Must not know: how any of it was decided.
Start reading at `explain`; the sentences are `_story`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from honeyguide import app
from honeyguide.cli.command import Command
from honeyguide.cli.ending import words_of
from honeyguide.cli.output import number, output_options, points, say, write_records
from honeyguide.cli.runs import find_run, run_option, store_option
from honeyguide.config import load_profile
from honeyguide.core.crawled import iso
from honeyguide.core.crowd import FULL, MANY
from honeyguide.core.frontier import State, digest_of
from honeyguide.core.listed import POSITION
from honeyguide.core.records import SCHEMA, Record, tidy
from honeyguide.core.scope import classify_url
from honeyguide.core.story import history_told
from honeyguide.core.url import Url
from honeyguide.core.url import explain as steps_of
from honeyguide.errors import HoneyguideError

if TYPE_CHECKING:
    from honeyguide.cli.output import Format
    from honeyguide.core.frontier import Row, Run, Sighting
    from honeyguide.core.history import Known
    from honeyguide.core.profile import Profile
    from honeyguide.ports import Frontier, Store

COLUMNS = ("url", "run", "state", "verdict.kind", "verdict.rule", "relevance_score", "lane", "priority", "depth",
           "parent", "seen", "attempts", "out.rule", "out.why", "sentences")  # fmt: skip

_NOT_MODIFIED = 304
_MOST_VISITS = 5  # that are listed one by one
# What happens to the links of a page (TOPIC-4, TOPIC-4b).
ACTIONS = {
    "seed": "it is a seed, so its links are followed",
    "exhaust": "its branch is exhausted before others",
    "expand": "its links are followed",
    "tunnel": "a weak page, so its links are followed without a bonus",
    "tunnel-end": "too many weak pages in a row lead here, so its links are not followed",
    "keep": "too little for its links to be followed",
    "duplicate": "its links are not followed",
    "soft-404": "its links are not followed",
}


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

    Without --run the newest crawl that has met the URL tells.
    """
    url = Url.parse(text if "://" in text else f"https://{text}")
    opened = app.open_store(store, create=False)
    try:
        record = _explained(text, url, opened, _chosen(url, opened, run))
    finally:
        opened.close()
    if output == "table":
        for line in record["sentences"]:
            say(line)
    else:
        write_records(output, [record], COLUMNS)


def _chosen(url: Url, store: Store, number_: int | None) -> Run:
    """Find the run to ask: the one that is named, else the newest that knows the URL, else the newest."""
    if number_ is not None:
        return find_run(store, number_)
    newest = find_run(store, None)
    for run in reversed(store.runs()):
        if store.frontier(run).known([_digest(url, run)]):
            return run
    return newest


def _profile(run: Run) -> Profile:
    """Load the profile of a run as far as it can be had by its name; scope is the same in all of ours."""
    try:
        return load_profile(run.spec.profile, topic=run.spec.topic)
    except HoneyguideError:  # a file of the user's that is no longer where it was
        return load_profile("base", topic=run.spec.topic)


def _digest(url: Url, run: Run) -> int:
    return digest_of(url, _profile(run).scope.tracking)


# --- the record ---


def _explained(text: str, url: Url, store: Store, run: Run) -> Record:
    profile, frontier, digest = _profile(run), store.frontier(run), _digest(url, run)
    found = frontier.find(digest)
    row, seen = found or (None, ())
    record: Record = {
        "schema": SCHEMA,
        "text": text,
        "url": url.text,
        "key": url.key(profile.scope.tracking),
        "steps": [
            {"rule": step.rule, "name": step.name, "before": step.before, "after": step.after}
            for step in steps_of(text if "://" in text else f"https://{text}")
            if step.changed
        ],
        "run": run.id,
        "command": run.spec.command,
        "verdict": _verdict(url, frontier, profile),
        "state": None if row is None else row.state.name.lower(),
        "relevance_score": None if row is None else tidy(row.score),
        "lane": (row.lane or None) if row else None,
        "priority": None if row is None else tidy(row.priority),
        "depth": None if row is None else row.depth,
        "parent": None if row is None else row.parent,
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
    known = store.history.get(digest)
    told = [] if known is None else _remembered(known, record, store, profile)
    return {
        **record,
        "history": None if known is None else _history(known),
        "sentences": _story(record, run, row, profile) + _overflow(row, frontier) + told,
    }


def _history(known: Known) -> Record:
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


def _remembered(known: Known, record: Record, store: Store, profile: Profile) -> list[str]:
    not_modified = sum(visit["status"] == _NOT_MODIFIED for visit in record["visits"])
    site = store.history.site(known.site)
    return history_told(known, profile, time.time(), site, not_modified)


def _verdict(url: Url, frontier: Frontier, profile: Profile) -> Record:
    """Judge the URL as a link of the crawl's first seed; every site of the crawl is inside."""
    first = next(frontier.rows(), None)
    start = url if first is None else Url.parse(first.url)
    verdict = classify_url(url, url.parse("/robots.txt", start), profile.scope, start)
    if verdict.rule == "other-site" and url.site in frontier.sites():
        verdict = classify_url(url, url.parse("/robots.txt", url), profile.scope)
    return {
        "kind": verdict.kind.value,
        "rule": verdict.rule,
        "id": verdict.id,
        "detail": verdict.detail or None,
    }


def _sighting(parent: str | None, seen: Sighting, profile: Profile) -> Record:
    is_listed = seen.position == POSITION
    return {
        "parent": parent,
        "anchor_text": None if is_listed else seen.anchor,
        "position": seen.position,
        "lastmod": (seen.anchor or None) if is_listed else None,
        "relevance_score": tidy(seen.score),
        "points": [
            _point(text, profile) for text in seen.points.split(",") if text and not text.endswith(":0")
        ],
        "lane": seen.lane or None,
    }


def _point(text: str, profile: Profile) -> Record:
    """Read `rule:points`; the words are those of the profile's card for links."""
    rule, _, paid = text.rpartition(":")
    card = profile.cards.get("link")
    words = {one.id: one.reason for group in card.card.groups for one in group.rules} if card else {}
    named = {**words, "parent-bonus": "found on a good page", "range": "a score ends at 10"}
    return {"rule": rule, "points": tidy(float(paid)), "reason": named.get(rule) or words_of(rule) or rule}


def _page(frontier: Frontier, row: Row | None) -> Record | None:
    """Find the record of the page, by its claim."""
    if row is None or row.claim is None:
        return None
    claim, record = next(frontier.pages(after=row.claim - 1), (0, None))
    return record if claim == row.claim else None


# --- the sentences ---


def _story(record: Record, run: Run, row: Row | None, profile: Profile) -> list[str]:
    told = [record["url"]]
    if record["steps"]:
        rules = ", ".join(f"{step['name']} ({step['rule']})" for step in record["steps"])
        told.append(f"It is written {record['text']}; it is read as above after: {rules}.")
    verdict = record["verdict"]
    detail = f", {verdict['detail']}" if verdict["detail"] else ""
    kind = {"inside": "inside the crawl", "outside": "outside the crawl"}.get(verdict["kind"], "no page")
    told.append(f"By its address it is {kind}: {verdict['rule']} ({verdict['id']}{detail}).")
    told.append(f"Run {run.id}: {run.spec.command or 'crawl'}")
    if row is None:
        told.append("No page of this run links it, and it is no seed: so it was never queued.")
    else:
        told += _seen_lines(record, row)
        told.append(_state_line(record, row, profile))
    told += _page_lines(record["page"])
    if record["visits"]:
        shown = record["visits"][-_MOST_VISITS:]
        times = "; ".join(f"{one['at']} in run {one['run']}: {one['status'] or 'no answer'}" for one in shown)
        earlier = len(record["visits"]) - len(shown)
        told.append(f"Fetched {f'{earlier:,} times before; ' if earlier else ''}{times}.")
    return told


def _overflow(row: Row | None, frontier: Frontier) -> list[str]:
    """Say that a URL of which nothing is known may be one of those that were too many to keep."""
    over = [] if row is not None else [rule for rule in (FULL, MANY) if frontier.counts().skipped.get(rule)]
    return (
        [f"But the crawl met more than it keeps ({', '.join(over)}): it may be one of those."] if over else []
    )


def _seen_lines(record: Record, row: Row) -> list[str]:
    """Tell who links it, and what each link scored there."""
    told = ["It is a seed."] if row.lane == "seed" else []
    if not record["sightings"]:
        return told or [f"It was reached from {row.parent}."]
    kept = len(record["sightings"])
    more = f"; the first {kept} are remembered" if row.seen > kept else ""
    told += [f"Seen {'once' if row.seen == 1 else f'{row.seen:,} times'}{more}:"]
    for one in record["sightings"]:
        if one["position"] == POSITION:
            where = "in a sitemap" + (f", last changed {one['lastmod']}" if one["lastmod"] else "")
        else:
            anchor = f'"{one["anchor_text"]}" ' if one["anchor_text"] else ""
            where = f"{anchor}in {one['position']} of {one['parent'] or 'a seed'}"
        score = "" if one["relevance_score"] is None else f", score {number(one['relevance_score'])}"
        lane = f", lane {one['lane']}" if one["lane"] and one["lane"] != "skip" else ""
        told.append(f"  {where}{score}{lane}")
        told += [f"    {points(part['points'])} {part['reason']}" for part in one["points"]]
    return told


def _state_line(record: Record, row: Row, profile: Profile) -> str:
    far = "1 link" if row.depth == 1 else f"{row.depth} links"
    place = f"lane {row.lane}, priority {number(row.priority)}, {far} from a seed"
    why = f"{row.why.rule}: {row.why.text or words_of(row.why.rule, profile)}" if row.why else ""
    match row.state:
        case State.QUEUED if row.due_at is not None:
            return f"It is queued again, not before {iso(row.due_at)} ({why or 'a visit is due'})."
        case State.QUEUED:
            return f"It is queued and was not fetched yet: {place}."
        case State.LEASED:
            return f"It is being fetched, or its process was killed: {place}."
        case State.DONE if row.why is not None:
            return f"It needed no fetch of its own: {why}."
        case State.DONE:
            return f"It was fetched as number {row.claim}: {place}."
        case State.DROPPED if record["page"] is not None:
            return f"It was asked for as number {row.claim}, and dropped by {why}."
        case _:
            return f"It was not fetched: put out by {why}."


def _page_lines(page: dict[str, Any] | None) -> list[str]:
    """Tell what the page said, and what became of its links."""
    if page is None:
        return []
    told = []
    if page["final_url"]:
        told.append(f"It redirects to {page['final_url']}.")
    if page["title"]:
        told.append(f'Its title is "{page["title"]}".')
    if page["relevance_score"] is not None:
        told.append(
            f"The page scores {number(page['relevance_score'])}; {ACTIONS.get(page['action'], page['action'])}."
        )
    told += [f"    {points(one['points'])} {one['reason']}" for one in page["reasons"]]
    return told
