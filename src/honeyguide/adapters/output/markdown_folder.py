"""Pages as a folder of Markdown files.

Owns: the name of a page's file, and its front matter. Must not know: where the Markdown comes from. Start reading at
`file_name`. A name depends on the URL alone, so a page that is fetched again replaces its own file. Names are safe on every
system: ASCII in lower case, short, none that a system reserves.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from honeyguide.adapters.output.write import replacing
from honeyguide.core.text.printable import escaped
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, UrlError

if TYPE_CHECKING:
    from honeyguide.core.records import Record


_FIELDS = ("url", "title", "score", "fetched_at")  # of the front matter, with which every file begins
_MOST_LINE = 1_000_000  # bytes of one
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


def page_text(record: Record, markdown: str) -> str:
    r"""Write a page with its front matter, which is YAML whose values are JSON; no control character gets into the file.

    >>> print(page_text({"url": "https://a.example/", "title": "A: b", "relevance_score": 7, "fetched_at": None}, "Hi."))
    ---
    url: "https://a.example/"
    title: "A: b"
    score: 7
    fetched_at: null
    ---
    <BLANKLINE>
    Hi.
    <BLANKLINE>
    """
    values = (record["url"], record["title"], record["relevance_score"], record["fetched_at"])
    lines = [f"{name}: {_yaml(value)}" for name, value in zip(_FIELDS, values, strict=True)]
    return "\n".join(["---", *lines, "---", "", _CONTROLS.sub("", markdown).strip("\n"), ""])


def _yaml(value: object) -> str:
    return escaped(json.dumps(value, ensure_ascii=False, allow_nan=False), pairs=False)


class Folder:
    """A folder of pages; each file is written in one step.

    Nothing is written outside of the folder, and no file is replaced that is no page of an earlier crawl.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        try:
            root.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            raise _refused(root, error) from None

    def write(self, record: Record, markdown: str) -> Path:
        """Write a page, and return its path."""
        try:
            path = self.root / file_name(Url.parse(record["url"]))
            path.parent.mkdir(parents=True, exist_ok=True)
            self._check_inside(path.parent)
            _check_ours(path)
            with replacing(path, f".{path.name}", is_synced=False) as part:
                part.write_text(page_text(record, markdown), "utf-8", "backslashreplace", newline="\n")
        except (OSError, RuntimeError, UrlError) as error:  # links in a circle are a RuntimeError
            raise _refused(self.root, error) from None
        return path

    def _check_inside(self, folder: Path) -> None:
        """Reject a folder that is a link to somewhere else."""
        if not folder.resolve().is_relative_to(self.root.resolve()):
            raise InputError("is a link that leads out of the folder; remove it", file=str(folder))


def _check_ours(path: Path) -> None:
    """Reject a file that is no page of an earlier crawl; an empty one was left by a power cut."""
    if path.is_symlink() or (path.exists() and not (path.is_file() and _has_front_matter(path))):
        raise InputError("exists and is no page that was written here; move it away", file=str(path))


def _has_front_matter(path: Path) -> bool:
    with path.open("rb") as file:
        starts = [b"---", *(f"{name}: ".encode() for name in _FIELDS), b"---"]
        lines = [file.readline(_MOST_LINE) for _ in starts]
    return not any(lines) or all(map(bytes.startswith, lines, starts))


def _refused(root: Path, error: Exception) -> InputError:
    where = getattr(error, "filename", None) or str(root)
    return InputError(f"cannot be written: {getattr(error, 'strerror', None) or error}", file=str(where))
