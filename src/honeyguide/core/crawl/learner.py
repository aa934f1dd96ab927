"""What a crawl learns on a site: which links pay, and which lists show links that pay (TOPIC-4c).

Owns: `LinkGroup`, the chance and the worth of a link, what a fetched page teaches, the sentences with their counts.
Must not know: the queue, fetching, where counts are kept. Start reading at `Learner.worth`.

Numbers are integers of 1/10,000, because `exp` and `log` differ in the last bit between C libraries. Links of one group
differ in their base alone, and the worth grows with the base: so only the best link of each group is compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import exp, log
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from honeyguide.core.page.page import Link
    from honeyguide.core.rules.language import Score
    from honeyguide.core.rules.profile import LearnerRules
    from honeyguide.core.url.url import Url

UNIT = 10_000
MAX_GROUPS = 300  # of a site; links beyond are in one without a shape
_EVIDENCE = {"anchor-topic": "anchor", "url-topic": "url", "context-topic": "context"}
_HINT = "path-hint"
_NO_EVIDENCE = (_HINT, "range")
_KINDS = {"pager": "pages of a list", "hint": "pages with a path hint", "plain": "other pages"}
_PAGER = re.compile(r"[/?&](?:page|start|offset)[=/-]\d+", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
_TITLE_CHARS, _TITLE_WORDS = (
    24,
    4,
)  # a folder with as many is the title of a page, as in /t/how-to-build-it/17
_FOLDERS = 3  # of a URL that its shape names
_SUFFIX_CHARS = 5
_SHAPE_CHARS = 100
_MAX_SHOWN = 20  # promising links of one page that count
_MIN_MEAN, _MAX_LIFT = 0.03, 3.0
_SMALL_LIFT = 0.05  # is no news
_ENOUGH = 2.5  # pages behind what a summary says


class LinkGroup(NamedTuple):
    """Links that are alike: where the topic is named, the kind of page they seem to lead to, the shape of their URL."""

    evidence: str
    kind: str
    shape: str

    def __str__(self) -> str:
        return " ".join(self)


class Tally(NamedTuple):
    """`n` cases in units; of links, the relevant and the expected ones; of lists, chances and number of promising links; of shapes, new pages."""

    n: int = 0
    a: int = 0
    b: int = 0

    def plus(self, lesson: Lesson) -> Tally:
        """Add what a page teaches; what was there before counts less by `keep` per cent."""
        keep = lesson.keep
        return Tally(
            self.n * keep // 100 + UNIT, self.a * keep // 100 + lesson.a, self.b * keep // 100 + lesson.b
        )


class Lesson(NamedTuple):
    """What one page adds to what is known by a name."""

    name: str
    a: int
    b: int = 0
    keep: int = 100


def group_of(link: Link, score: Score, page: Url) -> LinkGroup:
    """Find the group of a link that stands on a page."""
    rules = {reason.rule for reason in score.reasons}
    evidence = "+".join([word for rule, word in _EVIDENCE.items() if rule in rules]) or "nothing"
    kind = "pager" if _is_pager(link, page) else "hint" if _HINT in rules else "plain"
    return LinkGroup(evidence, kind, shape_of(link.url))


def _is_pager(link: Link, page: Url) -> bool:
    """Tell whether a link turns the pages of a list; Next in a manual does not, because its URLs differ in words."""
    target = link.url.target
    if _PAGER.search(target):
        return True
    anchor = link.anchor.strip().lower()
    if anchor.isdigit():
        return len(anchor) < 5
    is_next = (anchor.startswith(("next", "older")) or _is_turn(link)) and target != page.target
    return is_next and _DIGITS.sub("#", target) == _DIGITS.sub("#", page.target)


def _is_turn(link: Link) -> bool:
    """Tell whether only the head of the page names the link, as the next or the previous page."""
    return not link.anchor and link.rel in ("next", "prev")


def shape_of(url: Url) -> str:
    """Name the shape of a URL: its folders, what its last part looks like, and the names in its query.

    Lists differ by their folder more than by anything else: /learning/ and /web/ of one manual, /forum/ and /user/ of one forum.

    >>> from honeyguide.core.url.url import Url
    >>> [shape_of(Url.parse(f"https://a.example{path}")) for path in ("/", "/blog/2024/05/a-story/", "/t/how-to-build-it/17", "/list.php?page=3")]
    ['/', '/blog/#/#/*', '/t/*/#', '/*.php?page']
    """
    segments = [*url.segments]
    last = segments.pop() if segments else ""
    stem, dot, suffix = last.rpartition(".")
    if not stem or len(suffix) > _SUFFIX_CHARS:
        stem, dot, suffix = last, "", ""
    named = [_folder(folder) for folder in segments[:_FOLDERS]] + ["*"] * len(segments[_FOLDERS:])
    end = f"{'#' if stem.isdigit() else '*'}{dot}{suffix}" if last else ""
    shape = "/".join(["", *named, end])
    names = "&".join(sorted({pair.partition("=")[0] for pair in url.query.split("&")}))
    return (f"{shape}?{names}" if names else shape)[:_SHAPE_CHARS]


def _folder(name: str) -> str:
    is_title = len(name) > _TITLE_CHARS or len(name.replace("_", "-").split("-")) >= _TITLE_WORDS
    return "*" if is_title else _DIGITS.sub("#", name)


def points_of(score: Score) -> float:
    """Give the points of a link, whatever a score ends at, without those for hints, which earn their place as lists."""
    return sum(reason.points for reason in score.reasons if reason.rule not in _NO_EVIDENCE)


def base_of(points: float, rules: LearnerRules) -> int:
    """Give the log-odds that a link leads to a relevant page, before anything was learnt, by its points (TOPIC-1, TOPIC-5)."""
    return round((rules.base + rules.per_point * points) * UNIT)


@dataclass(slots=True)
class Learner:
    """The counts of one site, and what follows from them."""

    rules: LearnerRules
    learnt: Mapping[str, Tally]
    _lifts: dict[str, int] = field(default_factory=dict)
    _shown: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)

    def worth(self, base: int, group: LinkGroup) -> int:
        """Give the relevant pages expected per fetch: of the page itself, or with the links that it may show."""
        p = self.chance(base, group) / UNIT
        chances, links = self._shows(group)
        share = 1.0 if group.kind == "pager" else 1.0 - p
        return round(max(p, (p + share * chances) / (1 + share * links)) * UNIT)

    def chance(self, base: int, group: LinkGroup) -> int:
        """Give the chance that a link leads to a relevant page."""
        odds = (base + self._lift(group.evidence)) / UNIT
        return round(UNIT * self._novelty(group) / (1 + exp(-odds)))

    def lessons(
        self, base: int, group: LinkGroup, chances: Iterable[int] | None, *, is_relevant: bool
    ) -> tuple[Lesson, ...]:
        """Say what a fetched page teaches; `chances` are those of its new links, None if it said nothing new."""
        found = [
            Lesson(f"links {group.evidence}", UNIT * is_relevant, self.chance(base, group)),
            Lesson(f"copies {group.shape}", UNIT * (chances is not None)),
        ]
        if group.kind == "pager" or not is_relevant:  # a relevant page would make every list look rich
            best = sorted((one for one in chances or () if one >= self.rules.promising * UNIT), reverse=True)
            shown = best[:_MAX_SHOWN]
            found += [Lesson(name, sum(shown), UNIT * len(shown), self.rules.keep) for name in _lists(group)]
        return tuple(found)

    def sentences(self, base: int, group: LinkGroup) -> tuple[str, ...]:
        """Say what makes the worth of a link, with the counts behind it."""
        found = [f"worth {_number(self.worth(base, group))}: relevant pages expected per fetch"]
        found.append(
            f"chance {_number(self.chance(base, group))}, by its points alone {_number(prior_chance(base))}"
        )
        names = (f"links {group.evidence}", f"copies {group.shape}", *_lists(group))
        return (*found, *(said for name in names if (said := self.describe(name))))

    def describe(self, lesson: str) -> str:
        """Say what was learnt, by the name of a lesson; nothing if there is nothing to say."""
        n, a, b = self.learnt.get(lesson, Tally())
        kind, _, name = lesson.partition(" ")
        if n == 0 or (kind == "copies" and a == n):
            return ""
        if kind == "links":
            lift = self._lift(name) / UNIT
            where = "links without the topic" if name == "nothing" else f"links with the topic in {name}"
            found, expected = f"{a // UNIT} of {n // UNIT} relevant", f"{b / UNIT:.1f} were expected"
            if abs(lift) < _SMALL_LIFT:
                return f"{where}: {found}, {expected}"
            return f"{where}: {found}, {expected}; such links now count {'less' if lift < 0 else 'more'} ({lift:+.1f} log-odds)"
        if kind == "copies":
            return f"pages like {name}: {(n - a) // UNIT} of {n // UNIT} said nothing new"
        kind, _, shape = name.partition(" ")
        like = f" like {shape}" if shape else ""
        return f"{_KINDS[kind]}{like}: {b / n:.1f} promising links each, by the last {-(-n // UNIT)}"

    def summary(self) -> tuple[str, ...]:
        """Say the most that was learnt: of links, of lists, and of copies."""
        enough = [name for name, tally in self.learnt.items() if tally.n >= _ENOUGH * UNIT]
        most = sorted(enough, key=lambda name: (-self.learnt[name].n, name))
        links = [name for name in most if name.startswith("links ")]
        lists = [name for name in most if name.count(" ") > 1]
        shapes = [name for name in most if name.startswith("copies ")]
        copies = sorted(shapes, key=lambda name: self.learnt[name].a - self.learnt[name].n)
        said = map(self.describe, (*links[:2], *lists[:3], *copies[:2]))
        return tuple(filter(None, said))

    def _lift(self, evidence: str) -> int:
        """Correct the log-odds by what came of such links; what was expected is the whole model's, so nothing counts twice."""
        known = self._lifts.get(evidence)
        if known is None:
            n, a, b = self.learnt.get(f"links {evidence}", Tally())
            mean = min(1 - _MIN_MEAN, max(_MIN_MEAN, b / n)) if n else 0.5
            trust = self.rules.trust * UNIT
            got = (a + trust * mean) / (n + trust)
            lift = max(-_MAX_LIFT, min(_MAX_LIFT, _logit(got) - _logit(mean)))
            known = self._lifts[evidence] = round(self.rules.lift * lift * UNIT)
        return known

    def _novelty(self, group: LinkGroup) -> float:
        n, a, _ = self.learnt.get(f"copies {group.shape}", Tally())
        trust = self.rules.copy_trust * UNIT
        return (a + trust) / (n + trust)

    def _shows(self, group: LinkGroup) -> tuple[float, float]:
        """Estimate what a page shows: the chances of its promising links, and how many; each group leans on the one before."""
        key = group.kind, group.shape
        known = self._shown.get(key)
        if known is None:
            trust = self.rules.list_trust * UNIT
            known = self.rules.lists[group.kind]
            for name in _lists(group):
                n, a, b = self.learnt.get(name, Tally())
                known = (known[0] * trust + a) / (n + trust), (known[1] * trust + b) / (n + trust)
            self._shown[key] = known
        return known


def _lists(group: LinkGroup) -> tuple[str, str]:
    return f"lists {group.kind}", f"lists {group.kind} {group.shape}"


def _logit(chance: float) -> float:
    return log(chance / (1 - chance))


def prior_chance(base: int) -> int:
    """Give the chance of a link before anything was learnt."""
    return round(UNIT / (1 + exp(-base / UNIT)))


def _number(units: int) -> str:
    return f"{units / UNIT:.4f}"
