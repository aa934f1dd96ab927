"""Pages as a WARC file, for archives and the tools that read them.

Owns: warcio, an extra that is imported when a file is opened, and the records of a page. Must not know: how pages are
fetched or judged. Start reading at `WarcFile.write`; `whole_end` finds what a killed process left.

Records hold what was kept of a response, and the file says so: the status, a few headers, the decompressed body, and no
body of a response that is not 2xx. A page that was in flight when a process was killed may be there twice, because it was
fetched twice.
"""

from __future__ import annotations

import io
import os
import re
import zlib
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

from honeyguide import __version__
from honeyguide.adapters.output.write import check_regular, hold, unwritable
from honeyguide.core.text.printable import legible
from honeyguide.errors import HoneyguideError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from honeyguide.core.records import Record
    from honeyguide.ports.fetch import Fetched

INSTALL = "pip install 'warcio>=1.8'"
KEPT = "Content-Type, ETag, Last-Modified, Retry-After, Location"


def _load(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        missing = error.name or "warcio"
        raise HoneyguideError(f"WARC needs {missing}, which is not installed; {INSTALL}") from None


class WarcFile:
    """A WARC file that pages are appended to; compressed, record by record, unless its name ends in .warc."""

    def __init__(self, path: Path, agent: str) -> None:
        self._agent = agent
        self._headers = _load("warcio.statusandheaders").StatusAndHeaders
        writer = _load("warcio.warcwriter").WARCWriter
        is_packed = path.suffix != ".warc"
        self._file = _opened(path, is_packed=is_packed)
        self._writer: Any = writer(self._file, gzip=is_packed, warc_version="1.1")
        if self._file.tell() == 0:
            self._write_info()

    def write(self, record: Record, fetched: Fetched) -> None:
        """Write a request, its response, and how the crawl found the page."""
        if fetched.rendered is not None:  # an archive has what the server sent
            headers = fetched.headers._replace(content_type=fetched.rendered.content_type)
            fetched = replace(fetched, body=fetched.rendered.sent, headers=headers)
        url, at = fetched.url.as_linked, record["fetched_at"]
        dated = {"WARC-Date": _seconds(at)}
        if not 200 <= fetched.status < 300:
            dated["WARC-Truncated"] = "unspecified"  # whatever body it had was not kept
        response = self._writer.create_warc_record(
            url,
            "response",
            payload=io.BytesIO(fetched.body),
            length=len(fetched.body),
            http_headers=self._headers(_status(fetched.status), _kept(fetched), protocol="HTTP/1.1"),
            warc_headers_dict=dated,
        )
        target = fetched.url.as_linked.split("/", 3)[3]
        asked = [("Host", fetched.url.site), ("User-Agent", self._agent)]
        request = self._writer.create_warc_record(
            url,
            "request",
            http_headers=self._headers(f"GET /{target} HTTP/1.1", asked, is_http_request=True),
            warc_headers_dict={"WARC-Date": dated["WARC-Date"]},
        )
        self._writer.write_request_response_pair(request, response)
        self._write_fields(url, "metadata", _way(record, fetched), dated["WARC-Date"])
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write_info(self) -> None:
        fields = {
            "software": f"honeyguide/{__version__}",
            "format": "WARC File Format 1.1",
            "http-header-user-agent": self._agent,
            "description": f"Of the response headers only these were kept: {KEPT}. Bodies are stored after their "
            "compression was undone; of answers that are not 2xx none was kept. Requests are as they were meant.",
        }
        self._write_fields(None, "warcinfo", fields, _seconds(datetime.now(UTC).isoformat()))
        self._file.flush()

    def _write_fields(self, url: str | None, kind: str, fields: dict[str, str], date: str) -> None:
        text = "".join(f"{name}: {_header(value)}\r\n" for name, value in fields.items())
        payload = text.encode("utf-8", "backslashreplace")
        record = self._writer.create_warc_record(
            url,
            kind,
            payload=io.BytesIO(payload),
            length=len(payload),
            warc_content_type="application/warc-fields",
            warc_headers_dict={"WARC-Date": date},
        )
        self._writer.write_record(record)


def _seconds(text: str) -> str:
    return f"{datetime.fromisoformat(text):%Y-%m-%dT%H:%M:%SZ}"


def _status(code: int) -> str:
    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return f"{code} Unknown"


def _kept(fetched: Fetched) -> list[tuple[str, str]]:
    found = ((name, getattr(fetched.headers, name.lower().replace("-", "_"))) for name in KEPT.split(", "))
    safe = [(name, _header(value)) for name, value in found if value]
    return [*safe, ("Content-Length", str(len(fetched.body)))]


def _header(value: str) -> str:
    """Keep a value on its line: it comes from a stranger, and must not end the header."""
    return " ".join(legible(value).split())


def _way(record: Record, fetched: Fetched) -> dict[str, str]:
    """Say how the crawl found a page: the page that links it, the redirects, its score."""
    fields = {"fetchTimeMs": str(round(fetched.elapsed_s * 1000)), "hopsFromSeed": str(record["depth"])}
    if record["parent"]:
        fields["via"] = str(record["parent"])
    if fetched.hops:
        fields["redirectedFrom"] = " ".join(fetched.hops)
    if record["relevance_score"] is not None:
        fields["relevanceScore"] = str(record["relevance_score"])
    return fields


def _opened(path: Path, *, is_packed: bool) -> IO[bytes]:
    """Open a file after its last whole record; a torn one is removed."""
    try:
        check_regular(path, "--warc")
        file = path.open("r+b" if path.exists() else "x+b")
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None
    try:
        hold(
            file.fileno(),
            f"{path}: another process is writing it; wait until that has ended, or choose another --warc",
        )
        file.seek(whole_end(file, str(path), is_packed=is_packed))
        file.truncate()
    except BaseException:  # close the file after any exception, then re-raise it
        file.close()
        raise
    return file


_BLOCK = 1 << 14  # of a packed file are unpacked at once: what they may grow to is no matter
_MAGIC = b"WARC/"
_BEHIND = b"\r\n\r\n"  # every record
_NEXT = _BEHIND + _MAGIC
_PACKED = b"\x1f\x8b\x08\0\0\0\0\0"  # how our packed records begin: without a name, without a time
_SHORT = 1_000  # bytes of a packed record: with fewer it may be torn before it says what it is
_MAX_LINES = 1_000  # of a head
_LENGTH = re.compile(rb"content-length:\s*\d{1,18}\s*$", re.IGNORECASE)  # longer ones are no lengths


def whole_end(file: IO[bytes], name: str, *, is_packed: bool) -> int:
    """Find where the last whole record of a WARC file ends; what follows is a record that a kill tore off.

    Raises `InputError` if the file is something else, or is damaged, because records may follow the damage.
    """
    file.seek(0)
    end, size = 0, os.fstat(file.fileno()).st_size
    try:
        for end in _packed_ends(file) if is_packed else _plain_ends(file, size):  # noqa: B007 - the last one is meant
            pass
    except (ValueError, zlib.error):
        is_broken = True
    else:
        is_broken = end < size and _has(file, end + 1, _PACKED if is_packed else _NEXT)
    if is_broken:
        what = f"is damaged after byte {end:,}, and goes on behind that" if end else "is no such WARC file"
        raise InputError(f"exists and {what}; choose another --warc", file=name)
    return end


def _packed_ends(file: IO[bytes]) -> Iterator[int]:
    """Decompress record by record without keeping any; raises an error if something is no record."""
    at = 0
    data = file.read(_BLOCK)
    while data:
        start, is_ours = at, _PACKED.startswith(data[: len(_PACKED)])
        member, head, last, has_next = zlib.decompressobj(wbits=31), b"", b"", False
        while data and not member.eof:
            text = member.decompress(data)
            head = (head + text)[: len(_MAGIC)]
            has_next = has_next or _NEXT in last + text
            last = (last + text)[-len(_NEXT) :]
            at += len(data) - len(member.unused_data)
            data = member.unused_data or file.read(_BLOCK)
        is_begun = is_ours and at - start < _SHORT and _MAGIC.startswith(head) and not member.eof
        if (head != _MAGIC and not is_begun) or (has_next and not member.eof):
            raise ValueError
        if member.eof:
            yield at


def _plain_ends(file: IO[bytes], size: int) -> Iterator[int]:
    """Go from head to head by the stated lengths; raises an error if something is no record."""
    end = 0
    while end < size:
        file.seek(end)
        if not file.read(len(_MAGIC)).startswith(_MAGIC[: size - end]):
            raise ValueError
        length = _stated_length(file)
        end = file.tell() + (length or 0) + len(_BEHIND)
        if length is None or end > size:
            return
        file.seek(end - len(_BEHIND))
        if file.read(len(_BEHIND)) != _BEHIND:
            raise ValueError
        yield end


def _stated_length(file: IO[bytes]) -> int | None:
    """Read the length that a head states; None if the file ends in the head."""
    length = None
    for _ in range(_MAX_LINES):
        line = file.readline(_BLOCK)
        if not line:
            return None
        if _LENGTH.match(line):
            length = int(line.partition(b":")[2])
        if line == b"\r\n":
            break
    if length is None:
        raise ValueError
    return length


def _has(file: IO[bytes], start: int, mark: bytes) -> bool:
    """Tell whether a mark occurs after `start`."""
    file.seek(start)
    last = b""
    while data := file.read(_BLOCK):
        if mark in last + data:
            return True
        last = data[-len(mark) :]
    return False
