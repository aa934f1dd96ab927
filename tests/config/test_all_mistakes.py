"""One check tells everything: mistakes of structure, of what parts refer to, of `extends`, and nothing twice."""

from __future__ import annotations

from copy import deepcopy
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import load_profile
from honeyguide.config.build import build
from honeyguide.config.check import check_shape, key_path
from honeyguide.config.files import MAX_TOLD, read_merged
from honeyguide.errors import ConfigError, PatternError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from honeyguide.config.check import Location

START = 'schema = 1\nextends = "company"\nname = "mine"\ndescription = "mine"\n'
FILTER = '[[filter]]\nid = "f"\nreason = "f"\nwhen = { pth = { has = "x" } }\n'
UNKNOWN_FACT = "filter[0].when.pth: no fact is named 'pth'; did you mean path?"
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


def test_structure_and_meaning_in_one_go(tmp_path: Path) -> None:
    text = """
        colour = "red"
        [terms]
        x = 3
        [scorecard.link]
        range = "a"
        [[scorecard.link.group]]
        name = "g"
        mode = "sometimes"
        rules = [
          { id = "A", points = "x", when = { path = { has = ["$x", "$absolut"] } } },
          { id = "B", reason = "b", points = 1, when = { pth = { has = "a" } } },
          { id = "B", reason = "b", points = 1, when = { path = { matches = "(" } } },
          3,
          { id = "D", reason = "d", points = 1, per = "card.nope" },
        ]
        [strategy.mine]
        card = "nobody"
        cap = "four"
        order = ["luck"]
        """
    rules = "scorecard.link.group[0].rules"
    found = told(tmp_path, START + text)
    assert [line.partition(", ")[0] for line in found] == [
        "terms.x: input should be a valid list",
        "scorecard.link.range: input should be a valid list",
        "scorecard.link.group[0].mode: input should be 'first' or 'all'",
        f"{rules}[0].reason: is required",
        f"{rules}[0].points: input should be a valid number",
        f"{rules}[3]: input should be a valid dictionary or instance of RuleShape",
        "strategy.mine.cap: input should be a valid integer",
        "strategy.mine.order[0]: input should be 'score'",
        "colour: unknown key; allowed are schema",
        f"{rules}[0].when.path.has: the term $absolut is not defined; did you mean $absolute?",
        f"{rules}[1].when.pth: no fact is named 'pth'; did you mean path?",
        f"{rules}[2].when.path.matches: pattern '(': missing ) at character 1; close the group with )",
        f"{rules}[4].per: no scorecard is named 'nope'; there are category",
        f"{rules}[2].id: 'B' is taken; ids are unique within a card",
        "strategy.mine.card: no scorecard is named 'nobody'; there are category",
    ]


# --- what follows from a mistake is none of its own ---


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("terms = 3\n" + FILTER, "terms: input should be a valid dictionary"),
        ("scorecard = 3\n" + FILTER, "scorecard: input should be a valid dictionary"),
        ("topic = 3\n" + FILTER, "topic: input should be a valid dictionary or instance of TopicShape"),
        ("[topic]\npattern = 3\n" + FILTER + READS_LINK, "topic.pattern: input should be a valid string"),
        (FILTER + "[terms]\nx = [3]\nabsolute = ['$x']\n", "terms.x[0]: input should be a valid string"),
        (
            FILTER + "[scorecard.total]\nrange = ['x', 0]\ngroup = []\n",
            "scorecard.total.range[0]: input should be a valid number",
        ),
        (FILTER + "[scorecard]\ntotal = 3\n", "scorecard.total: input should be a valid dictionary or"),
        (FILTER + "[term]\nx = ['y']\n[content]\ngone = ['$x']\n", "term: unknown key; allowed are schema"),
        (
            FILTER
            + "[scorecard.link]\nranges = [0, 10]\n[[scorecard.link.group]]\nname = 'g'\nmode = 'all'\nrules = []\n",
            "scorecard.link.ranges: unknown key; allowed are base, range",
        ),
    ],
)
def test_nothing_that_only_follows(tmp_path: Path, text: str, first: str) -> None:
    found = told(tmp_path, START + text)
    assert found[0].startswith(first)
    assert found[1:] == [UNKNOWN_FACT]


def test_a_key_beside_a_slip_is_looked_at(tmp_path: Path) -> None:
    text = "[scorecard.link]\nrange = [0, 99]\nranges = [0, 10]\ngroup = []\n"
    found = told(tmp_path, START + text)
    assert found[0].startswith("scorecard.link.ranges: unknown key")
    assert found[1:] == ["scorecard.link.range: should lie within [0, 10], the scale of topics"]


def test_a_sound_word_beside_a_wrong_one_is_looked_at(tmp_path: Path) -> None:
    found = told(tmp_path, START + '[terms]\nabsolute = [3, "$absolut"]\n')
    assert found == [
        "terms.absolute[0]: input should be a valid string",
        "terms.absolute: the term $absolut is not defined; did you mean $absolute?",
    ]


def test_a_fact_that_is_none_is_told_once(tmp_path: Path) -> None:
    rule = 'rules = [{ id = "r", reason = "r", points = 1, per = "card.nope" }]\n'
    (found,) = told(tmp_path, START + CARD + rule)
    assert found.startswith("scorecard.mine.group[0].rules[0].per: no scorecard is named 'nope'; there are")


@pytest.mark.parametrize(
    ("when", "found"),
    [
        ('pth = { has = ["x", "$absolut"] }', ["pth", "pth.has: the term $absolut is"]),
        ('pth = { matches = "(", is = 3, below = 2 }', ["pth", "pth.matches: pattern '(': missing )"]),
        ('"card.nope" = { above = "x" }', ["card.nope", "card.nope.above: should be a number"]),
        ("pth = { has = 1, above = 2, is = true }", ["pth"]),
        ("pth = 3", ["pth"]),
    ],
)
def test_what_a_fact_that_is_none_is_compared_with(tmp_path: Path, when: str, found: list[str]) -> None:
    lines = told(tmp_path, START + FILTER.replace('pth = { has = "x" }', when))
    assert len(lines) == len(found)
    assert all(line.startswith(f"filter[0].when.{start}") for line, start in zip(lines, found, strict=True))


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
    """Give one place for each key that the format has."""
    found: dict[Location, Location] = {}
    for at in parts(raw):
        before = ("", *at)
        kind = tuple(
            "*" if isinstance(part, int) or before[n] in NAMED else part for n, part in enumerate(at)
        )
        found.setdefault(kind, at)
    return list(found.values())


def test_a_mistake_anywhere_hides_no_other_and_makes_none() -> None:
    """A date is wrong everywhere. Two mistakes of meaning stand at the end of the profile, at least one elsewhere."""
    whole = read_merged("company")
    whole["skip"].append({"id": "s", "reason": "s", "when": {"pth": {"has": "x"}}})
    whole["query"]["fields"]["body"] = {"weight": 1.0, "usual_words": 9}
    others = {f"skip[{len(whole['skip']) - 1}].when.pth": "skip", "query.fields.body": "query"}
    for at in places(whole):
        raw = deepcopy(whole)
        table: Any = raw
        for part in at[:-1]:
            table = table[part]
        table[at[-1]] = date(2024, 2, 29)
        checked = check_shape(raw, "p.toml")
        with pytest.raises(ConfigError) as error:
            build(checked.shape, "p.toml", None, checked)
        found = [problem.where for problem in error.value.problems]
        here = key_path(at[:-1] if at[0] == "family" and isinstance(at[-1], int) else at)
        own = [where for where in found if where not in others]
        assert own, here
        assert all(where.startswith(here) for where in own), found
        assert {where for where, table in others.items() if table != at[0]} <= set(found), found


# --- extends ---


def test_a_circle_of_profiles_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text('extends = "mine.toml"\nsize = 3\n', "utf-8")
    text = 'extends = "other.toml"\nfoo = 1\n' + FILTER + "[[filter]]\nid = 3\n"
    found = told(tmp_path, text)
    assert found[0].startswith("extends: goes in a circle or too deep: ")
    assert [line.partition(";")[0] for line in found[1:]] == [
        "filter[1].id: input should be a valid string",
        "filter[1].reason: is required",
        "filter[1].when: is required",
        "size: unknown key",
        "foo: unknown key",
        UNKNOWN_FACT.partition(";")[0],
    ]


@pytest.mark.parametrize(
    ("extends", "sentence"),
    [
        ('"nobody"', "no profile is named 'nobody'; known are base"),
        ("3", "extends: should be the name of a profile or a path to one"),
        ('"/"', "extends: '/' is not a file"),
    ],
)
def test_what_may_be_inherited_is_not_missed(tmp_path: Path, extends: str, sentence: str) -> None:
    text = (
        f'extends = {extends}\ncolour = "red"\n'
        '[[filter]]\nid = "f"\nreason = "f"\nwhen = { path = { has = "$theirs" }, "card.theirs" = { above = 1 } }\n'
        '[query]\nk1 = "x"\n[strategy.s]\ncard = "theirs"\ncap = 1\norder = ["score"]\n'
        f'{CARD}rules = [{{ id = "r", reason = "r", per = "card.theirs", when = {{ path = {{ matches = "$topic" }} }} }}]\n'
    )
    found = told(tmp_path, text)
    assert found[0].startswith(sentence)
    assert [line.partition(";")[0] for line in found[1:]] == [
        "query.k1: input should be a valid number",
        "colour: unknown key",
    ]


def test_half_a_card_is_a_mistake_whatever_is_inherited(tmp_path: Path) -> None:
    found = told(tmp_path, 'extends = "nobody"\n[scorecard.mine]\nbase = 1\n')
    assert found[1:] == ["scorecard.mine.group: is required"]


def test_what_another_file_has_wrong_is_told_with_its_name(tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("name = \n", "utf-8")
    alone = refusal(tmp_path, START.replace("company", "other.toml"))
    assert (alone.file, len(alone.problems)) == (str(other), 1)
    assert str(alone).startswith(f"{other}: is not TOML: ")
    found = told(tmp_path, START.replace("company", "other.toml") + FILTER)
    assert found == [f"extends: {alone}", UNKNOWN_FACT]


# --- topics ---


def test_a_refused_topic_hides_nothing(tmp_path: Path) -> None:
    alone = refusal(tmp_path, START + '[topic]\npattern = "("\n')
    assert isinstance(alone, PatternError)
    found = told(tmp_path, START + 'colour = "red"\n' + FILTER + READS_LINK + '[topic]\npattern = "("\n')
    assert found[0].startswith("colour: unknown key")
    assert found[1:] == [f"topic.pattern: {alone}", UNKNOWN_FACT]


def test_a_topic_that_is_given_hides_nothing(tmp_path: Path) -> None:
    found = told(tmp_path, START + "topic = 3\n" + FILTER, related=("", "$nothing"))
    assert [line.partition(";")[0] for line in found] == [
        "topic: input should be a valid dictionary or instance of TopicShape",
        "topic.related[0]: string should have at least 1 character",
        "topic.related: the term $nothing is not defined",
        UNKNOWN_FACT.partition(";")[0],
    ]
    assert isinstance(refusal(tmp_path, START, topic="("), PatternError)


def test_cards_that_need_a_topic_are_checked_without_one(tmp_path: Path) -> None:
    rules = (
        'rules = [{ id = "a", reason = "a", when = { path = { matches = "$topic" } } }, '
        '{ id = "b", reason = "b", when = { pth = { has = "x" } } }]\n'
    )
    line = "scorecard.mine.group[0].rules[1].when.pth: no fact is named 'pth'; did you mean path?"
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


MORE = "1 more mistakes; mend these first"


@pytest.mark.parametrize(
    ("wrong", "last"), [(MAX_TOLD - 1, UNKNOWN_FACT), (MAX_TOLD, MORE), (MAX_TOLD + 1, MORE)]
)
def test_no_more_are_told_than_anyone_mends(tmp_path: Path, wrong: int, last: str) -> None:
    found = told(tmp_path, START + "".join(f"k{n} = 1\n" for n in range(wrong)) + FILTER)
    assert len(found) == min(wrong, MAX_TOLD) + 1
    assert found[-1] == last
