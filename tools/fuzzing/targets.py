"""The targets by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzzing.files import Csv, JsonLines, Parquet, Patterns, Profiles
from fuzzing.stores import Stores
from fuzzing.web import Hrefs, Html, Markdown, Robots, Sitemaps, Urls

if TYPE_CHECKING:
    from collections.abc import Callable

    from fuzzing.running import Target

TARGETS: dict[str, Callable[[], Target]] = {
    target.name: target
    for target in (
        Urls, Hrefs, Html, Robots, Sitemaps, Markdown, Profiles, Patterns, Csv, JsonLines, Parquet, Stores,
    )
}  # fmt: skip
