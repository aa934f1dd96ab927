"""One check reports all mistakes of a kind: first those of structure, then those of meaning; nothing twice."""

from __future__ import annotations

from copy import deepcopy
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import load_profile
from honeyguide.config.extend import read_profile
from honeyguide.config.files import MAX_PROBLEMS
from honeyguide.config.shapes import check_shape, key_path
from honeyguide.errors import ConfigError, PatternError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from honeyguide.config.shapes import Location

START = 'schema = 1\nextends = "company"\nname = "mine"\ndescription = "mine"\n'
FILTER = '[[filter]]\nid = "f"\nreason = "f"\nwhen = { pth = { has = "x" } }\n'
UNKNOWN_FACT = "filter[f].when.pth: no fact is named 'pth'; did you mean path?"
CARD = '[scorecard.mine]\n[[scorecard.mine.group]]\nname = "g"\nmode = "all"\n'
READS_LINK = CARD + 'rules = [{ id = "r", reason = "r", points = 1, per = "card.link" }]\n'


def refusal(folder: Path, text: str, **given: Any) -> ConfigError:
    file = folder / "mine.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as error:
        load_profile(file, **given)
    return error.value


def told(folder: Path, text: str, **given: Any) -> list[str]:
    return [str(problem) for problem in refusal(folder, text, **given).problems]


def test_all_mistakes_of_structure_in_one_go(tmp_path: Path) -> None:
    text = """
        colour = "red"
        [terms]
        x = 3
        [scorecard.mine]
        range = "a"
        [[scorecard.mine.group]]
        name = "g"
        mode = "sometimes"
        rules = [{ id = "A", points = "x", when = { pth = { has = "$absolut" } } }, 3]
        [strategy.mine]
        card = "nobody"
        cap = "four"
        order = ["luck"]
        """
    rules = "scorecard.mine.group[g].rules"
    found = told(tmp_path, START + text)
    assert [line.partition(", ")[0] for line in found] == [
        "terms.x: input should be a valid list",
        "scorecard.mine.range: input should be a valid list",
        "scorecard.mine.group[g].mode: input should be 'first' or 'all'",
        f"{rules}[A].reason: is required",
        f"{rules}[A].points: input should be a valid number",
        f"{rules}[1]: should be a table",
        "strategy.mine.cap: input should be a valid integer",
        "strategy.mine.order[0]: input should be 'score'",
        "colour: unknown key; allowed are schema",
    ]


def test_all_mistakes_of_meaning_in_one_go(tmp_path: Path) -> None:
    text = """
        [scorecard.mine]
        range = [3, 2]
        [[scorecard.mine.group]]
        name = "g"
        mode = "all"
        rules = [
          { id = "A", reason = "a", when = { path = { has = ["$absolut"] } } },
          { id = "B", reason = "b", points = 1, when = { pth = { has = "a" } } },
          { id = "C", reason = "c", points = 1, when = { path = { matches = "(" } } },
          { id = "D", reason = "d", points = 1, per = "card.nope" },
          { id = "E", reason = "e", points = 1, per = "path" },
        ]
        [[scorecard.mine.group]]
        name = "h"
        mode = "all"
        rules = [{ id = "A", reason = "a" }]
        [strategy.mine]
        card = "nobody"
        cap = 4
        order = ["score"]
        """
    rules = "scorecard.mine.group[g].rules"
    found = told(tmp_path, START + text)
    assert [line.partition(", ")[0] for line in found] == [
        f"{rules}[A].when.path.has: the term $absolut is not defined; did you mean $absolute?",
        f"{rules}[B].when.pth: no fact is named 'pth'; did you mean path?",
        f"{rules}[C].when.path.matches: pattern '(': missing ) at character 1; close the group with )",
        f"{rules}[D].per: no scorecard is named 'nope'; there are category",
        f"{rules}[E].per: path is not a number",
        "scorecard.mine.group[h].rules[A].id: is taken; ids are unique within a card",
        "scorecard.mine.range: the first number should not be above the second",
        "strategy.mine.card: no scorecard is named 'nobody'; there are category",
    ]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("terms = 3\n", "terms: input should be a valid dictionary"),
        ("scorecard = 3\n", "scorecard: input should be a valid dictionary"),
        ("topic = 3\n", "topic: should be a table"),
        ("[topic]\npattern = 3\n", "topic.pattern: input should be a valid string"),
        ("[terms]\nx = [3]\nabsolute = ['$x']\n", "terms.x[0]: input should be a valid string"),
        ("[scorecard.total]\nrange = ['x', 0]\n", "scorecard.total.range[0]: input should be a valid number"),
        ("[scorecard]\ntotal = 3\n", "scorecard.total: should be a table"),
        ("[term]\nx = ['y']\n", "term: unknown key; did you mean terms?"),
        (
            "[strategy.portfolo]\norder = []\ncap = 3\n",
            "strategy.portfolo.card: is required; did you mean portfolio?",
        ),
        ("[strategy.mine]\norder = []\ncap = 3\n", "strategy.mine.card: is required"),
        (
            "[scorecard.link]\nranges = [0, 1]\n",
            "scorecard.link.ranges: unknown key; did you mean range?",
        ),
    ],
)
def test_mistakes_of_structure_come_before_those_of_meaning(tmp_path: Path, text: str, first: str) -> None:
    (found,) = told(tmp_path, START + text + FILTER)
    assert found.startswith(first)
    assert told(tmp_path, START + FILTER) == [UNKNOWN_FACT]


def test_a_fact_that_is_none_is_told_once(tmp_path: Path) -> None:
    rule = 'rules = [{ id = "r", reason = "r", points = 1, per = "card.nope" }]\n'
    (found,) = told(tmp_path, START + CARD + rule)
    assert found.startswith("scorecard.mine.group[g].rules[r].per: no scorecard is named 'nope'; there are")


def test_a_circle_of_cards_is_told_once(tmp_path: Path) -> None:
    def card(name: str, *reads: str) -> str:
        rules = ", ".join(
            f'{{ id = "{r}", reason = "r", points = 1, per = "card.{other}" }}'
            for r, other in enumerate(reads)
        )
        return CARD.replace("mine", name) + f"rules = [{rules}]\n"

    circles = (
        card("before", "a") + card("a", "b") + card("b", "c -> a") + card('"c -> a"', "a") + card("d", "d")
    )
    assert told(tmp_path, START + circles) == [
        "scorecard.a: cards read each other in a circle: a -> b -> c -> a -> a",
        "scorecard.d: cards read each other in a circle: d -> d",
    ]


def parts(value: Any, at: Location = ()) -> Iterator[Location]:
    """Walk through a profile; what is inside of conditions has no shape."""
    inner: Any = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, part in inner if at[-1:] != ("when",) else ():
        yield (*at, key)
        yield from parts(part, (*at, key))


NAMED = {"terms", "scorecard", "strategy", "traversal", "quota", "fields"}


def places(raw: dict[str, Any]) -> list[Location]:
    """Return one place for each key that the format has."""
    found: dict[Location, Location] = {}
    for at in parts(raw):
        before = ("", *at)
        kind = tuple(
            "*" if isinstance(part, int) or before[n] in NAMED else part for n, part in enumerate(at)
        )
        found.setdefault(kind, at)
    return list(found.values())


def test_a_mistake_anywhere_is_reported_there() -> None:
    """A date is wrong everywhere."""
    whole = read_profile("company").table
    for at in places(whole):
        raw = deepcopy(whole)
        table: Any = raw
        for part in at[:-1]:
            table = table[part]
        table[at[-1]] = date(2024, 2, 29)
        with pytest.raises(ConfigError) as error:
            check_shape(raw, "p.toml")
        here = key_path(at[:-1] if at[0] == "family" and isinstance(at[-1], int) else at, raw)
        assert all(problem.where.startswith(here) for problem in error.value.problems), here


# --- extends ---


def test_a_circle_of_profiles_is_one_mistake(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text('extends = "mine.toml"\nsize = 3\n', "utf-8")
    (found,) = told(tmp_path, 'extends = "other.toml"\nfoo = 1\n' + FILTER)
    assert found.startswith("extends: goes in a circle or too deep: ")


@pytest.mark.parametrize(
    ("extends", "sentence"),
    [
        ('"nobody"', "no profile is named 'nobody'; known are base"),
        ("3", "extends: should be the name of a profile or a path to one"),
        ('"/"', "extends: '/' is not a file"),
    ],
)
def test_what_may_be_inherited_is_not_missed(tmp_path: Path, extends: str, sentence: str) -> None:
    (found,) = told(tmp_path, f'extends = {extends}\ncolour = "red"\n')
    assert found.startswith(sentence)


def test_what_another_file_has_wrong_is_told_with_its_name(tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("name = \n", "utf-8")
    alone = refusal(tmp_path, START.replace("company", "other.toml") + FILTER)
    assert (alone.file, len(alone.problems)) == (str(other), 1)
    assert str(alone).startswith(f"{other}: is not TOML: ")


# --- topics ---


def test_a_refused_topic_is_told_alone(tmp_path: Path) -> None:
    assert isinstance(refusal(tmp_path, START + FILTER + '[topic]\npattern = "("\n'), PatternError)
    assert isinstance(refusal(tmp_path, START, topic="("), PatternError)


def test_a_topic_that_is_given_hides_no_mistake_of_the_file(tmp_path: Path) -> None:
    assert told(tmp_path, START + "topic = 3\n", related=("x",)) == ["topic: should be a table"]
    (found,) = told(tmp_path, START, related=("", "$nothing"))
    assert found == "topic.related[0]: string should have at least 1 character"
    assert told(tmp_path, START + FILTER, related=("$nothing",))[0].startswith(
        "topic.related: the term $nothing is not defined"
    )


def test_cards_that_need_a_topic_are_checked_without_one(tmp_path: Path) -> None:
    rules = (
        'rules = [{ id = "a", reason = "a", when = { path = { matches = "$topic" } } }, '
        '{ id = "b", reason = "b", when = { pth = { has = "x" } } }]\n'
    )
    line = "scorecard.mine.group[g].rules[b].when.pth: no fact is named 'pth'; did you mean path?"
    assert told(tmp_path, START + CARD + rules) == told(tmp_path, START + CARD + rules, topic="x") == [line]


def test_cards_that_need_a_topic_are_not_there_without_one(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(START, "utf-8")
    mine, company = load_profile(tmp_path / "mine.toml"), load_profile("company")
    assert (set(mine.cards), mine.chains) == (set(company.cards), company.chains)
    assert "link" in load_profile(tmp_path / "mine.toml", topic="fire").cards.keys() - mine.cards.keys()


def test_a_card_that_reads_one_that_needs_a_topic(tmp_path: Path) -> None:
    assert told(tmp_path, START + READS_LINK) == ["scorecard.mine: reads a card that needs a topic"]
    assert load_profile(tmp_path / "mine.toml", topic="fire").chains["mine"] == ("link", "mine")


# --- bounds ---


@pytest.mark.parametrize("wrong", [MAX_PROBLEMS, MAX_PROBLEMS + 1])
def test_no_more_are_told_than_anyone_corrects(tmp_path: Path, wrong: int) -> None:
    found = told(tmp_path, START + "".join(f"k{n} = 1\n" for n in range(wrong)))
    assert len(found) == wrong
    assert (found[-1] == "1 more mistakes; correct these first") is (wrong > MAX_PROBLEMS)
