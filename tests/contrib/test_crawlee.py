"""The Crawlee request manager, with a Parsel crawler."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip(
    "crawlee", reason="frameworks of plug-ins are in an environment of their own: tools/check_plugins.py"
)
from sites import TOPIC, crawled, ring, served


@pytest.fixture(autouse=True)
def _storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWLEE_STORAGE_DIR", str(tmp_path))  # else it is a folder of the project


def run(address: str, at_once: int = 1, most: int = 20, fail: str = "") -> list[str]:
    from crawlee import ConcurrencySettings
    from crawlee.crawlers import ParselCrawler

    from honeyguide.contrib.crawlee import FocusRequests

    async def work() -> list[str]:
        judged: list[str] = []
        requests = FocusRequests(address, topic=TOPIC, max_pages=most)
        settings = ConcurrencySettings(desired_concurrency=at_once, max_concurrency=at_once)
        crawler = ParselCrawler(
            request_manager=requests, concurrency_settings=settings, configure_logging=False
        )

        async def handle(context: Any) -> None:
            is_bad = context.request.url.endswith("3")
            if is_bad and fail == "before":
                raise KeyError("of the user")
            judged.extend(page.url for page in await requests.add_page(context))
            if is_bad and fail == "after":
                raise KeyError("of the user")

        crawler.router.default_handler(handle)

        await crawler.run()
        await requests.drop()
        return judged

    return asyncio.run(work())


def test_the_first_pages_are_those_of_a_crawl() -> None:
    with served() as site:
        judged = run(site.root)
    assert site.asked == crawled(20)
    assert [one.removeprefix(site.root) for one in judged] == [path[1:] for path in site.asked]


def test_many_requests_at_once_find_the_same_pages() -> None:
    with served() as site:
        run(site.root, at_once=8)
    assert sorted(site.asked) == sorted(crawled(20))


@pytest.mark.parametrize(("fail", "pages"), [("before", 55), ("after", 61)])
def test_a_handler_that_fails_costs_its_page_and_no_other(fail: str, pages: int) -> None:
    with served(ring()) as site:
        judged = run(site.root, most=200, fail=fail)
    assert len(judged) == len(set(judged)) == pages
    assert len(set(site.asked)) == 64  # of which 3 are gone
    assert len(site.asked) == 64 + 6 * 3  # Crawlee tries again
