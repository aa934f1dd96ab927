"""Make the pictures of the docs: the studio's views as PNG, and a session in a terminal as SVG; both from the demo site alone.

`python tools/screenshots.py` writes docs/images/terminal.svg and docs/images/studio-*.png; `--terminal` only the first, which needs
no browser. The others need playwright and Debian's chromium, which are no part of [dev]: see tools/check_studio.py.
"""

from __future__ import annotations

import argparse
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path
from typing import TYPE_CHECKING, Any

from check_studio import served
from rich.console import Console
from rich.text import Text

from honeyguide.demo import serve_demo

if TYPE_CHECKING:
    from collections.abc import Iterator

IMAGES = Path(__file__).parents[1] / "docs" / "images"
PORT = 8080  # of the demo site, so that pictures made on another day show the same addresses
COLUMNS = 104
MAX_BYTES = 150_000
SESSION = (
    "honeyguide pick {site} --allow-private --keep kept.db",
    "honeyguide crawl {site} --allow-private --delay 0 --topic alarm -o pages.jsonl",
    "honeyguide explain /larkspur-brochure.pdf",
)
VIEWS = {
    "home": "/",
    "pick": "/pick/site?n=0",
    "find": "/pick/find?search=lighting",
    "what-if": "/what-if",
    "pages": "/crawl/pages?run=1",
    "tree": f"/crawl/tree?run=1&below=127.0.0.1:{PORT}/",
    "live": "/crawl/live?run=1",
    "why": "/why?url=/contact",
    "plan": "/plan",
}
# As rich writes it, without the fonts that it would load from another server.
_SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="A session in a terminal">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: arial; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def typed(command: str, folder: str) -> str:
    """Run a command as in a terminal, and give all that it shows at the end."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 200, COLUMNS, 0, 0))
    line = command.replace("honeyguide ", f"{sys.executable} -m honeyguide ", 1)
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    process = subprocess.Popen(line, shell=True, cwd=folder, env=environment, stdout=theirs, stderr=theirs)  # noqa: S602 - our own session
    os.close(theirs)
    shown = b"".join(iter(lambda: _read(ours), b""))
    process.wait()
    os.close(ours)
    return shown.decode("utf-8")


def _read(ours: int) -> bytes:
    try:
        return os.read(ours, 65_536)
    except OSError:  # the other end is closed
        return b""


def settled(shown: str) -> str:
    """Drop what was overwritten: progress that a later line has replaced."""
    text = re.sub(r"\x1b\[\?25[lh]|\x1b\]8;[^\x1b]*\x1b\\", "", shown.replace("\r\n", "\n"))
    lines: list[str] = []
    for line in text.split("\n"):
        for _ in range(line.count("\x1b[1A")):  # one line up, to write it again
            lines.pop()
        lines.append(re.split(r"\r|\x1b\[2K|\x1b\[1A", line)[-1])
    return "\n".join(lines).strip("\n")


def record_session(folder: str) -> str:
    """Pick and crawl the demo site in a folder, and write what the terminal shows as SVG."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    with serve_demo(PORT) as address:
        for command in (one.format(site=address.removesuffix("/")) for one in SESSION):
            console.print(Text("$ ", "bold green") + Text(command, "bold"))
            console.print(Text.from_ansi(settled(typed(command, folder))), end="\n\n")
    return console.export_svg(title="honeyguide", code_format=_SVG, unique_id="session")


def look(folder: str, chromium: str) -> Iterator[tuple[str, bytes]]:
    """Take a picture of every view."""
    from playwright.sync_api import expect, sync_playwright

    command = [sys.executable, "-m", "honeyguide", "studio", "--keep", "kept.db", "--no-open"]
    with served(command, folder) as (address, _), sync_playwright() as playwright:
        base = address.partition("/?")[0]
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page: Any = browser.new_context(
            viewport={"width": 1200, "height": 760}, color_scheme="light"
        ).new_page()
        expect.set_options(timeout=60_000)
        page.goto(address)
        for name, path in VIEWS.items():
            page.goto(f"{base}{path}")
            if name == "what-if":
                page.locator("[data-control='cap::cap']").fill("6")
                expect(page.locator("[data-what-if-status]")).to_contain_text("1 of 1 site changes")
            if name == "live":
                expect(page.locator("[data-live=state]")).to_contain_text("Stopped")
            yield name, page.screenshot()
        browser.close()


def main() -> None:
    """Make the pictures."""
    parser = argparse.ArgumentParser(description="Make the pictures of the docs, from the demo site.")
    parser.add_argument("--terminal", action="store_true", help="only the session in a terminal")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    asked = parser.parse_args()
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        made = {"terminal.svg": record_session(folder).encode()}
        if not asked.terminal:
            made |= {f"studio-{name}.png": picture for name, picture in look(folder, asked.chromium)}
    for name, picture in made.items():
        if len(picture) > MAX_BYTES:
            raise SystemExit(f"{name} has {len(picture):,} bytes; at most {MAX_BYTES:,} are for the docs")
        (IMAGES / name).write_bytes(picture)
        sys.stdout.write(f"{name}: {len(picture):,} bytes\n")


if __name__ == "__main__":
    main()
