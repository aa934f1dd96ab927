"""Run a command as a person would, and write down all it gave, without what differs from run to run.

Owns: running in this process with streams and a clock of our own, and what is made the same: ports, times, durations,
folders, the version. Must not know: which commands there are (`cases.py`). Start reading at `Runner.freeze`.
The program is reached as `python -m honeyguide` reaches it, so that it may be built anew behind that name.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import sys
import time
from contextlib import contextmanager
from datetime import date, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from freezing.serving import SITE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from freezing.cases import Case
    from freezing.serving import Served

SECTION = "=== "
NO_NEWLINE = "\\ no newline at the end\n"
_STORES = (
    ".db",
    ".db-wal",
    ".db-shm",
    ".db-journal",
)  # what is in a store is seen by export, runs and explain
_ENVIRONMENT = {"COLUMNS": "100", "LINES": "40", "TERM": "xterm", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
_UNSET = (
    "NO_COLOR",
    "FORCE_COLOR",
    "TTY_COMPATIBLE",
    "HONEYGUIDE_DEBUG",
    "http_proxy",
    "https_proxy",
    "all_proxy",
)
_TIMED = {"elapsed_s"}  # columns of CSV that hold a measured duration

_PORT = re.compile(r"(127\.0\.0\.1(?:\\?:|\+|%3A))\d{4,5}\b")
_ANY_PORT = r"\1PORT"
# Times of inputs end in :00:00Z and stay; those of visits, and what is computed from them, have minutes or parts of seconds.
_TIME = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d)(\\?:)(?!00\\?:00Z)\d\d\\?:\d\d(?:\.\d{3,6})?(Z|\+00:00)")
_LONG = re.compile(r"\b\d+\.\d{9,}\b")  # what is believed of change rates hangs on the milliseconds of visits
_HOURS = re.compile(
    r'("(?:mean_age_h|discovery_h)": )(\d[\d.]*)'
)  # of visits in a store: a busy machine is later
_ELAPSED = re.compile(r'("elapsed_s": )\d[\d.e-]*')
_LASTED = re.compile(r"(?<=[;,] )\d+(?:\.\d+)? s$", re.MULTILINE)
_NEXT = re.compile(r"(?<=; next in )[^;\n]+")


class Runner:
    """Runs commands in a folder, one after the other; each sees the files of those before it."""

    def __init__(self, folder: Path, served: Served) -> None:
        self.folder = folder
        self.served = served
        self.version = self._run(["--version"], b"")[1].decode().split()[-1]

    def freeze(self, case: Case) -> str:
        """Run a command, and give what it printed, what it wrote and how it ended, as the text that is kept."""
        line = case.command.replace("{site}", SITE)
        command, _, source = line.partition(" < ")
        data = (self.folder / source).read_bytes() if source else b""
        before = self._files()
        self.served.is_later = case.is_later
        with clock_at(case.at):
            code, out, err = self._run(shlex.split(command), data)
        sections = [("stdout", _text(out)), ("stderr", _text(err))]
        for path, state in sorted(self._files().items()):
            if before.get(path) != state:
                sections.append((f"file {path}", shown_file(self.folder / path)))
        told = f"at {case.at}{', the site has changed' * case.is_later}, exit code {code}"
        head = f"$ honeyguide {_PORT.sub(_ANY_PORT, line)}\n{told}\n"
        parts = []
        for name, text in sections:
            body = steady_csv(text) if _is_csv(name, command) else text
            ended = body if not body or body.endswith("\n") else f"{body}\n{NO_NEWLINE}"
            parts.append(f"{SECTION}{name}\n{ended}")
        return head + self._steady("".join(parts))

    def _run(self, arguments: list[str], data: bytes) -> tuple[int, bytes, bytes]:
        main = import_module("honeyguide.__main__").main
        streams = sys.stdin, sys.stdout, sys.stderr
        into, out, err = (io.TextIOWrapper(io.BytesIO(given), "utf-8") for given in (data, b"", b""))
        here = Path.cwd()
        os.chdir(self.folder)
        sys.stdin, sys.stdout, sys.stderr = into, out, err
        code: Any = 0
        try:
            main(arguments)
        except SystemExit as ending:
            code = ending.code
        finally:
            sys.stdin, sys.stdout, sys.stderr = streams
            os.chdir(here)
        return int(code or 0), _written(out), _written(err)

    def _files(self) -> dict[str, tuple[int, int]]:
        """Tell the state of every file that is no store."""
        found = (
            path for path in self.folder.rglob("*") if path.is_file() and not path.name.endswith(_STORES)
        )
        return {
            path.relative_to(self.folder).as_posix(): (path.stat().st_mtime_ns, path.stat().st_size) for path in found
        }  # fmt: skip

    def _steady(self, text: str) -> str:
        """Replace what differs from run to run."""
        for folder in (self.folder, self.folder.resolve()):
            text = text.replace(str(folder), "FOLDER")
        text = re.sub(rf"(?i)(honeyguide[ /]){re.escape(self.version)}\b", r"\1VERSION", text)
        text = _PORT.sub(_ANY_PORT, text)
        text = _TIME.sub(r"\1\2MM\2SS\3", text)
        text = _LONG.sub(lambda found: f"{float(found[0]):.3g}", text)
        text = _HOURS.sub(lambda found: f"{found[1]}{float(found[2]):.1f}", text)
        text = _ELAPSED.sub(r"\g<1>0", text)
        text = _LASTED.sub("N s", text)
        return _NEXT.sub("N", text)


@contextmanager
def settled() -> Iterator[None]:
    """Have the environment that all runs share: how wide the terminal is, no colour asked for, no proxy."""
    before = dict(os.environ)
    for name in _UNSET:
        os.environ.pop(name, None)
        os.environ.pop(name.upper(), None)
    os.environ.update(_ENVIRONMENT)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def clock_at(moment: str) -> Iterator[None]:
    """Let the time of day begin at a moment and go on from there; nothing that waits is touched."""
    began = time.monotonic()
    start = datetime.fromisoformat(moment).timestamp()
    with patch.object(time, "time", lambda: start + time.monotonic() - began):
        yield


# --- what was written -------------------------------------------------------------------------------------------


def shown_file(path: Path) -> str:
    """Give a file as text: Parquet as its columns and a JSON line for each row, WARC as its records."""
    if path.suffix == ".parquet":
        return _shown_parquet(path)
    if path.suffix == ".warc":
        return _shown_warc(path)
    return _text(path.read_bytes())


def _shown_parquet(path: Path) -> str:
    import polars as pl

    frame = pl.read_parquet(path)
    columns = {name: str(kind) for name, kind in frame.schema.items()}
    return "".join(
        json.dumps(row, ensure_ascii=False, default=_moment) + "\n" for row in (columns, *frame.to_dicts())
    )


def _moment(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(type(value))


def _shown_warc(path: Path) -> str:
    """List the records, with what does not differ from run to run."""
    records_of = import_module("warcio.archiveiterator").ArchiveIterator
    lines = []
    with path.open("rb") as stream:
        for record in records_of(stream):
            names = sorted(name for name, _ in record.rec_headers.headers)
            target = record.rec_headers.get_header("WARC-Target-URI") or "-"
            status = record.http_headers.statusline if record.http_headers else "-"
            size = len(record.content_stream().read())
            shown = size if record.rec_type == "response" else "-"
            lines.append(f"{record.rec_type} {target} {status} {shown} {' '.join(names)}\n")
    return "".join(lines)


def steady_csv(text: str) -> str:
    """Empty the columns of measured durations; everything else stays as it was written, quotes and all."""
    rows = list(csv.reader(io.StringIO(text, newline="")))
    if not rows or not _TIMED & set(rows[0]) or _csv(rows) != text:
        return text
    timed = [number for number, name in enumerate(rows[0]) if name in _TIMED]
    for row in rows[1:]:
        for number in timed:
            row[number] = row[number] and "0"
    return _csv(rows)


def _csv(rows: list[list[str]]) -> str:
    into = io.StringIO(newline="")
    csv.writer(into, lineterminator="\n").writerows(rows)
    return into.getvalue()


def _is_csv(section: str, command: str) -> bool:
    return section.endswith(".csv") or (section == "stdout" and "--format csv" in command)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _written(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    buffer: Any = stream.buffer
    return bytes(buffer.getvalue())
