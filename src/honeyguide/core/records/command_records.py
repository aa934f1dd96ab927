"""Records of commands that answer a question about URLs, links, pages, picks, plans, policies and profiles.

Owns: their fields, as `fields.py` does for picks, crawls and plans. Must not know: how records are made.
"""

from typing import Any, TypedDict

from honeyguide.core.records.fields import (
    CandidateRecord,
    Number,
    OutputRecord,
    PageRecord,
    Point,
    Rejection,
    ReplacedPage,
)

# --- crawl ---


class UrlStep(TypedDict):
    """A step that changes a URL."""

    rule: str  # id of the rule
    name: str  # name of the step
    before: str  # the URL before it
    after: str  # the URL after it


class VerdictFields(TypedDict):
    """What scope says about a URL."""

    kind: str  # `inside`, `outside` or `skip`
    rule: str  # the rule that decided
    id: str  # id of the requirement
    detail: str | None  # what the rule saw, such as the host


class SightingFields(TypedDict):
    """A remembered page that links the URL, or a sitemap that lists it."""

    parent: str | None  # the page; null for a sitemap
    anchor_text: str | None  # the first text of the link
    position: str | None  # `main`, `navigation` or `footer`
    lastmod: str | None  # what a sitemap says
    relevance_score: Number | None  # 0 to 10
    points: list[Point]  # what each rule paid
    bonus: list[Point]  # points for the priority alone
    lane: str | None  # lane of the queue


class VisitFields(TypedDict):
    """A visit."""

    run: int  # number of the crawl
    at: str  # when
    status: int | None  # HTTP status; null without a response


class HistoryFields(TypedDict):
    """What is known of a URL across crawls."""

    first_seen: str  # when it was first met
    seen_at: str | None  # the last visit that received a page
    changed_at: str | None  # the last change that a visit found
    changes: int  # visits that found it changed
    unchanged: int  # visits that found it unchanged
    failures: int  # failed visits in a row
    kind: str  # `page`, `hub` or another class
    rate: list[float] | None  # estimate of its change rate
    found: list[float] | None  # estimate of the new links per visit
    lastmod: str | None  # what a sitemap says
    moved_to: str | None  # where it redirects to


class ExplainRecord(OutputRecord):
    """`explain`: what a crawl knows of a URL."""

    text: str  # as given
    url: str  # the normalised URL
    request_url: str | None  # the URL as requested
    key: str  # pages with equal keys are the same
    steps: list[UrlStep]  # what normalisation changed
    read_as: str  # `text` as a normalised URL
    run: int  # number of the crawl
    command: str | None  # the command that began it
    verdict: VerdictFields  # what scope says
    state: str | None  # `queued`, `leased`, `done` or `rejected`; null if not met
    relevance_score: Number | None  # of its best link, 0 to 10
    lane: str | None  # lane of the queue
    priority: Number | None  # priority in the lane
    depth: int | None  # fewest known links from a seed
    parent: str | None  # the page that led to it; null for seeds and sitemaps
    seen: int  # pages that link it
    sightings: list[SightingFields]  # the first pages that link it
    attempts: int  # failed attempts
    worth: list[str]  # why it had its worth (TOPIC-4c)
    due_at: str | None  # earliest time of the next visit
    rejected: Rejection | None  # why it was rejected or delayed
    page: PageRecord | None  # the record of its last visit
    visits: list[VisitFields]  # all visits
    read: PageRecord | None  # the last visit that read it, if earlier
    history: HistoryFields | None  # what is known across crawls
    sentences: list[str]  # everything as sentences


# --- pick ---


class EvalRecord(OutputRecord):
    """`eval`: one site. The last JSON line has `kind` `total` and the sums of all sites."""

    kind: str  # `site`
    site: str  # host and port
    verdict: str  # `good` or `NOT good`, perhaps `, with junk` or `, no record`
    picks: int  # picked pages, up to `--cap`
    core: int  # core pages among them
    good: int  # core or acceptable pages among them
    junk: int  # junk among them
    core_pages: int  # pages with the label core
    labels: list[str]  # the label of each pick, or `unlabelled`
    has_record: bool  # the picks have this site


class PickExplainRecord(OutputRecord):
    """`explain --picks` and `select --explain`: the decision about one URL of a homepage."""

    text: str  # as given
    url: str  # the normalised URL
    site: str  # as given
    homepage: str | None  # URL of its homepage, after redirects
    strategy: str  # name of the strategy
    profile: str | None  # name of the profile
    rank: int | None  # 1 for the best; null if not selected
    rejected: Rejection | None  # why it was not selected
    replaced: ReplacedPage | None  # why it lost its place
    replaces: list[str]  # pages whose place it took
    candidate: CandidateRecord | None  # null if the homepage has no such link
    sentences: list[str]  # everything as sentences


class LearnRecord(OutputRecord):
    """`learn`: one proposed change of the profile."""

    kind: str  # `rule`: other points; `bucket`, `word`: a new rule; `drop`: a removed rule
    name: str  # the rule, bucket or word
    before: Number | None  # points before, if any
    points: Number | None  # points after, if any
    wanted: int  # core pages that it matches
    junk: int  # junk pages that it matches
    other: int  # other pages that it matches
    sites: int  # sites of these pages
    folds: int  # folds that chose this change
    sentence: str  # everything as a sentence


class PickChangeRecord(OutputRecord):
    """`diff` of two files of picks: one page."""

    site: str  # host and port
    url: str  # the normalised URL
    change: str  # `entered`, `left` or `moved`
    reason: str  # ranks, scores, and why the other file lacks it


# --- plan ---


class PlanExplainRecord(OutputRecord):
    """`plan --explain`: one URL."""

    rank: int  # 1 for the best of all URLs
    url: str  # as given
    policy: str  # the recrawl policy
    score: Number  # 0 to 100
    level: str  # very high, high, medium, low or very low
    advice: str  # advice of the level
    reasons: list[str]  # why it has this score, as sentences
    points: list[Point]  # what each rule paid
    next_due: str | None  # when a visit is worth what the plan's last one is now
    where: str  # row of the input
    signals: dict[str, Any]  # what is known of it, by column
    rules: list[Point]  # every rule of the card; null points: not applied
    unknown: list[str]  # facts that rules needed and did not know


class PlanChangeRecord(OutputRecord):
    """`diff` of two plans: one change. `rule` is null for plans in CSV, which name no rules."""

    url: str  # as given
    change: str  # `entered`, `left` or `changed`
    rank: int | None  # rank now
    rank_before: int | None  # rank before
    score: Number | None  # score now
    score_before: Number | None  # score before
    reasons: list[str]  # their reasons, or another reason
    points: list[Point]  # rules whose points differ


class OutcomeRecord(OutputRecord):
    """`simulate recrawl`: one policy, or bound, in one world with one budget."""

    world: str  # name of the world
    budget: str  # fetches and their period
    policy: str  # the policy or bound
    is_reference: bool  # true for a bound
    freshness: float  # share of fresh copies, weighted by importance
    freshness_late: float  # the same in the second half
    of_best: float | None  # share of the best possible
    of_all_knowing: float | None  # share of the result with perfect knowledge
    mean_age_h: float | None  # mean hours that copies were outdated
    nothing_share: float | None  # share of fetches that found nothing new
    discovery_h: float | None  # hours until a new page is fetched
    fetches: int | None  # number of fetches
    days: list[float]  # freshness of the first five days
    curve: list[float]  # freshness of equal parts of the run
    hosts: dict[str, int]  # fetches by host


class ReplayRecord(OutputRecord):
    """`simulate crawl`: what one traversal finds among the pages that a store keeps."""

    traversal: str  # name of the traversal
    topic: str | None  # what it is about
    fetched: int  # fetched pages
    relevant: int  # fetched pages about the topic, without copies
    relevant_100: int  # the same among the first 100
    relevant_300: int  # the same among the first 300
    missing: int  # fetched pages that the store lacks, not in `relevant`


# --- tools ---


class ListedLinkRecord(OutputRecord):
    """`links`: one URL of a page. A link that is no URL comes last; its `url` is the href."""

    url: str  # the normalised URL
    request_url: str | None  # the URL as requested
    anchor_text: str | None  # the first text of the link
    title: str | None  # its first title attribute
    rel: str | None  # its first rel attribute, such as `nofollow`
    position: str | None  # `main`, `navigation` or `footer`
    context: str | None  # text around it
    occurrences: int | None  # how often the page links it
    verdict: str  # `inside`, `outside` or `skip`
    rule: str  # the rule that decided
    detail: str | None  # what the rule saw, such as the host
    positions: list[str]  # all its positions on the page, in order
    menus: list[str]  # labels of submenus that list it
    headings: list[str]  # headings of groups of cards that list it


class LinkScoreRecord(OutputRecord):
    """`score link`, `score links`: one link against a topic."""

    url: str  # the normalised URL
    anchor_text: str | None  # as given
    context: str | None  # as given
    relevance_score: Number  # 0 to 10
    relevance_level: str | None  # High (8 to 10), Medium (5 to 7), Low (3 and 4), Irrelevant
    action: str | None  # lane of `hybrid`: `deep`, `broad`, `tail`; `skip`: not followed
    position: str | None  # as given
    reasons: list[str]  # why it has this score, as sentences
    points: list[Point]  # what each rule paid
    unknown: list[str]  # facts that rules needed and did not know


class PageScoreRecord(OutputRecord):
    """`score page`: one page against a topic."""

    url: str  # the normalised URL
    title: str | None  # title of the page
    relevance_score: Number  # 0 to 10
    relevance_level: str | None  # High (8 to 10), Medium (5 to 7), Low (3 and 4), Irrelevant
    action: str | None  # what `hybrid` does with its links: `exhaust`, `expand` or `keep`
    reasons: list[str]  # why it has this score, as sentences
    points: list[Point]  # what each rule paid
    topic_relevance: Number | None  # 0 to 1; from 0.5 on, the page is about the topic
    topic_points: list[Point]  # what each rule paid to `topic_relevance`
    unknown: list[str]  # facts that rules needed and did not know


class UrlVerdictRecord(OutputRecord):
    """`url classify`: one link."""

    href: str  # as given
    url: str | None  # the normalised URL
    verdict: str  # `inside`, `outside` or `skip`
    rule: str  # the rule that decided
    id: str  # id of the requirement
    detail: str | None  # what the rule saw, such as the host


class UrlRecord(OutputRecord):
    """`url explain`: one URL."""

    text: str  # as given
    base: str | None  # `--base`
    url: str  # the normalised URL
    request_url: str  # the URL as requested
    key: str  # pages with equal keys are the same
    display: str  # the URL for people
    steps: list[UrlStep]  # what normalisation changed


class ProfileRecord(OutputRecord):
    """`profile list`: one profile."""

    name: str  # its name
    description: str  # what it is for
    strategies: list[str]  # names of its strategies
    hash: str  # hash of its content


class ProfileCheckRecord(OutputRecord):
    """`profile check`: one file."""

    file: str  # as given
    ok: bool  # it can be loaded
    name: str | None  # its name
    hash: str | None  # hash of its content
    replaced: list[str]  # cards and lists of its parent that it replaces as a whole
    problems: list[str]  # one sentence each
