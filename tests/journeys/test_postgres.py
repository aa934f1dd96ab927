"""A crawl in PostgreSQL is the crawl in SQLite, byte for byte, and nobody ever sees the password of the database."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import subprocess
import sys
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from postgres_server import server

import honeyguide
from honeyguide.app.runs import open_store
from honeyguide.cli.main import root as cli
from honeyguide.core.recrawl.history import Visit
from honeyguide.demo import serve_demo
from honeyguide.errors import SchemaMismatchError, StoreError
from honeyguide.testing.contracts import ask, found, spec
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

SECRET = "not-to-be-seen"  # noqa: S105 - of the server of the tests


def made_up(pages: int) -> dict[str, bytes]:
    """Make a site: each page links a few others, some about fire, one of another site, one that is missing."""
    site = {"https://a.example/robots.txt": b"User-agent: *\nCrawl-delay: 2\n"}
    for page in range(pages):
        digest = hashlib.blake2b(str(page).encode(), digest_size=8).digest()
        links = [f"/{'fire' if number % 3 else 'plain'}/{number * 2 % pages}" for number in digest]
        links += [f"https://b{digest[0]}.example/", f"/list?a={digest[1]}&b=2&c={digest[2]}", "/gone"]
        anchors = "".join(f'<p><a href="{link}">fire {link}</a></p>' for link in links)
        words = " ".join(f"word{number} fire" for number in digest)
        body = f"<title>Page {page}</title><main><h1>Page {page}</h1><p>{words}</p>{anchors}</main>".encode()
        for kind in ("fire", "plain"):
            site[f"https://a.example/{kind}/{page}"] = body
    site["https://a.example/"] = site["https://a.example/fire/0"]
    return site


def everything(store_path: str, pages: dict[str, bytes], **settings: Any) -> str:
    """Crawl twice, resuming the second time, then read all that the store says, as text."""
    clock = FrozenClock(1_750_000_000.0)
    said: list[Any] = []
    for most in (max(1, len(pages) // 4), 500):
        crawl = honeyguide.crawl(
            "https://a.example/", topic="fire", store=store_path, max_pages=most, fetcher=FakeFetcher(pages), clock=clock,
            **settings,
        )  # fmt: skip
        said.append([page.record for page in crawl])
        assert crawl.summary is not None
        said.append(crawl.summary)
    with closing(open_store(store_path, read_only=True)) as store:
        (run,) = store.runs.list()
        ledger = store.ledger(run)
        said.append([row._replace(entry=0) for row in ledger.rows()])
        said.append([*store.history.known()])
        said.append(
            [ledger.counts(), sorted(ledger.urls_per_host().items()), run, ledger.learnt("a.example")]
        )
        digests = sorted(known.digest for known in store.history.known())
        said.append([(ledger.find(digest) or (None, None))[1] for digest in digests])
    return json.dumps(said, default=repr, indent=1)


@pytest.mark.parametrize("traversal", ["focused", "hybrid", "bfs"])
def test_one_worker_gives_the_same_as_in_sqlite(tmp_path: Path, traversal: str) -> None:
    pages = made_up(40)
    in_file = everything(str(tmp_path / "h.db"), pages, traversal=traversal)
    assert everything(server().new_database(), pages, traversal=traversal) == in_file


@pytest.mark.parametrize("traversal", ["focused", "bfs"])
def test_the_demo_site_gives_the_same_as_in_sqlite(tmp_path: Path, traversal: str) -> None:
    folder = files("honeyguide") / "demo" / "site"
    pages = {f"https://a.example{path}": body for path, body in demo_pages(folder, "")}
    in_file = everything(str(tmp_path / "h.db"), pages, traversal=traversal)
    assert everything(server().new_database(), pages, traversal=traversal) == in_file
    assert in_file.count('"action"') >= 10


def demo_pages(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    """Give the pages of the demo site as its server names them: `about.html` is /about."""
    for one in folder.iterdir():
        name = one.name.removesuffix(".html").removesuffix("index")
        if one.is_dir():
            yield from demo_pages(one, f"{path}/{name}")
        else:
            yield f"{path}/{name}", one.read_bytes()


@pytest.mark.slow
def test_five_hundred_pages_give_the_same_as_in_sqlite(tmp_path: Path) -> None:
    pages = made_up(400)
    in_file = everything(str(tmp_path / "h.db"), pages)
    assert everything(server().new_database(), pages) == in_file
    assert in_file.count('"action"') >= 500


def run(*words: str) -> str:
    done = CliRunner().invoke(cli, words)
    assert done.exit_code in (0, 3), done.output
    return done.output


def test_the_commands_work_on_a_database_and_never_show_its_password(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    store = server().new_database()
    said: list[str] = []
    with serve_demo() as root:
        seed = [root, "--allow-private", "--delay", "0", "--topic", "fire|alarm"]
        there = ["--store", store]
        said.append(run("crawl", "-v", *seed, *there, "--max-pages", "5", "-o", str(tmp_path / "p.jsonl")))
        said.append(run("crawl", *seed, *there, "--max-pages", "9", "-o", str(tmp_path / "p.jsonl")))
        said.append(run("workers", *there, "--format", "jsonl"))
        said.append(run("workers", "stop", *there))
        said.append(run("runs", *there, "--format", "jsonl"))
        assert json.loads(said[-1])["fetched"] == 9
        said += [run("export", what, *there) for what in ("pages", "links", "out", "external")]
        assert len(run("export", "pages", *there).splitlines()) == 9
        assert len((tmp_path / "p.jsonl").read_text().splitlines()) == 9
        said.append(run("explain", root, *there))
        said.append(run("plan", *there, "--top", "3", "--enqueue"))
        said.append(run("crawl", "--due", *there, "--allow-private", "--delay", "0"))
        said.append(
            run("watch", *there, "--allow-private", "--delay", "0", "--rounds", "1", "--per-hour", "2")
        )
        said.append(run("runs", "compact", *there))
    (tmp_path / "known.csv").write_text("url,visits\nhttps://a.example/,3\n")
    said.append(run("import", str(tmp_path / "known.csv"), *there))
    assert "1 row imported" in said[-1]
    wrong = CliRunner().invoke(cli, ["runs", "--store", store.replace("/test_", "/missing_")])
    assert wrong.exit_code == 1
    assert "createdb" in wrong.output
    written = [path.read_text() for path in tmp_path.iterdir()]
    assert SECRET not in "".join((*said, wrong.output, caplog.text, *written))


def test_a_database_that_is_not_there_is_one_sentence() -> None:
    pytest.importorskip("psycopg", reason="psycopg is an extra")
    done = CliRunner().invoke(cli, ["runs", "--store", f"postgresql://me:{SECRET}@127.0.0.1:1/web"])
    assert done.exit_code == 1
    assert "postgresql://me@127.0.0.1:1/web" in done.output
    assert "cannot be reached" in done.output
    assert SECRET not in done.output
    assert "Traceback" not in done.output


# --- versions and roles ---

_AS_IN_VERSION_1 = """
DROP TRIGGER run_begins ON run; DROP FUNCTION run_begins; DROP TRIGGER run_is_deleted ON run; DROP FUNCTION run_is_deleted;
DROP SEQUENCE claim_1; ALTER TABLE run ADD COLUMN claims bigint NOT NULL DEFAULT 0; UPDATE run SET claims = 7;
ALTER TABLE known DROP COLUMN latest_a, DROP COLUMN latest_b, DROP COLUMN doubt, DROP COLUMN forgot_at; UPDATE meta SET version = 1;
"""


def changed(store: str, *statements: str) -> None:
    """Change a database behind Honeyguide's back."""
    import psycopg

    with psycopg.connect(store, autocommit=True) as connection:
        connection.execute("SET search_path TO honeyguide")
        for statement in statements:
            connection.execute(statement.encode())


def test_a_store_of_an_older_version_is_brought_up_to_date() -> None:
    url = server().new_database()
    with closing(open_store(url)) as store:
        store.queue(store.runs.begin(spec(), 0.0)).add([found("/a")])
        before = store.history.record(Visit("https://a.example/", 7, 60.0, 200, "x"), 1)
    changed(url, *(one for one in _AS_IN_VERSION_1.split(";") if one.strip()))
    with pytest.raises(SchemaMismatchError, match="older Honeyguide"):
        open_store(url, read_only=True)
    with closing(open_store(url)) as store:
        (run,) = store.runs.list()
        (lease,) = store.queue(run).claim(ask()).leases
        assert lease.claim == 8
        assert store.history.get(7) == before
    open_store(url, read_only=True).close()


def test_a_store_that_is_closed_or_was_opened_to_read_says_so() -> None:
    url = server().new_database()
    store = open_store(url)
    store.close()
    with pytest.raises(StoreError, match="is closed; open_store opens it again"):
        store.runs.list()
    with closing(open_store(url, read_only=True)) as store, pytest.raises(StoreError, match="read_only=True"):
        store.runs.begin(spec(), 0.0)


def test_a_store_of_a_newer_version_is_refused() -> None:
    url = server().new_database()
    open_store(url).close()
    changed(url, "UPDATE meta SET version = 99")
    for read_only in (False, True):
        with pytest.raises(SchemaMismatchError, match=r"newer Honeyguide \(version 99"):
            open_store(url, read_only=read_only)


def test_a_role_that_only_reads_is_enough_to_look(tmp_path: Path) -> None:
    url = server().new_database()
    with serve_demo() as root:
        seed = [root, "--allow-private", "--delay", "0", "--topic", "fire|alarm"]
        run("crawl", *seed, "--store", url, "--max-pages", "4", "-o", str(tmp_path / "p.jsonl"))
        role = f"reader_{os.getpid()}"
        grants = Path(__file__).parents[2] / "docs" / "guides" / "several-machines.md"
        (text,) = re.findall(r"```text\n(CREATE ROLE reader.*?)```", grants.read_text("utf-8"), re.DOTALL)
        changed(url, *(one.replace("reader", role) for one in text.split(";") if one.strip()))
        there = ["--store", url.replace("crawler:", f"{role}:")]
        assert len(run("export", "pages", *there).splitlines()) == 4
        assert json.loads(run("runs", *there, "--format", "jsonl"))["fetched"] == 4
        assert run("workers", *there, "--format", "jsonl") == ""
        assert run("plan", *there, "--top", "2", "--format", "jsonl")
        assert run("explain", root, *there)
        refused = CliRunner().invoke(cli, ["crawl", *seed, *there, "--max-pages", "9"])
    assert refused.exit_code == 1
    assert "may only read" in refused.output
    assert "Traceback" not in refused.output


def test_a_role_that_may_not_do_it_is_one_sentence(tmp_path: Path) -> None:
    psycopg = pytest.importorskip("psycopg", reason="psycopg is an extra")
    url, role = server().new_database(), f"stranger_{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA honeyguide")  # of another role, and empty
        connection.execute(f"CREATE ROLE {role} LOGIN".encode())
    (tmp_path / "known.csv").write_text("url,visits\nhttps://a.example/,3\n")
    there = ["--store", url.replace("crawler:", f"{role}:")]
    command = [sys.executable, "-m", "honeyguide", "import", str(tmp_path / "known.csv"), *there]
    shown = there[1].partition("?")[0].replace(":not-to-be-seen", "")
    for may_not in (
        "this user may not make the schema honeyguide in this database; use the role that owns it",
        "this user may not use the schema honeyguide, which belongs to another role; use that role",
    ):
        refused = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
        assert (refused.returncode, refused.stderr) == (1, f"Error: {shown}: {may_not}\n")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"GRANT CREATE ON DATABASE {connection.info.dbname} TO {role}".encode())
    open_store(url).close()
    unread = CliRunner().invoke(cli, ["runs", *there])
    assert (unread.exit_code, "this user may not read the schema honeyguide" in unread.output) == (1, True)
    unknown = CliRunner().invoke(cli, ["runs", "--store", url.replace("crawler:", "nobody_here:")])
    said = "the server refuses the connection: 'role \"nobody_here\" does not exist'; check the address"
    assert (unknown.exit_code, said in unknown.output) == (1, True), unknown.output
