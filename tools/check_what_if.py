"""Check What if on kept pages: each change of a rule gives the records of `pick --replay` byte for byte, and costs little CPU.

    honeyguide pick -i sites.txt --keep kept.db -o picks.jsonl
    python tools/check_what_if.py kept.db [--compare N]

Starts a studio on the file, changes one control after the other as a browser does, and prints the CPU time of the server for each: from the
change to the last site. Then it saves the profile, picks again with `pick --replay`, and compares the records of the first N sites (all of
them without it). Nothing is requested from any site.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from check_studio import served

from honeyguide.app.views.kept_pick import opened_kept_pick
from honeyguide.app.views.what_if import WhatIf

CHANGES: tuple[tuple[str, float | list[str]], ...] = (
    ("points:kind:team", 99),
    ("points:kind:about", 60),
    ("quota::about", 2),
    ("cap::cap", 6),
)


class Client:
    """Asks a studio as its page does, and measures the CPU time of its process."""

    def __init__(self, address: str, pid: int) -> None:
        host, _, token = address.removeprefix("http://").partition("/?token=")
        self._host, self._pid = host, pid
        port = host.partition(":")[2]
        self._headers = {"Cookie": f"honeyguide-studio-{port}={token}", "Origin": f"http://{host}"}

    def ask(self, path: str, sent: object = None) -> str:
        """Get a page, or post to it."""
        connection = http.client.HTTPConnection(self._host, timeout=600)
        body = None if sent is None else json.dumps(sent)
        connection.request("GET" if body is None else "POST", path, body, self._headers)
        text = connection.getresponse().read().decode()
        connection.close()
        return text

    def cpu_s(self) -> float:
        """Give the user and system time of the server so far."""
        fields = Path(f"/proc/{self._pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def change(self, key: str, value: object) -> dict[str, Any]:
        """Change one control, and read events until the last site."""
        answer = json.loads(self.ask("/what-if/profile", {"key": key, "value": value}))
        if answer.get("problems") or answer.get("error"):
            raise SystemExit(f"{key} = {value}: {answer}")
        events = [line[6:] for line in self.ask("/what-if/events").splitlines() if line.startswith("data: ")]
        last: dict[str, Any] = json.loads(events[-1])
        return last


async def records(kept: str, text: str, sites: list[str]) -> list[str]:
    """Make the records of What if with a profile, as lines."""
    with opened_kept_pick(kept, keeps=False, replays=True) as kept_pick:
        what_if = WhatIf(kept_pick)
        if problems := what_if.change(text):
            raise SystemExit(f"the saved profile is refused: {problems}")
        return [json.dumps(await what_if.record(site), ensure_ascii=False) for site in sites]


def replayed(kept: str, profile: Path, sites: list[str], folder: Path) -> list[str]:
    """Pick again with the command, and give its lines."""
    listed = folder / "sites.txt"
    listed.write_text("".join(f"{site}\n" for site in sites), "utf-8")
    options = ["--replay", kept, "--profile", str(profile), "--no-timings", "--format", "jsonl", "--quiet"]
    command = [sys.executable, "-m", "honeyguide", "pick", "-i", str(listed), *options]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)  # noqa: S603 - ourselves
    return done.stdout.splitlines()


def main() -> None:
    """Measure, then compare."""
    parser = argparse.ArgumentParser(description="Check What if on kept pages.")
    parser.add_argument("kept", help="a file of pick --keep")
    parser.add_argument("--compare", type=int, metavar="N", help="only the first N sites [default: all]")
    asked = parser.parse_args()
    kept = str(Path(asked.kept).resolve())
    studio = [sys.executable, "-m", "honeyguide", "studio", "--keep", kept, "--no-open"]
    with tempfile.TemporaryDirectory() as scratch, served(studio, scratch) as (address, pid):
        folder, client = Path(scratch), Client(address, pid)
        sites: list[str] = json.loads(client.ask("/what-if.json"))["sites"][: asked.compare]
        wrong = 0
        for number, (key, value) in enumerate(CHANGES):
            before = client.cpu_s()
            last = client.change(key, value)
            cpu_s = client.cpu_s() - before
            profile = folder / f"mine{number}.toml"
            client.ask("/what-if/save", {"what": "profile", "path": str(profile)})
            ours = asyncio.run(records(kept, profile.read_text("utf-8"), sites))
            differ = sum(
                one != other for one, other in zip(ours, replayed(kept, profile, sites, folder), strict=True)
            )
            wrong += differ
            sys.stdout.write(
                f"{key} = {value}: {last['changed']} of {last['of']} sites change, {cpu_s:.2f} s CPU; "
                f"{differ} of {len(sites)} records differ from pick --replay\n"
            )
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
