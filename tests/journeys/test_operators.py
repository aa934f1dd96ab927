"""An operator's journey: known URLs of two months are imported and planned; a watch is killed three times and keeps its budget."""

from __future__ import annotations

# ruff: noqa: S603, S607 - commands of our own, and systemd-analyze
import json
import re
import shutil
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from patience import HANG_S

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES, PER_HOUR, KILLS = 300, 24, 3
RECIPES = Path(__file__).parents[2] / "docs" / "cookbook" / "nightly.md"


class Server(ThreadingHTTPServer):
    """A site of pages that all answer, some of them by a redirect, and the log of its requests."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.log: list[str] = []
        self.news = threading.Condition()

    def wait_for(self, requests: int) -> None:
        with self.news:
            assert self.news.wait_for(lambda: len(self.log) >= requests, HANG_S), self.log


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        with self.server.news:
            self.server.log.append(self.path)
            self.server.news.notify_all()
        number = int(re.sub(r"\D", "", self.path) or 0)
        if self.path.startswith("/page") and number % 5 == 0:
            self.send_response(302)
            self.send_header("Location", f"/other-{number}")
            self.end_headers()
            return
        is_page = self.path != "/robots.txt"
        body = f"<title>page {number}</title><p>words of page {number}</p>".encode() if is_page else b""
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if is_page else "text/plain")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "honeyguide", *arguments]


def say(*arguments: str) -> str:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=HANG_S, check=True
    ).stdout


def known_urls(path: Path, port: int) -> None:
    """Write two months of visits, day by day: a third of the pages changed at half of them."""
    start = datetime.now(UTC).replace(microsecond=0) - timedelta(days=60)
    rows = [
        {
            "url": f"http://127.0.0.1:{port}/page-{page}",
            "last_visited": (start + timedelta(days=day, seconds=page)).isoformat(),
            "changed": None if day == 0 else page % 3 == 0 and day % 20 == 10,
        }
        for day in range(0, 60, 10)
        for page in range(PAGES)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.mark.slow
def test_import_plan_and_a_watch_that_is_killed_keep_the_budget(server: Server, tmp_path: Path) -> None:
    known, store, log = tmp_path / "known.jsonl", str(tmp_path / "s.db"), tmp_path / "rounds.log"
    known_urls(known, server.server_port)
    say("import", str(known), "--store", store, "-q")
    planned = [json.loads(line) for line in say("plan", "--store", store, "--top", "10").splitlines()]
    # Pages that changed are worth more than those that never did.
    assert all(int(entry["url"].rpartition("-")[2]) % 3 == 0 for entry in planned)
    assert server.log == []
    watch = command(
        "watch", "--store", store, "--per-hour", str(PER_HOUR), "--cycle", "1", "--rest", "0", "--allow-private",
        "--max-interval", "page=86400", "--log", str(log), "-q", "--delay", "0",
    )  # fmt: skip
    for kill in range(1, KILLS + 1):
        process = subprocess.Popen(watch, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        server.wait_for(kill * PER_HOUR // (KILLS + 1))
        process.kill()
        process.communicate(timeout=HANG_S)
    process = subprocess.Popen(watch, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    server.wait_for(PER_HOUR)
    while not (log.exists() and f"spent={PER_HOUR} " in log.read_text("utf-8")):
        assert process.poll() is None, process.communicate()
    process.terminate()
    _, said = process.communicate(timeout=HANG_S)
    assert process.returncode == 0, said
    assert (
        len(server.log) == PER_HOUR
    )  # by the server's own log: robots.txt, redirects and what kills cut off included
    assert server.log.count("/robots.txt") == KILLS + 1
    assert any(path.startswith("/other") for path in server.log)
    line = log.read_text("utf-8").splitlines()[-1]
    assert re.fullmatch(r"\S+Z round=\d+ allowed=\d+ planned=\d+ fetched=\d+ .*spent=24 next=\S+Z", line), (
        line
    )


WRAPPER = """#!/bin/sh
[ "$1" = crawl ] && set -- "$@" --allow-private --delay 0 {more}
exec {python} -m honeyguide "$@"
"""


def run_script(folder: Path, more: str = "") -> subprocess.CompletedProcess[str]:
    """Run the script of the recipe as cron does, in a folder of its own; the crawl may visit this machine."""
    found = re.search(r"\*\*`nightly.sh`\*\*\n+```sh\n(.*?)```", RECIPES.read_text("utf-8"), re.DOTALL)
    assert found is not None
    program = folder / "venv" / "bin" / "honeyguide"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(WRAPPER.format(more=more, python=sys.executable), "utf-8")
    program.chmod(0o755)
    script = folder / "nightly.sh"
    script.write_text(found[1].replace("/opt/news", str(folder)), "utf-8")
    return subprocess.run(
        ["/bin/sh", str(script)],
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
        cwd="/",
        env={"PATH": "/usr/bin:/bin"},
    )


def test_the_script_of_the_recipe_visits_pages_again_and_says_how_the_crawl_ended(
    server: Server, tmp_path: Path
) -> None:
    assert run_script(tmp_path).returncode == 1  # no store yet
    assert not (tmp_path / "changed.csv").exists()
    seeds = [f"http://127.0.0.1:{server.server_port}/page-{number}" for number in (1, 2)]
    store = str(tmp_path / "news.db")
    say("crawl", *seeds, "--traversal", "bfs", "--store", store, "--allow-private", "--delay", "0", "-q")
    assert sorted(path for path in server.log if path != "/robots.txt") == ["/page-1", "/page-2"]
    done = run_script(tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert server.log.count("/page-1") == server.log.count("/page-2") == 2
    before = len(server.log)
    (tmp_path / "changed.csv").unlink()
    assert run_script(tmp_path, "--max-pages 1").returncode == 3
    assert len([path for path in server.log[before:] if path != "/robots.txt"]) == 1
    assert len((tmp_path / "changed.csv").read_text("utf-8").splitlines()) == 3  # a header, two new pages


@pytest.mark.parametrize("name", ["honeyguide.service", "honeyguide.timer", "honeyguide-watch.service"])
def test_the_units_of_the_recipes_are_units_and_their_options_exist(name: str) -> None:
    text = RECIPES.read_text("utf-8")
    found = re.search(rf"\*\*`{re.escape(name)}`\*\*\n+```ini\n(.*?)```", text, re.DOTALL)
    assert found is not None
    sections = re.findall(r"^\[(\w+)\]$", found[1], re.MULTILINE)
    assert sections[0] == "Unit"
    for line in filter(None, found[1].splitlines()):
        assert re.fullmatch(r"\[\w+\]|[A-Z]\w+=\S.*", line), line
    for started in re.findall(r"^ExecStart=\S*honeyguide (.+)$", found[1], re.MULTILINE):
        said = subprocess.run(
            command(started.split()[0], "--help"), capture_output=True, text=True, timeout=HANG_S, check=True
        )
        assert all(word in said.stdout for word in started.split() if word.startswith("--"))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_accepts_the_units_of_the_recipes(tmp_path: Path) -> None:
    units = re.findall(
        r"\*\*`([\w-]+\.(?:service|timer))`\*\*\n+```ini\n(.*?)```", RECIPES.read_text("utf-8"), re.DOTALL
    )
    assert len(units) == 3
    for name, text in units:  # the command has to exist
        started = re.sub(
            r"^ExecStart=\S*honeyguide", f"ExecStart={sys.executable} -m honeyguide", text, flags=re.MULTILINE
        )
        (tmp_path / name).write_text(started, "utf-8")
        checked = subprocess.run(
            ["systemd-analyze", "verify", str(tmp_path / name)], capture_output=True, text=True, timeout=HANG_S, check=False
        )  # fmt: skip
        assert (checked.returncode, checked.stderr) == (0, ""), name


def test_the_line_for_cron_is_five_fields_in_their_ranges_and_a_command() -> None:
    lines = re.findall(r"^((?:[\d*/,-]+ ){5}) *(\S.*)$", RECIPES.read_text("utf-8"), re.MULTILINE)
    assert lines
    for fields, started in lines:
        assert ">>" in started
        assert "%" not in started  # which cron takes for the end of the line
        for field, most in zip(fields.split(), (59, 23, 31, 12, 7), strict=True):
            assert all(int(number) <= most for number in re.findall(r"\d+", field)), field
