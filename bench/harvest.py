"""Relevant pages among the first fetches, beside other focused crawlers: `python -m bench.harvest --folder DIR --topic P`.

Owns: who takes part, the judge, the table. Must not know: how a process is run (`apart.py`), how our crawl decides.
Start reading at `main`; the judge is `is_relevant`; a peer's process starts at `_run`.

Nobody's own account is trusted: what was fetched is read from the server's access log, and every page is judged by the same
function.
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import socket
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit
from urllib.request import urlopen

import honeyguide
from bench.apart import AccessLog, add_site, run_apart, site
from bench.crawl import our_command
from bench.peers import offered
from honeyguide import parse_page
from honeyguide.core.text.fold import fold
from honeyguide.core.text.pattern import compile_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.apart import Request
    from honeyguide.core.page.page import Page

TOPICS = (
    "asyncio|coroutine|event loop",
    "unicode|codec|encoding",
    "socket|network",
    "thread|lock|semaphore",
)
_MENTIONS = 5
_NAME = "docs.example.org"  # trafilatura finds no links on a site whose host is a bare address; no request goes there
_DEPTH = 20  # deeper than any of these sites: nobody is to be stopped by it


@dataclass(frozen=True, slots=True)
class Entrant:
    """Who takes part; ours has a traversal, a peer a package."""

    name: str
    traversal: str = ""
    package: str = ""


ENTRANTS = (
    *(Entrant(f"Honeyguide `{name}`", name) for name in ("focused", "hybrid", "bfs", "dfs")),
    Entrant("Crawl4AI best-first, KeywordRelevanceScorer", package="crawl4ai"),
    Entrant("trafilatura focused_crawler", package="trafilatura"),
)
_NOTES = """\
- Relevant is a page whose title or heading (h1, h2) matches the topic and that mentions it at least five times. The judge reads
  each page itself.
- What was fetched is read from the server's access log, in its order: the first requests of each entrant, whatever was answered,
  robots.txt not counted. A page counts once, however often and by whichever address it was fetched.
- *There are* is the number among all pages that any of them, or ours crawling the whole site, fetched.
- Crawl4AI: `BestFirstCrawlingStrategy` over `AsyncHTTPCrawlerStrategy`, the topic's alternatives as keywords. Its scorer reads
  nothing but the URL. trafilatura's crawler knows no topic: it prefers pages that lead to others. It follows no
  links between bare addresses, so in its process the site has a name.
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
    parser = argparse.ArgumentParser(prog="python -m bench.harvest", description="Compare focused crawls.")
    add_site(parser)
    parser.add_argument(
        "--topic", action="append", help="may be repeated (default: four of the Python manual)"
    )
    parser.add_argument("--fetches", type=int, default=100, help="how many count (default %(default)s)")
    parser.add_argument("-o", "--output", type=Path, help="write the Markdown here")
    parser.add_argument("--run", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    asked.topic = tuple(asked.topic or TOPICS)
    return asked


# --- the judge --------------------------------------------------------------------------------------------------


def is_relevant(page: Page, topic: str) -> bool:
    """Tell whether a page is about a topic: named in its title or a heading, and mentioned often enough.

    >>> html = "<title>Fire doors</title><p>" + "A fire door stops a fire. " * 3
    >>> is_relevant(parse_page(html, "https://a.example/"), "fire"), is_relevant(parse_page(html, "https://a.example/"), "stops")
    (True, False)
    """
    pattern = compile_pattern(topic)
    is_named = any(pattern.search(fold(text)) for text in (page.title, *page.headings))
    return is_named and pattern.count(fold(page.text)) >= _MENTIONS


@cache
def _page(url: str) -> Page | None:
    """Read a page for the judge; None if it is no page."""
    try:
        with urlopen(url, timeout=30) as answer:  # noqa: S310 - the site that is measured
            if "html" not in answer.headers.get("Content-Type", ""):
                return None
            return parse_page(answer.read(), url)
    except OSError:
        return None


def _address(start: str, target: str) -> str:
    """Give one address to a page that has two: `/` and `/index.html`, with and without a query."""
    path = target.partition("?")[0].partition("#")[0]
    return urljoin(start, f"{path.removesuffix('/index.html')}/" if path.endswith("/index.html") else path)


def _relevant(start: str, requests: Sequence[Request], topic: str) -> set[str]:
    addresses = {_address(start, request.target) for request in requests if request.status == 200}
    return {url for url in addresses if (page := _page(url)) is not None and is_relevant(page, topic)}


# --- the table --------------------------------------------------------------------------------------------------


def _report(asked: argparse.Namespace) -> Iterator[str]:
    entrants = [entrant for entrant in ENTRANTS if entrant.traversal or find_spec(entrant.package)]
    columns = [_column(entrants, topic, asked) for topic in asked.topic]
    titles = ("who", *(f"`{topic}`".replace("|", "\\|") for topic in asked.topic), "all")
    yield f"| {' | '.join(titles)} |"
    yield f"|---{'|---:' * (len(titles) - 1)}|"
    for name in [entrant.name for entrant in entrants]:
        counts = [len(found[name]) for found, _ in columns]
        yield f"| {' | '.join((name, *map(str, counts), str(sum(counts))))} |"
    totals = [total for _, total in columns]
    yield f"| *there are* | {' | '.join(map(str, totals))} | {sum(totals)} |"
    yield from ("", f"Relevant pages among the first {asked.fetches} fetches; {_versions()}.", "")
    left_out = [f"- left out: {entrant.name}\n" for entrant in ENTRANTS if entrant not in entrants]
    yield "".join((_NOTES, *left_out))


def _column(
    entrants: Sequence[Entrant], topic: str, asked: argparse.Namespace
) -> tuple[dict[str, set[str]], int]:
    """Let everybody crawl for one topic; gives what each found, and how much there is."""
    found: dict[str, set[str]] = {}
    for entrant in entrants:
        requests = _crawl(entrant, topic, asked, asked.fetches)[: asked.fetches]
        found[entrant.name] = _relevant(asked.url, requests, topic)
        print(f"{topic}: {entrant.name}: {len(found[entrant.name])} of {len(requests)}", file=sys.stderr)
    whole = _relevant(asked.url, _crawl(Entrant("", "bfs"), topic, asked, 10_000), topic)
    return found, len(whole.union(*found.values()))


def _crawl(entrant: Entrant, topic: str, asked: argparse.Namespace, pages: int) -> list[Request]:
    log = AccessLog(asked.log)
    with tempfile.TemporaryDirectory(prefix="bench-harvest-", ignore_cleanup_errors=True) as folder:
        if entrant.traversal:
            command = our_command(asked.url, topic, pages, "--traversal", entrant.traversal)
            run_apart(command, folder, expected=(0, 3))
        else:
            number = str(ENTRANTS.index(entrant))
            options = ["--url", asked.url, "--topic", topic, "--fetches", str(pages), "--run", number]
            run_apart([sys.executable, "-m", "bench.harvest", *options], folder)
    return log.take()


def _versions() -> str:
    peers = "".join(f", {name} {version(name)}" for name in ("crawl4ai", "trafilatura") if find_spec(name))
    return f"Python {platform.python_version()}, honeyguide {honeyguide.__version__}{peers}"


# --- one process of a peer --------------------------------------------------------------------------------------


def _run(entrant: Entrant, asked: argparse.Namespace) -> None:
    if entrant.package == "crawl4ai":
        asyncio.run(_run_crawl4ai(asked.url, asked.topic[0], asked.fetches))
    else:
        _run_trafilatura(asked.url, asked.fetches)


async def _run_crawl4ai(url: str, topic: str, pages: int) -> None:
    theirs, deep = offered("crawl4ai"), offered("crawl4ai.deep_crawling")
    scorer = offered("crawl4ai.deep_crawling.scorers").KeywordRelevanceScorer(keywords=topic.split("|"))
    strategy = deep.BestFirstCrawlingStrategy(max_depth=_DEPTH, max_pages=pages, url_scorer=scorer)
    http = offered("crawl4ai.async_crawler_strategy").AsyncHTTPCrawlerStrategy()
    config = theirs.CrawlerRunConfig(
        deep_crawl_strategy=strategy, cache_mode=theirs.CacheMode.BYPASS, check_robots_txt=True, verbose=False
    )
    async with theirs.AsyncWebCrawler(crawler_strategy=http, verbose=False) as crawler:
        await crawler.arun(url, config=config)


def _run_trafilatura(url: str, pages: int) -> None:
    spider = offered("trafilatura.spider")
    config = offered("trafilatura.settings").use_config()
    config.set("DEFAULT", "SLEEP_TIME", "0")
    config.set("DEFAULT", "SSRF_PROTECTION", "off")  # its setting for sites on one's own machine
    there = urlsplit(url)
    named = there._replace(netloc=f"{_NAME}:{there.port or 80}")
    look_up = socket.getaddrinfo

    def renamed(host: str, *rest: Any, **settings: Any) -> Any:
        return look_up(there.hostname if host == _NAME else host, *rest, **settings)

    socket.getaddrinfo = renamed  # type: ignore[assignment]  # the name of the site, for a peer that follows no bare address
    spider.focused_crawler(named.geturl(), max_seen_urls=pages, config=config)


if __name__ == "__main__":
    main()
