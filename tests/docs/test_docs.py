"""Every example of the documentation is run, and every link between its pages is followed.

A page's examples run from top to bottom in a folder of their own, as in a terminal that is 80 columns wide:
- a `python` block is a session with `>>>` prompts; names live on from block to block of a page;
- in a `console` block, `$ honeyguide …` is run, `$ cat FILE` shows a file, `$ echo $?` the last exit code. `<`, `>` and
  `|` work; a command must end with 0 unless its exit code is shown. What sets up a machine (`pip`, …) is not run, but
  `$ python3 -m http.server 48000 …` serves a folder, on a free port that looks like 48000; `$ sqlite3 FILE SQL` is run by
  Python's own library, `$ scrapy …` by Scrapy;
- a block after a line with nothing but **`NAME`** is written to NAME; `<!-- file: NAME -->` does the same for a file that readers need not see; a page with `<!-- needs: MODULE -->` is skipped without that module.
`...` in an output stands for anything. HONEYGUIDE_WRITE_DOCS=1 writes what really came out into console blocks.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import sqlite3
import subprocess
import sys
import threading
import tomllib
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])
SERVE = "python3 -m http.server 48000 --directory "
NOT_RUN = ("pip ", "python", "git ", "cd ", ". ", "source ", "uv ", ".venv/", "curl ", "systemctl ")
FENCE = re.compile(r"^(```+)([a-z]*)[^\n`]*\n(.*?)^\1[ ]*$", re.MULTILINE | re.DOTALL)
NEEDS = re.compile(r"<!-- needs: (\w+) -->")
FILE = re.compile(r"^(?:\*\*`|<!-- file: )(\S+?)(?:`\*\*| -->)\s*\Z", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, where the text starts, and the file it is to be written to."""

    language: str
    text: str
    start: int
    file: str | None


def blocks(text: str) -> Iterator[Block]:
    for match in FENCE.finditer(text):
        named = FILE.search(text, 0, match.start())
        yield Block(match[2], match[3], match.start(3), named[1] if named else None)


@dataclass(frozen=True)
class Typed:
    """A command of a console block, what the page says it prints, and where in the page that stands."""

    command: str
    output: str
    start: int


def typed(block: Block) -> list[Typed]:
    found: list[Typed] = []
    at = block.start
    command, output, start = "", "", at
    for line in block.text.splitlines(keepends=True):
        at += len(line)
        if command.endswith("\\\n"):
            command, start = command[:-2] + " " + line.lstrip("> "), at
        elif line.startswith("$ "):
            found.append(Typed(command.strip(), output, start))
            command, output, start = line[2:], "", at
        else:
            output += line
    return [entry for entry in [*found, Typed(command.strip(), output, start)] if entry.command]


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal, unless it leads into a file or a pipe."""

    def __init__(self, *, is_terminal: bool = True) -> None:
        self.bytes = io.BytesIO()
        self.is_terminal = is_terminal
        super().__init__(self.bytes, "utf-8", newline="", write_through=True)

    def isatty(self) -> bool:
        return self.is_terminal


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is inherited
        pass


@dataclass
class Shell:
    """Just enough of a shell for the examples."""

    monkeypatch: pytest.MonkeyPatch
    codes: list[int] = field(default_factory=lambda: [0])
    servers: list[ThreadingHTTPServer] = field(default_factory=list)

    def run(self, line: str) -> str:
        if line == "echo $?":
            return f"{self.codes[-1]}\n"
        if line.startswith(SERVE):
            self._serve(line.removeprefix(SERVE).rstrip("& "))
            return ""
        return self._run_stages(line.replace(":48000", self.port)).replace(self.port, ":48000")

    @property
    def port(self) -> str:
        """What stands for :48000; as long, so that tables look the same."""
        return f":{self.servers[-1].server_port}" if self.servers else ":48000"

    def _serve(self, folder: str) -> None:
        ports = (ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) for _ in range(9))
        server = next(server for server in ports if server.server_port > 9999)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        self.servers.append(server)

    def _run_stages(self, line: str) -> str:
        words = shlex.shlex(line, posix=True, punctuation_chars="<>|")
        words.whitespace_split = True
        screen, stages, standard_input = Terminal(), _split(list(words)), b""
        for number, stage in enumerate(stages, 1):
            source, target = _redirected(stage, "<"), _redirected(stage, ">")
            given = standard_input if source is None else Path(source).read_bytes()
            into_pipe = target is not None or number < len(stages)
            out = Terminal(is_terminal=False) if into_pipe else screen
            self.codes.append(self._run(stage, given, out, screen))
            standard_input = out.bytes.getvalue()
            if target is not None:
                Path(target).write_bytes(standard_input)
        return screen.bytes.getvalue().decode().replace("\r", "")

    def _run(self, words: list[str], given: bytes, out: Terminal, err: Terminal) -> int:
        program, *args = words
        if program == "cat":
            out.write(Path(args[0]).read_text("utf-8"))
            return 0
        if program == "sqlite3":
            out.write(query(args[0], args[1]))
            return 0
        if program == "scrapy":
            command = [sys.executable, "-m", "scrapy", *args]
            return subprocess.run(command, capture_output=True, check=False).returncode  # noqa: S603 - of our own pages
        assert program == "honeyguide", f"unknown command: {program}"
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), "utf-8"))
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main(args)
        except SystemExit as end:
            return int(end.code or 0)
        return 0


def query(file: str, sql: str) -> str:
    """Answer as the sqlite3 shell does: a line for each row, columns apart by a bar."""
    with contextlib.closing(sqlite3.connect(file)) as store:
        rows = store.execute(sql).fetchall()
    return "".join("|".join("" if value is None else str(value) for value in row) + "\n" for row in rows)


def _split(words: list[str]) -> list[list[str]]:
    stages: list[list[str]] = [[]]
    for word in words:
        if word == "|":
            stages.append([])
        else:
            stages[-1].append(word)
    return stages


def _redirected(words: list[str], sign: str) -> str | None:
    if sign not in words:
        return None
    place = words.index(sign)
    file = words[place + 1]
    del words[place : place + 2]
    return file


def tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n")).strip() + "\n"


def run_console(block: Block, shell: Shell) -> list[tuple[Typed, str]]:
    """Run a console block; return the commands whose output is another than the page says, with that output."""
    wrong = []
    entries = [
        entry
        for entry in typed(block)
        if entry.command.startswith(SERVE) or not entry.command.startswith(NOT_RUN)
    ]
    for entry, after in zip(entries, [*entries[1:], None], strict=False):
        got = tidy(shell.run(entry.command))
        if not doctest.OutputChecker().check_output(tidy(entry.output), got, doctest.ELLIPSIS):
            wrong.append((entry, got))
        is_shown = "echo $?" in (entry.command, after.command if after else "")
        assert is_shown or shell.codes[-1] == 0, f"$ {entry.command}\nends with {shell.codes[-1]}\n{got}"
    return wrong


def run_python(text: str, names: dict[str, Any], page: Path) -> str:
    examples = doctest.DocTestParser().get_examples(text)
    assert examples, f"{page.name}: a python block without >>> prompts is not run:\n{text}"
    test = doctest.DocTest(examples, names, page.name, str(page), 0, text)
    out: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=out.append, clear_globs=False)
    names.update(test.globs)
    return "".join(out)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    monkeypatch.chdir(tmp_path)
    for name, value in {"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    running = Shell(monkeypatch)
    yield running
    for server in running.servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples(page: Path, shell: Shell) -> None:
    text = page.read_text("utf-8")
    for module in NEEDS.findall(text):
        pytest.importorskip(module, reason=f"{module} is in the environment of tools/check_plugins.py")
    names: dict[str, Any] = {}
    wrong: list[tuple[Typed, str]] = []
    failures: list[str] = []
    for block in blocks(text):
        if block.file is not None:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.text.replace(":48000", shell.port), "utf-8")
        elif block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "console":
            wrong += run_console(block, shell)
        elif block.language == "python":
            failures.append(run_python(block.text.replace(":48000", shell.port), names, page))
    if wrong and os.environ.get("HONEYGUIDE_WRITE_DOCS"):
        page.write_text(_corrected(text, wrong), "utf-8")
    else:
        failures += [f"$ {entry.command}\npage says:\n{entry.output}really:\n{got}" for entry, got in wrong]
    assert "".join(failures) == ""


def _corrected(text: str, wrong: list[tuple[Typed, str]]) -> str:
    for entry, got in reversed(wrong):
        end = entry.start + len(entry.output)
        gap = "\n" if got.count("\n") > 1 and text.startswith("$ ", end) else ""
        text = text[: entry.start] + got.lstrip("\n") + gap + text[end:]
    return text


# --- links ------------------------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """Headings as GitHub turns them into anchors."""
    text = FENCE.sub("", page.read_text("utf-8"))
    headings = re.findall(r"^#+ (.+?) *$", text, re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


def links(page: Path) -> list[str]:
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text("utf-8")))
    return [target for target in LINK.findall(text) if not re.match(r"[a-z]+:", target)]


def target_of(page: Path, link: str) -> tuple[Path, str]:
    path, _, anchor = link.partition("#")
    return (page.parent / path).resolve() if path else page, anchor


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        target, anchor = target_of(page, link)
        assert target.exists(), f"{link} leads to no file"
        assert not anchor or anchor in anchors(target), f"{link}: no such heading"


def test_every_page_is_reachable() -> None:
    starts = [ROOT / "README.md", ROOT / "docs" / "index.md"]
    seen, waiting = set(starts), starts
    while waiting:
        page = waiting.pop()
        new = {target_of(page, link)[0] for link in links(page)} - seen
        seen |= new
        waiting += [target for target in new if target.suffix == ".md" and target.exists()]
    assert set((ROOT / "docs").rglob("*.md")) - seen == set()


def test_the_menu_of_the_site_has_every_page() -> None:
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    menu = re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert sorted(menu) == sorted(pages)
