"""Reports for people: one file, HTML or Markdown.

Owns: `write_report`, which streams the records of a pick into a file, and `write_sheet` for every other report; a file is
put in place when it is whole. Must not know: what a report says (`pick.py`, `crawl.py`, `plan.py` build its
`Sheet`), or how it looks (`html.py`, `markdown.py`).
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, TYPE_CHECKING

from honeyguide.adapters.output.write import replacing, unwritable
from honeyguide.errors import InputError
from honeyguide.report import html, markdown
from honeyguide.report.pick import PickReport
from honeyguide.report.sheet import facts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from types import ModuleType

    from honeyguide.core.records import Record
    from honeyguide.report.sheet import Sheet


__all__ = ["write_report", "write_sheet"]


FORMATS: dict[str, ModuleType] = {".html": html, ".htm": html, ".md": markdown, ".markdown": markdown}
MAX_DETAILED_BYTES = (
    16_000_000  # of sites with all details; a browser opens no more, so others have only their picks
)


def write_report(records: Iterable[Record], path: Path, facts: Iterable[tuple[str, object]] = ()) -> None:
    """Write the report of a pick as HTML or Markdown, by the suffix; an older report stays until this one is whole.

    `facts` is what is known of the run, such as its command and when it was.
    """
    form, report, written = _form(path), PickReport(), 0
    try:
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace", dir=path.parent) as body:
            for record in records:
                written += body.write(form.section(report.add(record, detailed=written < MAX_DETAILED_BYTES)))
            body.seek(0)
            sheet = replace(report.sheet(), facts=facts_of(facts))
            with _replaced(path) as file:
                file.write(form.start(sheet))
                shutil.copyfileobj(body, file)
                file.write(form.end(sheet))
    except OSError as error:
        raise unwritable(path, error) from None


def write_sheet(sheet: Sheet, path: Path) -> None:
    """Write a report as HTML or Markdown, by the suffix; an older report stays until this one is whole."""
    form = _form(path)
    text = form.start(sheet) + form.end(sheet)
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
