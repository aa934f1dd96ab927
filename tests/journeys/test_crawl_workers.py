"""Two processes on one run, killed a hundred times: what the sites see is one polite crawl that keeps its limits."""

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
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from honeyguide import load_profile
from honeyguide.adapters.clock import SystemClock
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.http.robots import read_robots
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import Budgets
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.url.url import Url
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.jobs.politeness import PoliteFetcher
from honeyguide.ports.fetch import Fetched, Headers, Part, Validators

HOSTS = tuple(f"h{n}.example" for n in range(6))
SLOW_HOST = HOSTS[-1]  # its robots.txt asks for twice the delay
PAGES = 40  # of each host
KILLS, DELAY_S = 100, 0.05
FACETS = 8  # of each host that the traps let in
LIMIT = 150
PROFILE = load_profile("docs", topic="fire")


def page_of(url: Url) -> bytes:
    """Link a few pages of the same host, its neighbour, and facets that are made up for each page."""
    digest = hashlib.blake2b(url.text.encode(), digest_size=6).digest()
    links = [f"/fire-{number % PAGES}" for number in digest]
    here = HOSTS.index(url.site)
    links += [f"https://{HOSTS[(here + 1) % len(HOSTS)]}/", f"/list?a={digest[0]}&b={digest[1]}&c=fire&d=1"]
    anchors = "".join(f'<p><a href="{link}">fire {link}</a></p>' for link in links)
    words = " ".join(f"w{number}" for number in digest)
    return f"<title>fire</title><h1>{url.path}</h1><p>fire {words}</p>{anchors}".encode()


class Sites:
    """All hosts at once; each notes its requests, as a server does."""

    def __init__(self, log: Path) -> None:
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators, part
        os.write(self._log, f"{os.getpid()} {time.clock_gettime(time.CLOCK_BOOTTIME)} {url.text}\n".encode())
        await asyncio.sleep(0.002)
        if url.path == "/robots.txt":
            rules = f"User-agent: *\nCrawl-delay: {2 * DELAY_S if url.site == SLOW_HOST else 0}\n"
            return Fetched(url, url, 200, Headers(content_type="text/plain"), rules.encode())
        return Fetched(url, url, 200, Headers(content_type="text/html"), page_of(url))


def crawl(folder: Path, limit: int | None) -> str:
    """Work on the run until there is nothing left to do."""
    store, clock = SqliteStore(folder / "h.db"), SystemClock()
    policy = FetchPolicy(delay_s=DELAY_S, jitter=0.0, robots_ttl_s=3600.0)
    polite = PoliteFetcher(
        Sites(folder / "requests.log"), clock, partial(read_robots, token=policy.robots_token), policy
    )
    profile = replace(
        PROFILE, traps=replace(PROFILE.traps, max_facets=FACETS, max_alike=10**6, min_twin_chars=10**6)
    )
    seeds = tuple(Url.parse(f"https://{host}/") for host in HOSTS)
    request = CrawlRequest(seeds, traversal="bfs", budgets=Budgets(max_pages=limit))
    summary = asyncio.run(
        Crawler(polite, HtmlReader(), clock, store, profile).crawl(request, lambda *_: None)
    )
    store.close()
    return summary.stopped


class Request(NamedTuple):
    """One line of the log."""

    pid: int
    at: float
    url: Url


def requests_of(folder: Path) -> list[Request]:
    lines = ((folder / "requests.log").read_text() if (folder / "requests.log").exists() else "").splitlines()
    return [Request(int(pid), float(at), Url.parse(url)) for pid, at, url in map(str.split, lines)]


def fork(folder: Path, limit: int | None) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            crawl(folder, limit)
            code = 0
        finally:
            os._exit(code)
    return pid


def supervise(folder: Path) -> list[int]:
    """Keep two workers at it, and kill one of them again and again; return who was killed."""
    moments = random.Random(7)  # noqa: S311 - the same moments in every run, as far as they can be
    killed: list[int] = []
    workers = [fork(folder, LIMIT) for _ in range(2)]
    while len(killed) < KILLS:
        time.sleep(moments.random() * 0.12)
        victim = moments.randrange(2)
        os.kill(workers[victim], signal.SIGKILL)
        _, status = os.waitpid(workers[victim], 0)
        if os.WIFSIGNALED(status):  # or it had ended by itself
            killed.append(workers[victim])
        workers[victim] = fork(folder, LIMIT if len(killed) < KILLS // 2 else None)
    codes = [os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]) for worker in workers]
    assert codes == [0, 0], codes
    assert crawl(folder, None) == "complete"
    return killed


@pytest.mark.skipif(
    not hasattr(os, "fork") or not hasattr(time, "CLOCK_BOOTTIME"), reason="no such processes there"
)
def test_two_workers_that_are_killed_again_and_again_are_one_polite_crawl(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, __file__, str(tmp_path)]
    done = subprocess.run(command, env=env, capture_output=True, check=False, timeout=300)  # noqa: S603 - this very file
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    killed = json.loads(done.stdout)
    assert len(killed) == KILLS
    log = requests_of(tmp_path)
    check_pace(log)
    pages = [one for one in log if one.url.path != "/robots.txt"]
    check_repeats(pages, killed)
    facets = {one.url for one in pages if one.url.path == "/list"}
    assert max(Counter(url.site for url in facets).values()) <= FACETS
    store = SqliteStore(tmp_path / "h.db")
    (run,) = store.runs.list()
    recorded = Counter(record["url"] for _, record in store.ledger(run).pages())
    assert set(recorded.values()) == {1}
    assert set(recorded) == {one.url.text for one in pages}
    plain = {url for url in recorded if "/list?" not in url}
    assert plain == reachable()
    assert run.fetched == len(recorded)
    assert store.ledger(run).counts().states["leased"] == store.ledger(run).counts().states["queued"] == 0
    assert store.check() == ()
    store.close()


def check_pace(log: list[Request]) -> None:
    """A request is noted a moment after it was allowed, so a pause may look shorter; twice as often it may not look."""
    for host in HOSTS:
        times = sorted(one.at for one in log if one.url.site == host)
        gaps = sorted(later - earlier for earlier, later in pairwise(times))
        assert gaps[0] > DELAY_S / 2, (host, gaps[:5])
        assert gaps[len(gaps) // 10] > 0.9 * DELAY_S, (host, gaps[: len(gaps) // 5])
        if host == SLOW_HOST:  # of a worker that is new, it asks when that has read its robots.txt
            assert gaps[len(gaps) // 2] > 1.8 * DELAY_S, gaps


def check_repeats(pages: list[Request], killed: list[int]) -> None:
    """Only what a killed worker had in flight, or not yet committed, is fetched again."""
    asked: dict[str, int] = {}
    repeats = 0
    for one in pages:
        if one.url.text in asked:
            repeats += 1
            assert asked[one.url.text] in killed, one
        asked[one.url.text] = one.pid
    assert repeats <= KILLS * 8


def reachable() -> set[str]:
    """Follow all links but facets."""
    found = {f"https://{host}/" for host in HOSTS}
    waiting = list(found)
    while waiting:
        url = Url.parse(waiting.pop())
        page = HtmlReader().page(page_of(url), url, "text/html")
        new = {link.url.text for link in page.links if link.url.path != "/list"} - found
        found |= new
        waiting += new
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(supervise(Path(sys.argv[1]))))
