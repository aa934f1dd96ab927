"""Labels of users, and picks that are judged by them or compared with new ones.

Start reading at `read_gold` and `read_picks`. Must not know: how picks are judged (`core.pick.evaluate`).
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from honeyguide.adapters.files.read import STDIN, name_of, read_lines, read_text
from honeyguide.adapters.files.rows import json_object
from honeyguide.adapters.files.sources import kind_of
from honeyguide.core.pick.evaluate import (
    CORE,
    JUNK,
    LABELS,
    Gold,
    PageDecision,
    Picked,
    is_of_site,
    page_name,
    site_key,
)
from honeyguide.core.url.scope import RULE_WORDS
from honeyguide.errors import InputError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.core.records import Record

MAX_RECORD_BYTES = 64_000_000  # a site with 20,000 links and the content of its pages has less
_MAX_POINTS = 1e15  # of a score, or of points
MAX_FIRST = 1_000  # links of a homepage that are kept to compare the picks with
_NOT_INNER = frozenset({*RULE_WORDS, "homepage", "duplicate"})  # rules that reject what is no inner page
MAX_NAME = 200  # characters of a site that is no address
_ALIKE = 0.8  # of a key to the name of a label: acceptables, Core
_FOREIGN = "is no record of Honeyguide; give what pick, crawl, export, rescore, runs or plan wrote"
NO_TABLE = "is a table, of which picks are not read; give JSON lines that pick wrote"


class NoRecordError(InputError):
    """Something that is no record of ours; the rest of the sentence says what to give."""

    def __init__(self, file: str) -> None:
        super().__init__(_FOREIGN, file=file)


def read_gold(path: str) -> dict[str, Gold]:
    """Read labels, by site."""
    found: dict[str, Gold] = {}
    for where, row in _gold_rows(path):
        site = _site(row, where)
        if site in found:
            raise InputError(f"labels {site} a second time; keep one of them", file=where)
        _check_keys(row, where)
        labels = _labels(row, where)
        pages = (page for label in LABELS for page in row.get(label, ()))
        found[site] = Gold(site, labels, tuple(page for page in pages if not is_of_site(page, site)))
    if not found:
        what = "has no labels; write one object with site, core, acceptable, junk for each site"
        raise InputError(what, file=path)
    return found


def _gold_rows(path: str) -> Iterator[tuple[str, Record]]:
    if path == STDIN or not Path(path).is_dir():
        yield from _rows(path)
        return
    for file in map(str, sorted(Path(path).glob("*.json"))):
        yield file, json_object(read_text(file), file, is_line=False)


def _check_keys(row: Record, where: str) -> None:
    """Refuse a key that seems misspelt; others are free, such as one for notes."""
    from difflib import get_close_matches  # for other keys only

    known = ("site", *LABELS)
    for key in sorted(row.keys() - known):
        if near := get_close_matches(key[:MAX_NAME].lower(), known, 1, _ALIKE):
            raise InputError(f"is no label; did you mean {near[0]}?", file=where, field=shown(key))


def _labels(row: Record, where: str) -> dict[str, str]:
    """Read the labels of a site; a page is junk or not, never both."""
    found: dict[str, str] = {}
    for label in LABELS:
        pages = row.get(label, None if label == CORE else [])
        if not isinstance(pages, list) or not all(isinstance(page, str) and page for page in pages):
            raise InputError("should be a list of paths or URLs", file=where, field=label)
        for page in pages:
            known = found.setdefault(page_name(page), label)
            if label == JUNK and known != JUNK:
                raise InputError(f"{shown(page)} is {known} too; keep one of them", file=where, field=JUNK)
    if not found:
        raise InputError("labels no page; label one, or leave the site out", file=where)
    return found


def read_picks(path: str, *, keep_others: bool, by_path: bool = False) -> dict[str, Picked]:
    """Read the records of a run, by site; `keep_others` keeps the candidates that were not picked, too.

    `by_path` tells sites in folders of one host apart, which labels do not.
    """
    if kind_of(path) not in (None, "jsonl"):
        raise InputError(NO_TABLE, file=path)
    found: dict[str, Picked] = {}
    for where, row in _rows(path):
        site = _key(_site_text(row, where), by_path=by_path)
        if site in found:
            raise InputError(f"is a second record of {site}; keep one of them", file=where)
        if "selected" not in row:
            raise NoRecordError(where)
        found[site] = picked_of(row, where, keep_others=keep_others)
    if not found:
        raise InputError("has no record; give JSON lines that pick wrote", file=name_of(path))
    return found


def picked_of(row: Record, where: str, *, keep_others: bool = True) -> Picked:
    """Read a record of a pick; errors name `where` it is from."""
    selected, others = (_pages(row, name, where) for name in ("selected", "candidates"))
    unpicked = tuple(page for page in others if page.rank is None) if keep_others else ()
    inner = (page for page in others if (page.rejected or "").partition(",")[0] not in _NOT_INNER)
    homepage = row.get("homepage")
    return Picked(
        _key(_site_text(row, where)),
        tuple(selected),
        unpicked,
        str(row.get("status") or "ok"),
        _key(homepage) if isinstance(homepage, str) else None,
        tuple(islice(inner, MAX_FIRST)),
    )


def _pages(row: Record, name: str, where: str) -> list[PageDecision]:
    pages = row.get(name, [])
    is_list = isinstance(pages, list) and all(isinstance(page, dict) for page in pages)
    if not is_list or not all(isinstance(page.get("url"), str) for page in pages):
        what = "should be a list of objects with a url, as honeyguide pick writes them"
        raise InputError(what, file=where, field=name)
    return [_seen(page, place if name == "selected" else None) for place, page in enumerate(pages, 1)]


def _seen(page: Record, place: int | None) -> PageDecision:
    rejected, score, rank = page.get("rejected"), page.get("score"), page.get("rank")
    return PageDecision(
        url=page["url"],
        rank=rank if isinstance(rank, int) else place,
        score=score if _is_number(score) else None,
        bucket=str(page["bucket"]) if page.get("bucket") else None,
        rejected=f"{rejected.get('rule')}, {rejected.get('reason')}" if isinstance(rejected, dict) else None,
    )


def _rows(path: str) -> Iterator[tuple[str, Record]]:
    """Read JSON lines whose records may be large; each comes with its place for people."""
    for line, text in read_lines(path, limit=MAX_RECORD_BYTES):
        if text.strip():
            where = f"{name_of(path)} line {line}"
            yield where, json_object(text, where)


def _site(row: Record, where: str) -> str:
    site = _site_text(row, where)
    try:
        return site_key(site)
    except UrlError as error:
        raise InputError(f"is no site: {shown(site)}: {error.why}", file=where, field="site") from None


def _site_text(row: Record, where: str) -> str:
    site = row.get("site")
    if not isinstance(site, str) or not site.strip():
        raise InputError("is missing: the address that was asked for", file=where, field="site")
    return site.strip()


def _key(text: str, *, by_path: bool = False) -> str:
    """Return the key of a site; a text that is no address is its own key."""
    try:
        return site_key(text, by_path=by_path)
    except UrlError:
        return text[:MAX_NAME]


def _is_number(value: object) -> bool:
    """Tell numbers that a score may be from others that JSON allows: infinite ones, ones of 400 digits."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MAX_POINTS
