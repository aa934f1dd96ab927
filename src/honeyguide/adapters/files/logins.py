"""Logins in a netrc file: who we are to which host.

Owns: checking and reading the file; no word of it is part of a message. Must not know: where logins are sent.
"""

from __future__ import annotations

import netrc
import os
import stat
from pathlib import Path

from honeyguide.errors import InputError

MAX_BYTES = 64 * 1024  # a person writes it


def read_logins(path: str) -> tuple[tuple[str, str, str], ...]:
    """Read host, user and password of each `machine`; a `default`, which would go to every host, is not used."""
    try:
        _check(path)
        found = netrc.netrc(path)
    except InputError:
        raise
    except netrc.NetrcParseError as error:
        what = f"near line {error.lineno} it is not of the form: machine HOST login NAME password WORD"
        raise InputError(what, file=path, field="netrc") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise InputError(f"cannot be read: {why}", file=path, field="netrc") from None
    logins = ((host.lower(), user, password or "") for host, (user, _, password) in found.hosts.items())
    return tuple(login for login in logins if login[0] != "default" and ":" not in login[1])


def _check(path: str) -> None:
    """Refuse a file that others may read or change, or that a person did not write."""
    status = Path(path).stat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
        what = f"must be a file of at most {MAX_BYTES:,} bytes"
        raise InputError(what, file=path, field="netrc")
    if os.name == "posix" and (status.st_mode & 0o077 or status.st_uid not in (0, os.geteuid())):
        what = f"can be read or changed by others; chmod 600 {path} keeps its passwords"
        raise InputError(what, file=path, field="netrc")
