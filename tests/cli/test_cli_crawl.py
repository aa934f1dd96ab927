"""`honeyguide crawl`, `runs` and `export`, against real HTTP on loopback."""

from __future__ import annotations

import asyncio
import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]

TOPIC = ("--topic", "asyncio|coroutine")
QUICK = ("--allow-private", "--delay", "0", "--retries", "0")


def page(title: str, *links: tuple[str, str]) -> bytes:
    text = f"All about {title}, in a few words that nothing else says. " * 12
    listed = " ".join(f'<p><a href="{href}">{anchor}</a></p>' for href, anchor in links)
    html = f"<title>{title}</title><h1>{title}</h1><main><p>{text}</p>{listed}</main>"
    return response(html.encode(), kind="text/html; charset=utf-8")


def manual() -> LoopbackServer:
    return LoopbackServer(
        {
            "/": page("Manual", ("/library", "Library"), ("/about", "About"), ("/m.pdf", "PDF"), ("https://other.example/x", "Other")),
            "/library": page("Library", ("/asyncio", "asyncio"), ("/tasks", "coroutines and tasks"), ("/socket", "sockets")),
            "/asyncio": page("asyncio", ("/tasks", "coroutines and tasks"), ("/library", "Library")),
            "/tasks": page("coroutines", ("/asyncio", "asyncio")),
            "/socket": page("Sockets", ("/gone", "gone"), ("mailto:a@b.example", "mail")),
            "/about": page("About", ("/", "Home")),
            "/hidden": page("Hidden asyncio"),
        }
    )  # fmt: skip


def records(path: Path | str) -> list[dict[str, Any]]:
    text = path.read_text("utf-8") if isinstance(path, Path) else path
    return [json.loads(line) for line in text.splitlines()]


def paths(path: Path | str) -> list[str]:
    return ["/" + record["url"].split("/", 3)[3] for record in records(path)]


ALL = {"/", "/library", "/asyncio", "/tasks", "/socket", "/about", "/gone"}


def test_pages_in_the_order_of_the_crawl_and_a_summary(run: Run) -> None:
    with served(manual()) as (home,):
        result = run("crawl", home, *TOPIC, *QUICK)
    assert result.exit_code == 0, result.stderr
    assert set(paths(result.stdout)) == ALL
    assert paths(result.stdout)[0] == "/"
    assert paths(result.stdout).index("/asyncio") < paths(result.stdout).index("/socket")
    first = records(result.stdout)[0]
    assert (first["status"], first["depth"], first["parent"], first["action"]) == (200, 0, None, "seed")
    assert "links" not in first
    assert "7 pages, 2 relevant (29%)" in result.stderr
    assert "Stopped: nothing is left to fetch." in result.stderr
    assert "1  other-site  leads to another site" in result.stderr
    assert "1  http-404" in result.stderr
    assert "Links that are no pages: 1 scheme." in result.stderr


@pytest.mark.usefixtures("folder")
def test_a_command_line_may_hold_bytes_that_are_no_text(run: Run) -> None:
    for given in (("--topic", "a\udcff"), (*TOPIC, "--include", "a\udcff")):
        result = run("crawl", "https://a.example/", *given)
        assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
        assert "half a character" in result.stderr
    with served(manual()) as (home,):
        assert (
            run("crawl", home, "https://a.example/\udcff", *TOPIC, *QUICK, "--max-pages", "1").exit_code == 3
        )
    assert "a.example/" in run("runs").stdout


@pytest.mark.usefixtures("folder")
def test_patterns_may_be_repeated_and_all_apply(run: Run) -> None:
    patterns = (
        "--include",
        "/library",
        "--include",
        "asyncio|socket|tasks",
        "--exclude",
        "/tasks",
        "--exclude",
        "/socket",
    )
    with served(manual()) as (home,):
        result = run("crawl", home, *TOPIC, *QUICK, *patterns)
        rejected = records(run("export", "out").stdout)
    assert result.exit_code == 0, result.stderr
    assert paths(result.stdout) == ["/", "/library", "/asyncio"]
    decided = {record["url"].rpartition("/")[2]: record["rule"] for record in rejected}
    assert {decided["tasks"], decided["socket"]} == {"exclude"}
    assert decided["about"] == "include"
    assert "--include /library --include" in run("runs").stdout


def test_a_budget_is_exit_code_3_and_the_same_command_goes_on(run: Run, folder: Path) -> None:
    server = manual()
    with served(server) as (home,):
        first = run("crawl", home, *TOPIC, *QUICK, "--max-pages", "3", "-o", "p.jsonl")
        assert first.exit_code == 3
        assert "Stopped: --max-pages is reached" in first.stderr
        assert "Queued: " in first.stderr
        assert len(server.paths) == 4  # robots.txt, too
        start = paths(folder / "p.jsonl")
        assert len(start) == 3
        second = run("crawl", home, *TOPIC, *QUICK, "-o", "p.jsonl")
    assert second.exit_code == 0, second.stderr
    assert "7 pages, 3 of them before" in second.stderr
    assert paths(folder / "p.jsonl")[:3] == start
    assert sorted(paths(folder / "p.jsonl")) == sorted(ALL)
    assert first.stdout == second.stdout == ""
    with served(manual()):
        again = run("crawl", home, *TOPIC, *QUICK, "-o", "p.jsonl")
    assert again.exit_code == 0
    assert len(paths(folder / "p.jsonl")) == 7


def test_a_file_is_mended_from_the_store(run: Run, folder: Path) -> None:
    file = folder / "p.jsonl"
    with served(manual()) as (home,):
        command = ("crawl", home, *TOPIC, *QUICK, "-o", "p.jsonl", "--quiet")
        run(*command)
        whole = file.read_bytes()
        lines = whole.splitlines(keepends=True)
        stale = lines[-1].replace(b'"fetched_at": "2', b'"fetched_at": "1')
        states = [
            b"",
            lines[0] + stale,  # fetched, not committed, and then fetched by a process without this file
            stale.join(lines[:3]),
            b"".join(lines[:3]),
            b"".join(lines[:3]) + lines[3][:40],
            lines[0][:5],
            b"".join(lines[3:]),
            b"".join(reversed(lines)),
        ]
        for state in states:
            file.write_bytes(state)
            result = run(*command)
            assert (result.exit_code, result.stderr) == (0, "")
            assert file.read_bytes() == whole
        file.unlink()
        run(*command)
        assert file.read_bytes() == whole
    assert not list(folder.glob("*.part"))


def test_files_that_are_not_of_this_crawl_are_left_alone(run: Run, folder: Path) -> None:
    file = folder / "p.jsonl"
    with served(manual()) as (home,):
        run("crawl", home, *TOPIC, *QUICK, "-o", "p.jsonl")
        other = run("crawl", home, "--topic", "socket", *QUICK, "-o", "p.jsonl")
        assert (other.exit_code, len(records(file))) == (1, 7)
        assert "holds pages of another crawl" in other.stderr
        for content in ("my notes", '{"site": 1}\n', "my notes\n", "{\n}", "\nmy notes\n"):
            file.write_text(content)
            for more in ((), ("--restart",)):
                result = run("crawl", home, *TOPIC, *QUICK, "-o", "p.jsonl", *more)
                assert result.exit_code == 1
                assert "is no output of this command" in result.stderr
                assert file.read_text() == content
        (folder / "p.csv").write_text("name,domain\n")
        assert run("crawl", home, *TOPIC, *QUICK, "-o", "p.csv").exit_code == 1
        assert (folder / "p.csv").read_text() == "name,domain\n"
        assert run("crawl", home, *TOPIC, *QUICK, "-o", str(folder)).exit_code == 1


def test_fresh_starts_over(run: Run, folder: Path) -> None:
    server = manual()
    with served(server) as (home,):
        command = ("crawl", home, *TOPIC, *QUICK, "-o", "p.jsonl", "--quiet")
        run(*command)
        asked = len(server.paths)
        assert run(*command, "--restart").exit_code == 0
        assert len(server.paths) == 2 * asked
    assert len(records(folder / "p.jsonl")) == 7
    assert [record["run"] for record in records(run("runs").stdout)] == [1, 2]


@pytest.mark.parametrize("name", ["p.jsonl", "p.csv"])
def test_what_cannot_begin_leaves_the_old_file(run: Run, folder: Path, name: str) -> None:
    with served(manual()) as (home,):
        command = ("crawl", home, *TOPIC, *QUICK, "-o", name, "--quiet")
        run(*command)
        old = (folder / name).read_bytes()
        for more in ((), ("--restart",)):
            result = run(*command, *more, "--sitemap", f"{home}missing.xml")
            assert result.exit_code == 1, result.stderr
            assert (folder / name).read_bytes() == old


def test_content_is_read_in_the_encoding_that_the_header_names(run: Run, folder: Path) -> None:
    text = "Пожарная сигнализация и эвакуация людей. " * 12
    body = f"<title>asyncio</title><main><h1>asyncio</h1><p>{text}</p></main>".encode("cp1251")
    site = LoopbackServer({"/": response(body, kind="text/html; charset=windows-1251")})
    with served(site) as (home,):
        run("crawl", home, *TOPIC, *QUICK, "-o", "p.jsonl", "--quiet", "--content")
    assert "Пожарная сигнализация" in records(folder / "p.jsonl")[0]["markdown"]


def test_content_is_markdown_unless_text_follows_and_a_seed_is_not_taken_for_it(run: Run) -> None:
    with served(manual()) as (home,):
        markdown = run("crawl", "--content", home, *TOPIC, *QUICK, "--quiet", "--store", "a.db")
        text = run("crawl", "--content", "text", home, *TOPIC, *QUICK, "--quiet", "--store", "b.db")
    assert (markdown.exit_code, text.exit_code) == (0, 0)
    first, plain = records(markdown.stdout)[0], records(text.stdout)[0]
    assert first["is_cut"] is False
    assert "](" in first["markdown"]
    assert "text" not in first
    assert "](" not in plain["text"]
    assert "markdown" not in plain


def test_links_and_content_belong_to_the_record(run: Run, folder: Path) -> None:
    with served(manual()) as (home,):
        command = ("crawl", home, *TOPIC, *QUICK, "-o", "p.jsonl", "--quiet", "--links", "--content")
        run(*command, "--max-pages", "2")
        half = (folder / "p.jsonl").read_bytes()
        assert run(*command, "--markdown", "pages").exit_code == 0
        whole = (folder / "p.jsonl").read_bytes()
        assert whole.startswith(half)
        first, *_ = records(folder / "p.jsonl")
        assert first["markdown"].startswith("# Manual\n\nAll about Manual, in a few words")
        link = next(one for one in first["links"] if one["url"].endswith("/library"))
        assert (link["anchor_text"], link["position"], link["relevance_score"]) == ("Library", "main", 3)
        assert [reason["rule"] for reason in link["points"]] == ["in-main"]
        gone = next(one for one in records(folder / "p.jsonl") if one["url"].endswith("/gone"))
        assert (gone["markdown"], gone["links"]) == (None, None)
        (folder / "p.jsonl").write_bytes(half)
        assert "5 pages were fetched without their content" in run(*command).stderr
        assert [record["markdown"] is None for record in records(folder / "p.jsonl")] == [False] * 2 + [
            True
        ] * 5
        (folder / "p.jsonl").write_bytes(whole)
        run("crawl", home, *TOPIC, *QUICK, "-o", "p.jsonl", "--quiet")
        written = records(folder / "p.jsonl")
        assert len(written) == 7
        assert all("markdown" not in record and "links" not in record for record in written)
    files = sorted(path.name for path in (folder / "pages").rglob("*.md"))
    assert files == ["about.md", "asyncio.md", "socket.md", "tasks.md"]


def test_warc(run: Run, folder: Path) -> None:
    pytest.importorskip("warcio")  # an extra
    with served(manual()) as (home,):
        assert run("crawl", home, *TOPIC, *QUICK, "--warc", "p.warc.gz", "--quiet").exit_code == 0
    assert (folder / "p.warc.gz").stat().st_size > 1_000


def test_csv_is_written_from_the_store(run: Run, folder: Path) -> None:
    with served(manual()) as (home,):
        command = ("crawl", home, *TOPIC, *QUICK, "-o", "p.csv", "--quiet")
        assert run(*command, "--max-pages", "2").exit_code == 3
        assert run(*command).exit_code == 0
        printed = run("crawl", home, *TOPIC, *QUICK, "--format", "csv", "--restart", "--quiet").stdout
    with (folder / "p.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["url"] for row in rows} == {row["url"] for row in csv.DictReader(printed.splitlines())}
    assert next(row for row in rows if row["url"].endswith("/asyncio"))["points"].startswith(
        "topic in title (+3)"
    )


def test_a_table_for_a_person(run: Run) -> None:
    with served(manual()) as (home,):
        result = run("crawl", home, *TOPIC, *QUICK, "--format", "table", "--quiet")
        assert "expand         /asyncio  asyncio" in result.stdout
        assert "dropped 404    /gone" in result.stdout
        again = run("crawl", home, *TOPIC, *QUICK, "--format", "table", "--quiet")
    assert again.stdout == ""
    assert "honeyguide export pages prints them" in again.stderr


# --- seeds ---


def test_a_sitemap_is_queued_by_what_its_urls_say(run: Run) -> None:
    server = manual()
    with served(server) as (home,):
        listed = f"<url><loc>{home}hidden</loc><lastmod>2024-05-01</lastmod></url><url><loc>{home}m.pdf</loc></url>"
        server.answers["/s.xml"] = response(f"<urlset>{listed}</urlset>".encode(), kind="text/xml")
        server.answers["/robots.txt"] = response(f"Sitemap: {home}s.xml".encode(), kind="text/plain")
        for number, (seeds, sitemap) in enumerate(
            [((home,), "auto"), ((home,), f"{home}s.xml"), ((), f"{home}s.xml")], 1
        ):
            result = run(
                "crawl", *seeds, "--sitemap", sitemap, *TOPIC, *QUICK, "--store", f"{number}.db", "--quiet"
            )
            assert result.exit_code == 0, result.stderr
            assert set(paths(result.stdout)) == ALL | {"/hidden"}
        told = run("explain", f"{home}hidden", "--store", "1.db", "--format", "table").stdout
        assert "in a sitemap, last changed 2024-05-01" in told
        out = records(run("export", "out", "--rule", "extension", "--store", "2.db").stdout)
        assert [one["url"] for one in out] == [f"{home}m.pdf"]


def test_sitemaps_that_cannot_be_had(run: Run, folder: Path) -> None:
    with served(manual()) as (home,):
        missing = run("crawl", home, "--sitemap", f"{home}s.xml", *TOPIC, *QUICK)
        assert (missing.exit_code, missing.stdout) == (1, "")
        assert "s.xml: cannot be fetched: answered 404" in missing.stderr
        unnamed = run("crawl", home, "--sitemap", "auto", *TOPIC, *QUICK)
        assert unnamed.exit_code == 0
        assert "names no sitemap" in unnamed.stderr
        (folder / "index.xml").write_text(
            f"<sitemapindex><sitemap><loc>{home}s.xml</loc></sitemap></sitemapindex>"
        )
        index = run("crawl", home, "--sitemap", "index.xml", *TOPIC, *QUICK, "--quiet", "--restart")
        assert index.exit_code == 0
        assert "answered 404" in index.stderr


def test_sitemaps_are_read_within_the_time_of_the_crawl(run: Run) -> None:
    async def silent(_writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    server = manual()
    server.answers["/s.xml"] = silent
    with served(server) as (home,):
        asked = ("crawl", home, "--sitemap", f"{home}s.xml", *TOPIC, *QUICK)
        result = run(*asked, "--max-time", "0.2", "--timeout", "60")
        assert "sitemaps took more than 0.05 s; the others are skipped" in result.stderr
        assert set(paths(result.stdout)) <= ALL  # the rest of the time is for pages
        del server.answers["/s.xml"]
        goes_on = run(*asked[:2], *TOPIC, *QUICK, "--quiet")
        assert set(paths(result.stdout)) | set(paths(goes_on.stdout)) == ALL


def test_a_bare_name_is_the_first_address_that_answers(run: Run) -> None:
    # Section 7: https, https with www, http. A server that answers in the clear is found, and asked once more than told.
    server = manual()
    with served(server) as (home,):
        bare = home.removeprefix("http://")
        result = run("crawl", bare, *TOPIC, *QUICK, "--quiet")
        assert result.exit_code == 0, result.stderr
        assert set(paths(result.stdout)) == ALL
        assert server.paths.count("/") == 2
        again = run("crawl", bare, *TOPIC, *QUICK, "--quiet")
        assert (again.exit_code, again.stdout) == (0, "")
        assert server.paths.count("/") == 2  # it is known where that is
    gone = run("crawl", "127.0.0.1:9", *TOPIC, *QUICK, "--quiet", "--store", "other.db")
    assert gone.exit_code == 3
    assert "https://127.0.0.1:9/" in gone.stderr


def test_seeds_of_a_list(run: Run, folder: Path) -> None:
    with served(manual()) as (home,):
        (folder / "seeds.txt").write_text(f"{home}asyncio\n{home}socket\nnot a seed\n")
        result = run("crawl", "-i", "seeds.txt", *TOPIC, *QUICK, "--max-depth", "0", "--quiet")
    assert result.exit_code == 0
    assert paths(result.stdout) == ["/asyncio", "/socket"]
    assert "1 seed skipped; the first: seeds.txt line 3" in result.stderr


def test_include_exclude_and_depth(run: Run) -> None:
    with served(manual()) as (home,):
        result = run(
            "crawl", home, *TOPIC, *QUICK, "--exclude", "about|socket", "--max-depth", "1", "--quiet"
        )
        assert set(paths(result.stdout)) == {"/", "/library"}
        put_out = records(run("export", "out").stdout)
    assert {one["rule"] for one in put_out} == {"exclude", "max-depth", "extension", "other-site"}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "Give a SEED"),
        (("http://127.0.0.1:9/",), 2, "focused follows a topic: give one, such as --topic"),
        (
            ("http://127.0.0.1:9/", "--traversal", "hybrid"),
            2,
            "--traversal bfs and --traversal dfs need none",
        ),
        (("a.example", *TOPIC, "-o", "a.csv", "--links"), 2, "write JSON lines or Parquet, -o FILE.jsonl"),
        (
            ("a.example", *TOPIC, "--format", "csv", "--content"),
            2,
            "A table has no room for --links and --content",
        ),
        (("a.example", *TOPIC, "-o", "a.docx"), 2, "'a.docx' should end in .jsonl, .ndjson, .csv"),
        (("ftp://a.example", *TOPIC), 1, "neither http nor https"),
        (("a.example", "--topic", "(a"), 1, "pattern"),
        (("a.example", *TOPIC, "--max-pages", "0"), 2, "max-pages"),
        (
            ("a.example", *TOPIC, "--traversal", "x"),
            1,
            "traversal: has no 'x'; it has hybrid, focused, focused-fixed, bfs, dfs",
        ),
        (("a.example", *TOPIC, "-o", "x.jsonl", "--format", "table"), 2, "A table is for the terminal"),
        (("a.example", *TOPIC, "-o", "honeyguide.db"), 2, "is named twice"),
        (("-i", "urls.txt", *TOPIC, "-o", "urls.txt"), 2, "is named twice"),
        (("a.example", *TOPIC, "--store", "home.html"), 1, "is no Honeyguide store"),
        (("a.example", *TOPIC, "--store", "no/such/folder.db"), 1, "cannot be opened"),
        (("a.example", *TOPIC, "--sitemap", "home.html"), 1, "lists no page"),
        (("a.example", *TOPIC, "--user-agent", "\n"), 1, "user_agent"),
    ],
)
def test_bad_arguments(run: Run, arguments: tuple[str, ...], code: int, words: str) -> None:
    result = run("crawl", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert words in result.stderr


def test_a_seed_that_cannot_be_had_is_partial(run: Run) -> None:
    server = LoopbackServer({"/robots.txt": response(b"User-agent: *\nDisallow: /", kind="text/plain")})
    with served(server) as (home,):
        result = run("crawl", home, *TOPIC, *QUICK)
    assert result.exit_code == 3
    assert f"Note: {home}: robots.txt disallows it" in result.stderr


# --- runs, export ---


def test_runs(run: Run, crawled: Path) -> None:
    assert crawled.exists()
    (record,) = records(run("runs").stdout)
    assert (record["run"], record["fetched"], record["stopped"]) == (1, 6, "complete")
    assert (record["topic"], record["profile"]) == ("asyncio|coroutine", "docs")
    shown = run("runs", "--format", "table").stdout
    assert "complete" in shown
    assert record["started_at"][:16].replace("T", " ") in shown  # two runs of one command differ in it


@pytest.mark.parametrize("command", [("runs",), ("export", "pages"), ("explain", "a.example")])
def test_a_store_that_is_not_there_is_not_made(run: Run, folder: Path, command: tuple[str, ...]) -> None:
    result = run(*command)
    assert result.exit_code == 1
    assert "no such store" in result.stderr
    assert not (folder / "honeyguide.db").exists()


def test_export(run: Run, crawled: Path) -> None:
    pages = records(run("export", "pages").stdout)
    assert pages[0]["url"] == "https://docs.example.org/"
    assert len(pages) == 6
    links = records(run("export", "links").stdout)
    assert {one["state"] for one in links} == {"done", "rejected"}
    (external,) = records(run("export", "external").stdout)
    assert (external["site"], external["seen"]) == ("other.example", 1)
    out = run("export", "out", "-o", "out.csv")
    assert (out.exit_code, out.stdout) == (0, "")
    with (crawled / "out.csv").open(newline="") as file:
        assert {row["rule"] for row in csv.DictReader(file)} == {"other-site", "extension", "http-404"}
    assert run("export", "pages", "--rule", "x").exit_code == 2
    assert "there is no run 9" in run("export", "pages", "--run", "9").stderr
    assert "cannot be written" in run("export", "pages", "-o", "no/such/file").stderr


def test_export_refuses_what_it_would_drop_in_silence(run: Run, crawled: Path) -> None:
    result = run("export", "out", "--rule", "nope")
    assert (result.exit_code, result.stdout) == (2, "")
    words = "--rule: no URL was rejected by 'nope'; rules that did: extension, http-404, other-site."
    assert result.stderr.endswith(f"Error: Invalid value for {words}\n")
    assert len(records(run("export", "out", "--rule", "other-site").stdout)) == 1
    result = run("export", "pages", "-o", "x.docx")
    assert (result.exit_code, "'x.docx' should end in" in result.stderr) == (2, True)
    assert not (crawled / "x.docx").exists()
    assert run("export", "pages", "-o", "x.docx", "--format", "csv").exit_code == 0


def test_the_column_of_seeds_can_be_named(run: Run, folder: Path) -> None:
    with served(manual()) as (home,):
        (folder / "seeds.csv").write_text(f"start,url\n{home},https://other.example/\n", "utf-8")
        crawl = ("crawl", "-i", "seeds.csv", *TOPIC, *QUICK, "--max-pages", "1")
        result = run(*crawl, "--column", "start")
        assert paths(result.stdout) == ["/"]
        unknown = run(*crawl, "--column", "begin")
    assert "--column start" in run("runs").stdout
    assert (unknown.exit_code, unknown.stderr.count("\n")) == (1, 1)
    assert run("crawl", home, "--column", "start", *TOPIC).exit_code == 2
