"""The places of a selection: who takes one, who is left out, and why.

Owns: the order, quotas, reserved places, near duplicates, the cap, counts. Must not know: filters, how scores are made. Start reading at `take`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from honeyguide.core.pick.location_pages import similar, singulars
from honeyguide.core.pick.wishes import NEVER
from honeyguide.core.rules.language import half_up
from honeyguide.core.why import Why

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from honeyguide.core.pick.select import Candidate
    from honeyguide.core.rules.profile import Profile, Strategy
    from honeyguide.core.url.url import Url

_ROUNDING = 1e-6


def take(ordered: list[Candidate], strategy: Strategy, cap: int, *, keeps: bool = True) -> list[Candidate]:
    """Select from the top, within quotas, reserved places and cap; what is not selected gets the reason. Keeps the order."""
    taken: Counter[str] = Counter()
    slugs: dict[str, frozenset[str]] = {}
    result = list(ordered)
    kept = _kept_places(ordered, strategy.reserve) if keeps else set()
    least = 0 if any(kind == "wish" for kind, _ in kept) else 1  # only a wish takes the first place
    full = Why("cap", "1 page before it was taken" if cap == 1 else f"{cap} pages before it were taken")
    is_reserved, size = False, 0
    for place in _postponed(ordered, strategy):
        candidate = ordered[place]
        if candidate.rejected is not None:
            continue
        bucket = candidate.bucket or ""
        claims = kept.intersection((("bucket", bucket), ("wish", candidate.wish or ""))) if kept else kept
        is_wish = ("wish", candidate.wish) in claims
        if (other := _near_duplicate(candidate.url, slugs, strategy.distinct)) is not None:
            result[place] = _surplus(
                candidate, Why("near-duplicate", f"its address has nearly the same words as {other}")
            )
        elif not is_wish and _is_over_quota(bucket, taken, strategy):
            most = f"at most {strategy.quotas[bucket]} {bucket} page"
            result[place] = _surplus(candidate, Why(f"{bucket}-quota", most))
        elif size >= cap:
            result[place] = _surplus(candidate, full)
        elif not claims and size >= max(least, cap - len(kept)):
            is_reserved = True
            names = ", ".join(sorted({name for _, name in kept}))
            result[place] = _surplus(candidate, Why("reserved", f"a place is kept for {names}"))
        else:
            taken[bucket] += 1
            size += 1
            if not candidate.url.query or not _is_script(candidate.url):
                slugs[candidate.url.path] = singulars(candidate.url.path)
            result[place] = candidate._replace(rank=size, is_kept=bool(is_reserved and claims))
            kept = kept - claims
    if is_reserved and size < cap:  # by a quota or as near duplicates, no page can take a kept place
        return take(ordered, strategy, cap, keeps=False)
    return result


def _is_over_quota(bucket: str, taken: Counter[str], strategy: Strategy) -> bool:
    return (
        strategy.over_quota is None and bucket in strategy.quotas and taken[bucket] >= strategy.quotas[bucket]
    )


def _postponed(ordered: list[Candidate], strategy: Strategy) -> Iterable[int]:
    """Order pages as if each over its quota had `over_quota` points less; gives indexes into `ordered`."""
    if strategy.over_quota is None:
        return range(len(ordered))
    seen: Counter[str] = Counter()
    late: dict[Url, float] = {}
    for candidate in ordered:
        bucket = candidate.bucket or ""
        if candidate.rejected is None and bucket in strategy.quotas:
            seen[bucket] += 1
            if seen[bucket] > strategy.quotas[bucket]:
                late[candidate.url] = strategy.over_quota

    def key(index: int) -> tuple[bool, float]:
        candidate = ordered[index]
        return candidate.rejected is not None, late.get(candidate.url, 0.0) - (candidate.score or 0.0)

    return sorted(range(len(ordered)), key=key)


_SHORT_PATH = 200  # characters; in a longer one, searching each word takes longer than cutting it into words


def _is_script(url: Url) -> bool:
    """Tell whether the query may decide what page an address shows: /page.php?id=2, /?p=2, but not /quote?from=home."""
    _, dot, extension = (url.segments or ("",))[-1].rpartition(".")
    return not extension if not dot else not extension.lower().startswith("htm")


def _surplus(candidate: Candidate, why: Why) -> Candidate:
    return type(candidate)(candidate[0], why, True, *candidate[3:])  # faster than `_replace`


def _near_duplicate(url: Url, slugs: Mapping[str, frozenset[str]], distinct: float) -> str | None:
    """Find a page that was taken whose address has nearly the same words."""
    if distinct >= 1:
        return None
    path = url.path
    if url.query:  # of scripts such as page.php, the path does not tell what is shown
        return path if path in slugs else None
    words: frozenset[str] | None = None
    lower = path.lower() if len(path) <= _SHORT_PATH and path.isascii() and "%" not in path else None
    for other, taken in slugs.items():
        # Most paths have too few of its words, whatever else is in them.
        if lower is not None and sum([word in lower for word in taken]) < distinct * len(taken) - _ROUNDING:
            continue
        words = singulars(path) if words is None else words
        if similar(words, taken) >= distinct:
            return other
    return None


def _kept_places(candidates: Iterable[Candidate], reserve: Collection[str]) -> set[tuple[str, str]]:
    """Name the buckets and wishes that have a place of their own, if there is a page for them."""
    open_ = [candidate for candidate in candidates if candidate.rejected is None]
    buckets = {("bucket", c.bucket or "") for c in open_ if c.bucket in reserve}
    return {("wish", c.wish) for c in open_ if c.wish} | buckets


def order_keys(
    candidates: Sequence[Candidate], profile: Profile, strategy: Strategy
) -> list[tuple[float | str, ...]]:
    """Return the keys by which a strategy orders candidates."""
    buckets = profile.kinds_of(strategy).buckets

    def steps(candidate: Candidate) -> float:
        value = strength(candidate, profile, strategy)
        return half_up(value / strategy.epsilon) if strategy.epsilon else value

    def priority(candidate: Candidate) -> float:
        bucket = buckets.get(candidate.bucket or "")
        return float(bucket.priority) if bucket else 0.0

    columns: Mapping[str, Callable[[], list[float] | list[str]]] = {
        "score": lambda: [-steps(c) for c in candidates],
        "bucket": lambda: [priority(c) for c in candidates],
        "path_length": lambda: [float(len(c.link.url.segments)) for c in candidates],
        "document": lambda: [float(c.link.order) for c in candidates],
        "url": lambda: [c.link.url.text for c in candidates],
    }
    return list(zip(*[columns[name]() for name in dict.fromkeys((*strategy.order, "url"))], strict=True))


def strength(candidate: Candidate, profile: Profile, strategy: Strategy) -> float:
    """Return a score without the handicap of its bucket (PICK-17)."""
    score = candidate.score.value if candidate.score is not None else 0.0
    bucket = (
        profile.kinds_of(strategy).buckets.get(candidate.bucket or "") if "bucket" in strategy.order else None
    )
    return score - (bucket.handicap if bucket else 0.0)


def count_rules(candidates: Sequence[Candidate], profile: Profile, strategy: Strategy) -> dict[str, int]:
    """Count what PICK-20 asks for; a rule of the profile that rejected nothing counts 0."""
    rules = (*profile.filters.rules, *strategy.filters.rules, *strategy.drops.rules)
    keeps = strategy.reserve or strategy.wants.rules
    limits = (
        "cap",
        "replaced",
        *(["reserved"] if keeps else []),
        *([NEVER] if strategy.nevers.rules else []),
    )
    names = (*(rule.id for rule in rules), *(f"{bucket}-quota" for bucket in strategy.quotas), *limits)
    rejected = Counter(dict.fromkeys(names, 0))
    rejected.update(candidate.rejected.rule for candidate in candidates if candidate.rejected is not None)
    scored = [candidate for candidate in candidates if candidate.score is not None]
    return {
        "links": len(candidates),
        "filtered": len(candidates) - len(scored),
        "candidates": len(scored),
        "above_threshold": sum(c.is_good for c in scored),
        "selected": sum(c.rank is not None for c in scored),
        **{f"rejected_{rule.replace('-', '_')}": count for rule, count in sorted(rejected.items())},
    }
