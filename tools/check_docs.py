"""Build the documentation site strictly, then open every page in a browser.

    python tools/check_docs.py                 build with mkdocs --strict, and open every page with Chromium
    python tools/check_docs.py --no-browser    build only
    python tools/check_docs.py --zensical      build with Zensical, too
    python tools/check_docs.py --words         count the words of each page without its listings, and build nothing

Each page is opened at 390 and 1280 pixels, light and dark. A console error, a request to another host, a page that scrolls
sideways, a page without a heading, a search that finds nothing or a page that no menu leads to fails. Needs the extra `docs`;
the browser part needs playwright and a Chromium (`CHROMIUM`, or /usr/bin/chromium).
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
WIDTHS = (390, 1280)
SCHEMES = ("light", "dark")
GENERATED = "Written by tools/make_reference.py"
GUIDE = (
    "README.md",
    "docs/index.md",
    "docs/tutorial.md",
    "docs/guides/",
    "docs/concepts/",
    "docs/reference/",
)
NO_PROSE = re.compile(r"^(```+).*?^\1 *$|<!--.*?-->|(?<=\])\([^)\s]+\)", re.MULTILINE | re.DOTALL)
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Quiet(SimpleHTTPRequestHandler):
    """Serves the site and says nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is inherited
        """Say nothing."""


def count_words(text: str) -> int:
    """Count the words of a page: no listings, no comments, no targets of links, no rulers of tables."""
    return sum(any(letter.isalnum() for letter in word) for word in NO_PROSE.sub("", text).split())


def words() -> Iterator[str]:
    """Give a line for each page with its words, written by hand and generated apart."""
    pages = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    texts = {str(page.relative_to(ROOT)): page.read_text("utf-8") for page in pages}
    total = 0
    for title in ("by hand", "generated"):
        counts = {
            name: count_words(text)
            for name, text in texts.items()
            if (GENERATED in text) == (title == "generated")
        }
        yield from (f"{count:7,}  {name}" for name, count in counts.items())
        yield f"{sum(counts.values()):7,}  {title}\n"
        total += sum(counts.values())
    guide = sum(count_words(text) for name, text in texts.items() if name.startswith(GUIDE))
    yield f"{guide:7,}  README, index, tutorial, guides, concepts and reference"
    yield f"{total:7,}  together"


def build(site: Path) -> list[str]:
    """Build with MkDocs; return what is wrong."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - ourselves
    return [] if done.returncode == 0 else [f"mkdocs: {done.stderr.strip()}"]


def build_with_zensical() -> list[str]:
    """Build a copy with Zensical; a warning is a mistake."""
    with TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "docs", Path(folder, "docs"))
        shutil.copy(ROOT / "mkdocs.yml", folder)
        command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - as above
    text = done.stdout + done.stderr
    return [f"zensical: {text.strip()}"] if done.returncode or "Warning" in text else []


def open_pages(site: Path) -> list[str]:
    """Open every page in every look; return what is wrong."""
    from playwright.sync_api import sync_playwright

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    pages = sorted(str(page.relative_to(site)) for page in site.rglob("*.html") if page.name != "404.html")
    wrong: list[str] = []
    with sync_playwright() as playwright:
        browser: Any = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for width in WIDTHS:
            for scheme in SCHEMES:
                context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
                for page in pages:
                    wrong += [f"{page} at {width}, {scheme}: {text}" for text in look(context, address, page)]
                context.close()
        wrong += search(browser, address)
        wrong += [f"{page}: no menu leads there" for page in unreachable(browser, address, pages)]
        browser.close()
    server.shutdown()
    server.server_close()
    sys.stdout.write(f"{len(pages)} pages, each opened {len(WIDTHS) * len(SCHEMES)} times\n")
    return wrong


def look(context: Any, address: str, page: str) -> Iterator[str]:
    """Open one page; give what is wrong with it."""
    wrong: list[str] = []
    tab = context.new_page()
    tab.on(
        "console",
        lambda message: wrong.append(f"console: {message.text}") if message.type == "error" else None,
    )
    tab.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    tab.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((address, "data:", "blob:"))
            else wrong.append(f"asks {request.url}")
        ),
    )
    tab.goto(address + page, wait_until="load")
    if tab.evaluate(SIDEWAYS) > 0:
        wrong.append("scrolls sideways")
    if not tab.locator("h1").count():
        wrong.append("has no heading")
    tab.close()
    yield from wrong


def search(browser: Any, address: str) -> Iterator[str]:
    """Search for a word that must be found."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(address + "index.html")
    tab.locator("input.md-search__input").first.fill("portfolio")
    try:
        tab.locator(".md-search-result__item").first.wait_for(timeout=60_000)
    except Exception as error:  # noqa: BLE001 - whatever the browser says is the finding
        yield f"search finds nothing: {error}"
    tab.close()


def unreachable(browser: Any, address: str, pages: list[str]) -> set[str]:
    """Name the pages that the menu of the first page does not lead to."""
    tab = browser.new_page()
    tab.goto(address + "index.html")
    links = tab.evaluate("[...document.querySelectorAll('nav a[href]')].map(link => link.href.split('#')[0])")
    tab.close()
    return {page for page in pages if address + page not in links and page != "index.html"}


def main(args: list[str]) -> int:
    """Build, look, and say what is wrong."""
    if "--words" in args:
        sys.stdout.writelines(f"{line}\n" for line in words())
        return 0
    with TemporaryDirectory() as folder:
        site = Path(folder, "site")
        wrong = build(site)
        if "--zensical" in args:
            wrong += build_with_zensical()
        if not wrong and "--no-browser" not in args:
            if find_spec("playwright") is None:
                wrong = ["playwright is missing: pip install playwright, or --no-browser"]
            else:
                wrong = open_pages(site)
    sys.stdout.writelines(f"{text}\n" for text in wrong)
    sys.stdout.write("The site is in order.\n" if not wrong else f"Mistakes: {len(wrong)}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` is no mistake
    sys.exit(main(sys.argv[1:]))
