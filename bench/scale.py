"""How the frontier's cost grows with the queue, from 100,000 to 10 million real rows, and what that means for a web of 100 million URLs.

    python -m bench.scale [--sizes 100000 1000000 10000000] [--rounds 8] [--only sqlite|postgres] [--folder FOLDER]

Owns: the tables. For each store and size, a queue with a hundred URLs a host is made (`large_store.py`, nothing is fetched); then pages are
claimed, sixteen hosts at a time, and committed as a crawl does: a record, a visit for the history, eight links that are new and
twelve that are known. CPU is that of this process and, for PostgreSQL, of the server's process for this connection. A line in the
logarithm of the size is fitted to all rounds; the figures for 100 million and a billion are that line, with twice the standard error of its
prediction. Needs PostgreSQL's programs and psycopg for its half. The last table is a model alone: a million hosts whose sizes
follow a power law, one request a second each, crawled at some pace in all.
"""

from __future__ import annotations

import argparse
import math
import random
import shutil
import statistics
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.large_store import make_queue, queue_digest
from honeyguide.app.runs import find_run, open_store
from honeyguide.core.crawl.frontier import ClaimRequest, Discovered, Done, Sighting, SitePace, digest_of
from honeyguide.core.crawl.judge import Findings
from honeyguide.core.crawl.limits import MAX_URLS_PER_HOST
from honeyguide.core.crawl.placement import rank_by_units
from honeyguide.core.records import Crawled, page_record
from honeyguide.core.recrawl.history import Visit
from honeyguide.core.url.url import Tracking, Url
from honeyguide.ports.store import Intake

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from honeyguide.core.crawl.frontier import Lease

PER_HOST = 100
HOSTS_A_CLAIM, PAGES_A_ROUND = 16, 96
NEW, AGAIN = 8, 12
GOALS = (100_000_000, 1_000_000_000)


class Round(NamedTuple):
    """What a page cost in one round, in milliseconds: claiming and committing here, and both in the database's server."""

    rows: int
    claim: float
    commit: float
    server: float

    @property
    def whole(self) -> float:
        return self.claim + self.commit + self.server


def intake_of(lease: Lease, rows: int, numbers: Iterator[int], chance: random.Random) -> Intake:
    """Make what a page leaves behind."""
    sighting, now = Sighting("an anchor text", "main", 3.0, "in-main:3", "worth"), time.time()
    new = []
    for number in (next(numbers) for _ in range(NEW)):
        url = Url.parse(f"https://{lease.site}/new/page-{number}")
        worth = number * 7919 % 10_000
        place = rank_by_units(worth), "worth", worth / 1e4, 3.0, 2
        new.append(Discovered(url, queue_digest(number), lease.site, *place, sighting=sighting))
    known = [queue_digest(chance.randrange(rows)) for _ in range(AGAIN)]
    content = f"2-{lease.claim:016x}"
    record = page_record(lease, Crawled(now, 200, action="expand"))
    visit = Visit(
        lease.url.text, digest_of(lease.url, Tracking()), now, 200, content, relevance=0.5, links=NEW + AGAIN
    )
    findings = Findings(new=new, sightings=[(one, sighting) for one in known[:4]], again=known)
    pace = SitePace(lease.site, now + 1.0, 1.0)
    return Intake(Done(), record, findings, content, visits=(visit,), paces=(pace,))


def digests(intake: Intake) -> list[int]:
    """List the links of a page by their identities."""
    found = intake.findings or Findings()
    return [*(one.digest for one in found.new), *found.again]


def crawl(store: str, rows: int, rounds: int) -> Iterator[Round]:
    """Claim and commit pages, and say what each round cost."""
    chance = random.Random(3)  # noqa: S311 - made-up links
    with closing(open_store(store)) as opened:
        queue, numbers = opened.queue(find_run(opened, 1)), iter(range(10**12, 10**13))
        server_ms = _server_clock(opened)
        for turn in range(rounds + 1):
            claim = commit = 0.0
            before, done = server_ms(), 0
            while done < PAGES_A_ROUND:
                start = time.process_time()
                now = opened.clock.now() if opened.clock else time.time()
                request = ClaimRequest(now, HOSTS_A_CLAIM, now + 60.0, per_site=1, delay_s=1.0)
                leases = queue.claim(request).leases
                opened.flush()
                claim += time.process_time() - start
                if not leases:
                    sys.exit(f"nothing to claim in {store} after {done} pages")
                intakes = [intake_of(lease, rows, numbers, chance) for lease in leases]
                start = time.process_time()
                for lease, intake in zip(leases, intakes, strict=True):
                    queue.look(lease, digests(intake), intake.content)
                    if not queue.commit_page(lease, intake):
                        sys.exit("a lease was lost")
                opened.flush()
                commit += time.process_time() - start
                done += len(leases)
            if turn:  # the first round prepares statements and fills caches
                yield Round(rows, 1000 * claim / done, 1000 * commit / done, (server_ms() - before) / done)


def _server_clock(store: Any) -> Callable[[], float]:
    """Give a clock of the server's process for this connection, in milliseconds of CPU."""
    if not hasattr(store, "_db") or store._db.folder != "postgres":  # noqa: SLF001 - what a bench may know
        return lambda: 0.0
    (pid,) = store._db.one("SELECT pg_backend_pid()")  # noqa: SLF001 - as above
    return lambda: int(Path(f"/proc/{pid}/schedstat").read_text("utf-8").split()[0]) / 1e6


def bytes_a_row(store: str, rows: int) -> float:
    """Say how large a queued URL is, with its indexes."""
    with closing(open_store(store, create=False)) as opened:
        return opened.size / rows


def predicted(rounds: Sequence[Round], rows: int) -> tuple[float, float]:
    """Fit a line in the logarithm of the size: milliseconds a page there, and twice the standard error of a prediction."""
    xs, ys = [math.log10(one.rows) for one in rounds], [one.whole for one in rounds]
    mean_x, mean_y = statistics.fmean(xs), statistics.fmean(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread
    left = [y - mean_y - slope * (x - mean_x) for x, y in zip(xs, ys, strict=True)]
    noise = math.sqrt(sum(one**2 for one in left) / max(1, len(xs) - 2))
    away = math.log10(rows) - mean_x
    return mean_y + slope * away, 2 * noise * math.sqrt(1 + 1 / len(xs) + away**2 / spread)


def measure(kind: str, sizes: Sequence[int], rounds: int, folder: Path) -> list[Round]:
    """Make and measure the queues of one kind of store."""
    found: list[Round] = []
    server: Any = None
    if kind == "postgres":
        sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "shared"))
        from postgres_server import Server

        server = Server(
            Path(tempfile.mkdtemp(prefix="hg-pg-", dir=folder)),
            "shared_buffers = 1GB",
            "synchronous_commit = off",
            "max_wal_size = 8GB",
        )
    try:
        for rows in sizes:
            store = str(folder / f"{rows}.db") if server is None else server.new_database()
            make_queue(store, rows, rows // PER_HOST)
            size = bytes_a_row(store, rows)
            part = list(crawl(store, rows, rounds))
            found += part
            claim, commit, server_cpu = (
                statistics.median(getattr(one, name) for one in part) for name in Round._fields[1:]
            )
            low, high = (choose(one.whole for one in part) for choose in (min, max))
            print(
                f"| {kind} | {rows:,} | {rows // PER_HOST:,} | {claim:.2f} | {commit:.2f} | {server_cpu:.2f} | {claim + commit + server_cpu:.2f}"
                f" ({low:.2f} to {high:.2f}) | {size:.0f} |",
                flush=True,
            )
            if server is None:
                Path(store).unlink()
    finally:
        if server is not None:
            server.stop()
            shutil.rmtree(server.folder, ignore_errors=True)
    return found


# --- the model of a web ---

MODEL_URLS, MODEL_HOSTS = 100_000_000, 1_000_000


def host_sizes() -> list[int]:
    """Give the sizes of a million hosts: the n-th largest has a share of 1/n, and at most what a crawl keeps of a host."""
    harmonic = math.log(MODEL_HOSTS) + 0.5772
    return [
        min(MAX_URLS_PER_HOST, max(1, round(MODEL_URLS / harmonic / n))) for n in range(1, MODEL_HOSTS + 1)
    ]


def days_until(sizes: Sequence[int], pace: float, delay_s: float, shares: Sequence[float]) -> list[float]:
    """Say after how many days shares of all pages are fetched: hosts that have pages left are asked evenly, each once a delay."""
    left, total = sorted(sizes), sum(sizes)
    wanted, found = [share * total for share in shares], list[float]()
    day, done, each, place = 0.0, 0.0, 0.0, 0
    while place < len(left) and len(found) < len(shares):
        active = len(left) - place
        rate = min(1.0 / delay_s, pace / active)  # of one host
        span = (left[place] - each) / rate
        while len(found) < len(shares) and done + span * rate * active >= wanted[len(found)] * (1 - 1e-12):
            found.append((day + (wanted[len(found)] - done) / (rate * active)) / 86_400)
        day, done, each = day + span, done + span * rate * active, left[place]
        while place < len(left) and left[place] <= each:
            place += 1
    return found


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--only", choices=["sqlite", "postgres"])
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        folder.chmod(0o755)
        print(
            "| store | queued URLs | hosts | claim, ms | commit, ms | server, ms | CPU a page, ms (rounds) | bytes a URL |"
        )
        print("|---|---:|---:|---:|---:|---:|---|---:|")
        lines = []
        for kind in (given.only,) if given.only else ("sqlite", "postgres"):
            rounds = measure(kind, given.sizes, given.rounds, folder)
            for goal in GOALS:
                cost, error = predicted(rounds, goal)
                lines.append(f"| {kind} | {goal:,} | {cost:.2f} ± {error:.2f} |")
    print("\n| store | queued URLs | CPU a page by the line, ms |\n|---|---:|---|")
    print("\n".join(lines))
    sizes = host_sizes()
    print(
        f"\nA model of {sum(sizes):,} URLs on {len(sizes):,} hosts, the largest {max(sizes):,}, one request a second and host:\n"
    )
    print("| pages a second | half | 90 % | 99 % | all, days |\n|---:|---:|---:|---:|---:|")
    for pace in (100, 500, 2_000, 10_000):
        days = days_until(sizes, pace, 1.0, (0.5, 0.9, 0.99, 1.0))
        print(f"| {pace:,} | {' | '.join(f'{one:,.1f}' for one in days)} |")


if __name__ == "__main__":
    main()
