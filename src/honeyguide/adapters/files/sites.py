"""Lists of sites in the files people have: text, CSV, JSON lines, Parquet, Markdown, sitemaps.

Start reading at `read_sites`: a wrong row comes back with its `problem`, and only a file that cannot be read at all
raises. Must not know: what is done with the sites.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import re
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.files.read import name_of, plain_name, read_bytes
from honeyguide.adapters.files.rows import cells_of, sign_of
from honeyguide.adapters.files.sources import (
    SHEET,
    NoColumnError,
    kind_of,
    no_parquet,
    reading_parquet,
    refuse_sheet,
)
from honeyguide.core.fetching import HAS_LOGIN, NO_DOT, is_word, without_login
from honeyguide.core.url.url import Tracking, Url
from honeyguide.errors import InputError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MAX_BYTES = 200_000_000  # a million rows of an ordinary export
MAX_SITES = 1_000_000
MAX_SITE_CHARS = 2_048  # longer addresses do not exist, and every record repeats it
MAX_LINE_CHARS = 1_000_000
_MAX_RAW_CHARS = 200  # kept of a row that names no site
_MAX_SPAN = 200  # lines of one CSV record at most; a quote that is open for longer is a typing mistake
COLUMNS = ("domain", "website", "url")
_SUFFIXES = {"md": "markdown", "markdown": "markdown", "xml": "sitemap"}
_TABLES = ("csv", "jsonl", "parquet")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_MARKDOWN = re.compile(r"\]\((?:https?:)?//", re.IGNORECASE)
_BROKEN = {"utf-8-sig": "is not UTF-8", "utf-8": "is not UTF-8", "utf-16": "is broken UTF-16"}
_DECLARED_BYTES = 1_000  # of a sitemap, in which its encoding may be named
_NO_TRACKING = Tracking()


@dataclass(frozen=True, slots=True)
class SiteRow:
    """One row of a list: the site as written, its line, the problem if it is no site, and the row's other columns."""

    text: str
    line: int
    problem: str = ""
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)


def read_sites(path: str, column: str | None = None) -> list[SiteRow]:
    """Read the sites of a file, or of standard input (`-`), in order; raises `InputError` if it cannot be read."""
    if "://" in path and not os.path.exists(path):  # noqa: PTH110 - this never raises
        raise InputError("is a site, not a file of sites; give it without -i", file=path)
    data = read_bytes(path, MAX_BYTES, "split it")
    refuse_sheet(path, data)
    named = kind_of(path) or _SUFFIXES.get(plain_name(path).rpartition(".")[2].lower())
    kind = _kind_of(data, column) if named is None or named == SHEET else named
    if column is not None and kind not in _TABLES:
        what = f"is read as {kind}, which has no column {column}; give a table, or no column"
        raise InputError(what, file=name_of(path))
    found = _parquet(data, path, column) if kind == "parquet" else _text_rows(data, kind, path, column)
    rows = list(islice(found, MAX_SITES + 1))
    if len(rows) > MAX_SITES:
        raise _too_many(path)
    if not rows:
        raise InputError("names no site; give at least one", file=name_of(path))
    return rows


def check_sites(texts: Iterable[str]) -> list[SiteRow]:
    """Check sites that were named one by one; `line` counts them. The name of a file is an error."""
    rows = []
    for number, text in enumerate(texts, 1):
        if os.path.isfile(text):  # noqa: PTH113 - the text may be hostile; this never raises
            what = f"is a file here: -i {text} reads it; for the site, write https:// in front"
            raise InputError(what, file=text)
        rows.append(site_row(text, number))
    return rows


def unique(rows: Iterable[SiteRow]) -> tuple[list[SiteRow], list[SiteRow]]:
    """Keep the first row of each site, and return the repeated ones, too; rows with a problem all stay."""
    kept: list[SiteRow] = []
    repeated: list[SiteRow] = []
    seen: set[str] = set()
    for row in rows:
        key = "" if row.problem else _address(row.text).key(_NO_TRACKING)
        (repeated if key and key in seen else kept).append(row)
        seen.add(key)
    return kept, repeated


def site_row(text: str, line: int, raw: str = "") -> SiteRow:
    """Check a site; a row without one shows its raw text, so that people find it."""
    site = without_login(text.strip())
    problem = _problem(site) if site == text.strip() else HAS_LOGIN
    return SiteRow((site or _shortened(raw))[:_MAX_RAW_CHARS] if problem else site, line, problem)


def _shortened(raw: str) -> str:
    return " ".join(raw[:MAX_LINE_CHARS].split())[:_MAX_RAW_CHARS]


def _problem(site: str) -> str:
    if not site:
        return "names no site"
    if len(site) > MAX_SITE_CHARS:
        return f"is longer than {MAX_SITE_CHARS:,} characters"
    if "\ufffd" in site:
        return "has a broken character in it"
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
    if not scheme and is_word(url):
        return f"is not an address: {NO_DOT}"
    return ""


def _address(site: str) -> Url:
    return Url.parse(site if _SCHEME.match(site) else f"https://{site.removeprefix('//')}")


def _too_many(path: str) -> InputError:
    return InputError(f"has more than {MAX_SITES:,} sites; split it", file=name_of(path))


def _text_rows(data: bytes, kind: str, path: str, column: str | None) -> Iterator[SiteRow]:
    codec = _codec_of(data, kind)
    text = data.decode(codec, "replace")
    if text.count("\0") > text.count("\n"):
        what = "is not a text file; give text, CSV, JSON lines, Parquet, Markdown or a sitemap"
        raise InputError(what, file=name_of(path))
    if not text.strip():
        raise InputError("is empty; give at least one site", file=name_of(path))
    if "\ufffd" in text:
        _check_encoding(data, codec, path)
    return _READERS[kind](text.replace("\0", "\ufffd"), path, column)  # one bad character spoils one row


def _codec_of(data: bytes, kind: str = "") -> str:
    """Tell the encoding: UTF-8, the UTF-16 that spreadsheets export, or what a sitemap declares."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if kind != "sitemap":
        return "utf-8-sig"
    from honeyguide.adapters.html.charset import codec_of_xml  # see _markdown

    return codec_of_xml(data[:_DECLARED_BYTES].lstrip()) or "utf-8-sig"


def _check_encoding(data: bytes, codec: str, path: str) -> None:
    """Raise an error for the first line that is not in the encoding: its names would come out damaged."""
    try:
        data.decode(codec)
    except UnicodeDecodeError as error:
        line = len(_lines(error.object[: error.start].decode(codec, "ignore")))
        what = _BROKEN.get(codec, "is not in the encoding that the file declares")
        raise InputError(f"{what}; save the file as UTF-8", file=f"{name_of(path)} line {line}") from None


def _kind_of(data: bytes, column: str | None) -> str:
    if data.startswith(b"PAR1"):
        return "parquet"
    start = data[:65_536].decode(_codec_of(data), "replace")
    stripped = map(str.strip, start.splitlines())
    first = next((line for line in stripped if line and not line.startswith("#")), "")
    if first.startswith("<"):
        return "sitemap"
    is_markdown = _MARKDOWN.search(start) is not None
    is_array = first.startswith("[") and not is_markdown
    if is_array or first.startswith("{") or (first.startswith('"') and isinstance(_json(first), str)):
        return "jsonl"
    if _find_column(cells_of(first, _sign_of(first, "", column)), column) is not None:
        return "csv"
    return "markdown" if is_markdown else "text"


def _lines(text: str) -> list[str]:
    """Split at the line ends that editors know; `splitlines` would split at form feeds, too."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _text(text: str, _path: str, _column: str | None) -> Iterator[SiteRow]:
    for number, line in enumerate(_lines(text), 1):
        site = _COMMENT.sub("", line[:MAX_LINE_CHARS]).strip()
        if site:
            yield site_row(site, number)


def _json_lines(text: str, path: str, column: str | None) -> Iterator[SiteRow]:
    if text[:1_000].lstrip().startswith("["):
        raise InputError("is a JSON array; write one site on each line", file=name_of(path))
    for number, line in enumerate(_lines(text), 1):
        if line.strip():
            value = _json(line) if len(line) <= MAX_LINE_CHARS else None
            yield _json_row(value, number, line, column)


def _json_row(value: Any, number: int, line: str, column: str | None) -> SiteRow:
    if isinstance(value, dict):
        place = _find_column(list(value), column)
        if place is None:
            return SiteRow(_shortened(line), number, f"has no key {column or ', '.join(COLUMNS)}")
        names, texts = list(value), list(map(_as_text, value.values()))
        value = list(value.values())[place]
        row = _json_row("" if value is None or isinstance(value, dict) else value, number, line, column)
        return replace(row, columns=_others(names, texts, place))
    if not isinstance(value, str):
        problem = "is not JSON with a site: write an object or a string on each line"
        return SiteRow(_shortened(line), number, problem)
    return site_row(value, number, line)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _others(names: Sequence[str], cells: Sequence[str], place: int) -> dict[str, str]:
    """Give the cells besides that of the site, by names that are all there and differ."""
    found: dict[str, str] = {}
    for number, name in enumerate(names):
        if number != place:
            known = name.strip() or f"column_{number + 1}"
            known = f"{known}_{number + 1}" if known in found else known
            found[known] = cells[number] if number < len(cells) else ""
    return found


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _csv(text: str, path: str, column: str | None) -> Iterator[SiteRow]:
    lines = _lines(text)
    start = next((number for number, line in enumerate(lines) if line.strip()), len(lines) - 1)
    sign = _sign_of(lines[start], path, column)
    header, used = _csv_record(lines, start, sign)
    place = _find_column(header, column)
    if place is None:
        if column is None and len(header) == 1 and not _problem(header[0].strip()):
            yield from _text(text, path, None)  # a list without a header
            return
        raise NoColumnError(header, path, column, COLUMNS)
    at = start + used
    while at < len(lines):
        cells, used = _csv_record(lines, at, sign, len(header))
        if any(cell.strip() for cell in cells):
            row = site_row(cells[place] if place < len(cells) else "", at + 1, lines[at])
            yield replace(row, columns=_others(header, cells, place))
        elif not cells and lines[at].strip():
            yield SiteRow(_shortened(lines[at]), at + 1, "is not CSV: a quote or a field has no end")
        at += used


def _csv_record(lines: Sequence[str], at: int, sign: str, width: int | None = None) -> tuple[list[str], int]:
    """Read the cells of a record and how many lines it has; an open quote costs its own line only.

    The header has no `width`, which the records after it must have if they have several lines.
    """
    line = lines[at]
    alone = cells_of(line, sign) if len(line) <= MAX_LINE_CHARS else []
    if '"' not in line or not alone:
        return alone, 1
    reader = csv.reader((f"{line}\n" for line in lines[at : at + _MAX_SPAN]), delimiter=sign, strict=True)
    try:
        cells = next(reader)
    except csv.Error:
        cells = []
    if cells and (reader.line_num == 1 or width in (None, len(cells))):
        return cells, reader.line_num
    return (alone if width in (None, len(alone)) else []), 1


def _sign_of(line: str, path: str, column: str | None) -> str:
    return sign_of(line, path, lambda cells: _find_column(cells, column) is not None)


def _find_column(names: Sequence[str], column: str | None) -> int | None:
    """Find the column with the sites; names are compared without case and space."""
    known = [name.strip().casefold() for name in names]
    wanted = COLUMNS if column is None else (column.strip().casefold(),)
    return next((known.index(name) for name in wanted if name in known), None)


def _markdown(text: str, path: str, _column: str | None) -> Iterator[SiteRow]:
    """Read the links that lead to a site (URL-12), and addresses outside of links; `line` counts them."""
    from honeyguide.adapters.files import markdown  # most lists are something simpler

    if len(markdown.readable(text)) < len(text):
        raise InputError("is more Markdown than is read at once; split it", file=name_of(path))
    links = (url for _, url in markdown.parse_markdown_links(text, with_bare=True))
    sites = (url for url in links if url.lower().startswith(("http://", "https://", "//")))
    return (site_row(url, number) for number, url in enumerate(sites, 1))


def _sitemap(text: str, path: str, _column: str | None) -> Iterator[SiteRow]:
    from honeyguide.adapters.html.sitemaps import is_index, locations  # see _markdown

    if is_index(text):
        raise InputError("lists other sitemaps; give one of those", file=name_of(path))
    return (site_row(url, number) for number, (_, url, _lastmod) in enumerate(locations(text), 1))


_READERS = {"text": _text, "csv": _csv, "jsonl": _json_lines, "markdown": _markdown, "sitemap": _sitemap}


def _parquet(data: bytes, path: str, column: str | None) -> Iterator[SiteRow]:
    try:
        import polars as pl  # a third of a second, and an extra
    except ImportError:
        raise no_parquet(name_of(path)) from None
    with reading_parquet(name_of(path)):
        table = pl.scan_parquet(io.BytesIO(data))
        names = table.collect_schema().names()
        place = _find_column(names, column)
        if place is None:
            raise NoColumnError(names, path, column, COLUMNS)
        # The file has the count at its end: a hundred million equal rows take a few kilobytes.
        if table.select(pl.len()).collect().item() > MAX_SITES:
            raise _too_many(path)
        types, site = table.collect_schema(), names[place]
        kept = [site, *(name for name in names if name != site and not types[name].is_nested())]
        found = table.select(pl.col(kept).cast(pl.String).str.slice(0, MAX_SITE_CHARS + 1)).collect()
    rows = (["" if cell is None else cell for cell in row] for row in found.iter_rows())
    return (
        replace(site_row(row[0], number, f"row {number}"), columns=_others(kept, row, 0))
        for number, row in enumerate(rows, 1)
    )
