"""robots.txt: the rules for our product token.

Owns: reading a file's bytes into `RobotsTxt`, through protego. Must not know: how the file was fetched, or what its
absence means (RFC 9309 2.3: jobs/politeness.py). Start reading at `read_robots`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from protego import Protego

if TYPE_CHECKING:
    from honeyguide.core.url.url import Url


MAX_BYTES = 500 * 1024  # RFC 9309 2.5: at least 500 KiB are parsed; the rest is ignored
_MAX_SITEMAPS = 1000  # a file of nothing but Sitemap lines must not become a list of thirty thousand
# A User-agent line; then `*`, or a name up to what cannot belong to a product token (its version, a comment).
_AGENT = re.compile(r"\s*user[ -]?agent\s*[:\s]\s*(?:(\*)(?=\s|#|$)|([^\s/#*;()]+))?", re.IGNORECASE)
_RULE = re.compile(r"\s*(?:allow|dis|dias)", re.IGNORECASE)  # misspelt Disallow lines are protego's to judge
_SITEMAP = re.compile(r"\s*site-?maps?\s*:\s*(\S+)", re.IGNORECASE)
_OTHER_AGENT = "other"  # every agent that is neither us nor everybody
_OUR_AGENT = "us"


@dataclass(frozen=True, slots=True)
class RobotsTxt:
    """One file, read for one product token."""

    rules: Protego
    crawl_delay_s: float | None = None
    sitemaps: tuple[str, ...] = ()

    def allows(self, url: Url) -> bool:
        """Whether we may request this URL of the file's origin; the file itself always."""
        return self.rules.can_fetch(url.as_linked, _OUR_AGENT)


def read_robots(body: bytes, token: str = "honeyguide") -> RobotsTxt:  # noqa: S107 - a product token, no secret
    """Read a robots.txt of any quality; never raises."""
    # A line that is cut in the middle changes its meaning: `Disallow: /private` becomes `/`.
    if len(body) >= MAX_BYTES:
        body = body[: 1 + max(body.rfind(end, 0, MAX_BYTES) for end in (b"\n", b"\r"))]
    lines = body.decode("utf-8-sig", "replace").replace("\0", "\ufffd").splitlines()
    named = [_renamed(line, token) for line in lines]
    rules = [line for line in named if _AGENT.match(line) or _RULE.match(line)]
    return RobotsTxt(
        rules=Protego.parse("\n".join(rules)),
        crawl_delay_s=_crawl_delay_s(named),
        sitemaps=tuple(found[1] for line in lines if (found := _SITEMAP.match(line)))[:_MAX_SITEMAPS],
    )


def _renamed(line: str, token: str) -> str:
    """Reduce a User-agent line to everybody, us or another agent, by its product token (RFC 9309 2.2.1).

    Protego would find `honey` in `honeyguide`, and not `honeyguide/2.0`; the RFC compares whole tokens.
    """
    found = _AGENT.match(line)
    if not found:
        return line
    if found[1]:
        return "User-agent: *"
    return f"User-agent: {_OUR_AGENT if (found[2] or '').lower() == token.lower() else _OTHER_AGENT}"


def _crawl_delay_s(lines: list[str]) -> float | None:
    """Find the Crawl-delay of our group, apart from the rules, because other records must not interfere (RFC 9309 2.2.4).

    A Crawl-delay between two User-agent lines would end the group, and the first agent would lose the rules that follow.
    """
    text = "\n".join(line for line in lines if not _SITEMAP.match(line))
    delay = Protego.parse(text).crawl_delay(_OUR_AGENT)
    return delay if delay is not None and math.isfinite(delay) and delay >= 0 else None
