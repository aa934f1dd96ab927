"""What labels of a user say: how good the picks of a run are (`eval`), and which points would pick better (`learn`).

Owns: the library calls, and the records of sites, of their sum, and of changes. Must not know: options, terminals, how figures are
made (`core.pick.evaluate`) and changes chosen (`core.pick.learn`). Start reading at `judge_picks` and `learn_from`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from honeyguide.adapters.files.links import PageRows
from honeyguide.adapters.files.read import name_of
from honeyguide.adapters.files.results import read_gold, read_picks
from honeyguide.adapters.files.rows import RawRow
from honeyguide.app.arguments import count_of, strategy_profile, url_of
from honeyguide.app.tools.results import read
from honeyguide.core.pick.evaluate import (
    Evaluation,
    PickCounts,
    Picked,
    SiteFigures,
    Totals,
    interval,
    is_of_site,
    judge_first_links,
    judge_site,
    match_sites,
    site_key,
)
from honeyguide.core.pick.learn import FOLDS, LabelledSite, ProfileLearner
from honeyguide.core.records import SCHEMA
from honeyguide.core.records.command_records import EvalRecord, LearnRecord
from honeyguide.core.records.fields import columns
from honeyguide.core.text.printable import printable, rounded, tidy
from honeyguide.core.why import Why
from honeyguide.errors import InputError, UrlError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from honeyguide.core.pick.evaluate import Gold
    from honeyguide.core.pick.learn import ProfileLesson, Proposal
    from honeyguide.core.records import Record
    from honeyguide.core.rules.profile import Profile

    OnFold = Callable[[int, int], None]

__all__ = ["Evaluation", "PickCounts", "Totals", "interval"]  # front ends import them from here
EVAL_COLUMNS = columns(EvalRecord)
_NAMED_AT_MOST = 10  # sites in a sentence
LEARN_COLUMNS = columns(LearnRecord)
LEAST_SITES = 6
STEPS = FOLDS + 1  # that are reported, at most
_USELESS = {"replaced", "untried"}  # rules that reject a page after it was selected


def judge_picks(picks: str | Path, gold: str | Path, *, cap: int = 4) -> Evaluation:
    """Judge the first `cap` picks of each labelled site; a labelled site without a record counts as no picks."""
    count_of(cap, "cap")
    labels = read_gold(str(gold))
    now = read_picks(str(picks), keep_others=False)
    matched = match_sites(labels, now)
    if not matched:
        raise InputError(
            f"has no record of a labelled site: it has {name_sites(now)}, labelled are {name_sites(labels)}; "
            "host and port must be the same",
            file=name_of(str(picks)),
        )
    found = {picked.site for picked in matched.values()}
    judged = tuple(judge_site(one, matched.get(site), cap) for site, one in labels.items())
    first = tuple(judge_first_links(one, matched.get(site), cap) for site, one in labels.items())
    unlabelled = tuple(site for site in now if site not in found)
    arrived = {site: picked.homepage for site, picked in matched.items()}
    most = max(len(picked.selected) for picked in matched.values())
    return Evaluation(judged, unlabelled, first, _elsewhere(labels, arrived), most)


def _elsewhere(labels: Mapping[str, Gold], homepages: Mapping[str, str | None]) -> tuple[str, ...]:
    """List the labelled URLs that are of another host than their site, and than its homepage after redirects."""
    return tuple(
        page
        for site, gold in labels.items()
        for page in gold.elsewhere
        if not is_of_site(page, homepages.get(site))
    )


def elsewhere_note(pages: Iterable[str]) -> str:
    """Say what is made of labelled URLs of other hosts."""
    return f"labelled, but not on the host of its site: {name_sites(pages)}; only the path counts"


def name_sites(sites: Iterable[str]) -> str:
    """List sites, but not too many of them."""
    names = list(sites)
    more = len(names) - _NAMED_AT_MOST
    return (", ".join(names[:_NAMED_AT_MOST]) or "no site") + (f" and {more} more" if more > 0 else "")


def site_record(judged: SiteFigures) -> Record:
    """Make the record of a site."""
    return {
        "schema": SCHEMA,
        "kind": "site",
        "site": judged.site,
        "verdict": verdict(judged),
        "picks": len(judged.labels),
        "core": judged.core,
        "good": judged.good,
        "junk": judged.junk,
        "core_pages": judged.core_pages,
        "labels": [label or "unlabelled" for label in judged.labels],
        "has_record": judged.has_record,
    }


def verdict(judged: SiteFigures) -> str:
    """Say in words how a site was judged; capitals, so that it is seen without colour."""
    word = "good" if judged.is_good else "NOT good"
    if not judged.has_record:
        return f"{word}, no record"
    return f"{word}, with junk" if judged.junk else word


def total_record(judged: Evaluation) -> Record:
    """Make the record of the whole run."""
    totals, first = judged.totals, judged.first_links
    return {
        "schema": SCHEMA,
        "kind": "total",
        **figures_record(totals),
        "buckets": [{"bucket": name, **_counts(counts)} for name, counts in totals.buckets.items()],
        "first_links": None if first is None else figures_record(first),
    }


def figures_record(totals: Totals) -> Record:
    """Write the figures of a run; intervals are those of 95 % (Wilson)."""
    counts = totals.picks
    return {
        "sites": totals.sites,
        "good_sites": totals.good,
        "good_interval": _rounded(interval(totals.good, totals.sites)),
        "core_sites": totals.core,
        **_counts(counts),
        "junk_interval": _rounded(interval(counts.junk, counts.picks)),
        "share": rounded(totals.share),
        "share_interval": _rounded(interval(counts.core, totals.could)),
        "coverage": rounded(totals.coverage),
    }


def _rounded(ends: tuple[float, float] | None) -> list[float | None] | None:
    return None if ends is None else [rounded(end) for end in ends]


def _counts(counts: PickCounts) -> Record:
    return {**asdict(counts), "precision": rounded(counts.precision)}


# --- learning ---


@dataclass(frozen=True, slots=True)
class LearnedProfile:
    """A lesson, the profile and the strategy that it changes, the labelled sites without links, and labelled URLs of other hosts."""

    lesson: ProfileLesson
    profile: Profile
    source: str
    strategy: str
    sites: int
    missing: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


def labels_of(path: str | Path) -> dict[str, Gold]:
    """Read labels as `eval --gold` does, and reject too few of them, because a choice among rules would be chance."""
    labels = read_gold(str(path))
    _need(len(labels), "labels", str(path))
    return labels


def _need(sites: int, what: str, file: str, why: str = "") -> None:
    if sites < LEAST_SITES:
        count = f"{what} of {sites} site{'' if sites == 1 else 's'}"
        raise InputError(f"has {count}; {LEAST_SITES} are the least, a few dozen are better{why}", file=file)


def _why_without_links(record: Record) -> str:
    """Say why a record has no links: it is of a table, which has no room for them, or something was wrong with the site."""
    if "candidates" not in record:
        return "; only JSON lines and Parquet of pick have the links"
    return f"; {record['site']} is {record['status']}: {record['reason']}"


def learn_from(  # noqa: PLR0913 - settings of a library call, all by keyword
    labels: Mapping[str, Gold],
    records: str | Path | Iterable[Record],
    *,
    strategy: str = "portfolio",
    profile: str | Path | None = None,
    cap: int | None = None,
    on_fold: OnFold = lambda _done, _all: None,
) -> LearnedProfile:
    """Learn from labels and the records of a pick of the same sites, or from the file of such a run.

    The labels are those of `labels_of`. `on_fold` hears how many of how many steps are done.
    """
    loaded = strategy_profile(strategy, profile)
    limit = count_of(cap, "cap", "that of the profile") or loaded.strategies[strategy].cap
    file = str(records) if isinstance(records, str | Path) else "the run"
    rows = list(read(file) if isinstance(records, str | Path) else records)
    known = {_key(record["site"]): record for record in rows if record.get("candidates")}
    reached = {key: Picked(key, homepage=_key(record["homepage"])) for key, record in known.items()}
    found = {site: known[picked.site] for site, picked in match_sites(labels, reached).items()}
    without = next((record for record in rows if not record.get("candidates")), None)
    _need(len(found), "links", file, "" if without is None else _why_without_links(without))
    both = (loaded.filters, loaded.strategies[strategy].filters)
    filters = {rule.id for rules in both for rule in rules.rules}
    sites = [labelled_site(labels[site], record, filters | _USELESS) for site, record in found.items()]
    lesson = ProfileLearner(sites, loaded, strategy, limit).learn(on_fold)
    missing = tuple(site for site in labels if site not in found)
    source = str(profile) if profile is not None else loaded.name
    elsewhere = _elsewhere(
        labels, {site: reached[_key(record["site"])].homepage for site, record in found.items()}
    )
    return LearnedProfile(lesson, loaded, source, strategy, len(sites), missing, elsewhere)


def _key(site: object) -> str:
    try:
        return site_key(str(site))
    except UrlError:
        return str(site)


def labelled_site(gold: Gold, record: Record, filters: Collection[str] = ()) -> LabelledSite:
    """Make what is learned from of a record of `pick`; what `filters` rejected then stays rejected."""
    from honeyguide.app.tools.pages import page_of_hrefs  # eval needs no reader of pages

    home = url_of(record["homepage"])
    rows = PageRows((), home)
    listed, rejected = [], {}
    for place, one in enumerate(record["candidates"], 1):
        head, why = one["head_data"] or {}, one["rejected"]
        cells = {**one, "head_title": head.get("title"), "head_description": head.get("description")}
        row = rows.checked(RawRow(place, f"the record of {gold.site}", cells), place)
        listed.append(row)
        if why is not None and why["rule"] in filters:
            rejected[url_of(row.href)] = Why(why["rule"], why["reason"])
    page = page_of_hrefs(home, ((row.href, one) for row in listed for one in row.occurrences))
    heads = {url_of(row.href): row.head for row in listed if row.head is not None}
    return LabelledSite(gold, home, page.links, heads, rejected)


def change_records(learned: LearnedProfile) -> list[Record]:
    """Make a record of each change that is proposed."""
    return [
        {
            "schema": SCHEMA,
            "kind": proposal.change.kind,
            "name": proposal.change.name,
            "before": None if proposal.before is None else tidy(proposal.before),
            "points": None if proposal.change.kind == "drop" else tidy(proposal.change.points),
            "wanted": proposal.evidence.wanted,
            "junk": proposal.evidence.junk,
            "other": proposal.evidence.other,
            "sites": proposal.evidence.sites,
            "folds": proposal.folds,
            "sentence": sentence(proposal, learned.lesson.folds),
        }
        for proposal in learned.lesson.proposals
    ]


def sentence(proposal: Proposal, folds: int) -> str:
    """Say what changes, and why."""
    change, found = proposal.change, proposal.evidence
    points = f"{tidy(change.points):+}"
    what = {
        "rule": f"points of the rule {change.name}: {tidy(proposal.before or 0.0):+} to {points}",
        "bucket": f"a rule for the bucket {change.name}: {points}",
        "word": f"the word '{change.name}' in the slug or the text of a link: {points}",
        "drop": f"the rule {change.name} no longer rejects",
    }[change.kind]
    pages = f"{found.wanted} wanted, {found.junk} junk, {found.other} other pages on {found.sites} sites"
    return printable(f"{what} ({pages}; {proposal.folds} of {folds} folds agree)")


def lesson_record(learned: LearnedProfile) -> Record:
    """Make the record of the lesson: figures before, and after on sites that were held out."""
    lesson = learned.lesson
    figures = {"before": figures_record(lesson.before), "after": figures_record(lesson.after)}
    return {"schema": SCHEMA, "kind": "total", "sites": learned.sites, "folds": lesson.folds, **figures}


def notes(learned: LearnedProfile) -> Iterator[str]:
    """Say what could not be learned from."""
    lesson = learned.lesson
    if learned.elsewhere:
        yield elsewhere_note(learned.elsewhere)
    if learned.missing:
        yield f"no links are known of {name_sites(learned.missing)}: not learned from"
    if lesson.unlinked:
        them = "it" if lesson.unlinked == 1 else "them"
        yield f"no homepage links {_pages(lesson.unlinked)}, so that no rule can pick {them}"
    for rule, count in lesson.filtered.items():
        yield f"the filter {rule} rejects {_pages(count)}, and filters are not changed"


def _pages(count: int) -> str:
    return "1 wanted page" if count == 1 else f"{count} wanted pages"


def figures(totals: Totals) -> str:
    """Write the figures that are compared."""
    share = "-" if totals.share is None else f"{totals.share:.1%}"
    return f"{share} of the core pages that fit, {totals.picks.junk} junk, {totals.good} of {totals.sites} sites good"
