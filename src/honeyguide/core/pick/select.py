"""Selection: the few links of a page that are worth a visit; each candidate has its score or the rule that rejected it.

All criteria are in the profile: filters, buckets and drops are rule lists, scores are scorecards, the rest is numbers of
a `Strategy`. Start reading at `select_links`. Must not know: HTML, HTTP, which words are good.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.page.page import Link
from honeyguide.core.pick.groups import NO_GROUPS, describe_groups
from honeyguide.core.pick.location_pages import describe_family, find_families
from honeyguide.core.pick.places import take
from honeyguide.core.pick.wishes import NEVER
from honeyguide.core.rules.bm25 import contextual
from honeyguide.core.rules.facts import Facts
from honeyguide.core.rules.language import Reason, Score, half_up, words_found
from honeyguide.core.rules.together import answer_together
from honeyguide.core.text.pattern import rejected_by_patterns
from honeyguide.core.text.printable import html_table
from honeyguide.core.url.scope import LinkKind, classify_url
from honeyguide.core.why import Why

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from honeyguide.core.page.page import Head, Page
    from honeyguide.core.pick.groups import GroupFacts
    from honeyguide.core.rules.bm25 import Query
    from honeyguide.core.rules.compile import CompiledCard, RuleList
    from honeyguide.core.rules.facts import Value
    from honeyguide.core.rules.language import Rule
    from honeyguide.core.rules.profile import Profile, Strategy
    from honeyguide.core.text.pattern import Pattern
    from honeyguide.core.url.scope import Verdict
    from honeyguide.core.url.url import Tracking, Url


_NAMED_WORDS = 5  # in a reason: more would be a list


class Candidate(NamedTuple):
    """A link and everything that was decided about it. `rank` counts from 1 among the selected (PICK-20)."""

    link: Link
    rejected: Why | None = None
    is_surplus: bool = False  # good, but others fill the cap or its quota, or say nearly the same
    category: str | None = None
    bucket: str | None = None
    score: Score | None = None
    parts: Mapping[str, Score] | None = None
    matched: tuple[str, ...] = ()
    selection_reason: str | None = None
    rank: int | None = None
    head: Head | None = None  # of the linked page, if it was read (PICK-11)
    groups: Mapping[str, Value] | None = None  # facts about the menus and cards that list it
    facts: Facts | None = None  # of the link, until it is scored
    wish: str | None = None  # what the user wants that it is

    @property
    def url(self) -> Url:
        """The link's address."""
        return self.link.url

    @property
    def is_good(self) -> bool:
        """Whether the page is worth a visit, selected or surplus."""
        return self.rejected is None or self.is_surplus


@dataclass(frozen=True, slots=True)
class Selection:
    """The selected, every candidate in document order, and how many each rule rejected."""

    strategy: str
    selected: tuple[Candidate, ...]
    candidates: tuple[Candidate, ...]
    counts: Mapping[str, int]

    def _repr_html_(self) -> str:
        rows = [
            (
                c.rank,
                c.url,
                c.bucket,
                c.link.anchor,
                c.score,
                "; ".join(c.score.words if c.score is not None else ()),
            )
            for c in self.selected
        ]
        caption = f"{self.strategy}: {len(self.selected)} of {len(self.candidates)} links"
        return html_table(("#", "URL", "Bucket", "Link", "Score", "Reasons"), rows, caption)


@dataclass(frozen=True, slots=True)
class SelectionOptions:
    """What a selection depends on beside the profile: heads of linked pages, a cap, the user's patterns."""

    heads: Mapping[Url, Head] | None = None
    cap: int | None = None
    include: tuple[Pattern, ...] = ()
    exclude: tuple[Pattern, ...] = ()
    page: Page | None = None  # of the links, if known: its prose tells names from ordinary words


def select_links(
    links: Iterable[Link], page: Url, profile: Profile, strategy: str, options: SelectionOptions | None = None
) -> Selection:
    """Choose among the links of a page; the order of `links` does not matter."""
    options = options or SelectionOptions()
    candidates = filter_links(links, page, profile, strategy, options)
    return rank(
        score_candidates(candidates, profile, strategy, options.heads), profile, strategy, options.cap
    )


def uses_query(profile: Profile, strategy: str) -> bool:
    """Tell whether a strategy's rules read the score of the query."""
    plan = profile.strategies[strategy]
    readers: tuple[RuleList | CompiledCard, ...] = (
        profile.kinds_of(plan).rules,
        plan.drops,
        *(profile.cards[card] for card in plan.cards),
    )
    return any("contextual" in reader.fields for reader in readers)


def filter_links(
    links: Iterable[Link], page: Url, profile: Profile, strategy: str, options: SelectionOptions
) -> list[Candidate]:
    """Reject links by scope, filters and patterns (PICK-1, PICK-2, PICK-10); the others are open candidates."""
    links = sorted(links, key=lambda link: (link.order, link.url.text))
    verdicts = [classify_url(link.url, page, profile.scope) for link in links]
    inside = [link for link, verdict in zip(links, verdicts, strict=True) if verdict.kind is LinkKind.INSIDE]
    merged = merge_by_key(inside, profile, page)
    families = find_families(list(merged.values()), profile.families, options.page)
    scope, plan = profile.scope, profile.strategies[strategy]
    home_paths = HomePaths(page)
    known = {link.url: Facts(link, home_path=home_paths.of(link.url, key)) for key, link in merged.items()}
    kinds = profile.kinds_of(plan).rules
    answer_together(list(known.values()), (profile.filters, plan.filters, kinds))
    groups = _groups(merged.values(), known, profile, plan) if plan.headings.rules else {}
    first = {link.url: link for link in reversed(inside)}

    def candidate(link: Link, verdict: Verdict) -> Candidate:
        if verdict.kind is not LinkKind.INSIDE:
            text = f"{verdict.id}: {verdict.rule.replace('-', ' ')} {verdict.detail}"
            return Candidate(link, Why(verdict.rule, text.strip()))
        whole = merged[scope.key(link.url)]  # with all occurrences of its key
        facts = known[whole.url]
        facts["is_duplicate"] = link is not first[whole.url]
        facts["family"] = describe_family(families, whole, profile.families)
        facts.update(listed := groups.get(whole.url, NO_GROUPS))
        rule = profile.filters.first(facts) or plan.filters.first(facts)
        if rule is not None:
            return Candidate(link, _why(rule, facts))
        rejected = rejected_by_patterns(str(facts["url"]), options.include, options.exclude)
        return Candidate(whole, rejected, groups=listed if plan.headings.rules else None, facts=facts)

    return [candidate(link, verdict) for link, verdict in zip(links, verdicts, strict=True)]


def _groups(
    links: Iterable[Link], known: Mapping[Url, Facts], profile: Profile, plan: Strategy
) -> dict[Url, GroupFacts]:
    """Describe how the page groups its links, except those that a filter of the profile rejects whatever the group."""
    kinds = profile.kinds_of(plan).rules

    def bucket_of(link: Link) -> str | None:
        rule = kinds.first(known[link.url])
        return rule.id if rule else None

    open_ = [link for link in links if profile.filters.first(known[link.url]) is None]
    return describe_groups(open_, plan, bucket_of)


def merge_by_key(links: Iterable[Link], profile: Profile, home: Url | None = None) -> dict[str, Link]:
    """Join links with the same key (URL-7); of two hosts that are one site, that of the homepage wins."""
    merged: dict[str, Link] = {}
    for link in links:
        key = profile.scope.key(link.url)
        first = merged.get(key)
        merged[key] = link if first is None else _joined(first, link, home)
    return merged


def _joined(first: Link, link: Link, home: Url | None) -> Link:
    own = [one.url for one in (first, link) if home is not None and one.url.site == home.site]
    joined = first.joined(link)
    return Link(own[0], joined.occurrences, joined.order) if len(own) == 1 else joined


def path_from_home(url: Url, home: Url, tracking: Tracking) -> str:
    """Return path and query without tracking parameters, relative to the homepage's folder; after another host, its name.

    >>> from honeyguide.core.url.url import Tracking, Url
    >>> home, tracking = Url.parse("https://a.example/en/"), Tracking(("utm_*",))
    >>> [path_from_home(Url.parse(f"https://a.example{path}"), home, tracking)
    ...     for path in ("/en?utm_source=x", "/en/Index.html", "/?page_id=2")]
    ['/', '/index.html', '/?page_id=2']
    """
    return HomePaths(home).of(url, url.key(tracking))


class HomePaths:
    """The paths of URLs relative to a homepage; see `path_from_home`."""

    def __init__(self, home: Url) -> None:
        folder = home.path.rpartition("/")[0] if "." in home.path.rpartition("/")[2] else home.path
        self._folder = folder.lower()
        self._site = home.site
        self._host = home.host.removeprefix("www.")

    def of(self, url: Url, key: str) -> str:
        """Return the path of a URL with this key."""
        target, folder = key[key.index("/") :].lower(), self._folder
        if url.site != self._site and url.host.removeprefix("www.") != self._host:
            return (
                f"/{url.host}{target}"  # another host of the same domain: its homepage is a page like others
            )
        if (
            folder != "/"
            and target.startswith(folder)
            and target[len(folder) : len(folder) + 1] in ("", "/", "?")
        ):
            target = target[len(folder) :]
        return target if target.startswith("/") else f"/{target}"


def _why(rule: Rule, facts: Facts) -> Why:
    return Why(rule.id, rule.reason if rule.show is None else f"{rule.reason}: {facts[rule.show]}")


def score_candidates(
    candidates: Iterable[Candidate], profile: Profile, strategy: str, heads: Mapping[Url, Head] | None = None
) -> list[Candidate]:
    """Score open candidates; a drop of the strategy rejects what its score, bucket or facts rule out."""
    plan, heads = profile.strategies[strategy], heads or {}
    query = profile.query if uses_query(profile, strategy) else None
    return [
        candidate
        if candidate.rejected is not None
        else _scored(candidate, heads.get(candidate.url) if heads else None, profile, plan, query)
        for candidate in candidates
    ]


def _scored(
    candidate: Candidate, head: Head | None, profile: Profile, plan: Strategy, query: Query | None
) -> Candidate:
    facts = _facts(candidate, head)
    parts: dict[str, Score] = {}
    matched: tuple[str, ...] = ()
    if query is not None:
        parts["contextual"], matched = contextual(
            query, lambda name: text if isinstance(text := facts[name], str) else None
        )
        facts["contextual"] = parts["contextual"].value
    bucket = profile.kinds_of(plan).rules.first(facts)
    facts["bucket"] = bucket.id if bucket else None
    scores = profile.scores(plan.cards, facts)
    parts |= {name: _named(profile.cards[name], score, facts) for name, score in scores.items()}
    wish = plan.wants.first(facts)
    dropped = plan.nevers.first(facts) or (None if wish else plan.drops.first(facts))
    score = parts[plan.card]
    if wish is not None:
        reason = Reason("want", 0.0, wish.reason, tag="wanted")
        score = parts[plan.card] = Score(score.value, (*score.reasons, reason), score.unknown)
    tags = dict.fromkeys([reason.tag for part in parts.values() for reason in part.reasons if reason.tag])
    return Candidate(  # faster than `_replace`
        link=candidate.link,
        head=head,
        groups=candidate.groups,
        rejected=_why(dropped, facts) if dropped else None,
        category=_category(profile, plan, score),
        bucket=bucket.id if bucket else None,
        score=score,
        parts=parts,
        matched=matched,
        wish=wish.id if wish else None,
        selection_reason="-".join(filter(None, (bucket.id if bucket else "other", "+".join(tags)))),
    )


_OF_FILTERS = ("home_path", "is_duplicate", "family")  # facts that no score reads


def _facts(candidate: Candidate, head: Head | None) -> Facts:
    """Return what scores read of a candidate; what filters have read of its link need not be computed again."""
    facts = Facts(candidate.link, head)
    if head is None and candidate.facts is not None:
        facts.update(candidate.facts)
        for name in _OF_FILTERS:
            facts[name] = None
    facts.update(candidate.groups or {})
    return facts


def reject_page(candidate: Candidate, seen: Mapping[str, Value], plan: Strategy) -> Why | None:
    """Say why a page that was fetched is not selected after all; `seen` are facts about its text."""
    facts = Facts(candidate.link, candidate.head, bucket=candidate.bucket)
    facts.update(candidate.groups or {})
    facts.update(seen)
    rule = plan.looks.first(facts)
    return None if rule is None else _why(rule, facts)


def _named(card: CompiledCard, score: Score, facts: Facts) -> Score:
    """Add to each reason the fact that its rule shows, or the words that it found in the address or the texts of a link."""

    def named(reason: Reason) -> Reason:
        if reason.rule in card.shown:
            return reason._replace(text=f"{reason.text} '{facts[card.shown[reason.rule]]}'")
        when = card.searches.get(reason.rule)
        found = [] if when is None else words_found(when, facts)[:_NAMED_WORDS]
        return reason._replace(text=f"{reason.text}: {', '.join(found)}") if found else reason

    if card.telling.isdisjoint([reason.rule for reason in score.reasons]):
        return score
    return Score(score.value, tuple(map(named, score.reasons)), score.unknown)


def _category(profile: Profile, plan: Strategy, score: Score) -> str | None:
    """Name the rule that paid in a card that starts with categories (PICK-3): A, B, C, U, T, D."""
    ids = profile.cards[plan.card].categories
    return next((reason.rule for reason in score.reasons if reason.rule in ids), None) if ids else None


def rank(
    scored: Iterable[Candidate],
    profile: Profile,
    strategy: str,
    cap: int | None = None,
    unwanted: Mapping[Url, Why] | None = None,
) -> Selection:
    """Order candidates and select the best; `unwanted` pages were fetched and are unusable (PICK-21)."""
    plan = profile.strategies[strategy]
    wanted = list(scored)
    for place, candidate in enumerate(wanted):
        if unwanted and candidate.rejected is None and candidate.url in unwanted:
            wanted[place] = candidate._replace(rejected=unwanted[candidate.url])
    key = _order(profile, plan)
    open_ = [place for place, candidate in enumerate(wanted) if candidate.rejected is None]
    open_.sort(key=lambda place: key(wanted[place]))
    taken = take([wanted[place] for place in open_], plan, plan.cap if cap is None else cap)
    selected = tuple(sorted((c for c in taken if c.rank is not None), key=lambda c: c.rank or 0))
    for place, candidate in zip(open_, taken, strict=True):
        wanted[place] = candidate
    return Selection(strategy, selected, tuple(wanted), _counts(wanted, profile, plan))


def _strength(candidate: Candidate, profile: Profile, plan: Strategy) -> float:
    """Return a score without the handicap of its bucket (PICK-17)."""
    bucket = profile.kinds_of(plan).buckets.get(candidate.bucket or "")
    return (candidate.score or 0.0) - (bucket.handicap if bucket and "bucket" in plan.order else 0.0)


def undecided(lowest: Selection, highest: Selection, profile: Profile) -> list[Url]:
    """Return the links whose heads can still change what is selected, those with the best intrinsic score first (PICK-11).

    A head only adds points: `lowest` is the selection without the heads that are not known, in `highest` they are perfect.
    """
    plan = profile.strategies[lowest.strategy]
    is_full = 0 < len(lowest.selected) == len(highest.selected)
    kept = [c for c in lowest.selected if c.bucket in plan.reserve]
    others = [_strength(c, profile, plan) for c in lowest.selected if c.bucket not in plan.reserve]
    bar = min(others) if is_full and others else -math.inf
    bars = {c.bucket: min(bar, _strength(c, profile, plan)) for c in reversed(kept)}
    best = [
        candidate
        for candidate in highest.candidates
        if candidate.is_good
        and candidate.score is not None
        and _strength(candidate, profile, plan) >= bars.get(candidate.bucket, bar) - plan.epsilon
    ]
    intrinsic = {c.url: (c.parts or {}).get("intrinsic", 0.0) for c in best}
    return [c.url for c in sorted(best, key=lambda c: (-intrinsic[c.url], c.url.text))]


def _order(profile: Profile, plan: Strategy) -> Callable[[Candidate], tuple[float | str, ...]]:
    buckets = profile.kinds_of(plan).buckets

    def steps(candidate: Candidate) -> float:
        value = _strength(candidate, profile, plan)
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
    return lambda candidate: tuple([key(candidate) for key in chosen])


def _counts(candidates: Sequence[Candidate], profile: Profile, plan: Strategy) -> dict[str, int]:
    """Count what PICK-20 asks for; a rule of the profile that rejected nothing counts 0."""
    rules = (*profile.filters.rules, *plan.filters.rules, *plan.drops.rules)
    keeps = plan.reserve or plan.wants.rules
    limits = ("cap", "replaced", *(["reserved"] if keeps else []), *([NEVER] if plan.nevers.rules else []))
    names = (*(rule.id for rule in rules), *(f"{bucket}-quota" for bucket in plan.quotas), *limits)
    rejected = Counter(dict.fromkeys(names, 0))
    rejected.update(candidate.rejected.rule for candidate in candidates if candidate.rejected is not None)
    scored = [candidate for candidate in candidates if candidate.score is not None]
    return {
        "links": len(candidates),
        "filtered": len(candidates) - len(scored),
        "candidates": len(scored),
        "above_threshold": sum(c.is_good for c in scored),
        "selected": sum(c.rank is not None for c in scored),
        **{f"rejected_{rule.replace('-', '_')}": count for rule, count in sorted(rejected.items())},
    }
