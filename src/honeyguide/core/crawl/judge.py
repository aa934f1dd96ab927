"""What a fetched page means for the crawl: its score, what happens to its branch, and what becomes of each link.

Owns: `judge_page`, from a parsed page to `Findings`. Must not know: the queue, the store, fetching.
Start reading at `judge_page`; the order of decisions about a link is `_Judge._meet_first`.

A link that is known and settled costs no more than a look-up: it is counted, not scored.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.crawl.frontier import Discovered, Sighting, State, digest_of, too_deep
from honeyguide.core.crawl.learner import UNIT, base_of, group_of, points_of, prior_chance
from honeyguide.core.crawl.placement import (
    Placement,
    band_of,
    branch_action,
    calculate_priority,
    is_better,
    place,
    rank_by_units,
    rank_of,
)
from honeyguide.core.crawl.traps import soft_404
from honeyguide.core.page.page import Link, Occurrence, Position
from honeyguide.core.rules.facts import Facts
from honeyguide.core.rules.topic import TopicPage
from honeyguide.core.text.fold import fold
from honeyguide.core.text.pattern import rejected_by_patterns
from honeyguide.core.url.scope import OTHER_SITE, LinkKind, classify_url
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.errors import AddressRefusedError, AskedToWaitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from honeyguide.core.crawl.frontier import KnownState, Lease
    from honeyguide.core.crawl.traps import Traps
    from honeyguide.core.page.page import Page
    from honeyguide.core.rules.language import Score
    from honeyguide.core.rules.profile import LearnerRules, Profile, Traversal
    from honeyguide.core.text.pattern import Pattern


_MEMO = 50_000  # URLs whose identity is remembered between pages: menus repeat on each
_MAX_ANCHOR = 200  # characters of an anchor that a sighting keeps
_SEED = Placement("seed", 0, ())
_ROBOTS_TAGS = frozenset({"noindex", "nofollow"})
_UNEXPANDED = {"TRAP-8": "soft-404", "TRAP-9": "duplicate", "nofollow": "nofollow"}


@dataclass(frozen=True, slots=True)
class CrawlContext:
    """What one crawl judges by; the same for every page."""

    profile: Profile
    traversal: Traversal
    traps: Traps
    include: tuple[Pattern, ...] = ()
    exclude: tuple[Pattern, ...] = ()
    max_depth: int | None = None
    follow_external: bool = False
    score_all: bool = False
    respects_robots_tags: bool = False  # meta robots, X-Robots-Tag and rel=nofollow
    memo: dict[str, int] = field(default_factory=dict)

    @property
    def has_topic(self) -> bool:
        """Whether there is something to score; traversals that go by score need it."""
        return self.profile.topic.pattern is not None or self.traversal.order == "score"

    def digest(self, url: Url) -> int:
        """Give the identity of a URL, from memory if it was met lately."""
        known = self.memo.get(url.text)
        if known is None:
            if len(self.memo) >= _MEMO:
                self.memo.clear()
            known = self.memo[url.text] = digest_of(url, self.profile.scope.tracking)
        return known


@dataclass(slots=True)
class Findings:
    """What a page revealed: links that are new, better placed than before, seen by yet another page, only counted.

    `skipped` counts what is no page (URL-9), and pages that are not expanded (TRAP-8, TRAP-9), by rule. `scored` has all links, where that was asked for.
    """

    new: list[Discovered] = field(default_factory=list)
    better: list[Discovered] = field(default_factory=list)
    sightings: list[tuple[int, Sighting]] = field(default_factory=list)
    again: list[int] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    scored: list[tuple[Link, Score]] = field(default_factory=list)


class PageJudgement(NamedTuple):
    """The page's score, what happens to its branch, and why if that is not the score's doing; `topic` reads it for the topic."""

    score: Score | None
    action: str
    why: Why | None
    findings: Findings
    topic: TopicPage | None = None


def candidates_of(page: Page, ground: CrawlContext) -> dict[int, Link]:
    """Give the links of a page by their identities, each once, in document order; https stands for both (URL-7)."""
    digest = ground.digest
    found: dict[int, Link] = {}
    for link in page.links:
        number = digest(link.url)
        first = found.setdefault(number, link)
        if first is not link:
            found[number] = first.joined(link)
    for rel, text in page.turns:  # of a list whose pages scripts turn, nothing else may lead on
        url = Url.parse(text)
        turn = Link(url, (Occurrence(rel=rel, position=Position.NAVIGATION),), len(page.links))
        found.setdefault(digest(url), turn)
    canonical = Url.parse(page.canonical) if page.canonical else page.url
    if canonical.site == page.url.site and (number := digest(canonical)) != digest(page.url):
        # The page itself under its proper address: last, because it says nothing new.
        occurrence = Occurrence(rel="canonical", position=Position.SITEMAP)
        found.setdefault(number, Link(canonical, (occurrence,), len(page.links)))
    return found


def robots_tags(page: Page, header: str | None) -> frozenset[str]:
    """Read what a page asks of robots, in its meta element and in X-Robots-Tag; what is for one robot by name is not for us.

    >>> from honeyguide.core.page.page import Page
    >>> sorted(robots_tags(Page(Url.parse("https://a.example/"), robots="None"), "otherbot: noarchive"))
    ['nofollow', 'noindex']
    """
    tags = {tag.strip() for tag in f"{page.robots},{header or ''}".lower().split(",")}
    return frozenset(tags & _ROBOTS_TAGS | (_ROBOTS_TAGS if "none" in tags else frozenset()))


def judge_page(
    page: Page, lease: Lease, candidates: Mapping[int, Link], around: Around, ground: CrawlContext
) -> PageJudgement:
    """Judge a page and all its links; `around` is what the store knows of them."""
    topic = TopicPage(page, ground.profile) if ground.has_topic else None
    score = None if topic is None else topic.score()
    findings = Findings()
    findings.skipped.update(rule for _, rule in page.skipped)
    why = soft_404(page, ground.profile.traps) or _copy(around.copy_of)
    if around.is_nofollow:
        why = Why("nofollow", "asks robots not to follow its links")
    if why is not None and (around.is_nofollow or not lease.is_seed):
        findings.skipped[why.rule] += 1
        return PageJudgement(score, _UNEXPANDED[why.rule], why, findings, topic)
    parent_score = _branch_score(score, lease, ground.traversal)
    hub_depth = 0 if around.is_hub else lease.hub_depth
    outside = _outside(page, candidates, around, ground)
    scores: dict[int, Score] = {}
    if topic is not None:
        open_ = [digest for digest in candidates if _needs_score(digest, outside, around, ground)]
        links = [candidates[digest] for digest in open_]
        scores = dict(zip(open_, topic.link_scores(links), strict=True))
    judge = _Judge(page, lease, around, ground, findings, parent_score, hub_depth, outside, scores)
    for digest, link in candidates.items():
        judge.meet(link, digest)
    return PageJudgement(score, _action(judge, ground.traversal), None, findings, topic)


def _outside(
    page: Page, candidates: Mapping[int, Link], around: Around, ground: CrawlContext
) -> dict[int, Why]:
    """Say which new links are out of scope, and why: their addresses tell, so they need no score."""
    known = around.known
    found = (
        (digest, _out_of_scope(link, page, around, ground))
        for digest, link in candidates.items()
        if digest not in known
    )
    return {digest: why for digest, why in found if why is not None}


def _out_of_scope(link: Link, page: Page, around: Around, ground: CrawlContext) -> Why | None:
    scope = ground.profile.scope
    verdict = classify_url(link.url, page.url, scope)
    if verdict.kind is LinkKind.SKIP:
        return Why(verdict.rule, verdict.detail)
    area = scope.area(link.url.site)
    return None if area in around.sites or ground.follow_external else Why(OTHER_SITE, area)


def _needs_score(digest: int, outside: Mapping[int, Why], around: Around, ground: CrawlContext) -> bool:
    """Tell whether something is left to decide about a link, or all are to be scored."""
    if ground.score_all:
        return True
    standing = around.known.get(digest)
    return digest not in outside if standing is None else not _is_over(standing, ground)


def _is_over(standing: KnownState, ground: CrawlContext) -> bool:
    """Tell whether a link is settled and enough pages are known that link it."""
    return standing.seen >= ground.profile.crawl.sightings and standing.is_settled


def _branch_score(score: Score | None, lease: Lease, traversal: Traversal) -> float | None:
    """Give what the links of a page go by; None always expands, without a bonus: a seed that says little (TOPIC-4)."""
    if score is None:
        return None
    is_weak = band_of(score.value, traversal.pages) is traversal.pages[-1]
    return None if lease.is_seed and is_weak else score.value


class Around(NamedTuple):
    """What matters for one page besides itself: its links in the store, the sites of the crawl, a page that says the same.

    `sites` are hosts, or with a wider scope what hosts have in common (`Scope.area`).
    `is_hub` says that its links are near to a hub, which they are by being on it; `is_nofollow` that they are not followed.
    """

    known: Mapping[int, KnownState]
    sites: frozenset[str]
    copy_of: str | None = None
    is_hub: bool = False
    is_nofollow: bool = False


def seeds_of(urls: Iterable[Url], ground: CrawlContext) -> list[Discovered]:
    """Give the seeds as the frontier takes them in: before everything else, in their order, each once."""
    found: dict[int, Discovered] = {}
    for url in urls:
        digest = ground.digest(url)
        found.setdefault(
            digest, Discovered(url, digest, url.site, rank_of(_SEED, 0), "seed", 0.0, None, 0, is_seed=True)
        )
    return list(found.values())


def seeds_again(
    seeds: Iterable[Discovered], known: Mapping[int, KnownState]
) -> tuple[list[Discovered], set[str]]:
    """Give the seeds that were not fetched, to be tried again at once: whoever gives the same command asks for them.

    Also gives the sites whose pause is over with it: those that never answered; one that asked for a pause has it. What waits to be tried again need not wait, and what was refused for its address may be allowed by now. What failed
    for good is tried again only if no seed was fetched, so that there is nothing else to do.
    """
    met = [(seed, known[seed.digest]) for seed in seeds if seed.digest in known]
    is_empty = all(standing.state != State.DONE for _, standing in met)
    waiting = {State.QUEUED, *([State.REJECTED] if is_empty else [])}
    again = [
        (seed, standing.rule)
        for seed, standing in met
        if standing.rule == AddressRefusedError.rule
        or (standing.rule is not None and standing.state in waiting)
    ]
    had = {seed.url.site for seed, standing in met if standing.state == State.DONE}
    paused = {
        seed.url.site for seed, rule in again if rule.startswith("http-") or rule == AskedToWaitError.rule
    }
    return [seed for seed, _ in again], {seed.url.site for seed, _ in again} - had - paused


@dataclass(frozen=True, slots=True)
class _Judge:
    page: Page
    lease: Lease
    around: Around
    ground: CrawlContext
    findings: Findings
    parent_score: float | None
    hub_depth: int
    outside: Mapping[int, Why]  # why new links are out of scope, by their identity
    scores: Mapping[int, Score]  # by the identity of the link; none without a topic
    memo: dict[float | None, tuple[Placement, int, Why | None]] = field(default_factory=dict)

    def meet(self, link: Link, digest: int) -> None:
        """Decide about a link, unless nothing is left to decide."""
        standing = self.around.known.get(digest)
        ground, findings = self.ground, self.findings
        if ground.score_all and digest in self.scores:
            findings.scored.append((link, self.scores[digest]))
        if standing is None:
            findings.new.append(self._meet_first(link, digest))
        elif _is_over(standing, ground):
            if not self.lease.is_recrawl:
                findings.again.append(digest)
        else:
            self._meet_again(link, digest, standing)

    def _meet_again(self, link: Link, digest: int, standing: KnownState) -> None:
        """See whether new evidence helps a link (TOPIC-4b), and remember who linked it, up to a few.

        What is known and not settled has passed everything that a URL alone can fail.
        """
        findings = self.findings
        score = self.scores.get(digest)
        placement, rank, out = self._place(score)
        depth = min(self.lease.depth + 1, standing.depth)
        if out is not None and out.rule == "max-depth":  # along this way; another may be shorter
            out = too_deep(depth, self.ground.max_depth)
        if out is None and not standing.is_settled:
            is_up = standing.state == State.REJECTED or is_better(rank, standing.rank, self.ground.traversal)
            is_secure = not standing.is_https and link.url.scheme == "https"  # URL-7
            if is_up or is_secure or depth < standing.depth:
                placed = self._placed(link, digest, score, rank if is_up else standing.rank)
                findings.better.append(placed._replace(depth=depth, out=None))
                return
        if self.lease.is_recrawl:
            return  # this page was counted when it was first read
        if standing.seen < self.ground.profile.crawl.sightings:
            findings.sightings.append((digest, _sighting(link, score, placement)))
        else:
            findings.again.append(digest)

    def _meet_first(self, link: Link, digest: int) -> Discovered:
        """Place a new link, or say why it is out: scope, skip rules, patterns, traps, traversal and depth, in this order."""
        out = self.outside.get(digest) or self._unwanted(link) or self.ground.traps.admit(link.url)
        if isinstance(out, Why):
            site = None if out.rule == OTHER_SITE else link.url.site
            sighting = Sighting(link.anchor[:_MAX_ANCHOR], link.position.value, None, "", "")
            return Discovered(
                link.url, digest, site, 0, "", 0.0, None, self.lease.depth + 1,
                hub_depth=self.hub_depth + 1, out=out, sighting=sighting,
            )  # fmt: skip
        score = self.scores.get(digest)
        placed = self._placed(link, digest, score, self._place(score)[1])
        return placed._replace(limited=out) if out else placed

    def _placed(self, link: Link, digest: int, score: Score | None, rank: int) -> Discovered:
        site = link.url.site
        is_external = self.ground.profile.scope.area(site) not in self.around.sites
        placement, _, out = self._place(score)
        group = None
        if score is not None and self.ground.traversal.learner is not None:
            group = group_of(link, score, self.page.url)
        return Discovered(
            link.url, digest, site, rank, placement.lane, placement.priority, None if score is None else score.value,
            self.lease.depth + 1, placement.weak_pages, self.hub_depth + 1, out,
            _sighting(link, score, placement), is_external=is_external, group=group,
        )  # fmt: skip

    def _held_back(self, placement: Placement) -> Why | None:
        """Say why a link is not followed for now: by the traversal, or for its depth."""
        if not placement.is_followed:
            return Why(placement.reasons[-1].rule, placement.reasons[-1].text)
        return too_deep(self.lease.depth + 1, self.ground.max_depth)

    def _place(self, score: Score | None) -> tuple[Placement, int, Why | None]:
        """Place a link by its score, with its rank and why it is held back; all of a page's links of one score go alike."""
        traversal = self.ground.traversal
        value = None if score is None else points_of(score) if traversal.learner else score.value
        known = self.memo.get(value)
        if known is None:
            if value is None:
                placement = Placement(traversal.links[0].lane, 0, ())
            elif traversal.learner:
                return self._value(value, traversal.learner)
            else:
                placement = place(value, self.parent_score, traversal, self.lease.weak_pages)
            rank = rank_of(placement, self.lease.claim, traversal.order) if placement.is_followed else 0
            known = self.memo[value] = placement, rank, self._held_back(placement)
        return known

    def _value(self, points: float, rules: LearnerRules) -> tuple[Placement, int, Why | None]:
        """Place a link of so many points by the chance that they alone give it (TOPIC-4c)."""
        paid = calculate_priority(points, self.parent_score, self.ground.traversal)
        base = base_of(paid.value, rules)
        placement = Placement("worth", prior_chance(base) / UNIT, paid.reasons)
        known = self.memo[points] = placement, rank_by_units(base), self._held_back(placement)
        return known

    def _unwanted(self, link: Link) -> Why | None:
        ground = self.ground
        skip = ground.traversal.skips.first(Facts(link))  # TOPIC-6
        if skip is not None:
            return Why(skip.id, skip.reason)
        if ground.respects_robots_tags and all("nofollow" in one.rel.lower() for one in link.occurrences):
            return Why("nofollow", "its page asks robots not to follow it")
        if not ground.include and not ground.exclude:
            return None
        return rejected_by_patterns(fold(link.url.text), ground.include, ground.exclude)


def _sighting(link: Link, score: Score | None, placement: Placement) -> Sighting:
    points = (
        "" if score is None else ",".join([f"{reason.rule}:{reason.points:g}" for reason in score.reasons])
    )
    extra = [f"{reason.rule}:{reason.points:g}" for reason in placement.reasons[1:]]
    told = ",".join([points, *extra]) if extra else points
    value = None if score is None else score.value
    return Sighting(link.anchor[:_MAX_ANCHOR], link.position.value, value, told, placement.lane)


def _copy(url: str | None) -> Why | None:
    return None if url is None else Why("TRAP-9", f"says what {url} says")


def _action(judge: _Judge, traversal: Traversal) -> str:
    """Name what happens to a page's branch (TOPIC-4)."""
    if judge.lease.is_seed:
        return "seed"
    if judge.parent_score is None:
        return "expand"
    return branch_action(judge.parent_score, traversal, judge.lease.weak_pages)
