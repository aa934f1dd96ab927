"""Honeyguide: a focused crawler that says which pages are worth a visit, and why.

The names below are the public API; they are loaded when first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from honeyguide.version import __version__

if TYPE_CHECKING:
    from honeyguide.app import (
        classify,
        extract_links,
        parse_page,
        rank_urls,
        score_link,
        score_page,
        score_url,
        select_links,
    )
    from honeyguide.config import load_profile
    from honeyguide.core.markdown import parse_markdown_links
    from honeyguide.core.url import Url, display, normalize
    from honeyguide.errors import (
        ConfigError,
        HoneyguideError,
        InputError,
        PatternError,
        UrlError,
    )

_HOME = {
    "classify": "app", "extract_links": "app", "parse_page": "app", "rank_urls": "app", "score_link": "app",
    "score_page": "app", "score_url": "app", "select_links": "app",
    "load_profile": "config",
    "parse_markdown_links": "core.markdown",
    "Url": "core.url", "display": "core.url", "normalize": "core.url",
    "ConfigError": "errors", "HoneyguideError": "errors", "InputError": "errors", "PatternError": "errors",
    "UrlError": "errors",
}  # fmt: skip

__all__ = [
    "ConfigError",
    "HoneyguideError",
    "InputError",
    "PatternError",
    "Url",
    "UrlError",
    "__version__",
    "classify",
    "display",
    "extract_links",
    "load_profile",
    "normalize",
    "parse_markdown_links",
    "parse_page",
    "rank_urls",
    "score_link",
    "score_page",
    "score_url",
    "select_links",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'honeyguide' has no attribute {name!r}")
    value = getattr(import_module(f"honeyguide.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
