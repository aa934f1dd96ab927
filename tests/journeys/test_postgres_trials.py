"""Small versions of the trials of tools/check_postgres.py: workers on a made-up web, killed, with a server that crashes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from patience import HANG_S
from postgres_server import programs

TOOL = Path(__file__).parents[2] / "tools" / "check_postgres.py"


@pytest.mark.slow
@pytest.mark.parametrize("trial", ["web", "kills", "restarts"])
def test_trial(trial: str) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    if programs() is None:
        pytest.skip("there is no PostgreSQL on this machine")
    command = [sys.executable, str(TOOL), trial, "--quick"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=max(HANG_S, 600))  # noqa: S603 - our own tool
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith(trial)
