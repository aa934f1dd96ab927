"""What `pick --keep` keeps beside responses: pages as they were read and records, which save the studio most of its work."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from honeyguide.adapters.files.kept_responses import KeptReader, ResponseFile
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.adapters.store.common.contents import pack
from honeyguide.app.views import kept_pick as kept_pick_module
from honeyguide.app.views.kept_pick import opened_kept_pick
from honeyguide.app.views.what_if import WhatIf
from honeyguide.cli.main import root
from honeyguide.core.url.url import Url
from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROSE = "We repair roofs, every day, for owners of buildings of every size. " * 6
HOME = (
    "<html lang=en><title>Roofs \ud83d</title><meta name=description content=d><link rel=canonical href=/>"
    f"<nav><ul><li><a href=/services title=t>Services</a><ul><li><a href='/a?utm_source=x#f'>A</a></ul></ul></nav>"
    f"<main><h1>Roofs</h1><h2>More</h2><p>{PROSE}<a href=/team rel=me>Team</a><a href=mailto:x@y>Mail</a></main><footer>F"
).encode("utf-8", "surrogatepass")


@pytest.fixture
def file(tmp_path: Path) -> Iterator[str]:
    pages = {f"/{name}": f"<title>{name}</title><p>{PROSE} {name}".encode() for name in ("services", "team")}
    with served(LoopbackServer({path: response(body) for path, body in {"/": HOME, **pages}.items()})) as (
        at,
    ):
        path = str(tmp_path / "kept.db")
        quick = ("--allow-private", "--delay", "0", "--quiet", "-o", str(tmp_path / "picks.jsonl"))
        result = CliRunner().invoke(root, ["pick", at, "--keep", path, *quick])
        assert result.exit_code == 0, result.output
        yield path


class NoReader:
    """A reader that must not be asked."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was read again")


def test_a_page_is_given_as_it_was_read(tmp_path: Path) -> None:
    url, path = Url.parse("https://a.example/"), str(tmp_path / "kept.db")
    with ResponseFile(path, writes=True) as made:
        keeping = KeptReader(made, HtmlReader(), "mark", keeps=True)
        first = keeping.home(HOME, url, None), keeping.page(HOME, url, None)
        giving = KeptReader(made, NoReader(), "mark", keeps=False)
        assert (giving.home(HOME, url, None), giving.page(HOME, url, None)) == first
        assert [one.url.as_linked for one in first[0].links] == [
            one.url.as_linked for one in giving.home(HOME, url, None).links
        ]
        other = KeptReader(made, HtmlReader(), "another mark", keeps=False)
        assert other.page(b"<title>New</title>", url, None).title == "New"  # other code reads for itself


@pytest.mark.parametrize("body", ["[]", "[" * 9_000, '{"url": 1}', "null", '{"main": null}', "\ud83d"])
def test_what_is_not_as_we_write_it_is_read_again(file: str, body: str) -> None:
    text = body.encode("utf-8", "surrogatepass")
    codec, packed = pack(text)
    with closing(sqlite3.connect(file)) as db, db:
        changed = db.execute(
            "UPDATE answer SET codec = ?, size = ?, body = ? WHERE part LIKE 'read as %' OR part = 'record'",
            (codec, len(text), packed),
        )
        assert changed.rowcount >= 4
    with opened_kept_pick(file, keeps=False, replays=True) as kept_pick:
        what_if = WhatIf(kept_pick)
        assert len(asyncio.run(what_if.record_before(what_if.sites[0]))["selected"]) == 2


def test_what_was_kept_is_taken_only_from_the_same_code_and_profile(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened_kept_pick(file, keeps=False, replays=True) as kept_pick:
        what_if = WhatIf(kept_pick)
        site = what_if.sites[0]
        assert what_if.change(what_if.text.replace("name = ", 'name = "company"  # ')) == []
        again = json.loads(
            json.dumps(asyncio.run(what_if.record(site)))
        )  # made anew, by a profile that extends
        like = {"strategy": "portfolio", "profile": "company"}
        kept = kept_pick.record(site, like)
        assert kept is not None
        assert kept["profile_hash"] != "another"
        assert {**again, "profile_hash": kept["profile_hash"]} == kept
        assert kept_pick.record(site, {"profile_hash": "another"}) is None
        assert kept_pick.record("https://nobody.example/", like) is None
        monkeypatch.setattr(kept_pick_module, "code_mark", lambda: "newer")
        assert kept_pick.record(site, like) is None
