"""The script of the nightly recrawl: its exit code tells a night without an answer from one that a budget stopped."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from recrawling import QUICK, page

from honeyguide.cli.main import main
from honeyguide.testing.fakes import LoopbackServer, served

PAGE = Path(__file__).resolve().parents[2] / "docs/cookbook/nightly.md"


def run(*command: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(command)
    return int(end.value.code or 0)


def night(folder: Path, *limits: str) -> int:
    """Run the script of the page as it is, but in another folder, for a site on this machine."""
    named = PAGE.read_text("utf-8").partition("**`nightly.sh`**\n\n```sh\n")[2]
    script = named.partition("```")[0].replace(
        "/opt/news/venv/bin/honeyguide", f"'{sys.executable} -m honeyguide'"
    )
    script = script.replace("crawl --due", shlex.join(["crawl", "--due", *QUICK, *limits]))
    script = script.replace("cd /opt/news", f"cd {shlex.quote(str(folder))}")
    return subprocess.run(["/bin/sh"], input=script, text=True, check=False).returncode


def test_the_script_fails_if_no_server_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    server = LoopbackServer({"/": page("fire", "/a"), "/a": page("fire /a")})
    with served(server) as (home,):
        assert run("crawl", home, "--topic", "fire", "--store", "news.db", "--quiet", *QUICK) == 0
        assert night(tmp_path) == 0
        assert night(tmp_path, "--max-pages", "1") == 3
    assert night(tmp_path) == 1
