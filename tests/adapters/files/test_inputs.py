"""Lists of sites as people have them: every format, every slip, nothing that could harm."""

from __future__ import annotations

import codecs
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.adapters.files import sites as inputs
from honeyguide.adapters.files.sites import MAX_SITE_CHARS, SiteRow, check_sites, read_sites, unique
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def read(folder: Path, content: str | bytes, name: str = "list", column: str | None = None) -> list[SiteRow]:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_sites(str(file), column)


def texts(rows: list[SiteRow]) -> list[str]:
    return [row.text for row in rows]


TWO = ["acme.example", "https://b.example/en"]
SITEMAP = "<urlset><url><loc>acme.example</loc></url><url><loc>https://b.example/en</loc></url></urlset>"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "# ours\nacme.example\n\n  https://b.example/en  # theirs\n"),
        ("a.txt", "acme.example\r\nhttps://b.example/en\r\n"),
        ("a.txt", "acme.example\rhttps://b.example/en"),
        ("list", "\ufeffacme.example\nhttps://b.example/en"),
        ("a.csv", "name,domain\nAcme,acme.example\nB,https://b.example/en\n"),
        ("a.csv", "\ufeffDomain ;Name\nacme.example;Acme\nhttps://b.example/en;B\n"),
        ("a.csv", 'website,name\n"acme.example","Acme, ""the"" one"\n"https://b.example/en","two\nlines"\n'),
        ("a.csv", "acme.example\nhttps://b.example/en\n"),
        ("a.csv", "name; city; zip,website\nAcme,acme.example\nB,https://b.example/en\n"),
        ("list", "name, first name, city;website\nA, B, C;acme.example\n;https://b.example/en\n"),
        ("a.tsv", "url\tname\nacme.example\tAcme, Inc; or\nhttps://b.example/en\tB\n"),
        ("a.xls", "url\tname\nacme.example\tAcme, Inc; or\nhttps://b.example/en\tB\n"),
        ("list", "url\tname\nacme.example\tAcme\nhttps://b.example/en\tB\n"),
        ("list", "url\nacme.example\nhttps://b.example/en\n"),
        ("a.csv", "url,domain\nx.example,acme.example\ny.example,https://b.example/en\n"),
        ("a.jsonl", '{"url": "acme.example"}\n\n"https://b.example/en"\n'),
        ("list", '{"name": "x", "Website": "acme.example"}\n{"domain": "https://b.example/en"}\n'),
        ("list", '"acme.example"\n"https://b.example/en"\n'),
        ("a.md", "[A](//acme.example) ![i](https://i.example/x.png) <https://b.example/en> [rel](docs/a.md)"),
        ("a.md", "- [A](//acme.example)\n- https://b.example/en, which is bare.\n"),
        ("list", "# Sites\n\n* [A](//acme.example)\n* [B](https://b.example/en)\n"),
        ("a.xml", f'<?xml version="1.0"?>{SITEMAP}'),
        ("list", SITEMAP),
        ("a.xml", SITEMAP.replace("acme.example", "\n  <![CDATA[acme.example]]>\n")),
    ],
)  # fmt: skip
def test_formats(tmp_path: Path, name: str, content: str) -> None:
    rows = read(tmp_path, content, name)
    assert [text.removeprefix("//") for text in texts(rows)] == TWO
    assert [row.problem for row in rows] == ["", ""]


def test_a_spreadsheet_in_utf_16(tmp_path: Path) -> None:
    assert texts(read(tmp_path, "website\tname\nmünchen.example\tM\n".encode("utf-16"), "a.csv")) == [
        "münchen.example"
    ]


def test_a_column_of_a_spreadsheet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a spreadsheet"):
        read(tmp_path, b"PK\x03\x04", "a.xlsx", "site")


def test_a_header_whose_name_has_a_line_break(tmp_path: Path) -> None:
    table = 'website,"phone\nnumber",note\nacme.example,12,old\n'
    (row,) = read(tmp_path, table, "a.csv")
    assert (row.text, row.line, row.columns) == ("acme.example", 3, {"phone\nnumber": "12", "note": "old"})


def test_a_header_with_a_quote_that_never_ends_is_one_line(tmp_path: Path) -> None:
    assert texts(read(tmp_path, 'website,"name\nacme.example,A\nb.example,B\n', "a.csv")) == [
        "acme.example",
        "b.example",
    ]


def test_a_column_by_name(tmp_path: Path) -> None:
    table = "domain,Home Page\nx.example,acme.example\n"
    assert texts(read(tmp_path, table, "a.csv", "home page")) == ["acme.example"]
    assert texts(read(tmp_path, '{"x": "acme.example"}', "a.jsonl", "x")) == ["acme.example"]


def test_parquet(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")  # an extra
    frame = pl.DataFrame({"name": ["A", "B", "C"], "Domain": ["acme.example", None, "b.example"]})
    for name in ("a.parquet", "list"):
        frame.write_parquet(tmp_path / name)
        rows = read_sites(str(tmp_path / name))
        assert [(row.text, row.line, row.problem) for row in rows] == [
            ("acme.example", 1, ""), ("row 2", 2, "names no site"), ("b.example", 3, ""),
        ]  # fmt: skip
    with pytest.raises(InputError, match=r"has no column x; it has name, Domain\Z"):
        read_sites(str(tmp_path / "a.parquet"), "x")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="is not Parquet that can be read"):
        read_sites(str(tmp_path / "b.parquet"))


# --- bad rows: the others are read, and the bad one says where it is ---


@pytest.mark.parametrize(
    ("row", "text", "problem"),
    [
        ("Acme Inc,,555", "Acme Inc,,555", "names no site"),
        ("Acme Inc", "Acme Inc", "names no site"),
        ("Acme, Inc,acme.example", "Inc", "is not an address: a name without a dot"),
        ("Acme,N/A,1", "N/A", "is not an address: a name without a dot"),
        ("Acme,info@acme.example,1", "info@acme.example", "is an e-mail address, not a site"),
        (
            "Acme,ftp://acme.example,1",
            "ftp://acme.example",
            "is no web address: 'ftp' is neither http nor https",
        ),
        ("Acme,acme .example,1", "acme .example", "is not an address: a host cannot contain ' '"),
        (
            "Acme,https://acme.example/a b,1",
            "https://acme.example/a b",
            "is not an address: it has a space in it",
        ),
        ('"Acme,acme.example,1', '"Acme,acme.example,1', "is not CSV: a quote or a field has no end"),
        (f"Acme,{'x' * 3000}.example,1", "x" * 200, f"is longer than {MAX_SITE_CHARS:,} characters"),
        ("Acme,http://[::1,1", "http://[::1", "is not an address: "),
    ],
)
def test_a_bad_row_in_the_middle(tmp_path: Path, row: str, text: str, problem: str) -> None:
    rows = read(tmp_path, f"name,website,x\nA,a.example,1\n{row}\nB,b.example,2\nC,c.example,3\n", "a.csv")
    assert [(good.text, good.line, good.problem) for good in (rows[0], *rows[2:])] == [
        ("a.example", 2, ""), ("b.example", 4, ""), ("c.example", 5, ""),
    ]  # fmt: skip
    assert (rows[1].text, rows[1].line) == (text, 3)
    assert rows[1].problem.startswith(problem)


@pytest.mark.parametrize(
    "line",
    ["{", "5", "null", "[1]", '{"name": "x"}', '{"url": null}', '{"url": 5}', "[" * 100_000, "9" * 5000],
)
def test_a_bad_line_of_json(tmp_path: Path, line: str) -> None:
    rows = read(tmp_path, f'"a.example"\n{line}\n"b.example"\n', "a.jsonl")
    assert [bool(row.problem) for row in rows] == [False, True, False]
    assert rows[1].text == line[:200]


def test_blank_rows_are_no_rows(tmp_path: Path) -> None:
    assert texts(read(tmp_path, 'url,name\n\n,\n"",""\na.example,A\n  \n', "a.csv")) == ["a.example"]


# --- files in another encoding: whatever is damaged, names of other columns too, nothing is read ---

WRONG = "is not UTF-8; save the file as UTF-8"
HALF = codecs.BOM_UTF16_LE + "url\na.example\n".encode("utf-16-le") + b"\x00\xd8\n\0"
CYRILLIC = "<urlset><!-- мир --><url><loc>http://a.example/</loc></url></urlset>".encode("cp1251")


@pytest.mark.parametrize(
    ("name", "content", "line", "words"),
    [
        ("a.csv", b"name;website\r\nA;a.example\r\nZ\xfcrich AG;b.example\r\n", 3, WRONG),
        ("a.csv", b"\xef\xbb\xbfurl\n\xfc", 2, WRONG),
        ("a.csv", b"name,url\rZ\x9frich,a.example\r", 2, WRONG),
        ("a.tsv", b"url\tname\na.example\tM\xfcller\n", 2, WRONG),
        ("list", b"a.example\n\n# Z\xfcrich\nb.example\n", 3, WRONG),
        ("a.jsonl", b'{"url": "a.example", "name": "\xfc"}\n', 1, WRONG),
        ("a.md", b"# Sites\n\n[Z\xfcrich](http://a.example)\n", 3, WRONG),
        ("a.xml", SITEMAP.replace("acme", "\u00e4").encode("latin-1"), 1, WRONG),
        (
            "a.xml",
            b"<?xml version='1.0' encoding='gb18030'?>\n" + CYRILLIC[:21] + b"\xff",
            2,
            "the file declares",
        ),
        ("a.csv", HALF, 3, "is broken UTF-16; save the file as UTF-8"),
    ],
)
def test_a_list_in_another_encoding_is_refused(
    tmp_path: Path, name: str, content: bytes, line: int, words: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, content, name)
    assert str(caught.value).startswith(f"{tmp_path / name} line {line}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize("name", ["a.xml", "list"])
def test_a_sitemap_is_read_in_the_encoding_that_it_declares(tmp_path: Path, name: str) -> None:
    declared = b"<?xml version='1.0' encoding='windows-1251'?>" + CYRILLIC
    assert texts(read(tmp_path, declared, name)) == ["http://a.example/"]


def test_a_character_that_another_program_lost_is_no_error_of_the_file(tmp_path: Path) -> None:
    rows = read(tmp_path, "name,url\nZ\ufffdrich,a.example\nB,\ufffd.example\n", "a.csv")
    assert [row.problem for row in rows] == ["", "has a broken character in it"]


# --- files that cannot be read: one sentence ---


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "a.csv",
            "name,phone\nA,1\n",
            "has no column domain, website or url; it has name, phone",
        ),
        ("a.csv", "\n", "is empty; give at least one site"),
        ("a.jsonl", "\ufeff", "is empty; give at least one site"),
        ("a.txt", "# nothing\n", "names no site"),
        ("a.jsonl", "[\n]", "is a JSON array; write one site on each line"),
        ("list", '["a.example"]', "is a JSON array"),
        ("a.md", "no links", "names no site"),
        (
            "a.xml",
            "<sitemapindex><sitemap><loc>https://a.example/s.xml</loc></sitemap></sitemapindex>",
            "lists other sitemaps",
        ),
        ("a.txt", "\x00\x01\x02", "is not a text file"),
        ("a.xlsx", b"PK\x03\x04\x14\0\xff", "is a spreadsheet; save it as CSV (UTF-8)"),
        ("a.ods", b"PK\x03\x04mimetype", "is a spreadsheet; save it as CSV (UTF-8)"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0", "is a spreadsheet; save it as CSV (UTF-8)"),
        ("a.csv", b"PK\x03\x04", "is a zip file, as spreadsheets are; save it as CSV (UTF-8)"),
        ("a.txt", "", "is empty; give at least one site"),
    ],
)
def test_a_file_without_sites(tmp_path: Path, name: str, content: str | bytes, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, content, name)
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "column", "words"),
    [
        ("a.csv", None, "has no column domain, website or url; it has name, phone"),
        ("a.csv", "fone", "has no column fone; it has name, phone; did you mean phone?"),
        ("a.csv", "x", "has no column x; it has name, phone"),
        ("a.txt", "x", "is read as text, which has no column x; give a table, or no column"),
        ("a.md", "x", "is read as markdown, which has no column x; give a table, or no column"),
    ],
)
def test_a_column_that_is_not_there(tmp_path: Path, name: str, column: str | None, words: str) -> None:
    (tmp_path / name).write_text("name,phone\nA,1\n", "utf-8")
    with pytest.raises(InputError) as caught:
        read_sites(str(tmp_path / name), column)
    assert str(caught.value).endswith(words)


def test_a_file_is_no_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert texts(check_sites(["sites.txt"])) == ["sites.txt"]
    (tmp_path / "sites.txt").write_text("a.example\n", "utf-8")
    with pytest.raises(InputError, match=r"sites.txt: is a file here: -i sites.txt reads it"):
        check_sites(["a.example", "sites.txt"])
    assert texts(check_sites(["https://sites.txt", ".", "a\0b", "x" * 5000]))[0] == "https://sites.txt"


@pytest.mark.parametrize(
    ("text", "sites"),
    [
        ("[see http://a.example here](http://b.example)", ["http://b.example"]),
        ("[http://a.example](http://b.example)", ["http://b.example"]),
        ("[b]: http://b.example\n\n[b] and (http://a.example).", ["http://b.example", "http://a.example"]),
        ("| http://a.example | HTTPS://B.example/x?y=1 |", ["http://a.example", "HTTPS://B.example/x?y=1"]),
        ("`http://code.example` <http://a.example>", ["http://a.example"]),
        ("http://a.example\nhttp://b.example", ["http://a.example", "http://b.example"]),
    ],
)
def test_bare_addresses_in_markdown(tmp_path: Path, text: str, sites: list[str]) -> None:
    assert texts(read(tmp_path, text, "a.md")) == sites


def test_a_site_is_no_file_of_sites() -> None:
    with pytest.raises(
        InputError, match=r"^http://a.example/: is a site, not a file of sites; give it without -i$"
    ):
        read_sites("http://a.example/")


@pytest.mark.parametrize("name", ["missing", ".", "a\0b", "x" * 5000])
def test_a_file_that_is_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        read_sites(f"{tmp_path}/{name}")


def test_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "MAX_BYTES", 20)
    monkeypatch.setattr(inputs, "MAX_SITES", 2)
    with pytest.raises(InputError, match="is larger than"):
        read(tmp_path, "a.example\n" * 3)
    with pytest.raises(InputError, match="has more than 2 sites; split it"):
        read(tmp_path, "a.b\nb.b\nc.b")


def test_entities_that_multiply_stay_letters(tmp_path: Path) -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    text = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "ha">{laughs}<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    locs = "<loc>https://a.example/&amp;&#x41;</loc><loc>&l11;</loc><loc>&f;</loc><!-- <loc>https://no.example/</loc> -->"
    rows = read(tmp_path, f"{text}<urlset>{locs}</urlset>", "a.xml")
    assert [(row.text, bool(row.problem)) for row in rows] == [
        ("https://a.example/&A", False), ("&l11;", True), ("&f;", True),
    ]  # fmt: skip


@given(
    st.binary(max_size=300),
    st.sampled_from(["a.txt", "a.csv", "a.jsonl", "a.md", "a.xml", "list", "a.parquet"]),
)
def test_any_bytes_give_rows_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str
) -> None:
    try:
        rows = read(tmp_path_factory.mktemp("any"), data, name)
    except InputError:
        return
    unique(rows)
    assert rows


@given(st.lists(st.text(alphabet='a.,;"\n\t', max_size=20), max_size=20))
def test_rows_of_a_broken_table_are_in_order(
    tmp_path_factory: pytest.TempPathFactory, rows: list[str]
) -> None:
    try:
        found = read(tmp_path_factory.mktemp("any"), "\n".join(["url,x", *rows]), "a.csv")
    except InputError:
        return
    lines = [row.line for row in found]
    assert lines == sorted(set(lines))
    assert lines[0] >= 2


# --- the same site twice ---


def test_the_same_site_is_kept_once() -> None:
    sites = [
        "acme.com",
        "ACME.com",
        "https://acme.com/",
        "http://acme.com",
        "//acme.com",
        "www.acme.com",
        "acme.com/en",
        "N/A",
        "N/A",
    ]
    kept, repeated = unique(check_sites(sites))
    assert texts(kept) == ["acme.com", "www.acme.com", "acme.com/en", "N/A", "N/A"]
    assert texts(repeated) == ["ACME.com", "https://acme.com/", "http://acme.com", "//acme.com"]


def test_named_sites_are_judged_alike() -> None:
    assert [row.problem for row in check_sites(["acme.com", " localhost:80 ", "[::1]", "http://intranet/", ""])] == [
        "", "", "", "", "names no site",
    ]  # fmt: skip


def test_json_is_what_json_says(tmp_path: Path) -> None:
    assert texts(read(tmp_path, json.dumps({"url": "münchen.example"}), "a.jsonl")) == ["münchen.example"]


def test_a_stray_nul_spoils_its_own_row(tmp_path: Path) -> None:
    file = tmp_path / "n.csv"
    file.write_bytes(b"domain\na.example\nb\0c.example\nd.example\n")
    rows = read_sites(str(file))
    assert [(row.line, row.problem) for row in rows] == [
        (2, ""), (3, "has a broken character in it"), (4, ""),
    ]  # fmt: skip
