"""What a report tells: a record as plain, harmless, bounded data, and the sum of all of them.

Owns: reading records (which come from pages, so nothing in them is trusted), the order of candidates, the funnel.
Must not know: HTML, Markdown, files. Start reading at `read_site` and `Summary`.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from honeyguide.core.text.printable import legible, tidy
from honeyguide.core.url.scope import RULE_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from honeyguide.core.records import Record


MAX_TEXT = 200  # characters of a title, an anchor, a sentence
MAX_URL = 500  # characters; a longer one is shown cut, and is no link
MAX_SELECTED = 50  # pages of a site
MAX_RANKED = 40  # candidates of a site, best first
MAX_LISTED = 12  # pages put out by one rule, replaced pages, reasons of a score, evidence
MAX_NAMED = 30  # sites that failed in one way


FILTERS = ("disallowed-path", "homepage", "duplicate", "service-area")  # PICK-1, in its order
LAST = {
    "replaced": "turned out dead or empty when it was fetched",
    "near-duplicate": "says nearly the same as a better page",
    "cap": "as many pages as asked for were taken before",
}


def clean(value: Any, limit: int | None = None) -> str:
    r"""Make text harmless for a reader: one line, bounded, nothing that turns, hides or breaks letters.

    >>> clean("  a\n\u202eb\x00 "), clean(None), clean("x" * 9, limit=4)
    ('a b', '', 'xxxx…')
    """
    if not isinstance(value, str):
        return ""
    limit = MAX_TEXT if limit is None else limit
    text = " ".join(legible(value[: 4 * limit]).split())
    return text if len(text) <= limit and len(value) <= 4 * limit else f"{text[:limit].rstrip()}…"


def figure(value: Any) -> float | int | None:
    """Take a number that can be shown; anything else is not known."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e12
    return tidy(round(value, 3)) if known and math.isfinite(value) else None


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A page in a report. `reasons` are points and words; `out` is a rule and why, for what is not selected."""

    url: str
    link: str | None
    text: str = ""
    rank: int | None = None
    kind: str = ""
    score: float | int | None = None
    reasons: tuple[tuple[str, str], ...] = ()
    out: tuple[str, str] | None = None
    facts: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OutGroup:
    """What one rule put out of a site: how many, and the first few."""

    rule: str
    count: int
    rows: tuple[ReportRow, ...]


@dataclass(frozen=True, slots=True)
class ReportSite:
    """One site of the run."""

    number: int
    name: str
    status: str
    reason: str
    title: str
    homepage: ReportRow
    method: str
    selected: tuple[ReportRow, ...]
    ranked: tuple[ReportRow, ...]
    more_ranked: int
    outs: tuple[OutGroup, ...]
    replaced: tuple[ReportRow, ...]
    links: int
    candidates: int
    picks: int
    requests: float | int | None
    elapsed_s: float | int | None


def read_site(record: Record, number: int) -> ReportSite:
    """Read a record; whatever is in it, a site comes out."""
    pages = list(_objects(record, "candidates"))
    scored = sorted((page for page in pages if figure(page.get("score")) is not None), key=_best_first)
    selected, skipped = list(_objects(record, "selected")), list(_objects(record, "skipped"))
    profile = clean(record.get("profile"))
    return ReportSite(
        number=number,
        name=clean(record.get("site")) or "?",
        status=clean(record.get("status"), 40) or "?",
        reason=clean(record.get("reason")),
        title=clean(record.get("title")),
        homepage=read_row({"url": record.get("homepage")}),
        method=f"{clean(record.get('strategy'))}, profile {profile}"
        if profile
        else clean(record.get("strategy")),
        selected=tuple(read_row(page) for page in selected[:MAX_SELECTED]),
        ranked=tuple(read_row(page) for page in scored[:MAX_RANKED]),
        more_ranked=max(len(scored) - MAX_RANKED, 0),
        outs=_outs(pages, skipped),
        replaced=tuple(_replaced(entry) for entry in islice(_objects(record, "replaced"), MAX_LISTED)),
        links=len(pages) + len(skipped),
        candidates=len(scored),
        picks=len(selected),
        requests=figure(record.get("requests")),
        elapsed_s=figure(record.get("elapsed_s")),
    )


def _objects(record: Record, name: str) -> Iterator[Record]:
    values = record.get(name)
    return (value for value in values if isinstance(value, dict)) if isinstance(values, list) else iter(())


def _best_first(page: Record) -> tuple[float, bool, float]:
    rank, score = figure(page.get("rank")), figure(page.get("score"))
    return (math.inf if rank is None else rank, isinstance(page.get("rejected"), dict), -(score or 0))


def read_row(page: Record) -> ReportRow:
    """Read a candidate, or a page that was selected; other records can be read by giving them these names."""
    url, rank = page.get("url"), figure(page.get("rank"))
    out = page.get("rejected")
    category, bucket = (clean(page.get(name), 40) for name in ("category", "bucket"))
    return ReportRow(
        url=clean(url, MAX_URL),
        link=link_of(url),
        text=clean(page.get("title")) or clean(page.get("anchor_text")),
        rank=None if rank is None else int(rank),
        kind=bucket if bucket.startswith(category) else f"{category} {bucket}".strip(),
        score=figure(page.get("score")),
        reasons=tuple(islice(_reasons(page), MAX_LISTED)),
        out=(clean(out.get("rule"), 60), clean(out.get("reason"))) if isinstance(out, dict) else None,
        facts=tuple(_facts(page)),
        evidence=tuple(clean(e.get("text")) for e in islice(_objects(page, "evidence"), MAX_LISTED)),
    )


def link_of(url: Any) -> str | None:
    """Give a URL that may be followed: http or https, short, and without anything that a browser would mend."""
    if not isinstance(url, str) or len(url) > MAX_URL or not url.startswith(("http://", "https://")):
        return None
    return url if url.isascii() and url.isprintable() and not set(url) & set(" \"'<>\\`{}|^") else None


def _reasons(page: Record) -> Iterator[tuple[str, str]]:
    """Give what paid points, and what took them; reasons that paid nothing explain nothing."""
    for reason in _objects(page, "points"):
        points = figure(reason.get("points"))
        if points:
            sign = "" if points < 0 or reason.get("rule") == "base" else "+"
            yield f"{sign}{points}", clean(reason.get("reason")) or clean(reason.get("rule"))


def _facts(page: Record) -> Iterator[str]:
    chars, status = figure(page.get("text_chars")), figure(page.get("status"))
    if chars is not None:
        yield f"{chars:,} characters of text"
    if status is not None and status != 200:
        yield f"answered {status}"


def _replaced(entry: Record) -> ReportRow:
    return ReportRow(
        clean(entry.get("url"), MAX_URL),
        link_of(entry.get("url")),
        out=("replaced", clean(entry.get("reason"))),
    )


def _outs(pages: Iterable[Record], skipped: Iterable[Record]) -> tuple[OutGroup, ...]:
    """Group what is out by the rule that put it there, in the order in which rules are asked."""
    counts: Counter[str] = Counter()
    rows: dict[str, list[ReportRow]] = {}
    entries = [{"url": s.get("href"), "rejected": {"rule": s.get("rule"), "reason": ""}} for s in skipped]
    for page in (*entries, *pages):
        out = page.get("rejected")
        if isinstance(out, dict):
            rule = clean(out.get("rule"), 60) or "?"
            counts[rule] += 1
            if counts[rule] <= MAX_LISTED:
                rows.setdefault(rule, []).append(read_row(page))
    return tuple(OutGroup(rule, counts[rule], tuple(rows[rule])) for rule in sorted(counts, key=rule_order))


def rule_order(rule: str) -> tuple[int, int, str]:
    """Sort rules as they are asked, as far as that is the same for all profiles; the cap comes last."""
    for step, known in ((0, (*RULE_WORDS,)), (1, FILTERS), (3, (*LAST,))):
        if rule in known:
            return step, known.index(rule), rule
    return 2, 0, rule


def rule_words(rule: str, example: str) -> str:
    """Say what a rule puts out, in words that hold for every site: an example's detail comes after a colon."""
    return RULE_WORDS.get(rule) or LAST.get(rule) or example.partition(": ")[0]


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """A step of the funnel: how many links were put out, by what, and how many were left."""

    name: str
    out: int
    left: int
    why: str = ""


@dataclass(slots=True)
class Summary:
    """The sum of a run, filled site by site; of each kind of failure it keeps the first few sites."""

    sites: int = 0
    picks: int = 0
    links: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    methods: Counter[str] = field(default_factory=Counter)
    replaced: Counter[str] = field(default_factory=Counter)
    failed: dict[str, list[tuple[int, str, str]]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    _outs: Counter[str] = field(default_factory=Counter)
    _why: dict[str, str] = field(default_factory=dict)

    def add(self, site: ReportSite) -> None:
        """Count a site."""
        self.sites += 1
        self.picks += site.picks
        self.links += site.links
        self.statuses[site.status] += 1
        self.methods[site.method] += 1
        self.replaced.update(row.out[1].partition(":")[0] for row in site.replaced if row.out)
        if site.elapsed_s is not None:
            self.seconds.append(site.elapsed_s)
        if site.status != "ok":
            named = self.failed.setdefault(site.status, [])
            if len(named) < MAX_NAMED:
                named.append((site.number, site.name, site.reason))
        for group in site.outs:
            self._outs[group.rule] += group.count
            self._why.setdefault(
                group.rule, rule_words(group.rule, group.rows[0].out[1] if group.rows[0].out else "")
            )

    def funnel(self) -> list[FunnelStep]:
        """Give the way from all links to the picks, rule by rule in the order in which they are asked."""
        left = self.links
        steps = [FunnelStep("links found", 0, left)]
        for rule in sorted(self._outs, key=rule_order):
            if rule not in RULE_WORDS and steps[-1].name in ("links found", *RULE_WORDS):
                steps.append(FunnelStep("inside the site", 0, left))
            left -= self._outs[rule]
            steps.append(FunnelStep(rule, self._outs[rule], left, self._why[rule]))
        return [*steps, FunnelStep("selected", 0, self.picks)]

    def pace(self) -> tuple[float, float] | None:
        """Give the median and the 90th percentile of the seconds a site took; None if they were not timed."""
        times = sorted(self.seconds)
        return (times[len(times) // 2], times[min(len(times) * 9 // 10, len(times) - 1)]) if times else None
