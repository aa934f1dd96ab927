"""Facts of plug-ins: functions of installed packages that rules read, for links and pages."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from honeyguide import ConfigError, Link, Page, load_profile, parse_page, score_page, select_links
from honeyguide.config import plugins
from honeyguide.core.rules import facts

HOME = "https://acme.example/"
PROFILE = """
schema = 1
extends = "company"
[[filter]]
id = "too-long"
reason = "its address is too long"
when = { address_chars = { above = 40 } }
"""


def address_chars(link: Link) -> float:
    """Count the characters of the address."""
    return len(link.url.text)


def broken(link: Link) -> float:
    raise RuntimeError(link.url.text)


def infinite(link: Link) -> float | None:
    return float("inf") if link.url.path == "/a" else None


def is_german(page: Page) -> bool:
    """Say whether a page is in German."""
    return page.language == "de"


def several(link: Link) -> list[str]:
    return [link.url.text]


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """Leave no fact behind."""
    tables: list[dict[str, Any]] = [facts.FIELDS, facts.FILL, facts.PAGE_FILL]
    kept = [(table, dict(table)) for table in tables]
    plugins.load_facts.cache_clear()
    yield
    for table, before in kept:
        table.clear()
        table.update(before)
    plugins.load_facts.cache_clear()


def install(monkeypatch: pytest.MonkeyPatch, **functions: str) -> None:
    entries = [
        EntryPoint(name, f"{__name__}:{function}", plugins.GROUP) for name, function in functions.items()
    ]
    monkeypatch.setattr(plugins, "entry_points", lambda **_: entries)


def test_a_rule_reads_what_a_plug_in_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, address_chars="address_chars")
    html = '<nav><a href="/services">Services</a> <a href="/about-us-and-our-long-history-since-1962">About us</a></nav>'
    chosen = select_links(html, HOME, profile=load_profile(PROFILE))
    assert [one.url.path for one in chosen.selected] == ["/services"]
    rejected = {one.url.path: one.rejected for one in chosen.candidates if one.rejected}
    assert [why.rule for why in rejected.values()] == ["too-long"]


def test_a_page_rule_reads_what_a_plug_in_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, is_german="is_german")
    card = {"id": "german", "points": 2, "reason": "in German", "when": {"is_german": {"is": True}}}
    group = {"name": "language", "mode": "all", "rules": [card]}
    profile = load_profile({"extends": "docs", "scorecard": {"page": {"group": [group]}}}, topic="feuer")
    scores = [
        score_page(parse_page(f'<html lang="{lang}"><h1>Feuer</h1>', HOME), profile=profile)
        for lang in ("de", "en")
    ]
    assert scores[0].value == scores[1].value + 2
    assert "in German" in scores[0].words


def test_an_error_of_a_plug_in_makes_the_fact_unknown_and_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("broken", "infinite"):
        install(monkeypatch, address_chars=name)
        plugins.load_facts.cache_clear()
        facts.FIELDS.pop("address_chars", None)
        profile = load_profile(PROFILE)
        chosen = select_links('<a href="/a">Services</a> <a href="/b">B</a>', HOME, profile=profile)
        assert "too-long" not in {one.rejected.rule for one in chosen.candidates if one.rejected}
    assert len([one for one in caplog.records if "its plug-in failed" in one.message]) == 2


@pytest.mark.parametrize(
    ("functions", "said"),
    [
        ({"anchor": "address_chars"}, "is the name of a fact"),
        ({"address_chars": "nowhere"}, "cannot be loaded"),
        ({"address_chars": "several"}, "annotated to give bool, float or str"),
        ({"address_chars": "HOME"}, "is no function"),
        ({"other": "address_chars"}, "no fact is named 'address_chars'"),
    ],
)
def test_what_is_wrong_with_a_plug_in_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, functions: dict[str, str], said: str
) -> None:
    install(monkeypatch, **functions)
    with pytest.raises(ConfigError, match=said):
        load_profile(PROFILE)


def test_an_installed_package_is_found_and_columns_equal_rows(tmp_path: Path) -> None:
    pytest.importorskip("polars", reason="columns need Polars")
    (tmp_path / "measures.py").write_text(
        "def address_chars(link) -> float:\n    return len(link.url.text)\n"
    )
    info = tmp_path / "measures-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: measures\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[honeyguide.facts]\naddress_chars = measures:address_chars\n")
    rule = """
schema = 1
extends = "docs"
[[scorecard.link.group]]
name = "length"
mode = "all"
[[scorecard.link.group.rules]]
id = "short"
points = 1
reason = "a short address"
when = { address_chars = { below = 24 } }
"""
    (tmp_path / "own.toml").write_text(rule)
    rows = "".join(f"https://a.example/{'x' * n},fire {n}\n" for n in range(12))
    (tmp_path / "links.csv").write_text(f"url,anchor\n{rows}")
    outputs = [scored(tmp_path, setting) for setting in ("1", "")]
    assert "a short address" in outputs[0]
    assert outputs[0] == outputs[1]


def scored(folder: Path, no_polars: str) -> str:
    command = [
        sys.executable,
        "-m",
        "honeyguide",
        "score",
        "links",
        "links.csv",
        "--topic",
        "fire",
        "--profile",
        "own.toml",
        "--format",
        "jsonl",
    ]
    code = ["-c", "import sys; sys.modules['polars'] = None; from honeyguide.cli.main import main; main()"]
    if no_polars:
        command[1:3] = code
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    done = subprocess.run(  # noqa: S603 - our own command
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
