"""A crawl beside Scrapy and Crawlee: `python -m bench.crawl --folder DIR [-o table.md]`.

Owns: who takes part, the table. Must not know: how a process is measured (`apart.py`).
Start reading at `main`; a peer's process starts at `_run`.
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import re
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urljoin, urlsplit

import honeyguide
from bench.apart import AccessLog, Request, Used, add_site, run_apart, site
from bench.peers import offered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOPIC = "asyncio|coroutine|event loop"
CONCURRENCY = 16
_PARTIAL = 3  # our exit code when a budget ends a crawl
OURS = "Honeyguide `focused`"
_STARTS = 5
_HREF = re.compile(r'<a [^>]*href="([^"#]+)')


@dataclass(frozen=True, slots=True)
class Entrant:
    """Who takes part; ours has no package."""

    name: str
    package: str | None = None
    kind: str = ""
    is_kept: bool = False


ENTRANTS = (
    Entrant(OURS),
    Entrant(f"{OURS}, pages kept", is_kept=True),
    Entrant("Scrapy CrawlSpider", "scrapy"),
    Entrant("Scrapy CrawlSpider, queue on disk", "scrapy", is_kept=True),
    Entrant("Crawlee ParselCrawler", "crawlee", "ParselCrawler"),
    Entrant("Crawlee ParselCrawler, queue on disk", "crawlee", "ParselCrawler", is_kept=True),
    Entrant("Crawlee HttpCrawler, links by regex", "crawlee", "HttpCrawler"),
)
_NOTES = f"""\
- All: the same site on loopback, a process each, robots.txt obeyed, no delay, links of the same host followed. CPU is that of the
  process and its children, user and system, from start to exit, imports included; *after the start* takes off what a crawl of
  one page costs. Memory is the peak. Medians of interleaved rounds, each starting with another entrant; in a round each crawls
  again until its time is over (`--seconds`), and the mean counts: so a machine with other work is as hard on all of them.
- Pages and megabytes are those of the server's access log.
- Honeyguide is the command as installed (`--no-keep --delay 0 --allow-private --quiet`): it scores each link and page, keeps queue and
  links with their reasons in SQLite with a commit for every few pages, watches for traps and writes a record per page. *Pages kept*
  is without `--no-keep`: the store has the pages themselves, too.
- Scrapy: `CrawlSpider` with one `Rule(LinkExtractor(allow_domains=…), follow=True)` whose callback reads the title;
  {CONCURRENCY} requests at once; no output. *On disk* is `JOBDIR`.
- Crawlee: `enqueue_links()` and the title; storage in memory, or *on disk* by its default storage client.
- Crawlee's HttpCrawler parses nothing: its hrefs are found by one regular expression and joined by `urljoin`. That row is the
  least that a crawl with Crawlee can cost, not a crawler that one would use.
"""


def main() -> None:
    asked = _arguments()
    if asked.run is not None:
        _run(ENTRANTS[asked.run], asked)
        return
    with site(asked):
        report = "\n".join(_report(asked))
    if asked.output:
        asked.output.write_text(report, encoding="utf-8")
    else:
        print(report)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.crawl", description="Compare crawls of a site.")
    add_site(parser)
    parser.add_argument("--pages", type=int, default=10_000, help="at most so many pages (default: all)")
    parser.add_argument("--topic", default=TOPIC, help="what ours looks for (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each (default %(default)s)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=20.0,
        help="each crawls again until a round took it so long (default %(default)g)",
    )
    parser.add_argument("--only", action="append", help="a part of a name; may be repeated")
    parser.add_argument("-o", "--output", type=Path, help="write the Markdown here")
    parser.add_argument("--run", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


# --- the table --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Crawl:
    """One crawl: what it used, and what the server saw of it."""

    used: Used
    requests: tuple[Request, ...]

    @property
    def pages(self) -> int:
        return len(self.requests)

    @property
    def per_1k_s(self) -> float:
        return self.used.cpu_s * 1000 / self.pages


_TITLES = (
    "who", "CPU s per 1,000 pages", "ours is better by", "after the start", "ours is better by",
    "pages per CPU s", "start, CPU s", "wall s", "peak MB", "pages", "MB",
)  # fmt: skip


def _report(asked: argparse.Namespace) -> Iterator[str]:
    wanted = [
        entrant
        for entrant in ENTRANTS
        if (entrant.package is None or find_spec(entrant.package))
        and (not asked.only or entrant.package is None or any(part in entrant.name for part in asked.only))
    ]
    log = AccessLog(asked.log)
    starts = {entrant.name: _start(entrant, asked, log) for entrant in wanted}
    crawls: dict[str, list[Crawl]] = {entrant.name: [] for entrant in wanted}
    for number in range(asked.rounds):
        first = number % len(wanted)
        for entrant in (*wanted[first:], *wanted[:first]):
            crawls[entrant.name].append(_round(entrant, asked, log))
            print(f"{entrant.name}: {crawls[entrant.name][-1].used}", file=sys.stderr)
    yield f"| {' | '.join(_TITLES)} |"
    yield f"|---{'|---:' * (len(_TITLES) - 1)}|"
    for name in crawls:
        yield f"| {' | '.join((name, *_cells(name, crawls, starts)))} |"
    yield from ("", f"Rounds: {asked.rounds}; {_versions()}.", "")
    left_out = [f"- left out: {e.name}\n" for e in ENTRANTS if e not in wanted]
    yield "".join((_NOTES, *left_out))


def _cells(name: str, crawls: dict[str, list[Crawl]], starts: dict[str, Crawl]) -> Iterator[str]:
    def after(who: str, crawl: Crawl) -> float:
        start = starts[who]
        return (crawl.used.cpu_s - start.used.cpu_s) * 1000 / max(1, crawl.pages - start.pages)

    def ratios(cost: Callable[[str, Crawl], float]) -> str:
        if name == OURS:
            return "1.0"
        theirs, ours = (median(cost(who, crawl) for crawl in crawls[who]) for who in (name, OURS))
        pairs = zip(crawls[name], crawls[OURS], strict=True)
        single = sorted(cost(name, their) / cost(OURS, our) for their, our in pairs)
        return f"{theirs / ours:.1f} ({single[0]:.1f}–{single[-1]:.1f})"

    done = crawls[name]
    whole = median(crawl.per_1k_s for crawl in done)
    yield f"{whole:.1f}"
    yield ratios(lambda _, crawl: crawl.per_1k_s)
    yield f"{median(after(name, crawl) for crawl in done):.1f}"
    yield ratios(after)
    yield f"{1000 / whole:.0f}"
    yield f"{starts[name].used.cpu_s:.2f}"
    yield f"{median(crawl.used.wall_s for crawl in done):.1f}"
    yield f"{max(crawl.used.peak_mb for crawl in done):.0f}"
    yield f"{median(crawl.pages for crawl in done):.0f}"
    yield f"{median(sum(r.sent_bytes for r in crawl.requests) for crawl in done) / 1e6:.1f}"


def _start(entrant: Entrant, asked: argparse.Namespace, log: AccessLog) -> Crawl:
    """Crawl one page, a few times; of so short a crawl one may be far off."""
    done = [_crawl(entrant, asked, log, 1) for _ in range(_STARTS)]
    return sorted(done, key=lambda crawl: crawl.used.cpu_s)[_STARTS // 2]


def _round(entrant: Entrant, asked: argparse.Namespace, log: AccessLog) -> Crawl:
    """Crawl for about as long as all others do, so that short crawls and long ones see the same of a busy machine."""
    done = [_crawl(entrant, asked, log, asked.pages)]
    while (took_s := sum(crawl.used.wall_s for crawl in done)) + took_s / len(done) / 2 < asked.seconds:
        done.append(_crawl(entrant, asked, log, asked.pages))
    used = [crawl.used for crawl in done]
    mean_s = (fmean(one.cpu_s for one in used), fmean(one.wall_s for one in used))
    return Crawl(Used(*mean_s, max(one.peak_mb for one in used)), done[-1].requests)


def _crawl(entrant: Entrant, asked: argparse.Namespace, log: AccessLog, pages: int) -> Crawl:
    log.take()
    with tempfile.TemporaryDirectory(prefix="bench-crawl-", ignore_cleanup_errors=True) as folder:
        if entrant.package is None:
            kept = () if entrant.is_kept else ("--no-keep",)
            command = our_command(asked.url, asked.topic, pages, *kept)
            used = run_apart(command, folder, expected=(0, _PARTIAL))
        else:
            number = str(ENTRANTS.index(entrant))
            command = [
                sys.executable,
                "-m",
                "bench.crawl",
                "--url",
                asked.url,
                "--pages",
                str(pages),
                "--run",
                number,
            ]
            used = run_apart(command, folder)
    requests = tuple(log.take())
    if not requests:
        sys.exit(f"{entrant.name}: the access log has no request of it")
    return Crawl(used, requests)


def our_command(url: str, topic: str, pages: int, *more: str) -> list[str]:
    """Give the command line of our crawl, writing into the folder where it is started."""
    command = [sys.executable, "-m", "honeyguide", "crawl", url, "--topic", topic, "--max-pages", str(pages)]
    return [*command, "--delay", "0", "--allow-private", "--quiet", "-o", "pages.jsonl", *more]


def _versions() -> str:
    peers = "".join(f", {name} {version(name)}" for name in ("scrapy", "crawlee") if find_spec(name))
    return f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, honeyguide {honeyguide.__version__}{peers}"


# --- one process of a peer --------------------------------------------------------------------------------------


def _run(entrant: Entrant, asked: argparse.Namespace) -> None:
    if entrant.package == "scrapy":
        _run_scrapy(asked.url, asked.pages, is_kept=entrant.is_kept)
    else:
        asyncio.run(_run_crawlee(entrant, asked.url, asked.pages))


def _run_scrapy(url: str, pages: int, *, is_kept: bool) -> None:
    spiders, extracting = offered("scrapy.spiders"), offered("scrapy.linkextractors")
    host = urlsplit(url).netloc  # Scrapy compares with the port, if there is one

    class Spider(spiders.CrawlSpider):  # type: ignore[misc, name-defined]
        name = "bench"
        start_urls = (url,)
        rules = (spiders.Rule(extracting.LinkExtractor(allow_domains=[host]), callback="read", follow=True),)

        def read(self, response: Any) -> None:
            response.css("title::text").get()

    settings = {
        "ROBOTSTXT_OBEY": True, "CLOSESPIDER_PAGECOUNT": pages, "DOWNLOAD_DELAY": 0, "LOG_ENABLED": False,
        "CONCURRENT_REQUESTS": CONCURRENCY, "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY, "TELNETCONSOLE_ENABLED": False,
        "JOBDIR": "job" if is_kept else None,
    }  # fmt: skip
    process = offered("scrapy.crawler").CrawlerProcess(settings)
    process.crawl(Spider)
    process.start()


async def _run_crawlee(entrant: Entrant, url: str, pages: int) -> None:
    crawlers, clients = offered("crawlee.crawlers"), offered("crawlee.storage_clients")
    crawler = getattr(crawlers, entrant.kind)(
        max_requests_per_crawl=pages,
        respect_robots_txt_file=True,
        configure_logging=False,
        storage_client=(
            clients.FileSystemStorageClient if entrant.is_kept else clients.MemoryStorageClient
        )(),
    )
    crawler.router.default_handler(_by_parsel if entrant.kind == "ParselCrawler" else _by_regex)
    await crawler.run([url])


async def _by_parsel(context: Any) -> None:
    context.selector.css("title::text").get()
    await context.enqueue_links()


async def _by_regex(context: Any) -> None:
    body = (await context.http_response.read()).decode("utf-8", "replace")
    base = context.request.loaded_url or context.request.url
    found = {urldefrag(urljoin(base, href)).url for href in _HREF.findall(body)}
    host = urlsplit(base).netloc
    await context.add_requests([url for url in found if urlsplit(url).netloc == host])


if __name__ == "__main__":
    main()
