"""Recrawl policies by name, and those that another package brings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from honeyguide import load_profile
from honeyguide.adapters.policies import load_policy, policy_names
from honeyguide.cli.main import root
from honeyguide.core.recrawl.priors import Priors
from honeyguide.core.recrawl.signals import PageState
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

PLUGIN = """
from honeyguide.core.recrawl.policies import ValuePart, explain_value

class Shortest:
    name = "shortest"
    def value(self, page, now):
        return 1 / len(page.url)
    def judge(self, page, now, price):
        return explain_value(self, page, now, price, [ValuePart("length", self.value(page, now), "short")])

def shortest(profile, priors):
    return Shortest()

def broken(profile, priors):
    raise KeyError("nothing works")
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another package, as an installer would leave it."""
    (tmp_path / "short_first.py").write_text(PLUGIN, encoding="utf-8")
    info = tmp_path / "short_first-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: short-first\nVersion: 1.0\n", encoding="utf-8"
    )
    entries = "shortest = short_first:shortest\nbroken = short_first:broken\nlearned = short_first:shortest\n"
    (info / "entry_points.txt").write_text(f"[honeyguide.policies]\n{entries}", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))


def test_our_own_policies_need_no_plugin() -> None:
    assert load_policy("learned", load_profile("news"), Priors()).name == "learned"
    assert policy_names()[:2] == ["learned", "heuristic"]


@pytest.mark.usefixtures("plugin")
def test_a_package_brings_a_policy() -> None:
    policy = load_policy("shortest", load_profile("news"), Priors())
    found = policy.judge(PageState("https://a.example/", visits=1, visited_at=0.0), 100.0, 1 / 18)
    assert (found.score.value, found.score.words[0]) == (60.0, "short")
    assert policy_names()[-2:] == ["broken", "shortest"]


@pytest.mark.usefixtures("plugin")
def test_our_own_names_come_first() -> None:
    assert load_policy("learned", load_profile("news"), Priors()).name == "learned"


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize(
    ("name", "message"),
    [("broken", "cannot be made: KeyError: 'nothing works'"), ("newest", "there is no policy 'newest'; there are learned,")],
)  # fmt: skip
def test_what_is_wrong_is_said(name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_policy(name, load_profile("news"), Priors())
    assert message in str(caught.value)


@pytest.mark.usefixtures("plugin")
def test_the_command_line_takes_it_too(tmp_path: Path) -> None:
    known = tmp_path / "known.csv"
    known.write_text(
        "url,visits,topic_relevance,hub_depth,is_hub\nhttps://a.example/long-name,1,0.5,1,false\n"
        "https://a.example/b,1,0.5,1,false\n",
        encoding="utf-8",
    )
    done = CliRunner().invoke(root, ["plan", str(known), "--policy", "shortest", "--format", "jsonl"])
    assert done.exit_code == 0, done.output
    assert [json.loads(line)["url"] for line in done.stdout.splitlines()] == [
        "https://a.example/b",
        "https://a.example/long-name",
    ]
    assert CliRunner().invoke(root, ["plan", str(known), "--policy", "nobody"]).exit_code == 2
