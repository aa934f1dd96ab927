"""The studio as a person uses it, in a real browser: look, filter, ask why, change a rule, label, save, watch a crawl, make a mistake.

Needs playwright and chromium; without them the tests are skipped. A console error or a request to another machine fails every test.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from studio_server import Made, make, opened

from honeyguide.app.views.stores import read_live
from honeyguide.demo import serve_demo
from honeyguide.errors import HoneyguideError
from honeyguide.report import write_report

if TYPE_CHECKING:
    from collections.abc import Iterator

playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")]
PATIENCE_MS = 60_000.0  # for one expectation, on a busy machine
VIEWS = (
    "/", "/pick", "/pick/site?n=0", "/pick/find?search=windows", "/what-if", "/crawl", "/crawl/pages?run=1", "/crawl/summary?run=1",
    "/crawl/tree?run=1", "/crawl/live?run=1", "/why?url=/gutters", "/plan",
)  # fmt: skip


def expect(target: Any) -> Any:
    return playwright_api.expect(target)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playwright_api.expect.set_options(timeout=PATIENCE_MS)
    with playwright_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Visit:
    """A page of the browser, and all that went wrong on it."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.base = address.partition("/?")[0]
        self.problems: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("dialog", lambda dialog: self.problems.append(f"a script ran: {dialog.message}"))
        page.on("request", self._note)
        page.goto(address)

    def _hear(self, said: Any) -> None:
        if said.type == "error":
            self.problems.append(said.text)

    def _note(self, request: Any) -> None:
        if not request.url.startswith((f"{self.base}/", "file:", "data:")):
            self.problems.append(f"a request to {request.url}")

    def go(self, path: str) -> Any:
        self.page.goto(f"{self.base}{path}")
        return self.page


@pytest.fixture
def visit(made: Made, chromium: Any) -> Iterator[Visit]:
    """Open a studio of its own, so that no test sees the changes of another."""
    with opened(made.folder) as studio:
        context = chromium.new_context()
        found = Visit(context.new_page(), studio.studio.address)
        yield found
        context.close()
    assert found.problems == []


def test_the_printed_address_opens_and_keys_lead_on(visit: Visit) -> None:
    page = visit.page
    expect(page).to_have_url(f"{visit.base}/")  # the token is gone
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(page).to_have_url(f"{visit.base}/crawl")


def test_pages_are_searched_filtered_and_sorted(visit: Visit) -> None:
    page = visit.go("/crawl")
    page.get_by_role("link", name="Run 1").click()
    page.get_by_label("Search URLs and titles").fill("gutters")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_label("Search URLs and titles").fill("")
    page.get_by_label("Show").select_option("failed")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("tbody tr, .empty").first).to_be_visible()
    visit.go("/pick/site?n=0")
    page.keyboard.press("/")
    page.keyboard.type("windows")
    expect(page.locator("tbody tr:visible")).to_have_count(1)
    expect(page.locator("[data-count]")).to_have_text(re.compile(r"^1 of \d+$"))
    page.get_by_role("searchbox").last.fill("")
    page.get_by_role("button", name="Score").click()
    expect(page.get_by_role("columnheader", name="Score")).to_have_attribute("aria-sort", "ascending")


def test_why_of_a_url(visit: Visit) -> None:
    page = visit.go("/crawl/pages?run=1&search=gutters")
    page.get_by_role("link", name="Why?").click()
    expect(page.locator(".steps")).to_contain_text("By its address it is inside the crawl")
    page.get_by_label("Why was a page fetched, or not?").fill("/no/such/page")
    page.get_by_role("button", name="Ask why").click()
    expect(page.get_by_role("alert")).to_contain_text("/no/such/page")
    visit.problems = [
        one for one in visit.problems if "status of 400" not in one
    ]  # the browser names the answer


def test_one_weight_changes_picks_and_is_marked(visit: Visit, made: Made) -> None:
    page = visit.go("/what-if")
    team = page.locator("[data-control='points:kind:team']")
    row = page.locator(".field", has=team)
    team.fill("99")
    expect(page.locator("[data-what-if-status]")).to_have_text("1 of 1 site changes.")
    expect(page.locator("article.changed")).to_contain_text("came")
    expect(page.locator("article.changed a", has_text="/team")).to_have_attribute(
        "href", f"{made.address}team"
    )
    expect(page.locator("#toml")).to_have_value(re.compile('id = "team", points = 99'))
    expect(row).to_have_class(re.compile("is-changed"))
    expect(row).to_contain_text("was 50")
    expect(page.locator("[data-what-if-changes]")).to_contain_text("team 50 → 99")
    visit.go("/what-if")  # the studio remembers
    expect(row).to_have_class(re.compile("is-changed"))
    page.get_by_role("button", name="Undo the change of team").first.click()
    expect(page.locator("[data-what-if-status]")).to_have_text("0 of 1 site changes.")
    expect(row).not_to_have_class(re.compile("is-changed"))
    page.get_by_label("Find a rule").fill("certif")
    expect(page.locator("[data-control='points:kind:certifications']")).to_be_visible()
    expect(team).to_be_hidden()


def test_two_changes_in_quick_succession_both_count(visit: Visit) -> None:
    page = visit.go("/what-if")
    page.evaluate(
        """() => {
            for (const [key, value] of [["points:kind:team", 99], ["cap::cap", 2], ["points:kind:about", 1]]) {
                const field = document.querySelector(`[data-control="${key}"]`);
                field.value = value;
                field.dispatchEvent(new Event("input", { bubbles: true }));
            }
        }"""
    )
    expect(page.locator("[data-what-if-changes] li")).to_have_count(3)
    expect(page.locator("#toml")).to_have_value(re.compile("cap = 2"))
    expect(page.locator("#toml")).to_have_value(re.compile('"team", points = 99'))
    expect(page.locator("#toml")).to_have_value(re.compile('"about", points = 1'))


def test_a_mistake_in_toml_is_shown_at_its_line(visit: Visit) -> None:
    page = visit.go("/what-if")
    text = page.locator("#toml")
    text.fill(text.input_value() + "[[[")
    expect(page.locator("#problems")).to_contain_text("Line 5: is not TOML")
    expect(page.locator(".gutter .is-wrong")).to_have_text("5")
    expect(text).to_have_attribute("aria-invalid", "true")
    page.locator("[data-control='cap::cap']").fill("3")
    expect(page.locator("#problems")).to_have_text("")
    expect(page.locator(".gutter .is-wrong")).to_have_count(0)


def test_labels_and_profiles_are_saved_and_nothing_is_replaced_without_a_word(
    visit: Visit, tmp_path: Path
) -> None:
    page = visit.go("/pick/site?n=0")
    expect(page.locator("[data-label-status]")).to_contain_text("No page is labelled yet")
    page.locator("tr", has_text="gutters").hover()
    page.keyboard.press("1")
    expect(page.locator("[data-label-status]")).to_contain_text("only in this studio until you save them")
    page.get_by_label("Save labels as").fill(f"{tmp_path}/labels.jsonl")
    page.get_by_role("button", name="Save labels").click()
    expect(page.locator("[data-save-status]")).to_contain_text("Saved")
    expect(page.locator("[data-label-status]")).to_contain_text("and saved")
    assert json.loads((tmp_path / "labels.jsonl").read_text("utf-8"))["core"][0].endswith("/gutters")
    target = tmp_path / "mine.toml"
    target.write_text("precious", "utf-8")
    visit.go("/what-if")
    page.locator("[data-control='cap::cap']").fill("2")
    expect(page.locator("#toml")).to_have_value(re.compile("cap = 2"))
    expect(page.locator("[data-what-if-figures]")).to_contain_text("before")
    page.get_by_label("Save profile as").fill(str(target))
    page.get_by_role("button", name="Save profile").click()
    expect(page.locator("form[data-save=profile]")).to_contain_text("exists already. Nothing was written.")
    page.get_by_role("button", name="Keep it").click()
    assert target.read_text("utf-8") == "precious"
    page.get_by_role("button", name="Save profile").click()
    page.get_by_role("button", name="Replace it").click()
    expect(page.locator("form[data-save=profile]")).to_contain_text("Saved")
    assert "cap = 2" in target.read_text("utf-8")


def test_why_not_and_how_to_get_a_page_in(visit: Visit) -> None:
    page = visit.page
    page.get_by_label("Why was a page picked, or not?").fill("windows")
    page.keyboard.press("Enter")
    expect(page.locator("tbody tr")).to_contain_text("not picked")
    page.get_by_role("link", name="How to get it in").click()
    page.get_by_role("button", name="Preview in What if").first.click()
    expect(page).to_have_url(f"{visit.base}/what-if")
    expect(page.locator("article.changed")).to_contain_text("/windows")
    expect(page.locator(".is-changed")).to_have_count(1)


def test_a_crawl_is_watched_while_it_runs(made: Made, chromium: Any, tmp_path: Path) -> None:
    shutil.copy(made.folder / "kept.db", tmp_path / "kept.db")
    store = f"{tmp_path}/store.db"
    with ExitStack() as stack:
        site = stack.enter_context(serve_demo())
        options = ["--allow-private", "--delay", "0.3", "--topic", "alarm|fire", "--store", store, "--quiet"]
        command = [sys.executable, "-m", "honeyguide", "crawl", site, *options]
        crawl = stack.enter_context(subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL))  # noqa: S603 - ourselves
        stack.callback(crawl.terminate)
        while not _has_run(store):
            assert crawl.poll() is None
        studio = stack.enter_context(opened(tmp_path))
        found = Visit(chromium.new_page(), studio.studio.address)
        page = found.go("/crawl/live?run=1")
        expect(page.locator("[data-live=fetched]")).to_have_text(re.compile(r"\d"))
        expect(page.locator("[data-live=state]")).to_have_text(
            "Stopped: complete"
        )  # without loading the page again
        expect(page.locator("[data-live=fetched]")).to_have_text("20")
        expect(page.locator("[data-live-html=rejected]")).to_contain_text("robots.txt disallows it")
        page.close()
    assert found.problems == []


def _has_run(store: str) -> bool:
    if not Path(store).exists():
        return False
    try:
        return read_live(store, 1) is not None
    except HoneyguideError:  # its tables are being made
        return False


@pytest.mark.parametrize("path", VIEWS)
def test_hostile_text_is_text_in_a_browser(visit: Visit, path: str) -> None:
    page = visit.go(path)
    expect(page.locator("h1")).to_be_visible()
    assert page.locator("main img, main script, main style, main iframe").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0


def test_no_view_has_a_serious_fault_of_accessibility_or_scrolls_sideways(
    visit: Visit, chromium: Any
) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    token = visit.page.context.cookies()
    for width, scheme in ((1280, "light"), (390, "dark")):
        look = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme, "bypass_csp": True}
        context = chromium.new_context(**look)
        context.add_cookies(token)
        page = context.new_page()
        for path in VIEWS:
            page.goto(f"{visit.base}{path}")
            assert page.locator("html").evaluate("page => page.scrollWidth - page.clientWidth") <= 0, path
            faults = axe.Axe().run(page).response["violations"]
            serious = [one["id"] for one in faults if one["impact"] in ("serious", "critical")]
            assert serious == [], f"{path} at {width} pixels, {scheme}"
        context.close()


def test_a_report_of_a_thousand_sites_is_filtered_sorted_and_opened(chromium: Any, tmp_path: Path) -> None:
    evil = "</noscript><script>alert(1)</script>"
    page = {
        "url": "https://a.example/x",
        "title": evil,
        "rank": 1,
        "score": 9,
        "bucket": "about",
        "points": [],
    }
    records = (
        {"site": f"site-{n}.example", "status": "ok", "title": evil, "selected": [page], "candidates": [page]}
        for n in range(1_000)
    )
    write_report(records, tmp_path / "report.html", [("Command", "honeyguide pick")])
    found = Visit(chromium.new_page(), f"file://{tmp_path}/report.html")
    shown = found.page
    shown.get_by_label("Filter").fill("site-642")
    expect(shown.locator("#shown")).to_have_text("1 of 1000")
    shown.get_by_text("site-642.example").click()
    expect(shown.locator("#s643 ol.pages").first).to_contain_text("</noscript><script>")
    shown.get_by_label("Filter").fill("")
    shown.get_by_label("Order").select_option("name")
    expect(shown.locator("details.site").nth(1)).to_contain_text("site-1.example")
    shown.close()
    assert found.problems == []
