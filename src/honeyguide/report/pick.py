"""The report of a pick: a section for each site, and the sum of all of them.

Owns: reading the records of a pick, the order of candidates, the funnel from links to picks. Must not know: HTML, Markdown,
files. Start reading at `PickReport`. Records are read once and not kept.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from honeyguide.core.url.scope import RULE_WORDS
from honeyguide.report import sheet
from honeyguide.report.sheet import (
    CountList,
    Line,
    PageGroup,
    PageGroups,
    Pages,
    ReportRow,
    Section,
    Sheet,
    clean,
    figure,
    figure_of,
    noun,
    objects,
    read_row,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from honeyguide.core.records import Record


MAX_SELECTED = 50  # pages of a site
MAX_RANKED = 40  # candidates of a site, best first
MAX_NAMED = 30  # sites that failed in one way
_REPLACED = 10  # reasons
FILTERS = ("disallowed-path", "homepage", "duplicate", "service-area")  # PICK-1, in its order
LAST = {
    "replaced": "turned out dead or empty when it was fetched",
    "near-duplicate": "its address has nearly the same words as that of a better page",
    "cap": "as many pages as asked for were taken before",
}


@dataclass(slots=True)
class PickReport:
    """The sum of a run, filled site by site; of each kind of failure it keeps the first few sites."""

    sites: int = 0
    picks: int = 0
    links: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    methods: Counter[str] = field(default_factory=Counter)
    replaced: Counter[str] = field(default_factory=Counter)
    failed: dict[str, list[ReportRow]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)
    words: dict[str, str] = field(default_factory=dict)

    def add(self, record: Record, *, detailed: bool) -> Section:
        """Count a site, and make its section; without details it has only the selected pages."""
        pages, skipped = list(objects(record, "candidates")), list(objects(record, "skipped"))
        selected, groups = list(objects(record, "selected")), _rejected(pages, skipped)
        replaced = [_replaced(entry) for entry in islice(objects(record, "replaced"), sheet.MAX_LISTED)]
        scored = sorted((page for page in pages if figure(page.get("score")) is not None), key=_best_first)
        links, seconds = len(pages) + len(skipped), figure(record.get("elapsed_s"))
        self.sites += 1
        self.picks += len(selected)
        self.links += links
        self.methods[_method(record)] += 1
        self.replaced.update(row.words.partition(":")[0] for row in replaced)
        self.seconds += [] if seconds is None else [seconds]
        for group in groups:
            self.rejected[group.name] += group.count
            example = group.words or group.rows[0].words
            self.words.setdefault(group.name, _rule_words(group.name, example))
        parts = [_selected(selected)]
        if replaced:
            parts.append(PageGroups("Replaced", (PageGroup("", len(replaced), tuple(replaced)),)))
        if detailed:
            parts += _details(scored, groups)
        hidden = f"{noun(len(scored), 'candidate')} not shown: the report would be too large. The records have them."
        requests = figure(record.get("requests"))
        numbers = f"{noun(len(selected), 'pick')} of {noun(links, 'link')}"
        numbers += "" if requests is None else f", {requests:,} requests"
        numbers += "" if seconds is None else f", {seconds} s"
        section = Section(
            number=self.sites,
            name=clean(record.get("site")) or "?",
            status=clean(record.get("status"), 40) or "?",
            reason=clean(record.get("reason")),
            title=clean(record.get("title")),
            homepage=read_row({"url": record.get("homepage")}),
            numbers=numbers,
            parts=tuple(part for part in parts if not isinstance(part, Pages) or part.rows),
            notes=() if detailed else (hidden,),
        )
        self._count_status(section)
        return section

    def _count_status(self, site: Section) -> None:
        self.statuses[site.status] += 1
        if site.status != "ok":
            named = self.failed.setdefault(site.status, [])
            if len(named) < MAX_NAMED:
                named.append(ReportRow(site.name, f"#s{site.number}", words=site.reason))

    def sheet(self) -> Sheet:
        """Make the sheet of everything that was added."""
        methods = [f"strategy {method}" for method, _ in self.methods.most_common(3) if method]
        failed = (PageGroup(name, self.statuses[name], tuple(rows)) for name, rows in self.failed.items())
        replaced = (Line(reason, count) for reason, count in self.replaced.most_common(_REPLACED))
        statuses = (Line(status, count) for status, count in self.statuses.most_common())
        return Sheet(
            sheet.HEADINGS["pick"],
            "; ".join(methods) or "Nothing was picked.",
            tuple(self._figures()),
            (),
            (
                CountList("Sites by status", tuple(statuses), whole=self.sites),
                CountList("From links to picks", tuple(self._funnel()), whole=self.links),
                CountList("Replaced pages", tuple(replaced)),
                PageGroups("Not all went well", tuple(failed)),
            ),
            title=f"{self.picks:,} pages of {noun(self.sites, 'site')}",
            sections="Sites",
        )

    def _figures(self) -> Iterator[tuple[str, str]]:
        yield figure_of(self.sites, "site")
        yield f"{self.statuses['ok']:,}", "of them ok"
        yield f"{self.picks:,}", "pages picked"
        yield f"{self.links:,}", "links considered"
        times = sorted(self.seconds)
        if times:
            most = times[min(len(times) * 9 // 10, len(times) - 1)]
            ninth = f"; nine in ten within {most:.1f} s" if self.sites > 1 else ""
            yield f"{times[len(times) // 2]:.1f} s", f"a site{ninth}"

    def _funnel(self) -> Iterator[Line]:
        """Give the way from all links to the picks, rule by rule in the order in which they are asked."""
        left, is_inside = self.links, False
        yield Line("links found", left)
        for rule in sorted(self.rejected, key=_rule_order):
            if rule not in RULE_WORDS and not is_inside:
                yield Line("inside the site", left)
                is_inside = True
            left -= self.rejected[rule]
            yield Line(rule, left, self.words[rule], self.rejected[rule])
        yield Line("selected", self.picks)


def _method(record: Record) -> str:
    strategy, profile = clean(record.get("strategy")), clean(record.get("profile"))
    return f"{strategy}, profile {profile}" if profile else strategy


def _selected(pages: list[Record]) -> Pages | PageGroups:
    rows = tuple(replace(read_row(page), facts=tuple(_facts(page))) for page in pages[:MAX_SELECTED])
    return Pages("Selected", rows, len(pages) - len(rows))


def _details(scored: list[Record], groups: tuple[PageGroup, ...]) -> Iterator[Pages | PageGroups]:
    rows = tuple(map(read_row, scored[:MAX_RANKED]))
    yield Pages(f"Ranked candidates ({len(scored):,})", rows, len(scored) - len(rows), is_folded=True)
    if groups:
        total = sum(group.count for group in groups)
        yield PageGroups(f"Rejected, by rule ({total:,})", groups, is_folded=True)


def _best_first(page: Record) -> tuple[float, bool, float]:
    rank, score = figure(page.get("rank")), figure(page.get("score"))
    return (math.inf if rank is None else rank, isinstance(page.get("rejected"), dict), -(score or 0))


def _facts(page: Record) -> Iterator[str]:
    chars, status = figure(page.get("text_chars")), figure(page.get("status"))
    if chars is not None:
        yield f"{chars:,} characters of text"
    if status is not None and status != 200:
        yield f"answered {status}"


def _replaced(entry: Record) -> ReportRow:
    return replace(read_row({"url": entry.get("url")}), words=clean(entry.get("reason")))


def _rejected(pages: Iterable[Record], skipped: Iterable[Record]) -> tuple[PageGroup, ...]:
    """PageGroup what was rejected by its rule, in the order in which rules are asked; a reason shared by all is said once."""
    counts: Counter[str] = Counter()
    rows: dict[str, list[ReportRow]] = {}
    hrefs = ({"url": one.get("href"), "rejected": {"rule": one.get("rule"), "reason": ""}} for one in skipped)
    for page in (*hrefs, *pages):
        rejected = page.get("rejected")
        if isinstance(rejected, dict):
            rule = clean(rejected.get("rule"), 60) or "?"
            counts[rule] += 1
            if counts[rule] <= sheet.MAX_LISTED:
                rows.setdefault(rule, []).append(_replaced({**rejected, "url": page.get("url")}))
    return tuple(_group(rule, counts[rule], rows[rule]) for rule in sorted(counts, key=_rule_order))


def _group(rule: str, count: int, rows: list[ReportRow]) -> PageGroup:
    reasons = {row.words for row in rows}
    if len(reasons) > 1:
        return PageGroup(rule, count, tuple(rows))
    return PageGroup(rule, count, tuple(replace(row, words="") for row in rows), words=next(iter(reasons)))


def _rule_order(rule: str) -> tuple[int, int, str]:
    """Sort rules as they are asked, as far as that is the same for all profiles; the cap comes last."""
    for step, known in ((0, (*RULE_WORDS,)), (1, FILTERS), (3, (*LAST,))):
        if rule in known:
            return step, known.index(rule), rule
    return 2, 0, rule


def _rule_words(rule: str, example: str) -> str:
    """Say what a rule rejects, in words that hold for every site: an example's detail comes after a colon."""
    return RULE_WORDS.get(rule) or LAST.get(rule) or example.partition(": ")[0]
