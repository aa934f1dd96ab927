"""Words that somebody asks about where an address is needed: refused with what to write instead.

Must not know: how a URL is explained. Start reading at `explain_by_picks`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.app.tools.picked import explain_pick
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from honeyguide.core.records import Record


def is_word(text: str) -> bool:
    """Tell whether a text can be neither a path nor a host with a dot or a port.

    >>> is_word("pricing"), is_word("/pricing"), is_word("acme.example"), is_word("localhost:8000")
    (True, False, False, False)
    """
    return bool(text.strip()) and not set(text) & set("/.:")


def no_address(text: str, page: str | None = None) -> InputError:
    """Return the error for a text that is no address; `page` has the path that was probably meant."""
    such = f", such as {shown(page, 200)}" if page else ""
    path = shown(f"/{text.strip()}")
    return InputError(f"{shown(text)} is neither a path nor a URL; write {path} or a whole URL{such}")


def explain_by_picks(picks: str, text: str, on_note: Callable[[str], None] | None = None) -> Record:
    """Explain a URL, or a path alone, by the records of a pick."""
    try:
        return explain_pick(picks, text, on_note)
    except InputError as error:
        if set(text) & set("/:"):
            raise
        page = _page_at(f"/{text.strip()}", picks, error)
        if page is None and not is_word(text):  # a host
            raise
        raise no_address(text, page) from None


def _page_at(path: str, picks: str, error: InputError) -> str | None:
    """Find a page of this path; a mistake of the file is the same for every text."""
    try:
        return str(explain_pick(picks, path)["url"])
    except InputError as other:
        if str(other) == str(error):
            raise
        return None
