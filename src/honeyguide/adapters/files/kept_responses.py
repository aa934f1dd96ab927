"""Responses of servers in one SQLite file: what a pick fetched, so that it can be repeated without a request.

Owns: the file, and `KeptFetcher`, which asks the file before the web, or instead of it. The file may be a stranger's: its
tables must be exactly ours, every size is bounded, and a row that is not as we write it is an error. What was made of them
(pages as they were read, records) is kept beside them to save time; where it is not as we write it, it is made again. Must
not know: what a pick is. Start reading at `KeptFetcher`.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from honeyguide.adapters.store.common.contents import MAX_BYTES, pack, unpack
from honeyguide.adapters.store.sqlite.files import connect, open_to_read
from honeyguide.core.page.page import Link, Main, Occurrence, Page, Position
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.errors import AddressRefusedError, FetchError, NotKeptError, StoreError, UrlError
from honeyguide.ports.fetch import Fetched, Headers, Part, Rendered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from honeyguide.core.page.page import Head
    from honeyguide.ports.fetch import Content, HomeReader, Robots, RobotsFetcher, Validators

_APPLICATION = 0x686F6E61  # `hona`: PRAGMA application_id
_ROBOTS = "robots"  # the part that stands for the rules of an origin
_MAX_OUTCOME = 200_000  # characters of the JSON beside a body
_MAX_SITES = 1_000_000
_MAX_SITEMAPS = 1_000  # of a robots.txt
_MAX_MADE = 8_000_000  # bytes of a page as it was read, or of a record
_ANSWER = (
    "CREATE TABLE answer (url TEXT NOT NULL, part TEXT NOT NULL, outcome TEXT NOT NULL, codec INTEGER NOT NULL,"
    " size INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (url, part)) STRICT"
)
_SCHEMA = (
    "CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    "CREATE TABLE site (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT",
    _ANSWER,
)
_OTHER = "is not a file of pick --keep; name another, or a new one"
_DAMAGED = "is damaged, or was changed by another program; make it anew with pick --keep"
_Made = TypeVar("_Made")
# What SQLite and hostile rows raise.
_DAMAGES = (sqlite3.Error, UrlError, ValueError, TypeError, KeyError, OverflowError, RecursionError)


@dataclass(frozen=True, slots=True)
class KeptRobots:
    """What a pick asks of robots.txt; pages that it disallows are kept as failures."""

    sitemaps: tuple[str, ...]
    crawl_delay_s: float | None = None

    def allows(self, _url: Url) -> bool:
        """Leave it to the response that is kept."""
        return True


_Outcome = Fetched | FetchError | KeptRobots | None  # None: an origin without robots.txt


class ResponseFile:
    """The file. Each response is committed at once."""

    def __init__(self, path: str, *, writes: bool) -> None:
        self.path = path
        if "\0" in path:
            raise StoreError(path, "is not a usable path")
        if os.path.isdir(path):  # noqa: PTH112 - as below
            raise StoreError(path, "is a folder; name a file")
        if not writes and not os.path.exists(path):  # noqa: PTH110 - the path may be hostile; this never raises
            raise StoreError(path, "no such file; pick --keep makes one")
        with self._checked(_OTHER):
            is_new = not os.path.exists(path) or os.path.getsize(path) == 0  # noqa: PTH110, PTH202 - as above
            self._db = connect(path) if writes else open_to_read(path)[0]
            self._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES + 1_000_000)
            self._db.execute("PRAGMA trusted_schema = OFF")
            if is_new and writes:
                self._create()
            (found,) = self._db.execute("PRAGMA application_id").fetchone()
            tables = self._db.execute(
                "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid LIMIT 9"
            )
            if found != _APPLICATION or tuple(sql for (sql,) in tables) != _SCHEMA:
                raise StoreError(path, _OTHER)
            if writes:
                self._db.execute("PRAGMA busy_timeout = 5000")
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = NORMAL")

    def _create(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        for sql in _SCHEMA:
            self._db.execute(sql)
        self._db.execute(f"PRAGMA application_id = {_APPLICATION}")
        self._db.execute("COMMIT")

    @contextmanager
    def _checked(self, what: str = _DAMAGED) -> Iterator[None]:
        """Turn what SQLite and hostile rows raise into one sentence."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise StoreError(self.path, f"cannot be used: {error}") from None
        except _DAMAGES:
            raise StoreError(self.path, what) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    # --- sites and settings ---

    def note(self, sites: list[str], settings: str) -> None:
        """Note which sites were picked from, and how the last pick was asked for."""
        with self._checked():
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR IGNORE INTO site (name) VALUES (?)", [(name,) for name in sites])
            self._db.execute("INSERT OR REPLACE INTO setting VALUES ('request', ?)", (settings,))
            self._db.execute("COMMIT")

    def sites(self) -> list[str]:
        """List the sites, in the order in which they were first named."""
        with self._checked():
            rows = self._db.execute("SELECT name FROM site ORDER BY id LIMIT ?", (_MAX_SITES,))
            return [name for (name,) in rows]

    def settings(self) -> str:
        """Give how the last pick was asked for; empty if no pick has said."""
        with self._checked():
            row = self._db.execute("SELECT value FROM setting WHERE name = 'request'").fetchone()
            return str(row[0])[:_MAX_OUTCOME] if row else ""

    # --- responses ---

    def put(self, url: Url, part: str, outcome: _Outcome) -> None:
        """Keep a response, a failure, or what robots.txt says."""
        body = outcome.body if isinstance(outcome, Fetched) else b""
        if len(body) > MAX_BYTES:
            return
        self._insert(url.as_linked, part, _written(outcome), body)

    def _insert(self, name: str, part: str, outcome: object, body: bytes) -> None:
        codec, packed = pack(body)
        values = (name, part, json.dumps(outcome), codec, len(body), packed)
        with self._checked():
            self._db.execute("INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?, ?)", values)

    def get(self, url: Url, part: str) -> tuple[_Outcome] | None:
        """Give what was kept, in a tuple because None is what an origin without robots.txt has."""
        with self._checked():
            row = self._db.execute(
                "SELECT substr(outcome, 1, ?), codec, size, body FROM answer WHERE url = ? AND part = ?",
                (_MAX_OUTCOME, url.as_linked, part),
            ).fetchone()
            if row is None:
                return None
            outcome, codec, size, packed = row
            return (_read(json.loads(outcome), unpack(codec, size, packed), url),)

    # --- what was made of responses ---

    def put_made(self, name: str, part: str, mark: str, value: object) -> None:
        """Keep what was made of responses, with a mark of what made it; what is too large is made anew each time."""
        body = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
        if len(body) <= _MAX_MADE:
            self._insert(name, part, mark, body)

    def get_made(
        self, name: str, part: str, mark: str, read: Callable[[Any], _Made] = lambda value: value
    ) -> _Made | None:
        """Give what was made of responses, as `read` reads it; None if there is nothing, something else made it, or it is damaged."""
        try:
            row = self._db.execute(
                "SELECT codec, size, body FROM answer WHERE url = ? AND part = ? AND outcome = ? AND size <= ?",
                (name, part, json.dumps(mark), _MAX_MADE),
            ).fetchone()
            return None if row is None else read(json.loads(unpack(*row).decode("utf-8", "surrogatepass")))
        except _DAMAGES:
            return None  # it is made again


def _written(outcome: _Outcome) -> object:
    match outcome:
        case Fetched():
            return {
                "url": outcome.url.as_linked,
                "status": outcome.status,
                "headers": list(outcome.headers),
                "truncated": outcome.truncated,
                "hops": list(outcome.hops),
                "is_moved": outcome.is_moved,
                "rendered": list(outcome.rendered.why) if outcome.rendered else None,
            }
        case FetchError():
            return {"rule": outcome.rule, "of": outcome.url, "why": outcome.why}
        case KeptRobots():
            return {"sitemaps": list(outcome.sitemaps[:_MAX_SITEMAPS])}
        case None:
            return None


def _read(value: Any, body: bytes, url: Url) -> _Outcome:
    """Read what `_written` wrote; anything else raises one of the errors that `_checked` knows."""
    if value is None:
        return None
    if "sitemaps" in value:
        return KeptRobots(tuple(map(_text, value["sitemaps"])))
    if "rule" in value:
        return _KINDS[value["rule"]](_text(value["of"]), _text(value["why"]))
    headers = Headers(*(None if text is None else _text(text) for text in value["headers"]))
    return Fetched(
        url=Url.parse(_text(value["url"])),
        request_url=url,
        status=int(value["status"]),
        headers=headers,
        body=body,
        truncated=bool(value["truncated"]),
        hops=tuple(map(_text, value["hops"])),
        is_moved=bool(value["is_moved"]),
        rendered=Rendered(Why(*map(_text, why)), b"") if (why := value.get("rendered")) else None,
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _kinds(kind: type[FetchError]) -> Iterator[tuple[str, type[FetchError]]]:
    yield kind.rule, kind
    for one in kind.__subclasses__():
        yield from _kinds(one)


_KINDS = dict(_kinds(FetchError))


class KeptFetcher:
    """A polite fetcher that asks the file first if it `replays`, and keeps what `source` answers; without a source it only replays."""

    def __init__(self, file: ResponseFile, source: RobotsFetcher | None, *, replays: bool) -> None:
        self._file = file
        self._source = source
        self._replays = replays

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        """Give a response, or raise a failure, as it was kept; what was not kept and cannot be asked for is a `NotKeptError`."""
        del validators  # of crawls
        known = self._known(url, part.value)
        if known is None:
            try:
                known = (await self._asked(url).fetch(url, part=part),)
            except FetchError as error:
                known = (error,)
            if not isinstance(known[0], NotKeptError):
                self._file.put(url, part.value, known[0])
        if isinstance(known[0], Fetched):
            return known[0]
        raise known[0] if isinstance(known[0], FetchError) else TypeError(known[0])

    async def robots(self, url: Url) -> Robots | None:
        """Give the sitemaps that robots.txt of an origin names."""
        origin = Url.parse("/robots.txt", url)
        known = self._known(origin, _ROBOTS)
        if known is None:
            rules = await self._asked(origin).robots(url)
            known = (None if rules is None else KeptRobots(rules.sitemaps[:_MAX_SITEMAPS]),)
            self._file.put(origin, _ROBOTS, known[0])
        return known[0] if isinstance(known[0], KeptRobots) else None

    def _known(self, url: Url, part: str) -> tuple[_Outcome] | None:
        """Give what was kept; an address that we refused ourselves is asked again where requests are made."""
        known = self._file.get(url, part) if self._replays else None
        is_ours = known is not None and isinstance(known[0], AddressRefusedError)
        return None if is_ours and self._source is not None else known

    def _asked(self, url: Url) -> RobotsFetcher:
        if self._source is None:
            raise NotKeptError(url.as_linked, "not kept, and a replay makes no request")
        return self._source


class RememberingReader:
    """A reader that gets its pages from `_read`, which may know them already, and asks another reader for the rest."""

    _reader: HomeReader

    def _read(self, way: str, body: bytes, url: Url, content_type: str | None) -> Page:
        raise NotImplementedError

    def home(self, body: bytes, url: Url, content_type: str | None) -> Page:
        """Read a homepage."""
        return self._read("home", body, url, content_type)

    def page(self, body: bytes, url: Url, content_type: str | None) -> Page:
        """Read a page."""
        return self._read("page", body, url, content_type)

    def head(self, body: bytes, content_type: str | None) -> Head:
        """Read title and description."""
        return self._reader.head(body, content_type)

    def content(self, body: bytes, url: Url, content_type: str | None) -> Content:
        """Read the main content."""
        return self._reader.content(body, url, content_type)


class KeptReader(RememberingReader):
    """Keeps pages as they were read, or gives those that were kept: reading HTML is most of the work of a replay."""

    def __init__(self, file: ResponseFile, reader: HomeReader, mark: str, *, keeps: bool) -> None:
        self._file = file
        self._reader = reader
        self._mark = mark
        self._keeps = keeps

    def _read(self, way: str, body: bytes, url: Url, content_type: str | None) -> Page:
        part = f"read as {way}"
        known = None if self._keeps else self._file.get_made(url.as_linked, part, self._mark, _page_read)
        if known is not None:
            return known
        page: Page = getattr(self._reader, way)(body, url, content_type)
        if self._keeps:
            self._file.put_made(url.as_linked, part, self._mark, _page_written(page))
        return page


def _page_written(page: Page) -> object:
    links = [(link.url.as_linked, link.order, link.occurrences) for link in page.links]
    texts = page.title, page.description, page.robots, page.text
    maybe = page.canonical, page.language
    lists = page.versions, page.h1, page.h2
    return page.url.as_linked, texts, maybe, lists, links, page.skipped, page.main, page.turns


def _page_read(value: Any) -> Page:
    """Read what `_page_written` wrote; anything else raises."""
    url, texts, maybe, lists, links, skipped, main, turns = value
    title, description, robots, text = map(_text, texts)
    canonical, language = (None if one is None else _text(one) for one in maybe)
    versions, h1, h2 = (tuple(map(_text, one)) for one in lists)
    return Page(
        Url.parse(_text(url)), title, description, canonical, language, versions, robots, h1, h2, text,
        links=tuple(_link(*one) for one in links),
        skipped=tuple((_text(href), _text(rule)) for href, rule in skipped),
        main=None if main is None else Main(_text(main[0]), bool(main[1]), bool(main[2])),
        turns=tuple((_text(rel), _text(url)) for rel, url in turns),
    )  # fmt: skip


def _link(url: str, order: int, occurrences: list[list[str]]) -> Link:
    return Link(Url.parse(_text(url)), tuple([_occurrence(one) for one in occurrences]), int(order))


def _occurrence(texts: list[str]) -> Occurrence:
    """Read an occurrence; a file has thousands for each site, so its texts are checked together."""
    anchor, title, rel, position, context, menu, heading = texts
    "".join(texts)  # raises if one is no text
    return Occurrence(anchor, title, rel, _POSITIONS[position], context, menu, heading)


_POSITIONS = {position.value: position for position in Position}
