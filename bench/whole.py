"""Crawls without a page limit: is every relevant page found that links lead to? `python -m bench.whole FOLDER… [--topics 2]`.

Each FOLDER has the HTML files of one site, as for `bench.first_sight`, whose server, topics by lot and judge are used. A page is reachable
if a chain of links leads to it from the homepage; pages that say the same count once. Missing ones are listed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.crawl import our_command
from bench.first_sight import draw_topics, read_site, serve
from bench.harvest import is_relevant

if TYPE_CHECKING:
    from bench.first_sight import Site

_NO_LIMIT = 10**9


def reachable(site: Site) -> set[str]:
    """Follow all links from the homepage."""
    ring = [site.find("/") or ""]
    found = set(ring)
    while ring:
        ring = [there for name in ring for there in site.links(name)]
        ring = [there for there in dict.fromkeys(ring) if there not in found]
        found.update(ring)
    return found


def crawl(site: Site, url: str, topic: str) -> set[str]:
    """Crawl to the end; give the pages that the site was asked for."""
    site.asked.clear()
    with tempfile.TemporaryDirectory(prefix="whole-", ignore_cleanup_errors=True) as folder:
        subprocess.run(our_command(url, topic, _NO_LIMIT), cwd=folder, capture_output=True, check=False)  # noqa: S603 - ourselves
    return {name for target in site.asked if (name := site.find(target))}


def main() -> None:
    """Crawl each site for each of its topics, and print what is missing."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="+", type=Path)
    parser.add_argument("--topics", type=int, default=2)
    asked = parser.parse_args()
    for folder in asked.folder:
        site = read_site(folder)
        server, there = serve(site), reachable(site)
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        for topic in draw_topics(site, asked.topics):
            relevant = {name for name in there if is_relevant(site.pages[name], topic)}
            found = crawl(site, url, topic)
            contents = {site.contents[name] for name in found}
            missing = sorted(name for name in relevant if site.contents[name] not in contents)
            wanted = len({site.contents[name] for name in relevant})
            had = len({site.contents[name] for name in relevant & found})
            sys.stdout.write(
                f"{site.name}, {topic}: {had} of {wanted} relevant, {len(found)} of {len(there)} reachable pages fetched\n"
            )
            sys.stdout.writelines(f"  missing: {name}\n" for name in missing[:20])
            sys.stdout.flush()
        server.shutdown()


if __name__ == "__main__":
    main()
