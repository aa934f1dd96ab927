"""robots.txt: the rules for our product token (RFC 9309).

Owns: reading a file's bytes into `RobotsTxt`, which keeps the rules of one group as one run of bytes, because thousands of
files are in memory at once. Must not know: how the file was fetched, or what its absence means (RFC 9309 2.3:
jobs/politeness.py). Start reading at `read_robots`.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.core.url.url import Url


MAX_BYTES = 500 * 1024  # RFC 9309 2.5: at least 500 KiB are parsed; the rest is ignored
MAX_STEPS = 50_000_000  # rules with a wildcard × characters of a URL: beyond that the URL is not requested
_MAX_SITEMAPS = 1000  # a file of nothing but Sitemap lines must not become a list of thirty thousand
# The records that we know, in spellings that other crawlers accept too; a space may stand in place of the colon.
_RECORD = re.compile(
    rb"\s*(?:(user[ -]?agent)|(allow)|(diss?all?ow|diasllow|disallaw)|crawl[ -]delay)(?:\s*[:\s]\s*|$)([^#]*)", re.IGNORECASE
)  # fmt: skip
# Everybody, or a product token, which ends where its version begins.
_TOKEN = re.compile(r"\*(?!\S)|[^\s/*;()]+")
_SITEMAP = re.compile(rb"\s*site-?maps?\s*:\s*(\S{1,2048})(?!\S)", re.IGNORECASE)
_ESCAPED = re.compile(rb"%([0-9A-Fa-f]{2})|[\0-\x20$*]")
_KEPT = frozenset(b"/%$*") | frozenset(range(0x21))  # decoded, these would mean something else
_ASCII = bytes(range(128))
_EVERYBODY = "*"


@dataclass(frozen=True, slots=True)
class RobotsTxt:
    """One file, read for one product token. `rules` is a line for each, `+` or `-` and its path, the longest path first."""

    rules: bytes = b""
    wildcards: int = 0
    crawl_delay_s: float | None = None
    sitemaps: tuple[str, ...] = ()

    def allows(self, url: Url) -> bool:
        """Whether we may request this URL of the file's origin; the file itself always (RFC 9309 2.2.2)."""
        path = _comparable(url.as_linked[url.as_linked.index("/", 8) :].encode())
        if path == b"/robots.txt":
            return True
        if self.wildcards * len(path) > MAX_STEPS:
            return False
        # A tie allows: such a rule stands first.
        matching = (rule for rule in self.rules.splitlines() if _matches(rule[1:], path))
        return next(matching, b"+").startswith(b"+")


def read_robots(body: bytes, token: str = "honeyguide") -> RobotsTxt:  # noqa: S107 - a product token, no secret
    """Read a robots.txt of any quality; never raises."""
    # A line that is cut in the middle changes its meaning: `Disallow: /private` becomes `/`.
    if len(body) >= MAX_BYTES:
        body = body[: 1 + max(body.rfind(end, 0, MAX_BYTES) for end in (b"\n", b"\r"))]
    lines = body.removeprefix(b"\xef\xbb\xbf").splitlines()
    groups = _Groups(token.lower())
    for line in lines:
        if record := _RECORD.match(line):
            groups.add(*record.groups())
    group = groups.ours()
    rules = sorted(groups.rules[group], key=_precedence)
    sitemaps = (found[1].decode("utf-8", "replace") for line in lines if (found := _SITEMAP.match(line)))
    return RobotsTxt(
        rules=b"\n".join(rules),
        wildcards=sum(b"*" in rule for rule in rules),
        crawl_delay_s=groups.delays_s.get(group),
        sitemaps=tuple(islice(sitemaps, _MAX_SITEMAPS)),
    )


class _Groups:
    """What the lines so far say to us and to everybody; what they say to others is not kept.

    A rule ends the names of its group. A Crawl-delay ends them for other Crawl-delays only, because records beyond the RFC
    must not interfere with rules (RFC 9309 2.2.4).
    """

    def __init__(self, token: str) -> None:
        self.rules: dict[str, set[bytes]] = {_EVERYBODY: set()}
        self.delays_s: dict[str, float] = {}
        self._token = token
        self._ruled: set[str] = set()  # whom the next rule concerns
        self._delayed: set[str] = set()  # whom the next Crawl-delay concerns
        self._last = ""  # what the last line was

    def ours(self) -> str:
        """Return the group that concerns us: that of our token, or that of everybody."""
        return self._token if self._token in self.rules else _EVERYBODY

    def add(self, agent: bytes | None, allow: bytes | None, disallow: bytes | None, value: bytes) -> None:
        """Read one line."""
        value = value.strip()
        if agent:
            self._name(value)
        elif allow or disallow:
            self._last = "rule"
            sign = b"+" if allow else b"-"
            for name in self._ruled if value else ():
                self.rules[name].update(sign + pattern for pattern in _patterns(value, is_allow=bool(allow)))
        else:
            self._last = self._last if self._last == "rule" else "delay"
            with suppress(ValueError):
                delay_s = float(value[:20])
                if math.isfinite(delay_s) and delay_s >= 0:
                    self.delays_s |= dict.fromkeys(self._delayed, delay_s)

    def _name(self, value: bytes) -> None:
        if self._last == "rule":
            self._ruled = set()
        if self._last:
            self._delayed = set()
        self._last = ""
        named = _TOKEN.match(value.decode("utf-8", "replace"))
        name = named[0].lower() if named else ""
        if name in (_EVERYBODY, self._token):
            self.rules.setdefault(name, set())
            self._ruled.add(name)
            self._delayed.add(name)


def _patterns(value: bytes, *, is_allow: bool) -> Iterator[bytes]:
    """Give what a rule means, in comparable form: `*` is any text, and a `$` at the end is the end, or just a `$`."""
    if value.startswith((b"http://", b"https://")):
        value = b"/" + value  # a URL in place of a path is compared as a path
    path = value.removesuffix(b"$")
    pattern = b"*".join(map(_comparable, path.split(b"*")))
    if path == value:
        yield pattern
    else:
        yield from (pattern + b"$", pattern + b"%24")
    if is_allow and pattern.endswith(b"/index.html"):
        yield pattern.removesuffix(b"index.html") + b"$"


def _comparable(text: bytes) -> bytes:
    """Decode escapes, except of what would then mean something else (RFC 9309 2.2.2)."""
    return _ESCAPED.sub(_spell, text)


def _spell(found: re.Match[bytes]) -> bytes:
    octet = int(found[1], 16) if found[1] else found[0][0]
    return b"%%%02X" % octet if octet in _KEPT else bytes((octet,))


def _precedence(rule: bytes) -> tuple[int, bytes]:
    """Sort by octets, the most first, as if all but ASCII were escaped; `+` is less than `-`."""
    return -len(rule) - 2 * len(rule.translate(None, _ASCII)), rule


def _matches(pattern: bytes, path: bytes) -> bool:
    if b"*" not in pattern:
        return path == pattern[:-1] if pattern.endswith(b"$") else path.startswith(pattern)
    first, *others = pattern.removesuffix(b"$").split(b"*")
    if not path.startswith(first):
        return False
    at = len(first)
    last = others.pop() if pattern.endswith(b"$") else b""
    for part in others:
        at = path.find(part, at) + len(part)
        if at < len(part):
            return False
    return path.endswith(last) and len(path) - len(last) >= at
