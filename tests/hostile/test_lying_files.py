"""Text that lies, in files: cells, records, reports, names and front matter are ours, whatever a page says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from lies import ESCAPES, check, check_name

from honeyguide.adapters.output.page_file import (
    FRONT,
    Folder,
    PageFile,
    PageNotes,
    StoredPages,
    file_name,
    page_text,
)
from honeyguide.adapters.output.pick_file import PickFile, PickRun
from honeyguide.adapters.output.tables import write_table
from honeyguide.adapters.output.write import PART, replacing
from honeyguide.core.records import csv_cell, json_line
from honeyguide.core.records.fields import PickRecord
from honeyguide.core.text.printable import escaped
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError
from honeyguide.report import write_report

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
            "import sys; from honeyguide.cli.output import printed_line; from honeyguide.core.records import json_line; "
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
            "points": [{"rule": text, "points": 1, "reason": text}], "evidence": [{"keyword": text, "text": text}]}  # fmt: skip
    out = {**page, "rank": None, "rejected": {"rule": text, "reason": text}}
    return {"site": text, "homepage": text, "status": text, "reason": text, "strategy": text, "profile": text, "title": text,
            "selected": [page, {**page, "url": f"https://a.example/{text}"}], "candidates": [page, out],
            "skipped": [{"href": text, "rule": text}], "replaced": [{"url": text, "reason": text}]}  # fmt: skip


@pytest.mark.parametrize("text", [*MARKUP, *ESCAPES.values()], ids=ascii)
def test_reports_hold_no_markup_of_a_page(tmp_path: Path, text: str) -> None:
    for suffix in (".html", ".md"):
        write_report([lie(text)], tmp_path / f"r{suffix}")
    html, markdown = ((tmp_path / f"r{suffix}").read_text("utf-8") for suffix in (".html", ".md"))
    check(markdown)
    check(html)
    tags = Tags(html).found
    assert not {"svg", "img", "iframe", "link", "object"} & {tag for tag, _ in tags}
    assert [tag for tag, _ in tags if tag in ("script", "form")] == [
        "form",
        "script",
    ]  # ours, which filter and sort
    assert not [
        name for _, attributes in tags for name in attributes if name.startswith("on") or name == "style"
    ]
    for attributes in (attributes for tag, attributes in tags if tag == "a"):
        href = attributes["href"] or ""
        assert href.startswith(("#s", "#part", "https://"))
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
    (root_folder / "a.example" / f".b.md{PART}").symlink_to(outside / "precious")
    assert folder.write(record, "x").read_text().endswith("x\n")
    (root_folder / "a.example" / "b.md").rename(outside / "b.md")
    for target in ("b.md", "precious", "missing"):
        (root_folder / "a.example" / "b.md").symlink_to(outside / target)
        with pytest.raises(InputError, match=r"b\.md: exists and is no page that was written here"):
            folder.write(record, "y")
        (root_folder / "a.example" / "b.md").unlink()
    assert (outside / "b.md").read_text().endswith("x\n")
    (outside / "b.md").unlink()
    assert (outside / "precious").read_text() == "mine"
    assert [entry.name for entry in outside.iterdir()] == ["precious"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_beside_an_output_is_not_written_through(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / f"picks.csv{PART}").symlink_to(precious)
    write_table(tmp_path / "picks.csv", "csv", [], PickRecord)
    (tmp_path / f"other{PART}").symlink_to(precious)
    with replacing(tmp_path / "other") as part:
        part.write_text("new")
    assert precious.read_text() == "mine"
    assert (tmp_path / "other").read_text() == "new"


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_beside_lines_is_not_written_through(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    line = {"schema": 2, "url": "https://a.example/", "fetched_at": None}
    other = {**line, "url": "https://a.example/b"}
    path = tmp_path / "p.jsonl"
    path.write_text(f"{json.dumps(line)}\n{json.dumps(other)}\n")
    (tmp_path / f"p.jsonl{PART}").symlink_to(precious)
    lines = PageFile(path)
    lines.follow(
        StoredPages(lambda: iter([other, line]), lambda _: True)
    )  # another order: the file is written anew
    lines.close()
    assert [json.loads(text) for text in path.read_text().splitlines()] == [other, line]
    sink = tmp_path / "picks.jsonl"
    (tmp_path / f"picks.jsonl.journal{PART}").symlink_to(precious)
    picks = PickFile(sink, PickRun({}, ("a.example",)))
    picks.add(0, {"schema": 2, "site": "a.example", "status": "timeout", "selected": []})
    picks.forget_failed()
    picks.close()
    assert precious.read_text() == "mine"


# --- front matter -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "title",
    ['"\n---\nevil: true\n', "a\r\nb: c", "!!python/object:os.system", "&a *a", "# comment", "a: b", "%YAML 2", "- x", "\u2028b: c", "\x85b: c",
     "{a: b}", "null", "yes", *ESCAPES.values()],
    ids=ascii,
)  # fmt: skip
def test_front_matter_has_its_fields_and_no_others(title: str) -> None:
    record = {
        "url": "https://a.example/", "title": title, "relevance_score": 1, "fetched_at": None, "reasons": [title],
        "language": title, "canonical": title, "parent": title, "digest": title, "depth": 0,
    }  # fmt: skip
    text = page_text(record, f"---\nevil: true\n---\n{title}", PageNotes(title, title))
    head = text.split("\n---\n")[0].splitlines()
    assert [line.partition(":")[0] for line in head] == ["---", *FRONT]
    values = {line.partition(": ")[0]: json.loads(line.partition(": ")[2]) for line in head[1:]}
    assert [values[name] for name in ("title", "description", "topic", "language", "parent")] == [title] * 5
    assert values["reasons"] == [title]
    assert not [char for char in text if unicodedata.category(char) == "Cc" and char not in "\n\t"]
