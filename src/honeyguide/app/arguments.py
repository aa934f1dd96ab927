"""Arguments of users, turned into types: URLs, profiles, patterns, times, fetch policies.

Owns: reading the arguments of library calls, and the sentence where they are wrong. Must not know: what they are for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from honeyguide.adapters.files.logins import read_logins
from honeyguide.adapters.files.signals import field_name, read_signals, read_time
from honeyguide.config import bundled_profiles, load_profile
from honeyguide.core.fetching import HAS_LOGIN, Access, FetchPolicy, addresses_of, without_login
from honeyguide.core.page.page import Position
from honeyguide.core.pick.wishes import with_wishes
from honeyguide.core.recrawl.plan import NAMES, UrlSignals
from honeyguide.core.rules.profile import Profile
from honeyguide.core.rules.topic import topic_of
from honeyguide.core.text.pattern import compile_pattern
from honeyguide.core.url.scope import reach_of
from honeyguide.core.url.steps import scheme_of, trim
from honeyguide.core.url.url import Url
from honeyguide.errors import ConfigError, InputError, Problem, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from honeyguide.core.text.pattern import Pattern

__all__ = ["Access", "FetchPolicy", "Profile", "read_logins", "read_time"]  # front ends import them from here
Item = TypeVar("Item")
_STATUSES = (100, 999)
TABLES = ("csv", "jsonl", "parquet")  # formats of files with a row for each URL
_PORT = re.compile(r"[0-9]{1,5}(?:[/?#]|$)")


def url_of(value: str | Url) -> Url:
    """Read a URL."""
    return value if isinstance(value, Url) else Url.parse(value)


def profile_of(value: Profile | str | Path) -> Profile:
    """Load a profile by its name or path."""
    return value if isinstance(value, Profile) else load_profile(value)


def profile_on(value: Profile | str | Path, topic: str | None, related: Iterable[str] = ()) -> Profile:
    """Load a profile with a topic; a loaded profile has its topic already, because it is compiled into its rules."""
    terms = tuple(related)
    if not isinstance(value, Profile):
        value = load_profile(value, topic=topic, related=terms or None)
    elif topic not in (None, topic_of(value).source) or terms not in ((), value.topic.related):
        raise InputError(
            f"the profile is loaded, for {shown(topic_of(value).source)}; "
            "give topic and related to load_profile, or the profile by its name",
            field="topic",
        )
    topic_of(value)
    return value


def fetch_policy(  # noqa: PLR0913 - one argument for each option
    *,
    concurrency: int = 1,
    delay: float | None = None,
    timeout: float | None = None,
    site_timeout: float | None = None,
    retries: int | None = None,
    user_agent: str | None = None,
    contact: str | None = None,
    allow_private: bool = False,
    headers: Iterable[tuple[str, str]] = (),
    proxy: str | None = None,
    netrc: Iterable[tuple[str, str, str]] = (),
) -> FetchPolicy:
    """Make a fetch policy of what differs from the defaults; `timeout` bounds the shorter ones, too."""
    plain = FetchPolicy()
    changes: dict[str, Any] = {
        "delay_s": delay,
        "retries": retries,
        "total_timeout_s": timeout,
        "site_timeout_s": site_timeout,
    }
    if timeout is not None:
        for name in ("read_timeout_s", "connect_timeout_s"):
            changes[name] = min(getattr(plain, name), timeout)
    return FetchPolicy(
        concurrency=max(plain.concurrency, concurrency),
        user_agent=user_agent,
        contact=contact,
        allow_private=allow_private,
        access=Access(tuple(headers), tuple(netrc), proxy),
        **{name: value for name, value in changes.items() if value is not None},
    )


def read_seeds(seeds: str | Url | Iterable[str | Url]) -> tuple[tuple[Url, ...], dict[Url, list[Url]]]:
    """Read seeds, or one: URLs, or bare names, which come with further addresses: with or without www and https."""
    given = [seeds] if isinstance(seeds, (str, Url)) else all_of(seeds, str, Url)
    addresses = [[seed] if isinstance(seed, Url) else addresses_of(seed) for seed in given]
    return tuple(first for first, *_ in addresses), {first: rest for first, *rest in addresses if rest}


def needs_topic(profile: Profile, traversal: str) -> bool:
    """Tell whether a traversal orders pages by a topic that nobody has named."""
    from honeyguide.jobs.request import traversal_of  # what crawls need, others do not load

    return traversal_of(profile, traversal).order == "score" and profile.topic.pattern is None


def lasting_name(profile: str) -> str:
    """Name a profile so that it is found again from any folder."""
    return profile if profile in bundled_profiles() else str(Path(profile).resolve())


def patterns_of(sources: str | Iterable[str]) -> tuple[Pattern, ...]:
    """Compile patterns, or one."""
    return tuple(map(compile_pattern, (sources,) if isinstance(sources, str) else all_of(sources, str)))


def all_of(values: Iterable[Item], *kinds: type[Any]) -> tuple[Item, ...]:
    """Read all values, and reject those of another type."""
    read = tuple(values)
    for value in read:
        if not isinstance(value, kinds):
            raise InputError(f"a {kinds[0].__name__} is expected, not {type(value).__name__}")
    return read


def check_no_login(addresses: Iterable[str]) -> None:
    """Reject addresses with a user or a password; the message has neither."""
    for address in addresses:
        if (bare := without_login(address)) != address:
            raise InputError(f"{shown(bare)} {HAS_LOGIN}")


def named_urls(sites: Iterable[str]) -> Iterator[Url]:
    """Give the addresses that sites name; for a bare name, those with https."""
    for site in sites:
        with suppress(UrlError):  # its record says so
            first, *others = addresses_of(site)
            yield from (first, *(url for url in others if url.scheme == "https"))


def strategy_profile(
    strategy: str,
    value: Profile | str | Path | None = None,
    query: str | None = None,
    scope: str | None = None,
    wishes: Wishes | None = None,
) -> Profile:
    """Load the profile that selects: the one that is named, or the strategy's own; it must have the strategy.

    `scope` is the reach of links; None is that of the strategy. `wishes` are added to those of the profile.
    """
    # The numbers of `rules` and `blend` are those of the fire-protection guide (SPEC).
    own = "fire-protection" if strategy in ("rules", "blend") else "company"
    profile = profile_of(own if value is None else value)
    if strategy not in profile.strategies:
        names = ", ".join(profile.strategies) or "none"
        raise ConfigError(profile.name, (Problem("strategy", f"has no {strategy!r}; it has {names}"),))
    reach = profile.strategies[strategy].scope if scope is None else reach_of(scope)
    profile = replace(profile, scope=profile.scope.within(reach))
    if wishes is not None and any(wishes):
        profile = with_wishes(profile, strategy, *wishes)
    return profile if query is None else replace(profile, query=replace(profile.query, text=query))


class Wishes(NamedTuple):
    """What is wanted of every site, or never: buckets, or words."""

    want: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


def wishes_of(want: str | Iterable[str], never: str | Iterable[str]) -> Wishes:
    """Read wishes; each text may name several, separated by commas."""
    wishes = Wishes(_names(want, "want"), _names(never, "never"))
    if both := set(wishes.want).intersection(wishes.never):
        raise InputError(f"{min(both)!r} is wanted and never wanted; leave one of them out", field="never")
    return wishes


def _names(value: str | Iterable[str], field: str) -> tuple[str, ...]:
    from honeyguide.config.shapes import MAX_WISHES, WORD_CHARS  # not for those who wish nothing

    texts = [value] if isinstance(value, str) else all_of(value, str)
    names = [" ".join(name.split()).lower() for text in texts for name in text.split(",")]
    if len(names) > MAX_WISHES:
        raise InputError(f"names {len(names):,} kinds of pages; {MAX_WISHES} are the most", field=field)
    for name in names:
        if not name or len(name) > WORD_CHARS or not name.isprintable():
            raise InputError(f"{shown(name)} is no word; give words, separated by commas", field=field)
        if name.startswith("/") or "://" in name:
            what = "is an address, not a word; include and exclude take addresses"
            raise InputError(f"{shown(name)} {what}", field=field)
    return tuple(dict.fromkeys(names))


def position_of(value: str) -> Position:
    """Read the position of a link on its page."""
    try:
        return Position(value)
    except ValueError:
        allowed = ", ".join(position.value for position in Position)
        raise InputError(f"no position is named {value!r}; there are {allowed}", field="position") from None


def count_of(value: int | None, field: str, without: str = "no limit") -> int | None:
    """Reject a limit below 1; `without` says what None is."""
    if value is not None and value < 1:
        raise InputError(f"{value} is too few; give 1 or more, or None for {without}", field=field)
    return value


def check_tables(paths: str | Path | Sequence[str | Path], kind: str | None, field: str = "kind") -> None:
    """Reject no file at all, and a format that there is not."""
    if not isinstance(paths, (str, Path)) and not paths:
        raise InputError("names no file; give at least one", field="paths")
    if kind not in (None, *TABLES):
        raise InputError(f"no format is named {shown(kind)}; there are {', '.join(TABLES)}", field=field)


def score_of(value: float | None, most: float, field: str = "min_score") -> float | None:
    """Reject a score outside its range."""
    if value is not None and not 0 <= value <= most:
        raise InputError(f"{value} is no score; they go from 0 to {most:g}", field=field)
    return value


def levels_of(value: str | Iterable[str], profile: Profile) -> tuple[str, ...]:
    """Read names of levels, or one."""
    names = (value,) if isinstance(value, str) else tuple(value)
    known = [level.name for level in profile.levels]
    for name in names:
        if name not in known:
            raise InputError(f"no level is named {name!r}; there are {', '.join(known)}", field="levels")
    return names


def fields_of(columns: Mapping[str, str] | None, known: Iterable[str]) -> dict[str, str]:
    """Turn the names of columns, by field, into fields by column; rejects an empty name, no field, and a column for two."""
    fields: dict[str, str] = {}
    names = tuple(known)
    for given, column in (columns or {}).items():
        field = field_name(given)
        if field not in names:
            raise InputError(
                f"{shown(given)} is no field that a column may be; there are {', '.join(names)}",
                field="columns",
            )
        if not column.strip():
            raise InputError(f"{field} is given no column; name one, or leave it out", field="columns")
        if column in fields:
            raise InputError(f"{shown(column)} is given to {fields[column]} and {field}", field="columns")
        fields[column] = field
    return fields


def signals_of(value: Mapping[str, Any] | UrlSignals, number: int | None) -> UrlSignals:
    """Read what is known of a URL; an error names the row by its number."""
    if isinstance(value, UrlSignals):
        value = {name: getattr(value, name) for name in NAMES}
    if not isinstance(value, Mapping):
        raise InputError(f"must be a mapping or UrlSignals, not {type(value).__name__}", row=number)
    return read_signals(value, number=number)


def moment_of(now: datetime | None, name: str = "now") -> datetime:
    """PLAN-4: the outermost call reads the clock, and only if it was not given the time."""
    if now is None:
        return datetime.now(UTC)
    if now.tzinfo is None:
        raise InputError("has no time zone; pass an aware datetime", field=name)
    try:
        return now.astimezone(UTC)
    except OverflowError:
        raise InputError("lies outside of the years 1 to 9999, in UTC", field=name) from None


def check_status(status: int) -> None:
    """Reject what is no status of HTTP."""
    if not _STATUSES[0] <= status <= _STATUSES[1]:
        raise InputError(f"must be from {_STATUSES[0]} to {_STATUSES[1]}", field="status")


def without_halves(text: str) -> str:
    """Escape halves of characters, which no store can hold."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def is_path(text: str) -> bool:
    """Tell whether only the path of an address is written, as crawl prints it."""
    trimmed = trim(text)
    return trimmed.startswith("/") and not trimmed.startswith("//")


def on_sites(path: str, sites: Iterable[str]) -> list[str]:
    """Complete a path by the sites it may be on."""
    return [f"https://{site}{trim(path)}" for site in sorted(sites)]


def complete_address(text: str) -> str:
    """Complete a host that is written without `https://`; a number after its colon is a port.

    >>> complete_address("localhost:8000/a"), complete_address("mailto:a@b.example")
    ('https://localhost:8000/a', 'mailto:a@b.example')
    """
    trimmed = trim(text)
    scheme = scheme_of(trimmed)
    return text if scheme and not _PORT.match(trimmed, len(scheme) + 1) else f"https://{text}"
