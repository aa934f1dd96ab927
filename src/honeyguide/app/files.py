"""Files of records: which may be replaced, and how they are written.

Owns: the names under which front ends reach the files of users. Must not know: options, any command's records.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from honeyguide.adapters.files.read import (
    STDIN,
    NoColumnError,
    expanded,
    kind_of,
    name_of,
    opened,
    read_lines,
)
from honeyguide.adapters.files.rows import Rejected
from honeyguide.adapters.files.sites import SiteRow, check_sites, read_sites, unique
from honeyguide.adapters.output.page_file import (
    Folder,
    PageFile,
    PageNotes,
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

    from honeyguide.adapters.output.warc import WarcFile
    from honeyguide.core.records import Record
    from honeyguide.core.url.url import Url
    from honeyguide.jobs.crawl import PageAttachments
    from honeyguide.ports.fetch import Content

__all__ = [
    "IS_CUT", "MARKDOWN", "STDIN", "Folder", "NoColumnError", "PageFile", "PageTable", "PickFile", "PickRun", "Rejected",
    "SiteRow", "StoredPages", "check_replaceable", "check_table", "column_names", "csv_rows", "expanded", "kind_of", "name_of",
    "opened", "read_lines", "with_extras", "write_table",
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


# --- the content of crawled pages ---

# Actions of pages that were not fetched, or have no content of their own.
WITHOUT_CONTENT = frozenset({"dropped", "duplicate", "retry", "soft-404", "unchanged"})


@dataclass(frozen=True, slots=True)
class ContentWish:
    """What is made of the content of pages: the field of records that has it, files of a folder, a WARC file."""

    field: str | None = None
    markdown: str | None = None
    warc: str | None = None
    topic: str | None = None

    @property
    def extras(self) -> tuple[str, ...]:
        """The fields that records get."""
        return (self.field, IS_CUT) if self.field else ()


class ContentKeeper:
    """Extracts the content of pages if it is wanted, and writes it to a folder of Markdown files and a WARC file."""

    def __init__(self, agent: str, wish: ContentWish) -> None:
        self._wish = wish
        self.folder = Folder(Path(wish.markdown)) if wish.markdown else None
        self._warc: WarcFile | None = None
        if wish.warc:
            from honeyguide.adapters.output.warc import WarcFile  # an extra

            self._warc = WarcFile(Path(wish.warc), agent)

    def keep(self, record: Record, attachments: PageAttachments, *, is_wanted: bool = True) -> Record:
        """Keep a page, and return the fields of its record that the store does not keep; what is not wanted is archived only."""
        fetched, page = attachments.fetched, attachments.page
        if self._warc is not None and fetched is not None:
            self._warc.write(record, fetched)
        is_used = self._wish.field is not None or self.folder is not None
        if not is_wanted or not is_used or fetched is None or record["action"] in WITHOUT_CONTENT:
            return {}
        content = content_of(fetched.body, fetched.url, fetched.headers.content_type)
        if self.folder is not None:
            notes = PageNotes(page.description if page else None, self._wish.topic, content.is_cut)
            self.folder.write(record, content.markdown, notes)
        return content_fields(content, self._wish.field)

    def close(self) -> None:
        """Close the WARC file."""
        if self._warc is not None:
            self._warc.close()


def content_of(body: bytes, url: Url, content_type: str | None) -> Content:
    """Read the main content of a page."""
    from honeyguide.adapters.html.content import main_content  # only if it is wanted

    return main_content(body, url, content_type)


def content_fields(content: Content, field: str | None) -> Record:
    """Give the fields of a record that say what a page says: as Markdown, or as text."""
    text = content.text if field == "text" else content.markdown
    return {field: text, IS_CUT: content.is_cut} if field else {}


def with_links(records: Iterable[Record], *, links: bool) -> Iterator[Record]:
    """Give page records with `links`, null if the run did not keep them, or without."""
    for record in records:
        bare = {name: value for name, value in record.items() if name != "links"}
        yield {**bare, "links": record.get("links")} if links else bare


_DATABASES = ("postgresql://", "postgres://")


def is_database(path: str | Path) -> bool:
    """Tell whether a store is in a database on a server, not in a file."""
    return str(path).startswith(_DATABASES)


def store_name(path: str | Path) -> str:
    """Give the name of a store as people may see it: without the password of a database.

    >>> store_name("postgresql://crawler:secret@db.example/web?password=secret")
    'postgresql://crawler@db.example/web'
    """
    if not is_database(path):
        return str(path)
    scheme, _, rest = str(path).partition("?")[0].partition("://")
    account, at, place = rest.rpartition("@")
    return f"{scheme}://{account.partition(':')[0]}{at}{place}"
