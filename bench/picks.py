"""Picks beside Crawl4AI: `python -m bench.picks --sites FILE --gold PATH [--chromium PATH] [-o table.md]`.

Owns: who takes part, running each in a process of its own, the table. Must not know: how picks are judged
(`core.evaluate` does, as for `honeyguide eval`). Start reading at `main`; a process starts at `_run`. Memory is read as Linux
shows it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urlsplit

import honeyguide
from bench.peers import offered
from honeyguide import pick_sites
from honeyguide.adapters.files.results import read_gold, read_picks
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.pick.evaluate import judge_site, match_sites, page_name, site_key, total
from honeyguide.jobs.pick import PickRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence

    from honeyguide.core.pick.evaluate import Gold, Totals

    Record = dict[str, Any]
    Pick = Callable[[str], Awaitable[Record]]

CAP = 4
QUERY = "fire protection sprinkler inspection testing alarm suppression"  # PICK-13: the guide's own


@dataclass(frozen=True, slots=True)
class Entrant:
    """Who takes part: `strategy` makes it ours, and then a peer's settings mean nothing, and the other way round."""

    name: str
    strategy: str | None = None
    delay_s: float = 0.0
    at_once: int = 1
    is_blended: bool = False
    fetches_chosen: bool = False
    has_browser: bool = False


_POLITE = FetchPolicy().delay_s
ENTRANTS = (
    *(Entrant(f"Honeyguide `{s}`, as installed", s, _POLITE, 16) for s in ("portfolio", "rules", "blend")),
    *(Entrant(f"Honeyguide `{s}`, `--delay 0`", s) for s in ("portfolio", "rules", "blend")),
    Entrant("Crawl4AI over HTTP"),
    Entrant("Crawl4AI over HTTP, chosen pages fetched", fetches_chosen=True),
    Entrant("Crawl4AI over HTTP, 0.6/0.4 blend of its scores", is_blended=True),
    Entrant("Crawl4AI with Chromium", has_browser=True),
)
_NOTES = """\
- All: the same sites on loopback, a process each, the first site once more beforehand as a warm-up; no page and no head is
  cached from an earlier run. *Start* is CPU until that first site is done, imports included. CPU per site is the mean after
  that. Seconds are those of one site, from its first request to its picks.
- Good, core and junk are those of `honeyguide eval`.
- Honeyguide asks for robots.txt first and obeys it, fetches the chosen pages and replaces those that are dead, empty or the
  same page twice; all of that is in its figures. *As installed* it leaves half a second between two requests to a host, so
  its seconds are those of waiting, and works on 16 sites at once; with `--delay 0` on one at a time.
- Crawl4AI has the settings of the document that `blend` is made after: 30 links previewed, 5 at a time, 5 s each, the same
  query, `score_threshold` 0.3, `score_links`, `only_text`. It then neither asks for robots.txt nor waits between requests; its
  previews read no robots.txt whatever is set. The event loop stands still during them, so it works on one site at a time.
- The picks are made from Crawl4AI's links as that document has it: homepage, service areas by name, login, legal and files
  out, doubles out, at most one blog page and only a strong one, then the four best by `total_score` (in this version 0 to 10,
  seven tenths of it intrinsic). *Blend* is 0.6 × contextual + 0.4 × intrinsic ÷ 10 of its two scores instead. Buckets and slug
  tiers are left out: they are the user's to write. The chosen pages are fetched only where it says so.
- Requests are those that the HTTP client was asked for, robots.txt included; a browser's are not known. Memory is the peak of
  the process; with Chromium, plus the peak of the browser and its driver (proportional set size, sampled).
"""


def main() -> None:
    asked = _arguments()
    sites = [line.strip() for line in asked.sites.read_text("utf-8").splitlines() if line.strip()]
    if asked.run is not None:
        asyncio.run(_run(ENTRANTS[asked.run], sites, asked))
        return
    wanted = {site_key(site) for site in sites}
    gold = {site: labels for site, labels in read_gold(asked.gold).items() if site in wanted}
    if not gold:
        sys.exit(f"{asked.gold} labels none of the sites; host and port must be the same")
    report = "\n".join(_report(gold, sites, asked))
    if asked.output:
        asked.output.write_text(report, encoding="utf-8")
    else:
        print(report)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.picks", description="Compare picks on sites.")
    parser.add_argument("--sites", type=Path, required=True, help="a file with one address a line")
    parser.add_argument("--gold", required=True, help="labels, as honeyguide eval reads them")
    parser.add_argument("--chromium", help="a Chromium to run Crawl4AI with, too")
    parser.add_argument("--rounds", type=int, default=1, help="runs of each (default %(default)s)")
    parser.add_argument("-o", "--output", type=Path, help="write the Markdown here")
    parser.add_argument("--run", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


# --- the table --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of an entrant came to: verdicts of the judge and costs."""

    totals: Totals
    seconds: tuple[float, ...]
    failed: int
    used: Record


_TITLES = (
    "who", "good sites", "by core alone", "junk", "picks", "s per site: median", "p90", "all sites, s",
    "CPU s per site", "start, CPU s", "peak MB", "requests per site",
)  # fmt: skip


def _report(gold: dict[str, Gold], sites: Sequence[str], asked: argparse.Namespace) -> Iterator[str]:
    entrants = [
        (number, entrant)
        for number, entrant in enumerate(ENTRANTS)
        if entrant.strategy or (find_spec("crawl4ai") and (asked.chromium or not entrant.has_browser))
    ]
    runs: dict[str, list[Run]] = {entrant.name: [] for _, entrant in entrants}
    for _ in range(asked.rounds):
        for number, entrant in entrants:
            print(f"running: {entrant.name}", file=sys.stderr)
            runs[entrant.name].append(_run_apart(number, gold, asked))
    yield f"| {' | '.join(_TITLES)} |"
    yield f"|---{'|---:' * (len(_TITLES) - 1)}|"
    for name, done in runs.items():
        yield f"| {' | '.join((name, *_cells(done, len(sites))))} |"
    yield from ("", f"{len(sites)} sites, runs of each: {asked.rounds}; {_versions()}.", "")
    left_out = [f"- left out: {entrant.name}\n" for entrant in ENTRANTS if entrant.name not in runs]
    yield "".join((_NOTES, *left_out))


def _cells(runs: Sequence[Run], sites: int) -> Iterator[str]:
    """Write a row: verdicts of the last round, medians of what was used, the highest peak."""
    totals, failed = runs[-1].totals, max(run.failed for run in runs)
    seconds = sorted(second for run in runs for second in run.seconds)
    yield f"{totals.good} of {totals.sites}" + (f" ({failed} failed)" if failed else "")
    yield from map(str, (totals.core, totals.picks.junk, totals.picks.picks))
    yield f"{median(seconds):.2f}"
    yield f"{seconds[math.ceil(0.9 * len(seconds)) - 1]:.2f}"
    yield f"{median(run.used['wall_s'] for run in runs):.1f}"
    yield f"{median(run.used['cpu_s'] for run in runs) / sites:.3f}"
    yield f"{median(run.used['start_s'] for run in runs):.1f}"
    yield f"{max(run.used['peak_mb'] for run in runs):.0f}"
    counted = [run.used["requests"] for run in runs]
    yield "–" if None in counted else f"{fmean(counted) / sites:.1f}"


def _versions() -> str:
    names = [name for name in ("crawl4ai", "playwright") if find_spec(name)]
    peers = "".join(f", {name} {version(name)}" for name in names)
    return f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, honeyguide {honeyguide.__version__}{peers}"


def _run_apart(number: int, gold: dict[str, Gold], asked: argparse.Namespace) -> Run:
    """Run an entrant in a process of its own, with a home of its own: Crawl4AI keeps heads there for a week."""
    with tempfile.TemporaryDirectory(prefix="bench-picks-", ignore_cleanup_errors=True) as folder:
        arguments = ["--sites", asked.sites, "--gold", asked.gold, "--run", str(number), "--into", folder]
        arguments += ["--chromium", asked.chromium] if asked.chromium else []
        home = {"HOME": folder, "CRAWL4_AI_BASE_DIRECTORY": folder, "CRAWL4AI_NO_CLOUD_NOTICE": "1"}
        command = [sys.executable, "-m", "bench.picks", *map(str, arguments)]
        done = subprocess.run(command, env={**os.environ, **home}, stdout=subprocess.DEVNULL, check=False)  # noqa: S603 - ourselves
        if done.returncode:
            sys.exit(f"{ENTRANTS[number].name} ended with exit code {done.returncode}")
        picks = Path(folder) / "picks.jsonl"
        records = [json.loads(line) for line in picks.read_text("utf-8").splitlines()]
        matched = match_sites(gold, read_picks(str(picks), keep_others=False))
        used = json.loads((Path(folder) / "used.json").read_text("utf-8"))
    judged = [judge_site(labels, matched.get(site), CAP) for site, labels in gold.items()]
    failed = sum(record["status"] not in ("ok", "partial") for record in records)
    return Run(total(judged), tuple(record["elapsed_s"] for record in records), failed, used)


# --- one process ------------------------------------------------------------------------------------------------


async def _run(entrant: Entrant, sites: Sequence[str], asked: argparse.Namespace) -> None:
    """Warm up on the first site, pick from all of them, write what came out and what it took."""
    folder: Path = asked.into
    runner = _run_ours if entrant.strategy else _run_crawl4ai
    with _chromium(asked.chromium, folder) if entrant.has_browser else nullcontext() as browser:
        meter = Meter(browser, _CLIENTS[:1] if entrant.strategy else _CLIENTS)
        await runner(entrant, sites[:1], browser)
        os.environ["HOME"] = str(folder / "second")  # where the heads of the warm-up are not
        start_s, meter.requests = meter.cpu_s(), 0
        began = time.monotonic()
        records = await runner(entrant, sites, browser)
        used = {
            "wall_s": time.monotonic() - began, "cpu_s": meter.cpu_s() - start_s, "start_s": start_s,
            "peak_mb": meter.peak_mb(), "requests": None if browser else meter.requests,
        }  # fmt: skip
    (folder / "picks.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")
    (folder / "used.json").write_text(json.dumps(used), "utf-8")


# What sends a request. Ours has no httpx: importing it would cost memory that is not used.
_CLIENTS = (("aiohttp", "ClientSession", "_request"), ("httpx", "AsyncClient", "send"))


class Meter:
    """What this process has used so far, and its browser, if there is one."""

    def __init__(self, browser: Browser | None, clients: Iterable[tuple[str, str, str]]) -> None:
        self.requests = 0
        self._browser = browser
        for module, kind, method in clients:
            self._count(getattr(import_module(module), kind), method)

    def _count(self, client: Any, method: str) -> None:
        send = getattr(client, method)

        async def counted(*args: Any, **settings: Any) -> Any:
            self.requests += 1
            return await send(*args, **settings)

        setattr(client, method, counted)

    def cpu_s(self) -> float:
        return time.process_time() + (self._browser.cpu_s() if self._browser else 0)

    def peak_mb(self) -> float:
        status = Path("/proc/self/status").read_text("ascii")  # getrusage's peak may be that of the parent
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        own = int(found[1]) / 1024 if found else math.nan
        return own + (self._browser.peak_bytes / 2**20 if self._browser else 0)


async def _run_ours(entrant: Entrant, sites: Sequence[str], _browser: Browser | None) -> list[Record]:
    records: dict[int, Record] = {}

    def keep(place: int, record: Mapping[str, Any]) -> None:
        names = ("site", "homepage", "status", "selected", "elapsed_s")
        records[place] = {name: record[name] for name in names}

    request = PickRequest(strategy=entrant.strategy or "portfolio", cap=CAP)
    policy = FetchPolicy(allow_private=True, delay_s=entrant.delay_s)
    await pick_sites(sites, request, policy, keep, at_once=entrant.at_once)
    return [records[place] for place in sorted(records)]


async def _run_crawl4ai(entrant: Entrant, sites: Sequence[str], browser: Browser | None) -> list[Record]:
    theirs = offered("crawl4ai")
    settings = {"config": theirs.BrowserConfig(cdp_url=browser and browser.address, verbose=False)}
    if browser is None:
        strategy = offered("crawl4ai.async_crawler_strategy").AsyncHTTPCrawlerStrategy()
        settings["crawler_strategy"] = strategy
    async with theirs.AsyncWebCrawler(**settings) as crawler:
        return [await _pick_by_crawl4ai(entrant, crawler, site) for site in sites]


async def _pick_by_crawl4ai(entrant: Entrant, crawler: Any, site: str) -> Record:
    theirs = offered("crawl4ai")
    preview = theirs.LinkPreviewConfig(
        include_internal=True, include_external=False, max_links=30, concurrency=5, timeout=5, query=QUERY,
        score_threshold=0.3, verbose=False,
    )  # fmt: skip
    plain = {"only_text": True, "verbose": False}
    config = theirs.CrawlerRunConfig(link_preview_config=preview, score_links=True, **plain)
    began = time.monotonic()
    home = await crawler.arun(site, config=config)
    homepage = home.redirected_url or home.url
    chosen = chosen_of(home.links.get("internal", []), homepage, is_blended=entrant.is_blended)
    for url in chosen if entrant.fetches_chosen else ():
        await crawler.arun(url, config=theirs.CrawlerRunConfig(**plain))
    return {
        "site": site, "homepage": homepage, "status": "ok" if home.success else "unreachable",
        "selected": [{"url": url} for url in chosen], "elapsed_s": time.monotonic() - began,
    }  # fmt: skip


# --- from Crawl4AI's scores to picks ----------------------------------------------------------------------------

_OUT = re.compile(
    r"service[- ]area|login|admin|privacy|policy|terms|legal|\.(?:pdf|jpe?g|png|gif|svg|zip|docx?)$"
)
_BLOG = re.compile(r"/(?:blog|news)(?:/|$)")
_STRONG = 0.6  # PICK-19


def chosen_of(links: Iterable[Record], home: str, *, is_blended: bool) -> list[str]:
    """Choose as the document says a user of Crawl4AI would: filter, sort by score, take four.

    >>> links = [{"href": "http://a.example/about", "total_score": 4.0}, {"href": "http://a.example/fire", "total_score": 7.0}]
    >>> chosen_of(links, "http://a.example/", is_blended=False)
    ['http://a.example/fire', 'http://a.example/about']
    """
    ranked = sorted(
        (-_score(link, is_blended), urlsplit(url).path.strip("/").count("/"), url)  # ties: short paths first
        for link in links
        if (url := urldefrag(link["href"]).url) and not _is_out(url, link.get("text") or "")
    )
    chosen: dict[str, str] = {}
    homes = ["", "/index", page_name(home)]
    for score, _depth, url in ranked:
        name = page_name(url)
        is_weak_blog = _BLOG.search(name) and (-score < _STRONG or any(map(_BLOG.search, chosen)))
        if name not in homes and name not in chosen and not is_weak_blog:
            chosen[name] = url
    return list(chosen.values())[:CAP]


def _is_out(url: str, anchor: str) -> bool:
    path = urlsplit(url).path.lower()
    return bool(_OUT.search(path)) or "service area" in anchor.lower() or "service-area" in anchor.lower()


def _score(link: Record, is_blended: bool) -> float:
    """Give what a link is worth, 0 to 1; a score that Crawl4AI does not have counts as nothing."""
    intrinsic, contextual = link.get("intrinsic_score") or 0.0, link.get("contextual_score") or 0.0
    whole = link.get("total_score")
    if is_blended or whole is None:
        return float(0.6 * contextual + 0.4 * intrinsic / 10)
    return float(whole / 10)


# --- a browser --------------------------------------------------------------------------------------------------


class Browser:
    """A Chromium that listens on an address, and what the processes below this one use: it, and its driver."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.peak_bytes = 0
        self._own = offered("psutil").Process()
        threading.Thread(target=self._sample, daemon=True).start()

    def cpu_s(self) -> float:
        """Add up all of them, those that have ended included."""
        ended = sum(self._own.cpu_times()[2:4])
        alive = self._own.children(recursive=True)
        return float(ended + sum(sum(process.cpu_times()[:4]) for process in alive))

    def _sample(self) -> None:
        gone = offered("psutil").Error
        while True:
            time.sleep(0.5)
            try:
                sizes = [process.memory_full_info().pss for process in self._own.children(recursive=True)]
            except gone:
                continue  # one ended meanwhile
            self.peak_bytes = max(self.peak_bytes, sum(sizes))


@contextmanager
def _chromium(path: str, folder: Path) -> Iterator[Browser]:
    """Start a Chromium of our own: Crawl4AI cannot be told where one is, but connects to one that runs."""
    data = folder / "chromium"
    command = [
        path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0", f"--user-data-dir={data}",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - the user's own browser
        try:
            yield Browser(f"http://127.0.0.1:{_port(data / 'DevToolsActivePort')}")
        finally:
            process.terminate()


def _port(file: Path) -> str:
    """Wait until the browser has written where it listens."""
    for _ in range(300):
        if file.exists() and (lines := file.read_text("ascii").split()):
            return lines[0]
        time.sleep(0.1)
    sys.exit("Chromium did not say within 30 seconds where it listens")


if __name__ == "__main__":
    main()
