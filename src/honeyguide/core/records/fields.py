"""Records: every field of every output, with its type and its sentence.

Owns: the fields. A record is a `TypedDict`; the order of its fields is that of JSON, and the comment beside a field is its
sentence in docs/reference/records.md. CSV columns, Parquet types and the checks of what is read back are derived from the
types. Unknown values are null; only a field that is `NotRequired` may be absent. Must not know: files, terminals, how
records are made (pick: `jobs/pick.py`; crawl: `core/records/__init__.py`). `python tools/make_reference.py` writes the page anew.
Start reading at `PickRecord` and `PageRecord`.
"""

from collections.abc import Callable, Mapping
from functools import cache
from types import UnionType
from typing import Any, NotRequired, TypedDict, get_args, get_origin, get_type_hints, is_typeddict

SCHEMA = 2
Record = Mapping[str, Any]  # any of the records below, for code that treats all alike
MAX_NUMBER = 1 << 63  # of a record: JSON has greater ones, infinite ones, and ones that are no number
Number = float  # written without a fraction where it has none


class OutputRecord(TypedDict):
    """What every record of an output begins with."""

    schema: int  # 2


class Point(TypedDict):
    """What one rule paid; the points of a score add up to it."""

    rule: str  # id of the rule
    points: Number  # what it paid; negative if it took points away
    reason: str  # the reason as a sentence


class Rejection(TypedDict):
    """Why something was rejected."""

    rule: str  # the rule that decided
    reason: str  # the reason as a sentence


# --- pick ---------------------------------------------------------------------------------------------------------


class HeadRecord(TypedDict):
    """What the head of a linked page says (PICK-11)."""

    title: str | None  # title of the page
    description: str | None  # its meta description


class CandidateRecord(TypedDict):
    """One link of a homepage (PICK-20); `url` is the href if that is no URL. `select` adds `schema`, and `page` for files of links."""

    url: str  # the normalised URL
    anchor_text: str | None  # the first text of the link
    title: str | None  # its first title attribute
    base_domain: str | None  # host of the URL, without `www.`
    head_data: HeadRecord | None  # of the linked page, if read
    position: str | None  # the first of `main`, `navigation`, `footer`, `sitemap` that it has
    rank: int | None  # 1 for the best; null if not selected
    category: str | None  # the rule of the first group that paid; for `rules` A, B, C, U, T, D
    bucket: str | None  # kind of page: services, about, blog, …
    score: Number | None  # the score that decides, on the scale of its card
    intrinsic_score: Number | None  # 0 to 10 (PICK-12); null if the strategy has none
    contextual_score: Number | None  # 0 to 1 (PICK-13); null if the strategy has none
    total_score: Number | None  # 0 to 1 (PICK-14); null if the strategy has none
    matched: list[str]  # words of the query that were found
    selection_reason: str | None  # in short: `services-slug+high-bm25`
    reasons: list[str]  # why it has this score, as sentences
    points: list[Point]  # what each rule paid to `score`
    parts: dict[str, list[Point]]  # points of the other scores, by card
    rejected: Rejection | None  # why it was not selected
    unknown: list[str]  # facts that rules needed and did not know
    positions: list[str]  # all its positions on the page, in order
    menus: list[str]  # labels of submenus that list it
    headings: list[str]  # headings of groups of cards that list it


class KeywordEvidence(TypedDict):
    """A keyword on a page."""

    keyword: str  # as the profile has it
    text: str  # the words around it


class SelectedRecord(TypedDict):
    """A selected page. `markdown` and the fields after it need `--content`."""

    rank: int | None  # 1 for the best; null if not selected
    url: str  # the normalised URL
    category: str | None  # as in CandidateRecord
    bucket: str | None  # as in CandidateRecord
    score: Number | None  # as in CandidateRecord
    reasons: list[str]  # why it has this score, as sentences
    points: list[Point]  # what each rule paid
    title: str | None  # title of the page
    text_chars: int | None  # characters of main text
    status: int | None  # HTTP status; null without a response
    markdown: NotRequired[str]  # with `--content`: the main content as Markdown
    text: NotRequired[str]  # with `--content text`: the main content as text
    is_cut: NotRequired[bool]  # with `--content`: a limit cut it
    headings: NotRequired[list[str]]  # headings of the page
    keywords: NotRequired[list[str]]  # keywords of the profile that were found
    evidence: NotRequired[list[KeywordEvidence]]  # the words around each keyword


class PickOptions(TypedDict):
    """Options of the command; null if not given."""

    cap: int | None  # the option of this name
    query: str | None  # the option of this name
    include: list[str]  # the option of this name
    exclude: list[str]  # the option of this name
    scope: str | None  # the option of this name
    want: list[str]  # the option of this name
    never: list[str]  # the option of this name
    content: str | None  # the option of this name
    render: str | None  # the option of this name


class SkippedLink(TypedDict):
    """A link that leads to no page (URL-9)."""

    href: str  # as written
    rule: str  # the rule that decided


class ReplacedPage(TypedDict):
    """A selected page that lost its place."""

    url: str  # the normalised URL
    reason: str  # the reason as a sentence
    by: str | None  # the page that took its place


class PickRecord(OutputRecord):
    """One site."""

    site: str  # as given
    homepage: str | None  # URL of its homepage, after redirects
    status: str  # see below
    reason: str | None  # why the status is not `ok`, or a remark about the links
    strategy: str  # name of the strategy
    profile: str | None  # name of the profile
    profile_hash: str | None  # hash of the profile's content
    options: PickOptions  # other settings
    title: str | None  # title of the homepage
    selected: list[SelectedRecord]  # the selected pages
    candidates: list[CandidateRecord]  # every link of the homepage
    skipped: list[SkippedLink]  # links that lead to no page
    counts: dict[str, int]  # links by outcome, see below
    replaced: list[ReplacedPage]  # pages that lost their place (PICK-21)
    requests: int  # requests for pages and heads
    elapsed_s: NotRequired[float]  # seconds; absent with `--no-timings`
    input: NotRequired[dict[str, str]]  # other columns of the list of sites


# --- crawl --------------------------------------------------------------------------------------------------------


class LinkRecord(TypedDict):
    """A link of a crawled page, with `--links` (TOPIC-1)."""

    url: str  # the normalised URL
    anchor_text: str | None  # the first text of the link
    context: str | None  # text around it
    relevance_score: Number  # 0 to 10
    relevance_level: str | None  # High (8 to 10), Medium (5 to 7), Low (3 and 4), Irrelevant
    action: str  # lane of the link by its score; `skip`: not followed
    position: str | None  # `main`, `navigation` or `footer`
    rel: str | None  # its first rel attribute, such as `nofollow`
    reasons: list[str]  # why it has this score, as sentences
    points: list[Point]  # what each rule paid


class PageRecord(OutputRecord):
    """One page that was requested, in the order of the requests."""

    url: str  # the normalised URL
    final_url: str | None  # where redirects led, if any
    status: int | None  # HTTP status; null without a response
    depth: int  # fewest known links from a seed
    parent: str | None  # the page that led to it; null for seeds and sitemaps
    relevance_score: Number | None  # 0 to 10
    relevance_level: str | None  # High (8 to 10), Medium (5 to 7), Low (3 and 4), Irrelevant
    reasons: list[str]  # why it has this score, was rejected, or is not followed
    points: list[Point]  # what each rule paid; a rule that rejected paid 0
    topic_relevance: Number | None  # 0 to 1; from 0.5 on, the page is about the topic
    topic_points: list[Point]  # what each rule paid to `topic_relevance`
    action: str  # what happens to its links, see below
    change: str | None  # since the last visit: `new`, `changed`, `unchanged`; null if no page was received
    lane: str  # lane of the queue
    priority: Number  # priority in the lane
    title: str | None  # title of the page
    fetched_at: str  # when
    elapsed_s: float | None  # seconds for the response
    digest: str | None  # hash of the main content
    canonical: str | None  # the URL that the page calls its own
    language: str | None  # as the page declares it, such as `pt-br`
    language_group: str | None  # equal for translations of a page (hreflang)
    robots: str | None  # meta robots and X-Robots-Tag, such as `noindex, nofollow`
    duplicate_of: str | None  # an earlier page with the same content, or the canonical URL
    links: NotRequired[list[LinkRecord] | None]  # with `--links`
    markdown: NotRequired[str | None]  # with `--content`: the main content as Markdown
    text: NotRequired[str | None]  # with `--content text`: the main content as text
    is_cut: NotRequired[bool | None]  # with `--content`: a limit cut it


class ChunkRecord(OutputRecord):
    """`export pages --chunks`: one chunk of a page."""

    id: str  # equal if URL, headings and text are equal
    url: str  # of the page
    title: str | None  # of the page
    language: str | None  # of the page
    relevance_score: Number | None  # of the page
    topic_relevance: Number | None  # of the page
    headings: list[str]  # headings above it, outermost first
    place: int  # its number on the page, from 1
    text: str  # Markdown
    is_cut: NotRequired[bool]  # a limit cut the page


class QueueRecord(OutputRecord):
    """`export links`: one URL that the crawl has met."""

    url: str | None  # the normalised URL
    state: str  # `queued`, `leased`, `done` or `rejected`; null if not met
    lane: str | None  # lane of the queue
    priority: Number | None  # priority in the lane
    relevance_score: Number | None  # of its best link, 0 to 10
    depth: int  # fewest known links from a seed
    parent: str | None  # the page that led to it; null for seeds and sitemaps
    seen: int  # pages that link it
    rule: str | None  # the rule that decided
    reason: str | None  # the reason as a sentence
    request_url: str | None  # the URL as requested


class ExternalRecord(OutputRecord):
    """`export external`: one URL of another site."""

    url: str | None  # the normalised URL
    site: str | None  # host and port
    seen: int  # pages that link it
    parent: str | None  # the first page that links it
    request_url: str | None  # the URL as requested


class RejectedRecord(OutputRecord):
    """`export out`: one URL that was rejected."""

    url: str | None  # the normalised URL
    rule: str | None  # the rule that decided
    reason: str | None  # the reason as a sentence
    depth: int  # fewest known links from a seed
    parent: str | None  # the page that led to it; null for seeds and sitemaps
    seen: int  # pages that link it
    request_url: str | None  # the URL as requested


class RunRecord(OutputRecord):
    """`runs`: one crawl of a store."""

    run: int  # number of the crawl
    command: str | None  # the command that began it
    topic: str | None  # what it is about
    profile: str | None  # name of the profile
    profile_hash: str | None  # hash of the profile's content, without the topic
    fetched: int  # requests for pages
    started_at: str  # when it began
    updated_at: str  # when somebody last worked on it
    stopped: str | None  # why it stopped; null if running or killed
    workers: int  # number of processes
    pages_per_s: Number  # pages per second since the start
    seen_at: str | None  # last heartbeat; null if nothing runs


class WorkerRecord(OutputRecord):
    """`workers`: one process that works on a crawl."""

    worker: int  # its number
    run: int | None  # number of the crawl
    host: str  # the machine
    pid: int  # process id
    pages: int  # fetched pages at the last heartbeat
    pages_per_s: Number  # pages per second since the start
    started_at: str  # when it began
    seen_at: str  # last heartbeat, one every few seconds
    stopping: bool  # it was asked to stop


# --- plan ---------------------------------------------------------------------------------------------------------


class PlanRecord(OutputRecord):
    """`plan`: one URL."""

    rank: int | None  # 1 for the best of all URLs
    url: str  # as given
    score: Number  # 0 to 100
    level: str  # very high, high, medium, low or very low
    reasons: list[str]  # why it has this score, as sentences
    points: list[Point]  # what each rule paid
    next_due: str | None  # when a visit is worth what the plan's last one is now


# --- what follows from the fields -----------------------------------------------------------------------------------


@cache
def fields(kind: Any) -> dict[str, Any]:
    """Give the types of a record's fields, by name and in order; `NotRequired` and null are kept."""
    return get_type_hints(kind, include_extras=True)


def needed_fields(kind: Any) -> set[str]:
    """Name the fields that every version of a record has: all but those that are `NotRequired`.

    >>> set(fields(KeywordEvidence)) - needed_fields(KeywordEvidence)
    set()
    """
    return {name for name, hint in fields(kind).items() if get_origin(hint) is not NotRequired}


def known(hint: Any) -> Any:
    """Give the type of a value that is there and not null.

    >>> known(fields(PageRecord)["links"])
    list[honeyguide.core.records.fields.LinkRecord]
    """
    while get_origin(hint) is NotRequired or isinstance(hint, UnionType):
        hint = get_args(hint)[0]
    return hint


def is_flat(hint: Any) -> bool:
    """Tell whether a record has only single values, so that it fits into a cell, or into columns of its own."""
    return is_typeddict(hint) and all(get_origin(known(part)) is None for part in fields(hint).values())


def columns(kind: Any, *without: str) -> tuple[str, ...]:
    """Name the CSV columns of a record: `rejected.rule` is a field of a nested record; what is no cell is left out.

    >>> columns(CandidateRecord)[-4:]
    ('unknown', 'positions', 'menus', 'headings')
    """
    names: list[str] = []
    for name, hint in fields(kind).items():
        part = known(hint)
        inner = get_args(part)[0] if get_origin(part) is list else part
        if name in without or (is_typeddict(inner) and not is_flat(inner)):
            continue
        names += [f"{name}.{field}" for field in fields(part)] if is_typeddict(part) else [name]
    return tuple(names)


@cache
def checker(hint: Any) -> Callable[[Any], bool]:
    """Make the check of a type, for what is read back from a file or a store."""
    args = get_args(hint)
    if get_origin(hint) is NotRequired:
        return checker(args[0])
    if isinstance(hint, UnionType):
        options = [checker(arg) for arg in args]
        return lambda value: any(option(value) for option in options)
    if get_origin(hint) in (list, dict):
        kind, each = get_origin(hint), checker(args[-1])
        return lambda value: type(value) is kind and all(map(each, value if kind is list else value.values()))
    if is_typeddict(hint):
        parts = [
            (name, get_origin(part) is NotRequired, checker(part)) for name, part in fields(hint).items()
        ]
        return lambda value: (
            type(value) is dict
            and all(check(value[name]) if name in value else may_lack for name, may_lack, check in parts)
        )
    if hint in (int, float):
        types = {int, hint}
        return lambda value: type(value) in types and -MAX_NUMBER < value < MAX_NUMBER
    return lambda value: type(value) is hint


def is_record(value: object, kind: Any) -> bool:
    """Tell whether something that was read back has the fields of a record, whatever they say."""
    return checker(kind)(value)
