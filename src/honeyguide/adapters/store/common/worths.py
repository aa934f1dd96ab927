"""Groups of links and what was learnt of them: which entry of a site is worth most (TOPIC-4c).

Owns: the tables `link_group` and `learnt`, and `head_*` of a site whose links have groups. Must not know: leases, pages, how a worth
is made (core). Start reading at `SqlWorths.settle`.

What is read is remembered until another process writes. A site is stale after its queue or its counts changed; the next
claim finds its best entry again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.core.crawl.learner import MAX_GROUPS, UNIT, Learner, LinkGroup, Tally
from honeyguide.core.crawl.placement import rank_by_units, units_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from honeyguide.adapters.store.common.database import Database
    from honeyguide.core.crawl.learner import Lesson
    from honeyguide.core.rules.profile import LearnerRules

_SITES = 1000  # remembered at once


class _Site:
    """What is remembered of one site."""

    def __init__(self, groups: dict[str, int], learnt: dict[str, Tally]) -> None:
        self.groups = groups
        self.names = {number: LinkGroup(*name.split(" ", 2)) for name, number in groups.items()}
        self.learnt = learnt
        self.touched = {0, *self.names}
        self.heads: dict[int, tuple[int, int]] = {}  # rank and entry by group; 0 is none
        self.ranks: dict[int, int] = {}  # of the heads, by their worth
        self.best: int | None = None  # the group whose head is the best


class SqlWorths:
    """The groups of links of one run, and what was learnt of them."""

    def __init__(self, db: Database, run: int) -> None:
        self._db = db
        self._run = run
        self._sql = db.queries("worths")
        self._sites: dict[int, _Site] = {}
        self._stale: set[int] = set()
        self._turn = -1
        self._version = -1

    def forget(self) -> None:
        """Forget what was read."""
        self._sites.clear()
        self._turn = self._version = -1

    def learnt(self, site: int) -> dict[str, Tally]:
        """Tell what was learnt of a site, by name."""
        return self._site(site).learnt

    def learn(self, site: int, lessons: tuple[Lesson, ...]) -> None:
        """Add to what was learnt: in the database, so that workers add to each other's counts."""
        known = self._site(site)
        for lesson in lessons:
            known.learnt[lesson.name] = known.learnt.get(lesson.name, Tally()).plus(lesson)
        self._db.later(self._sql["learn"], *((site, UNIT, *lesson) for lesson in lessons))
        known.ranks.clear()
        self._stale.add(site)

    def group(self, site: int | None, group: LinkGroup | None) -> int:
        """Give the number of a group of a site, 0 for none; a site with too many has others without a shape."""
        if group is None or site is None:
            self.touch(site, [0])
            return 0
        known = self._site(site)
        self._stale.add(site)
        if len(known.groups) >= MAX_GROUPS and str(group) not in known.groups:
            group = group._replace(shape="/")
        name = str(group)
        number = known.groups.get(name)
        if number is None:
            number = known.groups[name] = int(self._db.changed(self._sql["add_group"], (site, name))[0][0])
            known.names[number] = group
        known.touched.add(number)
        return number

    def touch(self, site: int | None, groups: Iterable[int] | None = None) -> None:
        """Look at some groups of a site again before its next claim; at all of them without a list."""
        if site is not None:
            self._stale.add(site)
            if (known := self._sites.get(site)) is not None:
                known.touched.update((0, *known.names) if groups is None else groups)

    def touch_groups_of(self, digests: list[int]) -> None:
        """Look again at the groups that some entries are in."""
        for site, number in (
            self._db.all(self._sql["groups_of"], (str(digests), self._run)) if digests else ()
        ):
            self.touch(site, [number])

    @property
    def stale(self) -> set[int]:
        """The sites whose best entry is to be found again."""
        self._check_version()
        return set(self._stale)

    def settle(self, rules: LearnerRules) -> None:
        """Find the best entry of each site that is stale, and write it where sites are compared."""
        self._check_version()
        heads = [(*(self.best(site, rules) or (None, None)), site) for site in sorted(self._stale)]
        self._db.write_many(self._sql["set_head"], heads)
        self._stale.clear()

    def best(self, site: int, rules: LearnerRules) -> tuple[int, int] | None:
        """Find the best entry of a site: its rank by worth, and its number."""
        known = self._site(site)
        for number in known.touched:
            known.ranks.pop(number, None)
            head = self._db.one(self._sql["group_head"], (site, number))
            if head is None:
                known.heads.pop(number, None)
            else:
                known.heads[number] = head
        known.touched.clear()
        learner = Learner(rules, known.learnt)
        ranks, names = known.ranks, known.names
        for number, (rank, _) in known.heads.items():
            if number not in ranks:
                worth = learner.worth(units_of(rank), names[number]) if number else 0
                ranks[number] = rank_by_units(worth) if number else rank
        heads = ((ranks[number], entry, number) for number, (_, entry) in known.heads.items())
        rank, entry, known.best = min(heads, default=(0, 0, 0))
        return (rank, entry) if entry else None

    def advance(self, site: int, number: int, head: tuple[int, int] | None) -> None:
        """Note the next entry of a group whose best entry was leased."""
        known = self._site(site)
        known.ranks.pop(number, None)
        known.heads.pop(number, None)
        if head is not None:
            known.heads[number] = head
        self._stale.add(site)

    def note(self, site: int, entry: int, rules: LearnerRules) -> float | None:
        """Give the worth of a site's best entry, which is being claimed, and note what makes it; None if it has no group."""
        known = self._site(site)
        if known.best is None:
            self.best(site, rules)
        number = known.best or 0
        if not number or known.heads[number][1] != entry:
            return None
        said = Learner(rules, known.learnt).sentences(units_of(known.heads[number][0]), known.names[number])
        self._db.later(self._sql["note"], (entry, "; ".join(said)))
        return units_of(known.ranks[number]) / UNIT

    def _check_version(self) -> None:
        """Forget what was read if another process has written since: then the version of the data is another one."""
        if self._turn != self._db.turn:
            self._turn = self._db.turn
            if self._db.version() != self._version or len(self._sites) > _SITES:
                self._version = self._db.version()
                self._sites.clear()
                self._stale.update(
                    site for (site,) in self._db.changed(self._sql["stale_sites"], (self._run,))
                )

    def _site(self, site: int) -> _Site:
        self._check_version()
        known = self._sites.get(site)
        if known is None:
            groups = dict(self._db.all(self._sql["groups"], (site,)))
            learnt = {name: Tally(*counts) for name, *counts in self._db.all(self._sql["learnt"], (site,))}
            known = self._sites[site] = _Site(groups, learnt)
        return known
