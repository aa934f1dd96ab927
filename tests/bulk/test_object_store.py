"""Parquet in an object store, which polars reads: a stand-in for S3 on this machine."""

from __future__ import annotations

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from honeyguide import InputError, plan_file

pl = pytest.importorskip("polars")  # an extra

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROWS = {
    "url": [f"https://a.example/{n}" for n in range(50)],
    "topic_relevance": [(n > 46) / 2 for n in range(50)],
}


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    pl.DataFrame(ROWS).write_parquet(tmp_path / "known.parquet")
    data = (tmp_path / "known.parquet").read_bytes()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.answer(data)

        def do_GET(self) -> None:
            asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            self.answer(data[int(asked[1]) : int(asked[2]) + 1] if asked else data, asked)

        def answer(self, body: bytes, asked: re.Match[str] | None = None) -> None:
            is_there = self.path.partition("?")[0] == "/bucket/known.parquet"
            self.send_response((206 if asked else 200) if is_there else 404)
            self.send_header("Content-Length", str(len(body) if is_there else 0))
            self.send_header("Last-Modified", "Mon, 10 Jun 2024 08:00:00 GMT")
            self.send_header("ETag", '"1"')
            if asked:
                self.send_header("Content-Range", f"bytes {asked[1]}-{asked[2]}/{len(data)}")
            self.end_headers()
            if is_there and self.command == "GET":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        settings = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}", "AWS_ALLOW_HTTP": "true", "AWS_REGION": "here",
            "AWS_ACCESS_KEY_ID": "made-up", "AWS_SECRET_ACCESS_KEY": "made-up",
        }  # fmt: skip
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        yield "s3://bucket"
        server.shutdown()
        thread.join()


def test_known_urls_of_an_object_store_are_ranked(bucket: str) -> None:
    plan = plan_file(f"{bucket}/known.parquet", top=3)
    assert plan.rows == 50
    assert [entry.scored.url for entry in plan.entries] == [f"https://a.example/{n}" for n in (47, 48, 49)]


def test_other_formats_and_objects_that_are_not_there_are_a_sentence(bucket: str) -> None:
    with pytest.raises(InputError, match="only Parquet is read"):
        plan_file(f"{bucket}/known.csv")
    with pytest.raises(
        InputError, match=r"cannot be read: Object at location other\.parquet not found; check"
    ):
        plan_file(f"{bucket}/other.parquet")
