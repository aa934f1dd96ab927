"""A crawl that is killed, again and again, by the operating system: nothing is lost, nothing recorded twice."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from patience import HANG_S

from honeyguide import load_profile
from honeyguide.adapters.clock import SystemClock
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import Budgets
from honeyguide.core.url.url import Url
from honeyguide.jobs.crawl import Crawler, CrawlRequest
from honeyguide.ports.fetch import Fetched, Headers, Part, Validators
from honeyguide.testing.memory_store import MemoryStore

if TYPE_CHECKING:
    from honeyguide.core.records import Record
    from honeyguide.ports.store import Store

ROOT = "https://a.example"
SIZE = 400
BUDGET = 300


def links_of(page: int) -> list[int]:
    """Link pages at random, but the same way in every process."""
    digest = hashlib.blake2b(str(page).encode(), digest_size=16).digest()
    return [int.from_bytes(digest[n : n + 2], "big") % SIZE for n in range(0, 16, 2)]


def page_of(number: int) -> bytes:
    anchors = "".join(
        f'<p><a href="/fire-{n}">{"fire" if n % 3 else "water"} {n}</a></p>' for n in links_of(number)
    )
    words = " ".join(f"w{n}" for n in links_of(number))
    return f"<title>fire {number}</title><h1>Page {number}</h1><p>{'fire ' * (number % 12)}{words}</p>{anchors}".encode()


class Slow:
    """Answers after a while, and notes every request in a file, as a server would; after `most` it is silent."""

    def __init__(self, log: Path | None = None, pause_s: float = 0.0, most: int = SIZE) -> None:
        self._log = None if log is None else os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._pause_s = pause_s
        self._left = most

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        del validators, part
        if self._log is not None:
            os.write(self._log, f"{url.path}\n".encode())
        self._left -= 1
        if self._left < 0:
            await asyncio.Event().wait()
        number = int(url.path.rpartition("-")[2] or 0) if url.path != "/" else 0
        await asyncio.sleep(self._pause_s * (1 + number % 5))
        return Fetched(url, url, 200, Headers(content_type="text/html"), page_of(number))


def crawl(store: Store, fetcher: Slow) -> list[str]:
    records: list[str] = []

    def keep(record: Record, _: object) -> None:
        records.append(record["url"])

    crawler = Crawler(fetcher, HtmlReader(), SystemClock(), store, load_profile("docs", topic="fire"))
    asyncio.run(
        crawler.crawl(CrawlRequest((Url.parse(f"{ROOT}/"),), budgets=Budgets(max_pages=BUDGET)), keep)
    )
    return records


def reasons_of(store: Store) -> dict[str, str | None]:
    (run,) = store.runs.list()
    return {row.url: row.worth for row in store.ledger(run).rows()}


def start(folder: Path, most: int = SIZE) -> subprocess.Popen[bytes]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen([sys.executable, __file__, str(folder), str(most)], env=env)  # noqa: S603 - this very file


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")
@pytest.mark.slow
@pytest.mark.parametrize(("most_kills", "requests"), [(12, 30), (100, 13)])
def test_kills_at_any_moment_lose_nothing_and_repeat_only_what_was_in_flight(
    tmp_path: Path, most_kills: int, requests: int
) -> None:
    calm = MemoryStore()
    whole = crawl(calm, Slow())
    assert len(whole) == BUDGET
    moments = random.Random(4)  # noqa: S311 - the same moments in every run
    log = tmp_path / "requests.log"
    kills = 0
    while kills < most_kills:
        lines = log.read_text().count("\n") if log.exists() else 0
        more = moments.randrange(1, requests)
        process = start(tmp_path, more + 10)  # it does not end before we look, however slow we are
        wanted = lines + more
        while process.poll() is None and (not log.exists() or log.read_text().count("\n") < wanted):
            time.sleep(0.002)
        if process.poll() is not None:
            break
        time.sleep(moments.random() * 0.02)
        process.kill()
        process.wait()
        kills += 1
    assert kills > most_kills // 2  # or they prove nothing
    assert start(tmp_path).wait(HANG_S) == 0
    store = SqliteStore(tmp_path / "h.db")
    (run,) = store.runs.list()
    pages = [record["url"] for _, record in store.queue(run).pages()]
    assert pages == whole  # each once, in the order of an undisturbed crawl
    assert reasons_of(store) == reasons_of(calm)  # TOPIC-4c: with the counts that made the worth of each
    asked = Counter(log.read_text().split())
    assert set(asked) == {url.removeprefix(ROOT) for url in whole}
    lookahead = load_profile("docs", topic="fire").crawl.lookahead
    # What a process had applied but not yet committed is fetched again too: a few pages, and never more than these.
    assert sum(asked.values()) <= BUDGET + kills * lookahead
    assert (run.fetched, run.stopped) == (BUDGET, "max_pages")
    assert store.check() == ()
    store.close()


if __name__ == "__main__":
    place = Path(sys.argv[1])
    kept = SqliteStore(place / "h.db")
    crawl(kept, Slow(place / "requests.log", 0.002, int(sys.argv[2])))
    kept.close()
