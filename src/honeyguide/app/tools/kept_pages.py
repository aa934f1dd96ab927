"""The pages of a run after the fact: chosen, with their content, scored again. Nothing is fetched.

Owns: which pages are wanted (`PageChoice`), and what is made of their content, while they are fetched or from the store. Must
not know: options. Start reading at `stored_pages`, then `choose`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.adapters.output.chunks import MAX_CHUNK, MIN_CHUNK, chunk_records
from honeyguide.adapters.output.page_file import Folder, PageNotes, with_extras
from honeyguide.adapters.output.tables import IS_CUT
from honeyguide.app.files import store_name
from honeyguide.app.runs import find_run, opened_store
from honeyguide.core.crawl.placement import relevance_level
from honeyguide.core.page.likeness import likeness, page_text, sketch_of
from honeyguide.core.records import point_records, relevance_fields
from honeyguide.core.recrawl.history import CHANGED, UNCHANGED
from honeyguide.core.recrawl.signals import LIST
from honeyguide.core.rules.topic import page_relevance, page_score
from honeyguide.core.text.fold import fold
from honeyguide.core.text.pattern import compile_pattern
from honeyguide.core.text.printable import tidy
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from honeyguide.adapters.output.warc import WarcFile
    from honeyguide.core.crawl.frontier import Run
    from honeyguide.core.page.likeness import Sketch
    from honeyguide.core.page.page import Page
    from honeyguide.core.records import Record
    from honeyguide.core.rules.profile import Profile
    from honeyguide.jobs.crawl import PageAttachments
    from honeyguide.ports.fetch import Content
    from honeyguide.ports.store import KeptPage, Store

CHUNK_CHARS = (MIN_CHUNK, MAX_CHUNK)
# Actions of visits without content of their own.
NO_CONTENT = frozenset({"dropped", "duplicate", "retry", "soft-404"})
_NO_PAGE = frozenset({"dropped", "retry", "soft-404"})  # actions of visits that are never among the best
# Rules of points that are no part of the score.
_KEPT_RULES = frozenset({LIST, "TRAP-8", "TRAP-9", *UNCHANGED, CHANGED})
_ALIKE = 0.9  # share of text from which on two pages are one, as `traps.alike` of the profiles
_COMPARED = 2_000  # pages that a further one is compared with


class StoredPage(NamedTuple):
    """The record of a visit, and what gives the page that it read, if the store keeps that."""

    record: Record
    kept: Callable[[], KeptPage | None]

    def content(self) -> KeptPage | None:
        """Return the page as it was kept, if it has content of its own: a copy has none."""
        return None if self.record["action"] in NO_CONTENT else self.kept()


@dataclass(frozen=True, slots=True)
class PageChoice:
    """Which pages are wanted; what is None or False wants all.

    `top` takes the best by `topic_relevance`, then by `relevance_score`: of each page the last visit, of pages that say the
    same one, and no list of pages unless `lists`.
    """

    min_score: float | None = None
    min_relevance: float | None = None
    rule: str | None = None
    path: str | None = None
    language: str | None = None
    changed: bool = False
    top: int | None = None
    lists: bool = False

    def filter(self) -> Callable[[Record], bool]:
        """Make the check of one record; a wrong pattern raises `PatternError`."""
        pattern = None if self.path is None else compile_pattern(self.path)
        language = None if self.language is None else self.language.lower()

        def admits(record: Record) -> bool:
            return (
                _is_least(record["relevance_score"], self.min_score)
                and _is_least(record["topic_relevance"], self.min_relevance)
                and (self.rule is None or any(point["rule"] == self.rule for point in record["points"]))
                and (not self.changed or record["change"] in ("new", "changed"))
                and (language is None or _speaks(record["language"], language))
                and (pattern is None or pattern.search(fold(_path(record["url"]))))
            )

        return admits


def _is_least(value: float | None, least: float | None) -> bool:
    return least is None or (value is not None and value >= least)


def _speaks(declared: str | None, language: str) -> bool:
    """Tell whether a page declares a language: `en` covers `en-us`."""
    spoken = (declared or "").lower().replace("_", "-")
    return spoken == language or spoken.startswith(f"{language}-")


def _path(url: str) -> str:
    try:
        return Url.parse(url).target
    except UrlError:
        return url


@contextmanager
def stored_pages(
    path: Store | str | Path, number: int | None = None, profile: Profile | None = None
) -> Iterator[Iterator[StoredPage]]:
    """Give the pages of a run while the store is open; with a profile, with the scores that it gives them."""
    with opened_store(path, read_only=True) as store:
        run = find_run(store, number)
        pages = pages_of(store, run)
        if profile is not None and next(store.ledger(run).pages(), None) is None:
            raise InputError(
                f"has no page of run {run.id}, so that there is nothing to score", file=store_name(path)
            )
        yield pages if profile is None else (rescored(page, profile) for page in pages)


def pages_of(store: Store, run: Run) -> Iterator[StoredPage]:
    """Give the pages of a run of an open store."""
    for claim, record in store.ledger(run).pages():
        yield StoredPage(record, partial(store.contents.get, run.id, claim))


def topic_of_run(path: str | Path, number: int | None = None) -> str | None:
    """Give the topic of a run."""
    with opened_store(path, read_only=True) as store:
        return find_run(store, number).spec.topic


def check_rule(rule: str, pages: Iterable[StoredPage]) -> None:
    """Reject a rule that decided about no page: it is probably misspelt."""
    known = {point["rule"] for page in pages for point in page.record["points"]}
    if rule not in known:
        raise InputError(
            f"no page has {shown(rule)}; rules that pages have: {', '.join(sorted(known))}", field="rule"
        )


# --- the best ---


def choose(pages: Iterable[StoredPage], choice: PageChoice) -> Iterator[StoredPage]:
    """Choose pages, in the order of their visits; the best ones in the order of their scores."""
    admits = choice.filter()
    chosen = (page for page in pages if admits(page.record))
    return chosen if choice.top is None else _best(chosen, choice)


def _best(pages: Iterable[StoredPage], choice: PageChoice) -> Iterator[StoredPage]:
    latest: dict[str, StoredPage] = {}
    for page in pages:
        before = latest.get(page.record["url"])
        is_again = before is not None and page.record["action"] == "unchanged"  # the visit before read it
        if page.record["action"] not in _NO_PAGE and not is_again:
            latest[page.record["url"]] = page
    wanted = [page for page in latest.values() if _is_wanted(page.record, choice)]
    wanted.sort(key=lambda page: _order(page.record))
    taken = _Taken()
    left = choice.top or 0
    for page in wanted:
        if not left:
            return
        if taken.take(page):
            left -= 1
            yield page


def _order(record: Record) -> tuple[float, float, bool]:
    relevance, score = record["topic_relevance"] or 0, record["relevance_score"] or 0
    return -relevance, -score, record["duplicate_of"] is not None


def _is_wanted(record: Record, choice: PageChoice) -> bool:
    """Leave out lists, and what has no word on the topic."""
    is_list = any(point["rule"] == LIST for point in record["points"])
    return record["relevance_score"] != 0 and (choice.lists or not is_list)


class _Taken:
    """The pages that were taken already, by all that tells a page from its copies."""

    def __init__(self) -> None:
        self._digests: set[str] = set()
        self._sketches: dict[str, Sketch] = {}
        self._groups: set[str] = set()

    def take(self, page: StoredPage) -> bool:
        """Take a page unless it is a copy of one that was taken."""
        record, digest, group = page.record, page.record["digest"], page.record["language_group"]
        if digest in self._digests or group in self._groups:
            return False
        kept = page.kept()
        sketch: Sketch = () if kept is None else sketch_of(page_text(parsed(kept)).text)
        original = self._sketches.get(record["duplicate_of"] or "")
        if original is not None and (not sketch or not original or likeness(original, sketch) >= _ALIKE / 2):
            return False
        others = list(self._sketches.values())[-_COMPARED:]
        if sketch and any(likeness(other, sketch) >= _ALIKE for other in others):
            return False
        self._sketches[record["url"]] = sketch
        self._digests.update([digest] if digest is not None else [])
        self._groups.update([group] if group is not None else [])
        return True


# --- what pages say ---


def parsed(kept: KeptPage) -> Page:
    """Read a page that was kept."""
    from honeyguide.adapters.html.page import parse_page  # a compiled library, only if there is a page

    return parse_page(kept.body or b"", kept.url, kept.content_type)


def rescored(page: StoredPage, profile: Profile) -> StoredPage:
    """Score a page that was kept by another profile; one that was not kept has no score."""
    record, kept = page.record, page.kept()
    others = [point for point in record["points"] if point["rule"] in _KEPT_RULES]
    if kept is None or record["action"] in ("dropped", "retry"):
        others = others if kept is not None or record["digest"] is not None else record["points"]
        score = relevance = None
    else:
        read, is_list = parsed(kept), any(point["rule"] == LIST for point in others)
        score = page_score(read, profile)
        relevance = page_relevance(read, page_text(read).main.decode(), profile, is_list=is_list)
    words = [] if score is None else list(score.words)
    changed = {
        "relevance_score": None if score is None else tidy(score.value),
        "relevance_level": None if score is None else relevance_level(score, profile),
        "reasons": [*words, *(point["reason"] for point in others if point["reason"])],
        "points": [*([] if score is None else point_records(score.reasons)), *others],
        **relevance_fields(relevance),
    }
    return page._replace(record={**record, **changed})


@dataclass(frozen=True, slots=True)
class ContentWish:
    """What is made of the content of pages: the field of records that has it, files of a folder, a WARC file."""

    field: str | None = None
    markdown: str | None = None
    warc: str | None = None
    topic: str | None = None

    @property
    def extras(self) -> tuple[str, ...]:
        """The fields that records get."""
        return (self.field, IS_CUT) if self.field else ()


class _ContentWriter:
    """Makes of the content of pages what is wanted."""

    def __init__(self, wish: ContentWish) -> None:
        self._wish = wish
        self.folder = Folder(Path(wish.markdown)) if wish.markdown else None

    def _write(self, record: Record, content: Content, description: str | None) -> Record:
        """Write a page to the folder, if there is one, and give the fields that its record gets."""
        if self.folder is not None:
            notes = PageNotes(description, self._wish.topic, content.is_cut)
            self.folder.write(record, content.markdown, notes)
        field = self._wish.field
        text = content.text if field == "text" else content.markdown
        return {field: text, IS_CUT: content.is_cut} if field else {}


class ContentKeeper(_ContentWriter):
    """Extracts the content of pages as they are fetched, if it is wanted, and writes them to a WARC file."""

    def __init__(self, agent: str, wish: ContentWish) -> None:
        super().__init__(wish)
        self._warc: WarcFile | None = None
        if wish.warc:
            from honeyguide.adapters.output.warc import WarcFile  # an extra

            self._warc = WarcFile(Path(wish.warc), agent)

    def keep(self, record: Record, attachments: PageAttachments, *, is_wanted: bool = True) -> Record:
        """Keep a page, and return the fields of its record that the store does not keep; what is not wanted is archived only."""
        fetched, page = attachments.fetched, attachments.page
        if self._warc is not None and fetched is not None:
            self._warc.write(record, fetched)
        is_used = is_wanted and (self._wish.field is not None or self.folder is not None)
        if not is_used or fetched is None or record["action"] in (*NO_CONTENT, "unchanged"):
            return {}
        from honeyguide.adapters.html.content import main_content  # only if it is wanted

        content = main_content(fetched.body, fetched.url, fetched.headers.content_type)
        return self._write(record, content, page.description if page else None)

    def close(self) -> None:
        """Close the WARC file."""
        if self._warc is not None:
            self._warc.close()


class PageExport(_ContentWriter):
    """Gives records of kept pages with their content, writes Markdown files, or cuts pages into chunks of `chunk_chars`.

    `lacking` counts the pages whose content is wanted and not kept.
    """

    def __init__(self, wish: ContentWish, chunk_chars: int | None = None) -> None:
        super().__init__(wish)
        self.lacking = 0
        self._chars = chunk_chars

    def records(self, pages: Iterable[StoredPage]) -> Iterator[Record]:
        """Give the records of pages, or of their chunks."""
        if self.folder is None and self._chars is None and self._wish.field is None:
            yield from (page.record for page in pages)
            return
        from honeyguide.adapters.html.content import main_content  # see `parsed`
        from honeyguide.adapters.html.page import parse_head

        for page in pages:
            record, content = page.record, None
            values: Record = {}
            kept = page.content()
            if kept is not None:
                source = kept.body or b""
                content = main_content(source, kept.url, kept.content_type)
                head = parse_head(source, kept.content_type) if self.folder is not None else None
                values = self._write(record, content, head.description if head else None)
            elif record["digest"] is not None and record["action"] not in NO_CONTENT:
                self.lacking += 1
            if self._chars is None:
                yield with_extras(record, values, self._wish.extras)
            elif content is not None:
                yield from chunk_records(record, content, self._chars)
