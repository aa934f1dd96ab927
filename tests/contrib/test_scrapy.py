"""The Scrapy add-on: a spider of everyday, in the order of `honeyguide crawl`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip(
    "scrapy", reason="frameworks of plug-ins are in an environment of their own: tools/check_plugins.py"
)
from sites import TOPIC, crawled, served

SPIDER = """
import json, sys
import scrapy
from scrapy.crawler import CrawlerProcess

class Everyday(scrapy.Spider):
    name = "everyday"
    start_urls = [sys.argv[1]]

    def parse(self, response):
        yield {"url": response.url, "title": response.css("title::text").get()}
        for href in response.css("a::attr(href)").getall():
            if "roof" not in href:
                yield response.follow(href, self.parse)

options = json.loads(sys.argv[2])
process = CrawlerProcess({"LOG_LEVEL": "WARNING", "TELNETCONSOLE_ENABLED": False, **options})
crawler = process.create_crawler(Everyday)
items = []
def keep(item, response, spider):
    items.append(item)
crawler.signals.connect(keep, scrapy.signals.item_scraped)
process.crawl(crawler)
process.start()
print(json.dumps({"items": items, "stats": {k: v for k, v in crawler.stats.get_stats().items() if "honeyguide" in k}}))
"""


@pytest.fixture(scope="module")
def spider(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("spider") / "everyday.py"
    file.write_text(SPIDER)
    return file


def run(spider: Path, address: str, **options: object) -> dict[str, object]:
    settings = {"CONCURRENT_REQUESTS": 1, "ROBOTSTXT_OBEY": True, "CLOSESPIDER_PAGECOUNT": 25, **options}
    command = [sys.executable, str(spider), address, json.dumps(settings)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own script
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    assert "Traceback" not in done.stderr
    return {**found, "log": done.stderr}


ADDON = {"ADDONS": {"honeyguide.contrib.scrapy.FocusAddon": 500}, "HONEYGUIDE_TOPIC": TOPIC}


def test_the_first_pages_are_those_of_a_crawl_but_for_links_that_the_spider_leaves_out(spider: Path) -> None:
    with served() as site:
        run(spider, site.root, **ADDON)
    usual = [path for path in crawled(40) if "roof" not in path]
    assert site.asked[:20] == usual[:20]


def test_items_come_through_and_rejected_links_are_counted(spider: Path) -> None:
    with served() as site:
        found = run(spider, site.root, **ADDON)
    items, stats = found["items"], found["stats"]
    assert isinstance(items, list)
    assert isinstance(stats, dict)
    assert len(items) >= 20
    assert stats["honeyguide/relevant"] >= 10


def test_many_requests_at_once_find_the_same_pages(spider: Path) -> None:
    with served() as site:
        run(spider, site.root, **ADDON, CONCURRENT_REQUESTS=8, CLOSESPIDER_PAGECOUNT=0)
    assert len(site.asked) == len(set(site.asked))
    usual = {path for path in crawled(200) if "roof" not in path}
    assert set(site.asked) <= usual


def test_without_a_topic_the_add_on_says_what_to_set(spider: Path) -> None:
    with served() as site:
        found = run(spider, site.root, ADDONS=ADDON["ADDONS"])
    assert "set HONEYGUIDE_TOPIC" in str(found["log"])
