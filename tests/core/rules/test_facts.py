"""Facts of links: what each one is, by examples. Whether many links at once give the same is a property (test_together.py)."""

from __future__ import annotations

import pytest

from honeyguide.core.page.page import Link, Occurrence
from honeyguide.core.rules import facts
from honeyguide.core.rules.compile import RuleList
from honeyguide.core.rules.facts import FILL, FactKind, Facts, Field, register
from honeyguide.core.rules.language import Is, Rule, Text
from honeyguide.core.url.url import Url


def link(path: str, *anchors: str) -> Link:
    return Link(Url.parse(f"https://acme.example{path}"), tuple(map(Occurrence, anchors)))


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("anchor_words", link("/a", "Fire", "Fire alarm systems"), 3.0),
        ("slug", link("/services/fire-alarms.html"), "fire alarms"),
        ("slug_words", link("/services/fire-alarms.html"), 2.0),
        ("path_length", link("/services/fire-alarms/"), 2.0),
        ("has_query", link("/services?id=2"), True),
    ],
)
def test_what_a_fact_is(name: str, given: Link, value: object) -> None:
    assert FILL[name](given, None) == value


def test_what_a_plug_in_measures_is_read_only_where_it_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FIELDS", "FILL", "MEASURED", "_UNKNOWN"):
        monkeypatch.setattr(facts, name, type(getattr(facts, name))(getattr(facts, name)))
    monkeypatch.setattr("honeyguide.core.rules.compile.MEASURED", facts.MEASURED)
    measured: list[str] = []

    def mood(given: Link, _head: object) -> str:
        measured.append(given.url.path)
        return "calm words"

    register(Field("mood", FactKind.TEXT, "how it reads"), of_link=mood)
    rules = RuleList(
        (
            Rule("tea", "tea", when=Is("slug", ("tea",))),
            Rule("calm", "calm", when=Text("mood", "word", ("calm",))),
        )
    )
    found = [rules.first(Facts(link(path))) for path in ("/tea", "/fire")]
    assert [rule and rule.id for rule in found] == ["tea", "calm"]
    assert measured == ["/fire"]
