"""Rows that were left out because they are wrong, each with its reason, in a file beside the one they are from.

Owns: that file: its name, its records, whose it is. Must not know: what is wrong with rows. Start reading at `Rejected`.
"""

from __future__ import annotations

import json
import re
from contextlib import ExitStack, suppress
from math import isfinite
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from honeyguide.adapters.files import STDIN, name_of
from honeyguide.adapters.whole import replacing, unwritable
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from honeyguide.adapters.rows.rowfiles import Raw

_HEAD_BYTES = 1_000
_BEGINNING = re.compile(rb'\{"row": [0-9]+, "field": (?:null|"[^"]{1,200}"), "reason": "')
_NO_FOLDERS = ("/dev/fd/", "/dev/stdin", "/proc/")  # where pipes and open files have their names


class Rejected:
    """Wrong rows, each with its reason, in a file beside the one they are from.

    Close it when all is read. `clear` then removes what earlier runs have left of files that are all right now.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.files: dict[str, IO[str]] = {}
        self._expected: set[str] = set()
        self._parts = ExitStack()

    def expect(self, files: Iterable[str], *, whole: bool = True) -> None:
        """Hear which files will be read; where something else stands in the place of their wrong rows, that is said now.

        Of a file that is not checked as a whole nobody can say that it has no wrong rows any more.
        """
        for file in files:
            target = rejected_name(file)
            if not _is_ours(Path(target)):
                what = "exists, and holds no rows that were left out; move it away"
                raise InputError(what, file=target)
            if whole:
                self._expected.add(target)

    def __call__(self, file: str, raw: Raw, error: InputError) -> None:
        """Write a row down."""
        target = rejected_name(file)
        given = None if isinstance(raw.values, InputError) else raw.values
        record = {
            "row": raw.number,
            "field": error.field or None,
            "reason": str(error),
            "given": _plain(given),
        }
        try:
            if target not in self.files:
                part = self._parts.enter_context(replacing(Path(target)))
                self.files[target] = part.open("w", encoding="utf-8")
            self.files[target].write(json.dumps(record, default=str, allow_nan=False) + "\n")
        except OSError as broken:
            raise unwritable(Path(target), broken) from None
        self.rows += 1

    def close(self) -> None:
        """Finish the files."""
        for file in self.files.values():
            file.close()
        self._parts.close()

    def clear(self) -> None:
        """Remove files of wrong rows that earlier runs have left, where there are none now."""
        for target in self._expected - set(self.files):
            with suppress(OSError, ValueError):  # what is not there, or not to be removed by us
                Path(target).unlink()


def rejected_name(file: str) -> str:
    """Name the file for wrong rows: beside the one they are from, or here if that is no place for files.

    >>> rejected_name("/dev/shm/known.csv"), rejected_name("standard input"), rejected_name("/dev/fd/63")
    ('/dev/shm/known.csv.rejected', 'stdin.rejected', '63.rejected')
    """
    if file == name_of(STDIN):
        return "stdin.rejected"
    return f"{Path(file).name if file.startswith(_NO_FOLDERS) else file}.rejected"


def _is_ours(path: Path) -> bool:
    """Tell whether nothing is lost with a file: it is not there, or empty, or begins with a row that was left out."""
    try:
        if not path.exists():
            return True
    except (OSError, ValueError):  # no such place, which whoever writes there will say
        return True
    try:
        head = b"?" if not path.is_file() else _head(path)
    except OSError:
        return False
    return not head or _BEGINNING.match(head) is not None


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD_BYTES)


def _plain(value: Any) -> Any:
    """Write numbers that JSON does not have as the text that Python reads them from."""
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value
