"""From history to what plans read: signals of a known URL, what kind of page it is, and the state that policies judge.

Owns: which facts of history become which signals, and the measures that make a page a hub. Must not know: how history
is kept, what a signal is worth (plan.py, recrawl.py). Start reading at `signals_of`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.facts import Facts
from honeyguide.core.history import UNKNOWN_SITE
from honeyguide.core.page import Link, Position
from honeyguide.core.page_state import PageState, class_of
from honeyguide.core.plan import Signals
from honeyguide.core.testimony import SITEMAP, born_at, lastmod_span
from honeyguide.core.url import Url

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from honeyguide.core.history import Known, Site
    from honeyguide.core.page import Page
    from honeyguide.core.priors import PageClass
    from honeyguide.core.profile import Profile
    from honeyguide.core.rate import Rate
    from honeyguide.core.rules import Score

_HUB = "hub"
_DAY_H = 24.0


# --- what kind of page it is ---


class Made(NamedTuple):
    """What the main part of a page is made of: links into the site, and the share of its text that they are."""

    links: int = 0
    link_share: float | None = None


def made_of(page: Page, lines: Sequence[str], sites: Collection[str]) -> Made:
    """Measure a page; `lines` is its main text (`likeness.said_on`). Links to itself lead nowhere."""
    links = chars = 0
    starts = tuple(f"{scheme}://{site}/" for site in sites for scheme in ("https", "http"))
    own, main = page.url.text, Position.MAIN
    for link in page.links:
        if link.url.text.startswith(starts) and link.url.text != own:
            is_main = False
            for one in link.occurrences:
                if one.position is main:
                    is_main = True
                    chars += len(one.anchor)
            links += is_main
    text = sum(map(len, lines))
    return Made(links, min(1.0, chars / text) if text else None)


def hub_score(url: Url, made: Made, found: Rate | None, profile: Profile) -> Score | None:
    """Score how much a page is worth for its links, 0 to 100; None where the profile has no card for it."""
    if _HUB not in profile.cards:
        return None
    finds = None if found is None else _DAY_H * found.a / found.b
    facts = Facts(Link(url), main_links=float(made.links), link_share=made.link_share, daily_finds=finds)
    return profile.score(_HUB, facts)


def kind_of(url: Url, made: Made, found: Rate | None, profile: Profile) -> PageClass:
    """Tell hubs, articles and other pages apart."""
    score = hub_score(url, made, found, profile)
    is_hub = score is not None and score.value >= profile.crawl.hub_points
    return class_of(url.text, is_hub=is_hub)


def kind_words(known: Known, profile: Profile) -> str | None:
    """Say why a page is a hub or an article, as of its last reading; of other pages there is nothing to say."""
    if known.kind == "article":
        return "It is an article: its address has a date."
    score = hub_score(Url.parse(known.url), Made(known.links, known.link_share), known.found, profile)
    if known.kind != _HUB or score is None:
        return None
    told = ", ".join(f"{reason.text} ({reason.points:+g})" for reason in score.reasons)
    return f"It is a hub: {told}; {profile.crawl.hub_points:g} points make one."


# --- signals ---


def announced_at(known: Known, site: Site = UNKNOWN_SITE) -> float | None:
    """Say when its sitemap says that it changed after we saw it last, if the sitemaps of its site have proved honest."""
    span = lastmod_span(known.lastmod)
    if span is None or known.seen_at is None or span[0] <= known.seen_at or not site.is_trusted(SITEMAP):
        return None
    return span[0]


def signals_of(known: Known, site: Site = UNKNOWN_SITE) -> Signals:
    """Turn what is known of a URL into what plan reads (PLAN-1).

    The last change is one that a visit saw, or one that an honest sitemap announces.

    >>> from honeyguide.core.history import Visit
    >>> from honeyguide.core.visits import next_known
    >>> signals_of(next_known(None, Visit("https://a.example/", 1, 0.0, 200, "x", 0.9))).last_changed is None
    True
    """
    changed_at = announced_at(known, site) or known.changed_at
    return Signals(
        known.url,
        known.visits,
        datetime.fromtimestamp(known.visited_at, UTC),
        None if changed_at is None else datetime.fromtimestamp(changed_at, UTC),
        known.relevance,
        known.hub_depth,
        known.is_hub,
        known.rate_a,
        known.rate_b,
        known.kind,
    )


def state_of(known: Known) -> PageState:
    """Turn what is known of a URL into what recrawl policies judge."""
    span = lastmod_span(known.lastmod)
    return PageState(
        known.url,
        known.site,
        known.kind,
        known.visits,
        known.visited_at,
        known.changed_at,
        known.changes,
        known.failures,
        known.status,
        known.relevance,
        known.hub_depth,
        rate=known.rate,
        found=known.found,
        published_at=born_at(known.url, known.kind, known.born_at, known.first_seen),
        announced_at=None if span is None else span[0],
    )
