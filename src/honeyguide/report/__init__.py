"""Reports of a pick run for people: one file, HTML or Markdown.

Owns: `write_report`, which streams records into a file and puts it in place when it is whole. Must not know: how
records are made. Start reading at `write_report`; what a report tells of a record is in `summary.py`, how it looks in
`html.py` and `markdown.py`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from honeyguide.errors import InputError
from honeyguide.report import html, markdown
from honeyguide.report.summary import Summary, read_site

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from honeyguide.core.records import Record

__all__ = ["write_report"]

FORMATS: dict[str, ModuleType] = {".html": html, ".htm": html, ".md": markdown, ".markdown": markdown}
# Written with everything that is known of each site; the sites after that with their picks alone, or no browser opens it.
DETAILED_BYTES = 16_000_000


def write_report(records: Iterable[Record], path: Path) -> None:
    """Write what a run found as HTML or Markdown, as the suffix says; an older report stays until this one is whole.

    Records are read once and not kept.
    """
    form = FORMATS.get(path.suffix.lower())
    if form is None:
        raise InputError("a report is written as .html or .md; choose one of these names", file=str(path))
    try:
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace", dir=path.parent) as body:
            summary = _write_sites(records, body, form)
            body.seek(0)
            _replace(path, form.first(summary), body, form.last(summary))
    except OSError as error:
        raise InputError(f"the report cannot be written: {error.strerror or error}", file=str(path)) from None


def _write_sites(records: Iterable[Record], body: IO[str], form: ModuleType) -> Summary:
    """Write the sites, which come after the summary but are known before it."""
    summary = Summary()
    written = 0
    for number, record in enumerate(records, 1):
        site = read_site(record, number)
        summary.add(site)
        written += body.write(form.site(site, detailed=written < DETAILED_BYTES))
    return summary


def _replace(path: Path, first: str, body: IO[str], last: str) -> None:
    """Put the parts together beside the path, then rename: nobody ever sees half a report."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:50]}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(first)
            shutil.copyfileobj(body, file)
            file.write(last)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(_mode(path))
        Path(name).replace(path)
    except BaseException:  # put in order whatever it is, and raised again
        with suppress(OSError):
            Path(name).unlink()
        raise


def _mode(path: Path) -> int:
    """Keep the permissions of an older report; a new one may be read by whoever may read new files."""
    with suppress(OSError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
