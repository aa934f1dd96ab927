"""A PostgreSQL server for tests: started once, without root, in a temporary folder, on a unix socket alone."""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import subprocess
import tempfile
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

_NUMBERS = count()


def programs() -> Path | None:
    """Find initdb and pg_ctl."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    named = shutil.which("initdb")
    return found[-1].parent if found else Path(named).parent if named else None


class Server:
    """A server in a folder; it refuses root, so it runs as somebody else where we are root."""

    def __init__(self, folder: Path, *settings: str) -> None:
        found = programs()
        assert found is not None
        self.programs, self.folder = found, folder
        self._who: dict[str, Any] = {}
        if os.getuid() == 0:
            names = [one.pw_name for one in pwd.getpwall()]
            user = "postgres" if "postgres" in names else "nobody"
            account = pwd.getpwnam(user)
            shutil.chown(folder, user, account.pw_gid)
            self._who = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        folder.chmod(0o755)
        self._call(
            "initdb", "-D", self.data, "-U", "crawler", "-A", "trust", "-E", "UTF8", "--no-locale", "-N"
        )
        with Path(self.data, "postgresql.conf").open("a") as file:
            file.write(f"listen_addresses = ''\nunix_socket_directories = '{folder}'\n")
            file.write(
                "max_connections = 60\nshared_buffers = 32MB\n" + "".join(f"{one}\n" for one in settings)
            )
        self.start()

    @property
    def data(self) -> str:
        return str(self.folder / "data")

    def _call(self, program: str, *options: str) -> None:
        subprocess.run(  # noqa: S603 - programs of this machine
            [str(self.programs / program), *options], cwd=self.folder, check=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self._who,
        )  # fmt: skip

    def start(self) -> None:
        self._call("pg_ctl", "-D", self.data, "-w", "-l", str(self.folder / "log"), "start")

    def restart(self) -> None:
        """Restart as after a crash."""
        self._call(
            "pg_ctl", "-D", self.data, "-w", "-l", str(self.folder / "log"), "-m", "immediate", "restart"
        )

    def stop(self) -> None:
        self._call("pg_ctl", "-D", self.data, "-w", "-m", "immediate", "stop")

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://crawler:not-to-be-seen@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """Make an empty database; gives its address."""
        import psycopg

        name = f"test_{os.getpid()}_{next(_NUMBERS)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.url(name)


@cache
def server() -> Server:
    """Give the server of this test run, or skip."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    if programs() is None:
        pytest.skip("there is no PostgreSQL on this machine")
    folder = Path(tempfile.mkdtemp(prefix="hg-pg-"))
    made = Server(folder, "fsync = off", "synchronous_commit = off", "full_page_writes = off")

    def end() -> None:
        made.stop()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    return made
