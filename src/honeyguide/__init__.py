"""Honeyguide: a focused crawler that says which pages are worth a visit, and why.

The names of `_NAMES` are the public API. Each is loaded when it is first used, so that importing the package costs
nothing. Type checkers read them from `__init__.pyi`, which `python tools/make_reference.py` writes from this table.
"""

__version__ = "0.1.0"

_NAMES = {
    "adapters.files.rows": "Rejected",
    "adapters.files.markdown": "parse_markdown_links",
    "adapters.policies": "FormulaPolicy PageColumns",
    "app.crawl": "crawl_site",
    "app.explain": "explain_url",
    "app.library.calls": "Crawl PickSettings crawl pick pick_async",
    "app.library.focus": "Focus JudgedLink judge_links",
    "app.library.observe": "Imported import_known observe",
    "app.library.pages": "CrawledPage PickedPage PickedSite",
    "app.library.stored": "export_pages",
    "app.pick": "Chooser PageSelection pick_sites select_files select_links",
    "app.plan": "plan_file plan_sql plan_store rank_urls score_frame score_url",
    "app.runs": "open_store",
    "app.simulate": "SimulateRequest simulate_policies",
    "app.tools.evaluate": "judge_picks",
    "app.tools.pages": "classify extract_links main_content looks_like_shell markdown parse_markdown parse_page",
    "app.tools.results": "read",
    "app.tools.scores": "ScoredLink calculate_priority relevance_level score_link score_links score_page should_skip",
    "app.tools.profiles": "load_schema",
    "app.watch": "watch_store",
    "config": "load_profile",
    "config.plugins": "add_fact",
    "core.crawl.frontier": "Budgets Run",
    "core.fetching": "Access FetchPolicy",
    "core.page.page": "Head Link Occurrence Page Position",
    "core.pick.evaluate": "Evaluation",
    "core.pick.select": "Candidate Selection",
    "core.records.fields": "ChunkRecord Record",
    "core.recrawl.plan": "Plan PlanEntry ScoredUrl UrlSignals",
    "core.recrawl.policies": "RecrawlPolicy VisitValue",
    "core.recrawl.signals": "PageState",
    "core.rules.language": "Reason Score",
    "core.rules.profile": "Profile",
    "core.url.scope": "Verdict",
    "core.url.url": "Url display normalize",
    "core.why": "Why",
    "errors": """AddressRefusedError AskedToWaitError ConfigError DeclinedError FetchError ForbiddenError HoneyguideError InputError
        NameNotFoundError NotKeptError NotTextError PatternError Problem SchemaMismatchError StoreBusyError StoreError
        TimedOutError TooLargeError UnreachableError UrlError""",
    "jobs.crawl": "CrawlSummary PageAttachments",
    "jobs.pick": "PickRequest",
    "jobs.request": "CrawlRequest",
    "jobs.watch": "Round WatchBudget WatchRequest",
    "ports.fetch": "Clock Content Fetched Fetcher Headers Part Rendered Validators",
    "ports.store": "Store",
    "simulation.outcome": "Outcome",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = ["__version__", *sorted(_MODULES)]  # noqa: PLE0604 - the stub has them in full


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        near = ", ".join(known for known in sorted(_MODULES) if known.startswith(f"{name}_"))
        raise AttributeError(f"module 'honeyguide' has no attribute {name!r}{near and f'; there are {near}'}")
    from importlib import import_module

    value = getattr(import_module(f"honeyguide.{_MODULES[name]}"), name)
    if name.islower() and name != "__version__":  # a function
        value = import_module("honeyguide.app.tools.checked").checked(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
