"""Relevant pages among the first fetches of a framework, alone and with our plug-in: `python -m bench.plugins FOLDER START --topic P`.

FOLDER is a site as files, START the path to begin at. Each crawl is a process of its own, one request at a time; what was fetched is
read from the server's log and judged as in `harvest.py`. Frameworks that are not installed are left out.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.harvest import is_relevant
from honeyguide import parse_page

FRAMEWORKS = ("scrapy", "crawlee", "crawl4ai")


class Handler(SimpleHTTPRequestHandler):
    """Serves files, and keeps the paths of pages."""

    asked: list[str]

    def do_GET(self) -> None:
        if not self.path.startswith("/robots.txt"):
            self.asked.append(self.path.partition("?")[0])
        super().do_GET()

    def log_message(self, *_: Any) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("start")
    parser.add_argument("--topic", action="append", required=True)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--run", choices=FRAMEWORKS, help=argparse.SUPPRESS)
    parser.add_argument("--plugged", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.run:
        RUN[asked.run](asked.start, asked.topic[0], asked.pages, asked.plugged)
        return
    print(f"| relevant in {asked.pages} fetches | alone | with the plug-in |\n|---|---|---|")
    for name in filter(find_spec, FRAMEWORKS):
        alone, plugged = (
            [harvest(asked, name, topic, with_it) for topic in asked.topic] for with_it in (False, True)
        )
        print(
            f"| {name} | {sum(alone)} ({', '.join(map(str, alone))}) | {sum(plugged)} ({', '.join(map(str, plugged))}) |"
        )


def harvest(asked: argparse.Namespace, name: str, topic: str, plugged: bool) -> int:
    """Count the relevant pages that one crawl has fetched."""
    paths: list[str] = []
    handler = partial(type("Kept", (Handler,), {"asked": paths}), directory=str(asked.folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_address[1]}"
    command = [sys.executable, "-m", "bench.plugins", str(asked.folder), root + asked.start, "--topic", topic]
    command += ["--pages", str(asked.pages), "--run", name, *(["--plugged"] if plugged else [])]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 - our own script
    server.shutdown()
    fetched = list(dict.fromkeys(paths))[: asked.pages]
    files = [asked.folder / path.lstrip("/") for path in fetched]
    pages = [parse_page(file.read_bytes(), f"{root}/{file.name}") for file in files if file.is_file()]
    return sum(is_relevant(page, topic) for page in pages)


def run_scrapy(url: str, topic: str, pages: int, plugged: bool) -> None:
    import scrapy
    from scrapy.crawler import CrawlerProcess

    class Everyday(scrapy.Spider):  # type: ignore[misc]  # an extra
        name = "everyday"
        start_urls = (url,)

        def parse(self, response: Any) -> Any:
            if not hasattr(response, "css"):
                return
            for href in response.css("a::attr(href)").getall():
                if not href.startswith(("mailto:", "javascript:")):
                    yield response.follow(href, self.parse)

    settings: dict[str, Any] = {
        "CONCURRENT_REQUESTS": 1,
        "CLOSESPIDER_PAGECOUNT": pages + 5,
        "LOG_ENABLED": False,
    }
    settings |= {"DEPTH_PRIORITY": 1, "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue"}
    settings |= {"SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue", "TELNETCONSOLE_ENABLED": False}
    if plugged:
        settings |= {"ADDONS": {"honeyguide.contrib.scrapy.FocusAddon": 500}, "HONEYGUIDE_TOPIC": topic}
    else:
        Everyday.allowed_domains = ["127.0.0.1"]
    process = CrawlerProcess(settings)
    process.crawl(Everyday)
    process.start()


def run_crawlee(url: str, topic: str, pages: int, plugged: bool) -> None:
    from crawlee import ConcurrencySettings
    from crawlee.crawlers import ParselCrawler

    from honeyguide.contrib.crawlee import FocusRequests

    async def work() -> None:
        options: dict[str, Any] = {"configure_logging": False, "max_requests_per_crawl": pages}
        options["concurrency_settings"] = ConcurrencySettings(desired_concurrency=1, max_concurrency=1)
        requests = FocusRequests(url, topic=topic, max_pages=pages) if plugged else None
        crawler = ParselCrawler(**options, **({"request_manager": requests} if requests else {}))

        async def handle(context: Any) -> None:
            await (requests.add_page(context) if requests else context.enqueue_links())

        crawler.router.default_handler(handle)
        await crawler.run(None if requests else [url])

    asyncio.run(work())


def run_crawl4ai(url: str, topic: str, pages: int, plugged: bool) -> None:
    from crawl4ai import AsyncWebCrawler, CacheMode, CrawlerRunConfig
    from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy
    from crawl4ai.deep_crawling import BestFirstCrawlingStrategy
    from crawl4ai.deep_crawling.scorers import KeywordRelevanceScorer

    from honeyguide.contrib.crawl4ai import FocusStrategy

    async def work() -> None:
        scorer = KeywordRelevanceScorer(keywords=topic.split("|"))
        alone = BestFirstCrawlingStrategy(max_depth=20, url_scorer=scorer, max_pages=pages)
        strategy = FocusStrategy(topic, max_pages=pages, at_once=1) if plugged else alone
        config = CrawlerRunConfig(deep_crawl_strategy=strategy, cache_mode=CacheMode.BYPASS, verbose=False)
        async with AsyncWebCrawler(crawler_strategy=AsyncHTTPCrawlerStrategy(), verbose=False) as crawler:
            await crawler.arun(url, config=config)

    asyncio.run(work())


RUN = {"scrapy": run_scrapy, "crawlee": run_crawlee, "crawl4ai": run_crawl4ai}

if __name__ == "__main__":
    main()
