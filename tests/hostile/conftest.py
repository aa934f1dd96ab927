"""What the attacks share: a piece of this machine that counts as the public web, and the command line in a folder."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from honeyguide.adapters.http import addresses
from honeyguide.cli.main import root

_LOOPBACK = ipaddress.IPv4Network("127.0.0.0/8")
_PUBLIC = ipaddress.IPv4Network("127.0.0.2/32")


@pytest.fixture
def public_2(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take 127.0.0.2 for an address of the public web, so that a test can have a server there."""
    others = [(net, name) for net, name in addresses._V4 if name != "loopback"]  # noqa: SLF001 - a hole in the fence
    loopback = [(net, "loopback") for net in _LOOPBACK.address_exclude(_PUBLIC)]
    monkeypatch.setattr(addresses, "_V4", (*others, *loopback))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run the command line in a folder of its own, without anybody's proxy."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return lambda *args: CliRunner().invoke(root, args, prog_name="honeyguide")
