"""What a report tells of a crawl: pages, harvest, why it stopped, the best pages, what is left and what was rejected.

Owns: reading the records of a run, each once and none kept but the best; nothing in them is trusted. Must not know: the
store they come from, the words for its rules (`CrawlReportData` brings them), HTML, Markdown. Start reading at `crawl_sheet`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from honeyguide.core.crawl.placement import LANES
from honeyguide.core.records import is_relevant
from honeyguide.report import sheet
from honeyguide.report.sheet import CountList, Line, Pages, Sheet, clean, counted, figure, figure_of, noun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from honeyguide.core.crawl.frontier import Counts
    from honeyguide.core.records import Record
    from honeyguide.report.sheet import ReportRow


MAX_SITES = 100_000  # other sites that are told apart; links to further ones are counted together
_FURTHER = "further sites"
_STRETCHES, _SHORTEST = 20, 10  # of the crawl, at most, whose harvest is told; pages of the shortest
_TRAP = "TRAP-"
_NEEDED = ("url", "title", "relevance_score", "points", "action", "depth", "fetched_at")


@dataclass(frozen=True, slots=True)
class CrawlReportData:
    """What a store says of a run: the run as `runs` writes it, its pages in order, links that leave it.

    `stopped` is a sentence, `rejected` counts by rule under headings, and `words` says what a rule means.
    """

    run: Record
    stopped: str
    counts: Counts
    pages: Iterable[Record]
    outside: Iterable[Record]
    rejected: Mapping[str, Mapping[str, int]]
    words: Callable[[str], str]


def crawl_sheet(data: CrawlReportData) -> Sheet:
    """Tell of a run, whichever processes worked on it."""
    harvest = _Harvest(has_topic=data.run.get("topic") is not None)
    for record in data.pages:
        harvest.add(record)
    changes = counted("Changes since earlier visits", harvest.changes)
    parts: tuple[CountList | Pages, ...] = (
        harvest.pages(),
        *([harvest.course()] if harvest.has_topic else []),
        counted(
            "Answers, by status", harvest.answers, lambda name: "" if name.isdigit() else data.words(name)
        ),
        counted("What was done with pages", harvest.actions),
        *([changes] if set(harvest.changes) - {"new"} else []),
        _queue(data.counts.lanes),
        *_rejected(data),
        _outside(data.outside),
    )
    command = clean(data.run.get("command"), sheet.MAX_URL)
    return Sheet(sheet.HEADINGS["crawl"], command, _figures(data, harvest), _facts(data), parts)


def _figures(data: CrawlReportData, harvest: _Harvest) -> tuple[tuple[str, str], ...]:
    """Give the numbers of a run; pages are fetches, as budgets count them."""
    counts, share = data.counts, f"{harvest.relevant / max(1, data.counts.fetched):.0%}"
    relevant = ((f"{harvest.relevant:,} ({share})", "of them relevant"),)
    return (
        figure_of(counts.fetched, "page", " fetched"),
        *(relevant if harvest.has_topic else ()),
        (f"{counts.states['queued'] + counts.states['leased']:,}", "left in the queue"),
        (f"{sum(counts.out.values()):,}", "rejected"),
        figure_of(counts.external_links, "URL", " of other sites"),
    )


def _facts(data: CrawlReportData) -> tuple[tuple[str, str], ...]:
    run = data.run
    return sheet.facts_of((
        ("Stopped", data.stopped),
        ("Topic", run.get("topic")),
        ("Profile", f"{run.get('profile')}, {run.get('profile_hash')}"),
        ("Run", run.get("run")),
        ("Begun", run.get("started_at")),
        ("Last worked on", run.get("updated_at")),
        ("Due again", f"{data.counts.due:,}" if data.counts.due else None),
    ))  # fmt: skip


def _queue(lanes: Mapping[str, int]) -> CountList:
    """List what is queued, the first lane first."""
    known = [*(lane for lane in LANES if lane in lanes), *sorted(set(lanes) - set(LANES))]
    lines = (Line(clean(lane), lanes[lane]) for lane in known if lanes[lane])
    return CountList("Left in the queue, by lane", tuple(lines))


def _rejected(data: CrawlReportData) -> Iterator[CountList]:
    """List rules that decided; traps, wherever they were met, under a heading of their own."""
    traps: Counter[str] = Counter()
    for heading, counts in data.rejected.items():
        others = {rule: n for rule, n in counts.items() if not rule.startswith(_TRAP)}
        traps.update({rule: n for rule, n in counts.items() if rule not in others})
        yield counted(heading, others, data.words)
    yield counted("Traps", traps, data.words)


def _outside(records: Iterable[Record]) -> CountList:
    """Count the URLs of each site that the crawl links and did not enter, and the pages that link them."""
    urls: Counter[str] = Counter()
    links: Counter[str] = Counter()
    for record in records:
        site = str(record.get("site") or "?")
        name = site if site in urls or len(urls) < MAX_SITES else _FURTHER
        urls[name] += 1
        links[name] += int(figure(record.get("seen")) or 0)
    heading = "Other sites, by how many of their URLs are linked"
    return counted(heading, urls, lambda name: noun(links[name], "link"))


# --- pages --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Best:
    """A page that may be among the best: the visit that scored most, when it was met, and the last score of all."""

    score: float
    place: int
    record: Record
    last: float


@dataclass(slots=True)
class _Harvest:
    """The pages of a run, counted one by one.

    Of a URL that was visited several times the best visit counts. So a page never gets worse, and what is not among the
    best can be forgotten at once: it comes back only by a better visit.
    """

    has_topic: bool = True
    visits: int = 0
    relevant: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    best: dict[str, _Best] = field(default_factory=dict)
    first: list[Record] = field(default_factory=list)
    width: int = _SHORTEST
    stretches: list[int] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """Count a visit."""
        if self.visits == _STRETCHES * self.width:
            pairs = zip(self.stretches[::2], self.stretches[1::2], strict=True)
            self.stretches, self.width = [one + other for one, other in pairs], 2 * self.width
        if self.visits % self.width == 0:
            self.stretches.append(0)
        self.visits += 1
        found = is_relevant({"topic_relevance": figure(record.get("topic_relevance"))})
        self.relevant += found
        self.stretches[-1] += found
        self.answers[_answer(record)] += 1
        self.actions[str(record.get("action"))] += 1
        if record.get("change") is not None:
            self.changes[str(record["change"])] += 1
        self._consider(record)

    def _consider(self, record: Record) -> None:
        score = figure(record.get("relevance_score"))
        kept = {name: record.get(name) for name in _NEEDED}
        if not self.has_topic and len(self.first) < sheet.MAX_PAGES:
            self.first.append(kept)
        if score is None:  # nothing was read
            return
        known = self.best.setdefault(str(record.get("url")), _Best(score, self.visits, kept, score))
        known.last = score
        if score > known.score:
            known.score, known.place = score, self.visits
        if score == known.score:
            known.record = kept
        if len(self.best) > 2 * sheet.MAX_PAGES:
            self.best = dict(self._ordered()[: sheet.MAX_PAGES])

    def _ordered(self) -> list[tuple[str, _Best]]:
        return sorted(self.best.items(), key=lambda item: (-item[1].score, item[1].place))

    def pages(self) -> Pages:
        """List the best pages that score at all; without a topic, those that came first."""
        if not self.has_topic:
            rows = tuple(_row(record, n) for n, record in enumerate(self.first, 1))
            return Pages("First pages", rows, self.visits - len(rows), "Action")
        best = [one for _, one in self._ordered()[: sheet.MAX_PAGES] if one.score > 0]
        rows = tuple(_row(one.record, n, one) for n, one in enumerate(best, 1))
        return Pages("Best pages", rows, label="Action")

    def course(self) -> CountList:
        """Tell how many pages of each stretch of the crawl were relevant."""
        lines = []
        for number, found in enumerate(self.stretches):
            start = number * self.width
            end = min(start + self.width, self.visits)
            lines.append(Line(f"pages {start + 1:,} to {end:,}", found, f"of {end - start:,}"))
        return CountList("Relevant pages along the crawl", tuple(lines), whole=min(self.width, self.visits))


def _answer(record: Record) -> str:
    """Name what a page answered: its status, or the rule that says why there was none."""
    status = figure(record.get("status"))
    if status is not None:
        return str(status)
    points = record.get("points")
    last = points[-1] if isinstance(points, list) and points else None
    return str(last.get("rule")) if isinstance(last, dict) else "?"


def _row(record: Record, place: int, best: _Best | None = None) -> ReportRow:
    depth = figure(record.get("depth"))
    facts = []
    if depth:
        facts.append(f"{noun(int(depth), 'link')} from a seed")
    if record.get("fetched_at"):
        facts.append(f"fetched {clean(record['fetched_at'], 40)}")
    if best is not None and best.last != best.score:
        facts.append(f"scored {best.last} when it was read last")
    row = sheet.read_row(
        {**record, "score": record["relevance_score"], "rank": place}, clean(record["action"])
    )
    return replace(row, facts=tuple(facts))
