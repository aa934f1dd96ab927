"""The places of a selection: who takes one, who is left out, and why.

Owns: quotas, reserved places, near duplicates, the cap. Must not know: filters, scores. Start reading at `take`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from honeyguide.core.pick.location_pages import similar, singulars
from honeyguide.core.why import Why

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from honeyguide.core.pick.select import Candidate
    from honeyguide.core.rules.profile import Strategy
    from honeyguide.core.url.url import Url


def take(ordered: list[Candidate], plan: Strategy, cap: int, *, keeps: bool = True) -> list[Candidate]:
    """Select from the top, within quotas, reserved places and cap; what is not selected gets the reason. Keeps the order."""
    taken: Counter[str] = Counter()
    slugs: dict[str, frozenset[str]] = {}
    result = list(ordered)
    kept = _kept_places(ordered, plan.reserve) if keeps else set()
    least = 0 if any(kind == "wish" for kind, _ in kept) else 1  # only a wish takes the first place
    is_reserved = False
    for place in _postponed(ordered, plan):
        candidate = ordered[place]
        if candidate.rejected is not None:
            continue
        bucket = candidate.bucket or ""
        claims = kept.intersection((("bucket", bucket), ("wish", candidate.wish or "")))
        is_wish = ("wish", candidate.wish) in claims
        if (twin := _twin(candidate, slugs, plan.distinct)) is not None:
            result[place] = _surplus(candidate, "near-duplicate", f"says nearly the same as {twin}")
        elif not is_wish and _is_over_quota(bucket, taken, plan):
            most = f"at most {plan.quotas[bucket]} {bucket} page"
            result[place] = _surplus(candidate, f"{bucket}-quota", most)
        elif taken.total() >= cap:
            more = "1 page before it was taken" if cap == 1 else f"{cap} pages before it were taken"
            result[place] = _surplus(candidate, "cap", more)
        elif not claims and taken.total() >= max(least, cap - len(kept)):
            is_reserved = True
            names = ", ".join(sorted({name for _, name in kept}))
            result[place] = _surplus(candidate, "reserved", f"a place is kept for {names}")
        else:
            taken[bucket] += 1
            if not candidate.url.query or not _is_script(candidate.url):
                slugs[candidate.url.path] = singulars(candidate.url.path)
            tag = "+reserved" if is_reserved and claims else ""
            kept -= claims
            reason = f"{candidate.selection_reason}{tag}"
            result[place] = candidate._replace(rank=taken.total(), selection_reason=reason)
    if is_reserved and taken.total() < cap:  # by a quota or as near duplicates, no page can take a kept place
        return take(ordered, plan, cap, keeps=False)
    return result


def _is_over_quota(bucket: str, taken: Counter[str], plan: Strategy) -> bool:
    return plan.over_quota is None and bucket in plan.quotas and taken[bucket] >= plan.quotas[bucket]


def _postponed(ordered: list[Candidate], plan: Strategy) -> Iterable[int]:
    """Move each page over its quota behind those that are better by more than `over_quota` takes from it; gives places."""
    if plan.over_quota is None:
        return range(len(ordered))
    seen: Counter[str] = Counter()
    late: dict[Url, float] = {}
    for candidate in ordered:
        bucket = candidate.bucket or ""
        if candidate.rejected is None and bucket in plan.quotas:
            seen[bucket] += 1
            if seen[bucket] > plan.quotas[bucket]:
                late[candidate.url] = plan.over_quota

    def key(place: int) -> tuple[bool, float]:
        candidate = ordered[place]
        return candidate.rejected is not None, late.get(candidate.url, 0.0) - (candidate.score or 0.0)

    return sorted(range(len(ordered)), key=key)


def _is_script(url: Url) -> bool:
    """Tell whether the query may decide what page an address shows: /page.php?id=2, /?p=2, but not /quote?from=home."""
    _, dot, extension = (url.segments or ("",))[-1].rpartition(".")
    return not extension if not dot else not extension.lower().startswith("htm")


def _surplus(candidate: Candidate, rule: str, text: str) -> Candidate:
    return candidate._replace(rejected=Why(rule, text), is_surplus=True)


def _twin(candidate: Candidate, slugs: Mapping[str, frozenset[str]], distinct: float) -> str | None:
    if distinct >= 1:
        return None
    if candidate.url.query:  # of scripts such as page.php, the path does not tell what is shown
        return candidate.url.path if candidate.url.path in slugs else None
    words = singulars(candidate.url.path)
    return next((path for path, taken in slugs.items() if similar(words, taken) >= distinct), None)


def _kept_places(candidates: Iterable[Candidate], reserve: Collection[str]) -> set[tuple[str, str]]:
    """Name the buckets and wishes that have a place of their own, if there is a page for them."""
    open_ = [candidate for candidate in candidates if candidate.rejected is None]
    buckets = {("bucket", c.bucket or "") for c in open_ if c.bucket in reserve}
    return {("wish", c.wish) for c in open_ if c.wish} | buckets
