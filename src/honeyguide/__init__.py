"""Honeyguide: a focused crawler that says which pages are worth a visit, and why.

The names below are the public API; they are loaded when first used, so that importing the package costs nothing.
"""

from typing import TYPE_CHECKING

from honeyguide.lazily import names_of
from honeyguide.version import __version__

if TYPE_CHECKING:
    from honeyguide.adapters.files.rows import Rejected
    from honeyguide.adapters.html.markdown import parse_markdown_links
    from honeyguide.app import (
        SimulateRequest,
        WatchRequest,
        classify,
        crawl_site,
        extract_links,
        judge_picks,
        open_store,
        parse_markdown,
        parse_page,
        pick_sites,
        plan_file,
        plan_store,
        rank_urls,
        score_link,
        score_links,
        score_page,
        score_url,
        select_files,
        select_links,
        simulate_policies,
        watch_store,
    )
    from honeyguide.config import load_profile
    from honeyguide.core.crawl.frontier import Budgets
    from honeyguide.core.fetching import FetchPolicy
    from honeyguide.core.page.page import Head, Link, Occurrence, Page, Position
    from honeyguide.core.pick.evaluate import Evaluation
    from honeyguide.core.pick.select import Candidate, Selection
    from honeyguide.core.recrawl.plan import Plan, ScoredUrl, UrlSignals
    from honeyguide.core.rules.language import Reason, Score
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.scope import Verdict
    from honeyguide.core.url.url import Url, display, normalize
    from honeyguide.errors import (
        AddressRefusedError,
        AskedToWaitError,
        ConfigError,
        FetchError,
        ForbiddenError,
        HoneyguideError,
        InputError,
        LeaseLostError,
        NameNotFoundError,
        NotTextError,
        PatternError,
        Problem,
        SchemaMismatchError,
        StoreBusyError,
        StoreError,
        TimedOutError,
        TooLargeError,
        UnreachableError,
        UrlError,
    )
    from honeyguide.jobs.crawl import CrawlSummary
    from honeyguide.jobs.pick import PickRequest
    from honeyguide.jobs.request import CrawlRequest
    from honeyguide.jobs.watch import WatchBudget
    from honeyguide.simulation.measures import Outcome


# Which module each name is in.
_ROOMS = {
    "adapters.files.rows": "Rejected",
    "adapters.html.markdown": "parse_markdown_links",
    "app": "SimulateRequest WatchRequest classify crawl_site extract_links judge_picks open_store parse_markdown parse_page pick_sites plan_file plan_store rank_urls score_link score_links score_page score_url select_files select_links simulate_policies watch_store",
    "config": "load_profile",
    "core.crawl.frontier": "Budgets",
    "core.fetching": "FetchPolicy",
    "core.page.page": "Head Link Occurrence Page Position",
    "core.pick.evaluate": "Evaluation",
    "core.pick.select": "Candidate Selection",
    "core.recrawl.plan": "Plan ScoredUrl UrlSignals",
    "core.rules.language": "Reason Score",
    "core.rules.profile": "Profile",
    "core.url.scope": "Verdict",
    "core.url.url": "Url display normalize",
    "errors": "AddressRefusedError AskedToWaitError StoreBusyError ConfigError FetchError ForbiddenError HoneyguideError InputError LeaseLostError NameNotFoundError NotTextError PatternError Problem SchemaMismatchError StoreError TimedOutError TooLargeError UnreachableError UrlError",
    "jobs.crawl": "CrawlSummary",
    "jobs.pick": "PickRequest",
    "jobs.request": "CrawlRequest",
    "jobs.watch": "WatchBudget",
    "simulation.measures": "Outcome",
}


__all__ = [
    "AddressRefusedError",
    "AskedToWaitError",
    "Budgets",
    "Candidate",
    "ConfigError",
    "CrawlRequest",
    "CrawlSummary",
    "Evaluation",
    "FetchError",
    "FetchPolicy",
    "ForbiddenError",
    "Head",
    "HoneyguideError",
    "InputError",
    "LeaseLostError",
    "Link",
    "NameNotFoundError",
    "NotTextError",
    "Occurrence",
    "Outcome",
    "Page",
    "PatternError",
    "PickRequest",
    "Plan",
    "Position",
    "Problem",
    "Profile",
    "Reason",
    "Rejected",
    "SchemaMismatchError",
    "Score",
    "ScoredUrl",
    "Selection",
    "SimulateRequest",
    "StoreBusyError",
    "StoreError",
    "TimedOutError",
    "TooLargeError",
    "UnreachableError",
    "Url",
    "UrlError",
    "UrlSignals",
    "Verdict",
    "WatchBudget",
    "WatchRequest",
    "__version__",
    "classify",
    "crawl_site",
    "display",
    "extract_links",
    "judge_picks",
    "load_profile",
    "normalize",
    "open_store",
    "parse_markdown",
    "parse_markdown_links",
    "parse_page",
    "pick_sites",
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


def __dir__() -> list[str]:
    return sorted(__all__)
