"""Two processes on one run, killed a hundred times: what the sites see is one polite crawl that keeps its limits.

The sites are really served, by a process that logs each request when it arrives. It is also the killer: it kills a
worker just before it answers a page, or a moment after, so that every kill hits a worker that works, on any machine.

A request arrives later than it was sent, by as much as the machine is busy, so two arrivals may be closer together
than the delay although the requests were not. Therefore each request carries the moment at which its pause was over
(as If-None-Match, which these sites ignore), and the log has both times of one clock. What is asserted has no
tolerance but the rounding of the numbers: requests are sent with the delay between them, and none arrives before the
delay after the one before it was sent. The workers share the epoch of one `SystemClock`; processes that are started
apart differ by what the system's time was adjusted in between.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from patience import HANG_S

from honeyguide import load_profile
from honeyguide.adapters.clock import SystemClock
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.http.client import HttpFetcher
from honeyguide.adapters.http.robots import read_robots
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import Budgets
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.url.url import Url
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.jobs.politeness import PoliteFetcher
from honeyguide.ports.fetch import Fetched, Part, Validators
from honeyguide.testing.fakes import response

HOSTS = 12
SLOW = HOSTS - 1  # the host whose robots.txt asks for twice the delay
PAGES = 60  # of each host
LIMIT = 360  # pages of the run
FACETS = 4  # of each host that the traps let in
KILLS, DELAY_S = 100, 0.04
ROUNDING_S = 1e-5  # of seconds since 1970, added and subtracted a few times
_DOCS = load_profile("docs", topic="fire")
PROFILE = replace(
    _DOCS,
    traps=replace(_DOCS.traps, max_facets=FACETS, max_alike=10**6, min_twin_chars=10**6),
    crawl=replace(
        _DOCS.crawl, window=12, lookahead=4
    ),  # one worker has half of the sites, and leaves the others
)


# --- the sites ---


def page_of(path: str, host: int, ports: list[int]) -> bytes:
    """Link a few pages of the same host, its neighbour, and facets that are made up for each page."""
    digest = hashlib.blake2b(f"{host}{path}".encode(), digest_size=8).digest()
    links = [f"/fire-{number % PAGES}" for number in digest]
    links += [
        f"http://127.0.0.1:{ports[(host + 1) % HOSTS]}/",
        f"/list?a={digest[0]}&b={digest[1]}&c=fire&d=1",
    ]
    anchors = "".join(f'<p><a href="{link}">fire {link}</a></p>' for link in links)
    words = " ".join(f"w{number}" for number in digest)
    return f"<title>fire</title><h1>{path}</h1><p>fire {words}</p>{anchors}".encode()


class Killer:
    """Serves all hosts, and kills each worker at one of its first pages, as long as there are kills left."""

    def __init__(self, folder: Path) -> None:
        self._log = os.open(folder / "requests.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._moments = random.Random(7)  # noqa: S311 - the same moments in every run, as far as they can be
        self._asked: Counter[int] = Counter()
        self._last: dict[int, int] = {}
        self._kills = 0
        self._ports: list[int] = []

    async def serve(self, ready: int) -> None:
        """Serve for good; the ports are written to a pipe."""
        servers = [
            await asyncio.start_server(partial(self._answer, host), "127.0.0.1", 0) for host in range(HOSTS)
        ]
        self._ports = [server.sockets[0].getsockname()[1] for server in servers]
        os.write(ready, json.dumps(self._ports).encode() + b"\n")
        await asyncio.Event().wait()

    async def _answer(self, host: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            path = head.split()[1]
            pid, sent_at = (text for text in stamp_in(head).split())
            is_killed_first = path != "/robots.txt" and self._kill(int(pid))
            os.write(self._log, f"{pid} {sent_at} {boot_time()} {host} {path} {is_killed_first:d}\n".encode())
            if not is_killed_first:
                writer.write(self._content(path, host))
                await writer.drain()
        writer.close()

    def _content(self, path: str, host: int) -> bytes:
        if path == "/robots.txt":
            rules = f"User-agent: *\nCrawl-delay: {2 * DELAY_S if host == SLOW else 0}\n"
            return response(rules.encode(), kind="text/plain")
        return response(page_of(path, host, self._ports))

    def _kill(self, pid: int) -> bool:
        """Kill a worker if this is its last page: now, or a moment later; tell whether it was now."""
        self._asked[pid] += 1
        last = self._last.setdefault(pid, self._moments.randint(1, 4))
        if self._asked[pid] != last or self._kills >= KILLS:
            return False
        self._kills += 1
        if self._moments.random() < 0.4:
            os.kill(pid, signal.SIGKILL)
            return True
        asyncio.get_running_loop().call_later(self._moments.random() * 0.02, os.kill, pid, signal.SIGKILL)
        return False


def serve(folder: Path, ready: int) -> None:
    asyncio.run(Killer(folder).serve(ready))


def stamp_in(head: str) -> str:
    lines = (line.partition(": ") for line in head.split("\r\n"))
    return next(value for name, _, value in lines if name.lower() == "if-none-match").strip('"')


def boot_time() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


# --- the workers ---


class Stamped:
    """Sends along who asks, and when the pause of its host was over."""

    def __init__(self, http: HttpFetcher, clock: SystemClock) -> None:
        self._http = http
        self._epoch = clock._epoch  # noqa: SLF001 - reading both clocks would take a moment
        self.polite: PoliteFetcher

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators
        pace = self.polite.pace_of(url.site)
        sent_at = pace.next_at - pace.delay_s - self._epoch
        return await self._http.fetch(url, validators=Validators(f'"{os.getpid()} {sent_at}"'), part=part)


async def crawl(folder: Path, ports: list[int], clock: SystemClock) -> str:
    """Work on the run until there is nothing left to do."""
    store = SqliteStore(folder / "h.db")
    policy = FetchPolicy(delay_s=DELAY_S, jitter=0.0, allow_private=True)
    seeds = tuple(Url.parse(f"http://127.0.0.1:{port}/") for port in ports)
    request = CrawlRequest(seeds, traversal="bfs", budgets=Budgets(max_pages=LIMIT))
    async with HttpFetcher(policy) as http:
        stamped = Stamped(http, clock)
        robots = partial(read_robots, token=policy.robots_token)
        stamped.polite = PoliteFetcher(stamped, clock, robots, policy)
        crawler = Crawler(stamped.polite, HtmlReader(), clock, store, PROFILE)
        summary = await crawler.crawl(request, lambda *_: None)
    store.close()
    return summary.stopped


def fork(work: partial[None]) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # noqa: BLE001 - the parent sees only the exit code, so the reason is printed here
            traceback.print_exc()
        finally:
            os._exit(code)
    return pid


def supervise(folder: Path) -> list[int]:
    """Keep two workers at it, whoever is killed, until both have ended; return who was killed."""
    ready, ports_to = os.pipe()
    server = fork(partial(serve, folder, ports_to))
    try:
        ports = json.loads(os.fdopen(ready).readline())
        clock = SystemClock()
        workers = {fork(partial(work, folder, ports, clock)) for _ in range(2)}
        killed: list[int] = []
        while workers:
            pid, status = os.wait()
            workers.discard(pid)
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
                killed.append(pid)
                workers.add(fork(partial(work, folder, ports, clock)))
            else:
                assert status == 0, status
    finally:
        os.kill(server, signal.SIGTERM)
    return killed


def work(folder: Path, ports: list[int], clock: SystemClock) -> None:
    assert asyncio.run(crawl(folder, ports, clock)) == "max_pages"


# --- what they did ---


class Request(NamedTuple):
    """One line of the log: who asked, when that was allowed, when it arrived, and whether the answer was a kill."""

    pid: int
    sent_at: float
    arrived_at: float
    host: int
    path: str
    is_killed_first: bool

    @property
    def page(self) -> tuple[int, str]:
        return self.host, self.path


def requests_of(folder: Path) -> list[Request]:
    lines = map(str.split, (folder / "requests.log").read_text().splitlines())
    return [
        Request(int(pid), float(sent_at), float(arrived_at), int(host), path, first == "1")
        for pid, sent_at, arrived_at, host, path, first in lines
    ]


@pytest.mark.skipif(
    not hasattr(os, "fork") or not hasattr(time, "CLOCK_BOOTTIME"), reason="no such processes there"
)
@pytest.mark.slow
def test_two_workers_that_are_killed_again_and_again_are_one_polite_crawl(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, __file__, str(tmp_path)]
    done = subprocess.run(command, env=env, capture_output=True, check=False, timeout=HANG_S)  # noqa: S603 - this very file
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    killed = json.loads(done.stdout)
    assert len(killed) == len(set(killed)) == KILLS
    log = requests_of(tmp_path)
    check_pace(log)
    pages = [one for one in log if one.path != "/robots.txt"]
    check_repeats(pages, killed)
    check_both_work(log)
    facets = {one.page for one in pages if one.path.startswith("/list?")}
    assert max(Counter(host for host, _ in facets).values()) <= FACETS
    check_store(tmp_path, {path for _, path in (one.page for one in pages)}, len({one.page for one in pages}))


def check_pace(log: list[Request]) -> None:
    """No host is asked more often than its delay, whoever asks."""
    for host in range(HOSTS):
        asked = sorted((one for one in log if one.host == host), key=lambda one: one.sent_at)
        for earlier, later in pairwise(asked):
            # Twice the delay is known to a worker that has read robots.txt.
            is_slow = host == SLOW and earlier.pid == later.pid and earlier.path != "/robots.txt"
            pause_s = DELAY_S * (1 + is_slow) - ROUNDING_S
            assert later.sent_at - earlier.sent_at >= pause_s, (earlier, later)
            assert later.arrived_at - earlier.sent_at >= pause_s, (earlier, later)
    assert all(one.arrived_at >= one.sent_at - ROUNDING_S for one in log)


def check_repeats(pages: list[Request], killed: list[int]) -> None:
    """Every kill hit a worker at work; a page is asked for again if its worker was killed, and for no other reason."""
    assert set(killed) <= {one.pid for one in pages}
    asked: dict[tuple[int, str], Request] = {}
    for one in pages:
        if one.page in asked:
            assert asked[one.page].pid in killed, one
        asked[one.page] = one
    assert sum(one.is_killed_first for one in pages) >= KILLS // 4
    assert not any(one.is_killed_first for one in asked.values())


def check_both_work(log: list[Request]) -> None:
    """Workers were asking while the other was, how many depends on the machine; and both were in the end."""
    times: dict[int, list[float]] = {}
    for one in log:
        times.setdefault(one.pid, []).append(one.sent_at)
    beside = [
        any(other != pid and min(own) <= at <= max(own) for other, all_of in times.items() for at in all_of)
        for pid, own in times.items()
    ]
    assert any(beside)
    assert len({one.pid for one in log[-50:]}) == 2


def check_store(folder: Path, paths: set[str], pages: int) -> None:
    """One record for each page that was asked for, as many as the limit allows."""
    store = SqliteStore(folder / "h.db")
    (run,) = store.runs.list()
    recorded = Counter(record["url"] for _, record in store.ledger(run).pages())
    assert set(recorded.values()) == {1}
    assert len(recorded) == run.fetched == LIMIT == pages
    assert {"/" + url.split("/", 3)[3] for url in recorded} == paths
    assert store.ledger(run).counts().states["leased"] == 0
    assert store.check() == ()
    store.close()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(supervise(Path(sys.argv[1]))))
