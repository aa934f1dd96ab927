"""Every rule that the reference defines is proven by a test, and every rule that is named is defined."""

from __future__ import annotations

import pytest
import spec_ids


def test_every_rule_is_defined_and_proven(capsys: pytest.CaptureFixture[str]) -> None:
    assert spec_ids.main() == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("source", "ids"),
    [
        ('ROWS = [("URL-1", "a"), ("b", "URL-2")]', "URL-1 URL-2"),
        ("def test_a():\n    # URL-1: why\n    # and URL-2\n    assert True", "URL-1 URL-2"),
        ('def test_a():\n    """URL-1: why."""', "URL-1"),
        ('"""URL-1 is what this is about."""\nROWS = [("no URL-2", 1)]  # URL-3', ""),
        ("def helps():\n    # URL-1\n    return 1", ""),
        ("def test_a():\n    assert True  # URL-1\n    # URL-2", ""),
    ],
)
def test_only_rows_and_openings_of_tests_are_proof(source: str, ids: str) -> None:
    assert sorted(spec_ids.proven_by(source)) == ids.split()
