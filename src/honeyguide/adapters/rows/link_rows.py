"""Links in files, one in each row: url, and what its page says of it.

Owns: the columns of such files, and the sentence where a row is wrong. Must not know: scores.
Start reading at `LinkRows`; files that name the page of each link are read by `page_rows.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from honeyguide.adapters.rows.rowfiles import Raw, raw_rows
from honeyguide.core.facts import Facts
from honeyguide.core.page import Link, Occurrence, Position
from honeyguide.core.url import Url
from honeyguide.errors import InputError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from honeyguide.adapters.rows.known import Source
    from honeyguide.adapters.rows.rejected import Rejected

# What a column may be called; the first name that a file has counts.
NAMES: Mapping[str, tuple[str, ...]] = {
    "url": ("url",),
    "anchor": ("anchor", "anchor_text"),
    "context": ("context",),
    "position": ("position",),
}
MAX_TEXT = 100_000  # characters of an anchor or its context

_Row = TypeVar("_Row")


class LinkRow(NamedTuple):
    """A link as a file has it: its place among all rows, from 1, and what is known of it; a position may not be."""

    number: int
    url: Url
    anchor: str = ""
    context: str = ""
    position: Position | None = None

    @property
    def facts(self) -> Facts:
        """What rules may read (TOPIC-1)."""
        place = Position.MAIN if self.position is None else self.position
        facts = Facts(Link(self.url, (Occurrence(self.anchor, "", "", place, self.context),)))
        if self.position is None:
            facts["position"] = None
        return facts


class LinkRows:
    """The checked links of files; wrong rows go to `reject`, or stop the run."""

    def __init__(self, sources: Sequence[Source], reject: Rejected | None = None) -> None:
        self._sources = sources
        self._reject = reject
        if reject is not None:
            reject.expect(source.name for source in sources)

    def __iter__(self) -> Iterator[LinkRow]:
        place = 0
        for source in self._sources:
            for raw in raw_links(source):
                place += 1
                row = self.read(source, raw, place)
                if row is not None:
                    yield row

    def read(self, source: Source, raw: Raw, place: int) -> LinkRow | None:
        """Check a row, or hand it over as wrong."""
        return right_or_rejected(lambda: link_of(raw, place), source, raw, self._reject)


def right_or_rejected(
    check: Callable[[], _Row], source: Source, raw: Raw, reject: Rejected | None
) -> _Row | None:
    """Check a row; a wrong one goes to `reject`, or stops the run."""
    try:
        return check()
    except InputError as error:
        if reject is None:
            raise
        reject(source.name, raw, error)
        return None


def raw_links(source: Source, names: Mapping[str, tuple[str, ...]] = NAMES) -> Iterator[Raw]:
    """Read a file row by row, as it is; of Parquet only the columns that may be called by one of the `names`."""
    if source.kind == "parquet":
        from honeyguide.adapters.rows.link_columns import parquet_rows  # an extra

        yield from parquet_rows(source, names)
        return
    rows = raw_rows(source.path, source.kind, source.name, ("url",))
    for number, (line, values) in enumerate(rows, 1):
        yield Raw(number, f"{source.name} line {line}", values)


def link_of(raw: Raw, place: int) -> LinkRow:
    """Check one row; the error names the row and the field."""
    values = texts_of(raw, NAMES)
    try:
        url = Url.parse(values["url"])
    except UrlError as error:
        why = f"{shown(values['url'])} should be an absolute http(s) URL: {error.why}"
        raise wrong(raw, "url", why) from None
    return LinkRow(place, url, values["anchor"], values["context"], position_in(raw, values["position"]))


def texts_of(raw: Raw, names: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Read the texts of a row by their names; what a row does not say is empty."""
    if isinstance(raw.values, InputError):
        raise raw.values
    return {name: _text(raw, name, columns) for name, columns in names.items()}


def position_in(raw: Raw, text: str) -> Position | None:
    """Read where on its page a link stands, if the row says so."""
    if not text:
        return None
    try:
        return Position(text.strip().lower())
    except ValueError:
        allowed = ", ".join(one.value for one in Position)
        raise wrong(raw, "position", f"{shown(text)} is no position; there are {allowed}") from None


def _text(raw: Raw, name: str, names: Sequence[str]) -> str:
    known: Mapping[str, Any] = raw.values if isinstance(raw.values, dict) else {}
    column = next((one for one in names if one in known), None)
    value = None if column is None else known[column]
    if value is None:
        if name == "url":
            raise wrong(raw, name, "is missing; every row needs one")
        return ""
    if not isinstance(value, str):
        raise wrong(raw, name, f"{shown(repr(value))} should be text")
    if len(value) > MAX_TEXT:
        raise wrong(raw, name, f"is longer than {MAX_TEXT:,} characters")
    return value


def wrong(raw: Raw, field: str, what: str) -> InputError:
    """Say what is wrong with a row, and where it is."""
    return InputError(what, file=raw.where, row=raw.number, field=field)
