"""Sites without end, told by rule: calendars, session ids, growing paths, facets, pages that are all alike.

Owns: `Traps`, the memory of one crawl, and the verdicts it gives: TRAP-1 to TRAP-8. The numbers are profile data.
Must not know: the queue, fetching, scores. Start reading at `Traps.admit` (a link) and `Traps.learn` (a page).

URLs that differ only in a number or a token are a *family*. Most families are fine: products, articles, issues. One is
closed when its pages turn out alike, one after the other; families of dates, facets and sessions have a limit at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.page.likeness import Sketch, likeness
from honeyguide.core.text.fold import find_phrase
from honeyguide.core.why import Why

if TYPE_CHECKING:
    from collections.abc import Iterable

    from honeyguide.core.page.page import Page
    from honeyguide.core.rules.profile import TrapLimits
    from honeyguide.core.url.url import Url

MAX_FAMILIES = 20_000  # remembered at once; the oldest are forgotten first
_RECENT = 4  # pages of a family that a new one is compared with


_TOKEN = re.compile(
    r"(?<![0-9A-Za-z])(?=[0-9A-Za-z]*[0-9])(?:[0-9a-fA-F]{12,}|[0-9A-Za-z]{20,})(?![0-9A-Za-z])"
)
_NUMBER = re.compile(r"\d+")
_YEAR = re.compile(r"(?<!\d)(?:19|20|21)\d\d(?!\d)")
_DATE_WORDS = re.compile(r"(?:^|[/_.?&-])(?:year|month|week|day|date|calendar|cal)(?:[/_.=-]|$)")


class UrlShape(NamedTuple):
    """URLs of one shape: how many were let in, how many pages in a row were alike, and what the last ones said."""

    name: str
    admitted: int = 0
    alike: int = 0
    recent: tuple[Sketch, ...] = ()


class ShapeLimit(NamedTuple):
    """A shape of which only so many URLs are let in: the rule, the shape's name, and what its members are."""

    rule: str
    name: str
    limit: int
    what: str

    @property
    def why(self) -> Why:
        """The reason for those that are over the limit."""
        return Why(self.rule, f"{self.limit} {self.what} of {_short(self.name.partition(' ')[2])} are enough")


class ShapeLesson(NamedTuple):
    """What a page teaches of its shape: whether it is like the last ones, and what those say now."""

    name: str
    is_alike: bool
    recent: tuple[Sketch, ...]


@dataclass(slots=True)
class Traps:
    """The memory of one worker. The same events give the same verdicts; the store has what all workers know."""

    limits: TrapLimits
    shapes: dict[str, UrlShape] = field(default_factory=dict)

    def admit(self, url: Url) -> Why | tuple[ShapeLimit, ...]:
        """Say why a URL that is new to the crawl is not let in, or give the shapes with a limit that it counts in.

        >>> from honeyguide.core.url.url import Url
        >>> from honeyguide.core.rules.profile import TrapLimits
        >>> Traps(TrapLimits()).admit(Url.parse("https://a.example/x/y/x/y/x/y")).rule
        'TRAP-3'
        """
        return shape_trap(url, self.limits) or self.closed(url) or self._count(url)

    def learn(self, url: Url, sketch: Sketch) -> ShapeLesson:
        """Note what a fetched page says; `closed` tells if its shape is closed by it."""
        shape = self._shape(family_of(url))
        is_alike = any(likeness(sketch, other) >= self.limits.alike for other in shape.recent)
        alike = shape.alike + 1 if is_alike else 0
        recent = shape.recent if is_alike else (*shape.recent, sketch)[-_RECENT:]
        self._keep(shape._replace(alike=alike, recent=recent))
        return ShapeLesson(shape.name, is_alike, recent)

    def restore(self, shapes: Iterable[UrlShape]) -> None:
        """Take over what the store knows of some shapes."""
        for shape in shapes:
            self._keep(shape)

    def closed(self, url: Url) -> Why | None:
        """Say whether pages like this one have shown often enough that they say nothing new."""
        shape = self.shapes.get(family_of(url))
        if shape is None or shape.alike < self.limits.max_alike:
            return None
        return Why("TRAP-7", f"the last {shape.alike} pages of {_short(shape.name)} were alike")

    def _count(self, url: Url) -> Why | tuple[ShapeLimit, ...]:
        limited = _limited(url, self.limits)
        for limit in limited:
            shape = self._shape(limit.name)
            if shape.admitted >= limit.limit:
                return limit.why
            self._keep(shape._replace(admitted=shape.admitted + 1))
        return limited

    def _shape(self, name: str) -> UrlShape:
        return self.shapes.get(name) or UrlShape(name)

    def _keep(self, shape: UrlShape) -> None:
        if shape.name not in self.shapes and len(self.shapes) >= MAX_FAMILIES:
            del self.shapes[next(iter(self.shapes))]
        self.shapes[shape.name] = shape


def shape_trap(url: Url, limits: TrapLimits) -> Why | None:
    """Judge a URL by its looks alone: too long, too deep, going in circles."""
    if len(url.text) > limits.max_url_chars:
        return Why("TRAP-1", f"longer than {limits.max_url_chars} characters")
    segments = url.segments
    if len(segments) > limits.max_segments:
        return Why("TRAP-2", f"deeper than {limits.max_segments} path segments")
    if len(segments) >= limits.max_repeats:
        names = [name for name in segments if not name.isdigit()]
        often = next((name for name in names if names.count(name) >= limits.max_repeats), None)
        if often is not None:
            return Why("TRAP-3", f"its path repeats {often[:40]!r} {names.count(often)} times")
    return None


def soft_404(page: Page, limits: TrapLimits) -> Why | None:
    """Say whether a page that was answered with 200 says itself that it is not there."""
    if len(page.text) > limits.soft_404_chars:
        return None
    for text in (page.title, *page.h1[:1]):
        said = find_phrase(limits.soft_404, text)
        if said is not None:
            return Why("TRAP-8", f"says {said!r} in its title or heading")
    return None


def family_of(url: Url) -> str:
    """Name the family of a URL: numbers and tokens blanked, of a query only the names.

    Where there is nothing to blank, pages of one depth below one first segment are a family.

    >>> from honeyguide.core.url.url import Url
    >>> [family_of(Url.parse("https://a.example" + path)) for path in ("/item/17?page=2", "/s/0123456789abcdef/x", "/a/b/c")]
    ['a.example/item/#?page', 'a.example/s/*/x', 'a.example/a/… 3']
    """
    path = url.path
    query = url.query
    names = "?" + "&".join(sorted({pair.partition("=")[0] for pair in query.split("&")})) if query else ""
    shape = _NUMBER.sub("#", _TOKEN.sub("*", path))
    if shape != path or names:
        return url.site + shape + names
    segments = url.segments
    return f"{url.site}/{segments[0]}/… {len(segments)}" if segments else f"{url.site}/"


def _limited(url: Url, limits: TrapLimits) -> tuple[ShapeLimit, ...]:
    """List the shapes with a limit that a URL belongs to."""
    found: tuple[ShapeLimit, ...] = ()
    target = url.target.lower()
    if session := _session(target, limits.sessions):
        found += (ShapeLimit("TRAP-4", f"session {url.site}{session}", limits.max_sessions, "session"),)
    if _YEAR.search(target) and (_DATE_WORDS.search(target) or _is_bare_date(target)):
        found += (ShapeLimit("TRAP-5", f"dates {family_of(url)}", limits.max_dates, "dates"),)
    if target.count("&") + 1 >= limits.facet_params and "?" in target:
        found += (ShapeLimit("TRAP-6", f"facets {url.site}{url.path}", limits.max_facets, "combinations"),)
    return found


def _is_bare_date(target: str) -> bool:
    """Tell whether nothing but numbers follows the year: `/2026/11/`, but not `/2026/11/a-story`."""
    year = _YEAR.search(target)
    return year is not None and not any(map(str.isalpha, target[year.end() :]))


def _session(target: str, names: tuple[str, ...]) -> str | None:
    """Give a target without its session id; None if it has none."""
    if not any(name in target for name in names):
        return None
    pattern = "|".join(map(re.escape, names))
    plain = re.sub(rf"(?:(?<=[?&])|[;/])(?:{pattern})[=/][^/;?&]*&?", "", target)
    return plain if plain != target else None


def _short(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:79]}…"
