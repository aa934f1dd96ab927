"""URLs in their two forms, *as linked* and *normalised*, and the key that identifies them in sets (URL-7).

Must not know: pages, scope, profiles, the network. Start reading at `Url`. `steps.py` defines normalisation; `_plain`
here is the fast path: it recognises ordinary URLs by regular expressions and gives the same result at a tenth of the
cost, which property tests check.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, Self

from honeyguide.core.url.steps import MAX_CHARS, STEPS, UNSETTLED, Step, apply, read, rewrite, trim
from honeyguide.errors import UrlError

# Ordinary URLs, in which nothing but trailing slashes and the fragment can need a rewrite. The last label of the host is
# all letters, unless it is an IPv4 address as it should be; ports that are a scheme's own, or out of range, are left to
# the steps. A relative path has no colon, so it hides no scheme.
# The counts are bounded so that whatever they match is far from `MAX_CHARS`.
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_PORT = r":(?!80(?![0-9])|443(?![0-9]))(?:[1-9][0-9]{1,3}|[1-5][0-9]{4})"
_SITE = rf"https?://(?:[a-z0-9.-]{{0,253}}\.[a-z]{{1,63}}|{_BYTE}(?:\.{_BYTE}){{3}})(?:{_PORT})?"
_PATH = r"A-Za-z0-9\-._~!$&'()*+,;=@/"
_is_site = re.compile(_SITE).fullmatch
_is_bare = re.compile(rf"{_SITE}/[{_PATH}:]{{0,4000}}").fullmatch
_match_absolute = re.compile(rf"{_SITE}/[{_PATH}:%]{{0,4000}}").match
_match_relative = re.compile(rf"[{_PATH}%]{{0,4000}}").match
_match_query = re.compile(r"\?[A-Za-z0-9\-._~!$&()*+,;=:@%/?]{0,4000}(?=#|\Z)").match
_unsettled = UNSETTLED.search

_ESCAPED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
# Delimiters keep their escapes, because they would look like structure; so do invisible letters.
_NOT_SHOWN = frozenset("!#$%&'()*+,/:;=?@[]\\\u115f\u1160\u2800\u3164\uffa0")


def _plain(text: str, base: str | Url | None) -> tuple[str, str] | None:
    """Return an ordinary URL in as-linked form, split before its query; None if it needs the steps."""
    absolute = text[:4] == "http"
    match = _match_absolute(text) if absolute else _match_relative(text)
    if match is None:
        return (f"{text}/", "") if _is_site(text) else None
    path, query, end = text, "", match.end()
    if end != len(text):
        path, after = text[:end], text[end]
        if len(text) > MAX_CHARS:
            return None
        if after == "?" and (asked := _match_query(text, end)):
            query = asked[0]
        elif after != "#":
            return None
    if "%" in text and (_unsettled(path) or _unsettled(query)):
        return None
    if absolute:
        return None if "/." in path else (path, query)
    return None if base is None else _join(path, query, base)


def _join(path: str, query: str, base: str | Url) -> tuple[str, str] | None:
    """Resolve an ordinary relative URL; None if it needs the steps."""
    place = _PLACES[base if isinstance(base, str) else base.as_linked]
    if place is None:
        return None
    first = path[:1]
    if first == ".":
        return _climb(path, query, place)
    if "/." in path or path[:2] == "//":
        return None
    if first == "/":
        return place.site + path, query
    if first:
        return place.folders[0] + path, query
    return (place.page, query) if query else None


def _climb(path: str, query: str, place: _Place) -> tuple[str, str] | None:
    """Resolve a relative path that starts with dots; None if it has dot segments elsewhere."""
    at = 2 if path[:2] == "./" else 0
    ups = 0
    while path[at : at + 3] == "../":
        at += 3
        ups += 1
    rest = path[at:]
    if ups >= len(place.folders) or rest[:1] == "." or "/." in rest:
        return None
    return place.folders[ups] + rest, query


class _Place(NamedTuple):
    """The parts of a page's URL that ordinary relative links resolve against."""

    site: str  # "https://example.com:8000"
    page: str  # without its query
    folders: tuple[str, ...]  # the folder of the page, the one above, and so on; nothing is above the root


class _Places(dict[str, "_Place | None"]):
    """The places of the last few pages: the links of a page come one after the other."""

    def __missing__(self, base: str) -> _Place | None:
        if len(self) >= 64:
            self.clear()
        self[base] = place = _find_place(base)
        return place


_PLACES = _Places()


def _find_place(base: str) -> _Place | None:
    """Read the URL of a page; None if it is not a URL, or if its relative links need the steps."""
    plain = _plain(base, None)
    try:
        page = plain[0] if plain else rewrite(base, None)[1].partition("?")[0]
    except UrlError:
        return None
    if not plain and (_unsettled(page) or len(page) * 2 > MAX_CHARS):
        return None
    root, folders = page.index("/", 8), [page[: page.rindex("/") + 1]]
    while len(folders) < 8:
        folders.append(page[: page.rfind("/", root, len(folders[-1]) - 1) + 1] or folders[-1])
    return _Place(page[:root], page, tuple(folders))


def _settled(path: str) -> str:
    """Drop the trailing slashes of an ordinary URL without query (URL-3), except the root's (URL-4)."""
    stripped = path.rstrip("/")
    return stripped if stripped.count("/") > 2 else f"{stripped}/"


def normalize(text: str, base: str | Url | None = None) -> str:
    """Return the normalised form of a URL, after resolving it against its base.

    >>> normalize("HTTP://EXAMPLE.COM:80/a/../b/%7Euser/%e4/hello%20world/?q=A#f")
    'http://example.com/b/~user/%E4/hello%20world?q=A'
    """
    if base is None and _is_bare(text) and "/." not in text:
        return text if text[-1] != "/" else _settled(text)
    plain = _plain(text, base)
    if plain is None:
        return rewrite(text, base if base is None or isinstance(base, str) else base.as_linked)[0]
    path, query = plain
    return (_settled(path) if path[-1] == "/" else path) + query


def explain(text: str, base: str | Url | None = None) -> tuple[Step, ...]:
    """Return what each step does to a URL."""
    page = base.as_linked if isinstance(base, Url) else base
    rewrite(text, page)  # raises for texts that normalisation refuses
    trimmed = trim(text)
    parts = read(trimmed, page)
    steps = [Step("trim", "URL-8", text, trimmed), Step("resolve", "URL-8", trimmed, str(parts))]
    for step in STEPS:
        before, parts = parts, apply(parts, text, (step,))
        steps.append(Step(step.name, step.rule, str(before), str(parts)))
    return tuple(steps)


@dataclass(frozen=True, slots=True)
class Tracking:
    """The query parameters that say where a visitor came from, not which page is meant; `utm_*` is a prefix."""

    patterns: tuple[str, ...] = ()
    names: frozenset[str] = field(init=False, repr=False, compare=False)
    prefixes: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lower = [pattern.lower() for pattern in self.patterns]
        object.__setattr__(self, "names", frozenset(name for name in lower if not name.endswith("*")))
        object.__setattr__(self, "prefixes", tuple(name[:-1] for name in lower if name.endswith("*")))

    def __contains__(self, name: str) -> bool:
        lower = name.lower()
        return lower in self.names or lower.startswith(self.prefixes)

    def strip(self, query: str) -> str:
        """Drop the tracking parameters of a query that starts with a question mark."""
        pairs = query[1:].split("&")
        kept = [pair for pair in pairs if pair.partition("=")[0] not in self]
        return query if len(kept) == len(pairs) else "?" + "&".join(kept) if kept else ""


@dataclass(frozen=True, slots=True, eq=False)
class Url:
    """An http(s) URL: `text` is its identity; `as_linked` is requested, and resolves relative links.

    >>> url = Url.parse("team/", "https://A.example/about/?x#y")
    >>> url.text, url.as_linked
    ('https://a.example/about/team', 'https://a.example/about/team/')
    """

    text: str
    as_linked: str

    @classmethod
    def parse(cls, text: str, base: Url | str | None = None) -> Self:
        """Read a URL, resolved against its base; raises only `UrlError`."""
        if not isinstance(text, str):
            raise UrlError(repr(text), f"is {type(text).__name__}, not str")
        plain = _plain(text, base)
        if plain is None:
            return cls(*rewrite(text, base if base is None or isinstance(base, str) else base.as_linked))
        path, query = plain
        linked = path + query
        return cls(_settled(path) + query if path[-1] == "/" else linked, linked)

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, Url) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def scheme(self) -> str:
        """`http` or `https`."""
        return self.text[: self.text.index(":")]

    @property
    def site(self) -> str:
        """Host and port, without the user."""
        return self.text.split("/", 3)[2].rpartition("@")[2]

    @property
    def host(self) -> str:
        """The host; an IPv6 address with brackets."""
        site = self.site
        colon = site.find(":", site.find("]") + 1)
        return site if colon < 0 else site[:colon]

    @property
    def target(self) -> str:
        """Path and query, which rules read (PICK-3)."""
        return self.text[self.text.index("/", 8) :]

    @property
    def path(self) -> str:
        """The path."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        """The query."""
        return self.text.partition("?")[2]

    @property
    def segments(self) -> tuple[str, ...]:
        """The non-empty parts of `path`."""
        return _segments(self.text)

    def key(self, tracking: Tracking) -> str:
        """Return the identity inside sets: no scheme (URL-7), no tracking parameters."""
        text = self.text[self.text.index(":") + 3 :]
        mark = text.find("?")
        return text if mark < 0 else text[:mark] + tracking.strip(text[mark:])


@lru_cache(maxsize=1024)  # several facts of a link are made of its segments
def _segments(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text[text.index("/", 8) :].partition("?")[0].split("/")))


def display(url: str | Url) -> str:
    """Return the readable form, which is for people and no identity: escapes become letters.

    >>> display("https://a.example/hello%20world/%E4%BB%B7%E6%A0%BC?q=%26%0A")
    'https://a.example/hello world/价格?q=%26%0A'
    """
    text = url.text if isinstance(url, Url) else Url.parse(url).as_linked
    start = text.index("/", 8)
    return text[:start] + _ESCAPED.sub(_readable, text[start:])


def _readable(match: re.Match[str]) -> str:
    """Decode the escapes that are valid UTF-8, visible, and no delimiters."""
    decoded = bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "surrogateescape")
    return "".join(
        char
        if char.isprintable() and char not in _NOT_SHOWN
        else "%" + char.encode("utf-8", "surrogateescape").hex("%").upper()
        for char in decoded
    )
