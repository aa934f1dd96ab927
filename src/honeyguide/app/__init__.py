"""The composition root: what the library offers and what the command line calls.

Owns: putting core, adapters and profiles together. Must not know: arguments, terminals, output formats.
There is one module for each use; front ends import from these modules. The names of the library, which are listed here,
load their module when they are first used.
"""

from typing import TYPE_CHECKING

from honeyguide.lazily import names_of

if TYPE_CHECKING:
    from honeyguide.app.crawl import crawl_site
    from honeyguide.app.pick.pick import judge_picks, pick_sites, picker
    from honeyguide.app.pick.select import (
        classify,
        default_profile,
        extract_links,
        parse_markdown,
        parse_page,
        score_link,
        score_links,
        score_page,
        select_files,
        select_links,
    )
    from honeyguide.app.plan import plan_file, plan_store, rank_urls, score_url
    from honeyguide.app.runs import open_store
    from honeyguide.app.simulate import SimulateRequest, simulate_policies
    from honeyguide.app.watch import watch_store
    from honeyguide.jobs.watch import WatchRequest


_ROOMS = {
    "crawl": "crawl_site",
    "pick.pick": "judge_picks pick_sites picker",
    "plan": "plan_file plan_store rank_urls score_url",
    "runs": "open_store",
    "pick.select": "classify default_profile extract_links parse_markdown parse_page score_link score_links score_page select_files select_links",
    "simulate": "SimulateRequest simulate_policies",
    "watch": "WatchRequest watch_store",
}


__all__ = [
    "SimulateRequest",
    "WatchRequest",
    "classify",
    "crawl_site",
    "default_profile",
    "extract_links",
    "judge_picks",
    "open_store",
    "parse_markdown",
    "parse_page",
    "pick_sites",
    "picker",
    "plan_file",
    "plan_store",
    "rank_urls",
    "score_link",
    "score_links",
    "score_page",
    "score_url",
    "select_files",
    "select_links",
    "simulate_policies",
    "watch_store",
]


if not TYPE_CHECKING:  # checkers see the imports above, and tell of names that are not there
    __getattr__ = names_of(__name__, _ROOMS)
