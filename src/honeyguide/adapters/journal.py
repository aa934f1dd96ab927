"""Output that survives a kill at any instant: every finished record is kept, none twice, none torn.

Owns: two files and one lock. The *output* holds the records in input order, whatever the order they finish in; the
*journal* beside it (`picks.jsonl.journal`) holds what finished before its turn, one line with its place each, under
a header that says which run this is. Must not know: what a record says.

The protocol, and why any prefix of it is a state to go on from:
1. The journal exists, locked, with its header, before the first record is written anywhere.
2. Both files are only ever appended to, a line at a time; a line counts when its line end is there. What a kill tore
   off has none and is cut away before anything is appended.
3. A record whose turn it is goes to the output, any other one to the journal. When its turn comes it is copied, and
   stays in the journal: the number of lines in the output says what has been copied, so nothing is copied twice.
4. The journal is removed when the output is complete, and after the output is safe on the disk.
5. Trying failed sites again writes a new journal without them, puts it in the place of the old one in one step, and
   then empties the output, which is filled again from the journal by 3.

Start reading at `Journal.open` and `Journal.add`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from honeyguide.adapters.linefile import LineFile
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_MAGIC = b'{"honeyguide": "journal of a pick", '
_ADVICE = "use --fresh to start over, or another -o"


@dataclass(frozen=True, slots=True)
class Run:
    """What a run is: settings that can be compared, its sites, and how the line of a site begins."""

    settings: Mapping[str, Any]
    sites: tuple[str, ...]
    opening: Callable[[str], str]

    @property
    def header(self) -> dict[str, Any]:
        """The first line of the journal: what must be the same for a run to go on."""
        text = "\n".join(self.sites).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(text, digest_size=16).hexdigest()
        return {"honeyguide": "journal of a pick", "version": 1, **self.settings, "sites": digest}

    def owns(self, index: int, line: bytes) -> bool:
        """Tell whether a line is the record of the site in that place."""
        if not 0 <= index < len(self.sites):
            return False
        return line.startswith(self.opening(self.sites[index]).encode()) and line.endswith(b"}")


class Journal:
    """One output while it is being written; made by `open`, ended by `complete` or, for later, by `close`."""

    def __init__(self, path: Path, run: Run, journal: LineFile, output: LineFile | None) -> None:
        self._path = path
        self._run = run
        self._journal = journal
        self._output = output
        self._next = 0  # records in the output
        self._at = array("q", [-1]) * len(run.sites)  # where in the journal a record stands

    @classmethod
    def open(cls, path: Path, run: Run, *, in_order: bool = True, fresh: bool = False) -> Self:
        """Start or go on; `in_order` keeps the output as JSON lines, otherwise everything stays in the journal."""
        if path.exists() and not path.is_file():
            raise InputError("is not a regular file; choose another -o", file=str(path))
        journal = LineFile.locked(_beside(path, ".journal"), f"another run is writing to {path}; wait for it to end")
        output = None
        try:
            if fresh:
                _forget(path, journal)
            _check_header(path, run, journal)
            if in_order and (path.exists() or not _is_headless(journal)):
                output = LineFile(path)
            made = cls(path, run, journal, output)
            made._recover(is_headless=_is_headless(journal))
        except BaseException:
            if _is_headless(journal):
                journal.remove()
            journal.close()
            if output:
                output.close()
            raise
        return made

    # --- going on ---

    def _recover(self, *, is_headless: bool) -> None:
        """Find out what is finished; cut what was torn off."""
        if is_headless:  # without a header there is nothing to go on from but an output that is complete
            self._check_complete()
            return
        self._journal.cut_torn()
        if self._output:
            self._output.cut_torn()
            self._next = self._count_output()
        self._index_journal()
        self._catch_up()

    def _check_complete(self) -> None:
        """Accept an output whose journal is gone if it has everything that is asked for; start if there is none."""
        raise NotImplementedError
