"""Check the studio in a real browser: every view, what-if, labels, saving, a crawl that runs, mistakes, keys, and accessibility.

Needs playwright, axe-playwright-python and Debian's chromium, which are no part of [dev]: make an environment of their own,
install this package into it, and run `python tools/check_studio.py [--shots FOLDER]`. Everything stays on this machine; a request to
another address is a failure, and so is any error in the browser's console.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

VIEWS = {
    "home": "/",
    "pick": "/pick",
    "site": "/pick/site?n=0",
    "find": "/pick/find?search=lighting",
    "ways": "/pick/find?search=lighting",
    "what-if": "/what-if",
    "crawl": "/crawl",
    "pages": "/crawl/pages?run=1",
    "summary": "/crawl/summary?run=1",
    "tree": "/crawl/tree?run=1",
    "live": "/crawl/live?run=1",
    "why": "/why?url=/about",
    "plan": "/plan",
}
SIZES = ((1280, "light"), (1280, "dark"), (390, "light"), (390, "dark"))


@contextmanager
def served(command: list[str], folder: str) -> Iterator[tuple[str, int]]:
    """Run a studio; gives its address and its process."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment) as process:  # noqa: S603 - ourselves
        try:
            for line in process.stdout or ():
                if found := re.search(r"http://\S+token=\S+", line):
                    yield found[0], process.pid
                    break
        finally:
            process.terminate()


class Watched:
    """A page whose console errors and requests are noted."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.problems: list[str] = []
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.problems.append(f"script: {error}"))
        page.on("request", self._note)

    def _hear(self, message: Any) -> None:
        if message.type == "error":
            self.problems.append(f"console: {message.text}")

    def _note(self, request: Any) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "data:")):
            self.problems.append(f"request to {request.url}")


def walk(browser: Any, address: str, folder: str) -> list[str]:
    """Do what a person does, from the first view to a saved profile."""
    from playwright.sync_api import expect

    base = address.partition("/?")[0]
    watched = Watched(browser.new_context().new_page())
    page = watched.page
    page.goto(address)
    expect(page).to_have_url(f"{base}/")
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(page).to_have_url(f"{base}/crawl")
    page.get_by_role("link", name="Run 1").click()
    page.get_by_label("Search URLs and titles").fill("about")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("tbody tr").first).to_contain_text("about")
    page.get_by_role("link", name="Why?").first.click()
    expect(page.locator(".box")).to_contain_text("By its address it is inside the crawl")
    page.goto(f"{base}/crawl/live?run=1")
    expect(page.locator("[data-live=state]")).to_contain_text("Stopped")
    expect(page.locator("[data-live=fetched]")).not_to_have_text("–")
    page.goto(f"{base}/pick")
    page.keyboard.press("/")
    page.keyboard.type("no such site")
    expect(page.locator("[data-count]").first).to_contain_text("0 of 1")
    page.goto(f"{base}/")
    page.get_by_label(re.compile("^Why was a page")).fill("emergency lighting")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="How to get it in").click()
    page.get_by_role("button", name="Preview in What if").first.click()
    expect(page).to_have_url(f"{base}/what-if")
    expect(page.locator("article.changed")).to_contain_text("emergency-lighting")
    page.get_by_role("button", name="Undo all changes").click()
    expect(page.locator("[data-trial-status]")).to_have_text("0 of 1 sites change.")
    page.goto(f"{base}/pick/site?n=0")
    page.locator("button[data-label=core]").first.click()
    expect(page.locator("button[data-label=core]").first).to_have_attribute("aria-pressed", "true")
    page.goto(f"{base}/what-if")
    page.get_by_label(re.compile("^cap")).fill("2")
    expect(page.locator("[data-trial-status]")).to_have_text("1 of 1 sites change.")
    expect(page.locator("#toml")).to_have_value(re.compile("cap = 2"))
    expect(page.locator("article.changed")).to_contain_text("went")
    expect(page.locator("[data-trial-figures]")).to_contain_text("before")
    page.locator("#toml").fill(page.locator("#toml").input_value() + "[[[")
    expect(page.locator("#problems")).to_contain_text(re.compile(r"Line \d+: is not TOML"))
    page.get_by_label(re.compile("^cap")).fill("3")
    expect(page.locator("#problems")).to_have_text("")
    page.get_by_label("Profile", exact=True).fill(f"{folder}/mine.toml")
    page.get_by_role("button", name="Save profile").click()
    expect(page.locator("[data-save-status]")).to_contain_text("Saved")
    if "cap = 3" not in Path(f"{folder}/mine.toml").read_text("utf-8"):
        watched.problems.append("the saved profile lacks the change")
    return watched.problems


def watch_crawl(browser: Any, folder: str) -> list[str]:
    """Watch a crawl that another process is running: its figures grow while somebody looks."""
    from playwright.sync_api import expect

    from honeyguide.demo import serve_demo

    honeyguide, store = [sys.executable, "-m", "honeyguide"], f"{folder}/live.db"
    with serve_demo() as site, ExitStack() as stack:
        options = ["--allow-private", "--delay", "0.7", "--topic", "alarm|fire", "--store", store, "--quiet"]
        command = [*honeyguide, "crawl", site, *options]
        crawl = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)  # noqa: S603 - ourselves
        stack.callback(crawl.wait)
        stack.callback(crawl.terminate)
        while not Path(store).exists():
            time.sleep(0.1)
        time.sleep(3)
        address = stack.enter_context(served([*honeyguide, "studio", "--store", store, "--no-open"], folder))
        watched = Watched(browser.new_context().new_page())
        watched.page.goto(address)
        watched.page.goto(f"{address.partition('/?')[0]}/crawl/live?run=1")
        fetched = watched.page.locator("[data-live=fetched]")
        expect(fetched).to_have_text(re.compile(r"\d"))
        expect(fetched).not_to_have_text(fetched.inner_text(), timeout=20_000)
    return watched.problems


def read_report(browser: Any, folder: str) -> list[str]:
    """Read a report of many sites: open one, filter, sort; hostile titles stay text."""
    from playwright.sync_api import expect

    from honeyguide.report import write_report

    evil = "</noscript><script>document.title = 'taken'</script>"
    page = {
        "url": "https://a.example/x",
        "title": evil,
        "rank": 1,
        "score": 9,
        "bucket": "about",
        "points": [],
    }
    records = (
        {"site": f"site-{n}.example", "status": "ok", "title": evil, "selected": [page], "candidates": [page]}
        for n in range(1_000)
    )
    write_report(records, Path(folder) / "report.html", [("Command", "honeyguide pick")])
    watched = Watched(browser.new_context().new_page())
    shown = watched.page
    shown.goto(f"file://{folder}/report.html")
    watched.problems = [one for one in watched.problems if "request to file:" not in one]
    shown.get_by_label("Filter").fill("site-642")
    expect(shown.locator("#shown")).to_have_text("1 of 1000", timeout=20_000)
    shown.get_by_text("site-642.example").click()
    expect(shown.locator("#s643 ol.pages").first).to_contain_text("</noscript><script>")
    shown.get_by_label("Filter").fill("")
    shown.get_by_label("Order").select_option("name")
    expect(shown.locator("details.site").nth(1)).to_contain_text("site-1.example")
    if "taken" in shown.title():
        watched.problems.append("a title ran as a script")
    return watched.problems


def look(browser: Any, address: str, shots: str | None) -> Iterator[str]:
    """Look at every view in every size: nothing scrolls sideways, nothing fails in the console, axe finds nothing serious."""
    from axe_playwright_python.sync_playwright import Axe

    base = address.partition("/?")[0]
    for width, scheme in SIZES:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
        )
        watched = Watched(context.new_page())
        page = watched.page
        page.goto(address)
        for name, path in VIEWS.items():
            page.goto(f"{base}{path}")
            if name == "ways":
                page.get_by_role("link", name="How to get it in").click()
            if page.locator("html").evaluate("page => page.scrollWidth - page.clientWidth") > 0:
                yield f"{name} scrolls sideways at {width} pixels"
            for fault in Axe().run(page).response["violations"]:
                if fault["impact"] in ("serious", "critical"):
                    nodes = "; ".join(node["html"][:120] for node in fault["nodes"][:3])
                    yield f"{name}, {width} {scheme}: {fault['id']}: {fault['help']}: {nodes}"
            if shots is not None:
                page.screenshot(path=f"{shots}/{name}-{width}-{scheme}.png", full_page=True)
        yield from watched.problems
        context.close()


def main() -> None:
    """Check, and say what is wrong."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description="Check the studio in a real browser.")
    parser.add_argument("--shots", metavar="FOLDER", help="keep a picture of every view in every size")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    asked = parser.parse_args()
    demo = [sys.executable, "-m", "honeyguide", "demo", "--studio", "--no-open"]
    with (
        tempfile.TemporaryDirectory() as folder,
        served(demo, folder) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=asked.chromium, args=["--no-sandbox"])
        problems = [
            *walk(browser, address, folder),
            *watch_crawl(browser, folder),
            *read_report(browser, folder),
            *look(browser, address, asked.shots),
        ]
        browser.close()
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    sys.stdout.write(f"{len(VIEWS)} views in {len(SIZES)} sizes: {len(problems)} problems\n")
    raise SystemExit(bool(problems))


if __name__ == "__main__":
    main()
