"""A profile changes what it extends piece by piece; replacing a whole card or list is said aloud."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import load_profile, select_links
from honeyguide.config.extend import read_profile
from honeyguide.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

START = 'schema = 1\nextends = "company"\nname = "mine"\ndescription = "mine"\n'
COMPANY = read_profile("company").table
HOME = "https://acme.example/"


def write(folder: Path, text: str, name: str = "mine.toml") -> Path:
    file = folder / name
    file.write_text(text, "utf-8")
    return file


def joined(folder: Path, text: str) -> dict[str, Any]:
    """Join a profile with `company`, and check that it can be used."""
    file = write(folder, START + text)
    load_profile(file)
    return read_profile(file).table


def replaced(folder: Path, text: str, start: str = START) -> tuple[str, ...]:
    return read_profile(write(folder, start + text)).replaced


def mistakes(folder: Path, text: str) -> list[str]:
    file = write(folder, START + text)
    with pytest.raises(ConfigError) as error:
        load_profile(file)
    assert error.value.file == str(file)
    return [str(problem) for problem in error.value.problems]


def group(table: dict[str, Any], card: str, name: str) -> dict[str, Any]:
    (found,) = [group for group in table["scorecard"][card]["group"] if group["name"] == name]
    return dict(found)


def names(entries: list[dict[str, Any]]) -> list[str]:
    return [entry.get("id") or entry["name"] for entry in entries]


# --- one piece ---


@pytest.mark.parametrize(
    ("text", "table", "key", "value"),
    [
        ("[strategy.portfolio]\ncap = 6\n", ("strategy", "portfolio"), "cap", 6),
        ("[strategy.blend.quota]\nblog = 2\n", ("strategy", "blend", "quota"), "blog", 2),
        ("[traversal.focused]\ntunnel = 5\n", ("traversal", "focused"), "tunnel", 5),
        ("[scorecard.plan]\nbase = 40\n", ("scorecard", "plan"), "base", 40),
        ("[crawl]\nwindow = 8\n", ("crawl",), "window", 8),
    ],
)
def test_one_number_changes_that_number_only(
    tmp_path: Path, text: str, table: tuple[str, ...], key: str, value: int
) -> None:
    mine, company = joined(tmp_path, text), COMPANY
    for name in table:
        mine, company = mine[name], company[name]
    assert mine == {**company, key: value} != company


# --- the settings of the link scoring guide, at the top of a profile ---


def test_page_cap_is_the_cap_of_every_strategy(tmp_path: Path) -> None:
    mine = joined(tmp_path, "page_cap = 7\n")
    assert {name: strategy["cap"] for name, strategy in mine["strategy"].items()} == {
        "rules": 7, "blend": 7, "portfolio": 7,
    }  # fmt: skip
    for name, strategy in mine["strategy"].items():
        assert {**strategy, "cap": 4} == COMPANY["strategy"][name]


def test_a_child_changes_the_cap_of_one_strategy(tmp_path: Path) -> None:
    write(tmp_path, START + "page_cap = 7\n", "parent.toml")
    start = START.replace("company", "parent.toml")
    child = load_profile(write(tmp_path, start + "[strategy.rules]\ncap = 2\n"))
    assert {name: plan.cap for name, plan in child.strategies.items()} == {
        "rules": 2, "blend": 7, "portfolio": 7,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ('disallowed_paths = ["/team"]\n', ["/team"]),
        ('disallowed_paths.add = ["/team"]\n', [*COMPANY["terms"]["disallowed_paths"], "/team"]),
    ],
)
def test_disallowed_paths_are_those_of_every_strategy(tmp_path: Path, text: str, paths: list[str]) -> None:
    assert joined(tmp_path, text)["terms"]["disallowed_paths"] == paths
    profile = load_profile(tmp_path / "mine.toml")
    for strategy in profile.strategies:
        (candidate,) = select_links(
            "<a href=/team>x</a>", HOME, strategy=strategy, profile=profile
        ).candidates
        assert candidate.rejected is not None
        assert candidate.rejected.rule == "disallowed-path"


CHANGED = '[[scorecard.category.group]]\nname = "category"\nrules = [{ id = "B", points = 95 }]\n'


def test_one_rule_of_a_card_is_changed_by_its_id(tmp_path: Path) -> None:
    mine, company = (
        group(joined(tmp_path, CHANGED), "category", "category"),
        group(COMPANY, "category", "category"),
    )
    before = {rule["id"]: rule for rule in company["rules"]}
    after = {rule["id"]: rule for rule in mine["rules"]}
    assert list(after) == list(before)
    assert after == {**before, "B": {**before["B"], "points": 95}}
    assert replaced(tmp_path, CHANGED) == ()


@pytest.mark.parametrize(("before", "place"), [("", -1), (', before = "D"', -2), (', before = "A"', 0)])
def test_one_rule_of_a_card_is_added(tmp_path: Path, before: str, place: int) -> None:
    rule = (
        f'{{ id = "new", reason = "gutters", points = 70, when = {{ slug = {{ has = "gutter" }} }}{before} }}'
    )
    text = f'[[scorecard.category.group]]\nname = "category"\nrules = [{rule}]\n'
    rules = group(joined(tmp_path, text), "category", "category")["rules"]
    assert names(rules)[place] == "new"
    assert "before" not in rules[place]
    assert names([rule for rule in rules if rule["id"] != "new"]) == ["A", "B", "C", "U", "T", "D"]


def test_an_inherited_rule_is_moved(tmp_path: Path) -> None:
    text = '[[scorecard.category.group]]\nname = "category"\nrules = [{ id = "T", before = "A" }, { id = "A", before = "D" }]\n'
    rules = group(joined(tmp_path, text), "category", "category")["rules"]
    assert names(rules) == ["T", "B", "C", "U", "A", "D"]


def test_one_rule_of_a_card_is_removed(tmp_path: Path) -> None:
    text = '[[scorecard.category.group]]\nname = "category"\nrules = [{ id = "T", remove = true }]\n'
    assert names(group(joined(tmp_path, text), "category", "category")["rules"]) == ["A", "B", "C", "U", "D"]


def test_a_group_is_added_and_another_is_removed(tmp_path: Path) -> None:
    text = (
        '[[scorecard.worth.group]]\nname = "shape"\nremove = true\n'
        '[[scorecard.worth.group]]\nname = "mine"\nmode = "all"\nbefore = "place"\n'
        'rules = [{ id = "gutter", reason = "gutters", points = 9, when = { slug = { has = "gutter" } } }]\n'
    )
    assert names(joined(tmp_path, text)["scorecard"]["worth"]["group"]) == ["kind", "mine", "place"]
    assert replaced(tmp_path, text) == ()


def test_rules_of_lists_are_changed_added_and_removed(tmp_path: Path) -> None:
    text = (
        '[[filter]]\nid = "homepage"\nreason = "the start"\n'
        '[[filter]]\nid = "service-area"\nremove = true\n'
        '[[filter]]\nid = "prices"\nreason = "prices"\nwhen = { slug = { has = "price" } }\n'
        '[[strategy.blend.drop]]\nid = "threshold"\nwhen = { "card.total" = { below = 0.2 } }\n'
    )
    mine = joined(tmp_path, text)
    assert names(mine["filter"]) == ["disallowed-path", "homepage", "duplicate", "prices"]
    assert mine["filter"][1] == {**COMPANY["filter"][1], "reason": "the start"}
    assert names(mine["strategy"]["blend"]["drop"]) == ["top-level", "threshold", "blog"]
    assert mine["strategy"]["blend"]["drop"][1]["when"] == {"card.total": {"below": 0.2}}


def test_levels_and_buckets_are_changed_by_their_names(tmp_path: Path) -> None:
    text = '[[plan.levels]]\nname = "high"\nat_least = 65\n[[bucket]]\nname = "products"\nhandicap = 0.2\n'
    mine = joined(tmp_path, text)
    assert [level["at_least"] for level in mine["plan"]["levels"]] == [80, 65, 40, 20, 0]
    assert [bucket.get("handicap") for bucket in mine["bucket"] if "handicap" in bucket] == [0.2]


def test_one_word_is_added_and_another_removed(tmp_path: Path) -> None:
    text = (
        '[terms]\nabsolute.add = ["gutter", "install"]\nabsolute.remove = ["protection"]\n'
        '[scope]\nskip_extensions.add = ["dwg"]\n[family]\nplaces.add = ["quartier"]\n'
    )
    mine = joined(tmp_path, text)
    assert mine["terms"]["absolute"] == ["installation", "install", "maintenance", "inspection", "gutter"]
    assert mine["scope"]["skip_extensions"] == [*COMPANY["scope"]["skip_extensions"], "dwg"]
    places = COMPANY["family"]["places"]
    assert mine["family"]["places"] == [*([places] if isinstance(places, str) else places), "quartier"]
    assert replaced(tmp_path, text) == ()


def test_the_hash_is_that_of_what_it_comes_to(tmp_path: Path) -> None:
    by_edit = load_profile(write(tmp_path, START + '[terms]\ntier2.remove = ["training"]\n'))
    words = [word for word in COMPANY["terms"]["tier2"] if word != "training"]
    assert by_edit.hash == load_profile(write(tmp_path, START + f"[terms]\ntier2 = {words}\n")).hash


# --- a whole card or list ---


CARD = (
    '[scorecard.category]\n[[scorecard.category.group]]\nname = "mine"\nmode = "all"\n'
    'rules = [{ id = "only", reason = "only", points = 1 }]\n'
)


def test_a_whole_card_is_replaced_if_the_profile_says_so(tmp_path: Path) -> None:
    card = joined(tmp_path, 'replace = ["scorecard.category"]\n' + CARD)["scorecard"]["category"]
    assert names(card["group"]) == ["mine"]
    assert card.keys() == {"group"}
    assert replaced(tmp_path, 'replace = ["scorecard.category"]\n' + CARD) == ("scorecard.category",)


def test_a_card_with_one_more_group_still_has_the_others(tmp_path: Path) -> None:
    assert names(joined(tmp_path, CARD)["scorecard"]["category"]["group"]) == ["category", "boost", "mine"]
    picked = load_profile(tmp_path / "mine.toml").cards["category"].card
    assert [group.name for group in picked.groups] == ["category", "boost", "mine"]
    assert replaced(tmp_path, CARD) == ()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("filter", '[[filter]]\nid = "x"\nreason = "x"\nwhen = {}\n'),
        ("strategy.rules", '[strategy.rules]\ncard = "category"\ncap = 2\norder = ["score"]\n'),
        ("strategy.portfolio.bucket", '[[strategy.portfolio.bucket]]\nname = "x"\npriority = 1\nwhen = {}\n'),
        (
            "scorecard.worth.group[kind]",
            '[[scorecard.worth.group]]\nname = "kind"\nmode = "all"\nrules = []\n',
        ),
        ("plan.levels", '[[plan.levels]]\nname = "x"\nat_least = 0\nadvice = "x"\n'),
    ],
)
def test_other_things_are_replaced_if_the_profile_says_so(tmp_path: Path, path: str, text: str) -> None:
    text = f'replace = ["{path}"]\n{text}'
    joined(tmp_path, text)
    assert replaced(tmp_path, text) == (path,)


def test_lists_without_names_are_replaced_and_reported(tmp_path: Path) -> None:
    text = '[terms]\nabsolute = ["gutter"]\nmine = ["x"]\n[traversal.bfs]\nlinks = [{ at_least = 0, lane = "deep" }]\n'
    assert joined(tmp_path, text)["terms"]["absolute"] == ["gutter"]
    assert replaced(tmp_path, text) == ("terms.absolute", "traversal.bfs.links")


def test_only_what_the_file_itself_replaces_is_reported(tmp_path: Path) -> None:
    write(tmp_path, START + '[terms]\nabsolute = ["gutter"]\n', "parent.toml")
    assert replaced(tmp_path, "", START.replace("company", "parent.toml")) == ()


# --- two levels ---


def test_two_levels_of_extends(tmp_path: Path) -> None:
    write(
        tmp_path,
        START + '[strategy.rules]\ncap = 5\n[terms]\nabsolute.add = ["gutter"]\n' + CHANGED,
        "parent.toml",
    )
    text = (
        '[terms]\nabsolute.remove = ["gutter", "install"]\nabsolute.add = ["roof"]\n'
        '[[scorecard.category.group]]\nname = "category"\nrules = [{ id = "B", reason = "our word" }]\n'
    )
    file = write(tmp_path, START.replace("company", "parent.toml") + text)
    load_profile(file)
    mine = read_profile(file).table
    assert mine["terms"]["absolute"] == ["installation", "maintenance", "inspection", "protection", "roof"]
    rule = group(mine, "category", "category")["rules"][1]
    assert (rule["points"], rule["reason"], rule["when"]) == (
        95,
        "our word",
        {"target": {"has": "$absolute"}},
    )
    assert mine["strategy"]["rules"]["cap"] == 5


def test_a_mistake_of_a_parent_names_its_file(tmp_path: Path) -> None:
    parent = write(tmp_path, START + '[terms]\nabsolute.remove = ["gutter"]\n', "parent.toml")
    with pytest.raises(ConfigError) as error:
        load_profile(write(tmp_path, START.replace("company", "parent.toml")))
    assert error.value.file == str(parent)


# --- mistakes ---


GROUP = '[[scorecard.category.group]]\nname = "category"\n'


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        (
            GROUP + 'rules = [{ id = "a-boost", points = 3 }]\n',
            "scorecard.category.group[category].rules[a-boost]: is not inherited; there are A, B, C, U, T, D",
        ),
        (
            '[[filter]]\nid = "home-page"\nremove = true\n',
            "filter[home-page]: is not inherited; did you mean homepage?",
        ),
        (
            '[[filter]]\nid = "homepage"\nremove = false\n',
            "filter[homepage].remove: should be true, or be left out",
        ),
        (
            '[[strategy.rules.drop]]\nid = "x"\nremove = true\n',
            "strategy.rules.drop[x]: is not inherited; there are none",
        ),
        (
            '[[scorecard.category.group]]\nname = "boosts"\nrules = []\n',
            "scorecard.category.group[boosts]: is not inherited; did you mean boost?",
        ),
        (
            '[[scorecard.category.group]]\nmode = "all"\nrules = []\n',
            "scorecard.category.group[0].name: is required: it says which inherited entry changes",
        ),
        (
            GROUP + 'rules = [{ id = "B", points = 1 }, { id = "B", points = 2 }]\n',
            "scorecard.category.group[category].rules[B]: is there twice; ids are unique within a list",
        ),
        (
            '[[scorecard.category.group]]\nname = "boost"\nrules = [{ id = "B", reason = "b", points = 1 }]\n',
            "scorecard.category.group[boost].rules[B].id: is taken; ids are unique within a card",
        ),
        (
            GROUP + 'rules = [{ id = "B", before = "Z" }]\n',
            "scorecard.category.group[category].rules[B].before: no other entry is named 'Z'; there are A, C, U, T, D",
        ),
        (
            '[[strategy.portfolio.bucket]]\nname = "hub"\npriority = 2\n',
            "strategy.portfolio.bucket[hub]: is inherited several times; to write all entries anew, replace 'strategy.portfolio.bucket'",
        ),
        (
            '[terms]\nabsolute.remove = ["instal"]\n',
            "terms.absolute.remove: 'instal' is not inherited; did you mean install?",
        ),
        (
            "[terms]\nabsolute.ad = ['x']\n",
            "terms.absolute.ad: allowed are add and remove, each with a list of words",
        ),
        (
            "[terms]\nabsolute.add = 'x'\n",
            "terms.absolute.add: allowed are add and remove, each with a list of words",
        ),
        (
            "[terms]\nabsolut.add = ['x']\n",
            "terms.absolut: is not inherited, so it has no words to change; write terms.absolut = [...]",
        ),
        ("replace = true\n", "replace: should be a list of key paths"),
        (
            "replace = ['scorecard.categry']\n" + CARD,
            "replace: scorecard.categry is not a key that this file has and also inherits",
        ),
        (
            "page_cap = 3\n[strategy.rules]\ncap = 2\n",
            "page_cap: is the cap of every strategy; leave it out, or strategy.rules.cap",
        ),
        ("page_cap = 0\n", "page_cap: should be a whole number from 1 to 1000"),
        ("page_cap = true\n", "page_cap: should be a whole number from 1 to 1000"),
        (
            "disallowed_paths = ['/a']\n[terms]\ndisallowed_paths = ['/b']\n",
            "disallowed_paths: is the same as terms.disallowed_paths; leave one of them out",
        ),
        (
            "disallowed_paths = '/a'\n",
            'disallowed_paths: should be a list of beginnings of paths, such as ["/privacy"]',
        ),
        (
            '[strategy.blend]\nreserve = ["abuot"]\n',
            "strategy.blend.reserve: no bucket is named 'abuot'; did you mean about?",
        ),
        ("replace = [3]\n", "replace: 3 is not a key that this file has and also inherits"),
    ],
)
def test_a_mistake_is_one_sentence_with_its_place(tmp_path: Path, text: str, mistake: str) -> None:
    assert mistakes(tmp_path, text) == [mistake]


def test_all_mistakes_of_joining_at_once(tmp_path: Path) -> None:
    text = '[[filter]]\nid = "x"\nremove = true\n[terms]\nabsolute.remove = ["x"]\ntier1.remove = ["y"]\n'
    assert len(mistakes(tmp_path, text)) == 3


# --- what loaded, and then failed ---


def test_a_strategy_whose_card_has_no_group(tmp_path: Path) -> None:
    text = '[scorecard.mine]\ngroup = []\n[strategy.s]\ncard = "mine"\ncap = 3\norder = ["score"]\n'
    assert mistakes(tmp_path, text) == [
        "strategy.s.card: scorecard.mine has no group, so no link gets points"
    ]


def test_a_traversal_without_scores_that_skips_its_highest_band(tmp_path: Path) -> None:
    text = '[traversal.{}]\nlinks = [{{ at_least = 0, lane = "broad" }}, {{ at_least = 5, lane = "skip" }}]\n'
    assert mistakes(tmp_path, text.format("bfs")) == [
        'traversal.bfs.links: the highest band is skipped, but order = "breadth" follows every link without a topic'
    ]
    joined(tmp_path, text.format("focused"))


# --- profiles that are given, and single changes ---


def test_a_profile_may_be_given_as_text_or_as_a_mapping() -> None:
    text = load_profile('extends = "company"\n[strategy.portfolio]\ncap = 2\n')
    tables = load_profile({"extends": "company", "strategy": {"portfolio": {"cap": 2}}})
    assert text.strategies["portfolio"].cap == tables.strategies["portfolio"].cap == 2
    assert text.hash == tables.hash


def test_changes_are_those_of_a_profile_that_extends_it(tmp_path: Path) -> None:
    own = write(
        tmp_path,
        'extends = "company"\n[strategy.portfolio]\ncap = 2\n[terms]\nhome_pages = { add = ["zzz"] }\n',
    )
    changes = {"strategy.portfolio.cap": 2, "terms.home_pages": {"add": ["zzz"]}}
    changed = read_profile("company", changes).table
    assert (
        changed == {**read_profile(own).table, "extends": changed["extends"]} != read_profile("company").table
    )
    assert load_profile("company", changes=changes).strategies["portfolio"].cap == 2


@pytest.mark.parametrize(
    ("source", "changes", "said"),
    [
        ("a = [", None, "given: .*is not TOML"),
        ({"extends": "nobody"}, None, "no profile is named 'nobody'"),
        ({"strategy": object()}, None, "is no profile"),
        ("company", {"strategy.portfolio.cap": "two"}, "cap"),
        ("company", {"strategy.portfolio.cup": 2}, "cup"),
        ("company", {"a": 1, "a.b": 2}, "inside of another change"),
    ],
)
def test_mistakes_of_what_is_given_are_a_sentence(source: Any, changes: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_profile(source, changes=changes)
