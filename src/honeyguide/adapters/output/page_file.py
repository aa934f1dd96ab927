"""What a crawl writes: JSON lines that follow the store, a table that is written from it, a folder of Markdown.

Owns: which lines belong in the file, the name of a page's Markdown file and its front matter. Must not know: what a record
holds, which pages there are, where the Markdown comes from. Start reading at `PageFile.follow`, and at `file_name`.

The store is the truth. A page's line is written before its commit, so after a kill the file may have lines more than the
store has pages: they are cut, and their pages are fetched again. It has fewer only if another process worked on the run, or
the file was named later: missing lines are written from the store. Fields that the store does not keep (`extras`, such as
the Markdown) stay where a line has them. The name of a Markdown file depends on the URL alone, so a page that is fetched
again replaces its own file. Names are safe on every system: ASCII in lower case, short, none that a system reserves.
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice, takewhile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.output.tables import check_table, first_rows, write_table
from honeyguide.adapters.output.write import RecordFile, replacing
from honeyguide.adapters.output.xlsx import read_xlsx
from honeyguide.core.records import json_line
from honeyguide.core.records.fields import SCHEMA, PageRecord
from honeyguide.core.text.printable import escaped
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, UrlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from honeyguide.core.records import Record

OPENING = b'{"schema": %d, "url": ' % SCHEMA  # how every line begins
_COMPARED_ROWS = 100  # of a table: if none of them is a page of the crawl, the table is not its own
_TELLING = len(b'{"sc')  # fewer characters of it may be anybody's


@dataclass(frozen=True, slots=True)
class StoredPages:
    """The pages of a store, in order, as often as needed; `are_pending` tells whether URLs are still to be fetched."""

    pages: Callable[[], Iterator[Record]]
    are_pending: Callable[[list[str]], bool]


class PageFile:
    """JSON lines of a crawl; nothing is changed before `follow`, and with `restart` the file is emptied then."""

    def __init__(self, path: Path, extras: tuple[str, ...] = (), *, restart: bool = False) -> None:
        self.name = str(path)
        self._extras = extras
        self._restart = restart
        refusal = f"{path}: another process is writing it; wait until that has ended, or choose another -o"
        self._file = RecordFile.held(path, refusal)
        try:
            _check_ours(self._file)
            self._file.pass_torn()
        except BaseException:  # close the file after any exception, then re-raise it
            self._file.close()
            raise

    def follow(self, store: StoredPages) -> int:
        """Make the file hold the pages of the store; gives how many lines lack extras that the store cannot give."""
        if self._restart:
            self._file.cut(0)
            self._restart = False
        lines, end, lacking, is_over = self._file.lines(), 0, 0, False
        for record in store.pages():
            start, line = (0, b"") if is_over else next(lines, (-1, b""))
            is_over = is_over or start < 0
            if is_over:
                self.append(record, {})
                lacking += bool(self._extras)
            elif self._fits(line, record):
                end = start + len(line) + 1
            else:
                return self._merge(store)
        if not is_over and end < self._file.end:
            if not end:
                self._check_pending((line for _, line in lines), store)
            self._file.cut(end)
        self._file.cut_passed()
        return lacking

    def append(self, record: Record, values: Record) -> None:
        """Write the line of a page at once; `values` has the extras."""
        self._file.append(_bytes(with_extras(record, values, self._extras)))

    def end(self, store: StoredPages) -> None:
        """Add what other processes of the run have fetched in the meantime."""
        self.follow(store)

    def close(self) -> None:
        """Close the file; an empty one is removed."""
        self._file.remove() if self._file.is_empty else self._file.close()

    def _fits(self, line: bytes, record: Record) -> bool:
        """Tell whether a line is this record, whatever its extras are."""
        head = _bytes(record)[:-1]
        after = f', "{self._extras[0]}": '.encode() if self._extras else b"}"
        return line.startswith(head) and line[len(head) :].startswith(after) and line.endswith(b"}")

    def _merge(self, store: StoredPages) -> int:
        """Write the file again in the order of the store, with the extras of the old lines."""
        old = {_identity(_read(line)): start for start, line in self._file.lines()}
        count, lacking = len(old), 0

        def lines() -> Iterator[bytes]:
            nonlocal lacking
            for record in store.pages():
                start = old.pop(_identity(record), None)
                line = None if start is None else self._file.line_at(start)
                if line is None or not self._fits(line, record):
                    values = {} if line is None else _read(line)
                    lacking += any(name not in values for name in self._extras)
                    line = _bytes(with_extras(record, values, self._extras))
                yield line
            if len(old) == count:
                self._check_pending(map(self._file.line_at, old.values()), store)

        self._file.rewrite(lines())
        return lacking

    def _check_pending(self, lines: Iterable[bytes], store: StoredPages) -> None:
        """Reject a file that shares no line with the store, unless a kill came before the first commit."""
        urls = [str(_read(line).get("url")) for line in lines]
        if urls and not store.are_pending(urls):
            raise _of_another_crawl(self._file.path)


class PageTable:
    """A CSV or Parquet file of a crawl, which is written from the store in one step, when the crawl stops."""

    def __init__(self, path: Path, kind: str, *, restart: bool = False) -> None:
        self.name = str(path)
        self._path, self._kind, self._restart = path, kind, restart
        check_table(path, kind, PageRecord)

    def follow(self, store: StoredPages) -> int:
        """Reject a file whose pages are not those of the store, unless it is to be written again."""
        if self._path.exists() and not self._restart:
            rows = self._first_rows()
            pages = ((page.get("url"), page.get("fetched_at") or "") for page in store.pages())
            if rows is None or (rows and rows.isdisjoint(pages)):
                raise _of_another_crawl(self._path)
        return 0

    def _first_rows(self) -> set[tuple[Any, ...]] | None:
        """Read the URLs and times of the first rows; None if they cannot be read."""
        names = ("url", "fetched_at")
        if self._kind == "parquet":
            return set(first_rows(str(self._path), names, _COMPARED_ROWS))
        try:
            with self._path.open(encoding="utf-8", errors="replace", newline="") as file:
                rows = read_xlsx(self._path) if self._kind == "xlsx" else csv.DictReader(file)
                return {tuple(map(row.get, names)) for row in islice(rows, _COMPARED_ROWS)}
        except csv.Error:
            return None
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", file=self.name) from None

    def append(self, record: Record, values: Record) -> None:
        """Leave the page to the store."""

    def end(self, store: StoredPages) -> None:
        """Write all pages of the store."""
        write_table(self._path, self._kind, store.pages(), PageRecord)

    def close(self) -> None:
        """Everything is written."""


def _of_another_crawl(path: Path) -> InputError:
    return InputError("holds pages of another crawl; choose another -o, or remove it", file=str(path))


def with_extras(record: Record, values: Record, extras: tuple[str, ...]) -> Record:
    """Add the fields that the store does not keep."""
    return {**record, **{name: values.get(name) for name in extras}}


def _check_ours(file: RecordFile) -> None:
    first = file.line_at(0)
    is_torn = len(first) == file.end  # the only line, without its end
    is_beginning = is_torn and len(first) >= _TELLING and OPENING.startswith(first)
    if file.end and not (first.startswith(OPENING) or is_beginning):
        raise InputError("exists and is no output of this command; choose another -o", file=str(file.path))


def _bytes(record: Record) -> bytes:
    return json_line(record).encode("utf-8", "backslashreplace")


def _read(line: bytes) -> dict[str, Any]:
    """Read a line; a broken one has no fields."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _identity(record: Record) -> tuple[Any, Any]:
    return record.get("url"), record.get("fetched_at")


# --- a folder of Markdown ---

# Fields of the front matter, with which every file begins; see `front_matter`.
FRONT = (
    "url", "canonical", "title", "description", "language", "fetched_at", "score", "topic_relevance", "reasons", "topic",
    "depth", "parent", "digest",
)  # fmt: skip
_MAX_LINE_BYTES = 1_000_000  # bytes of one
MAX_NAME_CHARS = 60
MAX_PATH_CHARS = 180  # below the folder: the most careful systems allow 260 in all
_UNSAFE = re.compile(r"[^a-z0-9._-]+")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
_LOOKS_HASHED = re.compile(r".*-[0-9a-f]{16}")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tabs and line ends


def file_name(url: Url) -> PurePosixPath:
    """Return the path of a page's file; a hash makes it unique if the name cannot hold the whole URL.

    >>> [str(file_name(Url.parse("https://a.example" + path))) for path in ("/", "/library/asyncio.html", "/?page=2")]
    ['a.example/index.md', 'a.example/library/asyncio.html.md', 'a.example/index-page-2-27d9509e209b93f8.md']
    """
    host, port = url.host, url.site[len(url.host) + 1 :]
    *folders, last = url.segments or ("index",)
    stem = f"{last}-{url.query}" if url.query else last
    wanted = [host, *folders, stem]
    names = [_safe(name) for name in wanted]
    is_exact = (
        names == wanted
        and "?" not in url.text  # an empty query counts, too
        and "//" not in url.path
        and (not url.segments or last != "index")
        and not any(name.endswith(".md") for name in names[:-1])
        and not _LOOKS_HASHED.fullmatch(stem)
    )
    names[0] = f"{names[0]}+{port}" if port else names[0]  # a sign that no host has
    path = PurePosixPath(*(_folder(name) for name in names[:-1]), f"{names[-1]}.md")
    if is_exact and len(str(path)) <= MAX_PATH_CHARS:
        return path
    marked = f"{names[-1]}-{_hash(url)}.md"
    path = PurePosixPath(*(_folder(name) for name in names[:-1]), marked)
    return path if len(str(path)) <= MAX_PATH_CHARS else PurePosixPath(_folder(names[0]), marked)


def _safe(name: str) -> str:
    """Make a name that every system accepts; different names may become equal."""
    plain = _UNSAFE.sub("-", name.lower())[:MAX_NAME_CHARS].strip("-.") or "page"
    return f"_{plain}" if _RESERVED.fullmatch(plain) else plain


def _folder(name: str) -> str:
    """Rename a folder that ends in .md, because files do."""
    return f"{name[:-3]}-md" if name.endswith(".md") else name


def _hash(url: Url) -> str:
    text = url.text.partition(":")[2]  # http and https are one page (URL-7)
    return blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class PageNotes:
    """What the front matter of a page has besides its record."""

    description: str | None = None
    topic: str | None = None
    is_cut: bool = False


NO_NOTES = PageNotes()


def page_text(record: Record, markdown: str, notes: PageNotes = NO_NOTES) -> str:
    r"""Write a page with its front matter, which is YAML whose values are JSON; no control character gets into the file.

    >>> page = {"url": "https://a.example/", "title": "A: b", "relevance_score": 7, "reasons": ["in its title"], "depth": 1}
    >>> print(page_text(page, "Hi.", PageNotes(topic="fire|alarm")))
    ---
    url: "https://a.example/"
    canonical: null
    title: "A: b"
    description: null
    language: null
    fetched_at: null
    score: 7
    topic_relevance: null
    reasons: ["in its title"]
    topic: "fire|alarm"
    depth: 1
    parent: null
    digest: null
    ---
    <BLANKLINE>
    Hi.
    <BLANKLINE>
    """
    values = {
        **record,
        "score": record["relevance_score"],
        "topic": notes.topic,
        "description": notes.description or None,
    }
    lines = [f"{name}: {_yaml(values.get(name))}" for name in FRONT]
    lines += ["is_cut: true"] if notes.is_cut else []
    return "\n".join(["---", *lines, "---", "", _CONTROLS.sub("", markdown).strip("\n"), ""])


def _yaml(value: object) -> str:
    return escaped(json.dumps(value, ensure_ascii=False, allow_nan=False), pairs=False)


class Folder:
    """A folder of pages; each file is written in one step.

    Nothing is written outside of the folder, and no file is replaced that is no page of an earlier crawl.
    """

    def __init__(self, root: Path) -> None:
        self.root, self.written = root, 0
        try:
            root.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            raise _refused(root, error) from None

    def write(self, record: Record, markdown: str, notes: PageNotes = NO_NOTES) -> Path:
        """Write a page, and return its path."""
        try:
            path = self.root / file_name(Url.parse(record["url"]))
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.parent.resolve().is_relative_to(self.root.resolve()):
                raise InputError("is a link that leads out of the folder; remove it", file=str(path.parent))
            _check_page(path)
            with replacing(path, f".{path.name}", is_synced=False) as part:
                part.write_text(page_text(record, markdown, notes), "utf-8", "backslashreplace", newline="\n")
        except (OSError, RuntimeError, UrlError) as error:  # links in a circle are a RuntimeError
            raise _refused(self.root, error) from None
        self.written += 1
        return path


def _check_page(path: Path) -> None:
    """Reject a file that is no page of an earlier crawl; an empty one was left by a power cut."""
    if path.is_symlink() or (path.exists() and not (path.is_file() and _has_front_matter(path))):
        raise InputError("exists and is no page that was written here; move it away", file=str(path))


def _has_front_matter(path: Path) -> bool:
    """Tell whether a file is empty, or begins with a URL and further fields of ours, in the order of any version."""
    with path.open("rb") as file:
        if not (first := file.readline(_MAX_LINE_BYTES)):
            return True
        lines = (file.readline(_MAX_LINE_BYTES).partition(b": ")[0].decode("ascii", "replace") for _ in FRONT)
        names = list(takewhile(FRONT.__contains__, lines))
    return first == b"---\n" and names[:1] == ["url"] and {"title", "score", "fetched_at"} <= set(names)


def _refused(root: Path, error: Exception) -> InputError:
    where = getattr(error, "filename", None) or str(root)
    return InputError(f"cannot be written: {getattr(error, 'strerror', None) or error}", file=str(where))
