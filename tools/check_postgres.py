"""Workers on one crawl in PostgreSQL, killed, stopped and cut off: what a made-up web sees is one polite crawl.

    python tools/check_postgres.py [TRIAL ...] [--quick]

The server is started in a temporary folder, without root. Each worker is a process that crawls a made-up web in memory and writes each
request to one log when it is sent; pages, links, robots.txt and pauses go through Honeyguide itself. Figures depend on the machine and on
who else uses it; what is counted (pages once, no pause too short, no deadlock) does not.
"""

from __future__ import annotations

# ruff: noqa: T201, S603, S311, D102, D103, D401 - a script that prints, starts its own processes, and kills them at random; trials say what happens
import argparse
import asyncio
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "shared")]

import psycopg  # noqa: E402 - after the path is set
from postgres_server import Server, programs  # noqa: E402 - after the path is set

import honeyguide  # noqa: E402 - after the path is set
from honeyguide import FetchPolicy  # noqa: E402 - after the path is set
from honeyguide.app.runs import open_store  # noqa: E402 - after the path is set
from honeyguide.core.crawl.frontier import ClaimRequest, Done, SitePace  # noqa: E402 - after the path is set
from honeyguide.ports.fetch import Fetched, Headers  # noqa: E402 - after the path is set
from honeyguide.ports.store import Intake  # noqa: E402 - after the path is set
from honeyguide.testing.contracts import spec  # noqa: E402 - after the path is set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.core.url.url import Url

TOLERANCE_S = 0.01  # of the clocks of two workers, each of which asks the database for the time
LEASE_S = 3.0
_SOCKET = ".s.PGSQL.5432"  # as PostgreSQL names it


@dataclass(frozen=True)
class Web:
    """A made-up web: hosts with pages that link each other and the next host."""

    hosts: int
    pages: int
    delay_s: float
    latency_s: float = 0.0
    jitter: float = FetchPolicy().jitter

    def seeds(self) -> list[str]:
        return [f"http://h{host}.example/" for host in range(self.hosts)]

    def urls(self) -> set[str]:
        return {
            f"http://h{host}.example/{page or ''}" for host in range(self.hosts) for page in range(self.pages)
        }

    def body(self, host: int, page: int) -> bytes:
        digest = blake2b(f"{host} {page}".encode(), digest_size=8).digest()
        near = [page * 2 + 1, page * 2 + 2, *(number % self.pages for number in digest)]
        links = [f"/{n}" for n in near if 0 < n < self.pages]
        links += [
            f"http://h{(host + step) % self.hosts}.example/{digest[0] % self.pages or ''}" for step in (1, 7)
        ]
        text = " ".join(f"w{number}" for number in digest)
        anchors = "".join(f'<p><a href="{link}">to {link}</a></p>' for link in links)
        return (
            f"<title>{host} {page}</title><main><h1>{host} {page}</h1><p>{text}</p>{anchors}</main>".encode()
        )


class Fetcher:
    """Serves the web from memory, and logs each request with its time."""

    def __init__(self, web: Web, log: Path) -> None:
        self.web = web
        self.log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def fetch(self, url: Url, **_more: Any) -> Fetched:
        os.write(self.log, f"{time.monotonic():.6f} {url.text} {os.getpid()}\n".encode())
        if self.web.latency_s:
            await asyncio.sleep(self.web.latency_s)
        if url.path == "/robots.txt":
            return Fetched(url, url, 404)
        host, page = int(url.site.partition(".")[0][1:]), int(url.path[1:] or 0)
        headers = Headers(content_type="text/html")
        return Fetched(url, url, 200, headers, self.web.body(host, page))


async def work(options: argparse.Namespace) -> None:
    """Be one worker."""
    if options.clock_off:
        real = time.time
        time.time = lambda: real() + options.clock_off
    web = Web(options.hosts, options.pages, options.delay, options.latency, options.jitter)
    profile = honeyguide.load_profile("docs")
    traps = replace(profile.traps, max_alike=10**6, min_twin_chars=10**6)
    profile = replace(profile, traps=traps, crawl=replace(profile.crawl, lease_s=options.lease))
    crawl = honeyguide.crawl(
        web.seeds(), profile=profile, traversal="bfs", max_pages=None, store=options.store, max_time_s=options.time,
        policy=FetchPolicy(delay_s=web.delay_s, jitter=web.jitter), fetcher=Fetcher(web, Path(options.log)),
    )  # fmt: skip
    crawl.job = replace(crawl.job, request=replace(crawl.job.request, keep_bytes=0))
    store = open_store(options.store)
    crawl.store = store

    from honeyguide.app.crawl import CrawlSession, opened_fetcher

    session = CrawlSession(
        store, crawl.job, network=lambda p, n: opened_fetcher(p, n, crawl.fetcher, store.clock)
    )
    begun = time.process_time()
    summary = await session.crawl(lambda _record, _more: None)
    print(summary.stopped, summary.pages, f"cpu {time.process_time() - begun:.2f}", flush=True)
    store.close()


@dataclass
class Trial:
    """A web, a database, a log, and the workers on it."""

    server: Server
    web: Web
    folder: Path
    lease_s: float = LEASE_S
    time_s: float | None = None
    store: str = ""
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    clock_off: float = 0.0
    through: Path | None = None  # the folder of a proxy's socket

    def __post_init__(self) -> None:
        self.store = self.store or self.server.new_database()
        self.log = self.folder / f"log-{time.monotonic_ns()}"
        self.log.touch()

    def start(self) -> subprocess.Popen[bytes]:
        web = self.web
        store = self.store.replace(f"host={self.server.folder}", f"host={self.through or self.server.folder}")
        words = [
            "--worker",
            "--store",
            store,
            "--log",
            str(self.log),
            "--hosts",
            str(web.hosts),
            "--pages",
            str(web.pages),
        ]
        words += ["--delay", str(web.delay_s), "--latency", str(web.latency_s), "--jitter", str(web.jitter)]
        words += ["--lease", str(self.lease_s)]
        words += ["--clock-off", str(self.clock_off), *(["--time", str(self.time_s)] if self.time_s else [])]
        with (self.folder / "errors").open("ab") as errors:
            process = subprocess.Popen(
                [sys.executable, __file__, *words], stdout=subprocess.PIPE, stderr=errors
            )
        self.workers.append(process)
        return process

    def wait_for_requests(self) -> None:
        """Wait until somebody works: starting takes seconds on a busy machine."""
        while not self.log.stat().st_size:
            time.sleep(0.1)

    def finish(self, limit_s: float = 600.0) -> None:
        """Wait until all workers have ended; one that failed is started again."""
        ends_at = time.monotonic() + limit_s
        while self.workers:
            process = self.workers.pop(0)
            try:
                process.wait(max(1.0, ends_at - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                raise

    def requests(self) -> list[tuple[float, str, str, str]]:
        rows = (line.split() for line in self.log.read_text().splitlines())
        return sorted((float(at), url.split("/")[2], url, pid) for at, url, pid in rows)

    def too_early(self) -> list[str]:
        """List requests that a host got before its pause was over."""
        last: dict[str, float] = {}
        found = []
        for at, host, url, pid in self.requests():
            if host in last and at - last[host] < self.web.delay_s - TOLERANCE_S:
                found.append(f"{url} after {at - last[host]:.3f} s by {pid}")
            last[host] = at
        return found

    def recorded(self) -> Counter[str]:
        with closing(open_store(self.store, read_only=True)) as store:
            (run,) = store.runs.list()
            return Counter(str(record["url"]) for _, record in store.ledger(run).pages())

    def deadlocks(self) -> int:
        with psycopg.connect(self.store, autocommit=True) as connection:
            connection.execute("SELECT pg_stat_clear_snapshot()")
            row = connection.execute(
                "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
            ).fetchone()
            assert row is not None  # noqa: S101 - a trial that cannot go wrong silently
            return int(row[0])

    def check(self, *, fetched_once: bool = False) -> dict[str, object]:
        """Check what must hold after any trial; gives figures."""
        recorded, expected = self.recorded(), self.web.urls()
        missing, twice = expected - recorded.keys(), [url for url, n in recorded.items() if n > 1]
        asked = Counter(url for _, _, url, _ in self.requests() if not url.endswith("robots.txt"))
        again = sum(asked.values()) - len(asked)
        early = self.too_early() if self.web.delay_s else []
        problems = [f"{len(missing)} pages are missing"] * bool(missing) + [
            f"{len(twice)} pages are recorded twice"
        ] * bool(twice)
        problems += [f"{len(early)} requests came too early: {early[:3]}"] * bool(early)
        problems += [f"{again} pages were requested again"] * bool(fetched_once and again)
        problems += ["deadlocks"] * bool(self.deadlocks())
        if problems:
            raise SystemExit(f"FAILED: {'; '.join(problems)}; {(self.folder / 'errors').read_text()[-2000:]}")
        times = [at for at, *_ in self.requests()]
        seconds = times[-1] - times[0]
        return {
            "pages": len(recorded),
            "seconds": round(seconds, 1),
            "pages_per_s": round(len(asked) / seconds, 1),
            "requested_again": again,
        }


# --- trials ---


def run_web(place: Place) -> dict[str, object]:
    """Four workers, every URL once, no host within its delay."""
    hosts = 120 if place.quick else 2000
    trial = Trial(place.server, Web(hosts, 5, 0.3), place.folder, 60.0)
    for _ in range(4):
        trial.start()
    trial.finish()
    return trial.check(fetched_once=True)


def run_pace(place: Place) -> dict[str, object]:
    """60 hosts with a delay of one second, without jitter, give close to 60 pages a second to four workers."""
    seconds = 12 if place.quick else 40
    trial = Trial(place.server, Web(60, 10_000, 1.0, 0.02, jitter=0.0), place.folder, 60.0, seconds)
    for _ in range(4):
        trial.start()
    trial.finish()
    early = trial.too_early()
    if early:
        raise SystemExit(f"FAILED: {early[:3]}")
    times = [at for at, _, url, _ in trial.requests() if not url.endswith("robots.txt")]
    begin = times[0] + 5.0  # robots.txt and seeds
    end = min(times[-1], times[0] + seconds - 1)
    inside = sum(begin <= at <= end for at in times)
    return {"pages_per_s": round(inside / (end - begin), 1), "limit": 60}


def run_kills(place: Place) -> dict[str, object]:
    """Workers are killed at random; others take over, nothing is lost, nothing is recorded twice."""
    kills = 12 if place.quick else 200
    trial = Trial(place.server, Web(60, 20 if place.quick else 60, 0.1), place.folder)
    chance = random.Random(7)
    for _ in range(4):
        trial.start()
    trial.wait_for_requests()
    for _ in range(kills):
        time.sleep(chance.uniform(0.3, 1.2))
        victim = trial.workers.pop(chance.randrange(len(trial.workers)))
        victim.kill()
        victim.wait()
        trial.start()
    trial.finish()
    trial.start()
    trial.finish()
    return {"kills": kills, **trial.check()}


def run_stops(place: Place) -> dict[str, object]:
    """A worker is stopped for longer than its lease and continued: what it commits late is refused."""
    stops = 2 if place.quick else 10
    trial = Trial(place.server, Web(40, 40, 0.1), place.folder)
    for _ in range(3):
        trial.start()
    trial.wait_for_requests()
    for n in range(stops):
        time.sleep(2.0)
        victim = trial.workers[n % 3]
        if victim.poll() is not None:
            break
        victim.send_signal(signal.SIGSTOP)
        time.sleep(LEASE_S * 1.7)
        victim.send_signal(signal.SIGCONT)
    trial.finish()
    trial.start()
    trial.finish()
    return {"stops": stops, **trial.check()}


def run_restarts(place: Place) -> dict[str, object]:
    """The server crashes and comes back; workers connect again."""
    restarts = 3 if place.quick else 10
    trial = Trial(place.server, Web(40, 40, 0.1), place.folder, 60.0)
    for _ in range(3):
        trial.start()
    trial.wait_for_requests()
    for _ in range(restarts):
        time.sleep(2.0)
        place.server.restart()
    trial.finish()
    trial.start()
    trial.finish()
    return {"restarts": restarts, **trial.check()}


def run_cuts(place: Place) -> dict[str, object]:
    """Connections are cut at random by a proxy in between."""
    cuts = 10 if place.quick else 60
    trial = Trial(place.server, Web(40, 40, 0.1), place.folder, 60.0)
    with closing(Proxy(place.server)) as proxy:
        trial.through = proxy.folder
        for _ in range(3):
            trial.start()
        trial.wait_for_requests()
        cut = 0
        for _ in range(cuts):
            time.sleep(0.3)
            cut += proxy.cut()
        trial.finish()
    trial.through = None
    trial.start()
    trial.finish()
    return {"cuts": cut, **trial.check()}


class Proxy:
    """Stands between workers and the server, on a socket in a folder of its own, and cuts connections."""

    def __init__(self, server: Server) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="hg-proxy-"))
        self._there = str(server.folder / _SOCKET)
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / _SOCKET))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._there)
                self._pairs.append((client, server))
                for one, other in ((client, server), (server, client)):
                    threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):  # the other side has closed it
            while data := one.recv(65536):
                other.sendall(data)
        for end in (one, other):
            with suppress(OSError):  # the other side has closed it
                end.shutdown(socket.SHUT_RDWR)

    def cut(self) -> int:
        """Cut a connection in the middle of whatever it says; gives how many were cut."""
        if not self._pairs:
            return 0
        pair = self._pairs.pop(random.randrange(len(self._pairs)))
        for end in pair:
            with suppress(OSError):  # the other side has closed it
                end.shutdown(socket.SHUT_RDWR)
        return 1

    def close(self) -> None:
        self._listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def run_clock(place: Place) -> dict[str, object]:
    """The clock of one worker is an hour ahead: nothing changes."""
    trial = Trial(place.server, Web(40, 20, 0.2), place.folder, 60.0)
    trial.start()
    trial.clock_off = 3600.0
    trial.start()
    trial.finish()
    return trial.check(fetched_once=True)


def run_deadlocks(place: Place) -> dict[str, object]:
    """Eight workers without pauses on hosts that all link each other."""
    trial = Trial(place.server, Web(300, 400, 0.0), place.folder, 60.0, 10 if place.quick else 60)
    for _ in range(8):
        trial.start()
    trial.finish()
    found = trial.deadlocks()
    if found:
        raise SystemExit(f"FAILED: {found} deadlocks")
    recorded = trial.recorded()
    if any(n > 1 for n in recorded.values()):
        raise SystemExit("FAILED: pages are recorded twice")
    return {"deadlocks": found, "pages": len(recorded)}


def run_speed(place: Place) -> dict[str, object]:
    """Pages a second, and CPU a page of worker and server, without pauses: in a file, and in a database."""
    found: dict[str, object] = {}
    for kind, workers in (("file", 1), ("file", 2), ("database", 1), ("database", 2), ("database", 4)):
        store = str(place.folder / f"{workers}.db") if kind == "file" else ""
        seconds = 8 if place.quick else 20
        trial = Trial(place.server, Web(200, 500, 0.0), place.folder, 60.0, seconds, store)
        before = server_cpu(place.server)
        started = [trial.start() for _ in range(workers)]
        outputs = [process.communicate()[0].decode().split() for process in started]
        pages, client = sum(int(one[1]) for one in outputs), sum(float(one[3]) for one in outputs)
        times = [at for at, *_ in trial.requests()]
        rate = pages / (times[-1] - times[0])
        cpu = server_cpu(place.server) - before
        found[f"{kind}, {workers}"] = (
            f"{rate:.0f} pages/s, {1000 * client / pages:.2f} ms client, {1000 * cpu / pages:.2f} ms server"
        )
        trial.workers.clear()
    return found


_QUEUE = """
SET search_path TO honeyguide;
INSERT INTO site (run, name, urls, head_rank, head_entry, is_ready, blocked_until)
SELECT 1, 'h' || n || '.example', {per_host}, 4 * (1::bigint << 52) + n, n, n > {resting}, CASE WHEN n > {resting} THEN 0 ELSE 1e11 END
FROM generate_series(1, {hosts}) n;
INSERT INTO entry (run, digest, site, url, state, rank, lane, priority, depth, weak_pages, hub_depth, is_seed)
SELECT 1, hashint8extended(n, 0), (n - 1) % {hosts} + 1, 'http://h' || (n - 1) % {hosts} + 1 || '.example/' || n, 0,
  4 * (1::bigint << 52) + n, 'broad', 5, 1, 0, 0, false FROM generate_series(1, {urls}) n;
VACUUM ANALYZE;
"""


def run_claims(place: Place) -> dict[str, object]:
    """What a claim of 16 hosts costs the server with many queued URLs, hosts, and hosts that rest; and while a reader holds on for a minute."""
    urls, hosts, resting = (100_000, 10_000, 2_000) if place.quick else (10_000_000, 100_000, 20_000)
    address = place.server.new_database()
    sizes = {"urls": urls, "hosts": hosts, "resting": resting, "per_host": urls // hosts}
    with closing(open_store(address)) as store, psycopg.connect(address, autocommit=True) as connection:
        run = store.runs.begin(spec(), 0.0)
        begun = time.monotonic()
        for statement in _QUEUE.format(**sizes).split(";\n"):
            connection.execute(statement.encode())
        found: dict[str, object] = {**sizes, "filled_in_s": round(time.monotonic() - begun)}
        size = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        found["gigabytes"] = round((size or (0,))[0] / 1e9, 2)
        queue = store.queue(run)
        pid = int(store._db.one("SELECT pg_backend_pid()")[0])  # noqa: SLF001 - of our own database
        claims_for(queue, pid, 1.0)  # what a claim needs is in memory then
        scans = _scans(connection)
        found["alone"] = _words(claims_for(queue, pid, 3.0 if place.quick else 20.0))
        found["sequential_scans"] = _scans(connection) - scans
        with psycopg.connect(address) as reader:
            reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            reader.execute("SELECT count(*) FROM honeyguide.run")  # and its snapshot stays
            costs = claims_for(queue, pid, 6.0 if place.quick else 60.0)
            found["first claims with a reader"], found["last"] = _words(costs[:100]), _words(costs[-100:])
    return found


def claims_for(queue: Any, pid: int, seconds: float) -> list[tuple[float, float]]:
    """Claim 16 hosts and commit their pages for some time; gives what each claim took of the server's CPU, and of time, in ms."""
    costs = []
    ends_at = time.monotonic() + seconds
    while (begun := time.monotonic()) < ends_at:
        cpu = _cpu_ms(pid)
        leases = queue.claim(ClaimRequest(begun, 16, begun + 600.0, per_site=1, delay_s=1.0)).leases
        costs.append((_cpu_ms(pid) - cpu, 1000 * (time.monotonic() - begun)))
        assert len(leases) == 16, len(leases)  # noqa: S101 - a trial that cannot go wrong silently
        for lease in leases:
            queue.commit_page(lease, Intake(Done(), paces=(SitePace(lease.site, begun + 1.0, 1.0),)))
    return costs


def _cpu_ms(pid: int) -> float:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e6


def _words(costs: list[tuple[float, float]]) -> str:
    cpu, wall = (sorted(column)[len(costs) // 2] for column in zip(*costs, strict=True))
    worst = sorted(cost for cost, _ in costs)[len(costs) * 95 // 100]
    return f"{cpu:.2f} ms CPU a claim (median of {len(costs)}; 95 %: {worst:.2f}), {wall:.1f} ms in all"


def _scans(connection: psycopg.Connection[Any]) -> int:
    time.sleep(1.2)  # statistics come late
    connection.execute("SELECT pg_stat_clear_snapshot()")
    sql = "SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE relname IN ('entry', 'site')"
    (found,) = connection.execute(sql).fetchone() or (0,)
    return int(found or 0)


def _children(main: str) -> list[str]:
    found = Path(f"/proc/{main}/task/{main}/children")
    return found.read_text().split() if found.exists() else []


def server_cpu(server: Server) -> float:
    """Add up the CPU time of the server's processes, ended ones included."""
    main = Path(server.data, "postmaster.pid").read_text().split()[0]
    pids = [
        main,
        *_children(main),
    ]
    ticks = 0
    for pid in pids:
        try:
            parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, parts[11:15])) if pid == main else sum(map(int, parts[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


@dataclass
class Place:
    """Where trials are made."""

    server: Server
    folder: Path
    quick: bool


TRIALS = {
    name.removeprefix("run_"): value for name, value in list(globals().items()) if name.startswith("run_")
}


@contextmanager
def place_of(*, quick: bool) -> Iterator[Place]:
    if programs() is None:
        raise SystemExit("there is no PostgreSQL on this machine")
    folder = Path(tempfile.mkdtemp(prefix="hg-pg-"))
    server = Server(folder, "max_wal_size = 2GB")
    try:
        yield Place(server, folder, quick)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trials", nargs="*", choices=[*TRIALS, []], help="default: all")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    for name, kind in {
        "store": str,
        "log": str,
        "hosts": int,
        "pages": int,
        "delay": float,
        "latency": float,
        "jitter": float,
        "lease": float,
    }.items():
        parser.add_argument(f"--{name}", type=kind, help=argparse.SUPPRESS)
    parser.add_argument("--time", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--clock-off", type=float, default=0.0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        asyncio.run(work(options))
        return
    with place_of(quick=options.quick) as place:
        for name in options.trials or TRIALS:
            print(name, TRIALS[name](place), flush=True)


if __name__ == "__main__":
    main()
