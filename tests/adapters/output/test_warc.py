"""WARC files that other tools read, also after a kill."""

from __future__ import annotations

import gzip
import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from honeyguide.adapters.output.warc import WarcFile
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.errors import InputError
from honeyguide.ports.fetch import Fetched, Headers, Rendered

iterator = pytest.importorskip("warcio.archiveiterator")  # an extra

PAGE = Url.parse("https://a.example/b?c=1")
BODY = random.Random(4).randbytes(20_000)  # noqa: S311 - bytes that do not compress
RECORD: dict[str, Any] = {
    "fetched_at": "2024-05-01T10:00:00.250Z",
    "depth": 2,
    "parent": "https://a.example/",
    "relevance_score": 7,
}


def page(status: int = 200, body: bytes = BODY) -> Fetched:
    headers = Headers("text/html", etag='"x"\r\nEvil: 1')
    return Fetched(PAGE, PAGE, status, headers, body, hops=("https://a.example/old",), elapsed_s=0.25)


def read(path: Path) -> list[tuple[str, Any, bytes]]:
    with path.open("rb") as file:
        return [
            (one.rec_type, one, one.content_stream().read())
            for one in iterator.ArchiveIterator(file, check_digests="raise")
        ]


@pytest.mark.parametrize("name", ["p.warc.gz", "p.warc"])
def test_records_of_a_page(tmp_path: Path, name: str) -> None:
    file = WarcFile(tmp_path / name, "honeyguide/1 (+https://a.example)")
    file.write(RECORD, page())
    file.close()
    kinds = [kind for kind, _, _ in read(tmp_path / name)]
    assert kinds == ["warcinfo", "response", "request", "metadata"]
    (_, _, info), (_, response, body), (_, request, _), (_, _, metadata) = read(tmp_path / name)
    assert b"only these were kept: Content-Type, ETag" in info
    assert body == BODY
    assert response.rec_headers.get_header("WARC-Target-URI") == "https://a.example/b?c=1"
    assert response.rec_headers.get_header("WARC-Date") == "2024-05-01T10:00:00Z"
    assert response.http_headers.get_header("Content-Length") == str(len(BODY))
    assert response.http_headers.get_header("ETag") == '"x" Evil: 1'
    assert response.http_headers.get_header("Evil") is None
    assert request.http_headers.get_header("User-Agent") == "honeyguide/1 (+https://a.example)"
    assert request.rec_headers.get_header("WARC-Concurrent-To") == response.rec_headers.get_header(
        "WARC-Record-ID"
    )
    assert metadata.decode().splitlines() == [
        "fetchTimeMs: 250", "hopsFromSeed: 2", "via: https://a.example/", "redirectedFrom: https://a.example/old",
        "relevanceScore: 7",
    ]  # fmt: skip


def test_of_a_rendered_page_an_archive_has_what_the_server_sent(tmp_path: Path) -> None:
    file = WarcFile(tmp_path / "p.warc.gz", "x")
    rendered = Rendered(Why("rendered", "rendered"), b"<div id=root>", "text/html; charset=latin-1")
    file.write(RECORD, replace(page(body=b"<p>made by scripts</p>"), rendered=rendered))
    file.close()
    ((response, body),) = [
        (one, body) for kind, one, body in read(tmp_path / "p.warc.gz") if kind == "response"
    ]
    assert body == b"<div id=root>"
    assert response.http_headers.get_header("Content-Type") == "text/html; charset=latin-1"


def test_a_body_that_was_not_kept_is_said_to_be_missing(tmp_path: Path) -> None:
    file = WarcFile(tmp_path / "p.warc.gz", "x")
    file.write(RECORD, page(404, b""))
    file.write(RECORD, page(299, b"x"))
    file.close()
    responses = [one for kind, one, _ in read(tmp_path / "p.warc.gz") if kind == "response"]
    assert [one.rec_headers.get_header("WARC-Truncated") for one in responses] == ["unspecified", None]
    assert [one.http_headers.statusline for one in responses] == ["404 Not Found", "299 Unknown"]


@pytest.mark.parametrize("name", ["p.warc.gz", "p.warc"])
@pytest.mark.parametrize("lost", [0, 1, 4, 30, 300, 5_000])
def test_going_on_after_a_kill(tmp_path: Path, name: str, lost: int) -> None:
    path = tmp_path / name
    for size in (0, lost):
        file = WarcFile(path, "x")
        file.write(RECORD, page())
        file.close()
        os.truncate(path, path.stat().st_size - size)
    file = WarcFile(path, "x")
    file.write(RECORD, page())
    file.close()
    kinds = [kind for kind, _, _ in read(path)]
    assert kinds[:4] == ["warcinfo", "response", "request", "metadata"]
    assert kinds[-3:] == ["response", "request", "metadata"]
    assert len(kinds) in (10, 9, 8, 7)  # what was torn is gone, and nothing else


@pytest.mark.parametrize("name", ["p.warc.gz", "p.warc"])
def test_killed_in_its_first_record_a_file_begins_anew(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WarcFile(path, "x").close()
    whole = path.read_bytes()
    for size in (0, 1, 5, 12, 100, len(whole) - 1):
        path.write_bytes(whole[:size])
        WarcFile(path, "x").close()
        assert [kind for kind, _, _ in read(path)] == ["warcinfo"]


def damaged_files(path: Path) -> list[bytes]:
    """A file of five pages with a byte that is wrong, at each of many places before its last record."""
    file = WarcFile(path, "x")
    for _ in range(5):
        file.write(RECORD, page(body=BODY[:300]))
    file.close()
    data = path.read_bytes()
    last = data.rindex(b"\x1f\x8b\x08\0" if path.suffix == ".gz" else b"WARC/1.1")
    return [
        data[:at] + bytes([data[at] ^ bits]) + data[at + 1 :]
        for at in range(7, last, 97)
        for bits in (4, 255)
    ]


@pytest.mark.parametrize("name", ["p.warc.gz", "p.warc"])
def test_a_damaged_file_is_not_cut(tmp_path: Path, name: str) -> None:
    refused = 0
    for data in damaged_files(tmp_path / name):
        (tmp_path / name).write_bytes(data)
        try:
            WarcFile(tmp_path / name, "x").close()  # a body may say anything, if it is not packed
        except InputError:
            refused += 1
        assert (tmp_path / name).read_bytes() == data
    assert refused > 10


@pytest.mark.parametrize("name", ["p.warc.gz", "p.warc"])
def test_a_length_that_leads_behind_the_end_is_damage(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    file = WarcFile(path, "x")
    for _ in range(3):
        file.write(RECORD, page(body=b"x" * 100))
    file.close()
    data = path.read_bytes()
    if name.endswith("gz"):  # all records in one pack, which is torn
        data = gzip.compress(gzip.decompress(data), mtime=0)[:-20]
    else:
        data = data.replace(b"Content-Length: ", b"Content-Length: 999999", 2)
    path.write_bytes(data)
    with pytest.raises(InputError, match="choose another --warc"):
        WarcFile(path, "x")
    assert path.read_bytes() == data


@pytest.mark.parametrize("name", ["p.warc.gz", "p.warc"])
@pytest.mark.parametrize(
    "data",
    [
        b"my notes",
        gzip.compress(b"my backup" * 1_000, mtime=0),
        gzip.compress(BODY, mtime=0)[:15_000],
        gzip.compress(b"WARC of the worlds", mtime=0),
        b"\n",
    ],
    ids=["text", "packed", "torn", "near", "short"],
)
def test_other_files_are_refused(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match="is no such WARC file"):
        WarcFile(tmp_path / name, "x")
    assert (tmp_path / name).read_bytes() == data
    with pytest.raises(InputError, match="cannot be written"):
        WarcFile(tmp_path / "nowhere" / name, "x")


def test_what_is_no_file_is_refused() -> None:
    with pytest.raises(InputError, match="/dev/null: is not a regular file; choose another --warc"):
        WarcFile(Path(os.devnull), "x")
