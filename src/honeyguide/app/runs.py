"""The runs of a store: finding one, resuming it, the records of what it found, and the words for its rules.

Must not know: arguments, terminals, file formats. Start reading at `find_run`, then `export_run`.
"""

from __future__ import annotations

import os
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from honeyguide.app.files import is_database
from honeyguide.config import load_profile
from honeyguide.core.crawl.frontier import PASSING_RULES
from honeyguide.core.crawl.limits import FULL, MANY
from honeyguide.core.records import SCHEMA, iso
from honeyguide.core.records.fields import ExternalRecord, RejectedRecord, fields
from honeyguide.core.text.printable import tidy
from honeyguide.core.url import scope
from honeyguide.core.url.scope import OTHER_SITE
from honeyguide.core.url.url import Url
from honeyguide.errors import AddressRefusedError, HoneyguideError, InputError, StoreError, UrlError, shown
from honeyguide.jobs.request import CrawlRequest, latest_runs, newest_first, resumed_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from honeyguide.adapters.store.postgres.store import PostgresStore
    from honeyguide.adapters.store.sqlite.store import SqliteStore
    from honeyguide.core.crawl.frontier import Counts, FrontierRow, Run
    from honeyguide.core.records import Record
    from honeyguide.core.records.fields import QueueRecord, RunRecord, WorkerRecord
    from honeyguide.core.rules.profile import Profile
    from honeyguide.ports.store import Ledger, Store, WorkerState

# Rules of the crawl itself; a rule of the profile has its own reason.
RULE_WORDS = {
    **scope.RULE_WORDS,
    "include": "does not match --include",
    "exclude": "matches --exclude",
    "irrelevant": "its link scores too little",
    "pruned": "found on a page that scores too little",
    "tunnel-end": "too many weak pages in a row lead there",
    "max-depth": "farther than --max-depth",
    "redirect-outside": "redirects to another site",
    "forbidden": "robots.txt disallows it",
    "declined": "the program that fetches pages declined it",
    "address-refused": "a private address, or a port that is not the web's",
    "unreachable": "no connection",
    "name-not-found": "the name does not resolve",
    "asked-to-wait": "its host asks for a pause",
    "timed-out": "too slow",
    "too-large": "larger than is read",
    "not-text": "not a text document",
    FULL: "its host has more URLs than a crawl keeps",
    MANY: "there are more hosts than a crawl keeps",
    "TRAP-1": "a trap: longer than a URL should be",
    "TRAP-2": "a trap: deeper than a path should be",
    "TRAP-3": "a trap: its path goes in circles",
    "TRAP-4": "a trap: one page under many sessions",
    "TRAP-5": "a trap: dates without end",
    "TRAP-6": "a trap: combinations of filters",
    "TRAP-7": "a trap: pages that are all alike",
    "nofollow": "asks robots not to follow it, or not to follow its links",
    "noindex": "asks not to be shown: fetched, and not written",
    "TRAP-8": "a page that says itself that it is not there",
    "TRAP-9": "a page with the same content as another",
}

NO_PAGES = "Links that are no pages"
# What happens to the links of a page (TOPIC-4, TOPIC-4b).
ACTION_WORDS = {
    "seed": "it is a seed, so its links are followed",
    "exhaust": "its branch is exhausted before others",
    "expand": "its links are followed",
    "tunnel": "a weak page, so its links are followed without a bonus",
    "tunnel-end": "too many weak pages in a row lead here, so its links are not followed",
    "keep": "too little for its links to be followed",
    "duplicate": "its links are not followed",
    "soft-404": "its links are not followed",
    "nofollow": "its links are not followed, as it asks",
}


def rule_words(rule: str, profile: Profile | None = None) -> str:
    """Say what a rule means; a rule of the profile says it itself."""
    if rule in RULE_WORDS:
        return RULE_WORDS[rule]
    if rule.startswith("http-"):
        return f"answered {rule.removeprefix('http-')}"
    return next((skip.reason for skip in profile.skips.rules if skip.id == rule), "") if profile else ""


# --- stores and runs ---


def open_store(
    path: str | Path, *, create: bool = True, read_only: bool = False
) -> SqliteStore | PostgresStore:
    """Open a store, or create it unless `create` is false; with `read_only` nothing is ever written."""
    if is_database(path):
        from honeyguide.adapters.store.postgres.store import PostgresStore

        return PostgresStore(str(path), create=create, read_only=read_only)
    from honeyguide.adapters.store.sqlite.store import SqliteStore  # sqlite3 is for those who crawl

    if "\0" in str(path):
        raise StoreError(str(path), "is not a usable path")
    if str(path) == ":memory:":
        raise StoreError(str(path), "would keep nothing, and a store lasts: name a file")
    if read_only or not create:
        _check_there(path)
    return SqliteStore(path, read_only=read_only)


def _check_there(path: str | Path) -> None:
    try:
        os.stat(path)  # noqa: PTH116 - a hostile path may be no Path
    except PermissionError:
        what = "cannot be read: this user may not look into its folder; change the rights of the folder, or the user"
        raise StoreError(str(path), what) from None
    except (OSError, ValueError):
        what = "no such store; create one with honeyguide crawl, or pass --store FILE"
        raise StoreError(str(path), what) from None


@contextmanager
def opened_store(
    path: Store | str | Path, *, create: bool = True, read_only: bool = False
) -> Iterator[Store]:
    """Open a store, and close it; one that is open stays so."""
    if not isinstance(path, (str, Path)):
        yield path
        return
    store = open_store(path, create=create, read_only=read_only)
    try:
        yield store
    finally:
        store.close()


def due_runs(store: Store) -> list[Run]:
    """Give the runs that have something scheduled, oldest first; a restarted run hides its predecessors."""
    return [run for run in reversed(latest_runs(store.runs.list())) if store.ledger(run).counts().due]


def reopen_refused(store: Store, runs: Iterable[Run]) -> None:
    """Queue what was refused for its address, because this command allows private addresses."""
    for run in runs:
        store.queue(run).reopen(AddressRefusedError.rule)
    store.flush()


def list_runs(path: str | Path) -> list[RunRecord]:
    """Give the records of all runs of a store, oldest first."""
    with opened_store(path, read_only=True) as store:
        workers = store.runs.workers(_now(store))
        return [run_record(run, [one for one in workers if one.run == run.id]) for run in store.runs.list()]


def list_workers(path: str | Path) -> list[WorkerRecord]:
    """Give the records of the processes that work on a store."""
    with opened_store(path, read_only=True) as store:
        return [worker_record(one) for one in store.runs.workers(_now(store))]


def stop_workers(path: str | Path, number: int | None = None) -> int:
    """Ask the processes that work on a store, or on one run of it, to stop; gives how many there are."""
    with opened_store(path, create=False) as store:
        run = None if number is None else find_run(store, number).id
        return store.runs.stop_workers(_now(store), run)


def _now(store: Store) -> float:
    return time.time() if store.clock is None else store.clock.now()


def delete_run(path: str | Path, number: int) -> Counts:
    """Delete a run of a store, and what is known of URLs that no other run has met; gives what it had."""
    with closing(open_store(path, create=False)) as store:
        run = find_run(store, number)
        counts = store.ledger(run).counts()
        store.delete(run, time.time())
        return counts


def compact_store(path: str | Path) -> tuple[int, int]:
    """Give the room of what was deleted back to the disk; gives the bytes of the store before and afterwards."""
    with closing(open_store(path, create=False)) as store:
        before = store.size
        store.compact(time.time())
        return before, store.size


def find_run(store: Store, number: int | None = None) -> Run:
    """Find a run by its number, or the newest that has pages."""
    found = newest_first(store.runs.list())
    if not found:
        raise InputError("the store has no crawl yet; honeyguide crawl makes one")
    for run in found:
        if number in (None, run.id):
            return run
    numbers = [run.id for run in found]
    raise InputError(f"there is no run {number}; there are {min(numbers)} to {max(numbers)}", field="run")


def profile_of_run(run: Run, on_note: Callable[[str], None] | None = None) -> Profile:
    """Load the profile of a run; if that fails, tell `on_note` and give `base` instead.

    Without `on_note` it is an error, because pages are fetched by the rules of their run or not at all.
    """
    try:
        request = resumed_request(run)
    except InputError:  # of an older version, which kept the name alone
        request = CrawlRequest(())
    name = request.profile or run.spec.profile
    try:
        profile = load_profile(name, topic=run.spec.topic, related=request.related)
        return replace(profile, scope=profile.scope.within(request.scope))
    except HoneyguideError as error:
        what = f"run {run.id} was made with the profile {name}, which cannot be loaded: {error}"
        if on_note is None:
            raise InputError(what) from None
    on_note(f"{what}; the profile base stands in for it")
    return load_profile("base", topic=run.spec.topic)


def resume_request(run: Run, limits: CrawlRequest | None = None) -> tuple[CrawlRequest, Profile]:
    """Make the request that fetches what is due in a run, within `limits`, and load the profile of the run."""
    return resumed_request(run, limits), profile_of_run(run)


def run_record(run: Run, workers: Sequence[WorkerState] = ()) -> RunRecord:
    """Write a run, with the processes that work on it."""
    seen_at = max((one.seen_at for one in workers), default=None)
    return {
        "schema": SCHEMA,
        "run": run.id,
        "command": run.spec.command,
        "topic": run.spec.topic,
        "profile": run.spec.profile,
        "profile_hash": run.spec.profile_hash,
        "fetched": run.fetched,
        "started_at": iso(run.started_at),
        "updated_at": iso(run.updated_at),
        "stopped": run.stopped,
        "workers": len(workers),
        "pages_per_s": tidy(round(sum(map(_rate, workers)), 1)),
        "seen_at": None if seen_at is None else iso(seen_at),
    }


def worker_record(worker: WorkerState) -> WorkerRecord:
    """Write a process that works on a run."""
    return {
        "schema": SCHEMA,
        "worker": worker.id,
        "run": worker.run,
        "host": worker.host,
        "pid": worker.pid,
        "pages": worker.pages,
        "pages_per_s": tidy(round(_rate(worker), 1)),
        "started_at": iso(worker.started_at),
        "seen_at": iso(worker.seen_at),
        "stopping": worker.is_stopping,
    }


def _rate(worker: WorkerState) -> float:
    """Give the pages a second of a worker until its last sign of life."""
    return worker.pages / max(1.0, worker.seen_at - worker.started_at)


def sites_of(store: Store, runs: Iterable[Run]) -> set[str]:
    """Give the sites that are part of these runs."""
    return {site for run in runs for site in store.ledger(run).sites()}


# --- what a run found ---


def all_pages(store: Store) -> Iterator[Record]:
    """Give the records of all visits of a store, run by run."""
    for run in store.runs.list():
        yield from found_records("pages", store.ledger(run))


@contextmanager
def export_run(
    path: str | Path, what: str, number: int | None = None, *, rule: str | None = None
) -> Iterator[Iterator[Record]]:
    """Give `pages`, `links`, `external` or `out` of a run while the store is open.

    `rule` keeps what that rule rejected.
    """
    with opened_store(path, read_only=True) as store:
        ledger = store.ledger(find_run(store, number))
        if rule is not None and rule not in (rules := ledger.counts().out):  # probably misspelt
            known = ", ".join(sorted(rules)) or "none"
            raise InputError(f"no URL was rejected by {shown(rule)}; rules that did: {known}", field="rule")
        yield found_records(what, ledger, rule)


def found_records(what: str, ledger: Ledger, rule: str | None = None) -> Iterator[Record]:
    """Give the records of one kind; of what was rejected, perhaps only what one rule rejected."""
    match what:
        case "pages":
            return (record for _, record in ledger.pages())
        case "links":
            return map(queue_record, ledger.rows())
        case "external":
            names, rows = fields(ExternalRecord), ledger.rows(rule=OTHER_SITE)
        case _:
            met = ledger.rows() if rule is None else ledger.rows(rule=rule)
            rows = (row for row in met if row.why is not None and row.state.name == "REJECTED")
            names = fields(RejectedRecord)
    links = ({**queue_record(row), "site": _site_of(row.url)} for row in rows)
    return ({name: link[name] for name in names} for link in links)


def queue_record(row: FrontierRow) -> QueueRecord:
    """Write a URL that the run met."""
    return {
        "schema": SCHEMA,
        "url": normalised(row.url),
        "state": row.state.name.lower(),
        "lane": row.lane or None,
        "priority": tidy(row.priority),
        "relevance_score": tidy(row.score),
        "depth": row.depth,
        "parent": normalised(row.parent),
        "seen": row.seen,
        "rule": row.why.rule if row.why else None,
        "reason": row.why.text if row.why else None,
        "request_url": row.url,
    }


def _site_of(url: str) -> str | None:
    try:
        return Url.parse(url).site
    except UrlError:
        return None


def normalised(url: str | None) -> str | None:
    """Write a URL as page records do; the store has it as it was linked."""
    try:
        return None if url is None else Url.parse(url).text
    except UrlError:  # not one that we wrote: shown as it is
        return url


def held_back(counts: Counts) -> int:
    """Count the links that were rejected for lack of evidence, or for their depth: another traversal or limit follows them."""
    return sum(count for rule, count in counts.out.items() if rule in PASSING_RULES)


def group_rules(counts: Counts) -> dict[str, Mapping[str, int]]:
    """Group counts by rule, under headings."""
    unread = {rule: n for rule, n in counts.skipped.items() if rule.startswith(("TRAP", "nofollow"))}
    hidden = {rule: n for rule, n in counts.skipped.items() if rule == "noindex"}
    lost = {rule: n for rule, n in counts.skipped.items() if rule in (FULL, MANY)}
    skipped = {rule: n for rule, n in counts.skipped.items() if rule not in {**unread, **hidden, **lost}}
    return {
        "Rejected": counts.out,
        "Fetched, and their links not followed": unread,
        "Fetched, and not written": hidden,
        "Met, and not kept": lost,
        NO_PAGES: skipped,
    }
