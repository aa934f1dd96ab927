"""Links in tables, one in each row: the URL, and what its page says of it.

Start reading at `LinkRows`, and at `PageRows` for tables that name the page of each link. Must not know: scores.
"""

from __future__ import annotations

from hashlib import blake2b
from itertools import chain, groupby
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from honeyguide.adapters.files.read import opened
from honeyguide.adapters.files.rows import RawRow, raw_rows
from honeyguide.adapters.files.signals import without_scheme
from honeyguide.adapters.files.sources import CUT_OFF, NoColumnError, reading_parquet
from honeyguide.core.page.page import Head, Link, Occurrence, Position
from honeyguide.core.rules.facts import Facts
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from honeyguide.adapters.files.rows import Rejected
    from honeyguide.adapters.files.sources import Source

    Names = Mapping[str, tuple[str, ...]]  # what a column may be called: the first that a table has counts

_ALSO = {"anchor": ("anchor", "anchor_text"), "page": ("page", "base", "site")}
NAMES: Names = {name: _ALSO.get(name, (name,)) for name in ("url", "anchor", "context", "position")}
_PAGE_FIELDS = ("page", "title", "rel", "head_title", "head_description")
_TEXT_NAMES: Names = {**NAMES, **{name: _ALSO.get(name, (name,)) for name in _PAGE_FIELDS}}
_LISTS = ("positions", "menus", "headings")
PAGE_NAMES: Names = {**_TEXT_NAMES, **{name: (name,) for name in _LISTS}}
LINK_BATCH_ROWS = 50_000  # of Parquet, in memory at once
MAX_TEXT = 100_000  # characters of an anchor or its context
MAX_LISTED = 20  # positions, menus or headings of a link
MAX_PAGE_ROWS = 20_000  # of one page; as many as it may have links
MAX_PAGE_CHARS = 10_000_000  # of all rows of one page; about as large as a page may be
MAX_PAGES = 1_000_000  # of all tables; a digest of each is kept, to notice one that comes again

_Row = TypeVar("_Row")


class LinkRow(NamedTuple):
    """A link of a table: its place among all rows, from 1, and what is known of it."""

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


class PageRow(NamedTuple):
    """A link of a page: the href, what the page says of it, and the head of its target if known."""

    page: Url
    href: str
    occurrences: tuple[Occurrence, ...]
    head: Head | None = None

    @property
    def chars(self) -> int:
        """The number of characters to keep in memory."""
        head = () if self.head is None else (self.head.title or "", self.head.description or "")
        return sum(map(len, (self.href, *chain.from_iterable(self.occurrences), *head)))


class _CheckedRows(Generic[_Row]):
    names = NAMES

    def __init__(self, sources: Sequence[Source], reject: Rejected | None = None) -> None:
        self._sources = sources
        self._reject = reject
        if reject is not None:
            reject.expect(source.name for source in sources)

    def __iter__(self) -> Iterator[_Row]:
        place = 0
        for source in self._sources:
            for raw in raw_links(source, self.names):
                place += 1
                row = self.read(source, raw, place)
                if row is not None:
                    yield row

    def read(self, source: Source, raw: RawRow, place: int) -> _Row | None:
        """Check one row; None if it was rejected."""
        try:
            return self.checked(raw, place)
        except InputError as error:
            if self._reject is None:
                raise
            self._reject(source.name, raw, error)
            return None

    def checked(self, raw: RawRow, place: int) -> _Row:
        """Check one row; raises `InputError`."""
        raise NotImplementedError


class LinkRows(_CheckedRows[LinkRow]):
    """The checked links of tables; wrong rows go to `reject`, or raise `InputError`."""

    def checked(self, raw: RawRow, place: int) -> LinkRow:
        """Check a link."""
        return link_of(raw, place)


class PageRows(_CheckedRows[PageRow]):
    """The checked rows of tables with pages; `base` is the page of rows that name none; the rows of a page stand together."""

    names = PAGE_NAMES

    def __init__(
        self, sources: Sequence[Source], base: Url | None = None, reject: Rejected | None = None
    ) -> None:
        super().__init__(sources, reject)
        self._base = base
        self._last: Url | None = None
        self._rows = 0
        self._chars = 0
        self._seen: set[bytes] = set()

    def pages(self) -> Iterator[tuple[Url, list[PageRow]]]:
        """Return the rows of each page, in the order of the tables."""
        for page, rows in groupby(self, key=lambda row: row.page):
            yield page, list(rows)

    def checked(self, raw: RawRow, place: int) -> PageRow:
        """Check a link of a page."""
        del place
        texts = _texts_of(raw, _TEXT_NAMES)
        page = self._page(raw, texts["page"])
        positions = _positions(raw, texts["position"])
        said = Occurrence(texts["anchor"], texts["title"], texts["rel"], positions[-1], texts["context"])
        menus, headings = (_listed(raw, name) for name in ("menus", "headings"))
        occurrences = [said._replace(position=position) for position in positions]
        occurrences += [said] * (max(len(menus), len(headings)) - len(occurrences))
        for place, menu in enumerate(menus):
            occurrences[place] = occurrences[place]._replace(menu=menu)
        for place, heading in enumerate(headings):
            occurrences[place] = occurrences[place]._replace(heading=heading)
        title, description = texts["head_title"] or None, texts["head_description"] or None
        head = Head(title, description) if title or description else None
        row = PageRow(page, texts["url"], tuple(occurrences), head)
        self._count(raw, row)
        return row

    def _page(self, raw: RawRow, text: str) -> Url:
        if not text:
            if self._base is None:
                raise raw.error("page", "is missing; every row needs one, unless --base is the page of all")
            return self._base
        if self._last is not None and self._last.text == text:  # nearly always: rows of a page stand together
            return self._last
        try:
            return Url.parse(text)
        except UrlError as error:
            why = without_scheme(text) or f"is not an http(s) URL: {error.why}"
            raise raw.error("page", f"{shown(text)} {why}") from None

    def _count(self, raw: RawRow, row: PageRow) -> None:
        if row.page != self._last:
            digest = blake2b(row.page.text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            if digest in self._seen:
                what = "comes again after other pages; sort the rows by page"
                raise raw.error("page", f"{shown(row.page.text)} {what}")
            if len(self._seen) >= MAX_PAGES:
                raise raw.error("page", f"is one more than {MAX_PAGES:,} pages; give the file in parts")
            self._seen.add(digest)
            self._last, self._rows, self._chars = row.page, 0, 0
        if self._rows >= MAX_PAGE_ROWS:
            raise raw.error("page", f"{shown(row.page.text)} has more than {MAX_PAGE_ROWS:,} rows")
        chars = self._chars + row.chars
        if chars > MAX_PAGE_CHARS:
            what = f"has more than {MAX_PAGE_CHARS:,} characters of text"
            raise raw.error("page", f"{shown(row.page.text)} {what}")
        self._rows, self._chars = self._rows + 1, chars


def raw_links(source: Source, names: Names = NAMES) -> Iterator[RawRow]:
    """Read a table row by row; of Parquet only the columns that `names` lists."""
    if source.kind != "parquet":
        yield from raw_rows(source)
        return
    start = 0
    for frame in link_frames(source, names):
        yield from (raw_of(source, frame, start, place) for place in range(frame.height))
        start += frame.height


def link_frames(source: Source, names: Names) -> Iterator[pl.DataFrame]:
    """Read the columns of a Parquet file that say something of links, some rows at a time."""
    with (
        opened(source.path),
        reading_parquet(source.name, CUT_OFF),
    ):  # what the system says of the path comes first
        scan = source.scanned()
        known = scan.collect_schema().names()
        if "url" not in known:
            raise NoColumnError(known, source.name, "url")
        wanted = [column for columns in names.values() for column in columns if column in known]
        rows = 0
        for frame in scan.select(wanted).collect_batches(
            chunk_size=LINK_BATCH_ROWS, maintain_order=True, engine="streaming"
        ):
            rows += frame.height
            if source.on_rows is not None:
                source.on_rows(source.name, rows)
            yield frame


def raw_of(source: Source, frame: pl.DataFrame, start: int, place: int) -> RawRow:
    """One row of a frame, numbered in its file."""
    return RawRow(start + place + 1, source.name, frame.row(place, named=True))


def link_of(raw: RawRow, place: int) -> LinkRow:
    """Check one row; the error names the row and the field."""
    values = _texts_of(raw, NAMES)
    try:
        url = Url.parse(values["url"])
    except UrlError as error:
        why = without_scheme(values["url"]) or f"should be an absolute http(s) URL: {error.why}"
        raise raw.error("url", f"{shown(values['url'])} {why}") from None
    return LinkRow(place, url, values["anchor"], values["context"], _position(raw, values["position"]))


def _texts_of(raw: RawRow, names: Names) -> dict[str, str]:
    values, texts = raw.known_values(), {}
    for name, columns in names.items():
        value = next((values[column] for column in columns if column in values), None)
        if value is None and name == "url":
            raise raw.error(name, "is missing; every row needs one")
        text = "" if value is None else value
        if not isinstance(text, str):
            raise raw.error(name, f"{shown(repr(text))} should be text")
        if len(text) > MAX_TEXT:
            raise raw.error(name, f"is longer than {MAX_TEXT:,} characters")
        texts[name] = text
    return texts


def _position(raw: RawRow, text: str) -> Position | None:
    if not text:
        return None
    try:
        return Position(text.strip().lower())
    except ValueError:
        allowed = ", ".join(position.value for position in Position)
        raise raw.error("position", f"{shown(text)} is no position; there are {allowed}") from None


def _listed(raw: RawRow, name: str) -> list[str]:
    """Read a list of texts, in CSV one cell with semicolons."""
    cell = raw.known_values().get(name) or ()
    listed = cell.split(";") if isinstance(cell, str) else cell
    if not isinstance(listed, list | tuple) or not all(isinstance(text, str) for text in listed):
        raise raw.error(name, f"{shown(repr(cell))} should be a list of texts")
    if len(listed) > MAX_LISTED or any(len(text) > MAX_TEXT for text in listed):
        raise raw.error(
            name, f"has more than {MAX_LISTED} entries, or one with more than {MAX_TEXT:,} characters"
        )
    return [text.strip() for text in listed if text.strip()]


def _positions(raw: RawRow, position: str) -> tuple[Position, ...]:
    """Read all positions where a page links a URL, as `honeyguide links` lists them; else the single `position`."""
    found = dict.fromkeys(_position(raw, text) or Position.MAIN for text in _listed(raw, "positions"))
    return tuple(found) or (_position(raw, position) or Position.MAIN,)
