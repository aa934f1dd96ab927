"""Ways to look at a plan: one URL of it as CSV, and many URLs at once."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import load_profile
from honeyguide.adapters.files import sources
from honeyguide.app.known_urls import files as known_urls

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]

pytest.importorskip("polars")  # an extra
NOW = ("--now", "2024-06-15T08:00:00Z")
HEADER = "url,visits,last_visited,last_changed,topic_relevance,hub_depth,is_hub\n"


def records(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_one_url_is_one_row_of_csv(run: Run) -> None:
    result = run("plan", "known.csv", *NOW, "--explain", "https://news.example/world", "--format", "csv")
    assert result.exit_code == 0, result.stderr
    (row,) = csv.DictReader(io.StringIO(result.stdout))
    assert (row["rank"], row["score"], row["level"]) == ("1", "94", "very high")
    assert row["signals"].startswith("visits: 150; last_visited: 2024-06-10T08:00:00Z; last_changed: ")
    assert row["signals"].endswith("hub_depth: 1; is_hub: true")
    assert "Is a hub page (+10)" in row["rules"]
    assert "Not visited in 7+ days (-)" in row["rules"]


class _Listed(list[str]):
    """URLs that are not to be searched one by one, for each row anew."""

    def __contains__(self, _: object) -> bool:
        raise AssertionError


@pytest.mark.parametrize("policy", ["heuristic", "learned"])
@pytest.mark.parametrize("small", [0, 10**9])
@pytest.mark.usefixtures("run")  # makes the files
def test_many_urls_are_looked_up_at_once(monkeypatch: pytest.MonkeyPatch, small: int, policy: str) -> None:
    monkeypatch.setattr(sources, "SMALL_BYTES", small)
    table = known_urls.open_known(
        known_urls.known_sources(["known.csv"]), load_profile("news"), policy=policy
    )
    assert len(table.find(_Listed(["https://news.example/new", "https://news.example/world"]))) == 2
