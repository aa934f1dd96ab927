"""Files of records: which may be replaced, and how they are written.

Owns: the names under which front ends reach the files of users. Must not know: options, any command's records.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from honeyguide.adapters.files.read import STDIN, name_of, opened, read_lines
from honeyguide.adapters.files.rows import Rejected, no_rows
from honeyguide.adapters.files.sites import SiteRow, check_sites, read_sites, unique
from honeyguide.adapters.files.sources import NoColumnError, expanded, kind_of
from honeyguide.adapters.output.page_file import (
    Folder,
    PageFile,
    PageTable,
    StoredPages,
    with_extras,
)
from honeyguide.adapters.output.pick_file import PickFile, PickRun
from honeyguide.adapters.output.tables import (
    IS_CUT,
    MARKDOWN,
    check_table,
    column_names,
    csv_rows,
    write_table,
)
from honeyguide.adapters.output.write import check_replaceable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from honeyguide.core.records import Record
    from honeyguide.ports.store import Store

__all__ = [
    "IS_CUT", "MARKDOWN", "STDIN", "Folder", "NoColumnError", "PageFile", "PageTable", "PickFile", "PickRun", "Rejected",
    "SiteRow", "StoredPages", "check_replaceable", "check_table", "column_names", "csv_rows", "expanded", "kind_of", "name_of",
    "no_rows", "opened", "read_lines", "with_extras", "write_table",
]  # fmt: skip


def named_rows(
    texts: Sequence[str], files: Sequence[str], column: str | None = None
) -> tuple[list[SiteRow], list[SiteRow]]:
    """Read the sites of arguments and files, each once, and those that are repeated; `-` is standard input."""
    rows = [_located(row, "argument") for row in check_sites(text for text in texts if text != STDIN)]
    for file in [*files, *([STDIN] if STDIN in texts else [])]:
        rows += [_located(row, f"{name_of(file)} line") for row in read_sites(file, column)]
    return unique(rows)


def _located(row: SiteRow, where: str) -> SiteRow:
    return replace(row, problem=f"{where} {row.line}: {row.problem}") if row.problem else row


def with_links(records: Iterable[Record], *, links: bool) -> Iterator[Record]:
    """Give page records with `links`, null if the run did not keep them, or without."""
    for record in records:
        bare = {name: value for name, value in record.items() if name != "links"}
        yield {**bare, "links": record.get("links")} if links else bare


_DATABASES = ("postgresql://", "postgres://")


def is_database(path: str | Path) -> bool:
    """Tell whether a store is in a database on a server, not in a file."""
    return str(path).startswith(_DATABASES)


def store_name(path: Store | str | Path) -> str:
    """Give the name of a store as people may see it: without the password of a database.

    >>> store_name("postgresql://crawler:secret@db.example/web?password=secret")
    'postgresql://crawler@db.example/web'
    """
    if not isinstance(path, (str, Path)):
        return "the store"
    if not is_database(path):
        return str(path)
    scheme, _, rest = str(path).partition("?")[0].partition("://")
    account, at, place = rest.rpartition("@")
    return f"{scheme}://{account.partition(':')[0]}{at}{place}"
