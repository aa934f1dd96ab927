"""How many of the best pages are about a topic: `python -m bench.best STORE LIST`.

STORE is the store of a crawl with a topic. LIST names, one on each line, the end of the URL of every page that is about the topic; it
was written from the manual's own contents before the crawl. The pages of the store are taken as
they were fetched, by `relevance_score` alone, and as `export pages --top` takes them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from honeyguide.app.tools.kept import PageChoice, choose, stored_pages


def main() -> None:
    """Print how many of the best pages are on the list, before and after."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("store")
    parser.add_argument("wanted", type=Path)
    parser.add_argument("--top", type=int, default=30)
    options = parser.parse_args()
    wanted = tuple(
        "/" + line.strip() for line in options.wanted.read_text("utf-8").splitlines() if line.strip()
    )
    with stored_pages(options.store) as pages:
        stored = list(pages)
        records = [page.record for page in stored if page.record["relevance_score"] is not None]
        by_score = sorted(records, key=lambda record: -record["relevance_score"])[: options.top]
        best = [page.record for page in choose(stored, PageChoice(top=options.top))]
        relevant = [page.record for page in choose(stored, PageChoice(min_relevance=0.5, top=options.top))]
    fetched = sum(record["url"].endswith(wanted) for record in records)
    print(f"{len(records)} pages, {len(wanted)} on the list, {fetched} of them fetched")
    for name, chosen in (
        ("first fetched", records[: options.top]),
        ("by relevance_score", by_score),
        ("--top", best),
        ("--top --min-relevance 0.5", relevant),
    ):
        right = sum(record["url"].endswith(wanted) for record in chosen)
        others = [record["url"].rpartition("/")[2] for record in chosen if not record["url"].endswith(wanted)]
        print(f"{name}: {right} of {len(chosen)}; others: {', '.join(others[:30])}")


if __name__ == "__main__":
    main()
