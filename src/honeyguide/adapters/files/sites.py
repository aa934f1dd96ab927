"""Lists of sites in the files people have: text, CSV, JSON lines, Parquet, Markdown, sitemaps.

Owns: telling the formats apart, finding the column, bounds, and saying what is wrong with a row without stopping at
it. Must not know: what is done with the sites. Start reading at `read_sites`; a row that names no usable site comes
back with a `problem`, only a file that cannot be read at all raises.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.files.read import name_of, read_bytes
from honeyguide.core.url.url import Tracking, Url
from honeyguide.errors import InputError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


MAX_BYTES = 200_000_000  # a million rows of an ordinary export
MAX_SITES = 1_000_000
MAX_SITE_CHARS = 2_048  # longer addresses do not exist, and every record repeats it
MAX_LINE_CHARS = 1_000_000
_RAW_CHARS = 200  # what is kept of a row that names no site
_SPAN = 200  # lines that one CSV record may have before its quote counts as a slip of the pen
COLUMNS = ("domain", "website", "url")
_SUFFIXES = {
    "csv": "csv", "tsv": "csv", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet", "pq": "parquet",
    "md": "markdown", "markdown": "markdown", "xml": "sitemap",
}  # fmt: skip
_TABLES = ("csv", "jsonl", "parquet")
_DELIMITERS = (",", ";", "\t")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_MARKDOWN = re.compile(r"\]\((?:https?:)?//", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SiteRow:
    """One row of a list: the site as written, where it stands, and what keeps it from being a site, if anything."""

    text: str
    line: int
    problem: str = ""


def read_sites(path: str, column: str | None = None) -> list[SiteRow]:
    """Read the sites of a file, or of standard input (`-`), in order; raises `InputError` if it cannot be read."""
    data = read_bytes(path, MAX_BYTES, "split it")
    kind = _SUFFIXES.get(path.rpartition(".")[2].lower()) or _kind_of(data, column)
    if column is not None and kind not in _TABLES:
        what = f"is read as {kind}, which has no column {column}; give a table, or no column"
        raise InputError(what, file=name_of(path))
    if kind == "parquet":
        found = _parquet(data, path, column)
    else:
        text = _decoded(data)
        if text.count("\0") > text.count("\n"):
            raise InputError(
                "is not a text file; give text, CSV, JSON lines, Parquet, Markdown or a sitemap",
                file=name_of(path),
            )
        if not text.strip():
            raise InputError("is empty; give at least one site", file=name_of(path))
        found = _READERS[kind](text.replace("\0", "\ufffd"), path, column)  # one slip spoils one row
    rows: list[SiteRow] = []
    for row in found:
        if len(rows) == MAX_SITES:
            raise _too_many(path)
        rows.append(row)
    if not rows:
        raise InputError("names no site; give at least one", file=name_of(path))
    return rows


def given_sites(texts: Iterable[str]) -> list[SiteRow]:
    """Make rows of sites that were named one by one; `line` counts them. A file is none: it is to be read."""
    return [_row(_no_file(text), number) for number, text in enumerate(texts, 1)]


def _no_file(text: str) -> str:
    if os.path.isfile(text):  # noqa: PTH113 - the text may be hostile; this never raises
        raise InputError(
            f"is a file here: -i {text} reads it; for the site, write https:// in front", file=text
        )
    return text


def unique(rows: Iterable[SiteRow]) -> tuple[list[SiteRow], list[SiteRow]]:
    """Keep each site once, where it stands first, and give what was left out; rows that are no sites all stay.

    >>> kept, repeated = unique(given_sites(["acme.com", "https://ACME.com/", "www.acme.com"]))
    >>> [row.text for row in kept], [row.text for row in repeated]
    (['acme.com', 'www.acme.com'], ['https://ACME.com/'])
    """
    kept, repeated, seen = [], [], set()
    for row in rows:
        key = "" if row.problem else _address(row.text).key(_NO_TRACKING)
        if key and key in seen:
            repeated.append(row)
            continue
        seen.add(key)
        kept.append(row)
    return kept, repeated


# --- one site -----------------------------------------------------------------------------------------------------

_NO_TRACKING = Tracking()


def _row(text: str, line: int, raw: str = "") -> SiteRow:
    """Judge a site; where there is none, the row itself stands in for it, so that it can be found."""
    site = text.strip()
    problem = _problem(site)
    if not problem:
        return SiteRow(site, line)
    return SiteRow((site or " ".join(raw.split()))[:_RAW_CHARS], line, problem)


def _problem(site: str) -> str:
    if not site:
        return "names no site"
    if len(site) > MAX_SITE_CHARS:
        return f"is longer than {MAX_SITE_CHARS:,} characters"
    if "\ufffd" in site:
        return "is not UTF-8"
    scheme = _SCHEME.match(site)
    if scheme and scheme[1].lower() not in ("http", "https"):
        return f"is no web address: {shown(scheme[1])} is neither http nor https"
    if not scheme and "@" in site.partition("/")[0]:
        return "is an e-mail address, not a site"
    try:
        url = _address(site)
    except UrlError as error:
        return f"is not an address: {error.why}"
    if any(map(str.isspace, site)):
        return "is not an address: it has a space in it"
    if not scheme and not {".", ":"} & set(url.site) and url.host != "localhost":
        return "is not an address: a name without a dot"
    return ""


def _address(site: str) -> Url:
    return Url.parse(site if _SCHEME.match(site) else f"https://{site.removeprefix('//')}")


# --- files --------------------------------------------------------------------------------------------------------


def _too_many(path: str) -> InputError:
    return InputError(f"has more than {MAX_SITES:,} sites; split it", file=name_of(path))


def _decoded(data: bytes) -> str:
    """Read UTF-8, or the UTF-16 that spreadsheets export; a broken letter spoils its own row and no other."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def _kind_of(data: bytes, column: str | None) -> str:
    """Tell a format by how the file begins."""
    if data.startswith(b"PAR1"):
        return "parquet"
    start = _decoded(data[:65_536])
    first = next(
        (line for line in map(str.strip, start.splitlines()) if line and not line.startswith("#")), ""
    )
    if first.startswith("<"):
        return "sitemap"
    is_array = first.startswith("[") and not _MARKDOWN.search(start)
    if is_array or first.startswith("{") or (first.startswith('"') and isinstance(_json(first), str)):
        return "jsonl"
    if _find_column(_cells(first, _delimiter(first)), column) is not None:
        return "csv"
    return "markdown" if _MARKDOWN.search(start) else "text"


def _lines(text: str) -> list[str]:
    """Split at the ends of lines that editors know; `splitlines` would split at form feeds, too."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


# --- formats ------------------------------------------------------------------------------------------------------


def _text(text: str, _path: str, _column: str | None) -> Iterator[SiteRow]:
    for number, line in enumerate(_lines(text), 1):
        site = _COMMENT.sub("", line[:MAX_LINE_CHARS]).strip()
        if site:
            yield _row(site, number)


def _json_lines(text: str, path: str, column: str | None) -> Iterator[SiteRow]:
    if text[:1_000].lstrip().startswith("["):
        raise InputError("is a JSON array; write one site on each line", file=name_of(path))
    for number, line in enumerate(_lines(text), 1):
        if line.strip():
            value = _json(line) if len(line) <= MAX_LINE_CHARS else None
            yield _json_row(value, number, line, column)


def _json_row(value: Any, number: int, line: str, column: str | None) -> SiteRow:
    raw = " ".join(line[:_RAW_CHARS].split())
    if isinstance(value, dict):
        key = _find_column(list(value), column)
        names = column or ", ".join(COLUMNS)
        if key is None:
            return SiteRow(raw, number, f"has no key {names}")
        value = list(value.values())[key]
        if value is None:
            return SiteRow(raw, number, "names no site")
    if not isinstance(value, str):
        return SiteRow(raw, number, "is not JSON with a site: write an object or a string on each line")
    return _row(value, number, line)


def _json(text: str) -> Any:
    """Read JSON; None is what cannot be read, however it is broken."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _csv(text: str, path: str, column: str | None) -> Iterator[SiteRow]:
    lines = _lines(text)
    start = next((number for number, line in enumerate(lines) if line.strip()), len(lines) - 1)
    delimiter = "\t" if path.lower().endswith(".tsv") else _delimiter(lines[start])
    header = _cells(lines[start], delimiter)
    place = _find_column(header, column)
    if place is None:
        if column is None and len(header) == 1 and not _problem(header[0].strip()):
            yield from _text(text, path, None)  # a list without a header
            return
        raise NoColumnError(header, path, column)
    for number, cells, raw in _csv_records(lines, start + 1, delimiter, len(header)):
        if any(cell.strip() for cell in cells):
            yield _row(cells[place] if place < len(cells) else "", number, raw[:MAX_LINE_CHARS])
        elif not cells and raw.strip():
            yield SiteRow(
                " ".join(raw[:_RAW_CHARS].split()), number, "is not CSV: a quote or a field has no end"
            )


def _csv_records(
    lines: Sequence[str], start: int, delimiter: str, width: int
) -> Iterator[tuple[int, list[str], str]]:
    """Give line number, cells and first line of each record; a quote that runs away costs its own line only."""
    at = start
    while at < len(lines):
        line = lines[at]
        cells, used = ([], 1) if len(line) > MAX_LINE_CHARS else (_cells(line, delimiter), 1)
        if '"' in line and cells:
            cells, used = _quoted(lines, at, delimiter, width)
        yield at + 1, cells, line
        at += used


def _quoted(lines: Sequence[str], at: int, delimiter: str, width: int) -> tuple[list[str], int]:
    """Read a record whose quotes may span lines; if that does not fit the header, its first line stands alone."""
    reader = csv.reader((f"{line}\n" for line in lines[at : at + _SPAN]), delimiter=delimiter, strict=True)
    try:
        cells = next(reader)
    except csv.Error:
        cells = []
    if cells and (reader.line_num == 1 or len(cells) == width):
        return cells, reader.line_num
    alone = _cells(lines[at], delimiter)
    return (alone if len(alone) == width else []), 1


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:  # a field without end
        return []


def _delimiter(line: str) -> str:
    return max(_DELIMITERS, key=line.count)


def _find_column(names: Sequence[str], column: str | None) -> int | None:
    """Find the column with the sites; names are compared without case and space."""
    known = [name.strip().casefold() for name in names]
    wanted = COLUMNS if column is None else (column.strip().casefold(),)
    return next((known.index(name) for name in wanted if name in known), None)


class NoColumnError(InputError):
    """A table without the column that names the sites; `column` is the one that was asked for, if any."""

    def __init__(self, names: Sequence[str], path: str, column: str | None) -> None:
        from difflib import get_close_matches  # for mistakes only

        self.column = column
        known = [name.strip() for name in names[:20] if name.strip()]
        wanted = column or f"{', '.join(COLUMNS[:-1])} or {COLUMNS[-1]}"
        near = get_close_matches(column or "", known, 1)
        advice = f"; did you mean {near[0]}?" if near else ""
        has = (", ".join(known) or "none")[:500]
        super().__init__(f"has no column {wanted}; it has {has}{advice}", file=name_of(path))


def _markdown(text: str, path: str, _column: str | None) -> Iterator[SiteRow]:
    """Take the links that lead to a site (URL-12), and addresses outside of links; `line` counts them."""
    from honeyguide.adapters.html import markdown  # most lists are something simpler

    if len(markdown.readable(text)) < len(text):
        raise InputError("is more Markdown than is read at once; split it", file=name_of(path))
    links = (url for _, url in markdown.parse_markdown_links(text, with_bare=True))
    sites = (url for url in links if url.lower().startswith(("http://", "https://", "//")))
    for number, url in enumerate(sites, 1):
        yield _row(url, number)


def _sitemap(text: str, path: str, _column: str | None) -> Iterator[SiteRow]:
    """Take what stands in <loc>."""
    from honeyguide.adapters.html.sitemaps import is_index, locations  # see _markdown

    if is_index(text):
        raise InputError("lists other sitemaps; give one of those", file=name_of(path))
    for number, (_, url, _lastmod) in enumerate(locations(text), 1):
        yield _row(url, number)


_READERS = {"text": _text, "csv": _csv, "jsonl": _json_lines, "markdown": _markdown, "sitemap": _sitemap}


def _parquet(data: bytes, path: str, column: str | None) -> Iterator[SiteRow]:
    try:
        import polars as pl  # a third of a second, and an extra
    except ImportError:
        raise InputError(
            "is Parquet, which needs the extra: pip install 'honeyguide[bulk]'", file=name_of(path)
        ) from None
    try:
        names = list(pl.read_parquet_schema(io.BytesIO(data)))
        place = _find_column(names, column)
        if place is None:
            raise NoColumnError(names, path, column)
        if pl.scan_parquet(io.BytesIO(data)).select(pl.len()).collect().item() > MAX_SITES:
            raise _too_many(
                path
            )  # the file says so at its end; a hundred million equal rows are a few kilobytes
        text = pl.col(names[place]).cast(pl.String).str.slice(0, MAX_SITE_CHARS + 1)
        frame = pl.scan_parquet(io.BytesIO(data)).select(text).head(MAX_SITES + 1).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("is not Parquet that can be read", file=name_of(path)) from None
    for number, value in enumerate(frame.to_series(), 1):
        yield _row(value or "", number, f"row {number}")
