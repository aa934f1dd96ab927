"""Selection: the few links of a page that are worth a visit; each candidate has its score or the rule that rejected it.

All criteria are in the profile: filters, buckets and drops are rule lists, scores are scorecards, the rest is numbers of
a `Strategy`. Start reading at `select_links`. Must not know: HTML, HTTP, which words are good.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.page.page import Link
from honeyguide.core.pick.groups import NO_GROUPS, describe_groups
from honeyguide.core.pick.location_pages import describe_family, find_families
from honeyguide.core.pick.places import count_rules, order_keys, strength, take
from honeyguide.core.rules.bm25 import contextual
from honeyguide.core.rules.facts import CARD, Facts
from honeyguide.core.rules.language import Reason, Score, words_found
from honeyguide.core.rules.lines import describe_links
from honeyguide.core.rules.together import answer_together
from honeyguide.core.text.pattern import rejected_by_patterns
from honeyguide.core.text.printable import html_table, tidy
from honeyguide.core.url.scope import RULE_WORDS, LinkKind, classify_url
from honeyguide.core.why import Why

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from honeyguide.core.page.page import Head, Page
    from honeyguide.core.pick.groups import GroupFacts
    from honeyguide.core.rules.bm25 import Query
    from honeyguide.core.rules.compile import CompiledCard, RuleList
    from honeyguide.core.rules.facts import Value
    from honeyguide.core.rules.language import Rule
    from honeyguide.core.rules.lines import PageWords
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
    rank: int | None = None
    is_kept: bool = False  # took a place that was kept for its bucket, or for the user's wish
    head: Head | None = None  # of the linked page, if it was read (PICK-11)
    groups: Mapping[str, Value] | None = None  # facts about the menus and cards that list it
    facts: Facts | None = None  # of the link, until it is scored
    wish: str | None = None  # what the user wants that it is

    @property
    def url(self) -> Url:
        """The link's address."""
        return self.link.url

    @property
    def selection_reason(self) -> str | None:
        """Bucket and tags in short; None without a score."""
        if self.parts is None:
            return None
        reasons = [reason for part in self.parts.values() for reason in part.reasons]
        tags = dict.fromkeys([reason.tag for reason in reasons if reason.tag])
        said = "-".join(filter(None, (self.bucket or "other", "+".join(tags))))
        return f"{said}+reserved" if self.is_kept else said

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
    links: Iterable[Link],
    page: Url,
    profile: Profile,
    strategy_name: str,
    options: SelectionOptions | None = None,
) -> Selection:
    """Choose among the links of a page; the order of `links` does not matter."""
    options = options or SelectionOptions()
    candidates = filter_links(links, page, profile, strategy_name, options)
    return rank(
        score_candidates(candidates, profile, strategy_name, options.heads),
        profile,
        strategy_name,
        options.cap,
    )


def uses_query(profile: Profile, strategy_name: str) -> bool:
    """Tell whether a strategy's rules read the score of the query."""
    strategy = profile.strategies[strategy_name]
    readers: tuple[RuleList | CompiledCard, ...] = (
        profile.kinds_of(strategy).rules,
        strategy.drops,
        *(profile.cards[card] for card in strategy.cards),
    )
    return any("contextual" in reader.fields for reader in readers)


def filter_links(
    links: Iterable[Link], page: Url, profile: Profile, strategy_name: str, options: SelectionOptions
) -> list[Candidate]:
    """Reject links by scope, filters and patterns (PICK-1, PICK-2, PICK-10); the others are open candidates."""
    links = sorted(links, key=attrgetter("order", "url.text"))
    verdicts = [classify_url(link.url, page, profile.scope) for link in links]
    inside = [link for link, verdict in zip(links, verdicts, strict=True) if verdict.kind is LinkKind.INSIDE]
    keys = [profile.scope.key(link.url) for link in inside]
    merged = merge_by_keys(inside, keys, page)
    wholes = list(merged.values())  # with all occurrences of their key
    strategy, home_paths = profile.strategies[strategy_name], HomePaths(page)
    rows, words = describe_links(wholes)
    families = find_families(wholes, profile.families, options.page, words)
    for key, link, facts in zip(merged, wholes, rows, strict=True):
        facts["home_path"] = home_paths.of(link.url, key)
    answer_together(rows, (profile.filters, strategy.filters, profile.kinds_of(strategy).rules))
    groups = _groups(wholes, rows, words, profile, strategy) if strategy.headings.rules else {}
    known = dict(zip(merged, rows, strict=True))
    first = {link.url.text: link for link in reversed(inside)}

    def candidate(link: Link, key: str) -> Candidate:
        facts, whole = known[key], merged[key]
        address = whole.url.text
        facts["is_duplicate"] = link is not first[address]
        facts["family"] = describe_family(families, facts, whole, profile.families)
        facts.update(listed := groups.get(address, NO_GROUPS))
        rule = profile.filters.first(facts) or strategy.filters.first(facts)
        if rule is not None:
            return Candidate(link, _why(rule, facts), facts=facts)
        rejected = (
            rejected_by_patterns(str(facts["url"]), options.include, options.exclude)
            if has_patterns
            else None
        )
        return Candidate(whole, rejected, groups=listed if strategy.headings.rules else None, facts=facts)

    has_patterns = bool(options.include or options.exclude)
    left = iter(keys)
    return [
        candidate(link, next(left)) if verdict.kind is LinkKind.INSIDE else _outside(link, verdict)
        for link, verdict in zip(links, verdicts, strict=True)
    ]


def _outside(link: Link, verdict: Verdict) -> Candidate:
    detail = f": {verdict.detail}" if verdict.detail else ""
    return Candidate(link, Why(verdict.rule, f"{RULE_WORDS[verdict.rule]}{detail}"))


def _groups(
    links: Sequence[Link], rows: Sequence[Facts], words: PageWords, profile: Profile, strategy: Strategy
) -> dict[str, GroupFacts]:
    """Describe how the page groups its links, except those that a filter of the profile rejects whatever the group."""
    kinds, filters = profile.kinds_of(strategy).rules.first, profile.filters.first
    open_ = [(link, facts) for link, facts in zip(links, rows, strict=True) if filters(facts) is None]

    def buckets() -> dict[str, str | None]:
        return {link.url.text: rule.id if (rule := kinds(facts)) else None for link, facts in open_}

    return describe_groups([link for link, _ in open_], strategy, buckets, words)


def merge_by_keys(links: Iterable[Link], keys: Iterable[str], home: Url | None = None) -> dict[str, Link]:
    """Join links with the same key (URL-7); of two hosts that are one site, that of the homepage wins."""
    merged: dict[str, Link] = {}
    for link, key in zip(links, keys, strict=True):
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
        self._own = (f"https://{home.site}/", f"http://{home.site}/")
        self._host = home.host.removeprefix("www.")

    def of(self, url: Url, key: str) -> str:
        """Return the path of a URL with this key."""
        target, folder = key[key.index("/") :].lower(), self._folder
        if (
            not url.text.startswith(self._own)
            and url.site != self._site
            and url.host.removeprefix("www.") != self._host
        ):
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
    return Why(rule.id, rule.reason if rule.show is None else f"{rule.reason}: {_shown(facts[rule.show])}")


def _shown(fact: Value) -> Value:
    return tidy(fact) if isinstance(fact, float) else fact


def score_candidates(
    candidates: Iterable[Candidate],
    profile: Profile,
    strategy_name: str,
    heads: Mapping[Url, Head] | None = None,
) -> list[Candidate]:
    """Score open candidates; a drop of the strategy rejects what its score, bucket or facts rule out."""
    strategy, heads = profile.strategies[strategy_name], heads or {}
    query = profile.query if uses_query(profile, strategy_name) else None
    return [
        candidate
        if candidate.rejected is not None
        else _scored(candidate, heads.get(candidate.url) if heads else None, profile, strategy, query)
        for candidate in candidates
    ]


def _scored(
    candidate: Candidate, head: Head | None, profile: Profile, strategy: Strategy, query: Query | None
) -> Candidate:
    facts = _facts(candidate, head, strategy)
    parts: dict[str, Score] = {}
    matched: tuple[str, ...] = ()
    if query is not None:
        parts["contextual"], matched = contextual(
            query, lambda name: text if isinstance(text := facts[name], str) else None
        )
        facts["contextual"] = parts["contextual"].value
    rule = profile.kinds_of(strategy).rules.first(facts)
    facts["bucket"] = bucket = rule.id if rule else None
    for name, score in profile.scores(strategy.cards, facts).items():
        parts[name] = _named(profile.cards[name], score, facts)
    score = parts[strategy.card]
    wish = strategy.wants.first(facts) if strategy.wants.rules else None
    dropped = (strategy.nevers.first(facts) if strategy.nevers.rules else None) or (
        None if wish else strategy.drops.first(facts)
    )
    if wish is not None:
        reason = Reason("want", 0.0, wish.reason, tag="wanted")
        score = parts[strategy.card] = Score(score.value, (*score.reasons, reason), score.unknown)
    return Candidate(
        candidate.link,
        _why(dropped, facts) if dropped else None,
        category=_category(profile, strategy, score),
        bucket=bucket,
        score=score,
        parts=parts,
        matched=matched,
        head=head,
        groups=candidate.groups,
        wish=wish.id if wish else None,
    )


_OF_FILTERS = dict.fromkeys(("home_path", "is_duplicate", "family", "bucket"))  # facts that no score reads


def _facts(candidate: Candidate, head: Head | None, strategy: Strategy) -> Facts:
    """Return what scores read of a candidate; what filters have read of its link is not computed again."""
    if head is not None or candidate.facts is None:
        facts = Facts(candidate.link, head)
        facts.update(candidate.groups or {})
        return facts
    facts = candidate.facts
    facts.update(_OF_FILTERS)
    for name in strategy.cards:  # of another time that the candidate was scored
        facts.pop(CARD + name, None)
    return facts


def reject_page(candidate: Candidate, seen: Mapping[str, Value], strategy: Strategy) -> Why | None:
    """Say why a page that was fetched is not selected after all; `seen` are facts about its text."""
    facts = Facts(candidate.link, candidate.head, bucket=candidate.bucket)
    facts.update(candidate.groups or {})
    facts.update(seen)
    rule = strategy.looks.first(facts)
    return None if rule is None else _why(rule, facts)


def _named(card: CompiledCard, score: Score, facts: Facts) -> Score:
    """Add to each reason the fact that its rule shows, or the words that it found in the address or the texts of a link."""

    def named(reason: Reason) -> Reason:
        if reason.rule in card.shown:
            return _saying(reason, f"{reason.text} '{_shown(facts[card.shown[reason.rule]])}'")
        when = card.searches.get(reason.rule)
        found = [] if when is None else words_found(when, facts)[:_NAMED_WORDS]
        return _saying(reason, f"{reason.text}: {', '.join(found)}") if found else reason

    if card.telling.isdisjoint([reason.rule for reason in score.reasons]):
        return score
    return Score(score.value, tuple(map(named, score.reasons)), score.unknown)


def _saying(reason: Reason, text: str) -> Reason:
    return Reason(reason.rule, reason.points, text, reason.quiet, reason.tag)


def _category(profile: Profile, strategy: Strategy, score: Score) -> str | None:
    """Name the rule that paid in a card that starts with categories (PICK-3): A, B, C, U, T, D."""
    ids = profile.cards[strategy.card].categories
    return next((reason.rule for reason in score.reasons if reason.rule in ids), None) if ids else None


def rank(
    scored: Iterable[Candidate],
    profile: Profile,
    strategy_name: str,
    cap: int | None = None,
    unwanted: Mapping[Url, Why] | None = None,
) -> Selection:
    """Order candidates and select the best; `unwanted` pages were fetched and are unusable (PICK-21)."""
    strategy = profile.strategies[strategy_name]
    wanted = list(scored)
    for place, candidate in enumerate(wanted):
        if unwanted and candidate.rejected is None and candidate.url in unwanted:
            wanted[place] = candidate._replace(rejected=unwanted[candidate.url])
    open_ = [place for place, candidate in enumerate(wanted) if candidate.rejected is None]
    keys = dict(zip(open_, order_keys([wanted[place] for place in open_], profile, strategy), strict=True))
    open_.sort(key=keys.__getitem__)
    taken = take([wanted[place] for place in open_], strategy, strategy.cap if cap is None else cap)
    selected = tuple(sorted((c for c in taken if c.rank is not None), key=lambda c: c.rank or 0))
    for place, candidate in zip(open_, taken, strict=True):
        wanted[place] = candidate
    return Selection(strategy_name, selected, tuple(wanted), count_rules(wanted, profile, strategy))


def undecided(lowest: Selection, highest: Selection, profile: Profile) -> list[Url]:
    """Return the links whose heads can still change what is selected, those with the best intrinsic score first (PICK-11).

    A head only adds points: `lowest` is the selection without the heads that are not known, in `highest` they are perfect.
    """
    strategy = profile.strategies[lowest.strategy]
    is_full = 0 < len(lowest.selected) == len(highest.selected)
    kept = [c for c in lowest.selected if c.bucket in strategy.reserve]
    others = [strength(c, profile, strategy) for c in lowest.selected if c.bucket not in strategy.reserve]
    bar = min(others) if is_full and others else -math.inf
    bars = {c.bucket: min(bar, strength(c, profile, strategy)) for c in reversed(kept)}
    best = [
        candidate
        for candidate in highest.candidates
        if candidate.is_good
        and candidate.score is not None
        and strength(candidate, profile, strategy) >= bars.get(candidate.bucket, bar) - strategy.epsilon
    ]
    intrinsic = {c.url: (c.parts or {}).get("intrinsic", 0.0) for c in best}
    return [c.url for c in sorted(best, key=lambda c: (-intrinsic[c.url], c.url.text))]
