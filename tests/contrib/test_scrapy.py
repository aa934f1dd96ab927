"""The Scrapy add-on: a spider of everyday, in the order of `honeyguide crawl`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip(
    "scrapy", reason="frameworks of plug-ins are in an environment of their own: tools/check_plugins.py"
)
from sites import TOPIC, crawled, ring, served

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

class Careless(Everyday):  # follow_all raises an exception at the first mailto: link
    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a")

class CarelessList(Everyday):
    def parse(self, response):
        return [{"url": response.url}, *response.follow_all(css="a")]

class CarelessCoroutine(Everyday):
    async def parse(self, response):
        return [{"url": response.url}, *response.follow_all(css="a")]

class Careful(Everyday):
    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a[href^='/']")

class Form(Careful):
    def parse(self, response):
        yield from super().parse(response)
        yield scrapy.FormRequest(response.url, formdata={"a": "b"}, meta=response.meta, callback=self.answer)

    def answer(self, response):
        yield {"form": response.url}

class BadStart(Careful):
    async def start(self):
        yield scrapy.Request(self.start_urls[0])
        raise KeyError("of the user")

class Errbacks(Careful):
    def parse(self, response):
        yield {"url": response.url}
        for link in response.css("a[href^='/']::attr(href)").getall():
            yield response.follow(link, self.parse, errback=self.failed)

    async def failed(self, failure):
        yield {"failed": failure.request.url}

class Building(Careful):  # makes requests that no page links
    def parse(self, response):
        yield from super().parse(response)
        yield response.follow("/built", self.parse)
        yield response.follow("/built.pdf", self.parse)
        yield response.follow("/let-pass", self.parse, meta={"honeyguide": False})

class Again(Careful):  # asks for each page once more
    def parse(self, response, again=False):
        if again:
            yield from super().parse(response)
        else:
            yield response.request.replace(dont_filter=True, cb_kwargs={"again": True})

class Closing(Careful):
    def parse(self, response):
        yield from super().parse(response)
        raise scrapy.exceptions.CloseSpider("enough")

class Refuse:
    def process_request(self, request):
        if request.url.endswith("9"):
            raise scrapy.exceptions.IgnoreRequest("of the user")

class Drop:
    async def process_spider_output(self, response, result):
        async for one in result:
            if not getattr(one, "url", "").endswith("9"):
                yield one

options = json.loads(sys.argv[2])
process = CrawlerProcess({"LOG_LEVEL": "WARNING", "TELNETCONSOLE_ENABLED": False, **options})
crawler = process.create_crawler(globals()[sys.argv[3]])
items = []
def keep(item, response, spider):
    items.append(item)
crawler.signals.connect(keep, scrapy.signals.item_scraped)
process.crawl(crawler)
process.start()
stats = {k: v for k, v in crawler.stats.get_stats().items() if k.startswith(("honeyguide", "spider_exc", "finish_reason", "request_depth"))}
print(json.dumps({"items": items, "stats": stats}))
"""


@pytest.fixture(scope="module")
def spider(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("spider") / "everyday.py"
    file.write_text(SPIDER)
    return file


def run(spider: Path, address: str, **options: object) -> dict[str, Any]:
    found = crawl_with("Everyday", spider, address, **options)
    assert "Traceback" not in found["log"]
    return found


def crawl_with(kind: str, spider: Path, address: str, **options: object) -> dict[str, Any]:
    settings = {"CONCURRENT_REQUESTS": 1, "ROBOTSTXT_OBEY": True, "CLOSESPIDER_PAGECOUNT": 25, **options}
    command = [sys.executable, str(spider), address, json.dumps(settings), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own script
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout.splitlines()[-1]), "log": done.stderr}


def met(kind: str, spider: Path, **options: object) -> tuple[set[str], dict[str, Any], str]:
    """Crawl the ring of pages to its end; gives the paths of the items, the figures, and the log."""
    with served(ring()) as site:
        found = crawl_with(kind, spider, site.root, **{"CLOSESPIDER_PAGECOUNT": 0, **options})
    urls = [one.get("url") for one in found["items"]]
    assert len(urls) == len(set(urls)) or None in urls
    return {url.removeprefix(site.root) for url in urls if url}, found["stats"], found["log"]


ADDON: dict[str, Any] = {"ADDONS": {"honeyguide.contrib.scrapy.FocusAddon": 500}, "HONEYGUIDE_TOPIC": TOPIC}


def test_the_first_pages_are_those_of_a_crawl_but_for_links_that_the_spider_leaves_out(spider: Path) -> None:
    with served() as site:
        run(spider, site.root, **ADDON)
    usual = [path for path in crawled(40) if "roof" not in path]
    assert site.asked[:20] == usual[:20]


def test_items_come_through_and_rejected_links_are_counted(spider: Path) -> None:
    with served() as site:
        found = run(spider, site.root, **ADDON)
    assert len(found["items"]) >= 20
    assert found["stats"]["honeyguide/relevant"] >= 10


def test_many_requests_at_once_find_the_same_pages(spider: Path) -> None:
    with served() as site:
        run(spider, site.root, **ADDON, CONCURRENT_REQUESTS=8, CLOSESPIDER_PAGECOUNT=0)
    assert len(site.asked) == len(set(site.asked))
    usual = {path for path in crawled(200) if "roof" not in path}
    assert set(site.asked) <= usual


@pytest.mark.parametrize("at_once", [1, 8])
@pytest.mark.parametrize("kind", ["Careless", "CarelessList", "CarelessCoroutine"])
def test_a_callback_that_fails_costs_its_page_and_no_other(spider: Path, kind: str, at_once: int) -> None:
    plain, usual, _ = met(kind, spider, CONCURRENT_REQUESTS=at_once)
    pages, stats, log = met(kind, spider, CONCURRENT_REQUESTS=at_once, **ADDON)
    assert pages == plain
    assert len(pages) > 40
    errors = "spider_exceptions/ValueError"
    assert stats[errors] == usual[errors] == 6
    assert log.count("Spider error processing") == 6
    assert stats["honeyguide/relevant"] >= 40


def test_a_page_that_is_gone_is_counted_without_a_word(spider: Path) -> None:
    pages, stats, log = met("Careful", spider, **ADDON)
    assert log == ""
    assert len(pages) == 61
    assert stats["honeyguide/rejected/http-404"] == 3


def test_a_page_that_cannot_be_fetched_is_passed_over(spider: Path) -> None:
    refuse = {"DOWNLOADER_MIDDLEWARES": {"__main__.Refuse": 1}}
    pages, stats, log = met("Careful", spider, **refuse, **ADDON)
    assert log == ""
    assert pages == met("Careful", spider, **refuse)[0]
    assert stats["honeyguide/rejected/declined"] == 6


def test_a_page_that_the_spider_asks_for_again_is_judged_by_its_last_answer(spider: Path) -> None:
    pages, stats, log = met("Again", spider, **ADDON)
    assert "Traceback" not in log
    assert pages == met("Careful", spider, **ADDON)[0]
    assert stats["honeyguide/relevant"] >= 40


def test_errbacks_are_called_as_in_scrapy_alone(spider: Path) -> None:
    options = {"DOWNLOADER_MIDDLEWARES": {"__main__.Refuse": 1}, "CLOSESPIDER_PAGECOUNT": 0}
    failed = []
    for addon in ({}, ADDON):
        with served(ring()) as site:
            items = crawl_with("Errbacks", spider, site.root, **options, **addon)["items"]
        urls = [one.get("failed") or one["url"] for one in items]
        failed.append(sorted(url.removeprefix(site.root) for url in urls))
    assert failed[0] == failed[1]
    assert len(failed[0]) == 64


def test_a_request_that_another_middleware_drops_does_not_hold_up_the_others(spider: Path) -> None:
    drop = {"SPIDER_MIDDLEWARES": {"__main__.Drop": 1}}
    pages, _, log = met("Careful", spider, **drop, **ADDON)
    assert log == ""
    assert pages >= met("Careful", spider, **drop)[0]


def test_the_depth_of_a_page_is_that_of_scrapy_alone(spider: Path) -> None:
    assert met("Careful", spider, DEPTH_LIMIT=2, **ADDON)[0] == met("Careful", spider, DEPTH_LIMIT=2)[0]


def test_a_form_with_the_meta_of_its_page_passes(spider: Path) -> None:
    pages, _, log = met("Form", spider, **ADDON)
    assert "InputError" not in log
    assert len(pages) == 61


def test_requests_that_a_start_made_before_it_failed_are_followed(spider: Path) -> None:
    pages, stats, _ = met("BadStart", spider, **ADDON)
    assert len(pages) == 61
    assert stats["spider_exceptions/KeyError"] == 1


def test_requests_that_no_page_links_are_counted_named_and_let_pass(spider: Path) -> None:
    with served(ring()) as site:
        found = crawl_with("Building", spider, site.root, **{**ADDON, "CLOSESPIDER_PAGECOUNT": 0})
    stats, log = found["stats"], found["log"]
    assert stats["honeyguide/not-linked"] == 2
    assert site.asked.count("/let-pass") == 1
    assert "/built" not in site.asked
    assert log.count("2 requests were not made, such as http://127.0.0.1:") == 1
    assert "meta={'honeyguide': False} lets one pass" in log


def test_a_spider_may_still_close_itself(spider: Path) -> None:
    assert met("Closing", spider, **ADDON)[1]["finish_reason"] == "enough"


@pytest.mark.parametrize(
    ("setting", "said"),
    [({}, "InputError: set HONEYGUIDE_TOPIC to what the spider looks for, such as 'fire|alarm'"),
     ({"HONEYGUIDE_TOPIC": "fire|alarm", "HONEYGUIDE_PROFILE": "nobody"}, "no profile is named 'nobody'")],
)  # fmt: skip
def test_without_a_topic_nothing_is_crawled(tmp_path: Path, setting: dict[str, str], said: str) -> None:
    file = tmp_path / "spider.py"
    with served() as site:
        file.write_text(
            f"import scrapy\nclass One(scrapy.Spider):\n    name, start_urls = 'one', [{site.root!r}]\n"
            f"    custom_settings = { ({'ADDONS': ADDON['ADDONS'], **setting})!r}\n"
        )
        command = [sys.executable, "-m", "scrapy", "runspider", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - as above
    assert done.returncode == 1
    assert said in done.stderr.splitlines()[-1]
    assert site.asked == []
