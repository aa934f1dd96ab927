from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from honeyguide import load_profile
from honeyguide.config import bundled_profiles

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    from honeyguide import Profile
    from honeyguide.core.rules.language import Rule

    Run = Callable[..., Result]


def test_list_names_the_bundled_profiles(run: Run) -> None:
    records = [json.loads(line) for line in run("profile", "list").stdout.splitlines()]
    assert {"base", "company", "docs", "fire-protection", "news"} <= {record["name"] for record in records}
    assert all(record["description"] and record["hash"] for record in records)
    assert "fire-protection" in run("profile", "list", "--format", "table").stdout


def test_show_prints_the_file_or_what_it_comes_to(run: Run) -> None:
    assert 'name = "fire-protection"' in run("profile", "show", "fire-protection").stdout
    merged = json.loads(run("profile", "show", "plumbers.toml", "--format", "json").stdout)
    assert merged["name"] == "plumbers"
    assert "category" in merged["scorecard"]


def test_show_escapes_what_a_terminal_would_obey(run: Run) -> None:
    Path("evil.toml").write_text("# \x1b[2J\u202e\nschema = 1\n", "utf-8")
    assert run("profile", "show", "./evil.toml").stdout == "# \\x1b[2J\\u202e\nschema = 1\n"


def test_show_what_does_not_exist(run: Run) -> None:
    result = run("profile", "show", "nonsense")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "known are base, company" in result.stderr


def test_check_says_ok_with_the_hash(run: Run) -> None:
    record = json.loads(run("profile", "check", "plumbers.toml").stdout)
    assert record["ok"] is True
    assert record["hash"] == load_profile("plumbers.toml").hash
    shown = run("profile", "check", "plumbers.toml", "--format", "table").stdout
    assert shown == f"plumbers.toml: ok {record['hash']} (plumbers)\n"


def test_check_tells_all_problems_of_all_files(run: Run) -> None:
    Path("bad.toml").write_text(
        'schema = 1\nextends = "base"\nname = "bad"\ncolour = 1\n[query]\nk1 = "x"\n', "utf-8"
    )
    result = run("profile", "check", "bad.toml", "company", "missing.toml", "--format", "table")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == ["bad.toml", "bad.toml", "company", "missing.toml"]
    assert "unknown key" in result.stdout
    records = [
        json.loads(line) for line in run("profile", "check", "bad.toml", "company").stdout.splitlines()
    ]
    assert [record["ok"] for record in records] == [False, True]
    assert len(records[0]["problems"]) == 2


@pytest.mark.parametrize("extends", bundled_profiles())
def test_init_writes_a_profile_that_is_ok(run: Run, extends: str) -> None:
    result = run("profile", "init", "mine", "--extends", extends)
    assert (result.exit_code, result.stdout) == (0, "")
    checked = run("profile", "check", "mine.toml")
    assert checked.exit_code == 0
    assert checked.stderr == ""
    assert load_profile("mine.toml").name == "mine"
    own, parent = (
        json.loads(run("profile", "show", name, "--format", "json").stdout) for name in ("mine.toml", extends)
    )
    said = ("name", "description", "extends")
    assert {k: v for k, v in own.items() if k not in said} == {
        k: v for k, v in parent.items() if k not in said
    }
    text = Path("mine.toml").read_text("utf-8")
    Path("mine.toml").write_text(
        re.sub(r"(?m)^# (?=[a-z_]+ = |\[)", "", text), "utf-8"
    )  # all that it proposes
    checked = run("profile", "check", "mine.toml")
    assert checked.exit_code == 0, checked.stdout
    assert checked.stderr.startswith("Note: mine.toml: replaces as a whole what it inherits: terms.")
    assert checked.stderr.count("Note") == 1  # every word in it is used
    advised = result.stderr.strip().partition("honeyguide ")[2].split()
    assert run(*advised).exit_code == 0


_COMMENTED = r"# (?=[a-z_]+ = |\[)"


def _examples(text: str) -> list[str]:
    """Find the examples of a starter profile: lines of TOML that follow each other in comments."""
    return re.findall(rf"(?m)(?:^{_COMMENTED}.*\n)+", text)


def _with(text: str, example: str) -> Profile:
    Path("tried.toml").write_text(
        text.replace(example, re.sub(rf"(?m)^{_COMMENTED}", "", example), 1), "utf-8"
    )
    return load_profile("tried.toml")


@pytest.mark.parametrize("extends", bundled_profiles())
def test_each_example_of_a_new_profile_loads_alone_and_changes_it(run: Run, extends: str) -> None:
    text = run("profile", "init", "mine", "--extends", extends, "-o", "-").stdout
    Path("mine.toml").write_text(text, "utf-8")
    unchanged = load_profile("mine.toml").hash
    found = _examples(text)
    same = [example for example in found if _with(text, example).hash == unchanged]
    assert not [example for example in same if example.startswith("# [")]  # words may be those of the parent
    picks = {"[want]", "[never]", "[strategy.portfolio]", "[[filter]]", "[[scorecard.worth.group]]"}
    crawls = {"[[skip]]", "[[scorecard.link.group]]"}
    heads = {example.partition("\n")[0].removeprefix("# ") for example in found}
    assert heads >= (picks if load_profile(extends).strategies else crawls)


def test_the_examples_for_picks_do_what_they_say(run: Run) -> None:
    text = run("profile", "init", "mine", "-o", "-").stdout
    want, never, cap, prices, points = _examples(text)[-5:]
    assert [rule.reason for rule in _with(text, want).strategies["portfolio"].wants.rules] == ["wanted: team"]
    rejected = {"/blog": "never", "/careers": "never"}
    _with(text, never)
    said = map(json.loads, run("select", "--demo", "--profile", "tried.toml").stdout.splitlines())
    known = {"/" + one["url"].rpartition("/")[2]: (one["rejected"] or {}).get("rule") for one in said}
    assert {path: known[path] for path in rejected} == rejected
    parent = load_profile("company")
    assert _with(text, cap).strategies["portfolio"].cap == parent.strategies["portfolio"].cap + 2
    assert [rule.id for rule in _with(text, prices).filters.rules][-1] == "no-prices"
    old, new = ({rule.id: rule for rule in _rules(one)} for one in (parent, _with(text, points)))
    (changed,) = (name for name in old if old[name] != new[name])
    assert new[changed] == replace(old[changed], points=2 * old[changed].points)
    assert (
        f"# The points of one rule, by its id: `{changed}` pays {old[changed].points:g} for pages of" in text
    )


def _rules(profile: Profile) -> list[Rule]:
    return [rule for group in profile.cards["worth"].card.groups for rule in group.rules]


def test_the_examples_fit_a_parent_of_ones_own(run: Run) -> None:
    Path("parent.toml").write_text(
        'schema = 1\nextends = "company"\nname = "parent"\ndescription = "x"\npage_cap = 1000\n'
        'replace = ["scorecard.worth"]\n[[scorecard.worth.group]]\nname = "any"\nmode = "all"\n'
        'rules = [{ id = "any", reason = "a page", when = {} }]\n',
        "utf-8",
    )
    text = run("profile", "init", "mine", "--extends", "./parent.toml", "-o", "-").stdout
    assert all(_with(text, example) for example in _examples(text))
    assert "# cap = 1000\n" in text
    assert '# rules = [{ id = "any", points = 10 }]\n' in text


def test_the_words_of_a_new_profile_matter(run: Run) -> None:
    run("profile", "init", "mine")
    before = run("select", "--demo", "--profile", "mine.toml").stdout
    file = Path("mine.toml")
    file.write_text(
        re.sub(r"(?m)^# trade_words = .*", 'trade_words = ["zebra"]', file.read_text("utf-8")), "utf-8"
    )
    assert run("select", "--demo", "--profile", "mine.toml").stdout.replace("zebra", "") != before


def test_init_writes_no_toml_into_a_json_file(run: Run) -> None:
    result = run("profile", "init", "mine", "-o", "mine.json")
    assert result.exit_code == 1
    assert "mine.json: should end in .toml, by which a profile is known" in result.stderr
    assert not Path("mine.json").exists()


def test_check_says_which_term_nothing_uses(run: Run) -> None:
    run("profile", "init", "mine")
    with Path("mine.toml").open("a", encoding="utf-8") as file:
        file.write('absolut = ["roof"]\n')
    result = run("profile", "check", "mine.toml")
    assert result.exit_code == 0
    assert "Note: mine.toml: terms.absolut: no rule uses it; did you mean absolute?\n" in result.stderr


def test_check_and_show_report_a_card_that_is_replaced(run: Run) -> None:
    Path("mine.toml").write_text(
        'schema = 1\nextends = "company"\nname = "mine"\nreplace = ["scorecard.strong"]\n'
        '[scorecard.strong]\ngroup = []\n[terms]\ntier2.add = ["roof"]\n',
        "utf-8",
    )
    report = "Note: mine.toml: replaces as a whole what it inherits: scorecard.strong\n"
    checked = run("profile", "check", "mine.toml")
    assert (checked.stderr, json.loads(checked.stdout)["replaced"]) == (report, ["scorecard.strong"])
    shown = run("profile", "show", "mine.toml", "--format", "json")
    assert (shown.stderr, "replace" in json.loads(shown.stdout)) == (report, False)


def test_init_never_overwrites_without_force(run: Run) -> None:
    Path("mine.toml").write_text("precious", "utf-8")
    result = run("profile", "init", "mine")
    assert result.exit_code == 1
    assert "exists already" in result.stderr
    assert Path("mine.toml").read_text("utf-8") == "precious"
    assert run("profile", "init", "mine", "--force").exit_code == 0
    assert "schema = 1" in Path("mine.toml").read_text("utf-8")


def test_init_to_standard_output(run: Run) -> None:
    assert 'name = "mine"' in run("profile", "init", "mine", "-o", "-").stdout
    assert not Path("mine.toml").exists()


@pytest.mark.parametrize("name", ["../evil", "A", "", 'x"', "x\n"])
def test_init_refuses_names_that_are_no_names(run: Run, name: str) -> None:
    assert run("profile", "init", name).exit_code == 2


def test_init_into_a_folder_that_does_not_exist(run: Run) -> None:
    result = run("profile", "init", "mine", "-o", "no/such/folder.toml")
    assert result.exit_code == 1
    assert "cannot be written" in result.stderr


def test_init_extending_what_does_not_exist_writes_nothing(run: Run) -> None:
    assert run("profile", "init", "mine", "--extends", "nonsense").exit_code == 1
    assert not Path("mine.toml").exists()
