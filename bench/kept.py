"""What keeping pages costs: `python -m bench.kept FOLDER [--pages 10000]`.

The HTML files of FOLDER are served on loopback by another process, and crawled twice as the command line does it: with pages kept in the
store, and with --no-keep. Prints CPU (user and system) and bytes of the store, per page, and the difference.
"""

from __future__ import annotations

import argparse
import random
import resource
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from xml.sax.saxutils import escape


def main() -> None:
    """Crawl twice, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=10_000)
    options = parser.parse_args()
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "http.server",
        str(port),
        "--bind",
        "127.0.0.1",
        "-d",
        str(options.folder),
    ]
    quiet = subprocess.DEVNULL
    server = subprocess.Popen(command, stdout=quiet, stderr=quiet)  # noqa: S603 - our own command
    try:
        with tempfile.TemporaryDirectory() as place:
            sitemap = _listed(options.folder, options.pages, f"http://127.0.0.1:{port}/", Path(place))
            time.sleep(1)
            for more in ((), ("--no-keep",)):
                _measure(sitemap, options.pages, Path(place) / f"{len(more)}.db", more)
    finally:
        server.kill()


def _listed(folder: Path, count: int, home: str, place: Path) -> Path:
    """Write a sitemap of some pages, drawn at random, always the same ones."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    random.Random("kept").shuffle(files)  # noqa: S311 - a draw that can be repeated
    urls = "".join(f"<url><loc>{escape(home + file)}</loc></url>" for file in files[:count])
    sitemap = place / "sitemap.xml"
    sitemap.write_text(
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>', "utf-8"
    )
    return sitemap


def _measure(sitemap: Path, count: int, store: Path, more: tuple[str, ...]) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [
        sys.executable, "-m", "honeyguide", "crawl", "--sitemap", str(sitemap), "--store", str(store), "--traversal", "bfs",
        "--topic", "memory|thread", "--max-pages", str(count), "--max-depth", "1", "--allow-private", "--delay", "0",
        "--concurrency", "8", "--quiet", "-o", str(store.with_suffix(".jsonl")), *more,
    ]  # fmt: skip
    subprocess.run(command, check=False)  # noqa: S603 - our own command
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with closing(sqlite3.connect(store)) as database:
        (pages,) = database.execute("SELECT count(*) FROM pages").fetchone()
        bodies, packed = database.execute(
            "SELECT count(*), coalesce(sum(length(data)), 0) FROM body"
        ).fetchone()
    size = sum(file.stat().st_size for file in store.parent.glob(f"{store.name}*"))
    name = "not kept" if more else "kept"
    print(
        f"{name}: {pages:,} pages, CPU {1000 * cpu_s / pages:.2f} ms a page, store {size / pages / 1000:.1f} KB a page"
    )
    if bodies:
        print(f"  {bodies:,} bodies, {packed / pages / 1000:.1f} KB a page packed")


if __name__ == "__main__":
    main()
