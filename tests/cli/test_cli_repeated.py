"""Two outputs are not one: the first is not silently dropped. Of other options the last one counts, as everywhere."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from honeyguide.cli.main import root


@pytest.mark.parametrize(
    "command", ["pick acme.example", "crawl https://acme.example/ --topic a", "plan known.csv"]
)
def test_two_outputs_are_a_sentence(command: str) -> None:
    result = CliRunner().invoke(root, [*command.split(), "-o", "a.csv", "--output", "b.jsonl"])
    assert result.exit_code == 2
    assert "--output is given more than once; one file is written, so give one." in result.stderr


def test_of_other_options_the_last_counts() -> None:
    result = CliRunner().invoke(root, ["select", "--demo", "--cap", "1", "--cap", "2", "--format", "jsonl"])
    ranks = [json.loads(line)["rank"] for line in result.stdout.splitlines()]
    assert sorted(filter(None, ranks)) == [1, 2]
