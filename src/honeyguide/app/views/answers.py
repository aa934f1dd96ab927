"""The file of `pick --keep`: opened to keep what is fetched, to pick again from what was kept, or both.

Owns: `Answers`, and how the file says which pick made it. Must not know: options, terminals, how answers are stored
(`adapters.files.answers`). Start reading at `opened_answers`.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.files.answers import AnswerFile, KeptFetcher
from honeyguide.app.arguments import lasting_name
from honeyguide.app.pick import PickRequest
from honeyguide.app.tools.checked import check_fields
from honeyguide.errors import HoneyguideError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from honeyguide.jobs.politeness import PoliteFetcher

_TUPLES = ("include", "exclude", "want", "never")


@dataclass(frozen=True, slots=True)
class Answers:
    """An open file: whether it `keeps` what is fetched, and whether it `replays` what was kept."""

    file: AnswerFile
    keeps: bool
    replays: bool

    def fetcher(self, polite: PoliteFetcher | None) -> KeptFetcher:
        """Wrap the fetcher of a pick; a replay that keeps nothing makes no request at all."""
        return KeptFetcher(self.file, polite if self.keeps else None, replays=self.replays)

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
def opened_answers(path: str, *, keeps: bool, replays: bool) -> Iterator[Answers]:
    """Open a file of `pick --keep`; it is made if it is to keep something."""
    with AnswerFile(path, writes=keeps) as file:
        yield Answers(file, keeps, replays)
