"""Make the tables of docs/benchmarks.md anew, each with its date and command.

    python tools/benchmarks.py --list                                    every benchmark, and what it needs
    python tools/benchmarks.py --set sites=FILE --set labels=FILE …      run all whose needs are met, name the others
    python tools/benchmarks.py --only plan --only steady                 run some

Run it from the root of the repository, in an environment with the group `bench` (`pip install -e . --group bench`, pip 25.1 or later). A benchmark stands
between `<!-- bench: NAME -->` and `<!-- /bench -->` on the page; its date, command and output are replaced there, and the prose
around it is left alone. What each setting stands for is in bench/README.md. Start reading at `BENCHES`.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
BLOCK = re.compile(r"<!-- bench: ([\w-]+) -->\n(.*?)<!-- /bench -->", re.DOTALL)
TITLE = re.compile(r"(\d{4}-\d\d-\d\d), `(python [^`]+)`\n\n")


@dataclass(frozen=True)
class Bench:
    """A benchmark: its name on the page, its command, the modules of its peers. `{name}` in the command is a `--set`."""

    name: str
    command: str
    peers: str = ""

    @property
    def settings(self) -> list[str]:
        """Name what must be given with --set."""
        return re.findall(r"{(\w+)}", self.command)

    def missing(self, given: dict[str, str]) -> list[str]:
        """Say what this machine or this call lacks."""
        settings = [f"--set {name}=…" for name in self.settings if name not in given]
        return settings + [f"the module {peer}" for peer in self.peers.split() if find_spec(peer) is None]


# Manuals of Debian packages, where these install them.
HERE = {
    "python": "/usr/share/doc/python3.11/html",
    "postgresql": "/usr/share/doc/postgresql-doc-15/html",
    "pages": "/usr/share/doc",
}
_TOPICS = (
    "replication|standby",
    "trigger|event trigger",
    "window function|aggregate",
    "backup|restore|pg_dump",
)
_ASKED = " ".join(f"--topic '{topic}'" for topic in _TOPICS)
_PYTHON_TOPICS = "--topic 'asyncio|coroutine|event loop' --topic 'unicode|codec|encoding' --topic 'socket|network' --topic 'thread|lock|semaphore'"
BENCHES = (
    Bench("parts", "python -m bench --pages {pages}", "scrapy crawl4ai w3lib courlan yarl ada_url rank_bm25 bm25s bs4 lxml"),
    Bench("picks", "python -m bench.picks --sites {sites} --gold {labels} --chromium {chromium} --rounds 3", "crawl4ai"),
    Bench("content", "python -m bench.content {manuals} --peers", "trafilatura crawl4ai"),
    Bench("content-blogs", "python -m bench.content {blogs} --peers", "trafilatura crawl4ai"),
    Bench("kept", "python -m bench.kept {manuals} --pages 10000"),
    Bench("relevance", "python -m bench.relevance {labelled_sites}"),
    Bench("best", "python -m bench.best python={python} postgresql={postgresql}"),
    Bench("crawl", "python -m bench.crawl --folder {python} --rounds 2 --seconds 10", "scrapy crawlee"),
    Bench("crawl-postgresql", "python -m bench.crawl --folder {postgresql} --rounds 4", "scrapy crawlee"),
    Bench("stages", "python -m bench.stages --folder {python}"),
    Bench("stages-postgresql", "python -m bench.stages --folder {postgresql}"),
    Bench("steady", "python -m bench.steady --pages 100000"),
    Bench("harvest", "python -m bench.harvest --folder {python}", "crawl4ai trafilatura"),
    Bench("harvest-postgresql", f"python -m bench.harvest --folder {{postgresql}} {_ASKED}", "crawl4ai trafilatura"),
    Bench("first-sight", "python -m bench.first_sight {first_sight} --peers {peer_python}"),
    Bench("plugins", f"python -m bench.plugins {{python}} /contents.html {_PYTHON_TOPICS}", "scrapy crawlee crawl4ai"),
    Bench("plan", "python -m bench.plan --rows 10000000", "polars duckdb"),
    Bench("charset", "python tools/check_charset.py {languages} --most 40", "charset_normalizer"),
)  # fmt: skip


def problems(text: str) -> list[str]:
    """Check the page: every benchmark has its place, every place a date and a command, and every table is in a place."""
    names = [name for name, _ in BLOCK.findall(text)]
    found = [f"{bench.name} has no place on the page" for bench in BENCHES if bench.name not in names]
    found += [f"{name} is not in BENCHES" for name in names if name not in {bench.name for bench in BENCHES}]
    found += [
        f"{name} has no date and command" for name, body in BLOCK.findall(text) if not TITLE.match(body)
    ]
    rest = BLOCK.sub("", text)
    return found + [
        f"a table without a benchmark: {row}" for row in re.findall(r"^\|.*", rest, re.MULTILINE)[:1]
    ]


def replaced(text: str, name: str, title: str, output: str) -> str:
    """Put the result of a benchmark into the page: its tables and lines, without the list of notes below them."""
    shown = re.split(r"^- ", output, maxsplit=1, flags=re.MULTILINE)[0].strip()
    body = shown if re.search(r"^\|[-:| ]+\|$", shown, re.MULTILINE) else f"```text\n{shown}\n```"
    start = f"<!-- bench: {name} -->\n"
    before, after = text.split(start, 1)
    return f"{before}{start}{title}\n\n{body}\n<!-- /bench -->{after.split('<!-- /bench -->', 1)[1]}"


def run(bench: Bench, given: dict[str, str]) -> None:
    """Run a benchmark; what it prints replaces its table."""
    command = shlex.split(bench.command.format_map(given))
    words = [sys.executable, *command[1:]]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(words, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - ours
    if done.returncode:
        say(f"{bench.name}: failed with {done.returncode}; its table stays as it is")
        return
    shown = re.sub(r"{(\w+)}", lambda match: match[1].upper(), bench.command)
    title = f"{datetime.now(UTC):%Y-%m-%d}, `{shown}`"
    PAGE.write_text(replaced(PAGE.read_text("utf-8"), bench.name, title, done.stdout), "utf-8")
    say(f"{bench.name}: done")


def say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{text}\n")


def main() -> int:
    """List or run."""
    parser = argparse.ArgumentParser(
        prog="python tools/benchmarks.py", description="Make the tables of docs/benchmarks.md anew."
    )
    parser.add_argument("--list", action="store_true", help="name every benchmark and what it needs")
    parser.add_argument(
        "--only", action="append", choices=[bench.name for bench in BENCHES], help="may be repeated"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="what a command needs; may be repeated",
    )
    asked = parser.parse_args()
    here = {name: folder for name, folder in HERE.items() if Path(folder).is_dir()}
    given = {**here, **dict(pair.split("=", 1) for pair in asked.set if "=" in pair)}
    for bench in BENCHES:
        if asked.only and bench.name not in asked.only:
            continue
        lacks = ", ".join(bench.missing(given))
        if asked.list:
            say(f"{bench.name:20} {bench.command}" + (f"\n{'':20} needs {lacks}" if lacks else ""))
        elif lacks:
            say(f"{bench.name}: skipped, needs {lacks}")
        else:
            run(bench, given)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` is no mistake
    sys.exit(main())
