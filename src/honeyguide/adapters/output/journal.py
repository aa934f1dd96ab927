"""Output that survives a kill at any instant: every finished record is kept, none twice, none torn.

Owns: two files. The *output* holds the records in input order, whatever the order they finish in; the *journal*
beside it (`picks.jsonl.journal`) holds what finished before its turn, each with its place, under a header that says
which run this is. For formats that cannot be appended to, everything stays in the journal until the end.
Must not know: what a record says.

The protocol, and why whatever part of it was done is a state to go on from:
1. The journal exists, locked, with its header, before the first record is written anywhere.
2. Both files are only appended to, a line at a time, and a line counts when its end is there. What a kill tore off
   has none and is cut away before anything is appended.
3. A record whose turn it is goes to the output, any other one to the journal. When its turn comes it is copied, and
   stays in the journal: the number of lines in the output says what was copied, so nothing is copied twice.
4. The journal is removed when the output is complete, and safe on the disk.
5. Trying failed sites again writes a new journal without them, puts it in the place of the old one in one step, and
   then empties the output, which is filled again by 3.

Start reading at `Journal.open` and `Journal.add`.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, Self

from honeyguide.adapters.output.write import PART, LineFile, check_regular, target_of, unwritable
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path


_MAGIC = '{"honeyguide": "journal of a pick", "version": 1, '
ADVICE = "use --fresh to start over, or another -o"
Settings = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Finished:
    """What an output tells of itself when its journal is gone: its sites, their statuses, some of the settings."""

    sites: tuple[str, ...]
    settings: Settings
    statuses: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class JournalSettings:
    """What a run is: settings to compare, its sites, how the line of a site begins, how to read an output back."""

    settings: Mapping[str, Any]
    sites: tuple[str, ...]
    opening: Callable[[str], str]
    read_back: Callable[[Path], Finished | None]

    @property
    def header(self) -> Settings:
        """What must be the same for a run to go on."""
        text = "\n".join(self.sites).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(text, digest_size=16).hexdigest()
        return {**self.settings, "list of sites": f"{len(self.sites):,} sites, {digest}"}

    def owns(self, index: int, line: bytes) -> bool:
        """Tell whether a line is the record of the site in that place."""
        if not 0 <= index < len(self.sites) or not line.endswith(b"}"):
            return False
        return line.startswith(self.opening(self.sites[index]).encode("utf-8", "surrogatepass"))


class Journal:
    """An output while it is being written; made by `open`, ended by `complete` or, to go on later, by `close`."""

    def __init__(self, path: Path, run: JournalSettings, journal: LineFile, output: LineFile | None) -> None:
        self._path = path
        self._run = run
        self._journal = journal
        self._output = output
        self._next = 0  # records in the output
        self._at = array("q", [-1]) * len(run.sites)  # where in the journal a record stands
        self._bare = 0  # a journal of this size has no record
        self.is_unbegun = False  # whether what an earlier run left goes with the first record
        self._in_order = True
        self.was_complete = False

    @classmethod
    def open(cls, path: Path, run: JournalSettings, *, in_order: bool = True, fresh: bool = False) -> Self:
        """Start or go on; without `in_order` the records stay in the journal and the caller writes the output.

        With `fresh` what an earlier run left is there until the first record of this one.
        """
        journal, path = _lock(path)
        made = cls(path, run, journal, None)
        made.is_unbegun, made._in_order = fresh, in_order
        try:
            made._begin()
        except BaseException:  # put in order whatever it is, and raised again
            made.close()
            raise
        return made

    # --- starting, going on ---

    def _begin(self) -> None:
        header = _read_header(self._journal)
        if header is None:
            self._journal.cut(0)
        finished = self._run.read_back(self._path) if _has_content(self._path) else None
        if finished is None and _has_content(self._path):
            raise InputError(
                "exists and is no output of this command; choose another -o", file=str(self._path)
            )
        if self.is_unbegun:
            return
        if finished is not None and header is None:
            self._check_settings(finished)
        if finished is not None and header is None and not (self._in_order and self._goes_on_after(finished)):
            self._check_sites(finished)
            self.was_complete = True
            self._next = len(self._run.sites)
            self._output = LineFile(self._path) if self._in_order else None
        else:
            self._resume(header)

    def _start_over(self) -> None:
        """Let go what an earlier run left; the output first: a journal without output is a state to go on from."""
        self._path.unlink(missing_ok=True)
        self._journal.cut(0)
        self.is_unbegun = False
        self._resume(None)

    def _resume(self, header: Settings | None) -> None:
        if header is None:
            self._journal.append(_header_line(self._run))
            self._journal.sync()
        else:
            self._compare(header, self._run.header)
        self._bare = len(_header_line(self._run)) + 1
        self._journal.cut_torn()
        if self._in_order:
            self._output = LineFile(self._path)
            self._output.cut_torn()
            self._next = self._count(self._output)
        self._index()
        self._catch_up()

    def _check_settings(self, finished: Finished) -> None:
        """Accept an output without a journal if nothing of what it tells speaks against it."""
        ours = self._run.settings
        self._compare(finished.settings, {name: ours[name] for name in finished.settings})

    def _goes_on_after(self, finished: Finished) -> bool:
        """Tell whether the list grew at its end since the output was complete."""
        count = len(finished.sites)
        return 0 < count < len(self._run.sites) and finished.sites == self._run.sites[:count]

    def _check_sites(self, finished: Finished) -> None:
        """Refuse an output that has other sites than those asked for."""
        if finished.sites != self._run.sites:
            raise InputError(f"holds other sites than those asked for; {ADVICE}", file=str(self._path))

    def _compare(self, theirs: Settings, ours: Settings) -> None:
        names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
        if names:
            what = "; ".join(
                f"{name}: {_said(theirs.get(name))} there, {_said(ours.get(name))} here" for name in names
            )
            raise InputError(f"belongs to another run ({what}); {ADVICE}", file=str(self._path))

    def _count(self, output: LineFile) -> int:
        """Count the records of the output, each of which must be the one that belongs in its place."""
        count = 0
        for _, line in output.lines():
            if not self._run.owns(count, line):
                raise InputError(
                    f"line {count + 1} is not the record that belongs there; {ADVICE}", file=str(self._path)
                )
            count += 1
        return count

    def _index(self) -> None:
        for start, line in self._journal.lines():
            place, tab, record = line.partition(b"\t")
            index = int(place) if tab and place.isdigit() and len(place) < 10 else -1
            if self._run.owns(index, record):
                self._at[index] = start

    # --- records ---

    @property
    def missing(self) -> list[int]:
        """The places whose records are still to come."""
        return [index for index in range(self._next, len(self._at)) if self._at[index] < 0]

    def add(self, index: int, line: str) -> None:
        """Keep a finished record, at once."""
        if self.is_unbegun:
            self._start_over()
        record = line.encode("utf-8", "surrogatepass")
        if self._output and index == self._next:
            self._output.append(record)
            self._next += 1
            self._catch_up()
        else:
            self._at[index] = self._journal.append(b"%d\t%b" % (index, record))

    def _catch_up(self) -> None:
        """Copy to the output what waited for its turn."""
        while self._output and self._next < len(self._at) and self._at[self._next] >= 0:
            self._output.append(self._waiting(self._next))
            self._next += 1

    def _waiting(self, index: int) -> bytes:
        return self._journal.line_at(self._at[index]).partition(b"\t")[2]

    def lines(self) -> Iterator[tuple[int, str]]:
        """Give what is finished, in input order."""
        if self._output:
            for index, (_, line) in enumerate(self._output.lines()):
                yield index, line.decode("utf-8", "surrogatepass")
        for index in range(self._next, len(self._at)):
            if self._at[index] >= 0:
                yield index, self._waiting(index).decode("utf-8", "surrogatepass")

    def forget(self, is_failed: Callable[[str], bool]) -> None:
        """Make the places of failed records free again (5 of the protocol)."""
        if not any(is_failed(line) for _, line in self.lines()):
            return
        new = LineFile.anew(_beside(self._path, f".journal{PART}"))
        try:
            new.lock(_refusal(self._path))
            new.cut(0)
            new.append(_header_line(self._run))
            for index, line in self.lines():
                if not is_failed(line):
                    new.append(b"%d\t%b" % (index, line.encode("utf-8", "surrogatepass")))
            new.sync()
            new.replace(_beside(self._path, ".journal"))
        except BaseException:  # put in order whatever it is, and raised again
            new.close()
            raise
        self._journal.close()
        self._journal = new
        self._at = array("q", [-1]) * len(self._at)
        self._next, self._bare, self.was_complete = 0, -1, False
        if self._output:
            self._output.cut(0)
        self._index()
        self._catch_up()

    # --- the end ---

    def complete(self) -> None:
        """Remove the journal: the output has everything."""
        if self.is_unbegun:  # there is no record at all
            self._start_over()
        if self._output:
            self._output.sync()
        _beside(self._path, f".journal{PART}").unlink(missing_ok=True)  # of a kill in `forget`
        self._journal.remove()
        self.close()

    def close(self) -> None:
        """Leave both files as they are, to go on later; where nothing is finished, leave none."""
        is_bare = self._journal.end <= self._bare and (self._output is None or self._output.end == 0)
        try:
            if self._output:
                self._output.remove() if is_bare else self._output.close()
        finally:
            self._journal.remove() if is_bare or self._journal.end == 0 else self._journal.close()


def _lock(path: Path) -> tuple[LineFile, Path]:
    """Hold the journal; gives it, and the file that is meant, where `path` is a link to it."""
    try:
        check_regular(path)
        target = target_of(path)
        return LineFile.locked(_beside(target, ".journal"), _refusal(path)), target
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None


def _refusal(path: Path) -> str:
    return f"{path}: another run is writing it; wait until that has ended"


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _header_line(run: JournalSettings) -> bytes:
    return _MAGIC.encode() + json.dumps(run.header).removeprefix("{").encode()


def _read_header(journal: LineFile) -> Settings | None:
    """Read the settings of the run a journal belongs to; None if it was killed before it had said so."""
    first = journal.line_at(0)
    magic = _MAGIC.encode()
    if len(first) == journal.end and magic.startswith(first[: len(magic)]):
        return None  # empty, or torn
    try:
        return (
            dict(json.loads(b"{" + first.removeprefix(magic)))
            if first.startswith(magic)
            else _foreign(journal)
        )
    except ValueError:
        return _foreign(journal)


def _foreign(journal: LineFile) -> NoReturn:
    why = "is no journal of this command; move it away, or choose another -o"
    raise InputError(why, file=str(journal.path))


def _said(value: object) -> str:
    return shown(value) if isinstance(value, str) else "none" if value is None else json.dumps(value)
