"""Pick: from the links of a page to the few that are worth a visit, each with its verdict or its reasons.

Owns: filters in order, scoring, drops, order, quotas, cap. Must not know: HTML, HTTP, which words are good.
Start reading at `select_links`. Everything it decides by is in the profile: filters, buckets and drops are rule lists,
scores are scorecards, the rest is numbers of a `Strategy`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from honeyguide.core.pick.location_pages import find_families, plain_words, similar, stories
from honeyguide.core.rules.bm25 import contextual
from honeyguide.core.rules.facts import Facts
from honeyguide.core.rules.language import fields_read, half_up, leaves
from honeyguide.core.url.scope import LinkKind, classify_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from honeyguide.core.page.page import Head, Link, Page
    from honeyguide.core.rules.language import Rule, Score
    from honeyguide.core.rules.profile import Profile, Strategy
    from honeyguide.core.text.pattern import Pattern
    from honeyguide.core.url.url import Tracking, Url


@dataclass(frozen=True, slots=True)
class Out:
    """Why a link is out: the rule's id, and the sentence for people; or only for want of a place, good as it is."""

    rule: str
    why: str
    for_place: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A link and everything that was decided about it. `rank` counts from 1 among the selected (PICK-20)."""

    link: Link
    out: Out | None = None
    category: str | None = None
    bucket: str | None = None
    score: Score | None = None
    parts: Mapping[str, Score] | None = None
    matched: tuple[str, ...] = ()
    selection_reason: str | None = None
    rank: int | None = None

    @property
    def url(self) -> Url:
        """The link's address."""
        return self.link.url

    @property
    def is_good(self) -> bool:
        """Whether it is worth a visit, with or without a place among the selected."""
        return self.out is None or self.out.for_place


@dataclass(frozen=True, slots=True)
class Selection:
    """What was picked, every candidate in document order, and how many went out by which rule."""

    strategy: str
    selected: tuple[Candidate, ...]
    candidates: tuple[Candidate, ...]
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a selection beside the profile: heads that were read, a cap, patterns of the user's.

    `page` is where the links stand, if that is known: its prose tells names from ordinary words. `unwanted` are links
    that were tried and turned out dead or empty, or could not be tried any more (PICK-21).
    """

    heads: Mapping[Url, Head] | None = None
    cap: int | None = None
    include: Pattern | None = None
    exclude: Pattern | None = None
    page: Page | None = None
    unwanted: Mapping[Url, Out] = field(default_factory=dict)


def select_links(
    links: Iterable[Link], page: Url, profile: Profile, strategy: str, request: Request | None = None
) -> Selection:
    """Choose among the links of a page.

    Pure: the same links in any order give the same choice.
    """
    request = request or Request()
    plan = profile.strategies[strategy]
    listed = sorted(links, key=lambda link: (link.order, link.url.text))
    sifted = sift(listed, page, profile, plan, request)
    judged = [_tried(judge(candidate, profile, plan, request.heads or {}), request) for candidate in sifted]
    key = _order(profile, plan)
    places = sorted(range(len(judged)), key=lambda place: key(judged[place]))
    ranked = _take(
        [judged[place] for place in places], plan, plan.cap if request.cap is None else request.cap
    )
    selected = tuple(candidate for candidate in ranked if candidate.rank is not None)
    candidates = tuple(
        candidate for _, candidate in sorted(zip(places, ranked, strict=True), key=lambda pair: pair[0])
    )
    return Selection(strategy, selected, candidates, _counts(candidates, profile, plan))


def goes_by_query(profile: Profile, strategy: str) -> bool:
    """Say whether a strategy's choice depends on the query: whether it reads what the query is found in."""
    plan = profile.strategies[strategy]
    rules = (*profile.kinds_of(plan).rules.rules, *plan.drops.rules)
    read = {leaf.field for rule in rules for leaf in leaves(rule.when)}
    return "contextual" in read.union(*(fields_read(profile.cards[card].card) for card in plan.cards))


# --- filters ----------------------------------------------------------------------------------------------------


def sift(
    links: Sequence[Link], page: Url, profile: Profile, plan: Strategy, request: Request
) -> list[Candidate]:
    """Put out what no score can bring back (PICK-1, PICK-2, PICK-10), keeping the rest as open candidates."""
    inside = [link for link in links if classify_url(link.url, page, profile.scope).kind is LinkKind.INSIDE]
    merged = merge_by_key(inside, profile)
    families = find_families(list(merged.values()), profile.families, request.page)
    sieve = Sieve(page, profile, plan, request, merged, families)
    return [sieve.sifted(link) for link in links]


def merge_by_key(links: Iterable[Link], profile: Profile) -> dict[str, Link]:
    """Join links with one key: the first stands for all, speaks https if any does (URL-7), has all occurrences."""
    merged: dict[str, Link] = {}
    for link in links:
        key = link.url.key(profile.scope.tracking)
        first = merged.get(key)
        merged[key] = link if first is None else first.joined(link)
    return merged


@dataclass(frozen=True, slots=True)
class Sieve:
    """Everything that decides whether a link is a candidate."""

    page: Url
    profile: Profile
    plan: Strategy
    request: Request
    merged: Mapping[str, Link]
    families: Mapping[Url, str]

    def sifted(self, link: Link) -> Candidate:
        """Put a link out, or open it as a candidate with all occurrences of its key."""
        scope = self.profile.scope
        verdict = classify_url(link.url, self.page, scope)
        if verdict.kind is not LinkKind.INSIDE:
            why = f"{verdict.id}: {verdict.rule.replace('-', ' ')} {verdict.detail}"
            return Candidate(link, out=Out(verdict.rule, why.strip()))
        whole = self.merged[link.url.key(scope.tracking)]
        stands_for_all = (
            link.order == whole.order and link.occurrences == whole.occurrences[: len(link.occurrences)]
        )
        family = stories(self.families, whole, self.profile.families)
        from_home = path_from_home(whole.url, self.page, scope.tracking)
        facts = Facts(whole, is_duplicate=not stands_for_all, family=family, home_path=from_home)
        rule = self.profile.filters.first(facts) or self.plan.filters.first(facts)
        if rule is not None:
            return Candidate(link, out=out_of(rule, facts))
        return Candidate(whole, out=_asked_out(str(facts["url"]), self.request))


def path_from_home(url: Url, home: Url, tracking: Tracking) -> str:
    """Give path and query, tracking parameters gone; what lies in the homepage's folder is seen from there.

    >>> from honeyguide.core.url.url import Tracking, Url
    >>> home, tracking = Url.parse("https://a.example/en/"), Tracking(("utm_*",))
    >>> [path_from_home(Url.parse(f"https://a.example{path}"), home, tracking)
    ...     for path in ("/en?utm_source=x", "/en/Index.html", "/?page_id=2")]
    ['/', '/index.html', '/?page_id=2']
    """
    key = url.key(tracking)
    target = key[key.index("/") :].lower()
    folder = (home.path.rpartition("/")[0] if "." in home.path.rpartition("/")[2] else home.path).lower()
    if (
        folder != "/"
        and target.startswith(folder)
        and target[len(folder) : len(folder) + 1] in ("", "/", "?")
    ):
        target = target[len(folder) :]
    return target if target.startswith("/") else f"/{target}"


def out_of(rule: Rule, facts: Facts) -> Out:
    """Say which rule put a link out, and show the fact that it names."""
    return Out(rule.id, rule.reason if rule.show is None else f"{rule.reason}: {facts[rule.show]}")


def _asked_out(url: str, request: Request) -> Out | None:
    if request.include is not None and not request.include.search(url):
        return Out("include", f"URL does not match --include {request.include.source}")
    if request.exclude is not None and request.exclude.search(url):
        return Out("exclude", f"URL matches --exclude {request.exclude.source}")
    return None


# --- scores and drops -------------------------------------------------------------------------------------------


def judge(candidate: Candidate, profile: Profile, plan: Strategy, heads: Mapping[Url, Head]) -> Candidate:
    """Score an open candidate, and drop it where the strategy says so."""
    if candidate.out is not None:
        return candidate
    facts = Facts(candidate.link, heads.get(candidate.url))
    context = contextual(profile.query, _texts(facts))
    facts["contextual"] = context.score.value
    bucket = profile.kinds_of(plan).rules.first(facts)
    facts["bucket"] = bucket.id if bucket else None
    parts = {"contextual": context.score, **profile.scores(plan.cards, facts)}
    dropped = plan.drops.first(facts)
    score = parts[plan.card]
    return replace(
        candidate,
        out=out_of(dropped, facts) if dropped else None,
        category=_category(profile, plan, score),
        bucket=bucket.id if bucket else None,
        score=score,
        parts=parts,
        matched=context.matched,
        selection_reason=_selection_reason(bucket.id if bucket else "other", parts.values()),
    )


def _tried(candidate: Candidate, request: Request) -> Candidate:
    """Put out what is known to be no good, with all that was decided about it before."""
    out = request.unwanted.get(candidate.url)
    return candidate if candidate.out is not None or out is None else replace(candidate, out=out)


def _texts(facts: Facts) -> Callable[[str], str | None]:
    """Read the texts that the query is matched against when they are asked for."""

    def text(name: str) -> str | None:
        value = facts[name]
        return value if isinstance(value, str) else None

    return text


def _category(profile: Profile, plan: Strategy, score: Score) -> str | None:
    """Name the rule that paid in a card that starts with categories (PICK-3): A, B, C, U, T, D."""
    first = profile.cards[plan.card].card.groups[0]
    ids = {rule.id for rule in first.rules} if first.name == "category" else set()
    return next((reason.rule for reason in score.reasons if reason.rule in ids), None)


def _selection_reason(bucket: str, scores: Iterable[Score]) -> str:
    tags = dict.fromkeys(reason.tag for score in scores for reason in score.reasons if reason.tag)
    return f"{bucket}-{'+'.join(tags)}" if tags else bucket


# --- order and cap ----------------------------------------------------------------------------------------------


def _order(profile: Profile, plan: Strategy) -> Sorter:
    """Make the sort key of a strategy; what is out comes last."""
    buckets = profile.kinds_of(plan).buckets

    def steps(candidate: Candidate) -> float:
        value = candidate.score.value if candidate.score else 0.0
        bucket = buckets.get(candidate.bucket or "")
        value -= bucket.handicap if bucket and "bucket" in plan.order else 0.0
        return half_up(value / plan.epsilon) if plan.epsilon else value

    def priority(candidate: Candidate) -> float:
        bucket = buckets.get(candidate.bucket or "")
        return float(bucket.priority) if bucket else 0.0

    keys: Mapping[str, Callable[[Candidate], float | str]] = {
        "score": lambda c: -steps(c),
        "bucket": priority,
        "path_length": lambda c: len(c.url.segments),
        "document": lambda c: c.link.order,
        "url": lambda c: c.url.text,
    }
    chosen = [keys[name] for name in (*plan.order, "url")]
    return lambda candidate: (candidate.out is not None, *(key(candidate) for key in chosen))


def _take(ordered: list[Candidate], plan: Strategy, cap: int) -> list[Candidate]:
    """Take from the top, within quotas and cap; what is left says why it was left."""
    taken: Counter[str] = Counter()
    slugs: dict[str, list[str]] = {}
    result = []
    for candidate in ordered:
        bucket = candidate.bucket or ""
        if candidate.out is not None:
            result.append(candidate)
        elif (twin := _twin(candidate, slugs, plan.distinct)) is not None:
            result.append(_left(candidate, "near-duplicate", f"says nearly the same as {twin}"))
        elif bucket in plan.quotas and taken[bucket] >= plan.quotas[bucket]:
            result.append(_left(candidate, f"{bucket}-quota", f"at most {plan.quotas[bucket]} {bucket} page"))
        elif taken.total() >= cap:
            result.append(_left(candidate, "cap", _full(cap)))
        else:
            taken[bucket] += 1
            if not candidate.url.query:
                slugs[candidate.url.path] = plain_words(candidate.url.path)
            result.append(replace(candidate, rank=taken.total()))
    return result


def _left(candidate: Candidate, rule: str, why: str) -> Candidate:
    """Leave a candidate for which there is no place."""
    return replace(candidate, out=Out(rule, why, for_place=True))


def _full(cap: int) -> str:
    return "1 page before it was taken" if cap == 1 else f"{cap} pages before it were taken"


def _twin(candidate: Candidate, slugs: Mapping[str, list[str]], distinct: float) -> str | None:
    """Find a page among the taken ones whose path is made of nearly the same words."""
    if distinct >= 1 or candidate.url.query:  # what a page with a query shows is not in its path
        return None
    words = plain_words(candidate.url.path)
    return next((path for path, taken in slugs.items() if similar(words, taken) >= distinct), None)


def _counts(candidates: Sequence[Candidate], profile: Profile, plan: Strategy) -> dict[str, int]:
    """Count what PICK-20 asks for; a rule of the profile that put nothing out says so."""
    rules = (*profile.filters.rules, *plan.filters.rules, *plan.drops.rules)
    names = (*(rule.id for rule in rules), *(f"{bucket}-quota" for bucket in plan.quotas), "cap", "replaced")
    outs = Counter(dict.fromkeys(names, 0))
    outs.update(candidate.out.rule for candidate in candidates if candidate.out is not None)
    scored = [candidate for candidate in candidates if candidate.score is not None]
    return {
        "links": len(candidates),
        "candidates": len(scored),
        "above_threshold": sum(c.is_good for c in scored),
        "selected": sum(c.rank is not None for c in scored),
        **{f"out_{rule.replace('-', '_')}": count for rule, count in sorted(outs.items())},
    }


if TYPE_CHECKING:
    Sorter = Callable[[Candidate], tuple[bool | float | str, ...]]
