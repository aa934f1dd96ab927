"""The character set of a page's bytes.

Owns: what the byte-order mark, the header, a meta element and the bytes themselves say, in that order, and what
labels mean on the web. Must not know: how the bytes were fetched. Start reading at `charset_of`.
"""

from __future__ import annotations

import codecs
import re

BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE | re.ASCII)
_META = re.compile(rb"<meta[^>]{0,500}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_META_BYTES = 4096  # the standard asks for 1024; a script before the element must not hide it
# What labels mean on the web (WHATWG encoding): the older names stand for their Microsoft supersets.
_MEANT = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
# Python knows codecs that are no character sets of the web (idna, utf-7, unicode_escape …): these are all that count.
_CODECS = re.compile(
    r"utf-8|utf-16(?:-[lb]e)?|cp(?:125\d|874|866|932|949)|iso8859-\d+|koi8-[ru]|gb18030|big5|euc_jp|iso2022_jp|mac-roman"
)


def charset_of(content_type: str | None, body: bytes) -> str:
    r"""Name the codec of a body: its byte-order mark, the header, a meta element, or what the bytes look like.

    >>> charset_of("text/html; charset=ISO-8859-1", b""), charset_of(None, "é".encode()), charset_of(None, b"\xe9t")
    ('cp1252', 'utf-8', 'cp1252')
    """
    for mark, name in BOMS:
        if body.startswith(mark):
            return name
    found = _CHARSET.search(content_type or "")
    named = _codec(found[1]) if found else None
    if named:
        return named
    meta = _META.search(body[:_META_BYTES])
    inside = _codec(meta[1].decode("ascii", "replace")) if meta else None
    if inside:  # a meta element that could be read is in no 16-bit code, whatever it says
        return "utf-8" if inside.startswith("utf-16") else inside
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)  # a character cut in two at the end is no fault
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _codec(label: str) -> str | None:
    """Find the Python codec that a label means on the web, if it means one."""
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return None
    name = _MEANT.get(name, name)
    return name if _CODECS.fullmatch(name) else None


def to_utf8(data: bytes, content_type: str | None) -> bytes:
    """Return the bytes as UTF-8 without a byte-order mark; what does not decode is replaced."""
    codec = charset_of(content_type, data)
    return data.decode(codec, "replace").removeprefix("\ufeff").encode("utf-8", "replace")
