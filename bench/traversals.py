"""Traversals replayed on graphs of sites, in seconds: `python -m bench.traversals --docs DIR [--keep DIR] [--site NAME]`.

Owns: the replay, who takes part, the tables. Must not know: HTML, stores.
Start reading at `replay`. Nothing may be chosen on a site that it is then judged on: the last table chooses, for each site, the
variant of `focused` that is best on all the others.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from bisect import insort
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from bench.graph import TopicView, read_site
from honeyguide.config import load_profile
from honeyguide.core.crawl.learner import Learner, LinkGroup, Tally, base_of, group_of, points_of
from honeyguide.core.crawl.placement import Placement, calculate_priority, is_better, place, rank_of
from honeyguide.core.rules.profile import LearnerRules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from bench.graph import SeenLink, SeenPage
    from honeyguide.core.rules.profile import Traversal

_PROFILE = "docs"
_LOOKAHEAD = 8
RELEVANT = 5.0  # TOPIC-4: the page score from which on this replay calls a page relevant
_SEED_RANK = -(1 << 60)
# What may be chosen: one number of `traversal.focused.learner` each. The first is what the profile says.
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "focused": {},
    "base -6": {"base": -6.0},
    "per_point 0.6": {"per_point": 0.6},
    "lift 0": {"lift": 0.0},
    "lift 1": {"lift": 1.0},
    "copy_trust 10": {"copy_trust": 10.0},
    "list_trust 1000": {"list_trust": 1000.0},
    "list_trust 2": {"list_trust": 2.0},
    "keep 85": {"keep": 85},
}


class Queued(NamedTuple):
    """A link in the queue: the lowest `rank` of its group first."""

    rank: int
    order: int
    key: str
    group: LinkGroup | None
    weak: int = 0


class Spot(NamedTuple):
    """A link on a page that was fetched."""

    link: SeenLink
    page: SeenPage
    at: Queued

    @property
    def parent_score(self) -> float | None:
        """None for a seed that says little (TOPIC-4)."""
        score = self.page.score.value
        return None if self.at.rank == _SEED_RANK and score < RELEVANT else score


class Policy(Protocol):
    """Who decides on an order."""

    def place(self, spot: Spot) -> Queued | None: ...

    def value(self, queued: Queued) -> int: ...

    def improves(self, new: Queued, old: Queued) -> bool: ...

    def learn(self, at: Queued, page: SeenPage | None, new: list[Queued]) -> None: ...


@dataclass(slots=True)
class Fixed:
    """A traversal of the profile whose order does not change."""

    traversal: Traversal
    claims: int = 0

    def place(self, spot: Spot) -> Queued | None:
        traversal = self.traversal
        placed = Placement(traversal.links[0].lane, 0, ())
        if traversal.order == "score":
            placed = place(spot.link.score.value, spot.parent_score, traversal, spot.at.weak)
        if not placed.is_followed:
            return None
        rank = rank_of(placed, self.claims, traversal.order)
        return Queued(rank, 0, spot.link.key, None, placed.weak_pages)

    def value(self, queued: Queued) -> int:
        return queued.rank

    def improves(self, new: Queued, old: Queued) -> bool:
        return is_better(new.rank, old.rank, self.traversal)

    def learn(self, at: Queued, page: SeenPage | None, new: list[Queued]) -> None:
        del at, page, new
        self.claims += 1


@dataclass(slots=True)
class Keywords:
    """As Crawl4AI's BestFirstCrawlingStrategy with its KeywordRelevanceScorer: the share of keywords that the URL has."""

    keywords: tuple[str, ...]

    def place(self, spot: Spot) -> Queued | None:
        url = spot.link.link.url.text.lower()
        share = sum(word.lower() in url for word in self.keywords) / len(self.keywords)
        return Queued(-round(share * 1000), 0, spot.link.key, None)

    def value(self, queued: Queued) -> int:
        return queued.rank

    def improves(self, new: Queued, old: Queued) -> bool:
        del new, old
        return False

    def learn(self, at: Queued, page: SeenPage | None, new: list[Queued]) -> None:
        pass


@dataclass(slots=True)
class Worth:
    """A traversal that learns (TOPIC-4c)."""

    traversal: Traversal
    rules: LearnerRules
    learnt: dict[str, Tally] = field(default_factory=dict)
    learner: Learner = field(init=False)

    def __post_init__(self) -> None:
        self.learner = Learner(self.rules, self.learnt)

    def place(self, spot: Spot) -> Queued | None:
        _, link, score = spot.link
        paid = calculate_priority(points_of(score), spot.parent_score, self.traversal)
        group = group_of(link, score, spot.page.url)
        return Queued(-base_of(paid.value, self.rules), 0, spot.link.key, group)

    def value(self, queued: Queued) -> int:
        return -self.learner.worth(-queued.rank, queued.group) if queued.group else queued.rank

    def improves(self, new: Queued, old: Queued) -> bool:
        return new.rank < old.rank

    def learn(self, at: Queued, page: SeenPage | None, new: list[Queued]) -> None:
        if at.group is None:
            return
        chances = [self.learner.chance(-one.rank, one.group) for one in new if one.group] if page else None
        is_relevant = page is not None and page.score.value >= RELEVANT
        for lesson in self.learner.lessons(-at.rank, at.group, chances, is_relevant=is_relevant):
            self.learnt[lesson.name] = self.learnt.get(lesson.name, Tally()).plus(lesson)
        self.learner = Learner(self.rules, self.learnt)


class Replay:
    """One crawl: a queue by groups, and up to eight pages in flight, applied in the order of their claims."""

    def __init__(self, view: TopicView, policy: Policy) -> None:
        start = Queued(_SEED_RANK, 0, view.graph.seed, None)
        self._view = view
        self._policy = policy
        self._queue: dict[LinkGroup | None, list[Queued]] = {None: [start]}
        self._known: dict[str, Queued | None] = {start.key: start}  # None: fetched, or being fetched
        self._flying: deque[tuple[Queued, int]] = deque()
        self._contents: set[str] = set()
        self._links = 0

    def run(self, fetches: int) -> Iterator[bool]:
        """Give for each fetch whether it found a relevant page whose content is new."""
        for _ in range(fetches):
            self._claim()
            if not self._flying:
                return
            yield self._apply(self._flying.popleft()[0])

    def _claim(self) -> None:
        """Claim as much as may be claimed: nothing that is worse than what is in flight (TOPIC-5)."""
        while len(self._flying) < _LOOKAHEAD:
            heads = [group[0] for group in self._queue.values() if group]
            if not heads:
                return
            value, _, best = min((self._policy.value(head), head.order, head) for head in heads)
            if self._flying and value > min(other for _, other in self._flying):
                return
            self._queue[best.group].pop(0)
            self._known[best.key] = None
            self._flying.append((best, value))

    def _apply(self, at: Queued) -> bool:
        page = self._view.page(at.key)
        if page is not None and page.content in self._contents:
            page = None
        new: list[Queued] = []
        if page is not None:
            self._contents.add(page.content)
            for link in page.links:
                self._meet(Spot(link, page, at), new)
        self._policy.learn(at, page, new)
        return page is not None and page.is_relevant

    def _meet(self, spot: Spot, new: list[Queued]) -> None:
        placed = self._policy.place(spot)
        if placed is None:
            return
        if spot.link.key not in self._known:
            self._links += 1
            placed = placed._replace(order=self._links)
            new.append(placed)
        else:
            old = self._known[spot.link.key]
            if old is None or not self._policy.improves(placed, old):
                return
            self._queue[old.group].remove(old)
            placed = placed._replace(order=old.order)
        self._known[spot.link.key] = placed
        insort(self._queue.setdefault(placed.group, []), placed)


# --- the tables -------------------------------------------------------------------------------------------------


def _entrants() -> dict[str, Callable[[TopicView], Policy]]:
    def fixed(name: str, view: TopicView) -> Policy:
        return Fixed(view.profile.traversals[name])

    def worth(changes: Mapping[str, Any], view: TopicView) -> Policy:
        traversal = view.profile.traversals["focused"]
        rules = (traversal.learner or LearnerRules())._replace(**changes)
        return Worth(traversal, rules)

    return {
        **{name: partial(fixed, name) for name in ("focused-fixed", "bfs")},
        "keywords in the URL": lambda view: Keywords(tuple(view.topic.split("|"))),
        **{name: partial(worth, changes) for name, changes in VARIANTS.items()},
    }


def main() -> None:
    asked = _arguments()
    with Path(__file__).with_name("sites.toml").open("rb") as file:
        sites = [site for site in tomllib.load(file)["site"] if site["set"] == asked.set]
    chosen = [site for site in sites if not asked.site or site["name"] in asked.site]
    with ProcessPoolExecutor(asked.processes) as pool:
        found = list(pool.map(partial(_measure, asked=asked), chosen))
    print("\n".join(_report({site["name"]: counts for site, counts in zip(chosen, found, strict=True)})))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.traversals", description="Replay traversals on sites."
    )
    parser.add_argument("--docs", type=Path, default=Path("/"), help="packages: DIR/NAME/PATH, else /PATH")
    parser.add_argument("--keep", type=Path, help="a folder that keeps what was read of the sites")
    parser.add_argument("--site", action="append", help="one site; may be given again")
    parser.add_argument("--set", default="development", choices=("development", "held-out"))
    parser.add_argument("--fetches", type=int, default=100, help="how many count (default %(default)s)")
    parser.add_argument("--processes", type=int, default=2, help="at once (default %(default)s)")
    return parser.parse_args()


def _measure(site: Mapping[str, Sequence[str]], asked: argparse.Namespace) -> dict[str, int]:
    """Let everybody crawl one site for each of its topics."""
    name = str(site["name"])
    folder = None
    if "path" in site:
        inside = asked.docs / name / str(site["path"])
        folder = inside if inside.exists() else Path("/") / str(site["path"])
    kept = asked.keep and asked.keep / f"{name}.pickle"
    graph = read_site(name, folder, load_profile(_PROFILE, topic="x"), kept)
    counts: dict[str, int] = {}
    for topic in site["topics"]:
        view = TopicView(graph, load_profile(_PROFILE, topic=topic), topic)
        for who, policy in _entrants().items():
            counts[who] = counts.get(who, 0) + sum(Replay(view, policy(view)).run(asked.fetches))
        counts["greedy oracle"] = counts.get("greedy oracle", 0) + view.best(asked.fetches)
        print(f"{name}: {topic}", file=sys.stderr)
    return counts


def _report(sites: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    yield f"| who | {' | '.join(sites)} | all |"
    yield f"|---|{'---:|' * (len(sites) + 1)}"
    for who in next(iter(sites.values())):
        counts = [found[who] for found in sites.values()]
        yield f"| {who} | {' | '.join(map(str, counts))} | {sum(counts)} |"
    chosen = {name: _best_on_others(name, sites) for name in sites}
    counts = [sites[name][who] for name, who in chosen.items()]
    yield f"| *chosen on the other sites* | {' | '.join(map(str, counts))} | {sum(counts)} |"
    yield ""
    yield from (f"- for {name}: {who}" for name, who in chosen.items())


def _best_on_others(name: str, sites: Mapping[str, Mapping[str, int]]) -> str:
    """Choose the variant that finds most on all sites but one; what the profile says wins a tie."""
    return max(VARIANTS, key=lambda who: sum(found[who] for other, found in sites.items() if other != name))


if __name__ == "__main__":
    main()
