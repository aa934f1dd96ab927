"""Look at every view of the studio in a real browser, wide and narrow, light and dark: accessibility, no sideways scrolling, pictures.

    python tools/check_studio.py [--shots FOLDER]

Needs playwright, axe-playwright-python and Debian's chromium, which are no part of [dev]: make an environment of their own, and install
this package into it. What a person does on the pages is in tests/studio/test_browser.py. Everything stays on this machine; a request
to another address is a failure, and so is any error in the browser's console.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
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
        served(demo, folder) as (address, _),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=asked.chromium, args=["--no-sandbox"])
        problems = list(look(browser, address, asked.shots))
        browser.close()
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    sys.stdout.write(f"{len(VIEWS)} views in {len(SIZES)} sizes: {len(problems)} problems\n")
    raise SystemExit(bool(problems))


if __name__ == "__main__":
    main()
