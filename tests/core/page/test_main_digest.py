"""Digests of main text: which can be compare_visit, and what a visit says where they cannot."""

from __future__ import annotations

import pytest

from honeyguide.core.page.likeness import can_compare, main_digest
from honeyguide.core.recrawl.history import CHANGED, SAME_BYTES, SAME_CONTENT, UNKNOWN_SITE, Visit
from honeyguide.core.recrawl.visits import compare_visit, next_known, next_site

URL = "https://a.example/alarms"
NEW, OTHER = main_digest(b"Fire alarms"), main_digest(b"Fire doors")
OLD = "6d5605f30aa2344d"  # as versions before this one wrote it


def visit(at: float, content: str | None, body: int) -> Visit:
    return Visit(URL, 1, at, 200, content, body=body)


@pytest.mark.parametrize(
    ("one", "other", "can"),
    [
        (NEW, OTHER, True),
        (OLD, NEW, False),
        (NEW, OLD, False),
        (OLD, "x", True),
        (None, NEW, True),
        (OLD, None, True),
    ],
)
def test_only_digests_of_one_version_can_be_compared(
    one: str | None, other: str | None, *, can: bool
) -> None:
    assert can_compare(one, other) == can


def test_a_digest_of_an_earlier_version_is_no_change() -> None:
    first = next_known(None, visit(0.0, OLD, 1))
    again = visit(1000.0, NEW, 2)
    assert compare_visit(first, again) is None
    assert next_site(UNKNOWN_SITE, first, again) == UNKNOWN_SITE
    known = next_known(first, again)
    assert (known.changes, known.unchanged, known.seen, known.changed_at) == (0, 0, None, None)
    assert (known.content, known.body, known.visits, known.seen_at) == (NEW, 2, 2, 1000.0)
    assert compare_visit(known, visit(2000.0, NEW, 3)) == SAME_CONTENT
    assert compare_visit(known, visit(2000.0, OTHER, 3)) == CHANGED


def test_the_same_bytes_are_the_same_in_all_versions() -> None:
    assert compare_visit(next_known(None, visit(0.0, OLD, 1)), visit(1000.0, NEW, 1)) == SAME_BYTES
