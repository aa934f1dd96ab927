"""Reports for people: one file, HTML or Markdown.

Owns: `write_report`, which streams the records of a pick into a file, and `write_sheet` for what is told of a crawl or a
plan; a file is put in place when it is whole. Must not know: how records are made. What a report tells of a pick is in
`summary.py`, of a crawl in `crawl.py`, of a plan in `plan.py`; how it looks in `html.py` and `markdown.py`.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from honeyguide.adapters.output.write import replacing, unwritable
from honeyguide.errors import InputError
from honeyguide.report import html, markdown
from honeyguide.report.pick import Summary, read_site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from types import ModuleType

    from honeyguide.core.records import Record
    from honeyguide.report.sheet import Sheet


__all__ = ["write_report", "write_sheet"]


FORMATS: dict[str, ModuleType] = {".html": html, ".htm": html, ".md": markdown, ".markdown": markdown}
# Written with everything that is known of each site; the sites after that with their picks alone, or no browser opens it.
DETAILED_BYTES = 16_000_000


def write_report(records: Iterable[Record], path: Path) -> None:
    """Write what a run found as HTML or Markdown, as the suffix says; an older report stays until this one is whole.

    Records are read once and not kept.
    """
    form = _form(path)
    try:
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace", dir=path.parent) as body:
            summary = _write_sites(records, body, form)
            body.seek(0)
            with _replaced(path) as file:
                file.write(form.first(summary))
                shutil.copyfileobj(body, file)
                file.write(form.last(summary))
    except OSError as error:
        raise unwritable(path, error) from None


def write_sheet(sheet: Sheet, path: Path) -> None:
    """Write what is told as HTML or Markdown, as the suffix says; an older report stays until this one is whole."""
    text = _form(path).sheet(sheet)
    with _replaced(path) as file:
        file.write(text)


def _form(path: Path) -> ModuleType:
    form = FORMATS.get(path.suffix.lower())
    if form is None:
        raise InputError("a report is written as .html or .md; choose one of these names", file=str(path))
    return form


@contextmanager
def _replaced(path: Path) -> Iterator[IO[str]]:
    with replacing(path) as part, part.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
        yield file


def _write_sites(records: Iterable[Record], body: IO[str], form: ModuleType) -> Summary:
    """Write the sites, which come after the summary but are known before it."""
    summary = Summary()
    written = 0
    for number, record in enumerate(records, 1):
        site = read_site(record, number)
        summary.add(site)
        written += body.write(form.site(site, detailed=written < DETAILED_BYTES))
    return summary
