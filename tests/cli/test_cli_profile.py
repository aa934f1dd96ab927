from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from honeyguide import load_profile
from honeyguide.config import bundled_profiles

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

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
    assert "mine.json: would be read as JSON, but this profile is TOML; name a .toml file" in result.stderr
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
