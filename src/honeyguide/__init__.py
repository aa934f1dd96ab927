"""Honeyguide: a focused crawler that says which pages are worth a visit, and why.

The names below are the public API; they are loaded when first used, so that importing the package costs nothing.
"""

from typing import TYPE_CHECKING

from honeyguide.lazily import names_of
from honeyguide.version import __version__

if TYPE_CHECKING:
    from honeyguide.adapters.rows.rejected import Rejected
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
    from honeyguide.core.evaluate import Evaluation
    from honeyguide.core.frontier import Budgets
    from honeyguide.core.markdown import parse_markdown_links
    from honeyguide.core.outcome import Outcome
    from honeyguide.core.page import Head, Link, Occurrence, Page, Position
    from honeyguide.core.plan import Scored, Signals
    from honeyguide.core.policy import Policy
    from honeyguide.core.profile import Profile
    from honeyguide.core.ranking import Plan
    from honeyguide.core.rules import Reason, Score
    from honeyguide.core.scope import Verdict
    from honeyguide.core.select import Candidate, Selection
    from honeyguide.core.url import Url, display, normalize
    from honeyguide.errors import (
        AddressRefused,
        AskedToWait,
        Busy,
        ConfigError,
        FetchError,
        Forbidden,
        HoneyguideError,
        InputError,
        LeaseLost,
        NameNotFound,
        NotText,
        PatternError,
        Problem,
        SchemaMismatch,
        StoreError,
        TimedOut,
        TooLarge,
        Unreachable,
        UrlError,
    )
    from honeyguide.jobs.asked import CrawlRequest
    from honeyguide.jobs.crawl import CrawlSummary
    from honeyguide.jobs.pick import PickRequest
    from honeyguide.jobs.watch import Pace

# Which module each name is in.
_ROOMS = {
    "adapters.rows.rejected": "Rejected",
    "app": "SimulateRequest WatchRequest classify crawl_site extract_links judge_picks open_store parse_markdown parse_page pick_sites plan_file "
    "plan_store rank_urls score_link score_links score_page score_url select_files select_links simulate_policies watch_store",
    "config": "load_profile",
    "core.evaluate": "Evaluation",
    "core.frontier": "Budgets",
    "core.markdown": "parse_markdown_links",
    "core.outcome": "Outcome",
    "core.page": "Head Link Occurrence Page Position",
    "core.plan": "Scored Signals",
    "core.policy": "Policy",
    "core.profile": "Profile",
    "core.ranking": "Plan",
    "core.rules": "Reason Score",
    "core.scope": "Verdict",
    "core.select": "Candidate Selection",
    "core.url": "Url display normalize",
    "errors": "AddressRefused AskedToWait Busy ConfigError FetchError Forbidden HoneyguideError InputError LeaseLost "
    "NameNotFound NotText PatternError Problem SchemaMismatch StoreError TimedOut TooLarge Unreachable UrlError",
    "jobs.asked": "CrawlRequest",
    "jobs.crawl": "CrawlSummary",
    "jobs.pick": "PickRequest",
    "jobs.watch": "Pace",
}

__all__ = [
    "AddressRefused",
    "AskedToWait",
    "Budgets",
    "Busy",
    "Candidate",
    "ConfigError",
    "CrawlRequest",
    "CrawlSummary",
    "Evaluation",
    "FetchError",
    "Forbidden",
    "Head",
    "HoneyguideError",
    "InputError",
    "LeaseLost",
    "Link",
    "NameNotFound",
    "NotText",
    "Occurrence",
    "Outcome",
    "Pace",
    "Page",
    "PatternError",
    "PickRequest",
    "Plan",
    "Policy",
    "Position",
    "Problem",
    "Profile",
    "Reason",
    "Rejected",
    "SchemaMismatch",
    "Score",
    "Scored",
    "Selection",
    "Signals",
    "SimulateRequest",
    "StoreError",
    "TimedOut",
    "TooLarge",
    "Unreachable",
    "Url",
    "UrlError",
    "Verdict",
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
