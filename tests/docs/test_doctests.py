"""The examples in docstrings are run."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

PACKAGES = ("honeyguide.core", "honeyguide.config", "honeyguide.adapters", "honeyguide.app")


def _modules() -> list[str]:
    found = ["honeyguide.errors", "honeyguide.cli.output"]
    for package in PACKAGES:
        path = import_module(package).__path__
        found += [package, *(module.name for module in pkgutil.walk_packages(path, f"{package}."))]
    return found


MODULES = _modules()


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name: str) -> None:
    if ".store.postgres." in name:
        pytest.importorskip("psycopg", reason="psycopg is an extra")
    result = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_the_core_shows_how_it_is_used() -> None:
    counts = {name: doctest.testmod(import_module(name)).attempted for name in MODULES if ".core." in name}
    assert sum(counts.values()) > len(counts)
