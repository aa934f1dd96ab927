# ruff: noqa: RUF022
# fmt: off
# Written by tools/make_reference.py from the table of __init__.py.
from honeyguide.adapters.files.markdown import parse_markdown_links as parse_markdown_links
from honeyguide.adapters.files.rows import Rejected as Rejected
from honeyguide.adapters.policies import FormulaPolicy as FormulaPolicy
from honeyguide.adapters.policies import PageColumns as PageColumns
from honeyguide.app.crawl import crawl_site as crawl_site
from honeyguide.app.explain import explain_url as explain_url
from honeyguide.app.library.calls import Crawl as Crawl
from honeyguide.app.library.calls import PickSettings as PickSettings
from honeyguide.app.library.calls import crawl as crawl
from honeyguide.app.library.calls import pick as pick
from honeyguide.app.library.calls import pick_async as pick_async
from honeyguide.app.library.focus import Focus as Focus
from honeyguide.app.library.focus import JudgedLink as JudgedLink
from honeyguide.app.library.focus import judge_links as judge_links
from honeyguide.app.library.observe import Imported as Imported
from honeyguide.app.library.observe import import_known as import_known
from honeyguide.app.library.observe import observe as observe
from honeyguide.app.library.pages import CrawledPage as CrawledPage
from honeyguide.app.library.pages import PickedPage as PickedPage
from honeyguide.app.library.pages import PickedSite as PickedSite
from honeyguide.app.library.stored import export_pages as export_pages
from honeyguide.app.pick import Chooser as Chooser
from honeyguide.app.pick import PageSelection as PageSelection
from honeyguide.app.pick import pick_sites as pick_sites
from honeyguide.app.pick import select_files as select_files
from honeyguide.app.pick import select_links as select_links
from honeyguide.app.plan import plan_file as plan_file
from honeyguide.app.plan import plan_sql as plan_sql
from honeyguide.app.plan import plan_store as plan_store
from honeyguide.app.plan import rank_urls as rank_urls
from honeyguide.app.plan import score_frame as score_frame
from honeyguide.app.plan import score_url as score_url
from honeyguide.app.runs import open_store as open_store
from honeyguide.app.simulate import SimulateRequest as SimulateRequest
from honeyguide.app.simulate import simulate_policies as simulate_policies
from honeyguide.app.tools.evaluate import judge_picks as judge_picks
from honeyguide.app.tools.pages import classify as classify
from honeyguide.app.tools.pages import extract_links as extract_links
from honeyguide.app.tools.pages import looks_like_shell as looks_like_shell
from honeyguide.app.tools.pages import main_content as main_content
from honeyguide.app.tools.pages import markdown as markdown
from honeyguide.app.tools.pages import parse_markdown as parse_markdown
from honeyguide.app.tools.pages import parse_page as parse_page
from honeyguide.app.tools.profiles import load_schema as load_schema
from honeyguide.app.tools.results import read as read
from honeyguide.app.tools.scores import ScoredLink as ScoredLink
from honeyguide.app.tools.scores import calculate_priority as calculate_priority
from honeyguide.app.tools.scores import relevance_level as relevance_level
from honeyguide.app.tools.scores import score_link as score_link
from honeyguide.app.tools.scores import score_links as score_links
from honeyguide.app.tools.scores import score_page as score_page
from honeyguide.app.tools.scores import should_skip as should_skip
from honeyguide.app.watch import watch_store as watch_store
from honeyguide.config import load_profile as load_profile
from honeyguide.config.plugins import add_fact as add_fact
from honeyguide.core.crawl.frontier import Budgets as Budgets
from honeyguide.core.crawl.frontier import Run as Run
from honeyguide.core.fetching import Access as Access
from honeyguide.core.fetching import FetchPolicy as FetchPolicy
from honeyguide.core.page.page import Head as Head
from honeyguide.core.page.page import Link as Link
from honeyguide.core.page.page import Occurrence as Occurrence
from honeyguide.core.page.page import Page as Page
from honeyguide.core.page.page import Position as Position
from honeyguide.core.pick.evaluate import Evaluation as Evaluation
from honeyguide.core.pick.select import Candidate as Candidate
from honeyguide.core.pick.select import Selection as Selection
from honeyguide.core.records.fields import ChunkRecord as ChunkRecord
from honeyguide.core.records.fields import Record as Record
from honeyguide.core.recrawl.plan import Plan as Plan
from honeyguide.core.recrawl.plan import PlanEntry as PlanEntry
from honeyguide.core.recrawl.plan import ScoredUrl as ScoredUrl
from honeyguide.core.recrawl.plan import UrlSignals as UrlSignals
from honeyguide.core.recrawl.policies import RecrawlPolicy as RecrawlPolicy
from honeyguide.core.recrawl.policies import VisitValue as VisitValue
from honeyguide.core.recrawl.signals import PageState as PageState
from honeyguide.core.rules.language import Reason as Reason
from honeyguide.core.rules.language import Score as Score
from honeyguide.core.rules.profile import Profile as Profile
from honeyguide.core.url.scope import Verdict as Verdict
from honeyguide.core.url.url import Url as Url
from honeyguide.core.url.url import display as display
from honeyguide.core.url.url import normalize as normalize
from honeyguide.core.why import Why as Why
from honeyguide.errors import AddressRefusedError as AddressRefusedError
from honeyguide.errors import AskedToWaitError as AskedToWaitError
from honeyguide.errors import ConfigError as ConfigError
from honeyguide.errors import DeclinedError as DeclinedError
from honeyguide.errors import FetchError as FetchError
from honeyguide.errors import ForbiddenError as ForbiddenError
from honeyguide.errors import HoneyguideError as HoneyguideError
from honeyguide.errors import InputError as InputError
from honeyguide.errors import NameNotFoundError as NameNotFoundError
from honeyguide.errors import NotKeptError as NotKeptError
from honeyguide.errors import NotTextError as NotTextError
from honeyguide.errors import PatternError as PatternError
from honeyguide.errors import Problem as Problem
from honeyguide.errors import SchemaMismatchError as SchemaMismatchError
from honeyguide.errors import StoreBusyError as StoreBusyError
from honeyguide.errors import StoreError as StoreError
from honeyguide.errors import TimedOutError as TimedOutError
from honeyguide.errors import TooLargeError as TooLargeError
from honeyguide.errors import UnreachableError as UnreachableError
from honeyguide.errors import UrlError as UrlError
from honeyguide.jobs.crawl import CrawlSummary as CrawlSummary
from honeyguide.jobs.crawl import PageAttachments as PageAttachments
from honeyguide.jobs.pick import PickRequest as PickRequest
from honeyguide.jobs.request import CrawlRequest as CrawlRequest
from honeyguide.jobs.watch import Round as Round
from honeyguide.jobs.watch import WatchBudget as WatchBudget
from honeyguide.jobs.watch import WatchRequest as WatchRequest
from honeyguide.ports.fetch import Clock as Clock
from honeyguide.ports.fetch import Content as Content
from honeyguide.ports.fetch import Fetched as Fetched
from honeyguide.ports.fetch import Fetcher as Fetcher
from honeyguide.ports.fetch import Headers as Headers
from honeyguide.ports.fetch import Part as Part
from honeyguide.ports.fetch import Rendered as Rendered
from honeyguide.ports.fetch import Validators as Validators
from honeyguide.ports.store import Store as Store
from honeyguide.simulation.outcome import Outcome as Outcome

__version__: str
__all__ = [
    "__version__",
    "Access",
    "AddressRefusedError",
    "AskedToWaitError",
    "Budgets",
    "Candidate",
    "Chooser",
    "ChunkRecord",
    "Clock",
    "ConfigError",
    "Content",
    "Crawl",
    "CrawlRequest",
    "CrawlSummary",
    "CrawledPage",
    "DeclinedError",
    "Evaluation",
    "FetchError",
    "FetchPolicy",
    "Fetched",
    "Fetcher",
    "Focus",
    "ForbiddenError",
    "FormulaPolicy",
    "Head",
    "Headers",
    "HoneyguideError",
    "Imported",
    "InputError",
    "JudgedLink",
    "Link",
    "NameNotFoundError",
    "NotKeptError",
    "NotTextError",
    "Occurrence",
    "Outcome",
    "Page",
    "PageAttachments",
    "PageColumns",
    "PageSelection",
    "PageState",
    "Part",
    "PatternError",
    "PickRequest",
    "PickSettings",
    "PickedPage",
    "PickedSite",
    "Plan",
    "PlanEntry",
    "Position",
    "Problem",
    "Profile",
    "Reason",
    "Record",
    "RecrawlPolicy",
    "Rejected",
    "Rendered",
    "Round",
    "Run",
    "SchemaMismatchError",
    "Score",
    "ScoredLink",
    "ScoredUrl",
    "Selection",
    "SimulateRequest",
    "Store",
    "StoreBusyError",
    "StoreError",
    "TimedOutError",
    "TooLargeError",
    "UnreachableError",
    "Url",
    "UrlError",
    "UrlSignals",
    "Validators",
    "Verdict",
    "VisitValue",
    "WatchBudget",
    "WatchRequest",
    "Why",
    "add_fact",
    "calculate_priority",
    "classify",
    "crawl",
    "crawl_site",
    "display",
    "explain_url",
    "export_pages",
    "extract_links",
    "import_known",
    "judge_links",
    "judge_picks",
    "load_profile",
    "load_schema",
    "looks_like_shell",
    "main_content",
    "markdown",
    "normalize",
    "observe",
    "open_store",
    "parse_markdown",
    "parse_markdown_links",
    "parse_page",
    "pick",
    "pick_async",
    "pick_sites",
    "plan_file",
    "plan_sql",
    "plan_store",
    "rank_urls",
    "read",
    "relevance_level",
    "score_frame",
    "score_link",
    "score_links",
    "score_page",
    "score_url",
    "select_files",
    "select_links",
    "should_skip",
    "simulate_policies",
    "watch_store",
]
