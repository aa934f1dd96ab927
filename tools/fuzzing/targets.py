"""The targets by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzzing.addresses import Hrefs, Urls
from fuzzing.files import Csv, JsonLines, JsonProfiles, Parquet, Patterns, Profiles
from fuzzing.stores import Stores
from fuzzing.web import Html, Markdown, Robots, Sitemaps

if TYPE_CHECKING:
    from collections.abc import Callable

    from fuzzing.running import Target

TARGETS: dict[str, Callable[[], Target]] = {
    target.name: target
    for target in (
        Urls, Hrefs, Html, Robots, Sitemaps, Markdown, Profiles, JsonProfiles, Patterns, Csv, JsonLines, Parquet, Stores,
    )
}  # fmt: skip
