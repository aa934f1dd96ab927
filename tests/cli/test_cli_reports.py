"""`crawl --report` and `plan --report`: the whole run, whoever worked on it; the whole plan; nobody else's file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Manual = Callable[[], LoopbackServer]

TOPIC = ("--topic", "asyncio|coroutine")
QUICK = ("--allow-private", "--delay", "0", "--retries", "0")
NOW = ("--now", "2024-06-15T08:00:00Z")


def page(title: str, *links: str) -> bytes:
    listed = " ".join(f'<p><a href="{href}">fire {href}</a></p>' for href in links)
    return response(
        f"<title>{title}</title><main><p>{f'All about {title}. ' * 20}</p>{listed}</main>".encode()
    )


def shown(path: Path) -> str:
    """Read a report in Markdown as a reader does."""
    return path.read_text("utf-8").replace("\\", "")


def part(text: str, heading: str) -> list[list[str]]:
    """Read the cells below a heading."""
    below = text.partition(f"## {heading}")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in below.splitlines() if line.startswith("|")]
    return rows[2:]


# --- crawl ---


def test_the_report_of_a_crawl_is_of_the_whole_run(run: Run, folder: Path, manual: Manual) -> None:
    with served(manual()) as (home,):
        command = (
            "crawl",
            home,
            "--topic",
            "asyncio|library",
            *QUICK,
            "--report",
            "c.md",
            "--report",
            "c.html",
        )
        first = run(*command, "--max-pages", "3")
        assert first.exit_code == 3, first.stderr
        text = shown(folder / "c.md")
        assert "3 pages fetched; 2 (67%) of them relevant; 3 left in the queue" in text
        assert "Stopped: --max-pages is reached; run the same command with a larger one to resume" in text
        assert part(text, "Left in the queue") == [["worth", "3"]]
        second = run(*command)
        assert second.exit_code == 0, second.stderr
        text = shown(folder / "c.md")
        assert "6 pages fetched; 2 (33%) of them relevant; 0 left in the queue" in text
        assert "Stopped: nothing is left to fetch" in text
        assert f"crawl {home} --topic 'asyncio|library'" in text
        assert "Left in the queue" not in text
    best = part(text, "Best pages")
    assert [row[1:3] for row in best] == [["8", "expand"], ["8", "expand"]]
    assert [row[3].rpartition(" ")[2] for row in best] == ["Library", "asyncio"]  # of either process
    assert "+3 topic in title" in best[0][4]
    assert part(text, "Answers") == [["200", "5"], ["404", "1"]]
    assert part(text, "Rejected") == [
        ["extension", "1", "a file, not a page"],
        ["http-404", "1", "answered 404"],
        ["other-site", "1", "leads to another site"],
    ]
    assert part(text, "Other sites") == [["other.example", "1", "1 link"]]
    assert "<b>2 (33%)</b> <small>of them relevant</small>" in (folder / "c.html").read_text("utf-8")


def test_a_run_that_is_complete_is_reported_without_a_request(run: Run, folder: Path, manual: Manual) -> None:
    server = manual()
    with served(server) as (home,):
        assert run("crawl", home, *TOPIC, *QUICK).exit_code == 0
        server.requests.clear()
        assert run("crawl", home, *TOPIC, *QUICK, "--report", "c.md", "--quiet").exit_code == 0
        assert server.paths == []
    assert "6 pages fetched; 1 (17%) of them relevant" in shown(folder / "c.md")


def test_traps_pages_without_an_answer_and_what_was_visited_again(run: Run, folder: Path) -> None:
    pages = {
        "/": page("fire", "/a", "/copy", "/x/x/x/x/x/x/x", "/robbed", "mailto:a@b.example"),
        "/a": page("fire alarms"),
        "/copy": page("fire alarms"),
        "/robots.txt": response(b"User-agent: *\nDisallow: /robbed", kind="text/plain"),
    }  # fmt: skip
    with served(LoopbackServer(pages)) as (home,):
        run("crawl", home, "--topic", "fire", *QUICK)
        assert run("plan", "--store", "honeyguide.db", "--enqueue", "--quiet").exit_code == 0
        result = run("crawl", "--due", *QUICK, "--report", "c.md")
        assert result.exit_code == 0, result.stderr
    text = shown(folder / "c.md")
    traps = {row[0]: row[1:] for row in part(text, "Traps")}
    assert traps["TRAP-3"] == ["1", "a trap: its path goes in circles"]
    assert traps["TRAP-9"] == ["1", "a page with the same content as another"]
    assert part(text, "Links that are no pages") == [["scheme", "1", "mail, telephone, script: no web page"]]
    assert part(text, "Changes") == [["new", "3"], ["unchanged", "3"]]
    assert ["forbidden", "1", "robots.txt disallows it"] in part(text, "Answers")
    assert len([row for row in part(text, "Best pages") if row[3].startswith(f"[{home}a]")]) == 1
    assert "Stopped: nothing more is due" in text


def test_a_report_follows_one_crawl(run: Run, folder: Path, manual: Manual) -> None:
    with served(manual()) as (home,):
        for topic in ("asyncio", "sockets"):
            run("crawl", home, "--topic", topic, *QUICK)
            assert run("plan", "--store", "honeyguide.db", "--enqueue", "--quiet").exit_code == 0
        result = run("crawl", "--due", *QUICK, "--report", "c.md")
        assert result.exit_code == 1
        assert (
            "--report follows one crawl, and pages of several are due; choose one with --run: 1, 2"
            in result.stderr
        )
        assert not (folder / "c.md").exists()
        assert run("crawl", "--due", "--run", "2", *QUICK, "--report", "c.md").exit_code == 0
    assert "Topic: sockets" in shown(folder / "c.md")


def test_without_a_topic_the_first_pages_are_listed(run: Run, folder: Path, manual: Manual) -> None:
    with served(manual()) as (home,):
        assert run("crawl", home, "--traversal", "bfs", *QUICK, "--report", "c.md").exit_code == 0
    text = shown(folder / "c.md")
    assert len(part(text, "First pages")) == 6
    assert "relevant" not in text.lower()
    assert "Topic" not in text


def test_what_pages_say_is_no_markup(run: Run, folder: Path) -> None:
    title = "fire &lt;script&gt;alert(1)&lt;/script&gt; [x](javascript:1) | `"
    with served(LoopbackServer({"/": page(title, "https://evil.example/?<b>")})) as (home,):
        assert (
            run("crawl", home, "--topic", "fire", *QUICK, "--report", "c.md", "--report", "c.html").exit_code
            == 0
        )
    html = (folder / "c.html").read_text("utf-8")
    assert html.count("<script") == 1  # our own
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html
    bare = re.sub(r"\\.", "", (folder / "c.md").read_text("utf-8"))
    assert "<script" not in bare
    assert "](java" not in bare


# --- plan ---


def test_the_report_of_a_plan(run: Run, folder: Path) -> None:
    options = ("--top", "2", "--per-host", "9", "--min-score", "5", "--max-score", "99")
    result = run("plan", "known.csv", *NOW, *options, "--report", "p.md", "--report", "p.html")
    assert (result.exit_code, result.stderr) == (0, "p.md, p.html: 2 URLs\n")
    assert result.stdout == run("plan", "known.csv", *NOW, *options).stdout
    text = shown(folder / "p.md")
    assert text.startswith("# What to visit next\n")
    assert "2 URLs in the plan; 3 ranked; 1 host" in text
    for fact in (
        "Command: honeyguide plan known.csv", "As of: 2024-06-15T08:00:00.000Z", "Policy: heuristic", "Profile: news, ",
        "Asked for: the best 2; scores of 5 and more; scores below 99; at most 9 of each host",
    ):  # fmt: skip
        assert f"- {fact}" in text
    assert part(text, "All URLs")[0] == ["very high", "1", "crawl immediately"]
    assert sum(int(row[1]) for row in part(text, "All URLs")) == 3
    first, second = part(text, "Best first")
    assert first[:3] == ["1", "94", "very high"]
    assert "https://news.example/world" in first[3]
    assert first[4] == "50 base, +20 Changed in last 24h, +14 High topic relevance, +10 Is a hub page"
    assert second[:2] == ["2", "50"]
    assert part(text, "Hosts") == [["news.example", "2"]]
    html = (folder / "p.html").read_text("utf-8")
    assert "<h1>What to visit next</h1>" in html
    assert "+14</b> High topic relevance" in html


def test_the_report_of_a_plan_of_a_store(run: Run, crawled: Path) -> None:
    options = ("--store", "honeyguide.db", "--now", "2035-01-01T00:00:00Z", "--report", "p.md", "--quiet")
    for policy in ("learned", "uniform"):
        result = run("plan", *options, "--policy", policy, "-o", "plan.jsonl", "--enqueue")
        assert result.exit_code == 0, result.stderr
        text = shown(crawled / "p.md")
        assert "- Command: honeyguide plan --store honeyguide.db\n" in text
        assert f"- Policy: {policy}\n" in text
        assert "Asked for" not in text
        assert part(text, "Hosts") == [["docs.example.org", "6"]]
    assert "due 20" in part(text, "Best first")[0][5]


def test_dead_repeated_and_future_rows_are_facts(run: Run, folder: Path) -> None:
    row = "https://news.example/a,1,2030-06-10T08:00:00Z,,0.9,1,true\n"
    head = (folder / "known.csv").read_text("utf-8").partition("\n")[0]
    (folder / "odd.csv").write_text(f"{head}\n{row}{row}", "utf-8")
    assert run("plan", "odd.csv", *NOW, "--report", "p.md").exit_code == 0
    text = shown(folder / "p.md")
    assert "- Times in the future: 1; the first is " in text
    assert "- Repeated: 1; the first is " in text


def test_the_same_plan_gives_the_same_bytes(run: Run, folder: Path) -> None:
    texts = []
    for name in ("a.html", "b.html"):
        run("plan", "known.csv", *NOW, "--report", name)
        texts.append((folder / name).read_bytes())
    assert texts[0] == texts[1]


# --- files ---

COMMANDS = (
    ("crawl", "127.0.0.1:9", "--topic", "x", *QUICK),
    ("plan", "known.csv"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_report_needs_a_name_that_says_how_and_a_place_of_its_own(
    run: Run, folder: Path, command: tuple[str, ...]
) -> None:
    for words, code, told in (
        (("--report", "r.pdf"), 2, "'r.pdf' is neither .html nor .md."),
        (("--report", "r.md", "--report", "./r.md"), 2, "is named twice"),
        (("--report", "no/r.md"), 1, "no/r.md: cannot be written: No such file or directory; check that its folder exists"),
        (("--report", "notes.md"), 1, "notes.md: exists and is no output of this command; choose another --report"),
        (("--report", "home.html"), 1, "home.html: exists and is no output of this command; choose another --report"),
    ):  # fmt: skip
        before = {file.name: file.read_bytes() for file in folder.iterdir()}
        result = run(*command, *words)
        assert (result.exit_code, result.stdout) == (code, "")
        assert told in result.stderr
        assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


@pytest.mark.parametrize("name", ["r.html", "r.md"])
def test_a_report_of_another_command_is_not_replaced(run: Run, folder: Path, name: str) -> None:
    """Whatever a page calls itself: the heading is ours."""
    title = "&lt;h1&gt;What to visit next&lt;/h1&gt; x"
    with served(LoopbackServer({"/": page(title)})) as (home,):
        crawl = ("crawl", home, "--topic", "x", *QUICK, "--report", name)
        assert [run(*crawl).exit_code for _ in range(2)] == [0, 0]
        found = (folder / name).read_bytes()
        result = run("plan", "known.csv", "--report", name)
        assert (result.exit_code, (folder / name).read_bytes()) == (1, found)
        (folder / name).unlink()
        assert [run("plan", "known.csv", "--report", name).exit_code for _ in range(2)] == [0, 0]
        found = (folder / name).read_bytes()
        for command in (crawl, ("pick", "127.0.0.1:9", "--allow-private", "--report", name)):
            assert (run(*command).exit_code, (folder / name).read_bytes()) == (1, found)


def test_a_report_tells_of_a_whole_plan(run: Run) -> None:
    result = run("plan", "known.csv", "--explain", "https://news.example/world", "--report", "p.md")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "-o and --report take a whole plan; leave out --explain." in result.stderr
    result = run("plan", "known.csv", "--report", "known.csv.md", "-o", "known.csv.md", "--format", "csv")
    assert "is named twice" in result.stderr


def test_the_command_of_a_report_names_the_column_of_its_list(run: Run, folder: Path) -> None:
    (folder / "firms.csv").write_text("Name;Web\nAcme;127.0.0.1:9\n", "utf-8")
    run("pick", "-i", "firms.csv", "--column", "web", "--allow-private", "-q", "--report", "r.md")
    assert "honeyguide pick -i firms.csv --column web" in (folder / "r.md").read_text("utf-8")


def test_an_address_in_place_of_a_file_is_told_what_reads_it(run: Run) -> None:
    said = "is an address, not a file; honeyguide pick and crawl read addresses"
    assert run("select", "https://acme.example/").stderr == f"Error: https://acme.example/: {said}\n"
