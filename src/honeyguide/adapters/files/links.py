"""Links in files, one in each row: url, and what its page says of it.

Owns: the columns of such files, and the sentence where a row is wrong. Must not know: scores.
Start reading at `LinkRows`; files that name the page of each link are read by `page_rows.py`.
"""

from __future__ import annotations

from functools import partial
from hashlib import blake2b
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from honeyguide.adapters.files.rows import Raw, raw_rows
from honeyguide.core.page.page import Head, Link, Occurrence, Position
from honeyguide.core.rules.facts import Facts
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from honeyguide.adapters.files.read import Source
    from honeyguide.adapters.files.rows import Rejected

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
        from honeyguide.adapters.files.parquet import parquet_rows  # an extra

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


# What a column may be called; the first name that a file has counts.
PAGE_NAMES: Mapping[str, tuple[str, ...]] = {
    **NAMES,
    "page": ("page", "base", "site"),
    "title": ("title",),
    "rel": ("rel",),
    "positions": ("positions",),
    "head_title": ("head_title",),
    "head_description": ("head_description",),
}
TEXT_NAMES = {name: names for name, names in PAGE_NAMES.items() if name != "positions"}
MAX_PAGE_ROWS = 20_000  # of one page; as many as it may have links
MAX_PAGE_CHARS = 10_000_000  # of all rows of one page; about as large as a page may be
MAX_PAGES = 1_000_000  # of all files; a trace of each is kept, to notice one that comes again


class PageRow(NamedTuple):
    """A link as its page has it: the href, what the page says of it, and what is known of where it leads."""

    page: Url
    href: str
    occurrences: tuple[Occurrence, ...]
    head: Head | None = None

    @property
    def chars(self) -> int:
        """How much it is to remember."""
        head = () if self.head is None else (self.head.title or "", self.head.description or "")
        return sum(map(len, (self.href, *chain.from_iterable(self.occurrences), *head)))


class PageRows:
    """The checked rows of files; wrong rows go to `reject`, or stop the run. `base` is the page of rows that name none."""

    def __init__(
        self, sources: Sequence[Source], base: Url | None = None, reject: Rejected | None = None
    ) -> None:
        self._sources = sources
        self._base = base
        self._reject = reject
        if reject is not None:
            reject.expect(source.name for source in sources)

    def pages(self) -> Iterator[tuple[Url, list[PageRow]]]:
        """Give the rows of each page, in the order of the files."""
        for page, rows in groupby(self, key=lambda row: row.page):
            yield page, list(rows)

    def __iter__(self) -> Iterator[PageRow]:
        order = _Order()
        for source in self._sources:
            for raw in raw_links(source, PAGE_NAMES):
                row = right_or_rejected(partial(self._checked, raw, order), source, raw, self._reject)
                if row is not None:
                    yield row

    def _checked(self, raw: Raw, order: _Order) -> PageRow:
        texts = texts_of(raw, TEXT_NAMES)
        page = self._page(raw, texts["page"], order.page)
        occurrences = tuple(
            Occurrence(texts["anchor"], texts["title"], texts["rel"], place, texts["context"])
            for place in _positions(raw, texts["position"])
        )
        title, description = texts["head_title"] or None, texts["head_description"] or None
        head = Head(title, description) if title or description else None
        row = PageRow(page, texts["url"], occurrences, head)
        order.add(raw, row)
        return row

    def _page(self, raw: Raw, text: str, last: Url | None) -> Url:
        if not text:
            if self._base is None:
                raise wrong(raw, "page", "is missing; every row needs one, unless --base is the page of all")
            return self._base
        if last is not None and last.text == text:  # nearly always: rows of a page stand together
            return last
        try:
            return Url.parse(text)
        except UrlError as error:
            raise wrong(raw, "page", f"{shown(text)} is not an http(s) URL: {error.why}") from None


def _positions(raw: Raw, position: str) -> tuple[Position, ...]:
    """Read all positions where a page links a URL, as `honeyguide links` lists them; else the one that is given."""
    values = raw.values if isinstance(raw.values, dict) else {}
    named = values.get("positions") or ()
    listed = named.split(";") if isinstance(named, str) else named
    if not isinstance(listed, list | tuple) or not all(isinstance(one, str) for one in listed):
        raise wrong(raw, "positions", f"{shown(repr(named))} should be a list of positions")
    found = dict.fromkeys(position_in(raw, one) or Position.MAIN for one in listed if one.strip())
    return tuple(found) or (position_in(raw, position) or Position.MAIN,)


class _Order:
    """Sees that rows of a page stand together, and that no page is too large."""

    def __init__(self) -> None:
        self.page: Url | None = None
        self._rows = 0
        self._chars = 0
        self._seen: set[bytes] = set()

    def add(self, raw: Raw, row: PageRow) -> None:
        """Take a row in, or say why not."""
        if row.page != self.page:
            self._begin(raw, row.page)
        if self._rows >= MAX_PAGE_ROWS:
            raise wrong(raw, "page", f"{shown(row.page.text)} has more than {MAX_PAGE_ROWS:,} rows")
        if self._chars + row.chars > MAX_PAGE_CHARS:
            raise wrong(
                raw, "page", f"{shown(row.page.text)} has more than {MAX_PAGE_CHARS:,} characters of text"
            )
        self._rows += 1
        self._chars += row.chars

    def _begin(self, raw: Raw, page: Url) -> None:
        trace = blake2b(page.text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if trace in self._seen:
            what = "comes again after other pages; sort the rows by page"
            raise wrong(raw, "page", f"{shown(page.text)} {what}")
        if len(self._seen) >= MAX_PAGES:
            raise wrong(raw, "page", f"is one more than {MAX_PAGES:,} pages; give the file in parts")
        self._seen.add(trace)
        self.page, self._rows, self._chars = page, 0, 0
