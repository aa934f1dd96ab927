"""The composition root: what the library offers and what the command line calls.

Owns: putting core, adapters and profiles together. Must not know: arguments, terminals, output formats.
Each room has one trade: `links.py` and `link_files.py`, `picking.py`, `crawling.py` and `again.py`, `planning.py`,
`watching.py`, `judging.py`, `simulating.py`; `given.py` reads what callers say. A room is loaded when one of its names is first used: who crawls
needs none of the others.
"""

from typing import TYPE_CHECKING

from honeyguide.lazily import names_of

if TYPE_CHECKING:
    from honeyguide.app.again import due_runs, profile_of_run, resumed
    from honeyguide.app.crawling import crawl_site, open_store
    from honeyguide.app.judging import judge_picks
    from honeyguide.app.link_files import score_links, select_files
    from honeyguide.app.links import (
        classify,
        default_profile,
        extract_links,
        parse_markdown,
        parse_page,
        score_link,
        score_page,
        select_links,
    )
    from honeyguide.app.picking import pick_sites, picker
    from honeyguide.app.planning import enqueue, plan_file, plan_store, rank_urls, score_url, stored_table
    from honeyguide.app.simulating import SimulateRequest, simulate_policies
    from honeyguide.app.watching import WatchRequest, watch_store

_ROOMS = {
    "again": "due_runs profile_of_run resumed",
    "crawling": "crawl_site open_store",
    "judging": "judge_picks",
    "link_files": "score_links select_files",
    "links": "classify default_profile extract_links parse_markdown parse_page score_link score_page select_links",
    "picking": "pick_sites picker",
    "planning": "enqueue plan_file plan_store rank_urls score_url stored_table",
    "simulating": "SimulateRequest simulate_policies",
    "watching": "WatchRequest watch_store",
}

__all__ = [
    "SimulateRequest",
    "WatchRequest",
    "classify",
    "crawl_site",
    "default_profile",
    "due_runs",
    "enqueue",
    "extract_links",
    "judge_picks",
    "open_store",
    "parse_markdown",
    "parse_page",
    "pick_sites",
    "picker",
    "plan_file",
    "plan_store",
    "profile_of_run",
    "rank_urls",
    "resumed",
    "score_link",
    "score_links",
    "score_page",
    "score_url",
    "select_files",
    "select_links",
    "simulate_policies",
    "stored_table",
    "watch_store",
]

if not TYPE_CHECKING:  # checkers see the imports above, and tell of names that are not there
    __getattr__ = names_of(__name__, _ROOMS)
