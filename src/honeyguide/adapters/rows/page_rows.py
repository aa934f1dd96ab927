"""Links in files that say on which page each stands: the rows of one page together, page after page.

Owns: the columns of such files, that rows of a page stand together, and how much of one page is read. Must not know:
verdicts, scores. Start reading at `PageRows`.
A page is chosen from as a whole, so its rows must all be there before the first answer. Files may be larger than memory;
therefore rows of one page follow each other, and a page that comes again is refused rather than answered twice.
"""

from __future__ import annotations

from functools import partial
from hashlib import blake2b
from itertools import chain, groupby
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.adapters.rows.link_rows import (
    NAMES,
    position_in,
    raw_links,
    right_or_rejected,
    texts_of,
    wrong,
)
from honeyguide.core.page import Head, Occurrence, Position
from honeyguide.core.url import Url
from honeyguide.errors import UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from honeyguide.adapters.rows.known import Source
    from honeyguide.adapters.rows.rejected import Rejected
    from honeyguide.adapters.rows.rowfiles import Raw

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
