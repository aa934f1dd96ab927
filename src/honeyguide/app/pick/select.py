"""Links and pages: classified, read, selected, scored.

Owns: the library calls that need no network, no store and no file of rows. Must not know: arguments, terminals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.adapters.html.markdown import parse_markdown_links, readable
from honeyguide.app.arguments import (
    check_strategy,
    count_of,
    least_of,
    pattern_of,
    position_of,
    profile_of,
    profile_on,
    url_of,
)
from honeyguide.core.page.page import Link, Occurrence, Page, Position
from honeyguide.core.pick import select
from honeyguide.core.rules.facts import Facts
from honeyguide.core.rules.topic import page_score
from honeyguide.core.url import scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from honeyguide.adapters.files.links import LinkRow, PageRow
    from honeyguide.adapters.files.rows import Rejected
    from honeyguide.core.page.page import Head
    from honeyguide.core.pick.select import Selection
    from honeyguide.core.rules.language import Score
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.scope import Verdict
    from honeyguide.core.url.url import Url

MAX_MARKDOWN_LINKS = 20_000  # of one text, of whatever kind; as many as a page in HTML may have


def classify(
    href: str, page: str | Url, *, seed: str | Url | None = None, profile: Profile | str | Path = "base"
) -> Verdict:
    """Say whether a link leads inside the site, outside, or nowhere a crawler goes, and which rule decided.

    >>> classify("mailto:a@b.example", "https://acme.example/").rule
    'scheme'
    """
    start = None if seed is None else url_of(seed)
    return scope.classify(href, url_of(page), profile_of(profile).scope, start)


def parse_page(html: bytes | str, url: str | Url, content_type: str | None = None) -> Page:
    """Read a page: title, headings, text, links."""
    from honeyguide.adapters.html import page as adapter  # a compiled library that URL commands never need

    return adapter.parse_page(html, url_of(url), content_type)


def extract_links(html: bytes | str, url: str | Url) -> tuple[Link, ...]:
    """Return the links of a page, each URL once, with all its occurrences.

    >>> [link.url.text for link in extract_links('<a href="about/">About</a>', "https://acme.example/")]
    ['https://acme.example/about']
    """
    from honeyguide.adapters.html import page as adapter  # see parse_page

    return adapter.extract_links(html, url_of(url))


def parse_markdown(text: str, url: str | Url) -> Page:
    """Read a Markdown text as a page: its links, each URL once, and what is no link to a page (URL-12).

    >>> [link.anchor for link in parse_markdown("[About](/about) [mail](mailto:a@b.example)", "https://a.example/").links]
    ['About']
    """
    hrefs = ((href, Occurrence(anchor)) for anchor, href in parse_markdown_links(text))
    page = linking(url_of(url), hrefs)
    unread = len(text) - len(readable(text))
    skipped = (*page.skipped, (f"{unread} characters of Markdown", "limit")) if unread else page.skipped
    return replace(page, text=text, skipped=skipped)


def linking(page: Url, hrefs: Iterable[tuple[str, Occurrence]]) -> Page:
    """Make a page of its hrefs: each URL is one link with all its occurrences, the rest is `skipped`."""
    everything = scope.Scope()
    found: dict[Url, tuple[int, list[Occurrence]]] = {}
    skipped: list[tuple[str, str]] = []
    over = order = 0  # the order counts every occurrence, as in HTML
    for href, occurrence in hrefs:
        verdict = scope.classify(href, page, everything)
        if len(found) + len(skipped) >= MAX_MARKDOWN_LINKS and verdict.url not in found:
            over += 1
        elif verdict.url is None:
            skipped.append((href, verdict.rule))
        else:
            found.setdefault(verdict.url, (order, []))[1].append(occurrence)
            order += 1
    if over:
        skipped.append((f"{over} more", "limit"))
    links = tuple(Link(url, tuple(occurrences), first) for url, (first, occurrences) in found.items())
    return Page(page, links=links, skipped=tuple(skipped))


def select_links(  # noqa: PLR0913 - settings of a library call, all by keyword
    source: bytes | str | Page | Iterable[Link],
    base: str | Url,
    *,
    strategy: str = "portfolio",
    profile: Profile | str | Path | None = None,
    query: str | None = None,
    heads: Mapping[str, Head] | None = None,
    cap: int | None = None,
    include: str | None = None,
    exclude: str | None = None,
) -> Selection:
    """Choose the pages worth a visit among the links of a page; every candidate comes back with verdict or reasons.

    `heads` are titles and descriptions of linked pages, by URL, where they are known.

    >>> html = '<a href="/services/fire-alarm-installation">Alarms</a> <a href="/privacy">Privacy</a>'
    >>> [(c.url.path, c.score.value) for c in select_links(html, "https://acme.example/", strategy="rules").selected]
    [('/services/fire-alarm-installation', 100.0)]
    """
    page = url_of(base)
    chooser = chooser_of(strategy, profile, query=query, cap=cap, include=include, exclude=exclude)
    whole = parse_page(source, page) if isinstance(source, bytes | str) else source
    return chooser.choose(whole, page, {url_of(url): head for url, head in (heads or {}).items()})


@dataclass(frozen=True, slots=True)
class Chooser:
    """How to choose among links, read once, for one page or for many."""

    profile: Profile
    strategy: str
    request: select.SelectionOptions

    def choose(self, source: Page | Iterable[Link], page: Url, heads: Mapping[Url, Head]) -> Selection:
        """Choose among the links of one page."""
        whole = source if isinstance(source, Page) else None
        links = source.links if isinstance(source, Page) else source
        request = replace(self.request, heads=heads, page=whole)
        return select.select_links(links, page, self.profile, self.strategy, request)


def chooser_of(  # noqa: PLR0913 - settings of a library call, all by keyword
    strategy: str,
    profile: Profile | str | Path | None,
    *,
    query: str | None = None,
    cap: int | None = None,
    include: str | None = None,
    exclude: str | None = None,
) -> Chooser:
    """Read what is asked of selections."""
    chosen = profile_of(profile if profile is not None else default_profile(strategy))
    check_strategy(chosen, strategy)
    if query is not None:
        chosen = chosen.with_query(query)
    request = select.SelectionOptions(None, count_of(cap, "cap"), pattern_of(include), pattern_of(exclude))
    return Chooser(chosen, strategy, request)


def default_profile(strategy: str) -> str:
    """Name the profile that carries a strategy's numbers (SPEC: `rules` and `blend` are the fire-protection guide's)."""
    return "fire-protection" if strategy in ("rules", "blend") else "company"


def score_link(  # noqa: PLR0913 - settings of a library call, all by keyword
    url: str | Url,
    *,
    topic: str | None = None,
    anchor: str = "",
    context: str = "",
    position: str | None = None,
    related: Iterable[str] = (),
    profile: Profile | str | Path = "docs",
) -> Score:
    """Score one link against a topic, 0 to 10, with the points that make it (TOPIC-1).

    Where many are scored, load the profile once: `load_profile("docs", topic=…)` has the topic.

    >>> score_link("https://a.example/docs/api", topic="API", anchor="API reference", position="navigation").value
    10.0
    """
    place = Position.MAIN if position is None else position_of(position)
    link = Link(url_of(url), (Occurrence(anchor, "", "", place, context),))
    facts = Facts(link)
    if position is None:
        facts["position"] = None
    return profile_on(profile, topic, related).score("link", facts)


def score_page(
    page: bytes | str | Page,
    *,
    topic: str | None = None,
    url: str | Url = "https://unknown.invalid/",
    profile: Profile | str | Path = "docs",
) -> Score:
    """Score a page against a topic, 0 to 10, with the points that make it (TOPIC-2).

    >>> score_page("<title>Fire alarms</title><h1>Fire</h1>", topic="fire").value
    5.0
    """
    parsed = page if isinstance(page, Page) else parse_page(page, url)
    return page_score(parsed, profile_on(profile, topic))


class ScoredLink(NamedTuple):
    """A link of a file, and the points that make its score (TOPIC-1)."""

    row: LinkRow
    score: Score


def score_links(  # noqa: PLR0913 - settings of a library call, all by keyword
    paths: str | Sequence[str],
    *,
    topic: str | None = None,
    related: Iterable[str] = (),
    profile: Profile | str | Path = "docs",
    top: int | None = None,
    min_score: float | None = None,
    kind: str | None = None,
    reject: Rejected | None = None,
) -> Iterator[ScoredLink]:
    """Score the links of CSV, JSON lines or Parquet files against a topic, 0 to 10.

    They come in the order of the files; with `top`, only the best, and the best first. Wrong rows go to `reject`, or stop
    the run.
    """
    from honeyguide.adapters.files.links import LinkRows
    from honeyguide.adapters.files.read import pays_by_columns, sources_of

    chosen = profile_on(profile, topic, related)
    top, min_score = count_of(top, "top"), least_of(min_score, 10.0)  # TOPIC-1
    sources = sources_of([paths] if isinstance(paths, str) else paths, kind)
    rows = LinkRows(sources, reject)
    if top is not None and pays_by_columns(sources):
        from honeyguide.bulk.links import Wanted, best_links  # an extra

        yield from _scored(best_links(sources, rows, chosen, Wanted(top, min_score)), chosen, None)
        return
    scored = _scored(rows, chosen, min_score)
    if top is None:
        yield from scored
    else:
        yield from nlargest(top, scored, key=lambda link: (link.score.value, -link.row.number))


def _scored(rows: Iterable[LinkRow], profile: Profile, min_score: float | None) -> Iterator[ScoredLink]:
    for row in rows:
        score = profile.score("link", row.facts)
        if min_score is None or score.value >= min_score:
            yield ScoredLink(row, score)


class PageSelection(NamedTuple):
    """A page as the rows of a file know it, and what was chosen among its links."""

    page: Page
    selection: Selection


def select_files(  # noqa: PLR0913 - settings of a library call, all by keyword
    paths: str | Sequence[str],
    *,
    base: str | Url | None = None,
    strategy: str = "portfolio",
    profile: Profile | str | Path | None = None,
    query: str | None = None,
    cap: int | None = None,
    include: str | None = None,
    exclude: str | None = None,
    kind: str | None = None,
    reject: Rejected | None = None,
) -> Iterator[PageSelection]:
    """Choose among the links of each page of CSV, JSON lines or Parquet files, as `select_links` does of one page.

    Rows of one page stand together; `base` is the page of rows that name none. One page is in memory at a time. Wrong
    rows go to `reject`, or stop the run.
    """
    from honeyguide.adapters.files.links import PageRows
    from honeyguide.adapters.files.read import sources_of  # files are for those who have files

    chooser = chooser_of(strategy, profile, query=query, cap=cap, include=include, exclude=exclude)
    sources = sources_of([paths] if isinstance(paths, str) else paths, kind)
    rows = PageRows(sources, None if base is None else url_of(base), reject)
    for url, listed in rows.pages():
        whole = linking(url, ((row.href, one) for row in listed for one in row.occurrences))
        page = replace(whole, skipped=tuple(dict.fromkeys(whole.skipped)))  # once each, as of a page in HTML
        yield PageSelection(page, chooser.choose(page, url, _heads(listed)))


def _heads(rows: Iterable[PageRow]) -> dict[Url, Head]:
    """Collect what rows say of the pages they lead to (PICK-11)."""
    known = [(row, row.head) for row in rows if row.head is not None]
    everything = scope.Scope()
    found = ((scope.classify(row.href, row.page, everything).url, head) for row, head in known)
    return {url: head for url, head in found if url is not None}
