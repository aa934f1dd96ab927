"""What a crawl would cost if reading a page cost nothing: `python -m bench.without_reading --folder DIR [--rounds 5]`.

Crawls the same site again and again in one process: as it is, and with the pages as the crawl before read them. So the difference is the
reading (parsing, text, links, contexts), and the rest is a bound for any faster reader, a native one included. Start reading at `main`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sys
import tempfile
import time
from statistics import median
from typing import TYPE_CHECKING

from bench.apart import add_site, site
from bench.crawl import TOPIC
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.cli.main import main as command_line

if TYPE_CHECKING:
    from honeyguide.core.page.page import Page
    from honeyguide.core.url.url import Url


class Remembering:
    """Reads a page, or gives it as it was read before."""

    def __init__(self) -> None:
        self.is_free = False
        self._known: dict[str, Page] = {}
        self._read = HtmlReader.page

    def page(self, body: bytes, url: Url, content_type: str | None = None) -> Page:
        if self.is_free and url.text in self._known:
            return self._known[url.text]
        page = self._known[url.text] = self._read(body, url, content_type)
        return page


def main() -> None:
    """Measure both, in turns."""
    parser = argparse.ArgumentParser(prog="python -m bench.without_reading", description=__doc__)
    add_site(parser)
    parser.add_argument("--topic", default=TOPIC)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    reader = Remembering()
    HtmlReader.page = staticmethod(reader.page)  # type: ignore[arg-type]  # for this process; a crawl asks for no groups
    costs: dict[bool, list[float]] = {False: [], True: []}
    with site(asked):
        for number in range(asked.rounds + 1):
            for is_free, found in costs.items():
                reader.is_free = is_free
                cost = _cost_ms(asked.url, asked.topic)
                if number:  # the first crawls also import
                    found.append(cost)
    print("| a page costs | CPU ms, median (lowest–highest) |\n|---|---:|")
    for is_free, found in costs.items():
        name = "without reading it" if is_free else "as it is"
        print(f"| {name} | {median(found):.2f} ({min(found):.2f}–{max(found):.2f}) |")
    loop = "uvloop" if "uvloop" in sys.modules else asyncio.__name__
    print(
        f"\nRounds: {asked.rounds}; Python {platform.python_version()}, {loop}; start and imports are not counted."
    )


def _cost_ms(url: str, topic: str) -> float:
    """Crawl a site, and give the CPU time of a page."""
    with tempfile.TemporaryDirectory(prefix="without-reading-") as folder:
        os.chdir(folder)
        words = ["crawl", url, "--topic", topic, "--max-pages", "10000", "--delay", "0", "--allow-private"]
        began = time.process_time()
        try:
            command_line([*words, "--quiet", "--no-keep", "-o", "pages.jsonl"])
        except SystemExit as ended:
            if ended.code not in (0, 3):
                raise
        took = time.process_time() - began
        with open("pages.jsonl", encoding="utf-8") as lines:  # noqa: PTH123 - a path of one line
            pages = sum(1 for _ in lines)
        os.chdir("/")
    return took * 1000 / pages


if __name__ == "__main__":
    main()
