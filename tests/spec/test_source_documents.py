"""The five source documents, example by example: what they state and no other file of tests/spec proves.

The tests are grouped by document. requirements.toml lists every requirement with the test that proves it.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from honeyguide import (
    Candidate,
    CrawlRequest,
    FetchPolicy,
    Head,
    PickRequest,
    ScoredUrl,
    Selection,
    Url,
    UrlSignals,
    classify,
    display,
    load_profile,
    normalize,
    parse_markdown_links,
    plan_file,
    plan_store,
    rank_urls,
    score_link,
    score_page,
    score_url,
    select_links,
)
from honeyguide.adapters.http.robots import read_robots
from honeyguide.app.pick import picker
from honeyguide.cli.main import root
from honeyguide.core.records import Record
from honeyguide.jobs.politeness import PoliteFetcher
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

ACME = "https://acme.com/"
QUERY = "fire protection sprinkler inspection testing alarm suppression"


def select(
    strategy: str, *links: str | tuple[str, str], place: str = "nav", heads: dict[str, Head] | None = None
) -> Selection:
    pairs = ((link, "x") if isinstance(link, str) else link for link in links)
    anchors = "".join(f'<a href="{href}">{anchor}</a>' for href, anchor in pairs)
    return select_links(f"<{place}>{anchors}</{place}>", ACME, strategy=strategy, heads=heads)


def only(selection: Selection) -> Candidate:
    (candidate,) = selection.candidates
    return candidate


def selected_paths(selection: Selection) -> list[str]:
    return [candidate.url.path for candidate in selection.selected]


def rejection(candidate: Candidate) -> str | None:
    return candidate.rejected.rule if candidate.rejected else None


def total(candidate: Candidate) -> float:
    assert candidate.score is not None
    return candidate.score.value


def part(candidate: Candidate, name: str) -> float:
    assert candidate.parts is not None
    return candidate.parts[name].value


def records(*arguments: str) -> list[dict[str, Any]]:
    result = CliRunner().invoke(root, [*arguments, "--format", "jsonl"], prog_name="honeyguide")
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


# --- link scoring guide -----------------------------------------------------------------------------------------


def test_the_three_examples_of_the_guide() -> None:
    selection = select("rules", "/about/team", "/inspection", "/services/fire-alarm-installation")
    assert [(c.url.text, c.category, total(c)) for c in selection.selected] == [
        ("https://acme.com/services/fire-alarm-installation", "A", 100),
        ("https://acme.com/inspection", "B", 85),
        ("https://acme.com/about/team", "C", 75),
    ]


ABSOLUTE = ("installation", "install", "maintenance", "inspection", "protection")
SERVICE = (
    "fire", "alarm", "testing", "extinguishers", "repair", "system", "design", "monitoring", "commissioning",
    "commission",
)  # fmt: skip


@pytest.mark.parametrize(
    ("term", "category", "score"),
    [*((term, "B", 85) for term in ABSOLUTE), *((term, "U", 60) for term in SERVICE)],
)
def test_every_term_of_the_guide(term: str, category: str, score: float) -> None:
    for href in (f"/{term}", f"/our/x{term.upper()}y.html"):
        candidate = only(select("rules", href))
        assert (candidate.category, total(candidate)) == (category, score)


@pytest.mark.parametrize(
    ("href", "anchor", "category", "score"),
    [
        ("/services/about", "Inspection", "A", 80),
        ("/services/fire-inspection", "x", "A", 100),
        ("/services-install-maintenance", "x", "A", 100),
        ("/about/inspection", "x", "B", 85),
        ("/maintenance-inspection-protection", "Services", "B", 85),
        ("/about-fire-alarms", "Services", "C", 75),
        ("/fire", "Our services", "U", 60),
        ("/extinguisher", "Our services", "T", 50),
        ("/team", "Service", "D", 0),
    ],
)
def test_the_first_category_wins_and_only_a_has_a_boost(
    href: str, anchor: str, category: str, score: float
) -> None:
    candidate = only(select("rules", (href, anchor)))
    assert (candidate.category, total(candidate)) == (category, score)
    assert candidate.score is not None
    boost = {"A-boost": 20} if score == 100 else {}  # 80 and 20, not more that is cut off at 100
    assert {reason.rule: reason.points for reason in candidate.score.reasons} == {
        category: score - sum(boost.values()),
        **boost,
    }


def test_the_guide_scores_and_orders_without_context() -> None:
    links = ("/fire", "/about", "/team")
    heads = {f"https://acme.com{path}": Head(None, QUERY) for path in links}
    plain, described = select("rules", *links), select("rules", *links, heads=heads)
    assert selected_paths(plain) == selected_paths(described) == ["/about", "/fire", "/team"]
    assert [total(c) for c in plain.selected] == [total(c) for c in described.selected]
    for candidate in described.candidates:
        assert (candidate.parts or {}).keys() == {"category"}
        assert candidate.matched == ()


def test_service_areas_are_rejected_at_the_top_level() -> None:
    hrefs = ("/service-areas", "/service-areas/boston", "/locations/boston", "/regions", "/company/locations")
    assert [rejection(c) for c in select("rules", *hrefs).candidates] == [*["service-area"] * 4, None]


def test_the_default_strategy_is_portfolio() -> None:
    assert select_links("<a href=/services>Services</a>", ACME).strategy == "portfolio"
    assert PickRequest().strategy == "portfolio"


def test_the_settings_of_the_guide_are_read_from_json(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text('{"extends": "fire-protection", "disallowed_paths": ["/fire"], "page_cap": 2}', "utf-8")
    html = "".join(f"<a href=/{name}>x</a>" for name in ("fire-alarms", "privacy", "about", "inspection"))
    chosen = select_links(html, ACME, strategy="rules", profile=config)
    assert selected_paths(chosen) == ["/inspection", "/about"]
    assert {c.url.path: rejection(c) for c in chosen.candidates if c.rejected} == {
        "/fire-alarms": "disallowed-path",
        "/privacy": "cap",
    }


# --- PRD --------------------------------------------------------------------------------------------------------


def test_the_guide_takes_four_pages() -> None:
    hrefs = [f"/services/{letter}" for letter in "abcdef"]
    assert selected_paths(select("rules", *hrefs)) == hrefs[:4]


def test_blend_takes_four_pages() -> None:
    selection = select("blend", *((f"/services/fire-{name}", "Fire alarms") for name in "abcdef"))
    assert selected_paths(selection) == [f"/services/fire-{name}" for name in "abcd"]
    assert [rejection(c) for c in selection.candidates][4:] == ["cap", "cap"]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (("/fire", "Fire alarms"), ("/a/b/fire", "Fire alarms")),  # depth
        (("/fire", "Fire alarms"), ("/fire?id=7", "Fire alarms")),  # structure of the URL
        (("/fire", "Fire alarms"), ("/fire", "Read more")),  # quality of the anchor text
        (("/fire", "Fire alarms"), ("/fire", "")),
    ],
)
def test_the_intrinsic_score_goes_by_url_depth_and_anchor(
    better: tuple[str, str], worse: tuple[str, str]
) -> None:
    assert part(only(select("blend", better)), "intrinsic") > part(only(select("blend", worse)), "intrinsic")


@pytest.mark.parametrize(
    ("slug", "anchor", "head", "contextual"),
    [
        ("services/x", "", Head(QUERY), 0.50),
        ("services/x", "", Head(None, QUERY), 0.25),
        ("services/x", QUERY, None, 0.20),
        (QUERY.replace(" ", "-"), "", None, 0.05),
        (QUERY.replace(" ", "-"), QUERY, Head(QUERY, QUERY), 1.0),
    ],
)
def test_every_field_adds_its_weight(slug: str, anchor: str, head: Head | None, contextual: float) -> None:
    heads = {f"https://acme.com/{slug}": head} if head else None
    candidate = only(select("blend", (f"/{slug}", anchor), heads=heads))
    assert part(candidate, "contextual") == pytest.approx(contextual, abs=1e-6)


def test_services_and_their_children_come_first() -> None:
    links = (("/about", "About"), ("/fire", "x"), ("/services/doors", "Doors"), ("/services", "Services"))
    assert selected_paths(select("blend", *links)) == ["/services", "/services/doors", "/fire", "/about"]


def test_about_pages_are_boosted() -> None:
    for href in ("/about", "/about-us", "/our-story", "/company"):
        candidate = only(select("blend", href))
        assert candidate.parts is not None
        assert [r.points for r in candidate.parts["intrinsic"].reasons if r.rule == "about-path"] == [2]
        assert (candidate.bucket, candidate.rank) == ("about", 1)


WHITELIST = (
    "inspection", "maintenance", "protection", "installation", "install", "commissioning", "commission", "fire",
    "alarm", "testing", "extinguishers", "repair", "system",
)  # fmt: skip


@pytest.mark.parametrize("term", [*WHITELIST, *(term.upper() for term in WHITELIST)])
def test_every_whitelisted_slug_is_a_service_page(term: str) -> None:
    candidate = only(select("blend", (f"/our-{term}-page", QUERY)))
    assert (candidate.bucket, candidate.rank) == ("services", 1)


def test_top_level_service_pages_of_the_prd() -> None:
    examples = (("/fire-extinguisher-services", "Fire Extinguishers"), ("/firesprinkler", "Fire Sprinkler"))
    selection = select("blend", *examples, ("/backflows", "Backflows"), ("/kitchen-hoods", QUERY))
    assert {c.url.path: (c.bucket, rejection(c)) for c in selection.candidates} == {
        "/fire-extinguisher-services": ("services", None),
        "/firesprinkler": ("services", None),
        "/backflows": ("services", None),
        "/kitchen-hoods": ("other", "top-level"),
    }


@pytest.mark.parametrize("href", ["/homes/inspection", "/homes/kitchen-hoods"])
def test_pages_further_down_are_neither_service_pages_by_their_slug_nor_dropped_for_it(href: str) -> None:
    candidate = only(select("blend", (href, QUERY)))
    assert (candidate.bucket, rejection(candidate)) == ("other", None)


@pytest.mark.parametrize(
    ("href", "bucket"),
    [
        ("/services", "services"), ("/capabilities", "services"), ("/industries", "industries"),
        ("/markets", "industries"), ("/about", "about"), ("/company", "about"),
        ("/certifications", "certifications"), ("/associations", "certifications"), ("/projects", "projects"),
        ("/case-studies", "projects"), ("/careers", "careers"), ("/team", "careers"), ("/numbers", "careers"),
        ("/contact", "contact"), ("/our-locations", "contact"),
    ],
)  # fmt: skip
def test_buckets_named_by_the_prd(href: str, bucket: str) -> None:
    assert only(select("blend", href)).bucket == bucket


def test_ties_go_by_bucket_then_path_length_then_url() -> None:
    by_bucket = select("blend", ("/about", "x"), ("/repair", "x"))
    assert len({total(c) for c in by_bucket.selected}) == 1
    assert selected_paths(by_bucket) == ["/repair", "/about"]
    deep = [f"/services/{rest}" for rest in ("a/a/a/a/a", "b/b/b/b", "a/a/a/a")]
    by_path = select("blend", *((href, "Fire alarm") for href in deep))
    assert len({total(c) for c in by_path.selected}) == 1
    assert selected_paths(by_path) == [deep[2], deep[1], deep[0]]


@pytest.mark.parametrize(("more_words", "first"), [(100, "/about"), (400, "/repair")])
def test_totals_on_one_step_of_0_005_are_equal(more_words: int, first: str) -> None:
    heads = {"https://acme.com/about": Head(None, "fire " + "word " * more_words)}  # 0.326 and 0.322
    selection = select("blend", "/about", "/repair", heads=heads)
    assert {c.url.path: round(total(c), 3) for c in selection.selected}["/repair"] == 0.32
    assert max(selection.selected, key=total).url.path == "/about"
    assert selected_paths(selection)[0] == first


@pytest.mark.parametrize("strategy", ["rules", "blend", "portfolio"])
def test_pages_of_other_sites_are_never_selected(strategy: str) -> None:
    selection = select(strategy, ("https://other.com/services", QUERY), ("/services", "Services"))
    assert selected_paths(selection) == ["/services"]
    assert [rejection(c) for c in selection.candidates] == ["other-site", None]


def test_a_page_is_selected_from_a_total_of_0_30_on() -> None:
    kept, dropped = (only(select("blend", "/about", place=place)) for place in ("main", "footer"))
    assert [total(kept), total(dropped)] == pytest.approx([0.30, 0.26])
    assert [rejection(kept), rejection(dropped)] == [None, "threshold"]


@pytest.mark.parametrize(
    ("title", "description", "anchor", "score", "rejected"),
    [
        (
            "fire sprinkler testing alarm",
            QUERY.removesuffix(" suppression"),
            "fire sprinkler",
            0.5978,
            "blog",
        ),
        (
            "fire sprinkler testing alarm",
            "fire protection sprinkler inspection",
            "fire sprinkler testing alarm suppression",
            0.6015,
            None,
        ),
    ],
)
def test_a_blog_page_is_strong_by_its_score_too(
    title: str, description: str, anchor: str, score: float, rejected: str | None
) -> None:
    # None of the words is of tier 1; from 0.60 on the total is enough.
    heads = {"https://acme.com/blog/a": Head(title, description)}
    page = only(select("blend", ("/blog/a", anchor), place="main", heads=heads))
    assert total(page) == pytest.approx(score, abs=1e-4)
    assert rejection(page) == rejected


def test_scores_of_every_link_are_there_and_in_their_ranges() -> None:
    hrefs = ("/services/fire-inspection", "/fire", "/about", "/a/b/c/d/e?x=1", "/products", "/blog/x")
    heads = {"https://acme.com/fire": Head(QUERY, QUERY)}
    for candidate in select("blend", *((href, QUERY) for href in hrefs), heads=heads).candidates:
        assert 0 <= part(candidate, "intrinsic") <= 10
        assert 0 <= part(candidate, "contextual") <= 1
        assert 0 <= part(candidate, "total") <= 1


def test_the_query_can_be_replaced_for_one_run() -> None:
    html = "<nav><a href=/services/gutters>Gutters</a></nav>"
    assert only(select_links(html, ACME, strategy="blend")).matched == ()
    assert only(select_links(html, ACME, strategy="blend", query="gutter")).matched == ("gutter",)


def test_every_link_has_the_diagnostic_fields(tmp_path: Path) -> None:
    page = tmp_path / "home.html"
    page.write_text("<nav><a href=/services/alarm>Fire alarm</a><a href=/gutters>Gutters</a></nav>", "utf-8")
    found = records("select", str(page), "--base", ACME, "--strategy", "blend")
    assert [(record["bucket"], record["selection_reason"]) for record in found] == [
        ("services", "services-hub+slug+bm25"),
        ("other", "other"),
    ]
    for record in found:
        assert None not in (record["intrinsic_score"], record["contextual_score"], record["total_score"])


def test_every_link_has_the_shape_of_the_prd(tmp_path: Path) -> None:
    page, heads = tmp_path / "home.html", tmp_path / "heads.jsonl"
    page.write_text(
        '<a href=https://www.acme.com/services/inspections title="What we inspect">Inspections</a>'
        "<a href=/services/doors>Doors</a>",
        "utf-8",
    )
    head = {"title": "Inspections | Acme", "description": "Fire inspection"}
    heads.write_text(json.dumps({"url": "https://www.acme.com/services/inspections", **head}), "utf-8")
    base = ("--base", "https://www.acme.com/", "--heads", str(heads))
    found = records("select", str(page), *base, "--strategy", "blend")
    fields = ("anchor_text", "title", "base_domain", "head_data")
    assert [tuple(record[name] for name in fields) for record in found] == [
        ("Inspections", "What we inspect", "acme.com", head),
        ("Doors", "", "acme.com", None),
    ]


def test_heads_are_asked_for_five_at_a_time_and_five_seconds_each() -> None:
    assert (FetchPolicy().per_host, FetchPolicy().head_timeout_s) == (5, 5.0)


PROSE = "Sprinklers are inspected, tested and repaired by our own people, day and night. " * 5


def pick(pages: list[str], robots: str = "") -> tuple[Record, list[str]]:
    """Pick from a homepage that links these pages and another site; gives the record and what was asked for."""
    links = "".join(f"<a href={url}>Fire alarm inspection</a>" for url in [*pages, "https://other.com/fire"])
    web = {url: f"<title>{url}</title><a href=/deeper>Fire</a><p>{url} {PROSE}".encode() for url in pages}
    web |= {ACME: f"<nav>{links}</nav><p>{PROSE}".encode(), f"{ACME}robots.txt": robots.encode()}
    request, fetcher, clock = PickRequest(strategy="blend"), FakeFetcher(web), FrozenClock()
    polite = PoliteFetcher(fetcher, clock, read_robots, FetchPolicy())
    return asyncio.run(picker(request, polite, clock).pick("acme.com")), fetcher.requests


def test_a_pick_reads_the_homepage_30_heads_and_4_pages_in_under_25_seconds() -> None:
    pages = [f"https://acme.com/services/fire-alarm-{n}" for n in range(40)]
    record, asked = pick(pages)
    assert len(record["selected"]) == 4
    assert record["elapsed_s"] <= 25
    assert asked[:2] == ["https://acme.com/robots.txt", ACME]
    assert set(asked[2:]) < set(pages)
    assert len(asked) == 2 + 30 + 4


def test_a_pick_obeys_robots_txt_and_keeps_the_delay() -> None:
    pages = [f"https://acme.com/services/fire-{name}" for name in "abc"]
    record, asked = pick(pages, "User-agent: *\nDisallow: /services/fire-b\n")
    assert {chosen["url"] for chosen in record["selected"]} == {pages[0], pages[2]}
    assert pages[1] not in asked
    assert record["elapsed_s"] >= 0.5 * (len(asked) - 1)


CUSTOM = """
schema = 1
name = "scorer"
extends = "fire-protection"
[scorecard.custom]
base = 1.0
[[scorecard.custom.group]]
name = "kind"
mode = "first"
rules = [
  { id = "service-area", reason = "service area", points = -1.0, when = { path = { has = ["service-area", "service area"] } } },
  { id = "services", reason = "services", points = 1.0, when = { path = { starts = ["/services"] } } },
  { id = "tier-1", reason = "tier 1", points = 0.5, when = { path = { has = ["$tier1"] } } },
  { id = "tier-2", reason = "tier 2", points = 0.2, when = { path = { has = ["$tier2"] } } },
]
[strategy.custom]
card = "custom"
cap = 9
order = ["score", "path_length", "url"]
"""


@pytest.mark.parametrize(
    ("path", "score", "rules"),
    [
        ("/services/alarms", 2.0, ["base", "services"]),
        ("/our-services/inspection", 1.5, ["base", "tier-1"]),
        ("/commission", 1.5, ["base", "tier-1"]),
        ("/alarms", 1.2, ["base", "tier-2"]),
        ("/team", 1.0, ["base"]),
    ],
)
def test_the_custom_scorer_is_a_card_of_a_profile(
    path: str, score: float, rules: list[str], tmp_path: Path
) -> None:
    # The values that the PRD's class returns; 0 for service areas, which no card sees: a filter rejects them before.
    file = tmp_path / "scorer.toml"
    file.write_text(CUSTOM, "utf-8")
    html = f'<a href="{path}">x</a><a href="/services/service-area-of-x">y</a>'
    (page,) = select_links(html, ACME, strategy="custom", profile=file).selected
    assert page.score is not None
    assert (page.score.value, [reason.rule for reason in page.score.reasons]) == (score, rules)


# --- URL normalisation ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("HTTP://EXAMPLE.COM/Path", "http://example.com/Path"),
        ("https://example.com/page#section", "https://example.com/page"),
        ("https://example.com/about/", "https://example.com/about"),
        ("https://example.com/", "https://example.com/"),
        ("https://example.com:443/page", "https://example.com/page"),
        ("http://example.com:80/page", "http://example.com/page"),
        ("https://example.com/%41%7a%30%2D%5F%2E%7E", "https://example.com/Az0-_.~"),
        ("https://example.com/hello%20world", "https://example.com/hello%20world"),
    ],
)
def test_examples_of_normalisation(text: str, normalised: str) -> None:
    # URL-6: the document decodes %20 against its own rule; the readable form is for people alone.
    assert normalize(text) == normalised
    assert "%20" not in display(normalised)


@pytest.mark.parametrize(
    ("seed", "inside", "outside"),
    [
        ("https://www.example.com/", "https://www.example.com/a", "https://example.com/a"),
        ("https://example.com/", "https://example.com/a", "https://www.example.com/a"),
    ],
)
def test_www_is_significant(seed: str, inside: str, outside: str) -> None:
    assert [classify(href, seed).kind.value for href in (inside, outside)] == ["inside", "outside"]


@pytest.mark.parametrize("scheme", ["mailto", "tel", "javascript", "data", "ftp", "file", "whatsapp"])
def test_every_other_scheme_is_skipped(scheme: str) -> None:
    verdict = classify(f"{scheme}:x", ACME)
    assert (verdict.kind.value, verdict.rule) == ("skip", "scheme")


@pytest.mark.parametrize(
    "extension",
    [
        "pdf", "jpg", "jpeg", "png", "gif", "svg", "webp", "css", "js", "ico", "zip", "tar", "gz", "mp4", "mov",
        "avi", "mp3", "wav", "exe",
    ],
)  # fmt: skip
def test_every_extension_is_skipped_here_and_elsewhere(extension: str) -> None:
    # URL-9: the lists of two documents, case-blind, before the query; a query is no extension.
    for href in (f"/a.{extension}", f"/A.{extension.upper()}?v=2", f"https://other.com/a.{extension}"):
        verdict = classify(href, ACME)
        assert (verdict.kind.value, verdict.rule) == ("skip", "extension")
    assert classify(f"/get?file=a.{extension}", ACME).kind.value == "inside"


def test_the_four_lines_of_markdown() -> None:
    text = "[Homepage](/)\n[About Us](/about)\n[Contact](/contact)\n[External Site](https://other.com)\n"
    assert parse_markdown_links(text) == [
        ("Homepage", "/"),
        ("About Us", "/about"),
        ("Contact", "/contact"),
        ("External Site", "https://other.com"),
    ]


# --- relevance scorer -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("topic", "anchor", "found"),
    [
        ("API|REST|endpoint", "Rest", True),
        ("API|REST|endpoint", "Guide", False),
        ("API|接口|端点|认证|authentication", "接口文档", True),
        (r"v[0-9]+\.api|/docs/|reference", "v2.api", True),
        (r"v[0-9]+\.api|/docs/|reference", "v.api", False),
        ("v[[:digit:]]", "v2", True),
    ],
)
def test_topics_of_the_scorer(topic: str, anchor: str, found: bool) -> None:
    assert score_link("https://a.example/x", topic=topic, anchor=anchor).value == (5 if found else 0)


TEXTS = ("", "nothing", "The API", "Endpoints and apis, rest")
TOPICS = ("api", "API|REST", "x|endpoint")


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("url", ["https://a.example/x", "https://a.example/rest"])
def test_a_link_scores_what_the_shell_function_gives(topic: str, url: str) -> None:
    pattern = re.compile(topic, re.IGNORECASE)
    for anchor in TEXTS:
        for context in TEXTS:
            texts = ((url, 3), (anchor, 5), (context, 2))
            expected = min(10, sum(points for text, points in texts if pattern.search(text)))
            assert score_link(url, topic=topic, anchor=anchor, context=context).value == expected


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("mentions", [0, 1, 2, 4, 5, 9, 10, 30])
def test_a_page_scores_what_the_shell_function_gives(topic: str, mentions: int) -> None:
    pattern = re.compile(topic, re.IGNORECASE)
    for title in TEXTS:
        for headings in ((), ("API",), ("API", "x", "Rest API"), ("api", "rest", "endpoint")):
            content = "\n".join((*headings, "an api " * mentions))
            expected = 3 * bool(pattern.search(title))
            expected += 2 * min(2, sum(bool(pattern.search(heading)) for heading in headings))
            count = len(pattern.findall(content))
            expected += 3 if count >= 10 else 2 if count >= 5 else 1 if count >= 2 else 0
            html = "".join(f"<h2>{heading}</h2>" for heading in headings)
            page = f"<title>{title}</title>{html}<p>{'an api ' * mentions}</p>"
            assert score_page(page, topic=topic).value == min(10, expected)


def test_the_record_of_the_scorer() -> None:
    example = {
        "url": "https://example.com/docs/api",
        "anchor_text": "API Reference",
        "context": "Complete API documentation for developers",
        "relevance_score": 9,
        "position": "navigation",
    }
    options = (
        "--topic", "reference", "--anchor", "API Reference", "--context",
        "Complete API documentation for developers", "--position", "navigation",
    )  # fmt: skip
    (record,) = records("score", "link", "https://example.com/docs/api", *options)
    assert {name: record[name] for name in example} == example


@pytest.mark.parametrize(
    ("anchor", "level", "action"),
    [("API reference", "High", "deep"), ("nothing", "Medium", "broad")],
)
def test_a_link_has_a_level_and_what_follows(anchor: str, level: str, action: str) -> None:
    options = ("--topic", "API", "--anchor", anchor, "--position", "navigation")
    (record,) = records("score", "link", "https://example.com/docs/api", *options)
    assert (record["relevance_level"], record["action"]) == (level, action)


def test_links_of_a_file_have_levels(tmp_path: Path) -> None:
    file = tmp_path / "links.csv"
    file.write_text(
        "url,anchor,position\nhttps://a.example/x,API,footer\nhttps://a.example/y,x,main\nhttps://a.example/z,x,footer\n"
    )
    found = records("score", "links", str(file), "--topic", "API")
    assert [(r["relevance_level"], r["action"]) for r in found] == [
        ("Medium", "broad"), ("Low", "tail"), ("Irrelevant", "skip")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("mentions", "level", "action"),
    [(10, "High", "exhaust"), (1, "Medium", "expand"), (0, "Irrelevant", "keep")],
)
def test_a_page_has_a_level_and_what_follows(tmp_path: Path, mentions: int, level: str, action: str) -> None:
    file = tmp_path / "page.html"
    title = "API" if mentions else "x"
    file.write_text(f"<title>{title}</title><h1>{title}</h1><p>{'API ' * mentions}</p>")
    (record,) = records("score", "page", str(file), "--topic", "API")
    assert (record["relevance_level"], record["action"]) == (level, action)


def test_the_default_traversal_is_focused() -> None:
    assert CrawlRequest(seeds=(Url.parse(ACME),)).traversal == "focused"


def test_the_scorer_is_a_library_and_three_commands(tmp_path: Path) -> None:
    # Every way gives the score that the document's example has.
    example = {
        "url": "https://example.com/docs/api", "anchor_text": "API Reference",
        "context": "Complete API documentation for developers", "position": "navigation",
    }  # fmt: skip
    url, anchor, context, position = example.values()
    links, page = tmp_path / "links.jsonl", tmp_path / "page.html"
    links.write_text(json.dumps(example), "utf-8")
    page.write_text("<title>API Reference</title><p>The reference of the API.", "utf-8")
    options = ("--topic", "reference", "--format", "jsonl")

    def score(*command: str) -> Any:
        result = CliRunner().invoke(root, ["score", *command, *options])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)["relevance_score"]

    where = ("--anchor", anchor, "--context", context, "--position", position)
    by_library = score_link(url, topic="reference", anchor=anchor, context=context, position=position)
    assert by_library == score("link", url, *where) == score("links", str(links)) == 9
    by_library = score_page(page.read_text("utf-8"), url=url, topic="reference")
    assert by_library == score("page", str(page), "--base", url) == 3


# --- crawl planning ---------------------------------------------------------------------------------------------

NOW = datetime(2024, 6, 15, 8, tzinfo=UTC)
ROW = {"url": "https://reuters.com/world", "visits": 10, "topicRelevance": 0, "hubDepth": 0, "isHub": False}


def ago(**duration: float) -> datetime:
    return NOW - timedelta(**duration)


@pytest.mark.parametrize(
    ("signals", "score", "reasons"),
    [
        ({}, 50, ()),
        ({"lastVisited": ago(minutes=59)}, 20, ("Recently visited (<1h)",)),
        ({"lastVisited": ago(hours=23)}, 40, ("Visited today",)),
        ({"lastVisited": ago(days=3)}, 50, ()),
        ({"lastVisited": ago(days=8)}, 65, ("Not visited in 7+ days",)),
        ({"lastChanged": ago(hours=23)}, 70, ("Changed in last 24h",)),
        ({"lastChanged": ago(hours=25)}, 50, ()),
        ({"topicRelevance": 0.8}, 62, ()),
        ({"topicRelevance": 0.81}, 62, ("High topic relevance",)),
        ({"isHub": True}, 60, ("Is a hub page",)),
        ({"hubDepth": 3}, 50, ()),
        ({"hubDepth": 4}, 45, ("Deep URL",)),
    ],
)
def test_every_adjustment_alone(signals: dict[str, object], score: float, reasons: tuple[str, ...]) -> None:
    result = score_url({**ROW, **signals}, now=NOW)
    assert (result.score.value, result.score.words) == (score, reasons)


def test_relevance_is_rounded_as_javascript_rounds() -> None:
    for relevance in (thousandth / 1000 for thousandth in range(1001)):
        result = score_url({**ROW, "topicRelevance": relevance}, now=NOW)
        assert result.score.value == 50 + math.floor(relevance * 15 + 0.5)


def test_levels_and_their_advice() -> None:
    assert [(level.at_least, level.name, level.advice) for level in load_profile("news").levels] == [
        (80, "very high", "crawl immediately"),
        (60, "high", "crawl soon"),
        (40, "medium", "normal schedule"),
        (20, "low", "defer"),
        (0, "very low", "skip or deprioritize"),
    ]


def test_times_are_texts_dates_and_epochs_in_either_spelling() -> None:
    visited = datetime(2024, 6, 15, 7, 30, tzinfo=UTC)
    spellings = (visited, visited.isoformat(), visited.timestamp(), visited.timestamp() * 1000)
    rows = [{**ROW, name: value} for name in ("lastVisited", "last_visited") for value in spellings]
    assert {score_url(row, now=NOW).score.value for row in rows} == {20}


def test_signals_and_scored_urls_are_public_types() -> None:
    signals = UrlSignals("https://reuters.com/world", is_hub=True)
    result = score_url(signals, now=NOW)
    assert isinstance(result, ScoredUrl)
    assert (result.url, result.score.value) == (signals.url, 60)


def test_a_scored_url_has_its_score_as_a_number_and_its_reasons_as_texts() -> None:
    result = score_url({**ROW, "isHub": True, "hubDepth": 4}, now=NOW)
    assert isinstance(result.score, float)
    assert (result.url, result.reasons) == (ROW["url"], ("Is a hub page", "Deep URL"))
    assert result.score == 55.0
    assert json.loads(json.dumps({"score": result.score})) == {"score": 55}
    assert [(point.rule, point.points) for point in result.points] == [
        ("base", 50), ("hub", 10), ("deep", -5),
    ]  # fmt: skip
    assert sum(point.points for point in result.points) == result.score


def three_urls() -> list[dict[str, object]]:
    """URLs that score 94, 50 and 15, the last one first."""
    low = {**ROW, "url": "https://a.example/low", "lastVisited": NOW, "hubDepth": 4}
    high = {
        **ROW, "url": "https://a.example/high", "lastChanged": NOW, "topicRelevance": 0.9, "isHub": True,
    }  # fmt: skip
    return [low, {**ROW, "url": "https://a.example/middle"}, high]


def test_thresholds_and_diagnostics_as_the_document_writes_them() -> None:
    ranked = rank_urls(three_urls(), now=NOW)
    assert [r.url for r in ranked if r.score >= 70] == ["https://a.example/high"]
    assert [r.url for r in ranked if r.score < 30] == ["https://a.example/low"]
    assert [f"{r.score} {r.url}\n  Reasons: {', '.join(r.reasons)}" for r in ranked[:5]] == [
        "94 https://a.example/high\n  Reasons: Changed in last 24h, High topic relevance, Is a hub page",
        "50 https://a.example/middle\n  Reasons: ",
        "15 https://a.example/low\n  Reasons: Recently visited (<1h), Deep URL",
    ]


@pytest.mark.parametrize(
    ("limits", "urls"),
    [
        ({"min_score": 70}, ["high"]),
        ({"max_score": 30}, ["low"]),
        ({"max_score": 50}, ["low"]),
        ({"max_score": 50.5}, ["middle", "low"]),
        ({"min_score": 30, "max_score": 70}, ["middle"]),
        ({"max_score": 94, "top": 1}, ["middle"]),
    ],
)
def test_thresholds_of_a_file(tmp_path: Path, limits: dict[str, Any], urls: list[str]) -> None:
    rows = [{key: str(value) for key, value in row.items()} for row in three_urls()]
    file = tmp_path / "known.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    entries = plan_file(str(file), now=NOW, **limits).entries
    assert [(entry.rank, entry.scored.url.rpartition("/")[2]) for entry in entries] == [
        (["high", "middle", "low"].index(name) + 1, name) for name in urls
    ]


def test_a_queue_is_the_best_100_and_a_threshold_cuts_it(tmp_path: Path) -> None:
    rows = [{**ROW, "url": f"https://a.example/{n}", "isHub": True, "hubDepth": n % 5} for n in range(150)]
    rows += [{**ROW, "url": "https://a.example/new", "isHub": True, "lastChanged": NOW.isoformat()}]
    ranked = rank_urls(rows, now=NOW, top=100)
    assert (len(ranked), ranked[0].url) == (100, "https://a.example/new")
    file = tmp_path / "known.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert [entry.scored.url for entry in plan_file(str(file), now=NOW, min_score=70).entries] == [
        "https://a.example/new"
    ]


def test_files_are_planned_by_this_score_and_stores_by_what_was_learned(tmp_path: Path) -> None:
    file = tmp_path / "known.jsonl"
    file.write_text(json.dumps(ROW), "utf-8")
    (entry,) = plan_file(str(file), now=NOW).entries
    assert repr(entry.scored.score) == repr(score_url(ROW, now=NOW).score)
    assert inspect.signature(plan_store).parameters["policy"].default == "learned"
