"""What became of a URL in a crawl, and why: one record, with sentences; `describe_history` has those across runs.

Must not know: how anything was decided, terminals. Start reading at `explain_url`.
"""

from __future__ import annotations

import time
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide.app import runs
from honeyguide.app.arguments import complete_address, is_path, on_sites
from honeyguide.app.views.words import is_word, no_address
from honeyguide.core.crawl.frontier import State, digest_of
from honeyguide.core.crawl.limits import FULL, MANY
from honeyguide.core.crawl.sitemap import POSITION
from honeyguide.core.records import SCHEMA, Record, change_of, is_relevant, iso, was_read
from honeyguide.core.recrawl import signals
from honeyguide.core.recrawl.clocks import HOUR_S
from honeyguide.core.recrawl.history import UNKNOWN_SITE
from honeyguide.core.recrawl.policies import change_frequency
from honeyguide.core.recrawl.rate import chance
from honeyguide.core.recrawl.visits import clock_in, current_rate
from honeyguide.core.rules.topic import SCALES
from honeyguide.core.text.printable import amount, duration, number, percent, points, tidy
from honeyguide.core.url.scope import OTHER_SITE, classify_url
from honeyguide.core.url.url import Url
from honeyguide.core.url.url import explain as steps_of
from honeyguide.errors import InputError, shown
from honeyguide.jobs.request import IMPORT, newest_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from honeyguide.core.crawl.frontier import FrontierRow, Run, Sighting
    from honeyguide.core.recrawl.history import HistoryEntry, Site
    from honeyguide.core.rules.profile import Profile
    from honeyguide.ports.store import Ledger, Store

    Note = Callable[[str], None]

_OF_LINK = ("state", "relevance_score", "lane", "priority", "depth", "parent", "seen")
_NOT_MET: Record = {**dict.fromkeys(("url", "request_url", *_OF_LINK)), "seen": 0}
_BONUS = "parent-bonus"  # is paid to the priority of a link, not to its score (TOPIC-3)
_SOURCES = {signals.SITEMAP: "Sitemaps", signals.HEADER: "Last-Modified headers"}


def explain_url(store: str | Path, url: str, run: int | None = None, on_note: Note | None = None) -> Record:
    """Explain a URL, or a path alone, by the run of this number, else the newest that met it, else the newest of its site."""
    with runs.opened_store(store, read_only=True) as opened:
        return _explained(url, opened, _find_query(url, opened, run, on_note))


class _Query(NamedTuple):
    """A whole URL, and the run that is asked about it."""

    address: str
    url: Url
    run: Run
    profile: Profile
    ledger: Ledger
    digest: int


def _find_query(text: str, store: Store, run_number: int | None, on_note: Note | None) -> _Query:
    others: list[_Query] = []
    named = runs.find_run(store, run_number)
    for run in newest_first(store.runs.list()) if run_number is None else [named]:
        profile, ledger = runs.profile_of_run(run, on_note), store.ledger(run)
        sites = ledger.sites().union(seed.site for seed in ledger.seeds())
        for whole in on_sites(text, sites) if is_path(text) else [complete_address(text)]:
            digest = digest_of(Url.parse(whole), profile.scope.tracking)
            found = ledger.find(digest)
            is_http = found and whole != text and found[0].url.startswith("http:")  # no scheme was written
            address = f"http{whole.removeprefix('https')}" if is_http else whole
            query = _Query(address, Url.parse(address), run, profile, ledger, digest)
            if found:
                return query
            others.append(query)
    if is_path(text):
        raise InputError(f"{shown(text)} is a path that no crawl has met; give the whole address")
    inside = next((query for query in others if _verdict(query)["rule"] != OTHER_SITE), None)
    if inside is None and is_word(text):
        raise no_address(text)
    return inside or others[0]


def _explained(text: str, store: Store, query: _Query) -> Record:
    run, profile, ledger = query.run, query.profile, query.ledger
    row, seen = ledger.find(query.digest) or (None, ())
    link: Record = _NOT_MET if row is None else runs.queue_record(row)
    steps = [step for step in steps_of(query.address) if step.changed]
    visits = store.history.visits(query.digest)
    page, read = _pages(ledger, row, len(visits))
    record: dict[str, Any] = {
        "schema": SCHEMA,
        "text": text,
        "url": link["url"] or query.url.text,
        "request_url": link["request_url"],
        "key": query.url.key(profile.scope.tracking),
        "steps": [{"rule": s.rule, "name": s.name, "before": s.before, "after": s.after} for s in steps],
        "read_as": query.url.text,
        "run": run.id,
        "command": run.spec.command,
        "verdict": _verdict(query),
        **{name: link[name] for name in _OF_LINK},
        "sightings": [_sighting(parent, sighting, profile) for parent, sighting in seen],
        "attempts": 0 if row is None else row.attempts,
        "worth": row.worth.split("; ") if row and row.worth else [],
        "due_at": None if row is None or row.due_at is None else iso(row.due_at),
        "rejected": {"rule": row.why.rule, "reason": row.why.text} if row and row.why else None,
        "page": page,
        "visits": [{"run": run_number, "at": iso(at), "status": status} for run_number, at, status in visits],
        "read": read,
    }
    entry = store.history.get(query.digest)
    site = UNKNOWN_SITE if entry is None else store.history.site(entry.site)
    record["history"] = None if entry is None else _history(entry, site)
    record["sentences"] = [*_describe_url(record, query, row)]
    if entry is not None:
        not_modified = sum(status == 304 for _, _, status in visits)
        record["sentences"] += describe_history(entry, profile, time.time(), site, not_modified)
    return record


def _history(entry: HistoryEntry, site: Site) -> Record:
    return {
        "first_seen": iso(entry.first_seen),
        "seen_at": None if entry.seen_at is None else iso(entry.seen_at),
        "changed_at": None if entry.changed_at is None else iso(entry.changed_at),
        "changes": entry.changes,
        "unchanged": entry.unchanged,
        "failures": entry.failures,
        "kind": entry.kind,
        "rate": None if entry.seen is None else list(current_rate(entry, site)),
        "found": None if entry.found is None else list(entry.found),
        "lastmod": entry.lastmod,
        "moved_to": entry.arrived if entry.is_moved else None,
    }


def _verdict(query: _Query) -> Record:
    """Judge the URL as a link of the crawl's first seed; every site of the crawl is inside."""
    url, scope = query.url, query.profile.scope
    start = next(iter(query.ledger.seeds()), url)
    verdict = classify_url(url, url.parse("/robots.txt", start), scope, start)
    if verdict.rule == OTHER_SITE and scope.area(url.site) in query.ledger.sites():
        verdict = classify_url(url, url.parse("/robots.txt", url), scope)
    detail = verdict.detail or None
    return {"kind": verdict.kind.value, "rule": verdict.rule, "id": verdict.id, "detail": detail}


def _sighting(parent: str | None, seen: Sighting, profile: Profile) -> Record:
    is_listed = seen.position == POSITION
    paid = [_point(text, profile) for text in seen.points.split(",") if text and not text.endswith(":0")]
    return {
        "parent": runs.normalised(parent),
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
    words = {r.id: r.reason for group in card.card.groups for r in group.rules} if card else {}
    named = {**words, _BONUS: "found on a good page", "range": "limited to 10"}
    reason = named.get(rule) or runs.rule_words(rule) or rule
    return {"rule": rule, "points": tidy(float(paid)), "reason": reason}


def _pages(ledger: Ledger, row: FrontierRow | None, visits: int) -> tuple[Record | None, Record | None]:
    """Find the record of the last visit, and of the last visit that read the page if that is another one."""
    last = None if row is None else row.claim
    claim, page = (0, None) if last is None else next(ledger.pages(after=last - 1), (0, None))
    if last is None or page is None or claim != last:
        return None, None
    if was_read(page) or visits == 1:
        return page, None
    earlier = (record for _, record in takewhile(lambda item: item[0] < last, ledger.pages()))
    read = [record for record in earlier if record["url"] == page["url"] and was_read(record)][-1:]
    return page, read[0] if read else None


def _describe_url(record: Record, query: _Query, row: FrontierRow | None) -> Iterator[str]:
    run = query.run
    yield record["read_as"]  # studio shows this first line as the link
    if rules := ", ".join(step["name"] for step in record["steps"]):
        yield f"It is written {record['text']}; it is read as above after: {rules}."
    if record["url"] != record["read_as"]:
        yield f"The crawl knows it as {record['url']}; that is the same page."
    verdict = record["verdict"]
    detail = f" ({verdict['detail']})" if verdict["detail"] else ""
    kind = {"inside": "inside the crawl", "outside": "outside the crawl"}.get(verdict["kind"], "no page")
    yield f"By its address it is {kind}: {verdict['rule']}{detail}."
    yield f"Run {run.id}: {run.spec.command or 'crawl'}"
    if row is None:
        yield "No page of this run links it, and it is no seed: so it was never queued."
    else:
        yield from _seen_lines(record, row)
        yield _state_line(record, row, query.profile)
        yield from (f"  {said}" for said in record["worth"])
    yield from _page_lines(record["page"], record["read"], query.profile)
    if visits := record["visits"]:
        listed = visits[-5:]  # the last ones, one by one
        answers = "; ".join(f"{v['at']} in run {v['run']}: {v['status'] or 'no page came'}" for v in listed)
        verb = "Fetched" if any(visit["status"] for visit in visits) else "Requested"
        earlier = f"{times(len(visits) - len(listed))} before; " if len(visits) > len(listed) else ""
        yield f"{verb} {earlier}{answers}."
    over = [rule for rule in (FULL, MANY) if row is None and query.ledger.counts().skipped.get(rule)]
    if over:
        yield f"But the crawl met more than it keeps ({', '.join(over)}): it may be one of those."


def _seen_lines(record: Record, row: FrontierRow) -> Iterator[str]:
    sightings = record["sightings"]
    if row.lane == "seed":
        yield "It is a seed."
    elif record["command"] == IMPORT and not sightings:
        given = row.score is not None and f", with topic_relevance {number(row.score / SCALES['link'])}"
        yield f"It was imported, or reported by a program{given or ''}."
    elif not sightings:
        yield f"It was reached from {record['parent']}."
    if not sightings:
        return
    kept = sum(sighting["position"] != POSITION for sighting in sightings)
    first = "first is" if kept == 1 else f"first {kept} are"
    seen = f"Seen {times(row.seen)}" if row.seen else "No page links it"
    yield f"{seen}{f'; the {first} remembered' if row.seen > kept else ''}:"
    for sighting in sightings:
        yield f"  {_seen_where(sighting)}"
        yield from (f"    {_paid(point)}" for point in sighting["points"])
        if sighting["lane"] and sighting["lane"] != "skip":
            yield f"    {_placement(sighting)}"


def _seen_where(sighting: Record) -> str:
    if sighting["position"] == POSITION:
        where = "in a sitemap" + (f", last changed {sighting['lastmod']}" if sighting["lastmod"] else "")
    else:
        anchor = f'"{sighting["anchor_text"]}" ' if sighting["anchor_text"] else ""
        where = f"{anchor}in {sighting['position']} of {sighting['parent'] or 'a seed'}"
    has_score = sighting["relevance_score"] is not None
    return f"{where}, score {number(sighting['relevance_score'])}" if has_score else where


def _paid(point: Record) -> str:
    return f"{points(point['points'])} {point['reason']}"


def _placement(sighting: Record) -> str:
    lane = f"lane {sighting['lane']}"
    if sighting["relevance_score"] is None or sighting["lane"] == "worth":
        return ", ".join([lane, *map(_paid, sighting["bonus"])])
    priority = sighting["relevance_score"] + sum(point["points"] for point in sighting["bonus"])
    bonus = ", ".join(map(_paid, sighting["bonus"]))
    return f"{lane}, priority {number(priority)}{f': {bonus}' if bonus else ''}"


def _state_line(record: Record, row: FrontierRow, profile: Profile) -> str:
    distance = "1 link" if row.depth == 1 else f"{row.depth} links"
    word = "priority" if row.lane != "worth" else "worth" if row.worth else "chance"
    place = f"lane {row.lane}, {word} {number(row.priority)}, {distance} from a seed"
    why = f"{row.why.rule}: {row.why.text or runs.rule_words(row.why.rule, profile)}" if row.why else ""
    match row.state:
        case State.QUEUED if row.due_at is not None:
            return f"It is queued again, not before {iso(row.due_at)} ({why or 'a visit is due'})."
        case State.QUEUED if record["command"] == IMPORT:
            return f"It is queued, and no crawl of this store has fetched it: {place}."
        case State.QUEUED if any(one["run"] == record["run"] and one["status"] for one in record["visits"]):
            return f"It is queued for its next visit: {place}."
        case State.QUEUED:
            return f"It is queued and was not fetched yet: {place}."
        case State.LEASED:
            return f"It is being fetched, or its process was killed: {place}."
        case State.DONE if row.why is not None:
            return f"It needed no fetch of its own: {why}."
        case State.DONE:
            return f"It was fetched as number {row.claim}: {place}."
        case State.REJECTED if record["page"] is not None and record["page"]["status"] is not None:
            return f"It was requested as number {row.claim}, and rejected by {why}."
        case _:
            return f"It was not fetched: rejected by {why}."


def _page_lines(page: Record | None, read: Record | None, profile: Profile) -> Iterator[str]:
    if page is None:
        return
    if read:
        yield f"It was last read {read['fetched_at']}."
    last_read = read or page
    change = change_of(last_read)
    if last_read["final_url"]:
        yield f"It redirects to {last_read['final_url']}."
    if last_read["title"]:
        yield f'Its title is "{last_read["title"]}".'
    if last_read["relevance_score"] is not None:
        action = runs.ACTION_WORDS.get(last_read["action"], last_read["action"])
        yield f"The page scores {number(last_read['relevance_score'])}; {action}."
    for point in last_read["points"]:
        if change is None or point["rule"] != change.rule:
            yield f"    {_paid(point)}"
    yield from _relevance_lines(last_read)
    found = [point["reason"] or runs.rule_words(point["rule"], profile) for point in page["points"] if read]
    if last_change := change_of(page):
        found = [last_change.text]
    if found:
        yield f"The last visit, {page['fetched_at']}: {', '.join(found)}."


def _relevance_lines(read: Record) -> Iterator[str]:
    if read["topic_relevance"] is not None:
        word = "about the topic" if is_relevant(read) else "not about the topic"
        yield f"Its topic relevance is {number(read['topic_relevance'])}: it is {word}."
        yield from (f"    {_paid(point)}" for point in read["topic_points"])


def describe_history(
    entry: HistoryEntry, profile: Profile, now: float, site: Site = UNKNOWN_SITE, not_modified: int = 0
) -> list[str]:
    """Say what is known of a URL; `not_modified` is how many of its visits were answered with 304."""
    if entry.is_moved:
        return [f"It has moved to {entry.arrived}; its history continues there."]
    lines = [_visited(entry, now, not_modified)]
    if entry.changes or entry.unchanged:
        lines += _changed(entry, site, now)
    lines += filter(None, [kind_words(entry, profile)])
    if entry.found is not None and entry.found.a > 0:
        daily = amount(24.0 * entry.found.a / entry.found.b)
        lines.append(f"Visits find {daily} new {'page' if daily == '1' else 'pages'} a day there.")
    lines += _trusted(entry, site)
    if entry.failures:
        lines.append(_failed(entry))
    return lines


def ago(moment: float, now: float) -> str:
    """Say how long ago something was."""
    return f"{duration((now - moment) / HOUR_S)} ago" if now - moment >= 60.0 else "a moment ago"


def times(count: int) -> str:
    """Count visits: `once`, `twice`, `1,200 times`."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def _visited(entry: HistoryEntry, now: float, not_modified: int) -> str:
    last = ago(entry.visited_at, now)
    when = last if entry.visits == 1 else f"first {ago(entry.first_seen, now)}, last {last}"
    if entry.seen_at is None:
        return f"Requested {times(entry.visits)}, {when}; no page came."
    by_304 = f" ({not_modified:,} by 304)" if not_modified else ""
    counts = f": {entry.changes:,} changed, {entry.unchanged:,} unchanged{by_304}"
    return f"Visited {times(entry.visits)}, {when}{counts if entry.changes or entry.unchanged else ''}."


def _changed(entry: HistoryEntry, site: Site, now: float) -> Iterator[str]:
    if entry.changed_at is not None:
        yield f"It last changed {ago(entry.changed_at, now)}, as far as visits tell."
    seen_at = entry.seen_at
    if entry.seen is None or seen_at is None:
        if not entry.changes:
            yield "No visit has seen it change."
        return
    rate, clock = current_rate(entry, site), clock_in(site, entry)
    odds = f"changed with {percent(chance(rate, clock.exposure_h(seen_at, now)))} probability"
    about = f"about {change_frequency(rate, clock, now)}"
    # Without a change of its own, the rate is that of its kind, less what its quiet visits say.
    guess = f"No visit has seen it change; going by pages like it, it may change {about}"
    changes = f"It changes {about}" if entry.changes else guess
    yield f"{changes}; {odds} since the last visit {ago(seen_at, now)}."
    if entry.forgot_at is not None:
        yield f"Its latest visits contradicted the earlier ones: those were forgotten {ago(entry.forgot_at, now)}."


def _trusted(entry: HistoryEntry, site: Site) -> Iterator[str]:
    if entry.lastmod is not None:
        yield f"Its sitemap says that it last changed {entry.lastmod}."
    for source, text in {signals.SITEMAP: entry.lastmod, signals.HEADER: entry.last_modified}.items():
        trust = site.trust_in(source, entry.kind)
        claims = trust.hits + trust.alarms
        if text is not None and claims:
            right = f"right {trust.hits:,} of {claims:,} times that they said so"
            verdict = "they are believed" if trust.is_proved else "so they do not count yet"
            yield f"{_SOURCES[source]} of {entry.site} told of changes and were {right}: {verdict}."


def _failed(entry: HistoryEntry) -> str:
    dropped = signals.drop_reason(signals.state_of(entry))
    if dropped is not None:
        return f"It is visited no more: {dropped.removeprefix('dropped: ')}."
    visits = "visit was" if entry.failures == 1 else f"{entry.failures:,} visits were"
    return f"The last {visits} {f'answered with {entry.status}' if entry.status else 'without a page'}."


def kind_words(known: HistoryEntry, profile: Profile) -> str | None:
    """Explain why a page is a hub or an article, as of its last reading; None for other pages."""
    if known.kind == "article":
        return "It is an article: its address has a date."
    score = signals.hub_score(
        Url.parse(known.url), signals.LinkDensity(known.links, known.link_share), known.found, profile
    )
    if known.kind != "hub" or score is None:
        return None
    reasons = ", ".join(f"{reason.text} ({reason.points:+g})" for reason in score.reasons)
    return f"It is a hub: {reasons}; {profile.crawl.hub_points:g} points make one."
