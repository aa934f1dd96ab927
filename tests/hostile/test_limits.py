"""Every limit of `docs/reference/limits.md` is enforced, and its test would notice if it were not.

A row here is a row there: the same name, the same value. Each has an attack that goes just beyond the limit. It is run
twice: with the limit it must end as the table says, and without the limit it must not.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from unittest.mock import patch

import attacks_of_files as files
import attacks_of_sites as sites
import attacks_on_outputs as outputs
import pytest
from attacks_of_sites import NONE
from click.testing import CliRunner

from honeyguide import app
from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.cli.main import root
from honeyguide.config import load_profile
from honeyguide.core.crawl.frontier import Budgets
from honeyguide.core.fetching import FetchPolicy
from honeyguide.errors import HoneyguideError
from honeyguide.ports.fetch import Part
from honeyguide.testing.memory_store import MemoryStore

SOURCE = Path(app.__file__).parents[1]
DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "limits.md"

Attack = Callable[[int, int], object]
"""Goes beyond the first number; the second is the limit in force, for those that hand it over themselves."""


@dataclass(frozen=True)
class Limit:
    """A row of the table: its name, its value there, where it is set, and an attack that goes beyond it.

    `tried` is a smaller value to try it with, where the real one would take too long to go beyond.
    """

    name: str
    value: str
    place: str
    attack: Attack
    tried: int | None = None
    also: str = ""  # a module that took it over by its name

    @property
    def real(self) -> int:
        """Read the value from where it is set."""
        kind, _, name = self.place.rpartition(":")
        if kind == "policy":
            return int(getattr(FetchPolicy(), name))
        if kind in ("traps", "crawl"):
            return int(getattr(getattr(load_profile("docs", topic="x"), kind), name))
        value = getattr(importlib.import_module(f"honeyguide.{kind}"), name.partition("[")[0])
        return int(value[_key(name)] if "[" in name else value)

    @contextmanager
    def set_to(self, number: int) -> Iterator[None]:
        """Have another limit for a while; what is handed over by the attack itself is left alone."""
        kind, _, name = self.place.rpartition(":")
        with ExitStack() as stack:
            if kind not in ("policy", "traps", "crawl"):
                module = importlib.import_module(f"honeyguide.{kind}")
                if "[" in name:
                    stack.enter_context(
                        patch.dict(getattr(module, name.partition("[")[0]), {_key(name): number})
                    )
                else:
                    stack.enter_context(patch.object(module, name, number))
                if self.also:
                    stack.enter_context(
                        patch.object(importlib.import_module(f"honeyguide.{self.also}"), name, number)
                    )
            yield


def _key(name: str) -> object:
    """Read the key of a limit that stands in a table of limits."""
    key = name.partition("[")[2][:-1]
    return Part[key] if key in Part.__members__ else key


LIMITS = [
    Limit("body as sent", "5,242,880 bytes", "policy:max_bytes", sites.sent_bytes, 1000),
    Limit(
        "body after decompression", "10,485,760 bytes", "policy:max_decoded_bytes", sites.decoded_bytes, 1000
    ),
    Limit(
        "one header",
        "65,536 bytes",
        "adapters.http.connection:MAX_LINE_BYTES",
        sites.header_bytes,
        also="adapters.http.client",
    ),
    Limit(
        "headers of an answer",
        "256",
        "adapters.http.connection:MAX_HEADERS",
        sites.header_count,
        also="adapters.http.client",
    ),
    Limit(
        "all headers of an answer",
        "262,144 bytes",
        "adapters.http.connection:MAX_HEAD_BYTES",
        sites.all_header_bytes,
    ),
    Limit(
        "bodies read at once",
        "16,777,216 bytes",
        "adapters.http.body:MAX_READING_BYTES",
        sites.reading_bytes,
    ),
    Limit(
        "bodies waiting in memory",
        "16,777,216 bytes",
        "jobs.results:MAX_HELD_BYTES",
        sites.waiting_bytes,
        1000,
    ),
    Limit("redirects of a page", "10", "policy:max_redirects", sites.redirects),
    Limit(
        "page that sends its readers elsewhere",
        "65,536 bytes",
        "adapters.html.page:MAX_FORWARD_BYTES",
        sites.forward_bytes,
    ),
    Limit("redirects of robots.txt", "5", "jobs.politeness:_MAX_ROBOTS_REDIRECTS", sites.robots_redirects),
    Limit("head of a page", "65,536 bytes", "adapters.http.body:CUTS[HEAD]", sites.head_bytes),
    Limit("robots.txt", "512,000 bytes", "adapters.http.body:CUTS[START]", sites.robots_bytes),
    Limit(
        "sitemaps that robots.txt names", "1,000", "adapters.http.robots:_MAX_SITEMAPS", sites.robots_sitemaps
    ),
    Limit(
        "wildcard rules of robots.txt × characters of a URL",
        "50,000,000",
        "adapters.http.robots:MAX_STEPS",
        sites.robots_steps,
        10_000,
    ),
    Limit("sitemap", "52,428,800 bytes", "adapters.html.sitemaps:MAX_BYTES", sites.sitemap_bytes, 100_000),
    Limit(
        "sitemap over the wire",
        "52,428,800 bytes",
        "adapters.http.body:MAX_FILE_BYTES",
        sites.file_bytes,
        1000,
        also="adapters.http.client",
    ),
    Limit("entries of a sitemap", "50,000", "adapters.html.sitemaps:MAX_PAGES", sites.sitemap_pages),
    Limit(
        "address in a sitemap",
        "2,048 characters",
        "adapters.html.sitemaps:MAX_URL_CHARS",
        sites.sitemap_url_chars,
    ),
    Limit(
        "address in a feed",
        "2,048 characters",
        "adapters.html.sitemaps:MAX_URL_CHARS",
        sites.feed_url_chars,
    ),
    Limit("sitemaps of a crawl", "500", "jobs.sitemaps:MAX_FILES", sites.sitemap_files),
    Limit("sitemaps inside sitemaps", "3 levels", "jobs.sitemaps:MAX_LEVELS", sites.sitemap_levels),
    Limit("pages from all sitemaps", "200,000", "jobs.sitemaps:MAX_PAGES", sites.sitemap_all_pages, 50),
    Limit("sitemaps that list nothing", "20", "jobs.sitemaps:MAX_USELESS", sites.sitemap_useless),
    Limit("time for all sitemaps", "900 seconds", "jobs.sitemaps:MAX_S", sites.sitemap_seconds),
    Limit("frames of a homepage", "4", "jobs.homepage:MAX_FRAMES", sites.pick_frames),
    Limit("sitemaps of a pick", "5", "jobs.pick:MAX_SITEMAPS", sites.pick_sitemaps),
    Limit("pages of the sitemaps of a pick", "5,000", "jobs.pick:MAX_LISTED_PAGES", sites.pick_listed_pages),
    Limit("candidates from sitemaps", "200", "jobs.homepage:MAX_LISTED", sites.pick_listed),
    Limit("heads of a site", "30", "jobs.pick:MAX_HEADS", sites.heads),
    Limit("pages in place of dead and empty ones", "30", "jobs.pick:MAX_REPLACING", sites.replacing),
    Limit(
        "markup of a page", "10,485,760 bytes", "adapters.html.guards:MAX_BYTES", sites.markup_bytes, 300_000
    ),
    Limit("tags of a page", "250,000", "adapters.html.guards:MAX_TAGS", sites.markup_tags, 50_000),
    Limit("depth of markup", "2,000 elements", "adapters.html.guards:MAX_DEPTH", sites.markup_depth),
    Limit("attributes of a tag", "256", "adapters.html.guards:MAX_ATTRIBUTES", sites.markup_attributes),
    Limit("unclosed styling", "250,000 copies", "adapters.html.guards:MAX_COPIES", sites.markup_copies),
    Limit("links of a page", "20,000", "adapters.html.links:MAX_LINKS", sites.links, 500),
    Limit(
        "versions of a page in other languages (hreflang)",
        "300",
        "adapters.html.page:_MAX_VERSIONS",
        sites.versions,
    ),
    Limit(
        "international hosts of a page",
        "1,000",
        "adapters.html.links:MAX_INTERNATIONAL",
        sites.international_hosts,
        50,
    ),
    Limit(
        "links of a Markdown text", "20,000", "app.tools.pages:MAX_MARKDOWN_LINKS", sites.markdown_links, 500
    ),
    Limit(
        "characters of a Markdown text",
        "2,000,000",
        "adapters.files.markdown:MAX_CHARS",
        sites.markdown_chars,
        500,
    ),
    Limit(
        "lines and marks of a Markdown text",
        "100,000",
        "adapters.files.markdown:MAX_MARKS",
        sites.markdown_marks,
        500,
    ),
    Limit("occurrences of a link", "20", "adapters.html.links:MAX_OCCURRENCES", sites.occurrences),
    Limit("hrefs that are no links", "1,000", "adapters.html.links:MAX_SKIPPED", sites.skipped_hrefs),
    Limit("such an href", "200 characters", "adapters.html.links:MAX_SKIPPED_HREF", sites.skipped_chars),
    Limit("text of a page", "1,000,000 characters", "adapters.html.walk:MAX_TEXT", sites.text_chars, 1000),
    Limit("title, heading, anchor", "500 characters", "adapters.html.walk:MAX_LABEL", sites.label_chars),
    Limit("description", "2,000 characters", "adapters.html.page:MAX_DESCRIPTION", sites.description_chars),
    Limit("headings of a page", "500", "adapters.html.walk:MAX_HEADINGS", sites.headings),
    Limit(
        "markup read for content",
        "2,097,152 bytes",
        "adapters.html.content:MAX_HTML_BYTES",
        sites.content_html,
        5_000,
    ),
    Limit(
        "content of a page",
        "1,000,000 characters",
        "adapters.html.rendering.writer:MAX_CHARS",
        sites.content_markdown,
        5_000,
    ),
    Limit(
        "cells of a table in Markdown",
        "20,000",
        "adapters.html.rendering.writer:MAX_CELLS",
        sites.content_cells,
        50,
    ),
    Limit("headings of content", "200", "adapters.html.content:MAX_HEADINGS", sites.content_headings, 20),
    Limit(
        "heading of content",
        "300 characters",
        "adapters.html.content:MAX_HEADING_CHARS",
        sites.content_heading_chars,
    ),
    Limit("URL", "65,536 characters", "core.url.steps:MAX_CHARS", files.url_chars),
    Limit("international host", "1,000 characters", "core.url.host:MAX_NAME_CHARS", files.host_chars),
    Limit(
        "part of an international host", "63 characters", "core.url.host:MAX_LABEL_CHARS", files.label_chars
    ),
    Limit("marks in a row", "32", "core.text.fold:MAX_RUN", files.marks_in_a_row),
    Limit("URL in a crawl", "2,000 characters", "traps:max_url_chars", files.crawl_url_chars),
    Limit("path segments in a crawl", "20", "traps:max_segments", files.crawl_segments),
    Limit("pattern", "4,000 characters", "core.text.pattern:MAX_PATTERN_CHARS", files.pattern_chars),
    Limit("compiled pattern", "1,500 steps", "core.text.pattern:MAX_STEPS", files.pattern_steps),
    Limit("profile", "262,144 bytes", "config.files:MAX_PROFILE_BYTES", files.profile_bytes),
    Limit("netrc file", "65,536 bytes", "adapters.files.logins:MAX_BYTES", files.netrc_bytes),
    Limit("headers of a command", "50", "core.fetching:MAX_HEADERS", files.own_headers),
    Limit("such a header", "8,000 characters", "core.fetching:MAX_HEADER_CHARS", files.own_header_chars),
    Limit("honeyguide.toml", "16,384 bytes", "cli.settings:MAX_BYTES", files.settings_bytes),
    Limit("profiles that extend each other", "8", "config.extend:MAX_EXTENDS", files.profile_extends),
    Limit("nesting of conditions", "20", "config.conditions:MAX_DEPTH", files.profile_conditions),
    Limit("nesting of a profile", "80", "config.files:MAX_DEPTH", files.profile_depth),
    Limit("dots in a line of a profile", "100", "config.files:_MAX_DOTS", files.profile_dots),
    Limit("rules of a card", "1,000", "config.build:MAX_RULES", files.card_rules),
    Limit("tests of a profile", "5,000", "config.conditions:_LIMITS[tests]", files.profile_tests),
    Limit("words of a profile", "100,000", "config.conditions:_LIMITS[words]", files.profile_words),
    Limit("patterns of a profile", "200", "config.conditions:_LIMITS[patterns]", files.profile_patterns),
    Limit("reported mistakes", "50", "config.files:MAX_PROBLEMS", files.profile_problems),
    Limit(
        "page in a file",
        "20,000,000 bytes",
        "adapters.files.read:MAX_PAGE_BYTES",
        files.page_file_bytes,
        1000,
    ),
    Limit("line of a file", "1,000,000 bytes", "adapters.files.read:MAX_LINE_BYTES", files.line_bytes),
    Limit(
        "blank lines in a row", "1,000,000", "adapters.files.rows:MAX_BLANK_LINES", files.blank_lines, 1000
    ),
    Limit("nesting of JSON in a line", "100", "adapters.files.rows:MAX_NESTED", files.json_nesting),
    Limit(
        "rows on standard input",
        "4,294,967,296 bytes",
        "adapters.files.sources:MAX_STREAM_BYTES",
        files.stdin_bytes,
        1000,
    ),
    Limit("list of sites", "200,000,000 bytes", "adapters.files.sites:MAX_BYTES", files.list_bytes, 1000),
    Limit("sites of a list", "1,000,000", "adapters.files.sites:MAX_SITES", files.list_sites, 50),
    Limit(
        "address in a list", "2,048 characters", "adapters.files.sites:MAX_SITE_CHARS", files.list_site_chars
    ),
    Limit(
        "line of a list",
        "1,000,000 characters",
        "adapters.files.sites:MAX_LINE_CHARS",
        files.list_line_chars,
        1000,
    ),
    Limit(
        "entries of an earlier plan",
        "1,000,000",
        "app.tools.results:MAX_ENTRIES",
        files.earlier_entries,
        20,
    ),
    Limit(
        "text of a link in a row",
        "100,000 characters",
        "adapters.files.links:MAX_TEXT",
        files.link_row_text,
    ),
    Limit(
        "rows of one page in a file of links",
        "20,000",
        "adapters.files.links:MAX_PAGE_ROWS",
        files.page_rows,
        20,
    ),
    Limit(
        "texts of one page in a file of links",
        "10,000,000 characters",
        "adapters.files.links:MAX_PAGE_CHARS",
        files.page_texts,
        500,
    ),
    Limit("pages of files of links", "1,000,000", "adapters.files.links:MAX_PAGES", files.linking_pages, 20),
    Limit(
        "rows of a plan that is shown whole",
        "1,000,000",
        "cli.commands.plan:MAX_ROWS",
        files.plan_rows,
        50,
    ),
    Limit(
        "URLs of a plan compared row by row",
        "1,000,000",
        "core.recrawl.ranking:MAX_REMEMBERED",
        files.compared_urls,
        20,
    ),
    Limit("heads of a selection", "20,000", "app.pick:MAX_HEADS", files.head_rows, 50),
    Limit(
        "record of a pick that is judged",
        "64,000,000 bytes",
        "adapters.files.results:MAX_RECORD_BYTES",
        files.record_bytes,
        1000,
    ),
    Limit(
        "changes of a made-up world",
        "50,000,000",
        "simulation.generated:MAX_CHANGES",
        files.world_changes,
        100,
    ),
    Limit(
        "fetches of a simulation",
        "50,000,000",
        "simulation.run:MAX_FETCHES",
        files.simulated_fetches,
        100,
    ),
    Limit(
        "pages valued without a formula in a simulation",
        "20,000,000",
        "simulation.run:MAX_VALUES",
        files.simulated_values,
        100,
    ),
    Limit(
        "rows of a file to simulate",
        "20,000,000",
        "simulation.worlds:MAX_ROWS",
        files.world_rows,
        20,
    ),
    Limit("tries of a page", "3", "crawl:max_attempts", outputs.attempts),
    Limit("failures of a site in a row", "10", "crawl:max_site_failures", outputs.site_failures),
    Limit(
        "URLs of a host in a crawl", "5,000,000", "core.crawl.limits:MAX_URLS_PER_HOST", outputs.host_urls, 8
    ),
    Limit("hosts of a crawl", "100,000", "core.crawl.limits:MAX_HOSTS", outputs.crawl_hosts, 5),
    Limit("remembered links to a page", "5", "crawl:sightings", outputs.sightings),
    Limit(
        "remembered families of URLs",
        "20,000",
        "core.crawl.traps:MAX_FAMILIES",
        outputs.families,
        2_000,
    ),
    Limit(
        "link groups of a site",
        "300",
        "core.crawl.learner:MAX_GROUPS",
        outputs.link_groups,
        20,
        also="adapters.store.common.worths",
    ),
    Limit("remembered anchor", "200 characters", "core.crawl.judge:_MAX_ANCHOR", outputs.sighting_chars),
    Limit(
        "words of a page to robots", "500 characters", "core.records:_MAX_ROBOTS_CHARS", outputs.robots_chars
    ),
    Limit(
        "remembered command",
        "500 characters",
        "cli.commands.crawl:_MAX_COMMAND",
        outputs.command_chars,
    ),
    Limit(
        "hosts whose pace is remembered",
        "1,000",
        "jobs.politeness:_MAX_HOSTS",
        outputs.remembered_hosts,
        20,
    ),
    Limit(
        "remembered robots.txt files",
        "1,000",
        "jobs.politeness:_MAX_ROBOTS",
        outputs.remembered_robots,
        20,
    ),
    Limit(
        "remembered robots.txt files, together",
        "33,554,432 bytes",
        "jobs.politeness:_MAX_ROBOTS_BYTES",
        outputs.remembered_robots_bytes,
        10_000,
    ),
    Limit(
        "line of a resumed output",
        "268,435,456 bytes",
        "adapters.output.write:MAX_LINE_BYTES",
        outputs.output_line,
        1_000,
        also="adapters.output.pick_file",
    ),
    Limit("line in a terminal", "4,000 characters", "cli.output:MAX_LINE_CHARS", outputs.shown_line),
    Limit("marks on a letter", "6", "core.text.printable:MAX_MARKS", outputs.marks),
    Limit("text in a report", "200 characters", "report.sheet:MAX_TEXT", outputs.report_text),
    Limit("link in a report", "500 characters", "report.sheet:MAX_URL", outputs.report_url),
    Limit("picks of a site in a report", "50", "report.pick:MAX_SELECTED", outputs.report_selected),
    Limit("candidates of a site in a report", "40", "report.pick:MAX_RANKED", outputs.report_ranked),
    Limit("pages by rule in a report", "12", "report.sheet:MAX_LISTED", outputs.report_listed),
    Limit("failed sites by kind in a report", "30", "report.pick:MAX_NAMED", outputs.report_named),
    Limit(
        "report with all candidates",
        "16,000,000 bytes",
        "report:MAX_DETAILED_BYTES",
        outputs.report_bytes,
        3_000,
    ),
    Limit("pages of a crawl or a plan in a report", "200", "report.sheet:MAX_PAGES", outputs.report_pages),
    Limit("lines under a heading of a report", "50", "report.sheet:MAX_LINES", outputs.report_lines),
    Limit(
        "other sites that a report tells apart", "100,000", "report.crawl:MAX_SITES", outputs.report_sites, 20
    ),
    Limit(
        "name of a file",
        "60 characters",
        "adapters.output.page_file:MAX_NAME_CHARS",
        outputs.file_name_chars,
    ),
    Limit(
        "path of a file",
        "180 characters",
        "adapters.output.page_file:MAX_PATH_CHARS",
        outputs.file_path_chars,
    ),
]
by_name = pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)


@by_name
def test_beyond_the_limit_it_ends_as_is_said(limit: Limit) -> None:
    number = limit.tried or limit.real
    with limit.set_to(number):
        limit.attack(number, number)


@by_name
def test_without_the_limit_the_test_would_fail(limit: Limit) -> None:
    number = limit.tried or limit.real
    with limit.set_to(NONE), pytest.raises((AssertionError, HoneyguideError, pytest.fail.Exception)):
        limit.attack(number, NONE)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_crawl_that_goes_on_counts_on(tmp_path: Path, kind: str) -> None:
    store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "h.db")
    home, link = sites.HOME, outputs.linking
    pages = {
        home.text: link("/a", "/b"),
        f"{home}a": link("/c", "/d", "/e"),
        f"{home}b": link("/f", "/g", "/h"),
    }
    with patch("honeyguide.core.crawl.limits.MAX_URLS_PER_HOST", 5):
        outputs.crawl(pages, Budgets(max_pages=2), store)
        _, summary, _ = outputs.crawl(pages, store=store)
    assert store.queue(store.runs.list()[0]).urls_per_host() == {"a.example": 5}
    assert summary.counts.skipped["host-full"] == 4
    store.close()
    if kind == "sqlite":
        command = ["explain", f"{home}h", "--store", str(tmp_path / "h.db"), "--format", "table"]
        told = CliRunner().invoke(root, command, prog_name="honeyguide")
        assert "But the crawl met more than it keeps (host-full): it may be one of those." in told.stdout


# --- the table ----------------------------------------------------------------------------------------------------


def table() -> dict[str, list[str]]:
    """Read the rows of the page: name, value, what happens beyond it, where it is set."""
    rows = re.findall(r"^\| (.*) \|$", DOCS.read_text("utf-8"), re.MULTILINE)
    cells = [row.split(" | ") for row in rows]
    return {row[0]: row[1:] for row in cells if row[0] not in ("Limit", "---")}


# Constants that bound how something is done, not what a stranger may send; each is inside of a limit of the table.
INNER = {
    "adapters.store.common.contents:MAX_BYTES",  # of a body that no fetcher of ours gives
    "bulk.file_table:MAX_LOOKED_UP",
    # what spreadsheets allow, proved by tests/cli/test_cli_tables.py
    "adapters.output.xlsx:MAX_CELL", "adapters.output.xlsx:MAX_ROWS", "adapters.output.xlsx:_MAX_ROW_BYTES",
    # proved by tests/hostile/test_read_back.py
    "adapters.output.xlsx:_MAX_ROW_PARTS", "core.records.fields:MAX_NUMBER",
    # what an agent may ask for, and what a file of kept answers may hold: tests/contrib/test_mcp.py, tests/cli/test_cli_replay.py
    "contrib.mcp:MAX_PAGES", "contrib.mcp:MAX_CHARS", "contrib.mcp:MAX_HTML",
    "adapters.files.kept_responses:_MAX_SITEMAPS", "adapters.files.kept_responses:_MAX_SITES", "adapters.files.kept_responses:_MAX_OUTCOME", "adapters.files.kept_responses:_MAX_MADE",
    # what the studio shows at once, and what it takes: tests/studio
    "app.views.ways_in:MAX_TRIES", "app.views.ways_in:MAX_WAYS", "app.views.ways_in:_MAX_WORDS", "app.views.stores:MAX_RATES", "app.views.stores:MAX_RANKED", "studio.crawls:MAX_RUN", "studio.saving:_MAX_URL", "studio.picks:MAX_FOUND",
    "studio.picks:MAX_SITES", "studio.shell:MAX_CELL", "studio.server:MAX_BODY", "studio.what_if:_MAX_WORDS_CHARS", "app.views.what_if:MAX_MEMORY",
    "app.views.what_if:MAX_WORDS", "app.views.stores:MAX_SITES", "app.views.stores:MAX_SUMMARY", "adapters.store.common.browse:MAX_ROWS",
    "adapters.store.common.browse:_MAX_RECORD",
    "adapters.html.rendering.tokens:MAX_TOKENS", "adapters.html.rendering.writer:MAX_INDENT", "adapters.html.content:_MAX_HREF",
    "adapters.html.rendering.writer:MAX_CELL_CHARS", "adapters.html.rendering.writer:MAX_COLUMNS",
    "adapters.html.links:_MAX_MISSES", "adapters.http.client:_MAX_CAUSES", "adapters.http.addresses:_MAX_THREADS", "adapters.http.robots:MAX_BYTES",
    "adapters.html.sitemaps:_MAX_LINES", "adapters.html.sitemaps:_MAX_TAGS", "adapters.http.connection:_MAX_SPLITS", "adapters.files.results:MAX_NAME",
    "app.crawl:MAX_WAIT_S", "config.conditions:MAX_NUMBER", "config.conditions:MAX_PATTERNS", "config.conditions:MAX_TESTS",
    "config.conditions:MAX_WORDS", "config.files:_MAX_CHARS", "config.shapes:MAX_CAP", "config.shapes:MAX_WISHES", "core.pick.location_pages:MAX_ANCHOR_WORDS",
    "core.page.likeness:_MAX_PARTS", "core.pick.look:_MAX_CHARS", "adapters.html.walk:_MAX_TITLES", "adapters.files.links:MAX_LISTED",
    "adapters.files.results:MAX_FIRST",
    "core.text.pattern:_MAX_PROGRAM_BYTES", "adapters.html.page:_MAX_DRAWING_DEPTH", "adapters.html.rendering.tokens:_MAX_TITLES",
    "adapters.html.links:_MAX_KNOWN", "adapters.html.links:_MAX_ALTERNATIVE_NODES", "adapters.html.walk:_MAX_RAW_CHARS",
    "adapters.html.walk:_MAX_RAW_PARTS", "adapters.html.walk:_MAX_STYLING", "adapters.html.groups:_MAX_CHILDREN",
    "adapters.html.groups:_MAX_LABEL_NODES", "adapters.html.groups:_MAX_HEADING_DEPTH", "adapters.files.sites:_MAX_RAW_CHARS",
    "adapters.files.sites:_MAX_SPAN", "adapters.files.results:_MAX_POINTS", "adapters.output.page_file:_MAX_LINE_BYTES",
    "adapters.output.warc:_MAX_LINES", "app.tools.checked:_MAX_ITEMS", "core.page.page:_MAX_JOINED", "core.crawl.learner:_MAX_SHOWN",
    "core.rules.language:_MAX_WORDS", "adapters.store.common.queue:_MAX_COPIES", "core.recrawl.signals:_MAX_TIME_CHARS",
    # what the page says below its tables: the longest obeyed Retry-After, and rendering, which has a guide
    "core.fetching:MAX_REST_S", "adapters.render.fetcher:_MAX_SCRIPTS_BYTES", "adapters.render.fetcher:_MAX_LOOKED_BYTES",
}  # fmt: skip


def test_no_limit_of_the_code_is_left_out() -> None:
    named = {
        f"{path.relative_to(SOURCE).with_suffix('').as_posix().replace('/', '.').removesuffix('.__init__')}:{name}"
        for path in SOURCE.rglob("*.py")
        for name in re.findall(r"^(_?MAX_[A-Z_]+)\b[^=\n]*=", path.read_text("utf-8"), re.MULTILINE)
    }
    listed = {limit.place.removesuffix("]").replace("[", ".") for limit in LIMITS}
    assert named - listed - INNER == set(), "give it a row in LIMITS and in the page, or say in INNER why not"
    assert INNER - named == set()


def test_the_table_has_every_limit_and_no_other() -> None:
    assert list(table()) == [limit.name for limit in LIMITS]


def test_the_page_has_the_times_of_a_policy() -> None:
    told = re.findall(
        r"^- .*: ([0-9,]+) seconds \(`FetchPolicy\.(\w+)`\)", DOCS.read_text("utf-8"), re.MULTILINE
    )
    names = {field.name for field in fields(FetchPolicy) if field.name.endswith("_s")}
    assert {name for _, name in told} == names - {"delay_s", "backoff_s"}  # pace, not limits
    assert [value for value, _ in told] == [f"{getattr(FetchPolicy(), name):,.0f}" for _, name in told]


@by_name
def test_the_table_has_the_value_that_is_set(limit: Limit) -> None:
    assert table()[limit.name][0] == limit.value
    assert limit.value.split(" ")[0] == f"{limit.real:,}"


@by_name
def test_the_table_says_where_it_is_set(limit: Limit) -> None:
    kind, _, name = limit.place.rpartition(":")
    where = table()[limit.name][2]
    bare = name.partition("[")[0]
    assert where == {
        "policy": f"`FetchPolicy.{bare}`",
        "traps": f"profile, `traps.{bare}`",
        "crawl": f"profile, `crawl.{bare}`",
    }.get(kind, _file_of(kind))


def _file_of(module: str) -> str:
    path = module.replace(".", "/")
    return f"`{path}/__init__.py`" if (SOURCE / path).is_dir() else f"`{path}.py`"
