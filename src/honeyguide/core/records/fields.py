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
    points: Number  # what it paid; below 0 it took
    reason: str  # the sentence for people


class Rejection(TypedDict):
    """Why something was rejected."""

    rule: str  # id of the rule, filter or limit
    reason: str  # the sentence for people


# --- pick ---------------------------------------------------------------------------------------------------------


class HeadRecord(TypedDict):
    """What the head of a linked page says (PICK-11)."""

    title: str | None  # title of the page
    description: str | None  # its meta description


class CandidateRecord(TypedDict):
    """One link of a page and all that was decided about it (PICK-20). `select` adds `schema`, and `page` for files of links."""

    url: str  # the normalised URL; for a link that is no URL, the text of its href
    anchor_text: str | None  # the first text of the link that is not empty
    title: str | None  # the first title attribute of the link that is not empty
    base_domain: str | None  # host of the URL, without `www.`
    head_data: HeadRecord | None  # title and description of the linked page; null unless its head was read
    position: str | None  # `main`, `navigation` or `footer`, the first where the page has it; else `sitemap`
    rank: int | None  # 1 for the best of the selected; null for the others
    category: str | None  # the rule of the card's first group that paid: A, B, C, U, T, D for `rules`
    bucket: str | None  # what the page is: services, about, blog, …
    score: Number | None  # the score that decides, on the scale of the strategy's card
    intrinsic_score: Number | None  # 0 to 10, where the strategy has that card (PICK-12)
    contextual_score: Number | None  # 0 to 1, where the strategy has a query (PICK-13)
    total_score: Number | None  # 0 to 1, where the strategy has that card (PICK-14)
    matched: list[str]  # words of the query that were found, where the strategy has one
    selection_reason: str | None  # bucket and tags in short: `services-slug+high-bm25`
    reasons: list[str]  # why it has this score, for people
    points: list[Point]  # what each rule paid to `score`
    parts: dict[str, list[Point]]  # the points of the other scores, by name of the card
    rejected: Rejection | None  # why it was not selected
    unknown: list[str]  # facts that a rule needs and that are not known
    positions: list[str]  # all positions where the page has the link, in its order; rules read them all
    menus: list[str]  # labels of the submenus that list it; rules read them all
    headings: list[str]  # headings of the groups of cards that list it; rules read them all


class KeywordEvidence(TypedDict):
    """A keyword on a page."""

    keyword: str  # as the profile has it
    text: str  # the words around it


class SelectedRecord(TypedDict):
    """A selected page. The fields from `markdown` on are there with `--content`."""

    rank: int | None  # 1 for the best
    url: str  # the normalised URL
    category: str | None  # as in the candidate
    bucket: str | None  # as in the candidate
    score: Number | None  # as in the candidate
    reasons: list[str]  # why it has this score, for people
    points: list[Point]  # what each rule paid
    title: str | None  # title of the page
    text_chars: int | None  # characters of main text
    status: int | None  # HTTP status
    markdown: NotRequired[str]  # the main content as Markdown
    text: NotRequired[str]  # with `--content text`: the same without markup
    is_cut: NotRequired[bool]  # whether a limit cut it
    headings: NotRequired[list[str]]  # its headings
    keywords: NotRequired[list[str]]  # keywords of the profile that were found
    evidence: NotRequired[list[KeywordEvidence]]  # the words around each keyword


class PickOptions(TypedDict):
    """What a pick depends on besides strategy and profile; null if not given."""

    cap: int | None  # `--cap`
    query: str | None  # `--query`
    include: list[str]  # `--include`
    exclude: list[str]  # `--exclude`
    scope: str | None  # `--scope`; null is that of the strategy
    want: list[str]  # `--want`
    never: list[str]  # `--never`
    content: str | None  # `--content`: `markdown` or `text`
    render: str | None  # `--render`; null is `never`


class SkippedLink(TypedDict):
    """A link that leads to no page (URL-9)."""

    href: str  # as written
    rule: str  # the rule that decided


class ReplacedPage(TypedDict):
    """A selected page that did not keep its place."""

    url: str  # the page
    reason: str  # why it is left out
    by: str | None  # the page that took its place; null if there was none


class PickRecord(OutputRecord):
    """One site."""

    site: str  # the site as given
    homepage: str | None  # URL of its homepage, after redirects
    status: str  # see below
    reason: str | None  # why the status is not `ok`; with `ok`, what to know of the links
    strategy: str  # name of the strategy
    profile: str | None  # name of the profile
    profile_hash: str | None  # hash of the profile's content
    options: PickOptions  # what else the pick depends on
    title: str | None  # title of the homepage
    selected: list[SelectedRecord]  # the selected pages
    candidates: list[CandidateRecord]  # every link of the homepage
    skipped: list[SkippedLink]  # links that lead to no page
    counts: dict[str, int]  # links, by what became of them; see below
    replaced: list[ReplacedPage]  # selected pages that were dead, empty or not what they seemed (PICK-21)
    requests: int  # requests for pages and heads of this site
    elapsed_s: NotRequired[float]  # seconds it took; absent with `--no-timings`
    input: NotRequired[dict[str, str]]  # the other columns of the site's row in the list; absent without any


# --- crawl --------------------------------------------------------------------------------------------------------


class LinkRecord(TypedDict):
    """A link of a crawled page, with `--links` (TOPIC-1)."""

    url: str  # the normalised URL
    anchor_text: str | None  # text of the link
    context: str | None  # text around it
    relevance_score: Number  # 0 to 10
    relevance_level: str | None  # High (8 to 10), Medium (5 to 7), Low (3 and 4) or Irrelevant
    action: str  # what follows from the score alone: the lane of the crawl's traversal, `skip` if it is not followed
    position: str | None  # `main`, `navigation` or `footer`
    rel: str | None  # the first rel attribute that is not empty: `nofollow`
    reasons: list[str]  # why it has this score, for people
    points: list[Point]  # what each rule paid


class PageRecord(OutputRecord):
    """One page that was requested, in the order of the requests."""

    url: str  # the URL that was queued
    final_url: str | None  # where redirects led, if there were any
    status: int | None  # HTTP status; null if there was no response
    depth: int  # links from a seed
    parent: str | None  # the page whose link gave it its place; null for seeds and pages of sitemaps
    relevance_score: Number | None  # 0 to 10; null without a topic, and where there was nothing to read
    relevance_level: str | None  # of the score: High (8 to 10), Medium (5 to 7), Low (3, 4) or Irrelevant
    reasons: list[str]  # why it has this score; why it was rejected, or its links are not followed
    points: list[Point]  # what each rule paid; a rule that rejected the page, or its links, paid 0
    topic_relevance: Number | None  # 0 to 1: is it about the topic? from 0.5 on; null like the score
    topic_points: list[Point]  # what each rule paid for that
    action: str  # what is done with its links, see below
    change: str | None  # since the last visit: `new`, `changed`, `unchanged`; null if no page came
    lane: str  # the lane it queued in
    priority: Number  # its priority there
    title: str | None  # title of the page
    fetched_at: str  # when
    elapsed_s: float | None  # seconds the response took
    digest: str | None  # of the main content; pages with equal digests have the same content
    canonical: str | None  # the URL that the page names as its own; null if it names none
    language: str | None  # as the page declares it, such as `en` or `pt-br`
    language_group: str | None  # the same for versions of a page in other languages (hreflang)
    robots: str | None  # what meta robots and X-Robots-Tag say: `noindex, nofollow`
    duplicate_of: str | None  # an earlier page that says the same, or the canonical URL of another
    links: NotRequired[list[LinkRecord] | None]  # with `--links`
    markdown: NotRequired[str | None]  # with `--content`: the main content; null where it was not kept
    text: NotRequired[str | None]  # with `--content text`: the same without markup
    is_cut: NotRequired[bool | None]  # with `--content`: whether a limit cut the content


class ChunkRecord(OutputRecord):
    """`export pages --chunks`: a piece of a page."""

    id: str  # the same as long as URL, headings and text are the same
    url: str  # of the page
    title: str | None  # of the page
    language: str | None  # of the page, as it declares it
    relevance_score: Number | None  # of the page
    topic_relevance: Number | None  # of the page
    headings: list[str]  # the headings above the piece, from the first level on
    place: int  # 1 for the first piece of the page
    text: str  # Markdown


class QueueRecord(OutputRecord):
    """`export links`: one URL that the crawl has met."""

    url: str | None  # the normalised URL
    state: str  # `queued`, `leased`, `done` or `rejected`
    lane: str | None  # the lane it queues in
    priority: Number | None  # its priority there
    relevance_score: Number | None  # of its best link, 0 to 10
    depth: int  # links from a seed
    parent: str | None  # the page whose link gave it its place
    seen: int  # how many pages link it
    rule: str | None  # the rule that rejected it, or made it wait
    reason: str | None  # the sentence of that rule
    request_url: str | None  # the URL as it is requested


class ExternalRecord(OutputRecord):
    """`export external`: one URL of another site."""

    url: str | None  # the normalised URL
    site: str | None  # its host and port
    seen: int  # how many pages link it
    parent: str | None  # the first page that does
    request_url: str | None  # the URL as it would be requested


class RejectedRecord(OutputRecord):
    """`export out`: one URL that was rejected."""

    url: str | None  # the normalised URL
    rule: str | None  # the rule that rejected it
    reason: str | None  # the sentence of that rule
    depth: int  # links from a seed
    parent: str | None  # the page whose link gave it its place
    seen: int  # how many pages link it
    request_url: str | None  # the URL as it would be requested


class RunRecord(OutputRecord):
    """`runs`: one crawl of a store."""

    run: int  # its number
    command: str | None  # the command that began it
    topic: str | None  # what it is about
    profile: str | None  # name of the profile
    profile_hash: str | None  # hash of the profile's content, without the topic
    fetched: int  # how many requests for pages it made
    started_at: str  # when it began
    updated_at: str  # when it was last worked on
    stopped: str | None  # why it stopped; null while a process works on it, or if that was killed
    workers: int  # how many processes work on it
    pages_per_s: Number  # what they fetch together, since each began
    seen_at: str | None  # the last sign of life of any of them; null: nobody works on it


class WorkerRecord(OutputRecord):
    """`workers`: one process that works on a crawl."""

    worker: int  # its number
    run: int | None  # the crawl, by the number that runs shows
    host: str  # the machine
    pid: int  # the number of the process there
    pages: int  # how many it has fetched, as of its last sign of life
    pages_per_s: Number  # since it began
    started_at: str  # when it began
    seen_at: str  # its last sign of life, which it gives every few seconds
    stopping: bool  # whether it was asked to stop


# --- plan ---------------------------------------------------------------------------------------------------------


class PlanRecord(OutputRecord):
    """`plan`: one URL."""

    rank: int | None  # 1 for the best of all URLs
    url: str  # as given
    score: Number  # 0 to 100
    level: str  # very high, high, medium, low or very low
    reasons: list[str]  # why it has this score, for people
    points: list[Point]  # what each rule paid, also the quiet ones
    next_due: str | None  # when a visit is worth as much as the plan's last one now; null: never, unknown


# --- what follows from the fields -----------------------------------------------------------------------------------


@cache
def fields(kind: Any) -> dict[str, Any]:
    """Give the types of a record's fields, by name and in order; `NotRequired` and null are kept."""
    return get_type_hints(kind, include_extras=True)


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
