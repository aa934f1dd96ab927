"""Memory of a command that meets thousands of sites: what is done with is freed."""

from __future__ import annotations

import subprocess
import sys

# Closed connections of asyncio refer to themselves, so only a search for cycles frees them.
CODE = """
import weakref
from honeyguide.__main__ import main

class Connection:
    pass

try:
    main(["--version"])
except SystemExit:
    pass
alive = weakref.WeakSet()
for _ in range(150_000):
    connection = Connection()
    connection.me = connection
    alive.add(connection)
print(len(alive))
"""


def test_closed_connections_do_not_pile_up() -> None:
    command = [sys.executable, "-c", CODE]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    assert 0 < int(done.stdout.split()[-1]) < 75_000
