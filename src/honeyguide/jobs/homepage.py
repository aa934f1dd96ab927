"""The homepage of a pick, with what its markup alone does not link: frames and the sitemap; and why it may give nothing.

Owns: `Homepage`, and the sentences about links that need JavaScript or lead to other hosts. Must not know: HTTP, HTML, how
pages are chosen. Start reading at `complete`.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.page.faults import needs_scripts, scripted_links
from honeyguide.core.page.page import FRAME, Link, Occurrence, Position
from honeyguide.core.pick.select import path_from_home
from honeyguide.core.url.scope import REACHES, LinkKind, classify_url
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.jobs.sitemaps import Listing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from honeyguide.core.page.page import Page
    from honeyguide.core.pick.look import Arrival
    from honeyguide.core.pick.select import Selection
    from honeyguide.core.url.scope import Scope

ReadPage = Callable[[Url], Awaitable["Arrival"]]
ListPages = Callable[[Url], Awaitable[Listing]]  # the pages of the sitemap of a site

MAX_FRAMES = 4  # of a homepage are read
MAX_LISTED = 200  # pages of a sitemap that become candidates: those with the shortest paths
_FEW, _SOME = 6, 12  # inner pages: fewer are hardly all; with more, a homepage needs no menu
_RULES_NAMED = 3  # in a sentence: those that rejected most
_LANGUAGE = re.compile(r"/([a-z]{2})(?:[-_][a-z]{2})?(?:\.html?|/(?:index\.[a-z]{3,5})?)?")
_NO_SCRIPTS = "the homepage links to no page of its own without JavaScript, which only --render auto runs"


class Homepage(NamedTuple):
    """A homepage, what is to be said of its links, and whether some are missing because they need JavaScript."""

    page: Page
    note: str | None = None
    is_scripted: bool = False


async def read_frames(page: Page, read: ReadPage, scope: Scope) -> Page:
    """Take the links and texts of the frames of a page for its own; frames in frames stay links."""
    urls = [link.url for link in page.links if link.rel == FRAME and _is_inside(link, page, scope)]
    frames = await asyncio.gather(*map(read, urls[:MAX_FRAMES]))
    found = [frame.page for frame in frames if frame.page is not None]
    if not found:
        return page
    links = _merged(link for one in (page, *found) for link in one.links if link.url not in urls)
    text = "\n".join(filter(None, (one.text for one in (page, *found))))
    return replace(page, links=links, text=text, main=None, unseen=None)


def language_choice(page: Page, scope: Scope) -> Url | None:
    """Return the page of a language that stands for the homepage, if that links nothing else: its own, else the first."""
    inner = [link.url for link in page.links if _is_inner(link, page, scope)]
    codes = {url: found[1] for url in inner if (found := _LANGUAGE.fullmatch(url.path.lower()))}
    if not inner or len(codes) < len(inner):
        return None
    return next((url for url, code in codes.items() if code == (page.language or "")[:2].lower()), inner[0])


def _merged(links: Iterable[Link]) -> tuple[Link, ...]:
    merged: dict[Url, Link] = {}
    for order, link in enumerate(links):
        first = merged.get(link.url)
        merged[link.url] = first.joined(link) if first else Link(link.url, link.occurrences, order)
    return tuple(merged.values())


async def complete(page: Page, body: bytes, scope: Scope, least: int, listed: ListPages | None) -> Homepage:
    """Add pages of the sitemap where a homepage links fewer than `least` inner pages, or only a script shows its menu."""
    inner = [link for link in page.links if _is_inner(link, page, scope)]
    has_menu = any(position is Position.NAVIGATION for link in inner for _, position in link.seen)
    may_lack = len(inner) < _FEW or (not has_menu and len(inner) < _SOME)
    where = scripted_links(body) if may_lack else None
    if len(inner) >= least and where is None:
        return Homepage(page)
    count = "1 inner page" if len(inner) == 1 else f"{len(inner)} inner pages"
    few = f"the homepage links to {count}"
    if where is not None:
        few += f" without JavaScript, which only --render auto runs; more are in {where}"
    if least == 0 or listed is None:
        return Homepage(page, few if where else None, where is not None)
    listing = await listed(page.url)
    known = {scope.key(link.url) for link in page.links}
    added = [url for url in listing.pages if scope.key(url) not in known]
    added = [url for url in added if _is_inner(Link(url), page, scope)]
    added = sorted(added, key=lambda url: len(url.segments))[:MAX_LISTED]
    if not added:
        return Homepage(page, few if where else None, where is not None)
    seen = (Occurrence(position=Position.SITEMAP),)
    first = len(page.links) + sum(len(link.seen) for link in page.links)
    links = tuple(Link(url, seen, first + place) for place, url in enumerate(added))
    note = f"{few}; {len(added):,} more come from the sitemap"
    return Homepage(replace(page, links=page.links + links), note, where is not None)


def _is_inside(link: Link, page: Page, scope: Scope) -> bool:
    return classify_url(link.url, page.url, scope).kind is LinkKind.INSIDE


def _is_inner(link: Link, page: Page, scope: Scope) -> bool:
    """Tell whether a link leads to another page of the site than its homepage."""
    is_home = path_from_home(link.url, page.url, scope.tracking) in ("/", "/index.html", "/index.php")
    return not is_home and _is_inside(link, page, scope)


def why_nothing(selection: Selection, page: Page, body: bytes, scope: Scope) -> Why:
    """Say why no page was selected, and name the rules that rejected most links: one may be the user's own."""
    if needs_scripts(page, body):
        return Why("partial", _NO_SCRIPTS)
    if why := _all_elsewhere(selection, page, scope):
        return Why("partial", why)
    unlinked = "the homepage links to no inner page that could be chosen"
    why = "no inner page was worth choosing" if selection.counts.get("candidates") else unlinked
    rejected = [c.rejected for c in selection.candidates if c.rejected is not None]
    if rejected:
        names = Counter(f"replaced ({one.text})" if one.rule == "replaced" else one.rule for one in rejected)
        ranked = sorted(names.items(), key=lambda pair: (-pair[1], pair[0]))[:_RULES_NAMED]
        links = "1 link is" if len(rejected) == 1 else f"{len(rejected):,} links are"
        why += f"; {links} rejected: {', '.join(f'{count:,} by {name}' for name, count in ranked)}"
    return Why("partial", why)


def why_empty(page: Page, body: bytes) -> Why:
    """Say why a homepage without text and links gives nothing."""
    empty = Why("empty", "the homepage has no text and no links")
    return Why("partial", _NO_SCRIPTS) if needs_scripts(page, body) else empty


def _all_elsewhere(selection: Selection, page: Page, scope: Scope) -> str | None:
    """Say that all links lead to other hosts, if they do, and which scope would follow most of them."""
    urls = [c.url for c in selection.candidates if c.url.path not in ("/", page.url.path)]
    if any(url.site == page.url.site for url in urls):
        return None
    for reach in REACHES[REACHES.index(scope.reach) + 1 :]:
        wider = scope.within(reach)
        near = [url for url in urls if wider.area(url.site) == wider.area(page.url.site)]
        if near:
            links = "1 link" if len(near) == 1 else f"{len(near):,} links"
            return (
                f"the homepage is on {page.url.site}, but its links lead to other hosts (URL-10); "
                f"--scope {reach} follows {links} to {near[0].site}"
            )
    return None
