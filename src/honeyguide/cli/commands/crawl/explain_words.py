"""What `honeyguide explain` says of a URL, in sentences.

Owns: the words. Must not know: where the record comes from, or how any of it was decided. What is remembered across
crawls is told by app/history.py. Start reading at `story_of`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.app.history import times
from honeyguide.cli.commands.crawl.ending import words_of
from honeyguide.cli.output import number, points
from honeyguide.core.crawl.frontier import State
from honeyguide.core.crawl.limits import FULL, MANY
from honeyguide.core.crawl.sitemap import POSITION
from honeyguide.core.records import change_of, iso

if TYPE_CHECKING:
    from honeyguide.core.crawl.frontier import FrontierRow, Run
    from honeyguide.core.records import Record
    from honeyguide.core.rules.profile import Profile
    from honeyguide.ports.store import Frontier


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


def story_of(record: Record, run: Run, row: FrontierRow | None, profile: Profile) -> list[str]:
    """Tell what a crawl knows of a URL."""
    told = [record["read_as"], *_reading_of(record)]
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
    told += _page_lines(record["page"], record["read"], profile)
    if record["visits"]:
        shown = record["visits"][-_MOST_VISITS:]
        answers = "; ".join(
            f"{one['at']} in run {one['run']}: {one['status'] or 'no page came'}" for one in shown
        )
        asked = "Fetched" if any(one["status"] for one in record["visits"]) else "Asked for"
        earlier = len(record["visits"]) - len(shown)
        told.append(f"{asked} {f'{times(earlier)} before; ' if earlier else ''}{answers}.")
    return told


def _reading_of(record: Record) -> list[str]:
    """Tell how what was written came to be that URL, and how the crawl writes it."""
    rules = ", ".join(f"{step['name']} ({step['rule']})" for step in record["steps"])
    told = [f"It is written {record['text']}; it is read as above after: {rules}."] if rules else []
    if record["url"] != record["read_as"]:
        told.append(f"The crawl knows it as {record['url']}; that is the same page (URL-7).")
    return told


def overflow_of(row: FrontierRow | None, frontier: Frontier) -> list[str]:
    """Say that a URL of which nothing is known may be one of those that were too many to keep."""
    over = [] if row is not None else [rule for rule in (FULL, MANY) if frontier.counts().skipped.get(rule)]
    return (
        [f"But the crawl met more than it keeps ({', '.join(over)}): it may be one of those."] if over else []
    )


def _seen_lines(record: Record, row: FrontierRow) -> list[str]:
    """Tell who links it, and what each link scored there."""
    told = ["It is a seed."] if row.lane == "seed" else []
    if not record["sightings"]:
        return told or [f"It was reached from {record['parent']}."]
    kept = sum(one["position"] != POSITION for one in record["sightings"])
    first = "first is" if kept == 1 else f"first {kept} are"
    seen = f"Seen {times(row.seen)}" if row.seen else "No page links it"
    told += [f"{seen}{f'; the {first} remembered' if row.seen > kept else ''}:"]
    for one in record["sightings"]:
        if one["position"] == POSITION:
            where = "in a sitemap" + (f", last changed {one['lastmod']}" if one["lastmod"] else "")
        else:
            anchor = f'"{one["anchor_text"]}" ' if one["anchor_text"] else ""
            where = f"{anchor}in {one['position']} of {one['parent'] or 'a seed'}"
        score = "" if one["relevance_score"] is None else f", score {number(one['relevance_score'])}"
        told.append(f"  {where}{score}")
        told += [f"    {_paid(part)}" for part in one["points"]]
        told += [f"    {_placed(one)}"] if one["lane"] and one["lane"] != "skip" else []
    return told


def _paid(part: Record) -> str:
    return f"{points(part['points'])} {part['reason']}"


def _placed(seen: Record) -> str:
    """Tell where a link queued: by its score, and what is paid on top of it."""
    lane = f"lane {seen['lane']}"
    if seen["relevance_score"] is None:
        return lane
    priority = seen["relevance_score"] + sum(part["points"] for part in seen["bonus"])
    more = ", ".join(map(_paid, seen["bonus"]))
    return f"{lane}, priority {number(priority)}{f': {more}' if more else ''}"


def _state_line(record: Record, row: FrontierRow, profile: Profile) -> str:
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


def _page_lines(page: Record | None, read: Record | None, profile: Profile) -> list[str]:
    """Tell what the page said when it was last read, what became of its links, and what the last visit found."""
    if page is None:
        return []
    told = [f"It was last read {read['fetched_at']}."] if read else []
    said, change = read or page, change_of(read or page)
    if said["final_url"]:
        told.append(f"It redirects to {said['final_url']}.")
    if said["title"]:
        told.append(f'Its title is "{said["title"]}".')
    if said["relevance_score"] is not None:
        told.append(
            f"The page scores {number(said['relevance_score'])}; {ACTIONS.get(said['action'], said['action'])}."
        )
    told += [f"    {_paid(one)}" for one in said["reasons"] if change is None or one["rule"] != change.rule]
    return told + _last_visit(page, profile, is_told=read is None)


def _last_visit(page: Record, profile: Profile, *, is_told: bool) -> list[str]:
    """Tell what the last visit found that was not the first; `is_told` is whether its reasons were told."""
    change = change_of(page)
    if change is not None:
        return [f"The last visit, {page['fetched_at']}: {change.text}."]
    found = [] if is_told else [one["reason"] or words_of(one["rule"], profile) for one in page["reasons"]]
    return [f"The last visit, {page['fetched_at']}: {', '.join(found)}."] if found else []
