"""Job 1: one spelling for each URL, of an absolute one and of an href on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin

import honeyguide
from bench.measure import Contest, Pair, Unit
from bench.peers import offered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bench.sample import Sample

OURS = "normalize"
_WEB = ("http:", "https:")


def contests(sample: Sample) -> Iterator[Contest]:
    hrefs = [(href.strip(), base) for href, base in sample.hrefs if _is_web(href, base)]
    linked = [urljoin(base, href) for href, base in hrefs]
    once = list(dict.fromkeys(linked))
    yield _absolute("normalise a URL", once, f"each of {len(once):,} absolute URLs once.")
    repeats = (
        f"{len(linked):,} URLs as pages link them: menus come again, and peers with a cache answer from it."
    )
    yield _absolute("normalise a URL, repeats included", linked, repeats)
    yield _relative(hrefs)


def _absolute(job: str, urls: list[str], about: str) -> Contest:
    entrants = {OURS: honeyguide.normalize, **_peers()}
    accepted = [url for url in urls if all(_accepts(run, url) for run in entrants.values())]
    goals = {"w3lib canonicalize_url": 10.0, "courlan normalize_url": 8.0, "courlan clean_url": 8.0}
    return Contest(
        job,
        Unit("µs", len(accepted), 1e6),
        {name: _each(run, accepted) for name, run in entrants.items()},
        [Pair(OURS, name, at_least=goals.get(name)) for name in entrants if name != OURS],
        [f"{job}: {about} {len(urls) - len(accepted):,} that some entrant refuses are left out."],
    )


def _relative(hrefs: list[tuple[str, str]]) -> Contest:
    entrants: dict[str, Callable[[str, str], object]] = {OURS + "(href, base)": honeyguide.normalize}
    for name, run in _peers().items():
        if name.startswith(("w3lib", "courlan normalize")):
            entrants[f"urljoin + {name}"] = _joined(run)
    entrants["urljoin alone"] = lambda href, base: urljoin(base, href)
    accepted = [pair for pair in hrefs if all(_accepts(run, *pair) for run in entrants.values())]
    ours, *others = entrants
    return Contest(
        "resolve and normalise an href",
        Unit("µs", len(accepted), 1e6),
        {name: _each_pair(run, accepted) for name, run in entrants.items()},
        [Pair(ours, name) for name in others],
    )


def _joined(run: Callable[[str], object]) -> Callable[[str, str], object]:
    return lambda href, base: run(urljoin(base, href))


def _peers() -> dict[str, Callable[..., object]]:
    found: dict[str, Callable[..., object]] = {}
    if w3lib := offered("w3lib.url"):
        found["w3lib canonicalize_url"] = w3lib.canonicalize_url
    if courlan := offered("courlan"):
        found["courlan normalize_url"] = courlan.normalize_url
        found["courlan clean_url"] = courlan.clean_url
    if url_normalize := offered("url_normalize"):
        found["url-normalize"] = url_normalize.url_normalize
    if yarl := offered("yarl"):
        found["yarl str(URL)"] = lambda url: str(yarl.URL(url))
    if ada := offered("ada_url"):
        found["ada-url normalize_url"] = ada.normalize_url
    return found


def _is_web(href: str, base: str) -> bool:
    """Leave out mailto, tel and what nobody could parse; every entrant gets the rest."""
    try:
        return bool(href.strip()) and urljoin(base, href.strip()).startswith(_WEB)
    except ValueError:
        return False


def _accepts(run: Callable[..., object], *given: str) -> bool:
    try:
        return run(*given) is not None
    except Exception:  # noqa: BLE001 - whatever a peer raises, its answer is no
        return False


def _each(run: Callable[..., object], urls: Iterable[str]) -> Callable[[], None]:
    def go() -> None:
        for url in urls:
            run(url)

    return go


def _each_pair(run: Callable[[str, str], object], pairs: Iterable[tuple[str, str]]) -> Callable[[], None]:
    def go() -> None:
        for href, base in pairs:
            run(href, base)

    return go
