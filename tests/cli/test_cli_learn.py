"""`honeyguide learn`: a profile that extends another by what labels ask for, and one sentence for bad input."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from honeyguide.app.pick import PickRequest, picker
from honeyguide.app.tools.evaluate import LEAST_SITES
from honeyguide.cli.main import root
from honeyguide.config import load_profile
from honeyguide.testing.fakes import FakeFetcher, FrozenClock, LoopbackServer, response, served

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

NAMES = ("services", "about", "alarm-repair", "roof-cleaning", "door-design", "projects")
SITES = 7


def _record(number: int, **request: Any) -> dict[str, Any]:
    home = f"https://site{number}.example/"
    menu = "".join(f'<a href="/{name}">{name}</a>' for name in NAMES)
    pages = {home: response(f"<title>Home</title><nav>{menu}</nav>".encode())}
    for name in NAMES:
        text = f"{name} of the company in words of its own, number {number}. " * 9
        pages[f"{home}{name}"] = response(f"<title>{name}</title><main><p>{text}</main>".encode())
    made = picker(PickRequest(timings=False, **request), FakeFetcher(pages), FrozenClock())
    return dict(asyncio.run(made.pick(home)))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path / "picks.jsonl", [_record(number) for number in range(SITES)])
    _write(
        tmp_path / "wants.jsonl", [{"site": f"site{n}.example", "core": ["/projects"]} for n in range(SITES)]
    )
    _write(
        tmp_path / "fine.jsonl", [{"site": f"site{n}.example", "core": ["/services"]} for n in range(SITES)]
    )
    return tmp_path


def _write(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")


def _learn(*arguments: str) -> Result:
    return CliRunner().invoke(root, ["learn", *arguments])


def test_the_profile_extends_the_old_one_and_says_why(folder: Path) -> None:
    result = _learn("wants.jsonl", "--picks", "picks.jsonl", "-o", "my.toml")
    assert result.exit_code == 0
    *changes, total = map(json.loads, result.stdout.splitlines())
    assert [(one["kind"], one["name"], one["wanted"], one["sites"]) for one in changes] == [
        ("rule", "projects", SITES, SITES)
    ]
    assert (total["before"]["share"], total["after"]["share"]) == (0, 1)
    text = (folder / "my.toml").read_text("utf-8")
    assert 'extends = "company"' in text
    assert f"# {changes[0]['sentence']}" in text
    assert f"{SITES} wanted, 0 junk, 0 other pages on {SITES} sites; {SITES} of {SITES} folds agree" in text
    picked = _record(99, profile=load_profile(folder / "my.toml"))["selected"]
    assert picked[0]["url"].endswith("/projects")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("my.txt", "my.txt: should end in .toml, by which a profile is known"),
        (
            "gone/my.toml",
            "gone/my.toml: cannot be written: No such file or directory; check that its folder exists",
        ),
    ],
)
def test_where_no_profile_can_be_written_is_said_before_anything_is_read(file: str, sentence: str) -> None:
    result = _learn("no-labels.jsonl", "-o", file)
    assert (result.exit_code, result.stderr) == (1, f"Error: {sentence}\n")


def test_a_profile_of_ones_own_is_extended_by_its_path(folder: Path) -> None:
    (folder / "own").mkdir()
    (folder / "own" / "mine.toml").write_text('schema = 1\nextends = "company"\nname = "mine"\n', "utf-8")
    result = _learn("wants.jsonl", "--picks", "picks.jsonl", "--profile", "own/mine.toml", "-o", "my.toml")
    assert result.exit_code == 0
    assert 'extends = "own/mine.toml"' in (folder / "my.toml").read_text("utf-8")
    assert load_profile(folder / "my.toml").name == "my"


def test_no_change_is_worth_it(folder: Path) -> None:
    result = _learn("fine.jsonl", "--picks", "picks.jsonl", "-o", "my.toml", "--format", "table")
    assert result.exit_code == 3
    assert "No change is worth it" in result.stdout
    assert "my.toml is not written, because no change is worth it" in result.stderr
    assert not (folder / "my.toml").exists()


def test_a_labelled_url_of_another_host_is_named(folder: Path) -> None:
    text = (folder / "wants.jsonl").read_text("utf-8")
    (folder / "wants.jsonl").write_text(text.replace('["/', '["https://site7.example/', 1), "utf-8")
    result = _learn("wants.jsonl", "--picks", "picks.jsonl", "--format", "table")
    assert result.exit_code == 0
    assert (
        "not on the host of its site: https://site7.example/projects; only the path counts" in result.stderr
    )


def test_sites_without_links_are_named(folder: Path) -> None:
    with (folder / "wants.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"site": "unseen.example", "core": ["/x"]}\n')
    result = _learn("wants.jsonl", "--picks", "picks.jsonl", "--format", "table")
    assert result.exit_code == 3
    assert "no links are known of unseen.example: not learned from" in result.stderr


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ("{}", "site: is missing"),
        ('{"site": "a.example", "core": "/x"}', "core: should be a list of paths or URLs"),
        ("no json", "labels.jsonl line 1"),
        (
            '{"site": "a.example", "core": ["/x"]}',
            f"has labels of 1 site; {LEAST_SITES} are the least, a few dozen are better",
        ),
        (
            "\n".join(f'{{"site": "a{n}.example", "core": ["/x"]}}' for n in range(LEAST_SITES)),
            f"picks.jsonl: has links of 0 sites; {LEAST_SITES} are the least",
        ),
    ],
)
def test_bad_labels_get_a_sentence(folder: Path, labels: str, sentence: str) -> None:
    (folder / "labels.jsonl").write_text(labels, "utf-8")
    result = _learn("labels.jsonl", "--picks", "picks.jsonl")
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr


def test_an_existing_file_is_kept_without_force(folder: Path) -> None:
    (folder / "my.toml").write_text("mine", "utf-8")
    result = _learn("wants.jsonl", "--picks", "picks.jsonl", "-o", "my.toml")
    assert result.exit_code == 1
    assert "exists already" in result.stderr
    assert (folder / "my.toml").read_text("utf-8") == "mine"
    assert _learn("wants.jsonl", "--picks", "picks.jsonl", "-o", "my.toml", "--force").exit_code == 0


@pytest.mark.usefixtures("folder")
def test_a_strategy_that_the_profile_lacks_is_an_error() -> None:
    result = _learn("wants.jsonl", "--picks", "picks.jsonl", "--strategy", "best")
    assert result.exit_code == 1
    assert "has no 'best'" in result.stderr


def test_sites_without_links_say_why(folder: Path) -> None:
    home = "https://site0.example/"
    gone = {**_record(0), "status": "unreachable", "reason": "no connection", "candidates": []}
    _write(folder / "gone.jsonl", [gone])
    least = f"has links of 0 sites; {LEAST_SITES} are the least, a few dozen are better"
    said = _learn("wants.jsonl", "--picks", "gone.jsonl").stderr
    assert said == f"Error: gone.jsonl: {least}; {home} is unreachable: no connection\n"
    with served(LoopbackServer({"/": response(b"<a href=/services>Services</a>")})) as (site,):
        words = ["pick", site, "--allow-private", "--delay", "0", "-q", "-o", "picks.csv"]
        assert CliRunner().invoke(root, words).exit_code == 0
    said = _learn("wants.jsonl", "--picks", "picks.csv").stderr
    assert said == f"Error: picks.csv: {least}; only JSON lines and Parquet of pick have the links\n"
