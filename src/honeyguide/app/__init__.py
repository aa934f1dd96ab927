"""The composition root: what the library offers and what the command line calls.

Owns: putting core, adapters and profiles together. Must not know: arguments, terminals, output formats.
Each room has one trade: `links.py` and `link_files.py`, `picking.py`, `crawling.py` and `again.py`, `planning.py`,
`watching.py`, `judging.py`, `simulating.py`; `given.py` reads what callers say. A room is loaded when one of its names is first used: who crawls
needs none of the others.
"""

from typing import TYPE_CHECKING

from honeyguide.lazily import names_of

if TYPE_CHECKING:
    from honeyguide.app.crawl import crawl_site, due_runs
    from honeyguide.app.explain import explain_url
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
    from honeyguide.app.runs import (
        export_run,
        find_run,
        found_records,
        group_rules,
        list_runs,
        open_store,
        profile_of_run,
        resume_request,
        rule_words,
        run_record,
    )
    from honeyguide.app.simulate import SimulateRequest, simulate_policies
    from honeyguide.app.watch import watch_store
    from honeyguide.jobs.watch import WatchRequest


_ROOMS = {
    "crawl": "crawl_site due_runs",
    "explain": "explain_url",
    "pick.pick": "judge_picks pick_sites picker",
    "plan": "plan_file plan_store rank_urls score_url",
    "runs": "export_run find_run found_records group_rules list_runs open_store profile_of_run resume_request rule_words run_record",
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
    "due_runs",
    "explain_url",
    "export_run",
    "extract_links",
    "find_run",
    "found_records",
    "group_rules",
    "judge_picks",
    "list_runs",
    "open_store",
    "parse_markdown",
    "parse_page",
    "pick_sites",
    "picker",
    "plan_file",
    "plan_store",
    "profile_of_run",
    "rank_urls",
    "resume_request",
    "rule_words",
    "run_record",
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
