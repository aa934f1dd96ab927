"""Text that lies, in the terminal: what pages, files and servers say must not steer whoever looks at it.

Each attack goes in where a stranger can put it (titles, anchors, addresses, names, answers) and is looked for where a
person reads. Files are the business of `test_lying_files.py`.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from lies import ALL, ESCAPES, HTML, check, check_as, check_name

from honeyguide import cli
from honeyguide.cli.main import root
from honeyguide.cli.output import MAX_LINE_CHARS, line_for_people
from honeyguide.cli.progress import Progress
from honeyguide.core.text.printable import legible, printable
from honeyguide.core.url.url import display
from honeyguide.errors import ConfigError, FetchError, HoneyguideError, InputError, Problem, StoreError, shown
from honeyguide.testing.fakes import LoopbackServer, response, served

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def runner(*args: str, stdin: str | None = None) -> Result:
        # With colour: without it, the library would take escapes away before we see them.
        return CliRunner().invoke(root, args, prog_name="honeyguide", input=stdin, color=True)

    return runner


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


def test_links_and_selections_of_a_page(run: Run, tmp_path: Path) -> None:
    name = "\x1b]0;x\x07\u202e.html"
    (tmp_path / name).write_text(PAGE.format(title=HTML, path=HTML), "utf-8", "surrogatepass")
    for args in (
        ("links", name, "--base", "https://a.example/"),
        ("select", name, "--base", "https://a.example/", "--all"),
        ("score", "page", name, "--topic", "red"),
        ("url", "classify", HTML, f"/{HTML}", "--base", "https://a.example/"),
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
              "candidates": [{"url": f"https://a.example/{ALL}", "score": 1, "rejected": {"rule": ALL, "reason": ALL}}]}  # fmt: skip
    (tmp_path / "now.jsonl").write_text(json.dumps(record))
    (tmp_path / "before.jsonl").write_text(json.dumps({**record, "selected": []}))
    (tmp_path / "gold.jsonl").write_text(json.dumps({"site": f"a.example{ALL}", "core": [f"/{ALL}"]}))
    for chosen in ("table", "jsonl", "csv"):
        check_as(chosen, run("eval", "now.jsonl", "--gold", "gold.jsonl", "--format", chosen))
        check_as(chosen, run("diff", "before.jsonl", "now.jsonl", "--format", chosen))


def test_rows_of_strangers(run: Run, tmp_path: Path) -> None:
    rows = [{"url": f"https://a.example/{ALL}", "visits": 1}, {"url": "https://a.example/b", "visits": 2}]
    (tmp_path / "known.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for chosen in ("table", "jsonl", "csv"):
        check_as(chosen, run("plan", "known.jsonl", "--now", "2024-06-15T08:00:00Z", "--format", chosen))


@pytest.mark.usefixtures("_progress_lines")
def test_progress_is_only_text(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(details=lambda now: [f"{now} {ALL}"], started=-60.0, clock=lambda: 1.0)
    with progress.shown(quiet=False):
        progress.update()
    said = capsys.readouterr().err
    assert said.startswith("1.0 ")
    check(said)


def test_a_line_for_people_ends() -> None:
    text = line_for_people("x" * 10 * MAX_LINE_CHARS)
    assert len(text) < MAX_LINE_CHARS + 40
    assert text.endswith("… (40,000 characters)")
    assert len(shown("\u202e" * 100_000)) < 1_000


# --- a whole site that lies ---------------------------------------------------------------------------------------

QUICK = ("--allow-private", "--delay", "0", "--retries", "0", "--timeout", "5")


def lying_site() -> LoopbackServer:
    words = "Words about red alarms that nothing else says, again and again. " * 12
    names = ["..%2f..%2fetc%2fpasswd", "con", "nul.txt", "%00", "a%0d%0aWARC-Type:%20x", "%e2%80%ae", "CASE", "case", "x" * 300,
             "trailing.", "-rf", "=1+1", "..", "%1b]0;x%07"]  # fmt: skip
    links = "".join(f'<p><a href="/red/{name}">{HTML}</a></p>' for name in names)
    links += (
        f'<a href="https://other.example/%1b]0;x%07?q={HTML}">{HTML}</a> <a href="/x%e2%80%ae.pdf">{HTML}</a>'
    )
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
    pytest.importorskip("warcio")  # an extra
    folder = tmp_path_factory.mktemp("crawled")
    here = Path.cwd()
    os.chdir(folder)
    try:
        with served(lying_site()) as (home,):
            args = [
                "crawl",
                home,
                "--topic",
                "red",
                *QUICK,
                "-o",
                "p.jsonl",
                "--markdown",
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
    assert {json.loads(line)["schema"] for line in text.splitlines()} == {2}
    assert not [char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs") and char != "\n"]


def test_records_of_a_warc_are_ours(crawled: Path) -> None:
    iterator = pytest.importorskip("warcio.archiveiterator")  # an extra
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


# --- everything else ----------------------------------------------------------------------------------------------


def test_nothing_is_written_to_a_terminal_as_it_is() -> None:
    """What is printed goes through one of these, or is made of our own words alone."""
    ways = re.compile(
        r"printable|line_for_people|printed_line|_harmless\(|\.text}|\.line\(record|write\(text\)|\{line\}|ctx\.get_help\(\)|ctx\.command_path|_line\(ctx|echo\(UNCHANGED,"
    )
    folder = Path(cli.__file__).parent
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted(folder.glob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"click\.(s?echo|secho)\(|sys\.std(out|err)\.write\(|(?<!\.)(?<!def )\bprint\(", line)
        and not ways.search(line)
    ]
    assert found == []


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
        "url", "classify", f"https://{host}/x", "--base", "https://a.example/", "--format", "table"
    ).stdout
    assert ascii_host in table
