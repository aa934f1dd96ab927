"""Spreadsheets: one sheet of texts and numbers, written and read back by the standard library.

Owns: the parts of the file, and how large a cell and a sheet may be. Must not know: records. Start reading at `write_xlsx`.
A text is a text by its type, so no program reads it as a formula; equal rows give equal bytes.
"""

from __future__ import annotations

import re
import zlib
from html import escape
from itertools import chain
from math import isfinite
from typing import IO, TYPE_CHECKING, Any, cast
from xml.etree.ElementTree import ParseError, XMLPullParser
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from honeyguide.core.records import csv_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path
    from xml.etree.ElementTree import Element

MAX_ROWS = 1_048_576  # of a sheet, its header included
MAX_CELL = 32_767  # UTF-16 units of a cell
_KEPT = 16_000  # characters of a text that is longer, which says so
_BLOCK = 1 << 16
_MAX_ROW_BYTES = 16 << 20  # of a file that is read back
_MAX_ROW_PARTS = (
    10_000  # elements of a row, and of what is between rows: each takes memory, however short it is
)
_SHEET = "xl/worksheets/sheet1.xml"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_PARTS = {
    "[Content_Types].xml": (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/{_SHEET}" ContentType="{_TYPE}.worksheet+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="rId1" Type="{_OFFICE}/officeDocument"'
        ' Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets><sheet name="honeyguide" sheetId="1" r:id="rId1"/>'
        "</sheets></workbook>"
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="rId1" Type="{_OFFICE}/worksheet"'
        ' Target="worksheets/sheet1.xml"/></Relationships>'
    ),
}
_HEAD = (
    f'{_XML}<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2"'
    ' activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>'
)
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CODE = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")  # what programs read as the number of a letter


class TooManyRowsError(ValueError):
    """More rows than a sheet holds."""


def write_xlsx(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Write a sheet, and return how many rows there are below the header."""
    count = -1
    with ZipFile(path, "w", ZIP_DEFLATED) as file:
        for name, text in _PARTS.items():
            file.writestr(_member(name), _XML + text)
        with file.open(_member(_SHEET), "w", force_zip64=True) as sheet:
            sheet.write(_HEAD.encode())
            for count, row in enumerate(chain([header], rows)):
                if count == MAX_ROWS:
                    what = f"a spreadsheet has at most {MAX_ROWS:,} rows; write .csv, .jsonl or .parquet"
                    raise TooManyRowsError(what)
                sheet.write(
                    f'<row r="{count + 1}">{"".join(map(_cell, row))}</row>'.encode("utf-8", "replace")
                )
            sheet.write(b"</sheetData></worksheet>")
    return count


def _member(name: str) -> ZipInfo:
    member = ZipInfo(name)  # whose time is 1980: equal rows give equal bytes
    member.compress_type = ZIP_DEFLATED
    return member


def _cell(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
        return f"<c><v>{value}</v></c>"
    text = csv_cell(value)
    if not text:
        return "<c/>"
    if len(text.encode("utf-16-le", "replace")) > 2 * MAX_CELL:
        text = f"{text[:_KEPT]}… ({len(text):,} characters)"
    plain = escape(_NO_XML.sub("\ufffd", _CODE.sub("_x005F_", text)), quote=False)
    return f'<c t="inlineStr"><is><t xml:space="preserve">{plain}</t></is></c>'


def read_xlsx(path: Path) -> Iterator[dict[str, str]]:
    """Read back what `write_xlsx` wrote, row by row; raises `ValueError` if a file is something else."""
    try:
        with ZipFile(path) as file, file.open(_SHEET) as sheet:
            if file.getinfo(_SHEET).compress_type not in (ZIP_STORED, ZIP_DEFLATED):
                raise ValueError("is packed in a way that has no bounds")
            rows = _rows(sheet)
            header = next(rows, [])
            if not header:
                raise ValueError("has no header")
            for row in rows:
                yield dict(zip(header, row, strict=True))
    except (
        BadZipFile,
        LookupError,
        ParseError,
        NotImplementedError,
        RuntimeError,
        EOFError,
        zlib.error,
    ) as error:
        raise ValueError(str(error)) from None


def _rows(sheet: IO[bytes]) -> Iterator[list[str]]:
    parser: XMLPullParser[Any] = XMLPullParser(["start", "end"])
    inside: list[Element] = []
    size = parts = 0
    tail = b""
    while block := sheet.read(_BLOCK):
        if b"<!DOCTYPE" in tail + block or b"\0" in block:  # NUL: in another encoding it would not be seen
            raise ValueError("declares entities, which no spreadsheet of ours does")
        tail = block[-8:]
        parser.feed(block)
        size += len(block)
        for event, element in cast("Iterator[tuple[str, Element]]", parser.read_events()):
            if event == "start":
                inside.append(element)
                parts += 1
                continue
            inside.pop()
            if element.tag == f"{{{_MAIN}}}row":
                size = parts = 0
                yield ["".join(cell.itertext()).replace("_x005F_", "_") for cell in element]
                for parent in inside[-1:]:
                    parent.clear()  # it would keep every row
        if size > _MAX_ROW_BYTES or parts > _MAX_ROW_PARTS:
            raise ValueError("has a row that is larger than ours are")
