"""The file of `pick --keep`: opened to keep what is fetched, to pick again from what was kept, or both.

Owns: `KeptPick`, and how the file says which pick made it. Must not know: options, terminals, how responses are stored
(`adapters.files.kept_responses`). Start reading at `opened_kept_pick`.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from honeyguide import __version__
from honeyguide.adapters.files.kept_responses import KeptFetcher, KeptReader, ResponseFile
from honeyguide.app.arguments import lasting_name
from honeyguide.app.pick import PickRequest
from honeyguide.app.tools.checked import check_fields
from honeyguide.errors import HoneyguideError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from honeyguide.core.records import Record
    from honeyguide.ports.fetch import HomeReader, RobotsFetcher

_RECORD = "record"  # the part that stands for the record of a site
_LEFT_OUT = ("elapsed_s", "input")  # of a record that is kept: what a replay does not have
_TUPLES = ("include", "exclude", "want", "never")


@dataclass(frozen=True, slots=True)
class KeptPick:
    """An open file: whether it `keeps` what is fetched, and whether it `replays` what was kept."""

    file: ResponseFile
    keeps: bool
    replays: bool

    def fetcher(self, polite: RobotsFetcher | None) -> KeptFetcher:
        """Wrap the fetcher of a pick; a replay that keeps nothing makes no request at all."""
        return KeptFetcher(self.file, polite if self.keeps else None, replays=self.replays)

    def reader(self, reader: HomeReader) -> KeptReader:
        """Wrap the reader of a pick: pages are kept as they were read, or given as they were kept."""
        return KeptReader(self.file, reader, code_mark(), keeps=self.keeps)

    def keep_record(self, record: Record) -> None:
        """Keep the record of a site as a replay would make it."""
        kept = {name: value for name, value in record.items() if name not in _LEFT_OUT}
        self.file.put_made(str(record["site"]), _RECORD, code_mark(), kept)

    def record(self, site: str, like: Record) -> Record | None:
        """Give the record of a site if it was kept, and made by this code with a profile and options `like` those given."""
        found = self.file.get_made(site, _RECORD, code_mark())
        is_same = isinstance(found, dict) and all(found.get(name) == value for name, value in like.items())
        return found if is_same else None

    def note(self, sites: Sequence[str], request: PickRequest, profile: str | None) -> None:
        """Note which sites are picked from and how, so that the studio can do it again."""
        named = None if profile is None else lasting_name(profile)
        settings = {**request.options, "strategy": request.strategy, "profile": named}
        self.file.note(list(sites), json.dumps(settings))

    def sites(self) -> list[str]:
        """List the sites of all picks that were kept."""
        return self.file.sites()

    def request(self) -> PickRequest:
        """Give how the last pick was asked for, without timings."""
        try:
            found: Any = json.loads(self.file.settings() or "{}")
            found = {name: value for name, value in found.items() if value is not None}
            found |= {name: tuple(found.get(name, ())) for name in _TUPLES}
            request = PickRequest(**found, timings=False)
            check_fields(request)
        except (TypeError, ValueError, RecursionError, HoneyguideError):
            raise InputError(
                "does not say how its pick was asked for; make it anew with pick --keep", file=self.file.path
            ) from None
        return request


@contextmanager
def opened_kept_pick(path: str, *, keeps: bool, replays: bool) -> Iterator[KeptPick]:
    """Open a file of `pick --keep`; it is made if it is to keep something."""
    with ResponseFile(path, writes=keeps) as file:
        yield KeptPick(file, keeps, replays)


@cache
def code_mark() -> str:
    """Give a hash of our code: what other code has read or decided is not ours to show."""
    mark, root = hashlib.sha256(), files("honeyguide")
    paths = sorted(root.rglob("*.py")) if isinstance(root, Path) else []
    for path in paths:
        mark.update(path.read_bytes())
    return f"{__version__} {mark.hexdigest()}"
