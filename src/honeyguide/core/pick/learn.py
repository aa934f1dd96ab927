"""Points and words of a strategy, learned from pages that a user labelled: what `honeyguide learn` proposes.

Owns: the changes that may be proposed, the evidence of each, and the choice among them, judged on sites that it was not made
on. Must not know: files, TOML. Start reading at `ProfileLearner.learn`.

A change is proposed where it could mend a mistake on two sites: a wanted page that was not picked, or a pick that is not
wanted. The one that helps most is taken, as long as one helps on at least two sites more than it harms. The same is done
without each tenth of the sites, to judge it there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from honeyguide.core.pick.evaluate import CORE, JUNK, PageDecision, Picked, judge_site, page_name, total
from honeyguide.core.pick.select import SelectionOptions, filter_links, rank, score_candidates
from honeyguide.core.rules.compile import CompiledCard, RuleList
from honeyguide.core.rules.facts import JOIN, Facts
from honeyguide.core.rules.language import AnyOf, Group, Is, Rule, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from honeyguide.core.page.page import Head, Link
    from honeyguide.core.pick.evaluate import Gold, SiteFigures, Totals
    from honeyguide.core.pick.select import Candidate
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.url import Url
    from honeyguide.core.why import Why

FOLDS = 10
LEARNED = "learned"  # the group of new rules
_LEAST = 2  # sites on which a change helps more often than it harms
_MOST = 12  # changes of a profile
_TRIED = 200  # rules, buckets and words that are tried at each step
_STEPS = 6  # of a card's range
_RANGE = 120.0  # of a card that names none
_WORD_CHARS = 3


Kind = Literal["rule", "bucket", "word", "drop"]


class ProfileChange(NamedTuple):
    """A change of a profile: `rule` sets the points of a rule, `bucket` and `word` add a rule, `drop` removes one."""

    kind: Kind
    name: str
    points: float = 0.0


class Evidence(NamedTuple):
    """The pages that a change is about: how many are wanted, junk, or neither, and on how many sites."""

    wanted: int
    junk: int
    other: int
    sites: int


class Proposal(NamedTuple):
    """A change that was chosen, the points that it replaces, its evidence, and the folds that chose one like it."""

    change: ProfileChange
    before: float | None
    evidence: Evidence
    folds: int


@dataclass(frozen=True, slots=True)
class LabelledSite:
    """A site with its labels and the links of its homepage; `rejected` pages failed a filter, or a look at their text."""

    gold: Gold
    home: Url
    links: tuple[Link, ...]
    heads: Mapping[Url, Head]
    rejected: Mapping[Url, Why]


class ProfileLesson(NamedTuple):
    """What was learned: no proposals if they would not pay on other sites. `after` is judged on sites that were held out.

    `unlinked` wanted pages are not among the links of their homepages, `filtered` ones are rejected by a filter, by its name.
    """

    proposals: tuple[Proposal, ...]
    before: Totals
    after: Totals
    folds: int
    unlinked: int
    filtered: Mapping[str, int]


class _Page(NamedTuple):
    candidate: Candidate
    facts: Facts
    label: str | None
    traits: frozenset[tuple[Kind, str]]  # the kind and name of each change that may concern it


class ProfileLearner:
    """Learns changes of one strategy; what a set of changes gives on a site is computed once."""

    def __init__(self, sites: Iterable[LabelledSite], profile: Profile, strategy_name: str, cap: int) -> None:
        self._sites = {site.gold.site: site for site in sites}
        self._profile = profile
        self._strategy_name = strategy_name
        self._cap = cap
        self._strategy = profile.strategies[strategy_name]
        self._card = profile.cards[self._strategy.card].card
        width = self._card.high - self._card.low
        self._step = (width if 0 < width < float("inf") else _RANGE) / _STEPS
        self._rejected: dict[str, list[Candidate]] = {}
        self._pages = {name: tuple(self._read(site)) for name, site in self._sites.items()}
        self._traits = {
            name: frozenset().union(*(page.traits for page in pages)) for name, pages in self._pages.items()
        }
        self._profiles: dict[frozenset[ProfileChange], Profile] = {frozenset(): profile}
        self._known: dict[tuple[frozenset[ProfileChange], str], SiteFigures] = {}

    def learn(self, on_fold: Callable[[int, int], None] = lambda _done, _all: None) -> ProfileLesson:
        """Choose changes on all sites, and judge the same choice on held-out ones; `on_fold` hears how far it is."""
        names = sorted(self._sites)
        folds = min(FOLDS, len(names))
        chosen: Counter[tuple[str, str]] = Counter()
        after: dict[str, SiteFigures] = {}
        for fold in range(folds):
            held = names[fold::folds]
            changes = self._choose([name for name in names if name not in held])
            chosen.update({(change.kind, change.name) for change in changes})
            after.update({name: self._judged(changes, name) for name in held})
            on_fold(fold + 1, folds + 1)
        none = frozenset[ProfileChange]()
        before = [self._judged(none, name) for name in names]
        is_better = self._gain(before, [after[name] for name in names])[1] >= _LEAST
        changes = self._choose(names) if is_better else none
        on_fold(folds + 1, folds + 1)
        stable = [change for change in sorted(changes) if 2 * chosen[change.kind, change.name] >= folds]
        proposals = tuple(
            Proposal(one, self._points(none, one), self._evidence(one), chosen[one.kind, one.name])
            for one in stable
        )
        judged = [after[name] for name in names] if proposals else before
        unlinked, filtered = self._out_of_reach()
        return ProfileLesson(proposals, total(before), total(judged), folds, unlinked, filtered)

    # --- what is known of the sites ---

    def _read(self, site: LabelledSite) -> Iterator[_Page]:
        """Filter and score the links of a site once; buckets, words and the rules that pay do not depend on points."""
        profile, strategy_name = self._profile, self._strategy_name
        found = filter_links(site.links, site.home, profile, strategy_name, SelectionOptions())
        known = [c._replace(rejected=c.rejected or site.rejected.get(c.url)) for c in found]
        open_ = score_candidates((c for c in known if c.rejected is None), profile, strategy_name, site.heads)
        self._rejected[site.gold.site] = [c for c in known if c.rejected is not None]
        for candidate in open_:
            facts = Facts(candidate.link, candidate.head, bucket=candidate.bucket)
            facts.update(candidate.groups or {})
            if "contextual" in (candidate.parts or {}):
                facts["contextual"] = (candidate.parts or {})["contextual"].value
            label, traits = site.gold.label(candidate.url.text), self._traits_of(candidate, facts)
            yield _Page(candidate._replace(rejected=None), facts, label, traits)

    def _traits_of(self, candidate: Candidate, facts: Facts) -> frozenset[tuple[Kind, str]]:
        paid = {reason.rule for reason in (candidate.score.reasons if candidate.score else ())}
        rules = [rule for group in self._card.groups for rule in group.rules if rule.id in paid]
        texts = f"{facts['slug']} {facts['label']}".replace(JOIN, " ").split()
        traits: list[tuple[Kind, str]] = [("rule", rule.id) for rule in rules]
        if candidate.bucket and not any(_is_for_bucket(rule) for rule in rules):
            traits.append(("bucket", candidate.bucket))
        traits += [("word", word) for word in texts if len(word) >= _WORD_CHARS and word.isalpha()]
        if candidate.rejected is not None:
            traits.append(("drop", candidate.rejected.rule))
        return frozenset(traits)

    def _out_of_reach(self) -> tuple[int, dict[str, int]]:
        """Count the wanted pages that no change can help to: those without a link, and those that a filter rejects."""
        unlinked, filtered = 0, Counter[str]()
        for name, site in self._sites.items():
            open_ = {spelling for page in self._pages[name] for spelling in _spellings(page.candidate)}
            rules = {spelling: c.rejected for c in self._rejected[name] for spelling in _spellings(c)}
            for page, label in site.gold.labels.items():
                if label == CORE and page not in open_:
                    why = rules.get(page)
                    unlinked += why is None
                    filtered.update([] if why is None else [why.rule])
        return unlinked, dict(sorted(filtered.items()))

    def _evidence(self, change: ProfileChange) -> Evidence:
        trait = (change.kind, change.name)
        found = [
            (name, page) for name, pages in self._pages.items() for page in pages if trait in page.traits
        ]
        labels = Counter(page.label for _, page in found)
        other = len(found) - labels[CORE] - labels[JUNK]
        return Evidence(labels[CORE], labels[JUNK], other, len({name for name, _ in found}))

    # --- judging ---

    def _judged(self, changes: frozenset[ProfileChange], name: str) -> SiteFigures:
        changes = frozenset(one for one in changes if (one.kind, one.name) in self._traits[name])
        key = (changes, name)
        if key not in self._known:
            if changes not in self._profiles:
                self._profiles[changes] = with_changes(self._profile, self._strategy_name, changes)
            picked = tuple(
                PageDecision(one.url.text) for one in self._selected(self._profiles[changes], name)
            )
            self._known[key] = judge_site(self._sites[name].gold, Picked(name, picked), self._cap)
        return self._known[key]

    def _selected(self, profile: Profile, name: str) -> tuple[Candidate, ...]:
        strategy = profile.strategies[self._strategy_name]
        scored = []
        for candidate, facts, _, _ in self._pages[name]:
            score = profile.scores(strategy.cards, facts)[strategy.card]
            is_dropped = strategy.nevers.first(facts) or (
                None if candidate.wish else strategy.drops.first(facts)
            )
            if is_dropped is None:
                scored.append(candidate._replace(score=score))
        return rank(scored, profile, self._strategy_name, self._cap).selected

    @staticmethod
    def _worth(site: SiteFigures) -> int:
        return min(site.core, site.could) - site.junk + site.is_good

    def _gain(self, before: Sequence[SiteFigures], after: Sequence[SiteFigures]) -> tuple[int, int]:
        """Return what is gained in all, and on how many sites more there is a gain than a loss."""
        gains = [self._worth(new) - self._worth(old) for old, new in zip(before, after, strict=True)]
        return sum(gains), sum(gain > 0 for gain in gains) - sum(gain < 0 for gain in gains)

    # --- choosing ---

    def _choose(self, names: Sequence[str]) -> frozenset[ProfileChange]:
        """Take the change that helps most on these sites, as long as one helps; of equal ones, the purest; rules before words."""
        chosen = frozenset[ProfileChange]()
        while len(chosen) < _MOST:
            now = [self._judged(chosen, name) for name in names]
            best: tuple[tuple[int, int], float, bool, float, ProfileChange] | None = None
            for change in self._proposed(chosen, names):
                after = [self._judged(_joined(chosen, change), name) for name in names]
                by = change.points - (self._points(chosen, change) or 0.0)
                purity, is_general = self._purity(change, by, names), change.kind != "word"
                tried = (self._gain(now, after), purity, is_general, -abs(by), change)
                best = tried if best is None else max(best, tried)
            if best is None or best[0][0] <= 0 or best[0][1] < _LEAST:
                break
            chosen = _joined(chosen, best[-1])
        return chosen

    def _purity(self, change: ProfileChange, by: float, names: Iterable[str]) -> float:
        """Return the share of wanted pages among those that gain by a change, or of junk among those that lose."""
        trait, label = (change.kind, change.name), JUNK if by < 0 else CORE
        labels = [page.label for name in names for page in self._pages[name] if trait in page.traits]
        return labels.count(label) / len(labels)

    def _proposed(self, chosen: frozenset[ProfileChange], names: Sequence[str]) -> Iterator[ProfileChange]:
        """Propose what may mend mistakes that two of these sites have in common."""
        profile = with_changes(self._profile, self._strategy_name, chosen)
        missed: defaultdict[tuple[Kind, str], set[str]] = defaultdict(set)
        wrong: defaultdict[tuple[Kind, str], set[str]] = defaultdict(set)
        for name in names:
            picked = {candidate.url for candidate in self._selected(profile, name)}
            for page in self._pages[name]:
                is_picked = page.candidate.url in picked
                if is_picked != (page.label == CORE):
                    for trait in page.traits:
                        (wrong if is_picked else missed)[trait].add(name)
        for marks, sign in ((missed, 1), (wrong, -1)):
            common = sorted((-len(sites), trait) for trait, sites in marks.items() if len(sites) >= _LEAST)
            for _, (kind, name) in common[:_TRIED]:
                yield from self._changes(kind, name, sign, chosen)

    def _changes(
        self, kind: Kind, name: str, sign: int, chosen: frozenset[ProfileChange]
    ) -> Iterator[ProfileChange]:
        if kind == "drop":
            if sign > 0:
                yield ProfileChange(kind, name)
            return
        now = self._points(chosen, ProfileChange(kind, name)) or 0.0
        for steps in (1, 2, 4):
            yield ProfileChange(kind, name, now + sign * steps * self._step)

    def _points(self, chosen: Iterable[ProfileChange], change: ProfileChange) -> float | None:
        """Return the points that a change replaces; None if it adds or removes a rule."""
        known = {one[:2]: one.points for one in chosen}
        if change[:2] in known:
            return known[change[:2]]
        rules = (rule for group in self._card.groups for rule in group.rules)
        return next((rule.points for rule in rules if change.kind == "rule" and rule.id == change.name), None)


def _joined(chosen: frozenset[ProfileChange], change: ProfileChange) -> frozenset[ProfileChange]:
    """Add a change in the place of an older one of the same rule, bucket or word."""
    return frozenset(one for one in chosen if one[:2] != change[:2]) | {change}


def _spellings(candidate: Candidate) -> tuple[str, str]:
    """Return the names by which a label may mean a page: with its query, and without."""
    name = page_name(candidate.url.text)
    return name, name.partition("?")[0]


def _is_for_bucket(rule: Rule) -> bool:
    return isinstance(rule.when, Is) and rule.when.field == "bucket" and len(rule.when.values) == 1


def learned_rules(changes: Iterable[ProfileChange]) -> Iterator[tuple[Rule, list[ProfileChange]]]:
    """Make the rules that changes add: one for each bucket, one for all words with the same points."""
    words: defaultdict[float, list[ProfileChange]] = defaultdict(list)
    for change in sorted(changes):
        name, points = change.name, change.points
        if change.kind == "bucket":
            yield Rule(f"{LEARNED}-{name}", f"labelled: {name}", points, Is("bucket", (name,))), [change]
        elif change.kind == "word":
            words[points].append(change)
    for points, listed in sorted(words.items()):
        kind = "wanted" if points > 0 else "unwanted"
        terms = tuple(change.name for change in listed)
        when = AnyOf(tuple(Text(field, "word", terms) for field in ("slug", "label")))
        yield Rule(f"{LEARNED}-{kind}", f"labelled: a word of {kind} pages", points, when), listed


def with_changes(profile: Profile, strategy_name: str, changes: Iterable[ProfileChange]) -> Profile:
    """Return the profile with changes of the strategy's card and drops."""
    changes = tuple(changes)
    strategy = profile.strategies[strategy_name]
    card = profile.cards[strategy.card].card
    points = {change.name: change.points for change in changes if change.kind == "rule"}
    groups = [
        replace(
            group, rules=tuple(replace(rule, points=points.get(rule.id, rule.points)) for rule in group.rules)
        )
        for group in card.groups
    ]
    if rules := tuple(rule for rule, _ in learned_rules(changes)):
        groups.append(Group(LEARNED, "all", rules))
    dropped = {change.name for change in changes if change.kind == "drop"}
    drops = RuleList(rule for rule in strategy.drops.rules if rule.id not in dropped)
    return replace(
        profile,
        cards={**profile.cards, strategy.card: CompiledCard(replace(card, groups=tuple(groups)))},
        strategies={**profile.strategies, strategy_name: replace(strategy, drops=drops)},
    )
