"""How good the picks of a run are, by the user's own labels, and what changed between two runs.

Must not know: files, formats, how picks were made. Start reading at `judge_site` and `compare_sites`.

A site is *good* when three quarters of the cap are pages that its labels call core or acceptable, or all such pages
where the site has fewer. A pick that no label names is neither good nor junk.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

from honeyguide.core.text.printable import tidy
from honeyguide.core.url.url import Url
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


CORE, ACCEPTABLE, JUNK = LABELS = ("core", "acceptable", "junk")


def page_name(target: str) -> str:
    """Return one name for all spellings of a page that are the same on a static host; only path and query count."""
    if "://" in target:
        target = target.split("/", 3)[3] if target.count("/") > 2 else ""
    path, mark, query = target.partition("#")[0].partition("?")
    path = f"/{unquote(path).lower().strip('/')}"
    for end in ("/index.html", "/index.htm", ".html", ".htm"):
        path = path.removesuffix(end)
    return f"{path.rstrip('/')}{mark if query else ''}{query}"


def site_key(text: str, *, by_path: bool = False) -> str:
    """Return host and port of a site, however it is written; strict, as scope is (URL-10). Raises `UrlError`.

    `by_path` adds the path where there is one, which tells sites of one host apart.
    """
    url = Url.parse(text if "://" in text else f"https://{text}")
    return url.site + url.target.rstrip("/") if by_path else url.site


def is_of_site(page: str, *sites: str | None) -> bool:
    """Tell whether a page, a path or a URL, is on the host of one of these sites, above it or below."""
    try:
        host = site_key(page).removeprefix("www.") if "://" in page else ""
    except UrlError:
        return False
    known = [site.removeprefix("www.") for site in sites if site]
    return not host or any(f".{one}".endswith(f".{host}") or host.endswith(f".{one}") for one in known)


@dataclass(frozen=True, slots=True)
class Gold:
    """The labels of a site: names of pages (`page_name`) and what each is; and labelled URLs of other hosts."""

    site: str
    labels: Mapping[str, str]
    elsewhere: tuple[str, ...] = ()

    def label(self, url: str) -> str | None:
        """Look a page up; a label without query holds whatever the query."""
        name = page_name(url)
        return self.labels.get(name) or self.labels.get(name.partition("?")[0])

    def count(self, *labels: str) -> int:
        """Count the pages that have one of these labels."""
        return sum(label in labels for label in self.labels.values())


@dataclass(frozen=True, slots=True)
class PageDecision:
    """What a run decided about one page: its rank among the picks, or the rule that rejected it."""

    url: str
    rank: int | None = None
    score: float | None = None
    bucket: str | None = None
    rejected: str | None = None


@dataclass(frozen=True, slots=True)
class Picked:
    """One site in a run: the selected pages, best first, and every other candidate."""

    site: str  # host and port of the site as given
    selected: tuple[PageDecision, ...] = ()
    others: tuple[PageDecision, ...] = ()
    status: str = "ok"
    homepage: str | None = None  # host and port after redirects
    first: tuple[PageDecision, ...] = ()  # the first inner links of the homepage, in its order


def match_sites(gold: Iterable[str], run: Mapping[str, Picked]) -> dict[str, Picked]:
    """Find the record of each labelled site: by the site as given, else by its homepage."""
    wanted = list(gold)
    found = {site: run[site] for site in wanted if site in run}
    arrived = {picked.homepage: picked for picked in reversed(list(run.values())) if picked.site not in found}
    return {site: picked for site in wanted if (picked := found.get(site) or arrived.get(site))}


@dataclass(frozen=True, slots=True)
class SiteFigures:
    """The figures of one site. `labels` are those of its picks, in their order; None where no label names the page."""

    site: str
    labels: tuple[str | None, ...]
    buckets: tuple[str, ...]
    core: int
    good: int
    junk: int
    core_pages: int
    could: int  # core pages that fit within the cap
    is_core: bool
    is_good: bool
    has_record: bool = True


def judge_site(gold: Gold, picked: Picked | None, cap: int) -> SiteFigures:
    """Count the labels of the first `cap` picks of a site; a missing record counts as no picks."""
    chosen = picked.selected[:cap] if picked else ()
    labels = tuple(gold.label(seen.url) for seen in chosen)
    distinct = Counter(dict(zip([page_name(seen.url) for seen in chosen], labels, strict=True)).values())
    core, good = distinct[CORE], distinct[CORE] + distinct[ACCEPTABLE]
    need = 3 * cap // 4  # SPEC section 4: at least 3 of 4 picks
    return SiteFigures(
        site=gold.site,
        labels=labels,
        buckets=tuple(seen.bucket or "other" for seen in chosen),
        core=core,
        good=good,
        junk=distinct[JUNK],
        core_pages=gold.count(CORE),
        could=min(cap, gold.count(CORE)),
        is_core=core >= min(need, gold.count(CORE)),
        is_good=good >= min(need, gold.count(CORE, ACCEPTABLE)),
        has_record=picked is not None,
    )


def judge_first_links(gold: Gold, picked: Picked | None, cap: int) -> SiteFigures:
    """Judge the first links of a homepage as if they were picks: what chance gives."""
    return judge_site(gold, None if picked is None else replace(picked, selected=picked.first), cap)


@dataclass(frozen=True, slots=True)
class PickCounts:
    """Picks counted by what they are."""

    picks: int
    core: int
    good: int
    junk: int

    @property
    def precision(self) -> float | None:
        """The share of picks that are core or acceptable; None without picks."""
        return share(self.good, self.picks)


@dataclass(frozen=True, slots=True)
class Totals:
    """The figures of a run."""

    sites: int
    good: int
    core: int
    picks: PickCounts
    coverage: float | None
    could: int  # core pages that fit within the caps of all sites
    buckets: Mapping[str, PickCounts]

    @property
    def share(self) -> float | None:
        """Core pages picked, of those that fit within the cap: the figure that tells good from very good."""
        return share(self.picks.core, self.could)


def total(judged: Sequence[SiteFigures]) -> Totals:
    """Add up the figures of all sites; the bucket with the most picks comes first."""
    picks = [pair for site in judged for pair in zip(site.buckets, site.labels, strict=True)]
    sizes = Counter(bucket for bucket, _ in picks)
    return Totals(
        sites=len(judged),
        good=sum(site.is_good for site in judged),
        core=sum(site.is_core for site in judged),
        picks=_tally(label for _, label in picks),
        coverage=share(sum(site.core for site in judged), sum(site.core_pages for site in judged)),
        could=sum(site.could for site in judged),
        buckets={
            bucket: _tally(label for other, label in picks if other == bucket)
            for bucket in sorted(sizes, key=lambda bucket: (-sizes[bucket], bucket))
        },
    )


def _tally(labels: Iterable[str | None]) -> PickCounts:
    counts = Counter(labels)
    return PickCounts(counts.total(), counts[CORE], counts[CORE] + counts[ACCEPTABLE], counts[JUNK])


def share(part: int, whole: int) -> float | None:
    """Divide; None if the whole is 0."""
    return part / whole if whole else None


def interval(part: int, whole: int) -> tuple[float, float] | None:
    """Return where a share lies with 95 % probability (Wilson); None if the whole is 0.

    >>> [round(end, 3) for end in interval(58, 64)]
    [0.81, 0.956]
    """
    if not whole:
        return None
    part = min(part, whole)
    z2 = 1.96**2
    middle = (part + z2 / 2) / (whole + z2)
    half = math.sqrt(part * (whole - part) / whole * z2 + z2**2 / 4) / (whole + z2)
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True, slots=True)
class Change:
    """A page that `entered` the picks, `left` them or `moved` within them, and why."""

    kind: str
    url: str
    why: str


def compare_sites(now: Picked, before: Picked) -> list[Change]:
    """Say which picks of a site differ from another run, and why: the new picks first, then those that are gone."""
    new, old = _by_name(now.selected), _by_name(before.selected)
    unpicked, unpicked_before = _by_name(now.others), _by_name(before.others)
    changes = []
    for name, seen in new.items():
        if name not in old:
            was = unpicked_before.get(name)
            fate = f"was {_fate(was, before)}"
            changes.append(_change("entered", seen.url, f"rank {seen.rank}", _scores(was, seen), fate))
    for name, gone in old.items():
        if name not in new:
            seen_now = unpicked.get(name)
            fate = f"is {_fate(seen_now, now)}"
            changes.append(_change("left", gone.url, f"rank was {gone.rank}", _scores(gone, seen_now), fate))
    for name, seen in new.items():
        if name in old and (other := old[name]).rank != seen.rank:
            ranks = f"rank {other.rank} to {seen.rank}"
            changes.append(_change("moved", seen.url, ranks, _scores(other, seen)))
    return changes


def _by_name(pages: Iterable[PageDecision]) -> dict[str, PageDecision]:
    return {page_name(seen.url): seen for seen in pages}


def _change(kind: str, url: str, *parts: str) -> Change:
    return Change(kind, url, "; ".join(filter(None, parts)))


def _scores(was: PageDecision | None, seen: PageDecision | None) -> str:
    old, new = (None if one is None else one.score for one in (was, seen))
    if old is None or new is None:
        known = new if old is None else old
        return "" if known is None else f"score {tidy(known)}"
    return f"score {tidy(old)}" if old == new else f"score {tidy(old)} to {tidy(new)}"


def _fate(seen: PageDecision | None, run: Picked) -> str:
    if seen is None:
        return "not linked" if run.status in ("ok", "partial") else f"not seen, the site was {run.status}"
    return f"rejected by {seen.rejected}" if seen.rejected else "not chosen"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A judged run: its sites, sites without labels, and a baseline from the first links of each homepage."""

    sites: tuple[SiteFigures, ...]
    unlabelled: tuple[str, ...] = ()
    first: tuple[SiteFigures, ...] = ()
    elsewhere: tuple[str, ...] = ()  # labelled URLs of other hosts
    most: int = 0  # picks of a site

    @property
    def first_links(self) -> Totals | None:
        """The figures of this baseline."""
        return total(self.first) if any(site.labels for site in self.first) else None

    @property
    def missing(self) -> list[str]:
        """Labelled sites without a record."""
        return [site.site for site in self.sites if not site.has_record]

    @property
    def totals(self) -> Totals:
        """The figures of the run."""
        return total(self.sites)
