"""The pages of a crawl as its store has them, as objects: what `export pages` and `rescore` write.

Owns: `export_pages`. Must not know: which pages are wanted (`app.tools.kept_pages`), files. Nothing is fetched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.app.arguments import count_of, profile_on, score_of
from honeyguide.app.library.pages import page_from_store
from honeyguide.app.tools.kept_pages import PageChoice, choose, stored_pages
from honeyguide.core.rules.profile import Profile
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from honeyguide.app.library.pages import CrawledPage
    from honeyguide.ports.store import Store


def export_pages(  # noqa: PLR0913 - settings of a library call, all by keyword
    store: Store | str | Path = "honeyguide.db",
    *,
    run: int | None = None,
    topic: str | None = None,
    related: Sequence[str] = (),
    profile: Profile | str | Path = "docs",
    min_score: float | None = None,
    min_relevance: float | None = None,
    path: str | None = None,
    language: str | None = None,
    changed: bool = False,
    top: int | None = None,
    lists: bool = False,
) -> Iterator[CrawledPage]:
    """Give the pages of a `run` from its store, without a request; None: of the run started last.

    They come in the order of the visits; with `top` the best first, without lists of pages and copies. With a `topic`, or a
    loaded `profile` that has one, its score replaces that of the crawl.
    """
    is_scored = topic is not None or isinstance(profile, Profile)
    if not is_scored and (tuple(related) or profile != "docs"):
        raise InputError(
            "export_pages: related and profile score pages anew: give a topic, too", field="topic"
        )
    if lists and top is None:
        raise InputError("export_pages: goes with top; without it, lists are among the pages", field="lists")
    choice = PageChoice(
        min_score=score_of(min_score, 10.0),  # TOPIC-2
        min_relevance=score_of(min_relevance, 1.0, "min_relevance"),  # TOPIC-7
        path=path,
        language=language,
        changed=changed,
        top=count_of(top, "top"),
        lists=lists,
    )
    scored_by = profile_on(profile, topic, related) if is_scored else None
    return _pages(store, run, scored_by, choice)


def _pages(
    store: Store | str | Path, run: int | None, profile: Profile | None, choice: PageChoice
) -> Iterator[CrawledPage]:
    with stored_pages(store, run, profile) as pages:
        for page in choose(pages, choice):
            yield page_from_store(page.record, page.content())
