"""What if equals `pick --replay` with the saved profile, byte for byte: several sites, every kind of control, profiles as text."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from studio_server import opened, run

import honeyguide
from honeyguide.app.views.kept_pick import opened_kept_pick
from honeyguide.app.views.what_if import WhatIf
from honeyguide.config.extend import read_profile
from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from pathlib import Path

PROSE = (
    "We repair roofs, every day, for owners of buildings of every size, and we have done so since 1990. " * 5
)


def _site(language: str, pages: dict[str, str], extra: str = "") -> LoopbackServer:
    anchors = "".join(f"<li><a href=/{path}>{text}</a>" for path, text in pages.items())
    home = f"<html lang={language}><title>Site</title><nav><ul>{anchors}</ul></nav><main><p>{PROSE}{extra}</main>"
    made = {
        f"/{path}": response(f"<title>{text}</title><h1>{text}</h1><p>{text}. {PROSE} {path}".encode())
        for path, text in pages.items()
    }
    return LoopbackServer({"/": response(home.encode()), **made})


def _sites() -> list[LoopbackServer]:
    english = {
        "services": "Services",
        "about": "About us",
        "team": "Team",
        "roofs": "Roof repair",
        "blog/a": "News of May",
    }
    german = {
        "leistungen": "Leistungen",
        "ueber-uns": "Über uns",
        "team": "Unser Team",
        "dach": "Dach & Rinne",
        "impressum": "Impressum",
    }
    towns = ("ashby", "bolton", "corby", "derby", "epsom")
    roofing = {f"roofing-{name}": f"Roofing {name.title()}" for name in towns}
    doorways = {"about": "About us", **{f"roofing-{name}-oh": name.title() for name in towns}}
    broken = _site(
        "en",
        {"services": "Services", "about": "About", "dead": "A service that is gone", "gutters": "Gutters"},
    )
    del broken.answers["/dead"]
    moved = _site(
        "en",
        {"our-services": "Our services", "who-we-are": "Who we are", "people": "Our people", "new": "Siding"},
    )
    moved.answers["/new"] = response(b"", "Location: /our-services", status="301 Moved Permanently")
    thin = LoopbackServer({"/": response(b"<title>Nothing</title>")})
    return [
        _site("en", english),
        _site("de", german),
        _site("en", {**english, **roofing}),
        broken,
        moved,
        thin,
        _site("en", doorways),
    ]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("equal")
    with served(*_sites()) as addresses:
        quick = ("--allow-private", "--delay", "0", "--quiet")
        run("pick", *addresses, *quick, "--keep", f"{folder}/kept.db", "-o", f"{folder}/picks.jsonl")
    return folder


def _lines(kept: Path, text: str) -> list[str]:
    """Make the records of What if with a profile."""
    with opened_kept_pick(str(kept / "kept.db"), keeps=False, replays=True) as kept_pick:
        what_if = WhatIf(kept_pick)
        assert what_if.change(text) == []
        return [json.dumps(asyncio.run(what_if.record(site)), ensure_ascii=False) for site in what_if.sites]


def _replayed(kept: Path, sites: list[str], *options: str) -> list[str]:
    as_lines = ("--replay", f"{kept}/kept.db", "--no-timings", "--format", "jsonl", "--quiet")
    written: str = run("pick", *sites, *as_lines, *options).stdout
    return written.splitlines()


COMPANY = read_profile("company").table
FILTERS = [rule["id"] for rule in (*COMPANY["filter"], *COMPANY["strategy"]["portfolio"]["filter"])]
CHANGES: list[tuple[str, object]] = [
    ("points:kind:team", 99),
    ("points:kind:service", -3.5),
    ("cap::cap", 2),
    ("quota::hub", 0),
    ("words::team_words", ["roof*"]),
    ("words::disallowed_paths", ["/team", "/dach"]),
    ("want::pages", ["blog", "team"]),
    ("filters::filters", [name for name in FILTERS if name not in ("homepage", "doorway")]),
]


@pytest.mark.parametrize(("key", "value"), CHANGES)
def test_each_control_equals_a_replay_of_all_sites(
    kept: Path, tmp_path: Path, key: str, value: object
) -> None:
    with opened(kept) as studio:
        sites = studio.json("/what-if.json")["sites"]
        assert studio.post("/what-if/profile", {"key": key, "value": value})["problems"] == []
        *_, last = studio.events("/what-if/events")
        assert (last["of"], last["changed"] > 0) == (7, True)
        changed = {
            one["site"] for event in studio.events("/what-if/events") for one in event.get("changes", ())
        }
        assert studio.post("/what-if/save", {"what": "profile", "path": f"{tmp_path}/mine.toml"})["saved"]
    lines = _lines(kept, (tmp_path / "mine.toml").read_text("utf-8"))
    assert lines == _replayed(kept, sites, "--profile", f"{tmp_path}/mine.toml")
    before = [json.loads(line) for line in _replayed(kept, sites)]
    moved = {
        one["site"]
        for one, line in zip(before, lines, strict=True)
        if [page["url"] for page in one["selected"]] != [page["url"] for page in json.loads(line)["selected"]]
    }
    assert changed == moved


def test_changes_one_after_the_other_equal_a_replay(kept: Path, tmp_path: Path) -> None:
    with opened(kept) as studio:
        sites = studio.json("/what-if.json")["sites"]
        for key, value in CHANGES:
            assert studio.post("/what-if/profile", {"key": key, "value": value})["problems"] == []
        studio.post("/what-if/save", {"what": "profile", "path": f"{tmp_path}/mine.toml"})
    lines = _lines(kept, (tmp_path / "mine.toml").read_text("utf-8"))
    assert lines == _replayed(kept, sites, "--profile", f"{tmp_path}/mine.toml")


def test_a_page_that_was_not_kept_is_judged_by_its_link(kept: Path, tmp_path: Path) -> None:
    with opened(kept) as studio:
        sites = studio.json("/what-if.json")["sites"]
        state = studio.post("/what-if/profile", {"key": "cap::cap", "value": 9})
        (tmp_path / "mine.toml").write_text(state["toml"], "utf-8")
    lines = _lines(kept, state["toml"])
    assert "not kept" in "".join(lines)
    assert lines == _replayed(kept, sites, "--profile", f"{tmp_path}/mine.toml")


def test_picks_of_another_profile_than_what_was_kept_last_are_named(kept: Path) -> None:
    with opened_kept_pick(str(kept / "kept.db"), keeps=False, replays=True) as kept_pick:
        what_if = WhatIf(kept_pick)
        assert what_if.other_profile(honeyguide.read(kept / "picks.jsonl")) == ""
        assert what_if.other_profile([{"profile": "mine", "profile_hash": "0"}]) == (
            "was picked by profile mine, but What if starts from company, the profile of the last pick --keep"
        )
