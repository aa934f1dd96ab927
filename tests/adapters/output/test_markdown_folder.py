"""Names of files that are safe everywhere, and files that say where they come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.adapters.output.page_file import (
    FRONT,
    MAX_NAME_CHARS,
    MAX_PATH_CHARS,
    Folder,
    PageNotes,
    file_name,
    page_text,
)
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError, UrlError


def name(path: str, site: str = "https://a.example") -> str:
    return str(file_name(Url.parse(site + path)))


def record(url: str = "https://a.example/b", title: str | None = "B") -> dict[str, object]:
    return {"url": url, "title": title, "relevance_score": 7, "fetched_at": "2024-05-01T00:00:00.000Z"}


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("/", "a.example/index.md"),
        ("/b", "a.example/b.md"),
        ("/b/", "a.example/b.md"),  # URL-3: one page
        ("/b/c.html", "a.example/b/c.html.md"),
        ("/b.md", "a.example/b.md.md"),
    ],
)
def test_plain_names_stay(path: str, file: str) -> None:
    assert name(path) == file


@pytest.mark.parametrize(
    "path",
    ["/B", "/b?c=1", "/index", "/con", "/nul.txt", "/com1/b", "/.hidden", "/b-0123abcd0123abcd", "/%E4%BD%A0", "/a.md/b", "/" + "x" * 300,
     "/a" * 200, "/b%2F..%2Fc", "/b%00", "/trailing.", "/a:b", "/~"],
)  # fmt: skip
def test_other_names_have_a_hash(path: str) -> None:
    file = name(path)
    assert len(file) <= MAX_PATH_CHARS
    assert file != name("/b")
    assert file.removesuffix(".md")[-17] == "-"


def test_an_empty_query_is_another_page() -> None:
    assert name("/") == "a.example/index.md" != name("/?")
    assert name("/b") != name("/b?")


def test_http_and_https_are_one_page_and_ports_are_not() -> None:
    assert name("/B") == name("/B", "http://a.example")
    assert name("/b", "http://a.example:8080") == "a.example+8080/b.md"
    assert name("/b", "http://[::1]:8080").startswith("1+8080/b-")


@given(st.lists(st.text(min_size=1, max_size=40), min_size=2, max_size=6, unique=True))
def test_names_are_safe_and_different_without_case(paths: list[str]) -> None:
    urls = set()
    for path in paths:
        try:
            urls.add(Url.parse(f"https://a.example/{path}"))
        except UrlError:
            continue
    names = [str(file_name(url)) for url in urls]
    assert len({one.lower() for one in names}) == len(urls)
    for one in names:
        parts = one.split("/")
        assert ".." not in parts
        assert all(part and part[0] != "." and part[-1] not in ". " and len(part) <= 80 for part in parts)
        assert one.isascii()
        assert not set(one) & set('<>:"\\|?*')


@given(st.text(max_size=80))
def test_front_matter_is_json_on_one_line_each(title: str) -> None:
    lines = page_text(record(title=title), "Text.", PageNotes(title, title)).split("\n")
    assert lines[0] == lines[len(FRONT) + 1] == "---"
    found = {line.partition(": ")[0]: line.partition(": ")[2] for line in lines[1 : len(FRONT) + 1]}
    assert tuple(found) == FRONT
    assert [json.loads(found[name]) for name in ("title", "topic")] == [title, title]
    assert not set("".join(lines)) & set("\x85\u2028\u2029")


def test_a_file_with_the_front_matter_of_an_earlier_version_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.example" / "b.md"
    path.parent.mkdir()
    path.write_text('---\nurl: "https://a.example/b"\ntitle: "B"\nscore: 7\nfetched_at: null\n---\n\nOld.\n')
    Folder(tmp_path).write(record(), "New.")
    assert path.read_text().endswith("New.\n")
    path.write_text("---\nurl: mine\nauthor: me\n---\n")
    with pytest.raises(InputError, match="no page that was written here"):
        Folder(tmp_path).write(record(), "New.")


def test_a_page_that_was_cut_says_so() -> None:
    assert "\nis_cut: true\n---\n" in page_text(record(), "Text.", PageNotes(is_cut=True))
    assert "is_cut" not in page_text(record(), "Text.")


def test_a_page_is_written_and_replaced(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "pages")
    first = folder.write(record(), "One.")
    second = folder.write(record(), "Two.")
    assert first == second == tmp_path / "pages" / "a.example" / "b.md"
    assert first.read_text("utf-8").endswith("---\n\nTwo.\n")
    assert [path.name for path in first.parent.iterdir()] == ["b.md"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        Folder(tmp_path / "file")
    with pytest.raises(InputError, match="cannot be written"):
        Folder(tmp_path / "a\0b")
    folder = Folder(tmp_path / "pages")
    (tmp_path / "pages" / "a.example").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        folder.write(record(), "")


@pytest.mark.parametrize(
    "text", ["my own notes", "---\ntitle: mine\n---\n", "---\nurl: x\ntitle: mine\n---\n", "\n", "---\n"]
)
def test_what_is_no_page_is_not_written_over(tmp_path: Path, text: str) -> None:
    folder = Folder(tmp_path)
    file = folder.write(record(), "One.")
    file.write_text(text)
    with pytest.raises(InputError, match=r"b\.md: exists and is no page that was written here; move it away"):
        folder.write(record(), "Two.")
    assert file.read_text() == text
    file.unlink()
    file.mkdir()
    with pytest.raises(InputError, match="is no page that was written here"):
        folder.write(record(), "Two.")
    file.rmdir()
    file.write_text("")  # what a power cut left
    assert folder.write(record(), "Three.").read_text().endswith("Three.\n")


def test_many_pages_with_long_names_have_files_of_their_own() -> None:
    long = "https://a.example/catalogue/" + "a-very-long-name-of-a-family-of-products-" * 2
    names = {file_name(Url.parse(f"{long}{n}")).name for n in range(2_000)}
    assert len(names) == 2_000
    assert {len(name) - len(".md") - 16 for name in names} == {MAX_NAME_CHARS + 1}  # 64 bits say which it is
