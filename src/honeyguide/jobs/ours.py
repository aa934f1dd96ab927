"""Nothing but our own errors comes out of fetching.

Owns: the one broad except of the jobs. Must not know: who fetches, or what is done about a failure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from honeyguide.errors import FetchError, shown

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from honeyguide.core.url import Url

Had = TypeVar("Had")


async def ours(url: Url, work: Awaitable[Had]) -> Had:
    """Wait for what a fetcher does: a bug of it costs a page or a site, not the run."""
    try:
        return await work
    except FetchError:
        raise
    except Exception as error:  # fetchers and what they use may be anybody's code
        raise FetchError(url.as_linked, f"unexpected {type(error).__name__}: {shown(str(error))}") from error
