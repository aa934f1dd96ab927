"""The same bytes under any hash seed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "check_deterministic.py"


@pytest.mark.slow
def test_hash_seeds() -> None:
    command = [sys.executable, str(TOOL), "--seeds", "5"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own tool
    assert run.returncode == 0, run.stdout + run.stderr
    assert ": 5 runs" in run.stdout
