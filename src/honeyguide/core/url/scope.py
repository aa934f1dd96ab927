"""Scope: which links are pages of the site, which lead to other sites, and which are no pages (URL-9 to URL-11).

Must not know: where links come from, how pages are valued. Extensions, tracking parameters and the Public Suffix List are
data and arrive in `Scope`. Start reading at `classify`.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.url.steps import scheme_of, trim
from honeyguide.core.url.url import Tracking, Url
from honeyguide.errors import InputError, UrlError

if TYPE_CHECKING:
    from collections.abc import Callable

HOST, WWW, DOMAIN = REACHES = ("host", "www", "domain")
_SUFFIX_LABELS = 7  # of the longest rule of the Public Suffix List


def reach_of(value: str) -> str:
    """Read which hosts are one site."""
    if value not in REACHES:
        raise InputError(f"no scope is named {value!r}; there are {', '.join(REACHES)}", field="scope")
    return value


class LinkKind(StrEnum):
    """Where a link leads."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    SKIP = "skip"


class Verdict(NamedTuple):
    """What scope says about a link: the name and id of the rule that decided, and the detail that it found."""

    kind: LinkKind
    rule: str
    id: str
    detail: str = ""
    url: Url | None = None


class Scope(NamedTuple):
    """What a profile says about links: extensions without dot and in lower case, parameters that only track.

    `reach` says which hosts are one site: only the `host` itself (URL-10), also the one with or without `www`, or every
    host of the same registrable `domain`, by the `suffixes` of the Public Suffix List.
    """

    skip_extensions: frozenset[str] = frozenset()
    tracking: Tracking = Tracking()
    reach: str = HOST
    # A function, because the list is read only for `domain`.
    suffixes: Callable[[], frozenset[str]] = frozenset

    def within(self, reach: str | None) -> Scope:
        """Return the scope with another reach; None keeps its own."""
        return self if reach in (None, self.reach) else self._replace(reach=reach)

    def area(self, site: str) -> str:
        """Return what all hosts that are one site have in common; ports are always compared.

        >>> Scope(reach="www").area("www.acme.example:8080"), Scope().area("www.acme.example")
        ('acme.example:8080', 'www.acme.example')
        """
        return site if self.reach == HOST else _area(site, self.reach, self.suffixes)

    def key(self, url: Url) -> str:
        """Return the identity of a page within the scope: with a wider reach, `www.` makes no difference."""
        key = url.key(self.tracking)
        return key if self.reach == HOST else key.removeprefix("www.")


@lru_cache(maxsize=4096)  # a crawl meets few hosts and many URLs
def _area(site: str, reach: str, suffixes: Callable[[], frozenset[str]]) -> str:
    bare = site.removeprefix("www.")
    if reach == WWW:
        return bare if "." in bare else site
    host, colon, port = site.partition(":") if site[0] != "[" else (site, "", "")
    return registrable(host, suffixes()) + colon + port


def registrable(host: str, suffixes: frozenset[str]) -> str:
    """Return the domain that an owner registers: one label more than the longest public suffix of a host.

    Addresses, and hosts that are public suffixes themselves, stay as they are.

    >>> rules = frozenset({"co.uk", "*.ck", "!www.ck"})
    >>> [registrable(host, rules) for host in ("shop.acme.co.uk", "a.b.acme.example", "a.b.c.ck", "a.www.ck", "10.0.0.1")]
    ['acme.co.uk', 'acme.example', 'b.c.ck', 'www.ck', '10.0.0.1']
    """
    labels = host.rstrip(".").split(".")[-_SUFFIX_LABELS - 1 :]
    if labels[-1].isdigit() or host[:1] == "[":
        return host
    size = 1
    for start in range(len(labels)):
        rule, above = ".".join(labels[start:]), ".".join(["*", *labels[start + 1 :]])
        if f"!{rule}" in suffixes:
            return rule
        if rule in suffixes or above in suffixes:
            size = len(labels) - start
            break
    return ".".join(labels[-size - 1 :]) if len(labels) > size else host


OTHER_SITE = "other-site"  # the rule of links to other sites (URL-11)
# The rules that reject links, in the order in which they are checked, each with a sentence for all its links.
RULE_WORDS = {
    "empty": "empty link",
    "fragment-only": "leads to a place on the same page",
    "scheme": "mail, telephone, script: no web page",
    "unparsable": "not a URL",
    "limit": "more than is read of one page",
    "same-page": "leads to the page itself",
    "extension": "a file, not a page",
    OTHER_SITE: "leads to another site",
}
_EMPTY = Verdict(LinkKind.SKIP, "empty", "URL-9")
_FRAGMENT = Verdict(LinkKind.SKIP, "fragment-only", "URL-9")  # a manual has dozens on a page


def not_a_page(href: str) -> Verdict | None:
    """Return the verdict on an href that gives no http(s) URL: empty, a fragment, or of another scheme (URL-9)."""
    text = trim(href)
    if not text:
        return _EMPTY
    if text.startswith("#"):
        return _FRAGMENT
    scheme = scheme_of(text)
    return None if scheme in ("", "http", "https") else _skip("scheme", scheme[:40])


def classify(href: str, page: Url, scope: Scope, seed: Url | None = None) -> Verdict:
    """Return the verdict on an href of a page.

    >>> page = Url.parse("https://a.example/about/")
    >>> verdict = classify("team.PDF?x=1", page, Scope(frozenset({"pdf"})))
    >>> verdict.kind.value, verdict.rule, verdict.id, verdict.detail
    ('skip', 'extension', 'URL-9', '.pdf')
    """
    if verdict := not_a_page(href):
        return verdict
    try:
        url = Url.parse(href, page)
    except UrlError as error:
        return _skip("unparsable", error.why)
    return classify_url(url, page, scope, seed)


def classify_url(url: Url, page: Url, scope: Scope, seed: Url | None = None) -> Verdict:
    """Return the verdict on a URL that a page links to."""
    if _is_same(url, page, scope.tracking):
        return _skip("same-page", "", url)
    extension = _extension(url)
    if extension in scope.skip_extensions:
        return _skip("extension", f".{extension}", url)
    site, home = url.site, (seed or page).site
    if site == home:
        return Verdict(LinkKind.INSIDE, "same-site", "URL-10", site, url)
    if scope.reach != HOST and (area := scope.area(site)) == scope.area(home):
        return Verdict(LinkKind.INSIDE, f"same-{scope.reach}", "URL-10", f"{site} belongs to {area}", url)
    return Verdict(LinkKind.OUTSIDE, OTHER_SITE, "URL-11", site, url)


def _skip(rule: str, detail: str = "", url: Url | None = None) -> Verdict:
    return Verdict(LinkKind.SKIP, rule, "URL-9", detail, url)


def _is_same(url: Url, page: Url, tracking: Tracking) -> bool:
    """Return whether two URLs have one key: they may differ in scheme and tracking parameters (URL-7)."""
    one, other = url.text, page.text
    if "?" in one or "?" in other or abs(len(one) - len(other)) == 1:  # without a query: http or https
        return url.key(tracking) == page.key(tracking)
    return one == other


def _extension(url: Url) -> str:
    """Return the lower-case extension of the last path segment, without parameters after a semicolon."""
    path = url.text.partition("?")[0]
    dot = path.rfind(".", path.rfind("/"))
    return path[dot + 1 :].partition(";")[0].lower() if dot > 0 else ""
