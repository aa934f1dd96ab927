"""What is measured beside peers still runs: every contest once, on one made-up site, with whichever peers are there."""

from __future__ import annotations

import runpy
import sys
from importlib import import_module

import pytest
from bench.__main__ import JOBS
from bench.sample import made_up

pytest.importorskip("lxml.html")  # reads the sample; comes with an extra


@pytest.mark.parametrize("job", JOBS)
def test_every_entrant_runs(job: str) -> None:
    contests = list(import_module(f"bench.{job}").contests(made_up(sites=3)))
    assert contests
    for contest in contests:
        assert {pair.ours for pair in contest.pairs} <= contest.entrants.keys()
        for run in contest.entrants.values():
            run()


@pytest.mark.parametrize("name", ["crawl", "harvest", "picks", "plan", "steady"])
def test_every_bench_says_what_it_needs(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "--help"])
    monkeypatch.delitem(sys.modules, f"bench.{name}", raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"bench.{name}", run_name="__main__")
    assert ended.value.code == 0
    assert f"python -m bench.{name}" in capsys.readouterr().out
