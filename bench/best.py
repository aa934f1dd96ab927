"""How many of the best pages of a manual are about a topic: `python -m bench.best python=DIR postgresql=DIR …`.

DIR is the manual of a Debian package, which is served and crawled here. `bench/lists` names, one on each line, the end of the URL of every
page that is about the topic; each list was written from the manual's own contents before the crawl. The pages are taken as they were
fetched, by `relevance_score` alone, and as `export pages --top` takes them: the best 30, and the best N for a list of N pages.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.apart import run_apart, site
from bench.crawl import our_command
from honeyguide.app.tools.kept_pages import PageChoice, choose, stored_pages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LISTS = Path(__file__).with_name("lists")
MANUALS = {
    "python": ("Python 3.11", "asyncio|coroutine|event loop", "python.txt"),
    "postgresql": ("PostgreSQL 15", "text search|tsvector|tsquery", "postgres.txt"),
    "octave": ("Octave 7", "sparse", "octave.txt"),
    "django": ("Django 3.2", r"\bforms?\b|formsets?|modelform", "django.txt"),
}
_TOP = 30


def main() -> None:
    """Print a table with a row for each manual."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("manuals", nargs="+", metavar="NAME=DIR", help=f"of {', '.join(MANUALS)}")
    named = dict(pair.split("=", 1) for pair in parser.parse_args().manuals)
    print(
        f"| manual, topic | on the list | first fetched | by `relevance_score` | `--top` | `--top {_TOP} --min-relevance 0.5` |"
    )
    print("|---|--:|--:|--:|--:|--:|")
    for name, folder in named.items():
        title, topic, wanted = MANUALS[name]
        lines = LISTS.joinpath(wanted).read_text("utf-8").split()
        cells = _cells(Path(folder), topic, tuple(f"/{line}" for line in lines))
        print(f"| {title}, `{topic.replace('|', chr(92) + '|')}` | {len(lines)} | {' | '.join(cells)} |")


def _cells(folder: Path, topic: str, wanted: tuple[str, ...]) -> Iterator[str]:
    asked = argparse.Namespace(folder=folder, url=None, log=None)
    with tempfile.TemporaryDirectory(prefix="bench-best-") as home, site(asked):
        run_apart(our_command(asked.url, topic, 10_000, "--no-keep"), home, expected=(0, 3))
        with stored_pages(str(Path(home, "honeyguide.db"))) as pages:
            yield from _counts(list(pages), wanted)


def _counts(stored: list[Any], wanted: tuple[str, ...]) -> Iterator[str]:
    def right(chosen: Sequence[Any]) -> str:
        return f"{sum(record['url'].endswith(wanted) for record in chosen)} of {len(chosen)}"

    def best(top: int, least: float | None = None) -> list[Any]:
        return [page.record for page in choose(stored, PageChoice(min_relevance=least, top=top))]

    records = [page.record for page in stored if page.record["relevance_score"] is not None]
    for order in (records, sorted(records, key=lambda record: -record["relevance_score"])):
        yield f"{right(order[:_TOP])}, {right(order[: len(wanted)])}"
    yield f"{right(best(_TOP))}, {right(best(len(wanted)))}"
    yield right(best(_TOP, 0.5))


if __name__ == "__main__":
    main()
