"""Reports: everything a record says, nothing that a page could do with it, whole or not at all, record by record."""

from __future__ import annotations

import base64
import hashlib
import re
import sys
import weakref
from typing import TYPE_CHECKING, Any

import pytest
from evil_text import ALLOWED, ATTRIBUTES, EVIL, TOOL_ATTRIBUTES, TOOLS, Tags

import honeyguide.report as report_module
from honeyguide import __version__
from honeyguide.errors import InputError
from honeyguide.report import write_report
from honeyguide.report.markdown import plain
from honeyguide.report.sheet import MAX_TEXT, clean, link_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOME = "https://acme.example/"


def _reason(points: float, reason: str, rule: str = "r") -> dict[str, Any]:
    return {"rule": rule, "points": points, "reason": reason}


def _candidate(
    path: str, score: float | None, rank: int | None = None, out: tuple[str, str] | None = None
) -> dict[str, Any]:
    return {
        "url": f"https://acme.example{path}",
        "anchor_text": f"Anchor of {path}",
        "position": "main",
        "rank": rank,
        "category": None,
        "bucket": "services" if score else None,
        "score": score,
        "points": [
            _reason(score - 4, "a service"),
            _reason(4, "in the site's navigation"),
            _reason(0, "quiet"),
        ]
        if score
        else [],
        "rejected": None if out is None else {"rule": out[0], "reason": out[1]},
    }


CANDIDATES = [
    _candidate("/services", 104, 1),
    _candidate("/about", 94, 2),
    _candidate("/blog", 12, None, ("cap", "2 pages before it were taken")),
    _candidate("/old", 90, None, ("replaced", "answered 404")),
    _candidate("/town-a", None, None, ("doorway", "one of many: pages that share 'town' (3 pages)")),
    _candidate("/town-b", None, None, ("doorway", "one of many: pages that share 'town' (3 pages)")),
    _candidate("/x.pdf", None, None, ("extension", "URL-9: extension pdf")),
]


def _record(site: str = "acme.example", **more: Any) -> dict[str, Any]:
    selected = [
        {**c, "title": f"Title of {c['url']}", "text_chars": 1234, "status": 200}
        for c in CANDIDATES
        if c["rank"]
    ]
    return {
        "schema": 2, "site": site, "homepage": HOME, "status": "ok", "reason": None, "strategy": "portfolio",
        "profile": "company", "profile_hash": "5a14", "title": "Acme", "selected": selected, "candidates": CANDIDATES,
        "skipped": [{"href": "mailto:a@acme.example", "rule": "scheme"}], "counts": {"links": 7},
        "replaced": [{"url": f"{HOME}old", "reason": "answered 404"}], "requests": 5, "elapsed_s": 1.5, **more,
    }  # fmt: skip


FAILED = _record(
    "gone.example", status="dns_failed", reason="its host name does not exist", homepage=None, title=None, selected=[],
    candidates=[], skipped=[], replaced=[],
)  # fmt: skip


def _written(path: Path, *records: dict[str, Any]) -> str:
    write_report(iter(records), path)
    return path.read_text("utf-8")


# --- what is in it ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".html", ".md", ".HTM", ".markdown"])
def test_a_report_says_what_a_record_says(tmp_path: Path, suffix: str) -> None:
    text = _written(tmp_path / f"report{suffix}", _record(), FAILED)
    shown = Tags(text).text if "htm" in suffix.lower() else text.replace("\\", "")
    for words in (
        "acme.example", "gone.example", "its host name does not exist", "Title of https://acme.example/services",
        "https://acme.example/about", "+100 a service", "+4 in the site's navigation", "answered 404", "doorway",
        "portfolio, profile company", "https://acme.example/blog", "turned out dead or empty",
    ):  # fmt: skip
        assert words in shown, words
    assert "quiet" not in shown


def test_the_funnel_leads_from_links_to_picks(tmp_path: Path) -> None:
    text = _written(tmp_path / "report.md", _record(), _record("b.example"), FAILED)
    rows = [
        [cell.strip().replace("\\", "") for cell in line.split("|")[1:5]]
        for line in text.splitlines()
        if line[:2] == "| "
    ]
    assert rows[rows.index(["Step", "Rejected", "Left", "Why"]) + 2 :][:8] == [
        ["links found", "", "16", ""],
        ["scheme", "2", "14", "mail, telephone, script: no web page"],
        ["extension", "2", "12", "a file, not a page"],
        ["inside the site", "", "12", ""],
        ["doorway", "4", "8", "one of many"],
        ["replaced", "2", "6", "turned out dead or empty when it was fetched"],
        ["cap", "2", "4", "as many pages as asked for were taken before"],
        ["selected", "", "4", ""],
    ]


def test_next_in_line_is_only_what_would_be_taken(tmp_path: Path) -> None:
    weak = _candidate("/thin", 40, None, ("not-worth-it", "says too little"))
    text = _written(tmp_path / "report.md", _record(candidates=[*CANDIDATES, weak]), FAILED).replace("\\", "")
    assert "Next in line:\n\n- 12 [https://acme.example/blog](<https://acme.example/blog>)\n\n" in text
    assert "  - gone.example: its host name does not exist\n" in text


def test_candidates_are_ranked_and_the_out_are_grouped(tmp_path: Path) -> None:
    shown = Tags(_written(tmp_path / "report.html", _record())).text
    ranked = shown[shown.index("Ranked candidates (4)") :]
    places = [ranked.index(f"{HOME}{path}") for path in ("services", "about", "old", "blog")]
    assert places == sorted(places)
    assert shown.count("one of many: pages that share 'town' (3 pages)") == 1
    assert "Rejected, by rule (6)" in shown


def test_evidence_and_content_facts_are_shown(tmp_path: Path) -> None:
    page = {
        **_record()["selected"][0],
        "evidence": [{"keyword": "fire", "text": "… a fire alarm …"}],
        "status": 203,
    }
    shown = Tags(_written(tmp_path / "report.html", _record(selected=[page]))).text
    assert "… a fire alarm …" in shown
    assert "1,234 characters of text; answered 203" in shown


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_no_records_is_a_report_too(tmp_path: Path, suffix: str) -> None:
    assert "0 sites" in _written(tmp_path / f"report{suffix}")


# --- hostile pages ----------------------------------------------------------------------------------------------


def _evil(text: str) -> dict[str, Any]:
    page = {
        **_candidate("/x", 5, 1), "url": text, "title": text, "anchor_text": text, "bucket": text, "category": text,
        "points": [_reason(5, text, text)], "evidence": [{"keyword": text, "text": text}],
    }  # fmt: skip
    out = {**page, "rank": None, "rejected": {"rule": text, "reason": text}}
    return _record(
        text, homepage=text, status=text, reason=text, title=text, strategy=text, profile=text, selected=[page],
        candidates=[page, out], skipped=[{"href": text, "rule": text}], replaced=[{"url": text, "reason": text}],
    )  # fmt: skip


# What a report with sites has besides: its contents, a filter and an order, and the one script.


@pytest.mark.parametrize("text", EVIL)
def test_nothing_from_a_page_becomes_markup_or_a_link(tmp_path: Path, text: str) -> None:
    seen = Tags(_written(tmp_path / "report.html", _evil(text)))
    assert {tag for tag, _ in seen.tags} <= ALLOWED | TOOLS
    assert [tag for tag, _ in seen.tags].count("script") == 1
    assert {name for _, attributes in seen.tags for name in attributes} <= ATTRIBUTES | TOOL_ATTRIBUTES
    links = [attributes["href"] for tag, attributes in seen.tags if tag == "a"]
    assert [link for link in links if not re.fullmatch(r"#(s\d+|part\d+|sections)", link or "")] == []
    body = seen.text[seen.text.index("Pages worth a visit") :]
    assert not [char for char in body if not char.isprintable() and char != "\n"]


@pytest.mark.parametrize("text", EVIL)
def test_nothing_from_a_page_becomes_markdown(tmp_path: Path, text: str) -> None:
    written = _written(tmp_path / "report.md", _evil(text))
    bare = re.sub(r"\\.", "", written)
    assert "<" not in bare
    assert "`" not in bare
    assert "](" not in bare
    assert "://" not in bare
    assert len({line.count("|") for line in bare.splitlines() if line.startswith("| ")}) <= 3
    assert not [char for char in written if not char.isprintable() and char != "\n"]


def test_the_policy_lets_nothing_in_and_nothing_is_asked_for(tmp_path: Path) -> None:
    seen = Tags(_written(tmp_path / "report.html", _record()))
    policy = next(
        a["content"] or "" for _, a in seen.tags if a.get("http-equiv") == "Content-Security-Policy"
    )
    text = (tmp_path / "report.html").read_text("utf-8")
    sheet = text.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    script = text.partition("<script>")[2].partition("</script>")[0]
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; script-src 'sha256-{allowed}'; base-uri 'none'; form-action 'none'"
    )
    assert "url(" not in text
    assert [tag for tag, _ in seen.tags].count("script") == 1
    assert not {"img", "link", "iframe"} & {tag for tag, _ in seen.tags}


def test_picks_come_first_and_the_run_is_named(tmp_path: Path) -> None:
    for name in ("report.html", "report.md"):
        write_report(
            [_record()],
            tmp_path / name,
            [("Command", "honeyguide pick acme.example"), ("Written", "2026-11-16")],
        )
        text = (tmp_path / name).read_text("utf-8")
        first = [text.index(words) for words in ("honeyguide pick", "2026-11-16", "acme.example/")]
        places = [*first, text.rindex("From links to picks")]
        assert places == sorted(places)
    assert f"Honeyguide {__version__}" in (tmp_path / "report.html").read_text("utf-8")


def test_everything_is_bounded(tmp_path: Path) -> None:
    long = "x" * 1_000_000
    crowd = [
        {**_candidate(f"/{n}", 5, None, (f"rule-{n % 3}", long)), "points": [_reason(1, long)] * 1000}
        for n in range(2000)
    ]
    record = _evil(long)
    record |= {
        "candidates": crowd,
        "replaced": record["replaced"] * 1000,
        "selected": record["selected"] * 1000,
    }
    assert len(_written(tmp_path / "report.html", record)) < 1_000_000
    assert len(_written(tmp_path / "report.md", record)) < 1_000_000


@pytest.mark.parametrize(
    "record",
    [
        {},
        {
            "site": 5,
            "status": [],
            "selected": "x",
            "candidates": {"a": 1},
            "skipped": None,
            "replaced": [1, None],
        },
        {
            "selected": [
                {
                    "url": None,
                    "score": float("nan"),
                    "rank": "1",
                    "points": [{"points": "x"}],
                    "text_chars": 1e300,
                }
            ]
        },
        {
            "candidates": [{"score": 1, "rank": True, "rejected": {"rule": None, "reason": 5}}],
            "elapsed_s": float("inf"),
        },
    ],
)
def test_a_record_of_nonsense_is_still_a_site(tmp_path: Path, record: dict[str, Any]) -> None:
    assert "1 site" in _written(tmp_path / "report.html", record)
    assert "1 site" in _written(tmp_path / "report.md", record)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\r\n\tb", "a b"),
        ("a\u202eb\u2066", "ab"),
        ("\ud800x", "x"),
        (5, ""),
        ("é 接口", "é 接口"),
        ("x" * 999, "x" * MAX_TEXT + "…"),
    ],
)
def test_text_is_harmless(text: object, shown: str) -> None:
    assert clean(text) == shown


@pytest.mark.parametrize(
    "url", ["https://a.example/", "http://a.example:81/x?y=1&z=%20#f", "https://xn--bcher-kva.example/"]
)
def test_addresses_become_links(url: str) -> None:
    assert link_of(url) == url


@pytest.mark.parametrize(
    "url",
    [
        *EVIL,
        "//a.example/",
        "/x",
        "ftp://a.example/",
        "https://a.example/ x",
        f"https://a.example/{'x' * 999}",
        None,
        5,
    ],
)
def test_what_is_no_plain_address_is_no_link(url: object) -> None:
    assert link_of(url) is None


def test_plain_text_has_its_marks_escaped() -> None:
    assert plain("a: b_c (d) e-f 1.5") == "a: b\\_c (d) e-f 1.5"
    assert plain("http://x www.x.example @me") == "http\\://x www\\.x.example \\@me"


# --- the file ---------------------------------------------------------------------------------------------------


def test_an_unknown_suffix_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"report\.pdf: a report is written as \.html or \.md"):
        write_report([], tmp_path / "report.pdf")


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_report([], tmp_path / "nowhere" / "report.html")


def test_an_older_report_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("older", "utf-8")

    def broken() -> Iterator[dict[str, Any]]:
        yield _record()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_report(broken(), path)
    assert path.read_text("utf-8") == "older"
    write_report([_record()], path)
    assert "acme.example" in path.read_text("utf-8")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_the_same_records_give_the_same_bytes(tmp_path: Path) -> None:
    for suffix in (".html", ".md"):
        assert _written(tmp_path / f"a{suffix}", _record(), FAILED) == _written(
            tmp_path / f"b{suffix}", _record(), FAILED
        )


class Tracked(dict[str, Any]):
    """A record that can be watched."""

    __hash__ = object.__hash__  # type: ignore[assignment]  # dict has none, and this one is kept in a WeakSet


def test_records_are_not_kept(tmp_path: Path) -> None:
    alive: weakref.WeakSet[Tracked] = weakref.WeakSet()
    most = 0

    def records() -> Iterator[dict[str, Any]]:
        nonlocal most
        for number in range(50):
            record = Tracked(_record(f"s{number}.example"))
            alive.add(record)
            most = max(most, len(alive))
            yield record
            del record

    write_report(records(), tmp_path / "report.html")
    assert most <= 2


def test_a_report_too_large_to_open_shows_picks_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_module, "MAX_DETAILED_BYTES", 1)
    shown = Tags(_written(tmp_path / "report.html", _record(), _record("b.example"))).text
    assert shown.count("Ranked candidates") == 1
    assert "4 candidates not shown" in shown


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such permissions")
def test_who_may_read_an_older_report_may_read_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("older", "utf-8")
    path.chmod(0o640)
    write_report([_record()], path)
    assert path.stat().st_mode & 0o777 == 0o640


def test_sites_after_the_first_are_text_until_they_are_opened(tmp_path: Path) -> None:
    """Browsers with scripts read `noscript` as text, so a report of thousands of sites opens at once; nothing can end it early."""
    evil = "</noscript><script>alert(1)</script>"
    sites = [_record("a.example"), _evil(evil), _record("c.example", title=evil)]
    text = _written(tmp_path / "report.html", *sites)
    first, *others = text.split('<details class="site"')[1:]
    assert "<noscript>" not in first
    for one in others:
        summary, _, folded = one.partition("</summary>")
        assert "noscript>" not in summary.replace("&lt;/noscript&gt;", "")
        inside, _, rest = folded.strip().removeprefix("<noscript>").partition("</noscript>")
        assert inside.startswith('<div class="in">')
        assert inside.endswith("</div>")
        assert rest.strip().startswith("</details>")
    assert "alert(1)" in others[0]
    assert "<script>alert" not in text
