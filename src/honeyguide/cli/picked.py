"""A pick record as a person reads it: what was chosen on a site, and the points that each reason paid.

Owns: how one record looks in a terminal, and the columns of what was chosen. Must not know: how anything was decided, or where the record goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from honeyguide.cli.output import Column, number, points, print_table, say, short_url
from honeyguide.core.url import Url
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from honeyguide.core.records import Record

CHOSEN = (
    Column("#", right=True, keep=True),
    Column("Score", right=True, keep=True),
    Column("Kind", keep=True),
    Column("Page and why"),
)


def show_record(record: Record) -> None:
    """Print the site, its status, and the chosen pages with their reasons."""
    say(f"{record['site']}  {record['status']}" + (f"  {record['homepage']}" if record["homepage"] else ""))
    if record["title"]:
        say(f"  {record['title']}")
    if record["reason"]:
        say(f"  {record['reason']}")
    if record["selected"]:
        say()
        print_table(CHOSEN, [_row(page, record["homepage"]) for page in record["selected"]])
    for gone in record["replaced"]:
        say(f"  passed over {gone['url']}: {gone['why']}")
    say()


def _row(page: Record, homepage: str | None) -> list[str]:
    kind = page["bucket"] or page["category"] or "-"
    lines = [_address(page["url"], homepage), *(f"  {line}" for line in _reasons(page["reasons"]))]
    return [str(page["rank"]), number(page["score"]), kind, "\n".join(lines)]


def _reasons(reasons: list[dict[str, Any]]) -> list[str]:
    """Write what each rule paid; those that paid nothing only if none did."""
    paid = [reason for reason in reasons if reason["points"]] or reasons
    return [f"{points(reason['points'])} {reason['reason']}" for reason in paid]


def _address(url: str, homepage: str | None) -> str:
    try:
        return short_url(Url.parse(url), Url.parse(homepage or url))
    except UrlError:
        return url
