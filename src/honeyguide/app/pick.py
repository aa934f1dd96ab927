"""Choosing pages: among the links of a page or file (PICK-20), of whole sites, and how good the picks of a run are.

Owns: the library calls, their records, and the funnel of a selection. Must not know: options, terminals, how figures
are made (`core.pick.evaluate`). Start reading at `select_links`, `pick_sites` and `judge_picks`.
"""

from __future__ import annotations

import logging
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.adapters.files.links import PAGE_NAMES
from honeyguide.adapters.files.read import name_of, read_lines
from honeyguide.adapters.files.rows import parse_object
from honeyguide.adapters.files.sites import SiteRow, site_row
from honeyguide.adapters.files.sources import sources_of
from honeyguide.adapters.output.tables import PICK_COUNTS
from honeyguide.app.arguments import (
    FetchPolicy,
    all_of,
    check_no_login,
    check_tables,
    count_of,
    fields_of,
    named_urls,
    patterns_of,
    strategy_profile,
    url_of,
    wishes_of,
)
from honeyguide.app.tools.checked import checked_methods
from honeyguide.app.tools.pages import page_of_hrefs, parse_page
from honeyguide.core.page.page import Head, Link, Page
from honeyguide.core.pick import select
from honeyguide.core.records import SCHEMA, candidate_record
from honeyguide.core.records.fields import CandidateRecord, columns, fields
from honeyguide.core.url import scope
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.errors import InputError, UrlError, check_least, shown
from honeyguide.jobs.pick import PickRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from honeyguide.adapters.files.links import PageRow
    from honeyguide.adapters.files.rows import Rejected
    from honeyguide.adapters.files.sources import OnRows
    from honeyguide.adapters.render.fetcher import RenderingFetcher
    from honeyguide.app.views.kept_pick import KeptPick
    from honeyguide.core.pick.select import Selection
    from honeyguide.core.records import Record
    from honeyguide.core.rules.profile import Profile
    from honeyguide.jobs.pick import Picker
    from honeyguide.jobs.politeness import PoliteFetcher
    from honeyguide.ports.fetch import Clock, Fetcher


__all__ = ["PickRequest"]  # front ends import it from here
_LOG = logging.getLogger("honeyguide.pick")
SELECT_COLUMNS = ("schema", *columns(CandidateRecord))
FILE_FIELDS = tuple(PAGE_NAMES)
MAX_HEADS = 20_000  # as many as a page may have links
_ALIKE = 0.8  # of a word to the name of a kind: project, projects
_LISTS = ("matched", "reasons", "points", "unknown", "positions", "menus", "headings")
# Our own server on our own machine: no need to wait for it, and loopback is where it is.
DEMO_POLICY = FetchPolicy(allow_private=True, delay_s=0.05, jitter=0, retries=0)


def options_of(
    cap: int | None, include: str | Iterable[str], exclude: str | Iterable[str]
) -> select.SelectionOptions:
    """Check the cap and compile the patterns of a selection."""
    return select.SelectionOptions(
        cap=count_of(cap, "cap", "that of the profile"),
        include=patterns_of(include),
        exclude=patterns_of(exclude),
    )


def select_links(  # noqa: PLR0913 - settings of a library call, all by keyword
    source: bytes | str | Page | Iterable[Link],
    base: str | Url,
    *,
    strategy: str = "portfolio",
    profile: Profile | str | Path | None = None,
    query: str | None = None,
    heads: Mapping[str, Head] | None = None,
    cap: int | None = None,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    scope: str | None = None,
    want: str | Iterable[str] = (),
    never: str | Iterable[str] = (),
) -> Selection:
    """Select the pages worth a visit among the links of a page; every candidate has its score or a rejection.

    `heads` are titles and descriptions of linked pages, by URL. The best page of each kind in `want`, a bucket or a word,
    has a place; pages in `never` have none.

    >>> html = '<a href="/services/fire-alarm-installation">Alarms</a> <a href="/privacy">Privacy</a>'
    >>> [(c.url.path, c.score.value) for c in select_links(html, "https://acme.example/", strategy="rules").selected]
    [('/services/fire-alarm-installation', 100.0)]
    """
    chooser = Chooser(
        strategy=strategy, profile=profile, query=query, cap=cap, include=include, exclude=exclude, scope=scope, want=want, never=never
    )  # fmt: skip
    return chooser.select(source, base, heads=heads)


@checked_methods
class Chooser:
    """Settings of `select_links` for many pages.

    >>> chooser = Chooser(cap=1)
    >>> pages = {"https://acme.example/": '<a href="/services">Services</a> <a href="/team">Team</a>'}
    >>> [chooser.select(html, url).selected[0].url.path for url, html in pages.items()]
    ['/services']
    """

    def __init__(  # noqa: PLR0913 - settings of a library call, all by keyword
        self,
        *,
        strategy: str = "portfolio",
        profile: Profile | str | Path | None = None,
        query: str | None = None,
        cap: int | None = None,
        include: str | Iterable[str] = (),
        exclude: str | Iterable[str] = (),
        scope: str | None = None,
        want: str | Iterable[str] = (),
        never: str | Iterable[str] = (),
    ) -> None:
        self.strategy = strategy
        self.profile = strategy_profile(strategy, profile, query, scope, wishes_of(want, never))
        self._options = options_of(cap, include, exclude)

    def select(
        self,
        source: bytes | str | Page | Iterable[Link],
        base: str | Url,
        *,
        heads: Mapping[str, Head] | None = None,
    ) -> Selection:
        """Select as `select_links` does."""
        page = url_of(base)
        known = {url_of(url): head for url, head in (heads or {}).items()}
        whole = parse_page(source, page, with_groups=True) if isinstance(source, bytes | str) else source
        options = replace(self._options, heads=known, page=whole if isinstance(whole, Page) else None)
        links = whole.links if isinstance(whole, Page) else all_of(whole, Link)
        return select.select_links(links, page, self.profile, self.strategy, options)


def select_files(  # noqa: PLR0913 - settings of a library call, all by keyword
    paths: str | Path | Sequence[str | Path],
    *,
    base: str | Url | None = None,
    strategy: str = "portfolio",
    profile: Profile | str | Path | None = None,
    query: str | None = None,
    cap: int | None = None,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    scope: str | None = None,
    want: str | Iterable[str] = (),
    never: str | Iterable[str] = (),
    input_format: str | None = None,
    columns: Mapping[str, str] | None = None,
    reject: Rejected | None = None,
    on_rows: OnRows | None = None,
) -> Iterator[PageSelection]:
    """Select among the links of each page of CSV, JSON lines or Parquet files, as `select_links` does for one page.

    The rows of one page are adjacent; `base` is the page of rows that name none.
    """
    from honeyguide.adapters.files.links import PageRows

    options = options_of(cap, include, exclude)
    loaded = strategy_profile(strategy, profile, query, scope, wishes_of(want, never))
    fields = fields_of(columns, PAGE_NAMES)
    check_tables(paths, input_format, "input_format")
    sources = sources_of(paths, input_format, fields, on_rows)
    rows = PageRows(sources, None if base is None else url_of(base), reject)
    for url, listed in rows.pages():
        whole = page_of_hrefs(url, ((row.href, one) for row in listed for one in row.occurrences))
        page = replace(whole, skipped=tuple(dict.fromkeys(whole.skipped)))  # once each, as of a page in HTML
        known = replace(options, heads=_heads(listed), page=page)
        yield PageSelection(page, select.select_links(page.links, url, loaded, strategy, known))


def _heads(rows: Iterable[PageRow]) -> dict[Url, Head]:
    known = [(row, row.head) for row in rows if row.head is not None]
    everything = scope.Scope()
    found = ((scope.classify(row.href, row.page, everything).url, head) for row, head in known)
    return {url: head for url, head in found if url is not None}


def read_heads(file: str, page: Url) -> dict[str, Head]:
    """Read titles and descriptions of linked pages from JSON lines, by URL (PICK-11)."""
    heads: dict[str, Head] = {}
    for line, text in read_lines(file):
        if not text.strip():
            continue
        if len(heads) == MAX_HEADS:
            raise InputError(f"has more than {MAX_HEADS:,} heads; give those of one page", file=name_of(file))
        row, where = parse_object(text, file, line), f"{name_of(file)} line {line}"
        for name in ("url", "title", "description"):
            if not isinstance(row.get(name), str | None):
                raise InputError("should be text", file=where, field=name)
        if not row.get("url"):
            raise InputError("is missing", file=where, field="url")
        try:
            url = Url.parse(row["url"], page)
        except UrlError as error:
            raise InputError(f"is not an http(s) URL: {error.why}", file=where, field="url") from None
        heads[url.text] = Head(row.get("title"), row.get("description"))
    return heads


class PageSelection(NamedTuple):
    """A page, and what was selected among its links."""

    page: Page
    selection: Selection

    @property
    def total(self) -> int:
        """All links, also those to no page."""
        return len(self.selection.candidates) + len(self.page.skipped)

    def records(self, *, selected_only: bool = False) -> Iterator[Record]:
        """Give records; links to no page last."""
        chosen = self.selection.selected if selected_only else self.selection.candidates
        for candidate in chosen:
            yield {"schema": SCHEMA, **candidate_record(candidate)}
        for href, rule in () if selected_only else self.page.skipped:
            rejected = {"rule": rule, "reason": scope.RULE_WORDS.get(rule, rule)}
            known = {"schema": SCHEMA, "url": href, "parts": {}, "rejected": rejected}
            lists: Record = {name: [] for name in _LISTS}
            yield {**dict.fromkeys(("schema", *fields(CandidateRecord))), **lists, **known}

    def funnel(self, profile: Profile) -> list[tuple[str, str, int]]:
        """Count what each rule rejected, in order."""
        counts = Counter(rule for _, rule in self.page.skipped)
        words = dict(scope.RULE_WORDS)
        for why in [c.rejected for c in self.selection.candidates if c.rejected is not None]:
            counts[why.rule] += 1
            words.setdefault(why.rule, why.text)
        strategy = profile.strategies[self.selection.strategy]
        filters = [rule.id for rules in (profile.filters, strategy.filters) for rule in rules.rules]
        order = [
            *scope.RULE_WORDS,
            *filters,
            "include",
            "exclude",
            *(rule.id for rule in strategy.drops.rules),
        ]
        places = {rule: order.index(rule) if rule in order else len(order) for rule in counts}
        ranked = sorted(counts, key=lambda rule: (places[rule], rule == "cap"))
        return [(rule, words.get(rule, rule), counts[rule]) for rule in ranked]

    def unknown(self, profile: Profile) -> list[str]:
        """Name facts that only heads tell (PICK-14)."""
        if not profile.strategies[self.selection.strategy].reads_heads:
            return []
        parts = [part for candidate in self.selection.candidates for part in (candidate.parts or {}).values()]
        return sorted({name for part in parts for name in part.unknown})


def meant_kinds(profile: Profile, strategy: str, words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Give the wanted or never wanted words that seem to be misspelt names of kinds, each with that name."""
    from difflib import get_close_matches  # for mistakes only

    kinds = profile.kinds_of(profile.strategies[strategy]).buckets
    for word in words:
        if word not in kinds and (near := get_close_matches(word, kinds, 1, _ALIKE)):
            yield word, near[0]


def query_strategies(profile: Profile) -> tuple[str, ...]:
    """Name the strategies of a profile that use the query."""
    return tuple(name for name in profile.strategies if select.uses_query(profile, name))


# --- picking ---


async def pick_sites(  # noqa: PLR0913 - settings of a library call
    sites: str | Iterable[str | SiteRow],
    request: PickRequest,
    policy: FetchPolicy,
    on_record: Callable[[int, Record], None],
    *,
    at_once: int = 16,
    fetcher: Fetcher | None = None,
    clock: Clock | None = None,
    kept: KeptPick | None = None,
) -> None:
    """Pick from sites, `at_once` in parallel; `on_record` receives each finished record, with the place of its site.

    `kept` keeps what is fetched, or replaces it.
    """
    from honeyguide.app.crawl import opened_fetcher  # the network's libraries cost a third of a second
    from honeyguide.app.library.rendering import Rendering, opened_rendering
    from honeyguide.jobs.pick import pick_all

    check_least("at_once", at_once, 1)
    given = [sites] if isinstance(sites, str) else all_of(sites, str, SiteRow)
    check_no_login(row for row in given if isinstance(row, str))
    rows = [row if isinstance(row, SiteRow) else site_row(row, number) for number, row in enumerate(given, 1)]
    named = list(named_urls(row.text for row in rows))
    async with AsyncExitStack() as stack:
        polite, ticking = await stack.enter_async_context(opened_fetcher(policy, named, fetcher, clock))
        job = replace(picker(request, polite, ticking), site_timeout_s=policy.site_timeout_s)
        source: PoliteFetcher | RenderingFetcher = polite
        if kept is None or kept.keeps:  # else nothing is fetched
            how = Rendering(request.render, policy, job.profile, named)
            source = await stack.enter_async_context(opened_rendering(polite, how))
        job = replace(job, fetcher=source if kept is None else kept.fetcher(source))
        if kept is not None and kept.keeps:
            job = replace(job, reader=kept.reader(job.reader))
        usable: list[tuple[int, str]] = []

        def finish(place: int, record: Record) -> None:
            log_counts(record)
            if kept is not None and kept.keeps and record.get("elapsed_s", 0) < policy.site_timeout_s:
                kept.keep_record(record)
            columns = rows[place].columns
            own = {"input": columns} if columns else {}
            on_record(place, {**record, **own})

        for place, row in enumerate(rows):
            if row.problem:
                finish(place, job.fail(row.text, Why("unreachable", row.problem)))
            else:
                usable.append((place, row.text))
        names = [site for _, site in usable]
        await pick_all(
            job, names, min(at_once, len(names)), lambda index, record: finish(usable[index][0], record)
        )


def log_counts(record: Record) -> None:
    """Log how many links each step of a pick had; a level deeper, what every rule rejected (PICK-20)."""
    counts: dict[str, int] = record["counts"]
    words = {name: name.replace("rejected_", "rejected by ").replace("_", " ") for name in counts}
    said = [f"{counts[name]:,} {words[name]}" for name in PICK_COUNTS if name in counts]
    rules = [f"{count:,} {words[name]}" for name, count in counts.items() if name.startswith("rejected_")]
    _LOG.info("%s: %s", record["site"], ", ".join(said) or record["reason"])
    if rules:
        _LOG.debug("%s: %s", record["site"], ", ".join(rules))


def picker(request: PickRequest, fetcher: Fetcher, clock: Clock) -> Picker:
    """Put a picker together: profile, patterns and readers."""
    from honeyguide.adapters.html.content import HtmlReader
    from honeyguide.adapters.html.sitemaps import read_sitemap
    from honeyguide.jobs.pick import Picker

    options = options_of(request.cap, request.include, request.exclude)
    if request.options["content"] not in (None, "markdown", "text"):
        raise InputError(
            f"{shown(str(request.content))} is no content; there are markdown and text", field="content"
        )
    return Picker(
        fetcher=fetcher,
        reader=HtmlReader(),
        clock=clock,
        profile=strategy_profile(
            request.strategy,
            request.profile,
            request.query,
            request.scope,
            wishes_of(request.want, request.never),
        ),
        request=request,
        options=options,
        read_sitemap=read_sitemap,
    )
