"""`--render`: a fetcher whose pages are rendered, put together for crawl, pick and watch. Start reading at `opened_rendering`."""

from __future__ import annotations

from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.fetching import NEVER, RENDER_MODES
from honeyguide.errors import ConfigError, InputError, Problem, shown

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping

    from honeyguide.adapters.render.fetcher import RenderingFetcher
    from honeyguide.core.fetching import FetchPolicy
    from honeyguide.core.records import Record
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.url import Url
    from honeyguide.jobs.politeness import PoliteFetcher


class Rendering(NamedTuple):
    """How to render: the mode, the policy and the profile of a job, and the sites on which rendering has `helped` or not.

    Headers and logins of the policy go to `named` URLs alone, and no page of another site may use them.
    """

    mode: str
    policy: FetchPolicy
    profile: Profile
    named: Iterable[Url] = ()
    helped: Mapping[str, bool] = MappingProxyType({})


@asynccontextmanager
async def opened_rendering(
    polite: PoliteFetcher, how: Rendering
) -> AsyncIterator[PoliteFetcher | RenderingFetcher]:
    """Wrap a fetcher so that pages are rendered; with `never` it stays as it is. The browser starts with the first page."""
    check_mode(how.mode, how.profile)
    if how.mode == NEVER:
        yield polite
        return
    from honeyguide.adapters.html.content import HtmlReader
    from honeyguide.adapters.render.browser import Browser
    from honeyguide.adapters.render.fetcher import RenderingFetcher

    fetcher = RenderingFetcher(
        polite=polite,
        browser=Browser(how.policy.agent),
        reader=HtmlReader(),
        profile=how.profile,
        mode=how.mode,
        access=how.policy.access.limited_to(how.named),
        known=how.helped,
    )
    try:
        yield fetcher
    finally:
        await fetcher.close()


def check_mode(mode: str, profile: Profile) -> None:
    """Reject a mode that there is not, `auto` with a profile that does not say what to render, and a machine without a browser."""
    if mode not in RENDER_MODES:
        raise InputError(
            f"no way to render is named {shown(mode)}; there are {', '.join(RENDER_MODES)}", field="render"
        )
    if mode == "auto" and "render" not in profile.cards:
        what = "is missing, and says what render=auto renders; extend base, which has it"
        raise ConfigError(profile.name, (Problem("scorecard.render", what),))
    if mode != NEVER:
        from honeyguide.adapters.render.browser import find_browser

        find_browser()


def rendered_sites(pages: Iterable[Record]) -> Mapping[str, bool]:
    """Say on which sites rendering has helped, by the first page of each that was rendered."""
    from honeyguide.adapters.render.fetcher import IN_VAIN, RENDERED
    from honeyguide.core.url.url import Url

    known: dict[str, bool] = {}
    for page in pages:
        rules = {point["rule"] for point in page["points"]}
        if rules & {RENDERED, IN_VAIN}:
            known.setdefault(Url.parse(page["url"]).site, RENDERED in rules)
    return known
