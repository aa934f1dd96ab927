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
    detail: str | None  # what the rule saw: the host, the extension, the scheme


class SightingFields(TypedDict):
    """A remembered page that links the URL, or a sitemap that lists it."""

    parent: str | None  # the page
    anchor_text: str | None  # text of the link
    position: str | None  # where on the page it is
    lastmod: str | None  # what the sitemap says
    relevance_score: Number | None  # 0 to 10
    points: list[Point]  # what each rule paid to the score
    bonus: list[Point]  # what is paid to the priority alone
    lane: str | None  # the lane it queues in


class VisitFields(TypedDict):
    """A visit."""

    run: int  # number of the crawl
    at: str  # when
    status: int | None  # HTTP status


class HistoryFields(TypedDict):
    """What is remembered of a URL across crawls."""

    first_seen: str  # when it was first met
    seen_at: str | None  # the last visit that led to a page
    changed_at: str | None  # when its content changed, as far as visits tell
    changes: int  # visits that found it changed
    unchanged: int  # visits that found it unchanged
    failures: int  # failed visits in a row
    kind: str  # `page`, `hub` or another class
    rate: list[float] | None  # what is believed of its change rate
    found: list[float] | None  # the same of the new links that visits find
    lastmod: str | None  # what a sitemap says
    moved_to: str | None  # where it redirects to


class ExplainRecord(OutputRecord):
    """`explain`: what a crawl knows of a URL."""

    text: str  # as given
    url: str  # the spelling that the crawl has met, if it has
    request_url: str | None  # the URL as it is requested
    key: str  # pages with equal keys are the same
    steps: list[UrlStep]  # what normalisation changed
    read_as: str  # `text` as a normalised URL
    run: int  # number of the crawl
    command: str | None  # its command
    verdict: VerdictFields  # what scope says
    state: str | None  # `queued`, `leased`, `done` or `rejected`; null if it was not met
    relevance_score: Number | None  # of its best link, 0 to 10
    lane: str | None  # the lane it queues in
    priority: Number | None  # its priority there
    depth: int | None  # links from a seed
    parent: str | None  # the page whose link gave it its place
    seen: int  # how many pages link it
    sightings: list[SightingFields]  # the first pages that link it
    attempts: int  # failed attempts
    worth: list[str]  # what made its worth when it was claimed (TOPIC-4c)
    due_at: str | None  # not before this time
    rejected: Rejection | None  # why it was rejected, or has to wait
    page: PageRecord | None  # the record of its last visit
    visits: list[VisitFields]  # all visits
    read: PageRecord | None  # the last visit that read the page, if that is an earlier one
    history: HistoryFields | None  # what is remembered across crawls
    sentences: list[str]  # all of it for people


# --- pick ---


class EvalRecord(OutputRecord):
    """`eval`: one site. JSON lines end with a record of the run: `kind` is `total`, and it has the sums of all sites."""

    kind: str  # `site`
    site: str  # host and port
    verdict: str  # `ok`, `BAD`, or `BAD, no record`
    picks: int  # how many pages were picked, up to `--cap`
    core: int  # core pages among them
    good: int  # core or acceptable pages among them
    junk: int  # junk among them
    core_pages: int  # pages that the labels call core
    labels: list[str]  # the label of each pick, in order; `unlabelled` if there is none
    has_record: bool  # false if the picks have no record of the site


class PickExplainRecord(OutputRecord):
    """`explain --picks` and `select --explain`: what was decided about a URL among the links of a homepage."""

    text: str  # as given
    url: str  # the normalised URL
    site: str  # the site as given
    homepage: str | None  # URL of its homepage; null if it was not read
    strategy: str  # name of the strategy
    profile: str | None  # name of the profile
    rank: int | None  # 1 for the best of the selected; null if it is not selected
    rejected: Rejection | None  # why it was not selected
    replaced: ReplacedPage | None  # why it lost its place, and the page that took it
    replaces: list[str]  # pages whose place it took
    candidate: CandidateRecord | None  # what was decided about the link; null if there is none
    sentences: list[str]  # all of it for people


class LearnRecord(OutputRecord):
    """`learn`: one change of the profile that labels ask for."""

    kind: str  # `rule`: other points; `bucket` or `word`: a new rule; `drop`: a rule that is removed
    name: str  # the rule, bucket or word
    before: Number | None  # points before; null for a new or removed rule
    points: Number | None  # points after; null for a removed rule
    wanted: int  # core pages that the rule or word concerns
    junk: int  # junk pages that it concerns
    other: int  # other pages that it concerns
    sites: int  # sites of these pages
    folds: int  # of the folds of sites, how many chose a change of it
    sentence: str  # all of it, for people


class PickChangeRecord(OutputRecord):
    """`diff` of two files of picks: one page."""

    site: str  # host and port
    url: str  # the page
    change: str  # `entered`, `left` or `moved`
    reason: str  # ranks and scores, and what became of it in the file that does not have it


# --- plan ---


class PlanExplainRecord(OutputRecord):
    """`plan --explain`: one URL. `signals` has what is known of it, by column."""

    rank: int  # 1 for the best of all URLs
    url: str  # as given
    policy: str  # the recrawl policy
    score: Number  # 0 to 100
    level: str  # name of its level
    advice: str  # advice of the level
    reasons: list[str]  # why it has this score, for people
    points: list[Point]  # what each rule paid
    next_due: str | None  # as in the plan
    where: str  # the row of the input
    signals: dict[str, Any]  # what is known, by column
    rules: list[Point]  # every rule of the card; points are null if it did not pay
    unknown: list[str]  # facts that are not known


class PlanChangeRecord(OutputRecord):
    """`diff` of two plans: one change since the earlier one. Plans in CSV name no rules: there `rule` may be null."""

    url: str  # as given
    change: str  # `entered`, `left` or `changed`
    rank: int | None  # rank now
    rank_before: int | None  # rank before
    score: Number | None  # score now
    score_before: Number | None  # score before
    reasons: list[str]  # a sentence if points alone do not explain it; the reasons of the points
    points: list[Point]  # rules whose points differ; of a URL that entered, all that pay now


class OutcomeRecord(OutputRecord):
    """`simulate recrawl`: one policy, or bound, in one world with one budget."""

    world: str  # name of the world
    budget: str  # fetches in a time
    policy: str  # name of the policy or bound
    is_reference: bool  # true for a bound
    freshness: float  # share of pages, weighted by importance, whose copy matches the live page
    freshness_late: float  # the same in the second half
    of_best: float | None  # share of the best possible
    of_all_knowing: float | None  # share of what knowing every change would give
    mean_age_h: float | None  # hours that copies were out of date, on average
    nothing_share: float | None  # share of fetches that found nothing new
    discovery_h: float | None  # hours until a new page is fetched
    fetches: int | None  # how many fetches
    days: list[float]  # freshness of the first five days
    curve: list[float]  # freshness of equal parts of the run
    hosts: dict[str, int]  # fetches by host


class ReplayRecord(OutputRecord):
    """`simulate crawl`: what one traversal finds among the pages that a store keeps."""

    traversal: str  # name of the traversal
    topic: str | None  # what it looked for
    fetched: int  # pages that it went to
    relevant: int  # of these, pages about the topic, copies once
    relevant_100: int  # the same among the first 100
    relevant_300: int  # the same among the first 300
    missing: int  # of `fetched`, pages that the store does not keep: they count as not found


# --- tools ---


class ListedLinkRecord(OutputRecord):
    """`links`: one URL of a page; a link that is no URL comes last."""

    url: str  # the normalised URL, or the text of the href
    request_url: str | None  # the URL as it is requested
    anchor_text: str | None  # text of the first occurrence that has one
    title: str | None  # title attribute
    rel: str | None  # rel attribute
    position: str | None  # `main`, `navigation` or `footer`: the first of these where the page has the link
    context: str | None  # text around it
    occurrences: int | None  # how often the page links it
    verdict: str  # `inside`, `outside` or `skip`
    rule: str  # the rule that decided
    detail: str | None  # what the rule saw
    positions: list[str]  # all positions where the page has the link, in its order
    menus: list[str]  # labels of the submenus that list it
    headings: list[str]  # headings of the groups of cards that list it


class LinkScoreRecord(OutputRecord):
    """`score link`, `score links`: one link against a topic."""

    url: str  # the normalised URL
    anchor_text: str | None  # as given
    context: str | None  # as given
    relevance_score: Number  # 0 to 10
    relevance_level: str | None  # High (8 to 10), Medium (5 to 7), Low (3 and 4) or Irrelevant
    action: str | None  # what follows in traversal `hybrid`: `deep`, `broad`, `tail`, or `skip`: not followed
    position: str | None  # as given
    reasons: list[str]  # why it has this score, for people
    points: list[Point]  # what each rule paid
    unknown: list[str]  # facts that are not known


class PageScoreRecord(OutputRecord):
    """`score page`: one page against a topic."""

    url: str  # the normalised URL
    title: str | None  # title of the page
    relevance_score: Number  # 0 to 10
    relevance_level: str | None  # High (8 to 10), Medium (5 to 7), Low (3 and 4) or Irrelevant
    action: str | None  # what follows for its links in traversal `hybrid`: `exhaust`, `expand` or `keep`
    reasons: list[str]  # why it has this score, for people
    points: list[Point]  # what each rule paid
    topic_relevance: Number | None  # 0 to 1: whether it is about the topic; from 0.5 on it is
    topic_points: list[Point]  # what each rule paid for that
    unknown: list[str]  # facts that are not known


class UrlVerdictRecord(OutputRecord):
    """`url classify`: one link."""

    href: str  # as given
    url: str | None  # the normalised URL
    verdict: str  # `inside`, `outside` or `skip`
    rule: str  # the rule that decided
    id: str  # id of the requirement
    detail: str | None  # what the rule saw


class UrlRecord(OutputRecord):
    """`url explain`: one URL."""

    text: str  # as given
    base: str | None  # the page that it stands on
    url: str  # the normalised URL
    request_url: str  # the URL as it is requested
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
    ok: bool  # whether it can be loaded
    name: str | None  # its name
    hash: str | None  # hash of its content
    replaced: list[str]  # cards and lists of its parent that it replaces as a whole
    problems: list[str]  # one sentence each
