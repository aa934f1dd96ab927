"""Show that results are the same bytes under many hash seeds and on several Pythons.

    python tools/check_deterministic.py [--seeds 20] [PYTHON ...]

Runs a fixed job (URLs, links, selections with all strategies, topic scores, a plan, profile hashes) in a new process
for each seed and each interpreter given (this one if none is), and compares what it prints, byte for byte.
Each interpreter must have Honeyguide installed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys

JOB = """
import json, sys
from importlib.resources import files
from honeyguide import classify, load_profile, normalize, parse_page, rank_urls, score_link, score_page, select_links
from honeyguide.config import bundled_profiles
from honeyguide.core.records import candidate_record
from datetime import datetime, UTC
html = (files("honeyguide") / "demo" / "page.html").read_bytes()
base = "https://acme.example/"
page = parse_page(html, base)
out = [normalize("HTTP://EX\\u00c4MPLE.com:80/a/../\\u00fc/%7e?q=\\u00e9#f"), page.title, page.text, page.skipped, page.headings]
for strategy in ("rules", "blend", "portfolio"):
    selection = select_links(page, base, strategy=strategy)
    out.append([candidate_record(candidate) for candidate in selection.candidates])
    out.append([candidate.url.text for candidate in selection.selected])
    out.append(list(selection.counts.items()))
out.append(score_link(base + "fire", topic="fire|al.rm", anchor="Fire alarm", context="alarm", position="main"))
out.append(score_page(html, topic="fire|sprinkler"))
out.append([classify(link.url.text, base).rule for link in page.links])
rows = [{"url": f"https://a.example/{i}", "visits": i, "topic_relevance": i % 11 / 10, "hub_depth": i % 6,
         "is_hub": i % 7 == 0, "last_visited": 1718000000 + 3600 * i} for i in range(500)]
ranked = rank_urls(rows, now=datetime(2024, 6, 15, tzinfo=UTC))
out.append([[item.url, item.score, item.level.name] for item in ranked])
out.append({name: load_profile(name, topic="fire").hash for name in bundled_profiles()})
sys.stdout.buffer.write(json.dumps(out, ensure_ascii=False).encode("utf-8", "surrogatepass"))
"""


def digest(python: str, seed: int) -> str:
    """Run the job once and hash what it prints."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    run = subprocess.run([python, "-c", JOB], env=environment, capture_output=True, check=True)  # noqa: S603 - our own job
    return f"{hashlib.sha256(run.stdout).hexdigest()[:16]} ({len(run.stdout)} bytes)"


def main() -> int:
    """Compare all runs with the first."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("pythons", nargs="*", default=[sys.executable], metavar="PYTHON")
    args = parser.parse_args()
    found: dict[str, list[str]] = {}
    for python in args.pythons:
        for seed in range(args.seeds):
            found.setdefault(digest(python, seed), []).append(f"{python} seed {seed}")
    for result, runs in found.items():
        sys.stdout.write(f"{result}: {len(runs)} runs, first {runs[0]}\n")
    return 0 if len(found) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
