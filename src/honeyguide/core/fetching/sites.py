"""A company's address as people write it, and what can go wrong on the way to it.

Owns: which URLs a bare name may mean, the statuses of a record, which failure to tell. Must not know: fetching.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.url.url import Url
from honeyguide.errors import (
    AddressRefusedError,
    FetchError,
    ForbiddenError,
    NameNotFoundError,
    NotTextError,
    TimedOutError,
    TooLargeError,
    UrlError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


def addresses_of(site: str) -> list[Url]:
    """List what a site may mean, in the order to try.

    >>> [str(url) for url in addresses_of("acme.com")]
    ['https://acme.com/', 'https://www.acme.com/', 'http://acme.com/']
    >>> [str(url) for url in addresses_of("http://acme.com/en")]
    ['http://acme.com/en']
    >>> addresses_of("//acme.com") == addresses_of("acme.com")
    True
    """
    text = site.strip().removeprefix("//")
    if not text:
        raise UrlError(site, "is empty")
    if "://" in text:
        return [Url.parse(text)]
    bare = Url.parse(f"https://{text}")
    with_www = (
        [] if bare.host.startswith("www.") or not _is_name(bare.host) else [_maybe(f"https://www.{text}")]
    )
    return [
        bare,
        *(url for url in with_www if url is not None),
        Url.parse(f"http://{text}"),
    ]


def _is_name(host: str) -> bool:
    """Tell names from addresses in numbers and localhost, which have no www."""
    return "." in host and host.rpartition(".")[2].isalpha()


def _maybe(text: str) -> Url | None:
    try:
        return Url.parse(text)
    except UrlError:
        return None


class Failure(NamedTuple):
    """A status of the record, and the sentence that explains it."""

    status: str
    why: str

    @classmethod
    def of(cls, error: FetchError) -> Failure:
        """Translate what went wrong while fetching."""
        status = next((name for kind, name in _STATUS if isinstance(error, kind)), "unreachable")
        return cls(status, str(error))

    @classmethod
    def of_status(cls, status: int) -> Failure:
        """Translate an answer that is no page."""
        return (
            cls("http_error", f"the homepage answered {status}")
            if status >= 300
            else cls("empty", "the homepage is empty")
        )


_STATUS: tuple[tuple[type[FetchError], str], ...] = (
    (NameNotFoundError, "dns_failed"),
    (TimedOutError, "timeout"),
    (AddressRefusedError, "unreachable"),
    (ForbiddenError, "robots_disallowed"),
    (NotTextError, "empty"),
    (TooLargeError, "empty"),
)
# Of several failures the one that got furthest says most.
_FURTHEST = ("robots_disallowed", "http_error", "empty", "timeout", "unreachable", "dns_failed")


def worst(failures: Sequence[Failure]) -> Failure:
    """Choose the failure to tell: the one that got furthest, the first of its kind."""
    return min(failures, key=lambda failure: _FURTHEST.index(failure.status))
