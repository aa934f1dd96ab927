"""Every table of figures has its date and command, and every command and option is documented."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import benchmarks
import click
import pytest

from honeyguide.cli.main import root

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "SKILL.md", *(ROOT / "docs").rglob("*.md")])
BY_HAND = [page for page in PAGES if "Written by tools/make_reference.py" not in page.read_text("utf-8")]


def test_every_table_of_benchmarks_has_its_date_and_command() -> None:
    assert benchmarks.problems(benchmarks.PAGE.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("<!-- bench: plan -->", "<!-- bench: plans -->"), "plan has no place"),
        (("2026-", "in "), "has no date and command"),
        (("<!-- /bench -->", "", 1), "has no place"),
        (
            ("# Benchmarks\n", "# Benchmarks\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"),
            "a table without a benchmark",
        ),
    ],
)
def test_what_is_missing_is_found(change: tuple[str, str] | tuple[str, str, int], problem: str) -> None:
    text = benchmarks.PAGE.read_text("utf-8").replace(*change)
    assert any(problem in found for found in benchmarks.problems(text))


SETTINGS = {"crawling.md": "90 %"}  # a threshold, not a measurement
DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b|\b\d{1,2} [A-Z][a-z]+ 20\d\d\b|benchmarks\.md#")


@pytest.mark.parametrize("page", BY_HAND, ids=lambda page: page.name)
def test_a_page_with_percentages_says_when_they_were_measured(page: Path) -> None:
    text = re.sub(r"^(```+).*?^\1$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    text = text.replace(SETTINGS.get(page.name, "no figure"), "")
    assert not re.search(r"\d ?%", text) or DATE.search(text)


def test_a_result_replaces_its_table_and_nothing_else() -> None:
    page = "a\n<!-- bench: x -->\nold\n<!-- /bench -->\nb\n<!-- bench: y -->\nkept\n<!-- /bench -->\n"
    table = benchmarks.replaced(page, "x", "2026-01-31, `python -m x`", "| a |\n|---|\n| 1 |\n")
    assert table == page.replace("old", "2026-01-31, `python -m x`\n\n| a |\n|---|\n| 1 |")
    assert "```text\nplain\n```" in benchmarks.replaced(page, "x", "2026-01-31, `python -m x`", "plain")


def test_a_benchmark_says_what_it_lacks() -> None:
    bench = benchmarks.Bench("x", "python -m x {pages}", "no_such_peer")
    assert bench.missing({}) == ["--set pages=…", "the module no_such_peer"]
    assert bench.missing({"pages": "here"}) == ["the module no_such_peer"]


def _commands(command: click.Command, path: str) -> dict[str, click.Command]:
    if not isinstance(command, click.Group):
        return {path: command}
    context = click.Context(command)
    children = {name: command.get_command(context, name) for name in command.list_commands(context)}
    found: dict[str, click.Command] = {path: command} if command.invoke_without_command else {}
    for name, child in children.items():
        if child is not None:
            found |= _commands(child, f"{path} {name}")
    return found


COMMANDS = _commands(root, "honeyguide")


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_is_on_a_page_written_by_hand(path: str) -> None:
    texts = "".join(page.read_text("utf-8") for page in BY_HAND)
    name = path.removeprefix("honeyguide ")
    assert re.search(rf"`{re.escape(name)}\b|{re.escape(path)}\b", texts), f"no page says what {path} is for"


@pytest.mark.parametrize("path", COMMANDS)
def test_every_option_is_in_the_reference(path: str) -> None:
    text = (ROOT / "docs" / "reference" / "cli.md").read_text("utf-8")
    head = text[: text.index("\n## ")]
    section = text.split(f"\n## {path}\n", 1)[1].split("\n## ", 1)[0]
    common = text.split("\n## Common options\n", 1)[1]
    for param in COMMANDS[path].params:
        if isinstance(param, click.Option) and not param.hidden:
            for option in (*param.opts, *param.secondary_opts):
                assert f"`{option}`" in section + head, f"{path} {option} is not documented"
                rows = [line for line in (section + common).splitlines() if line.startswith("| `")]
                explained = any(f"`{option}`" in row.split(" | ")[0] for row in rows) or f"`{option}" in head
                assert explained, f"{path} {option} is named, but not explained"


def _unknown(text: str) -> str:
    """Say what of a command line is not there."""
    words = shlex.split(text.replace("\\|", "|"))
    command: click.Command | None = root
    rest = words[1:]
    while rest and isinstance(command, click.Group) and not rest[0].startswith("-"):
        command = command.get_command(click.Context(command), rest.pop(0))
    if command is None:
        return f"no such command: {text}"
    params = command.get_params(click.Context(command))
    known = {option for param in params for option in (*param.opts, *param.secondary_opts)}
    return ", ".join(word for word in rest if re.match(r"--?[a-zA-Z]", word) and word not in known)


@pytest.mark.parametrize("page", BY_HAND, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_the_text_exist(page: Path) -> None:
    text = re.sub(r"^(```+).*?^\1$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for span in re.findall(r"`(honeyguide [a-z][^`]*)`", text):
        if "…" not in span:
            assert _unknown(span) == "", span


def test_commands_that_do_not_exist_are_found() -> None:
    assert _unknown("honeyguide plan known.csv --most 3") == "--most"
    assert _unknown("honeyguide rank x") == "no such command: honeyguide rank x"
    assert _unknown("honeyguide runs delete 1 --store x.db") == ""
