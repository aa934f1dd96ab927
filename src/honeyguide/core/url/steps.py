"""The meaning of URL normalisation: `read` splits a text as browsers do, `STEPS` rewrite its parts (URL-1 to URL-8).

Must not know: pages, scope, profiles, and the fast path to the same result (`url.py`). Start reading at `STEPS`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.text.fold import HALF
from honeyguide.core.url.host import parse_host
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from collections.abc import Callable


MAX_CHARS = 65_536  # servers refuse far shorter URLs; a longer one is an attack or an accident

_DEFAULT_PORTS = {"http": "80", "https": "443"}
_EDGES = "".join(map(chr, range(0x21)))  # the control characters and the space, which browsers trim
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")

# What browsers encode, in each part of a URL; `UNSETTLED` is what RFC 3986 still wants changed after that (URL-6):
# lower-case hex digits, escapes of unreserved characters, a lone %, and characters that may not stand in a URL.
_RAW_USERINFO = re.compile(r"[^!$%&'()*+,\-.0-9A-Z_a-z~]+")
_RAW_PATH = re.compile(r"[^!$%&'()*+,\-./0-9:;=@A-Z\[\\\]_a-z|~]+")
_RAW_QUERY = re.compile(r"[^!$%&()*+,\-./0-9:;=?@A-Z\[\\\]^_`a-z{|}~]+")
UNSETTLED = re.compile(
    r"%(?:[0-9A-F][a-f]|[a-f][0-9A-Fa-f]|2[DE]|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE]|(?![0-9A-F]{2}))"
    r"|[\[\\\]^`{|}]"
)
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_DOTS = {".": 1, "%2e": 1, "..": 2, ".%2e": 2, "%2e.": 2, "%2e%2e": 2}


class Parts(NamedTuple):
    """A URL in parts; each keeps its own punctuation, so that joining them gives the text."""

    scheme: str
    userinfo: str
    host: str
    port: str
    path: str
    query: str
    fragment: str = ""

    def __str__(self) -> str:
        return f"{self.scheme}://{''.join(self[1:])}"


class Rewrite(NamedTuple):
    """One step of normalisation and the rule that demands it."""

    name: str
    rule: str
    apply: Callable[[Parts], Parts]


class Step(NamedTuple):
    """What one step did to one URL."""

    name: str
    rule: str
    before: str
    after: str

    @property
    def changed(self) -> bool:
        """Whether the step changed the URL."""
        return self.before != self.after


# --- Reading: the text and its base become parts, checked for nothing but their punctuation (URL-8). ---


def trim(text: str) -> str:
    """Drop what browsers ignore in an href: spaces around it, tabs and newlines anywhere (URL-8)."""
    text = text.strip(_EDGES)
    for ignored in "\t\n\r":
        text = text.replace(ignored, "")
    if not text.isascii() and HALF.search(text):  # half a character becomes U+FFFD, as in browsers
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def scheme_of(text: str) -> str:
    """Return the scheme of a trimmed href in lower case, or an empty text."""
    found = _SCHEME.match(text)
    return found[1].lower() if found else ""


def read(text: str, base: str | None) -> Parts:
    """Split a trimmed text; parts that it lacks come from its base."""
    rest, mark, fragment = text.partition("#")
    fragment = mark + fragment
    rest, mark, query = rest.partition("?")
    query = mark + query
    scheme = scheme_of(rest)
    if scheme and scheme not in _DEFAULT_PORTS:
        raise UrlError(text, f"its scheme is {scheme[:20]}")
    written, rest = rest[: len(scheme)], rest[len(scheme) + 1 if scheme else 0 :].replace("\\", "/")
    page = None if base is None or (scheme and rest.startswith("//")) else _read_page(base)
    if scheme and (page is None or page.scheme != scheme):
        return _read_authority(written, rest.lstrip("/"), query, fragment)
    if page is None:
        raise UrlError(text, "it is relative, and there is no http(s) page that it is relative to")
    if rest.startswith("//"):
        return _read_authority(page.scheme, rest.lstrip("/"), query, fragment)
    if not rest:
        return page._replace(query=query or page.query, fragment=fragment)
    folder = "" if rest.startswith("/") else page.path[: page.path.rfind("/") + 1]
    return page._replace(path=folder + rest, query=query, fragment=fragment)


def _read_authority(scheme: str, rest: str, query: str, fragment: str) -> Parts:
    """Split what follows the slashes: the last @ ends the user, the first : after any brackets the host."""
    authority, slash, path = rest.partition("/")
    userinfo, mark, site = authority.rpartition("@")
    colon = site.find(":", site.rfind("]") + 1)
    host, port = (site, "") if colon < 0 else (site[:colon], site[colon:])
    return Parts(scheme, userinfo + mark, host, port, slash + path, query, fragment)


@lru_cache(maxsize=64)  # the links of a page come one after the other
def _read_page(base: str) -> Parts | None:
    """Read the URL of a page in its as-linked form; None if its scheme is not http(s)."""
    _check_length(base, base)
    text = trim(base)
    return apply(read(text, None), base, _LINKING) if scheme_of(text) in _DEFAULT_PORTS else None


# --- The steps, each a small function from parts to parts. ---


def _drop_default_port(parts: Parts) -> Parts:
    if not parts.port:
        return parts
    digits = parts.port[1:].lstrip("0") or parts.port[1:2]
    if digits and not (digits.isascii() and digits.isdigit() and len(digits) <= 5 and int(digits) <= 65_535):
        raise UrlError(parts.port, "its port is not a number up to 65535")
    return parts._replace(port=f":{digits}" if digits and digits != _DEFAULT_PORTS[parts.scheme] else "")


def _encode(match: re.Match[str]) -> str:
    return "%" + match[0].encode().hex("%").upper()


def _encode_raw(parts: Parts) -> Parts:
    userinfo = parts.userinfo
    if userinfo:
        user, _, password = userinfo[:-1].partition(":")
        user, password = _RAW_USERINFO.sub(_encode, user), _RAW_USERINFO.sub(_encode, password)
        userinfo = f"{user}:{password}@" if password else f"{user}@" if user else ""
    path, query = _RAW_PATH.sub(_encode, parts.path), _RAW_QUERY.sub(_encode, parts.query)
    return parts._replace(userinfo=userinfo, path=path, query=query)


def _remove_dots(parts: Parts) -> Parts:
    if "/." not in parts.path and "/%2" not in parts.path:
        return parts
    kept, dots = [""], 0
    for segment in parts.path[1:].split("/"):
        dots = _DOTS.get(segment.lower(), 0) if len(segment) <= 6 else 0
        if dots == 2 and len(kept) > 1:
            kept.pop()
        if not dots:
            kept.append(segment)
    if dots:  # a path that ends in dots is a directory
        kept.append("")
    return parts._replace(path="/".join(kept))


def _settle(match: re.Match[str]) -> str:
    found = match[0]
    if len(found) == 1:
        return f"%{ord(found):02X}"
    code = int(found[1:], 16)
    return chr(code) if code in _UNRESERVED else found.upper()


def _settle_escapes(parts: Parts) -> Parts:
    userinfo, path, query = (
        UNSETTLED.sub(_settle, part) for part in (parts.userinfo, parts.path, parts.query)
    )
    return parts._replace(userinfo=userinfo, path=path, query=query)


# The as-linked form: what a browser would request.
_LINKING = (
    Rewrite("scheme", "URL-1", lambda parts: parts._replace(scheme=parts.scheme.lower())),
    Rewrite("host", "URL-1", lambda parts: parts._replace(host=parse_host(parts.host))),
    Rewrite("fragment", "URL-2", lambda parts: parts._replace(fragment="") if parts.fragment else parts),
    Rewrite("default port", "URL-5", _drop_default_port),
    Rewrite("raw characters", "URL-6", _encode_raw),
    Rewrite("root", "URL-4", lambda parts: parts if parts.path else parts._replace(path="/")),
    Rewrite("dot segments", "URL-8", _remove_dots),
)
# The identity. All trailing slashes are dropped, and in the last step, because the result must normalise to itself.
_SETTLING = (
    Rewrite("escapes", "URL-6", _settle_escapes),
    Rewrite("trailing slash", "URL-3", lambda parts: parts._replace(path=parts.path.rstrip("/") or "/")),
)
STEPS = _LINKING + _SETTLING


def apply(parts: Parts, text: str, steps: tuple[Rewrite, ...]) -> Parts:
    """Run steps over the parts of a text; an error names the whole text."""
    try:
        for step in steps:
            parts = step.apply(parts)
    except UrlError as error:
        raise UrlError(text, error.why) from None
    return parts


def rewrite(text: str, base: str | None) -> tuple[str, str]:
    """Return the normalised and the as-linked form of any text, by the steps."""
    _check_length(text, text)
    linked = apply(read(trim(text), base), text, _LINKING)
    forms = str(apply(linked, text, _SETTLING)), str(linked)
    _check_length(max(forms, key=len), text)
    return forms


def _check_length(url: str, text: str) -> None:
    if len(url) > MAX_CHARS:
        raise UrlError(text, f"it is longer than {MAX_CHARS} characters")
