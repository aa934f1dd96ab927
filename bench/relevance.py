"""How often `topic_relevance` is right: `python -m bench.relevance SITES`.

SITES has a folder of HTML files for each site of relevance.tsv, whose rows say whether a page is about a topic. The labels were given
by reading title, headings, the beginning of the text and passages around mentions, before the card `relevance` was written; only the sites of the set `choose` were looked at to
choose its weights.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import NamedTuple

from honeyguide import load_profile, parse_page
from honeyguide.app.tools.scores import page_score_record

LABELS = Path(__file__).with_suffix(".tsv")


class Judged(NamedTuple):
    """A labelled page: whether it is about its topic, and what the two cards say."""

    group: str
    site: str
    is_about: bool
    relevance: float
    score: float


def judged(sites: Path) -> list[Judged]:
    """Score all labelled pages."""
    found = []
    with LABELS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            body = (sites / row["site"] / row["url"]).read_bytes()
            page = parse_page(body, f"http://{row['site']}.example/{row['url']}")
            record = page_score_record(page, load_profile("docs", topic=row["topic"]))
            relevance, score = record["topic_relevance"] or 0.0, float(record["relevance_score"])
            found.append(Judged(row["set"], row["site"], row["about"] == "1", relevance, score))
    return found


def figures(pages: list[Judged], taken: list[bool]) -> str:
    """Write precision, recall and their mean for what was taken."""
    right = sum(page.is_about for page, is_taken in zip(pages, taken, strict=True) if is_taken)
    precision = right / max(1, sum(taken))
    recall = right / max(1, sum(page.is_about for page in pages))
    mean = 2 * precision * recall / max(1e-9, precision + recall)
    return f"precision {precision:.1%}  recall {recall:.1%}  F1 {mean:.1%}"


def main() -> None:
    """Print the figures of both sets, and of each site."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sites", type=Path)
    pages = judged(parser.parse_args().sites)
    for group in ("choose", "held-out"):
        mine = [page for page in pages if page.group == group]
        print(f"{group}: {len(mine)} pages, {sum(page.is_about for page in mine)} about their topic")
        print("  topic_relevance >= 0.5 ", figures(mine, [page.relevance >= 0.5 for page in mine]))
        for least in (3, 5, 8):
            print(f"  relevance_score >= {least}   ", figures(mine, [page.score >= least for page in mine]))
        for site in sorted({page.site for page in mine}):
            of_site = [page for page in mine if page.site == site]
            print(f"    {site:10}", figures(of_site, [page.relevance >= 0.5 for page in of_site]))


if __name__ == "__main__":
    main()
