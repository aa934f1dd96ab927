"""The report of a crawl: what the store says of a whole run, whichever processes worked on it.

Owns: bringing run, pages and links together with the words for them. Must not know: how a report looks (`report` does).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from honeyguide.cli.crawled import shaped
from honeyguide.cli.ending import STOPPED, parted, words_of
from honeyguide.cli.export import export_records
from honeyguide.cli.runs import run_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from honeyguide.core.frontier import Run
    from honeyguide.core.profile import Profile
    from honeyguide.ports import Frontier


def write_crawl_reports(
    files: Sequence[str], frontier: Frontier, run: Run, stopped: str, profile: Profile
) -> None:
    """Write a report for people into each file."""
    if not files:
        return
    from honeyguide.report import write_sheet  # only for those who want one
    from honeyguide.report.crawl import Told, crawl_sheet

    counts = frontier.counts()
    told = Told(
        run_record(run),
        STOPPED.get(stopped, stopped),
        counts,
        shaped((record for _, record in frontier.pages()), links=False),
        export_records("external", frontier),
        parted(counts),
        lambda rule: words_of(rule, profile),
    )
    sheet = crawl_sheet(told)
    for file in files:
        write_sheet(sheet, Path(file))
