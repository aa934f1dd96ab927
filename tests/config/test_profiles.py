from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import honeyguide
from honeyguide import load_profile
from honeyguide.config import bundled_profiles
from honeyguide.config.extend import read_profile, unused_terms
from honeyguide.config.shapes import check_shape
from honeyguide.errors import ConfigError, InputError, PatternError

START = 'schema = 1\nextends = "company"\nname = "mine"\ndescription = "mine"\n'


def write(folder: Path, text: str, name: str = "mine.toml") -> str:
    file = folder / name
    file.write_text(text, "utf-8")
    return str(file)


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as error:
        load_profile(write(folder, text))
    return [str(problem) for problem in error.value.problems]


@pytest.mark.parametrize("name", bundled_profiles())
def test_bundled_profiles_load(name: str) -> None:
    profile = load_profile(name, topic="fire")
    assert profile.name == name
    assert {"plan", "link", "page"} <= set(profile.cards)


def test_the_promised_profiles_are_there() -> None:
    assert {"fire-protection", "company", "docs", "news"} <= set(bundled_profiles())


def test_a_profile_that_changes_nothing_loads(tmp_path: Path) -> None:
    profile = load_profile(write(tmp_path, START))
    assert set(profile.strategies) == set(load_profile("company").strategies)


def test_own_keys_win_and_the_rest_is_inherited(tmp_path: Path) -> None:
    profile = load_profile(write(tmp_path, START + '[terms]\nabsolute = ["gutter"]\n'))
    (category,) = [group for group in profile.cards["category"].card.groups if group.name == "category"]
    assert "gutter" in repr(category.rules[1].when)
    assert "path_hints" not in repr(category)


def test_hash_is_of_what_it_says(tmp_path: Path) -> None:
    one = load_profile(write(tmp_path, START + '[terms]\na = ["x"]\nb = ["y"]\n', "one.toml"))
    two = load_profile(write(tmp_path, START + '# a comment\n[terms]\nb = ["y"]\na = ["x"]\n', "two.toml"))
    other = load_profile(write(tmp_path, START + '[terms]\na = ["z"]\n', "other.toml"))
    assert one.hash == two.hash != other.hash
    assert load_profile("docs", topic="a").hash != load_profile("docs", topic="b").hash


def test_extends_by_relative_path(tmp_path: Path) -> None:
    write(tmp_path, START, "parent.toml")
    child = START.replace('"company"', '"parent.toml"').replace('"mine"', '"child"', 1)
    assert load_profile(write(tmp_path, child, "child.toml")).name == "child"


def test_all_mistakes_of_structure_at_once(tmp_path: Path) -> None:
    text = (
        START
        + 'colour = "red"\n[strategy.rules]\ncard = "category"\ncap = "four"\norder = ["luck"]\n[plan]\nlevels = []\n'
    )
    found = problems(tmp_path, text)
    assert any(line.startswith("colour: unknown key; allowed are schema, name") for line in found)
    assert any(line.startswith("strategy.rules.cap: input should be a valid integer") for line in found)
    assert any(line.startswith("strategy.rules.order[0]: input should be 'score'") for line in found)
    assert any(line.startswith("plan.levels:") for line in found)
    assert len(found) == 4


def test_unknown_key_deep_inside_names_what_is_allowed(tmp_path: Path) -> None:
    text = START + '[[filter]]\nid = "x"\nreason = "x"\nwhen = {}\npoints = 3\n'
    assert problems(tmp_path, text) == ["filter[x].points: unknown key; allowed are id, reason, when, show"]


@pytest.mark.parametrize(
    ("when", "problem"),
    [
        ('{ pth = { has = "x" } }', "no fact is named 'pth'; did you mean path?"),
        ("{ zzz = { has = 1 } }", "no fact is named 'zzz'; known are url, path"),
        ('{ path = { has = "$nothing" } }', "the term $nothing is not defined; defined are $"),
        (
            "{ path = { below = 3 } }",
            "path is a text; allowed tests are starts, ends, has, word, is, matches",
        ),
        ('{ visits = { has = "x" } }', "visits is a number; allowed tests are is, below, above"),
        ('{ visits = { below = "x" } }', "should be a number"),
        ("{ is_hub = { is = 1 } }", "should be true or false"),
        ('{ path = { has = "" } }', "the word '' matches everything or nothing; remove it"),
        ("{ path = { has = 3 } }", "should be a word or a list of words"),
        ("{ path = 3 }", "should be a table of tests"),
        ("{ all = 3 }", "should be a list of conditions"),
        ("{ not = 3 }", "should be a table such as"),
        ('{ path = { matches = "(" } }', "missing )"),
        ("{ path = { matches = 3 } }", "should be a pattern, or $topic"),
        ('{ "card.nope" = { above = 1 } }', "no scorecard is named 'nope'"),
    ],
)
def test_mistakes_in_conditions(tmp_path: Path, when: str, problem: str) -> None:
    found = problems(tmp_path, START + f'[[filter]]\nid = "x"\nreason = "x"\nwhen = {when}\n')
    assert len(found) == 1
    assert found[0].startswith("filter[x].when")
    assert problem in found[0]


def test_several_mistakes_of_meaning_at_once(tmp_path: Path) -> None:
    text = START + (
        '[terms]\na = ["$b"]\nb = ["$a"]\n'
        '[strategy.s]\ncard = "nope"\ncap = 1\norder = ["score"]\n'
        '[[filter]]\nid = "x"\nreason = "x"\nwhen = { path = { has = "$a" } }\n'
        "[query.fields]\nbody = { weight = 1.0, usual_words = 9 }\n"
    )
    found = problems(tmp_path, text)
    assert any("in a circle: a -> b -> a" in line for line in found)
    assert any(line.startswith("strategy.s.card: no scorecard is named 'nope'") for line in found)
    assert any(line.startswith("query.fields.body: allowed are") for line in found)


def test_cards_that_read_each_other(tmp_path: Path) -> None:
    card = '[scorecard.{0}]\n[[scorecard.{0}.group]]\nname = "g"\nmode = "all"\nrules = [{{ id = "r", reason = "r", points = 1, per = "card.{1}" }}]\n'
    found = problems(tmp_path, START + card.format("a", "b") + card.format("b", "a"))
    assert any("cards read each other in a circle: a -> b -> a" in line for line in found)


def test_ids_are_unique_within_a_card(tmp_path: Path) -> None:
    rule = '{ id = "r", reason = "r", points = 1 }'
    text = f'[scorecard.a]\n[[scorecard.a.group]]\nname = "g"\nmode = "all"\nrules = [{rule}, {rule}]\n'
    assert problems(tmp_path, START + text) == [
        "scorecard.a.group[g].rules[r]: is there twice; ids are unique within a list"
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("schema = 1\nname = ", "is not TOML"),
        (START.replace("company", "nobody"), "no profile is named 'nobody'; known are"),
        (START.replace("schema = 1", "schema = 2"), "schema: input should be 1"),
        (START.replace('"company"', "3"), "extends: should be the name of a profile"),
        (START.replace('"company"', '"mine.toml"'), "goes in a circle"),
        ("a = " + "[" * 5000, "TOML"),
        ("x = " + "1" * 2_000_000, "larger than"),
    ],
)
def test_broken_files(tmp_path: Path, text: str, problem: str) -> None:
    found = problems(tmp_path, text)
    assert len(found) == 1
    assert problem in found[0] or "nested too deeply" in found[0]


SETTINGS = '{"extends": "fire-protection", "page_cap": 2, "disallowed_paths": ["/team"]}'


def test_a_profile_may_be_json(tmp_path: Path) -> None:
    config = load_profile(write(tmp_path, SETTINGS, "config.json"))
    same = load_profile(
        write(tmp_path, 'extends = "config.json"\nname = "fire-protection"\n', "mine.toml")  # by its path
    )
    assert (config.strategies["rules"].cap, config.name) == (2, "fire-protection")
    assert same.strategies["blend"].cap == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"page_cap": 2,}', "is not JSON: "),
        ("[1]", "should be an object such as"),
        ('{"page_cap": 2, "page_cap": 3}', "the key 'page_cap' is there twice in one object; remove one"),
        ('{"name": "\\ud800"}', "has half a letter, an escape such as \\ud800; remove it"),
        ('{"page_cap": ' + "1" * 5000 + "}", "is not JSON: a number is too long"),
        ('{"a": ' + "[" * 5000, "is nested too deeply"),
        ('{"a": ' + "[" * 90 + "]" * 90 + "}", "is nested too deeply"),
        ('{"extends": "company", "pagecap": 2}', "pagecap: unknown key; did you mean page_cap?"),
        ('{"extends": "base", "page_cap": 2}', "page_cap: no strategy is inherited; extend a profile"),
        ('{"extends": "company", "query": null}', "query: "),
    ],
)
def test_broken_json(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as error:
        load_profile(write(tmp_path, text, "config.json"))
    (found,) = error.value.problems
    assert problem in str(found)


def test_missing_and_undecodable_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml: cannot be read: No such file"):
        load_profile(tmp_path / "nowhere.toml")
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(ConfigError, match="is not UTF-8"):
        load_profile(tmp_path / "latin.toml")


def test_a_topic_that_is_refused() -> None:
    with pytest.raises(PatternError, match="matches everything"):
        load_profile("docs", topic=".*")


def test_a_term_that_does_not_exist_is_told_where_it_is_written(tmp_path: Path) -> None:
    file = write(tmp_path, START + '[terms]\nabsolute = ["roof", "$service_trms"]\n')
    with pytest.raises(ConfigError) as caught:
        load_profile(file)
    told = [str(problem) for problem in caught.value.problems]
    assert told == ["terms.absolute: the term $service_trms is not defined; did you mean $service_terms?"]


def test_a_related_term_that_does_not_exist_is_told_where_it_is_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"topic.related: the term \$nothing"):
        load_profile(write(tmp_path, START + '[topic]\npattern = "fire"\nrelated = ["$nothing"]\n'))


def test_a_profile_that_is_misspelt_is_proposed() -> None:
    with pytest.raises(ConfigError, match=r"no profile is named 'compny'; did you mean company\?$"):
        load_profile("compny")


def test_terms_that_nothing_uses_are_told(tmp_path: Path) -> None:
    text = '[terms]\nabsolut = ["roof"]\nabsolute = ["$mine"]\nmine = ["x"]\nzebra = ["y"]\n'
    first, second = unused_terms(read_profile(write(tmp_path, START + text)))
    assert str(first) == "terms.absolut: no rule uses it; did you mean absolute?"
    assert str(second).startswith("terms.zebra: no rule uses it; used are ")


@pytest.mark.parametrize("name", bundled_profiles())
def test_our_own_profiles_use_all_their_terms(name: str) -> None:
    assert unused_terms(read_profile(name)) == ()


@pytest.mark.parametrize(
    "bounds", ["range = [0, 100]\n", "range = [-1, 10]\n", ""], ids=["wide", "below", "none"]
)
@pytest.mark.parametrize("card", ["link", "page"])
def test_a_topic_is_scored_on_one_scale(card: str, bounds: str, tmp_path: Path) -> None:
    own = (
        f'[scorecard.{card}]\n{bounds}[[scorecard.{card}.group]]\nname = "x"\nmode = "all"\n'
        'rules = [{ id = "x", reason = "x", points = 3, when = { path = { has = ["x"] } } }]\n'
    )
    told = f"scorecard.{card}.range: should lie within [0, 10], the scale of topics"
    whole = f'replace = ["scorecard.{card}"]\n'
    assert problems(tmp_path, START + whole + own) == [told]


@pytest.mark.parametrize("bounds", ["range = [0, 101]\n", "range = [-1, 100]\n", ""])
def test_known_urls_are_scored_on_one_scale(bounds: str, tmp_path: Path) -> None:
    # PLAN-1: 0 to 100, which levels, --min-score and the schema of plans rest on.
    own = f'[scorecard.plan]\n{bounds}[[scorecard.plan.group]]\nname = "x"\nmode = "all"\nrules = []\n'
    told = "scorecard.plan.range: should lie within [0, 100], the scale of plans"
    assert told in problems(tmp_path, START + 'replace = ["scorecard.plan"]\n' + own)


def test_a_bonus_is_within_what_priorities_tell_apart(tmp_path: Path) -> None:
    own = '[traversal.mine]\nlinks = [{ at_least = 0, lane = "deep" }]\npages = [{ at_least = 0, lane = "deep", bonus = 31 }]\n'
    (told,) = problems(tmp_path, START + own)
    assert told.startswith("traversal.mine.pages[0].bonus: ")


# --- profiles of ours, which are not checked again when they are loaded ---


@pytest.mark.parametrize("topic", [{}, {"pattern": "fire", "related": ["smoke"]}], ids=["own", "other"])
@pytest.mark.parametrize("name", bundled_profiles())
def test_our_own_profiles_would_pass_the_check(name: str, topic: dict[str, Any]) -> None:
    raw = read_profile(name).table
    check_shape({**raw, "topic": {**raw.get("topic", {}), **topic}}, name)


@pytest.mark.parametrize("topic", [None, "fire"])
@pytest.mark.parametrize("name", bundled_profiles())
def test_our_own_profiles_are_the_same_by_path(name: str, topic: str | None) -> None:
    file = Path(honeyguide.__file__).parent / "profiles" / f"{name}.toml"
    by_name, by_path = load_profile(name, topic=topic), load_profile(file, topic=topic)
    assert (by_name.hash, by_name.own_hash) == (by_path.hash, by_path.own_hash)


def test_our_own_profiles_are_loaded_without_what_checks_others() -> None:
    code = (
        "import sys, honeyguide\n"
        "honeyguide.load_profile('company', topic='fire|alarm', related=('smoke',))\n"
        "print('honeyguide.config.shapes' in sys.modules, 'pydantic' in sys.modules)"
    )
    run = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout == "True False\n"


@pytest.mark.parametrize(
    ("topic", "related", "told"),
    [
        (b"fire", None, r"topic must be str"),
        (None, ("",), r"topic.related\[0\]: string should have at least 1 character"),
        (None, ("x", "y" * 201), r"topic.related\[1\]: string should have at most 200 characters"),
        (None, ("\ud800",), r"topic.related\[0\]: input should be a valid string"),
        (None, (3,), r"related must be str | Sequence\[str\] | None, not tuple of int"),
        (None, {"fire"}, r"related must be str | Sequence\[str\] | None, not set"),
    ],
)
def test_a_topic_is_checked_also_with_our_own_profiles(topic: Any, related: Any, told: str) -> None:
    with pytest.raises((ConfigError, InputError), match=told):
        load_profile("docs", topic=topic, related=related)


def test_a_value_where_a_table_belongs(tmp_path: Path) -> None:
    told = "plan: should be a table"
    assert problems(tmp_path, START + "plan = 3\n") == [told]
