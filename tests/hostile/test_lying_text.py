"""Text that lies: what pages, files and servers say must not steer whoever looks at it.

Each attack goes in where a stranger can put it (titles, anchors, addresses, names, answers) and is looked for where a
person reads: the terminal, a spreadsheet, a report, a folder of files.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import re
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from honeyguide import cli
from honeyguide.adapters.folder import Folder, file_name, page_text
from honeyguide.adapters.journal import Journal
from honeyguide.adapters.journal import Run as JournalRun
from honeyguide.adapters.page_lines import Form, PageLines, Truth
from honeyguide.adapters.tables import write_table
from honeyguide.adapters.whole import replacing
from honeyguide.cli import root
from honeyguide.cli.live import Log
from honeyguide.cli.output import MAX_LINE_CHARS, csv_cell, json_line, line_for_people
from honeyguide.core.harmless import MAX_MARKS, escaped, legible, printable
from honeyguide.core.url import Url, display
from honeyguide.errors import ConfigError, FetchError, HoneyguideError, InputError, Problem, StoreError, shown
from honeyguide.report import write_report
from honeyguide.testing import LoopbackServer, response

ESCAPES = {
    "colour": "\x1b[31mred\x1b[0m",
    "title": "\x1b]0;your password?\x07",
    "link": "\x1b]8;;https://evil.example/\x1b\\click\x1b]8;;\x1b\\",
    "clear": "\x1b[2J\x1b[H\x1bc",
    "c1": "\x9b31m\x9d0;x\x9c\x90q\x9c",
    "overwrite": "innocent\rgulity!\x08\x08",
    "lines": "a\nError: all is well\x85b\u2028c\u2029d\x0be\x0cf",
    "override": "\u202egnp.exe\u202c",
    "isolate": "\u2066a\u2069\u2067b\u2069\u2068c\u2069\u061c\u200e\u200f",
    "hidden": "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg\U000e0041\U000e0042",
    "selectors": "a\ufe00\ufe01\U000e0100\U000e0101",
    "marks": "z" + "\u0300\u0489\u20dd" * 30,
    "blank": "a\u3164\u115f\u2800\uffa0b",
    "nul": "a\x00b\x7fc",
    "half": "a\ud800b\udfffc",
    "markup": "[red]a[/red] [link=https://evil.example]b[/link] [/] :smile: [bold",
}
SHOWN_BLANK = set("\u115f\u1160\u2800\u3164\uffa0\u034f")
Run = Callable[..., Result]


def check(text: str) -> None:
    """What a person looks at: lines, and nothing in them that is not simply there to be read."""
    for char in text.replace("\n", ""):
        assert char.isprintable(), ascii(char)
        assert char not in SHOWN_BLANK, ascii(char)
    for run in re.findall("[\u0300-\u036f\u0483-\u0489\u20d0-\u20f0]+", text):
        assert len(run) <= MAX_MARKS


def check_data(text: str) -> None:
    """What a program reads, and a person may look at: everything is there, as letters or as escapes."""
    assert all(char.isprintable() for char in text.replace("\n", ""))
    assert text.split("\n") == [*text.splitlines(), ""]


def check_as(kind: str, result: Result) -> None:
    assert not isinstance(result.exception, Exception)
    check(result.stderr)
    (check_data if kind == "jsonl" and result.stdout else check)(result.stdout)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def runner(*args: str, stdin: str | None = None) -> Result:
        # With colour: without it, the library would take escapes away before we see them.
        return CliRunner().invoke(root, args, prog_name="honeyguide", input=stdin, color=True)

    return runner


ALL = "".join(text for name, text in ESCAPES.items() if name not in ("lines", "half"))


# --- the terminal -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ESCAPES.values(), ids=ESCAPES)
def test_text_for_people_is_only_text(text: str) -> None:
    for shown_text in (printable(text), legible(text), line_for_people(text)):
        check(shown_text)
        assert "\n" not in shown_text
    assert str(HoneyguideError(text)).isprintable()


def test_what_is_harmless_stays_as_it_is() -> None:
    for text in ("Löschanlagen", "价格", "שלום", "กำลัง", "❤️", "e\u0301"):
        assert printable(text) == legible(text) == text


@pytest.mark.parametrize("name", ESCAPES)
def test_every_error_is_one_line(name: str) -> None:
    text = ESCAPES[name]
    errors = [
        InputError(text, file=text, row=1, field=text),
        ConfigError(text, (Problem(text, text),)),
        StoreError(text, text),
        FetchError(text, text),
    ]
    for error in errors:
        assert str(error).isprintable()


PAGE = """<!doctype html><meta charset=utf-8><title>{title}</title><main>
<a href="/a" title="{title}">{title}</a> <a href="/b%1b]0;x%07%e2%80%ae?q={path}">b</a> <a href="{title}">c</a>
<a href="javascript:{title}">d</a> <a href="https://other.example/{path}">e</a></main>"""
HTML = ALL.replace("<", "").replace('"', "")


def test_links_and_selections_of_a_page(run: Run, tmp_path: Path) -> None:
    name = "\x1b]0;x\x07\u202e.html"
    (tmp_path / name).write_text(PAGE.format(title=HTML, path=HTML), "utf-8", "surrogatepass")
    for args in (
        ("links", name, "--base", "https://a.example/"),
        ("select", name, "--base", "https://a.example/", "--all"),
        ("score", "page", name, "--topic", "red"),
        ("url", "classify", HTML, f"/{HTML}", "--page", "https://a.example/"),
        ("url", "explain", f"https://a.example/{HTML}"),
        ("url", "normalize", HTML, "https://a.example/" + HTML),
        ("score", "link", f"https://a.example/{HTML}", "--anchor", HTML, "--topic", "red"),
    ):
        formats: tuple[tuple[str, ...], ...] = (
            ((),)
            if args[:2] == ("url", "normalize")
            else tuple(("--format", kind) for kind in ("table", "jsonl", "csv"))
        )
        for chosen in formats:
            check_as("".join(chosen[1:]), run(*args, *chosen))


def test_markup_of_the_table_library_is_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.html").write_text(f'<a href="/a">{ESCAPES["markup"]}</a>')
    shown_text = run("select", "p.html", "--base", "https://a.example/", "--all", "--format", "table").stdout
    assert "[red]a[/red] [link=https://evil.example]b[/link] [/] :smile: [bold" in " ".join(
        shown_text.split()
    )


@pytest.mark.parametrize(
    "args",
    [
        ("links", "{}"), ("select", "{}"), ("plan", "{}"), ("plan", "{}.csv"), ("{}",), ("pick", "--{}"), ("profile", "show", "{}"),
        ("profile", "init", "{}"), ("crawl", "{}"), ("runs", "--store", "{}"),
        ("explain", "{}"), ("eval", "{}", "--gold", "{}"), ("export", "{}"), ("pick", "a.example", "--delay", "{}"),
        ("crawl", "--profile", "{}", "a.example"), ("pick", "--strategy", "{}", "a.example"), ("pick", "-i", "{}"),
        ("pick", "a.example", "-o", "{}/x"), ("score", "link", "http://a.example/", "--topic", "({}"),
        ("select", "--demo", "--strategy", "{}"), ("export", "pages", "-o", "{}", "--store", "{}"),
    ],
)  # fmt: skip
def test_arguments_come_back_harmless(run: Run, args: tuple[str, ...]) -> None:
    result = run(*(arg.format(ALL + ESCAPES["lines"]) for arg in args))
    assert (result.exit_code in (1, 2), result.stdout) == (True, "")
    assert result.stderr.replace("\n", "").isprintable()
    errors = [line for line in result.stderr.splitlines() if line.startswith("Error:")]
    assert len(errors) == 1
    assert "all is well" not in errors[0][:20]


def test_a_profile_cannot_say_that_it_is_fine(run: Run, tmp_path: Path) -> None:
    name = json.dumps(f"x\nevil.toml: ok 12345 (evil){ALL}".replace("\ud800", ""))[1:-1]
    (tmp_path / "evil.toml").write_text(
        f'schema = 1\nextends = "company"\nname = "evil"\n"{name}" = 1\n[terms]\n"{name}" = ["a"]\n'
        f'[strategy."{name}"]\n'.replace("\x7f", ""), "utf-8"
    )  # fmt: skip
    result = run("profile", "check", "evil.toml", "--format", "table")
    assert result.exit_code == 1
    check(result.stdout)
    assert not [line for line in result.stdout.splitlines() if line.startswith("evil.toml: ok")]


def test_picks_and_labels_of_strangers(run: Run, tmp_path: Path) -> None:
    record = {"site": f"a.example{ALL}", "status": ALL, "selected": [{"url": f"https://a.example/{ALL}", "rank": 1}],
              "candidates": [{"url": f"https://a.example/{ALL}", "score": 1, "out": {"rule": ALL, "why": ALL}}]}  # fmt: skip
    (tmp_path / "now.jsonl").write_text(json.dumps(record))
    (tmp_path / "before.jsonl").write_text(json.dumps({**record, "selected": []}))
    (tmp_path / "gold.jsonl").write_text(json.dumps({"site": f"a.example{ALL}", "core": [f"/{ALL}"]}))
    for chosen in ("table", "jsonl", "csv"):
        check_as(
            chosen,
            run("eval", "now.jsonl", "--gold", "gold.jsonl", "--compare", "before.jsonl", "--format", chosen),
        )


def test_rows_of_strangers(run: Run, tmp_path: Path) -> None:
    rows = [{"url": f"https://a.example/{ALL}", "visits": 1}, {"url": "https://a.example/b", "visits": 2}]
    (tmp_path / "known.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for chosen in ("table", "jsonl", "csv"):
        check_as(chosen, run("plan", "known.jsonl", "--now", "2024-06-15T08:00:00Z", "--format", chosen))


class Liar:
    """Progress whose words come from a stranger."""

    total = 3
    done = 1

    def line(self, now: float) -> str:
        return f"{now} {ALL}"

    def is_line_due(self, now: float) -> bool:
        return now > 0


def test_progress_is_only_text(capsys: pytest.CaptureFixture[str]) -> None:
    Log(Liar(), lambda: 1.0).update()
    check(capsys.readouterr().err)


def test_a_line_for_people_ends() -> None:
    text = line_for_people("x" * 10 * MAX_LINE_CHARS)
    assert len(text) < MAX_LINE_CHARS + 40
    assert text.endswith("… (40,000 characters)")
    assert len(shown("\u202e" * 100_000)) < 1_000


# --- a whole site that lies ---------------------------------------------------------------------------------------

QUICK = ("--allow-private", "--delay", "0", "--retries", "0", "--timeout", "5")


@contextmanager
def served(server: LoopbackServer) -> Iterator[str]:
    loop = asyncio.new_event_loop()
    started, stop = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with server:
            started.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert started.wait(10)
        yield f"{server.root}/"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def lying_site() -> LoopbackServer:
    words = "Words about red alarms that nothing else says, again and again. " * 12
    names = ["..%2f..%2fetc%2fpasswd", "con", "nul.txt", "%00", "a%0d%0aWARC-Type:%20x", "%e2%80%ae", "CASE", "case", "x" * 300,
             "trailing.", "-rf", "=1+1", "..", "%1b]0;x%07"]  # fmt: skip
    links = "".join(f'<p><a href="/red/{name}">{HTML}</a></p>' for name in names)
    html = f"<meta charset=utf-8><title>=cmd|{HTML}</title><h1>{HTML}</h1><main><p>{words}</p>{links}</main>"
    body = html.encode("utf-8", "replace")
    page = response(body, kind="text/html; charset=utf-8")
    return LoopbackServer(
        {
            "/": page,
            **{f"/red/{name}": response(body.replace(b"again and", str(number).encode()), kind="text/html")
               for number, name in enumerate(names)},
            "/robots.txt": response(f"User-agent: *\nCrawl-delay: {HTML}\nSitemap: {HTML}\n".encode("utf-8", "replace"), kind="text/plain"),
        }
    )  # fmt: skip


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the store and all outputs of a crawl of that site."""
    pytest.importorskip("warcio")
    pytest.importorskip("trafilatura")
    folder = tmp_path_factory.mktemp("crawled")
    here = Path.cwd()
    os.chdir(folder)
    try:
        with served(lying_site()) as home:
            args = [
                "crawl",
                home,
                "--topic",
                "red",
                *QUICK,
                "-o",
                "p.jsonl",
                "--to",
                "pages",
                "--warc",
                "p.warc.gz",
                "--links",
            ]
            result = CliRunner().invoke(root, args, prog_name="honeyguide", color=True)
            assert result.exit_code == 0, result.stderr
            check(result.stdout + result.stderr)
            picked = ["pick", home, *QUICK, "-o", "picks.csv", "--report", "r.html", "--report", "r.md"]
            result = CliRunner().invoke(root, picked, prog_name="honeyguide", color=True)
            check(result.stdout + result.stderr)
            (folder / "home").write_text(home)
    finally:
        os.chdir(here)
    return folder


def test_what_is_told_of_a_crawl(run: Run, crawled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(crawled)
    home = (crawled / "home").read_text()
    pages = [json.loads(line) for line in (crawled / "p.jsonl").read_text("utf-8").splitlines()]
    assert len(pages) > 10
    commands = [("runs",), *(("explain", page["url"]) for page in pages[:4]), ("explain", f"{home}red/CASE")]
    for command in commands:
        for chosen in ("table", "jsonl", "csv"):
            result = run(*command, "--format", chosen)
            assert result.exit_code == 0
            check_as(chosen, result)
    for what in ("pages", "links", "out", "external"):
        for chosen in ("jsonl", "csv"):
            check_as(chosen, run("export", what, "--format", chosen))


def test_files_of_a_crawl_stay_in_their_folder(crawled: Path) -> None:
    assert {entry.name for entry in crawled.iterdir()} == {
        "honeyguide.db", "p.jsonl", "pages", "p.warc.gz", "picks.csv", "r.html", "r.md", "home",
    }  # fmt: skip
    files = [path for path in (crawled / "pages").rglob("*") if path.is_file()]
    assert len(files) > 10
    for path in files:
        check_name(path.relative_to(crawled / "pages").as_posix())
        text = path.read_text("utf-8")
        assert not [char for char in text if unicodedata.category(char) == "Cc" and char not in "\n\t"]
        assert text.count("\n---\n") == 1


def test_lines_of_a_crawl_are_lines(crawled: Path) -> None:
    text = (crawled / "p.jsonl").read_text("utf-8")
    assert text.split("\n") == [*text.splitlines(), ""]  # nothing else ends a line
    assert all(json.loads(line)["schema"] == 1 for line in text.splitlines())
    assert not [char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs") and char != "\n"]


def test_records_of_a_warc_are_ours(crawled: Path) -> None:
    iterator = pytest.importorskip("warcio.archiveiterator")
    with (crawled / "p.warc.gz").open("rb") as file:
        kinds = [one.rec_type for one in iterator.ArchiveIterator(file, check_digests="raise")]
    assert kinds[0] == "warcinfo"
    assert kinds[1:] == ["response", "request", "metadata"] * (len(kinds) // 3)


def test_cells_of_a_pick_are_no_formulas(crawled: Path) -> None:
    text = (crawled / "picks.csv").read_text("utf-8")
    check(text)
    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) > 1
    assert not [
        cell for row in rows for cell in row if cell.strip()[:1] in set("=+@") or cell.startswith("-")
    ]


# --- spreadsheets -------------------------------------------------------------------------------------------------

FORMULAS = ["=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "\u200b=1", "\ufeff=1", "\u202e=1", "\u034f=1",
            "\u3164=1", "＝1+1", "＋1", "－1", "＠x", "\u2003@x", "\U000e0041=1", "=cmd|' /C calc'!A0"]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS, ids=ascii)
@pytest.mark.parametrize(
    "wrap", [lambda t: t, lambda t: [t], lambda t: {t: [1]}], ids=["text", "list", "dict"]
)
def test_no_cell_is_a_formula(text: str, wrap: Callable[[str], Any]) -> None:
    cell = csv_cell(wrap(text))
    assert cell.startswith("'")
    check(cell)


def test_numbers_stay_numbers_and_json_has_the_text() -> None:
    assert [csv_cell(value) for value in (-5, -0.5, 0, None, True)] == ["-5", "-0.5", "0", "", "true"]
    for text in (*FORMULAS, *ESCAPES.values()):
        assert json.loads(json_line({"a": text})) == {"a": text}


@pytest.mark.parametrize("text", ESCAPES.values(), ids=ESCAPES)
def test_json_is_one_line_of_visible_text(text: str) -> None:
    line = json_line({text: [text]})
    assert not [char for char in line if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    assert len(line.splitlines()) == 1


def test_a_file_is_the_same_whatever_the_terminal_is() -> None:
    found = set()
    for encoding in ("utf-8", "ascii"):
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "PYTHONIOENCODING": encoding,
        }
        program = (
            "import sys; from honeyguide.cli.output import json_line, printed_line; "
            "sys.stdout.write(ascii(json_line({'a': '\\u00e9\\u202e'})) + '\\n' + printed_line({'a': '\\u00e9\\u202e'}))"
        )
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, check=True)  # noqa: S603 - our own
        file, printed = done.stdout.decode(encoding).splitlines()
        found.add(file)
        assert json.loads(printed) == {"a": "\u00e9\u202e"}
        assert "\u202e" not in printed
    assert len(found) == 1


def test_every_format_character_is_escaped_in_json() -> None:
    every = "".join(
        char for code in range(sys.maxunicode + 1)
        if unicodedata.category(char := chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    )  # fmt: skip
    assert escaped(json.dumps(every, ensure_ascii=False)).isprintable()
    assert json.loads(json_line({"a": every[:100]}))["a"] == every[:100]


# --- reports ------------------------------------------------------------------------------------------------------

MARKUP = ["<script>alert(1)</script>", '"><svg onload=alert(1)>', "[x](javascript:alert(1))", "![x](https://evil.example/p.png)",
          "<https://evil.example>", "https://evil.example/", "www.evil.example", "a@evil.example", "[x]: https://evil.example", "`x`",
          "<!-- x", "&#60;b&#62;", "\\[x](y)", "| x |", "%%hidden%%", "==x==", "{{ x }}", "<details open ontoggle=alert(1)>"]  # fmt: skip


class Tags(HTMLParser):
    """What a browser makes of a file."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def lie(text: str) -> dict[str, Any]:
    page = {"url": text, "title": text, "rank": 1, "score": 1, "bucket": text, "category": text, "anchor_text": text,
            "reasons": [{"rule": text, "points": 1, "reason": text}], "evidence": [{"keyword": text, "text": text}]}  # fmt: skip
    out = {**page, "rank": None, "out": {"rule": text, "why": text}}
    return {"site": text, "homepage": text, "status": text, "reason": text, "strategy": text, "profile": text, "title": text,
            "selected": [page, {**page, "url": f"https://a.example/{text}"}], "candidates": [page, out],
            "skipped": [{"href": text, "rule": text}], "replaced": [{"url": text, "why": text}]}  # fmt: skip


@pytest.mark.parametrize("text", [*MARKUP, *ESCAPES.values()], ids=ascii)
def test_reports_hold_no_markup_of_a_page(tmp_path: Path, text: str) -> None:
    for suffix in (".html", ".md"):
        write_report([lie(text)], tmp_path / f"r{suffix}")
    html, markdown = ((tmp_path / f"r{suffix}").read_text("utf-8") for suffix in (".html", ".md"))
    check(markdown)
    check(html)
    tags = Tags(html).found
    assert not {"script", "svg", "img", "iframe", "link", "object", "form"} & {tag for tag, _ in tags}
    assert not [
        name for _, attributes in tags for name in attributes if name.startswith("on") or name == "style"
    ]
    for attributes in (attributes for tag, attributes in tags if tag == "a"):
        href = attributes["href"] or ""
        assert href.startswith(("#s", "https://"))
        assert href[0] == "#" or {"noopener", "noreferrer"} <= set((attributes["rel"] or "").split())
    bare = re.sub(r"\[(?:\\.|[^\\\]])*\]\(<https://[^<>\s]*>\)|\\.", "", markdown)
    assert not re.search(r"[<`\[]|://|www\.|%%|==|@", bare)


def test_a_report_asks_for_nothing_and_dresses_nothing_but_itself(tmp_path: Path) -> None:
    write_report([lie("x")], tmp_path / "r.html")
    policies = [
        a["content"] or ""
        for tag, a in Tags((tmp_path / "r.html").read_text("utf-8")).found
        if "http-equiv" in a
    ]
    (policy,) = policies
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", rules["style-src"])
    assert rules["base-uri"] == rules["form-action"] == "'none'"


# --- names of files -----------------------------------------------------------------------------------------------

PATHS = ["/../../etc/passwd", "/..%2f..%2fetc", "/%2e%2e/%2e%2e/x", "//etc/passwd", "/C:/windows", "/\\\\server\\share", "/%5c..%5cx",
         "/a%00b", "/con", "/CON.txt", "/nul", "/aux.md", "/prn/x", "/com1", "/LPT9.x", "/com%C2%B9", "/conin$", "/a.", "/a%20", "/a..", "/ ",
         "/.git/config", "/.htaccess", "/-rf", "/~", "/*?", "/a:b", "/" + "x" * 5000, "/" + "y/" * 3000, "/%F0%9F%98%80" * 80, "/index.md",
         "/a.md/b", "/a.md", "/%E2%80%AEtxt.exe", "/a%0d%0ab", "/desktop.ini"]  # fmt: skip


def check_name(name: str) -> None:
    parts = name.split("/")
    assert name.isascii()
    assert name.isprintable()
    assert len(name) <= 200
    for part in parts:
        assert part not in ("", ".", "..")
        assert part[0] not in ".-"
        assert part[-1] not in ". "
        assert len(part) <= 100
        assert not set(part) & set('<>:"\\|?*\x00')
        assert not re.fullmatch(r"(?i)(con|prn|aux|nul|conin\$|conout\$|com\d|lpt\d)(\..*)?", part)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path[:30])
def test_names_are_safe_on_every_system(path: str, tmp_path: Path) -> None:
    url = Url.parse(f"https://a.example{path}")
    check_name(file_name(url).as_posix())
    record = {"url": url.as_linked, "title": None, "relevance_score": None, "fetched_at": None}
    written = Folder(tmp_path / "pages").write(record, "x")
    assert written.resolve().is_relative_to((tmp_path / "pages").resolve())
    assert [entry.name for entry in tmp_path.iterdir()] == ["pages"]


def test_different_pages_have_different_names_where_case_does_not_count() -> None:
    urls = {Url.parse(f"https://{host}{path}") for host in ("a.example", "con.example", "con", "a.example:81", "x" * 63 + ".example")
            for path in (*PATHS, "/A", "/a", "/a?b", "/A?b", "/index", "/")}  # fmt: skip
    names = {file_name(url).as_posix().lower() for url in urls}
    keys = {url.text.partition(":")[2] for url in urls}
    assert len(names) == len(keys)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_in_the_folder_lead_nowhere(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("mine")
    root_folder = tmp_path / "pages"
    folder = Folder(root_folder)
    record = {"url": "https://a.example/b", "title": None, "relevance_score": None, "fetched_at": None}
    (root_folder / "a.example").symlink_to(outside)
    with pytest.raises(InputError, match="leads out of the folder"):
        folder.write(record, "x")
    (root_folder / "a.example").unlink()
    (root_folder / "a.example").symlink_to(root_folder / "a.example")
    with pytest.raises(InputError, match="cannot be written"):
        folder.write(record, "x")
    (root_folder / "a.example").unlink()
    (root_folder / "a.example").mkdir()
    for name in ("b.md", ".b.md.part"):
        (root_folder / "a.example" / name).symlink_to(outside / "precious")
    assert folder.write(record, "x").read_text().endswith("x\n")
    assert (outside / "precious").read_text() == "mine"
    assert [entry.name for entry in outside.iterdir()] == ["precious"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_beside_an_output_is_not_written_through(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "picks.csv.part").symlink_to(precious)
    write_table(tmp_path / "picks.csv", "csv", [], csv_cell)
    (tmp_path / "other.part").symlink_to(precious)
    with replacing(tmp_path / "other") as part:
        part.write_text("new")
    assert precious.read_text() == "mine"
    assert (tmp_path / "other").read_text() == "new"


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_beside_lines_is_not_written_through(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    line = {"schema": 1, "url": "https://a.example/", "fetched_at": None}
    other = {**line, "url": "https://a.example/b"}
    path = tmp_path / "p.jsonl"
    path.write_text(f"{json.dumps(line)}\n{json.dumps(other)}\n")
    (tmp_path / "p.jsonl.part").symlink_to(precious)
    lines = PageLines.open(path, Form(json.dumps))
    lines.follow(
        Truth(lambda: iter([other, line]), lambda _: True)
    )  # another order: the file is written anew
    lines.close()
    assert [json.loads(text) for text in path.read_text().splitlines()] == [other, line]
    sink = tmp_path / "picks.jsonl"
    (tmp_path / "picks.jsonl.journal.new").symlink_to(precious)
    run = JournalRun({}, ("a.example",), lambda site: json.dumps({"site": site})[:-1], lambda _: None)
    journal = Journal.open(sink, run)
    journal.add(0, json.dumps({"site": "a.example"}))
    journal.forget(lambda _: True)
    journal.close()
    assert precious.read_text() == "mine"


def test_nothing_is_written_to_a_terminal_as_it_is() -> None:
    """What is printed goes through one of these, or is made of our own words alone."""
    ways = re.compile(
        r"printable|line_for_people|printed_line|_harmless\(|\.text}|\.line\(record|write\(text\)|\{line\}"
    )
    folder = Path(cli.__file__).parent
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted(folder.glob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"click\.(s?echo|secho)\(|sys\.std(out|err)\.write\(|(?<!\.)\bprint\(", line)
        and not ways.search(line)
    ]
    assert found == []


# --- front matter, hosts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "title",
    ['"\n---\nevil: true\n', "a\r\nb: c", "!!python/object:os.system", "&a *a", "# comment", "a: b", "%YAML 2", "- x", "\u2028b: c", "\x85b: c",
     "{a: b}", "null", "yes", *ESCAPES.values()],
    ids=ascii,
)  # fmt: skip
def test_front_matter_has_four_fields(title: str) -> None:
    record = {"url": "https://a.example/", "title": title, "relevance_score": 1, "fetched_at": None}
    text = page_text(record, f"---\nevil: true\n---\n{title}")
    head = text.split("\n---\n")[0].splitlines()
    assert [line.partition(":")[0] for line in head] == ["---", "url", "title", "score", "fetched_at"]
    assert json.loads(head[2].removeprefix("title: ")) == title
    assert not [char for char in text if unicodedata.category(char) == "Cc" and char not in "\n\t"]


@pytest.mark.parametrize(
    ("host", "ascii_host"),
    [
        ("аррӏе.example", "xn--80ak6aa92e.example"),  # Cyrillic throughout
        ("pаypal.example", "xn--pypal-4ve.example"),  # one Cyrillic letter
        ("שלום.example", "xn--9dbne9b.example"),
        ("ｐａｙｐａｌ.example", "paypal.example"),
        ("faß.example", "xn--fa-hia.example"),
    ],
)
def test_hosts_are_shown_in_ascii(run: Run, host: str, ascii_host: str) -> None:
    assert display(f"https://{host}/").startswith(f"https://{ascii_host}/")
    table = run(
        "url", "classify", f"https://{host}/x", "--page", "https://a.example/", "--format", "table"
    ).stdout
    assert ascii_host in table
