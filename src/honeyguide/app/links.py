"""Links and pages: classified, read, selected, scored.

Owns: the library calls that need no network, no store and no file of rows. Must not know: arguments, terminals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from honeyguide.app.given import (
    check_strategy,
    count_of,
    pattern_of,
    position_of,
    profile_of,
    profile_on,
    url_of,
)
from honeyguide.core import scope, select
from honeyguide.core.facts import Facts
from honeyguide.core.markdown import parse_markdown_links
from honeyguide.core.page import Link, Occurrence, Page, Position
from honeyguide.core.topic import page_score

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from honeyguide.core.page import Head
    from honeyguide.core.profile import Profile
    from honeyguide.core.rules import Score
    from honeyguide.core.scope import Verdict
    from honeyguide.core.select import Selection
    from honeyguide.core.url import Url

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
    from honeyguide.adapters.markup import html as adapter  # a compiled library that URL commands never need

    return adapter.parse_page(html, url_of(url), content_type)


def extract_links(html: bytes | str, url: str | Url) -> tuple[Link, ...]:
    """Return the links of a page, each URL once, with all its occurrences.

    >>> [link.url.text for link in extract_links('<a href="about/">About</a>', "https://acme.example/")]
    ['https://acme.example/about']
    """
    from honeyguide.adapters.markup import html as adapter  # see parse_page

    return adapter.extract_links(html, url_of(url))


def parse_markdown(text: str, url: str | Url) -> Page:
    """Read a Markdown text as a page: its links, each URL once, and what is no link to a page (URL-12).

    >>> [link.anchor for link in parse_markdown("[About](/about) [mail](mailto:a@b.example)", "https://a.example/").links]
    ['About']
    """
    hrefs = ((href, Occurrence(anchor)) for anchor, href in parse_markdown_links(text))
    return replace(linking(url_of(url), hrefs), text=text)


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
    request: select.Request

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
    request = select.Request(None, count_of(cap, "cap"), pattern_of(include), pattern_of(exclude))
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
