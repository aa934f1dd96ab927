"""Reports of crawls and plans: everything that is known, nothing that a page could do with it, and never too much."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from evil_text import ALLOWED, ATTRIBUTES, EVIL, TOOL_ATTRIBUTES, TOOLS, Tags

from honeyguide.core.crawl.frontier import Counts
from honeyguide.errors import InputError
from honeyguide.report import write_sheet
from honeyguide.report.crawl import CrawlReportData, crawl_sheet
from honeyguide.report.plan import PlanReportData, plan_sheet
from honeyguide.report.sheet import HEADINGS, MAX_LINES, MAX_PAGES, CountList, Pages, Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from honeyguide.core.records import Record

RUN = {
    "schema": 2, "run": 3, "command": "crawl https://a.example/ --topic fire", "topic": "fire", "profile": "docs",
    "profile_hash": "5a14", "fetched": 9, "started_at": "2026-01-01T00:00:00.000Z",
    "updated_at": "2026-01-01T00:01:00.000Z", "stopped": "max_pages",
}  # fmt: skip
STATES = {"queued": 5, "leased": 1, "done": 3, "rejected": 7}


def page(path: str, score: float | None, **more: Any) -> Record:
    reasons = [
        {"rule": "title", "points": score or 0, "reason": "topic in title"},
        {"rule": "quiet", "points": 0, "reason": "pays nothing"},
    ]
    return {
        "schema": 2, "url": f"https://a.example{path}", "final_url": None, "status": 200, "depth": 1, "parent": None,
        "relevance_score": score, "topic_relevance": None if score is None else score / 10, "points": reasons, "action": "expand", "lane": "deep", "priority": 8,
        "title": f"Title of {path}", "fetched_at": "2026-01-01T00:00:30.000Z", "elapsed_s": 0.1, "digest": "9c",
        **more,
    }  # fmt: skip


def gone(path: str, rule: str, status: int | None) -> Record:
    reason = {"rule": rule, "points": 0, "reason": "was not to be had"}
    return page(path, None, status=status, action="dropped", points=[reason], title=None)


PAGES = [
    page("/", 2, depth=0, action="seed"),
    page("/alarms", 9),
    page("/history", 0, action="tunnel"),
    gone("/gone", "http-404", 404),
    gone("/slow", "timed-out", None),
]
OUTSIDE: list[Record] = [
    {"url": "https://b.example/1", "site": "b.example", "seen": 2},
    {"url": "https://b.example/2", "site": "b.example", "seen": 1},
    {"url": "https://c.example/", "site": "c.example", "seen": 7},
    {"url": "https://\ud800/", "site": None, "seen": None},
]


def told(pages: Sequence[Record] = PAGES, outside: Sequence[Record] = OUTSIDE, **run: Any) -> CrawlReportData:
    out = {"other-site": 4, "irrelevant": 2, "TRAP-5": 1}
    return CrawlReportData(
        {**RUN, **run},
        "--max-pages is reached",
        Counts(STATES, {"far": 4, "deep": 1}, out, {"TRAP-7": 3, "scheme": 6}, 9, 4, 2),
        iter(pages),
        iter(outside),
        {"Put out": out, "Fetched, and their links not followed": {"TRAP-7": 3}, "No pages": {"scheme": 6}},
        lambda rule: f"words of {rule}",
    )


def part(sheet: Sheet, heading: str) -> CountList:
    found = next(part for part in sheet.parts if part.heading.startswith(heading))
    assert isinstance(found, CountList)
    return found


def best(sheet: Sheet) -> Pages:
    found = sheet.parts[0]
    assert isinstance(found, Pages)
    return found


def lines(tally: CountList) -> list[tuple[str, int, str]]:
    return [(line.name, line.count, line.words) for line in tally.lines]


def written(sheet: Sheet, path: Path) -> str:
    write_sheet(sheet, path)
    return path.read_text("utf-8")


# --- crawls -------------------------------------------------------------------------------------------------------


def test_a_crawl_in_numbers_and_words() -> None:
    sheet = crawl_sheet(told())
    assert sheet.figures == (
        ("9", "pages fetched"), ("1 (11%)", "of them relevant"), ("6", "left in the queue"),
        ("7", "rejected"), ("4", "URLs of other sites"),
    )  # fmt: skip
    assert sheet.facts == (
        ("Stopped", "--max-pages is reached"), ("Topic", "fire"), ("Profile", "docs, 5a14"), ("Run", "3"),
        ("Begun", "2026-01-01T00:00:00.000Z"), ("Last worked on", "2026-01-01T00:01:00.000Z"), ("Due again", "2"),
    )  # fmt: skip
    assert lines(part(sheet, "Answers")) == [
        ("200", 3, ""),
        ("404", 1, ""),
        ("timed-out", 1, "words of timed-out"),
    ]
    assert lines(part(sheet, "What was done")) == [
        ("dropped", 2, ""),
        ("expand", 1, ""),
        ("seed", 1, ""),
        ("tunnel", 1, ""),
    ]
    assert lines(part(sheet, "Left in the queue")) == [("deep", 1, ""), ("far", 4, "")]
    assert lines(part(sheet, "Put out")) == [
        ("other-site", 4, "words of other-site"),
        ("irrelevant", 2, "words of irrelevant"),
    ]
    assert lines(part(sheet, "Traps")) == [("TRAP-7", 3, "words of TRAP-7"), ("TRAP-5", 1, "words of TRAP-5")]
    assert lines(part(sheet, "Other sites")) == [
        ("b.example", 2, "3 links"),
        ("?", 1, "0 links"),
        ("c.example", 1, "7 links"),
    ]
    assert lines(part(sheet, "Relevant pages")) == [("pages 1 to 5", 1, "of 5")]


def test_the_best_pages_come_first_with_what_they_were_paid() -> None:
    rows = best(crawl_sheet(told())).rows
    assert [(row.rank, row.url, row.score, row.label) for row in rows] == [
        (1, "https://a.example/alarms", 9, "expand"),
        (2, "https://a.example/", 2, "seed"),
    ]
    assert rows[0].points == (("+9", "topic in title"),)
    assert rows[0].facts == ("1 link from a seed", "fetched 2026-01-01T00:00:30.000Z")
    assert rows[1].facts == ("fetched 2026-01-01T00:00:30.000Z",)


def test_a_page_that_was_visited_again_stands_once_by_its_best_visit() -> None:
    visits = [
        page("/a", 3),
        page("/b", 6),
        page("/c", 6),
        page("/a", 8, title="new"),
        page("/a", 1),
        page("/b", 6, title="newer"),
    ]
    rows = best(crawl_sheet(told(visits))).rows
    assert [(row.url[-2:], row.score, row.text) for row in rows[:2]] == [("/a", 8, "new"), ("/b", 6, "newer")]
    assert rows[2].url.endswith("/c")  # equal scores, in the order in which they were reached
    assert rows[0].facts[-1] == "scored 1 when it was read last"
    assert "when it was read last" not in str(rows[1].facts)


def test_what_changed_is_told_where_pages_were_visited_again() -> None:
    visits = [page("/a", 3, change="new"), page("/b", None, change=None), page("/a", 3, change="unchanged")]
    assert lines(part(crawl_sheet(told(visits)), "Changes")) == [("new", 1, ""), ("unchanged", 1, "")]
    assert not [one for one in crawl_sheet(told(visits[:2])).parts if one.heading.startswith("Changes")]


def test_the_best_of_many_are_those_of_all_sorted_at_once() -> None:
    """Whatever is forgotten on the way, also where later visits are better ones."""
    places = [(n * 7919) % 1000 for n in range(3000)]
    visits = [page(f"/{place}", (n * 104_729) % 997 / 100) for n, place in enumerate(places)]
    tops: dict[str, tuple[float, int]] = {}
    for n, visit in enumerate(visits):
        key = (visit["relevance_score"], -n)
        if visit["url"] not in tops or key[0] > tops[visit["url"]][0]:
            tops[visit["url"]] = key
    expected = sorted(tops, key=lambda url: tops[url], reverse=True)[:MAX_PAGES]
    assert [row.url for row in best(crawl_sheet(told(visits))).rows] == expected


@pytest.mark.parametrize(("count", "width"), [(10, 10), (200, 10), (201, 20), (1000, 80)])
def test_the_course_of_a_crawl_has_few_stretches_and_misses_no_page(count: int, width: int) -> None:
    visits = [page(f"/{n}", 9 if n % 4 == 0 else 0) for n in range(count)]
    course = part(crawl_sheet(told(visits)), "Relevant pages")
    assert len(course.lines) == -(-count // width) <= 20
    assert sum(line.count for line in course.lines) == -(-count // 4)
    assert course.lines[0].count == -(-width // 4)
    assert course.lines[-1].name.endswith(f" to {count:,}")
    assert course.whole == width


def test_without_a_topic_nothing_is_said_of_relevance() -> None:
    sheet = crawl_sheet(told([page("/b", None), page("/a", None)], topic=None))
    assert [row.url[-2:] for row in best(sheet).rows] == ["/b", "/a"]
    assert not [one for one in sheet.parts if "elevant" in one.heading or one.heading.startswith("Best")]
    assert "relevant" not in str(sheet.figures)


def test_a_crawl_without_pages_is_a_report_too(tmp_path: Path) -> None:
    sheet = crawl_sheet(told([], []))
    for name in ("r.html", "r.md"):
        text = written(sheet, tmp_path / name)
        assert "Best pages" not in text  # nothing stands under it
        assert "reached" in text


# --- plans --------------------------------------------------------------------------------------------------------


def entry(rank: int, url: str, **more: Any) -> Record:
    points = [
        {"rule": "base", "points": 50, "reason": "base"},
        {"rule": "hub", "points": 10, "reason": "Is a hub page"},
        {"rule": "quiet", "points": 0, "reason": "pays nothing"},
    ]
    return {
        "schema": 2, "rank": rank, "url": url, "score": 60, "level": "high", "reasons": ["Is a hub page"],
        "next_due": "2026-01-02T00:00:00.000Z", "points": points, **more,
    }  # fmt: skip


def plan(entries: Sequence[Record], **facts: object) -> Sheet:
    levels = {"high": (len(entries), "crawl soon"), "low": (7, "defer")}
    urls = [str(one["url"]) for one in entries]
    return plan_sheet(PlanReportData(entries, urls, levels, list(facts.items())))


def test_a_plan_in_numbers_and_words() -> None:
    sheet = plan(
        [entry(1, "https://a.example/"), entry(4, "https://b.example/x", next_due=None), entry(5, "no URL")],
        Policy="learned",
    )
    assert sheet.figures == (("3", "URLs in the plan"), ("10", "ranked"), ("3", "hosts"))
    assert sheet.facts == (("Policy", "learned"),)
    listed, levels, hosts = sheet.parts
    assert isinstance(levels, CountList)
    assert lines(levels) == [("high", 3, "crawl soon"), ("low", 7, "defer")]
    assert isinstance(listed, Pages)
    assert [(row.rank, row.score, row.label) for row in listed.rows] == [
        (1, 60, "high"),
        (4, 60, "high"),
        (5, 60, "high"),
    ]
    assert listed.rows[0].points == (("50", "base"), ("+10", "Is a hub page"))
    assert [row.facts for row in listed.rows[:2]] == [("due 2026-01-02T00:00:00.000Z",), ()]
    assert isinstance(hosts, CountList)
    assert [(line.name, line.count) for line in hosts.lines] == [
        ("a.example", 1),
        ("b.example", 1),
        ("no host", 1),
    ]


# --- how they are written -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".html", ".md", ".HTM", ".markdown"])
@pytest.mark.parametrize(
    "sheet", [crawl_sheet(told()), plan([entry(1, "https://a.example/alarms")], Policy="learned")]
)
def test_everything_that_is_told_is_written(tmp_path: Path, sheet: Sheet, suffix: str) -> None:
    text = written(sheet, tmp_path / f"r{suffix}")
    shown = Tags(text).text if "htm" in suffix.lower() else text.replace("\\", "")
    assert sheet.heading in HEADINGS.values()
    words = [sheet.heading, sheet.below, *sum(sheet.figures, ()), *sum(sheet.facts, ())]
    for one in sheet.parts:
        if isinstance(one, CountList) and one.lines:
            words.append(one.heading)
            words += [word for line in one.lines for word in (line.name, f"{line.count:,}", line.words)]
        elif isinstance(one, Pages):
            words += [
                one.heading,
                *(
                    word
                    for row in one.rows
                    for word in (row.url, row.text, row.label, str(row.score), *row.facts)
                ),
            ]
            words += [word for row in one.rows for reason in row.points for word in reason]
    for word in words:
        assert word in shown, word
    assert "pays nothing" not in shown


def evil(text: str) -> list[Sheet]:
    """Say it wherever a page, a profile or a file has a say."""
    reasons = [{"rule": text, "points": 5, "reason": text}]
    bad = page("/x", 5, url=text, title=text, points=reasons, action=text, fetched_at=text)
    lost = gone(text, text, None)
    site = {"url": text, "site": text, "seen": 1}
    run = dict.fromkeys(("command", "topic", "profile", "profile_hash", "started_at"), text)
    crawl = told([bad, lost], [site], **run)
    crawl = CrawlReportData(
        crawl.run, text, Counts(STATES, {text: 1}, {text: 1}, {}, 2, 1), crawl.pages, crawl.outside, {"Put out": {text: 1}},
        lambda _: text,
    )  # fmt: skip
    known = entry(1, text, level=text, next_due=text, points=reasons)
    levels = {text: (1, text)}
    return [crawl_sheet(crawl), plan_sheet(PlanReportData([known], [text], levels, [("Ranked", text)]))]


@pytest.mark.parametrize("text", EVIL)
def test_nothing_from_a_page_becomes_markup_or_a_link(tmp_path: Path, text: str) -> None:
    for sheet in evil(text):
        seen = Tags(written(sheet, tmp_path / "r.html"))
        assert {tag for tag, _ in seen.tags} <= ALLOWED | TOOLS
        assert [tag for tag, _ in seen.tags].count("script") == 1
        assert {name for _, attributes in seen.tags for name in attributes} <= ATTRIBUTES | TOOL_ATTRIBUTES
        links = [attributes["href"] for tag, attributes in seen.tags if tag == "a"]
        assert [link for link in links if not re.fullmatch(r"#part\d+", link or "")] == []
        body = seen.text[seen.text.index(sheet.heading) :]
        assert not [char for char in body if not char.isprintable() and char != "\n"]


@pytest.mark.parametrize("text", EVIL)
def test_nothing_from_a_page_becomes_markdown(tmp_path: Path, text: str) -> None:
    for sheet in evil(text):
        file = written(sheet, tmp_path / "r.md")
        bare = re.sub(r"\\.", "", file)
        for mark in ("<", "`", "](", "://"):
            assert mark not in bare
        tables = re.findall(r"(?:^\|.*\n)+", bare, re.MULTILINE)
        assert tables
        for table in tables:
            assert len({line.count("|") for line in table.splitlines()}) == 1
        assert not [char for char in file if not char.isprintable() and char != "\n"]


def test_everything_is_bounded(tmp_path: Path) -> None:
    long = "x" * 1_000_000
    crowd = [
        page(f"/{n}", 9, title=long, points=[{"rule": "r", "points": 1, "reason": long}] * 1000)
        for n in range(1000)
    ]
    sites = [{"url": f"https://s{n}.example/", "site": f"s{n}.example", "seen": 1} for n in range(1000)]
    crawl = crawl_sheet(told(crowd, sites, command=long, topic=long))
    assert len(best(crawl).rows) == MAX_PAGES
    others = part(crawl, "Other sites")
    assert (len(others.lines), others.more) == (MAX_LINES, 1000 - MAX_LINES)
    entries = [entry(n, f"https://s{n}.example/{long[:600]}") for n in range(300)]
    ranked = plan(entries, Ranked=long)
    listed = ranked.parts[0]
    assert isinstance(listed, Pages)
    assert (len(listed.rows), listed.more) == (MAX_PAGES, 100)
    for sheet, more in ((crawl, 950), (ranked, 250)):
        for name in ("r.html", "r.md"):
            text = written(sheet, tmp_path / name)
            assert len(text) < 1_500_000
            assert f"and {more} more" in text


@pytest.mark.parametrize(
    "record", [{}, {"url": None, "relevance_score": "9", "points": 5, "status": []}, {"points": [7]}]
)
def test_records_of_nonsense_are_counted_still(tmp_path: Path, record: Record) -> None:
    sheet = crawl_sheet(told([record, page("/a", 9)], [record]))
    assert [row.url for row in best(sheet).rows] == ["https://a.example/a"]
    assert "?" in [line.name for line in part(sheet, "Answers").lines]
    assert written(plan([{**entry(1, ""), **record}]), tmp_path / "r.md")


def test_an_unknown_suffix_is_one_sentence_and_an_older_report_stays(tmp_path: Path) -> None:
    sheet = crawl_sheet(told())
    with pytest.raises(InputError, match=r"a report is written as \.html or \.md"):
        write_sheet(sheet, tmp_path / "r.pdf")
    with pytest.raises(InputError, match="cannot be written"):
        write_sheet(sheet, tmp_path / "no" / "r.md")
    assert written(sheet, tmp_path / "r.md") == written(crawl_sheet(told()), tmp_path / "r.md")
    assert [file.name for file in tmp_path.iterdir()] == ["r.md"]


def test_a_plan_begins_with_what_to_visit_and_has_an_index_and_a_filter(tmp_path: Path) -> None:
    text = written(
        plan([entry(1, "https://a.example/"), entry(2, "https://b.example/")]), tmp_path / "r.html"
    )
    places = [
        text.index(words)
        for words in (
            'aria-label="Contents"',
            'id="part0">Best first',
            'class="tools"',
            "All URLs, by level</h2>",
        )
    ]
    assert places == sorted(places)
    assert "script-src 'sha256-" in text.replace("&#x27;", "'")
