"""A site that scripts make is picked and crawled as its static twin. Needs honeyguide[render] and Chromium (tools/check_render.py)."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from shell_site import PATHS, SHELL, Site, body_of, served, shell_answer, static_answer

import honeyguide
from honeyguide import FetchPolicy, InputError
from honeyguide.cli.main import root

POLICY = FetchPolicy(allow_private=True, delay_s=0, jitter=0)


def has_browser() -> bool:
    from honeyguide.adapters.render.browser import find_browser

    try:
        find_browser()
    except InputError:
        return False
    return True


needs_browser = pytest.mark.skipif(not has_browser(), reason="needs honeyguide[render] and Chromium")
_RENDERED = ("rendered", "rendered-in-vain")


def picked(site: Site, render: str) -> tuple[str, str | None, list[tuple[object, ...]]]:
    found = honeyguide.pick(site.url, policy=POLICY, render=render, content=True)
    rows: list[tuple[object, ...]] = []
    for page in found.pages:
        reasons = tuple(reason for reason in page.reasons if not reason.startswith("rendered"))
        rows.append(
            (
                page.rank,
                page.url.removeprefix(site.url),
                page.score,
                page.bucket,
                page.title,
                reasons,
                page.markdown.replace(site.url, ""),
            )
        )
    return found.status, found.reason, rows


def crawled(site: Site, render: str, **more: object) -> list[tuple[object, ...]]:
    settings: dict[str, object] = {
        "topic": "alarm",
        "policy": POLICY,
        "render": render,
        "max_pages": 40,
        **more,
    }
    pages = honeyguide.crawl(site.url + "/", **settings)  # type: ignore[arg-type]  # settings
    return [
        (
            page.url.removeprefix(site.url),
            page.title,
            page.score,
            page.relevance,
            page.record["depth"],
            page.markdown.replace(site.url, ""),
        )
        for page in pages
    ]


@needs_browser
class TestShellSite:
    """30 pages that one script makes, against the same pages sent whole."""

    def test_it_is_picked_as_its_twin_and_the_record_says_so(self) -> None:
        with served(shell_answer) as shell, served(static_answer) as twin:
            status, reason, pages = picked(shell, "auto")
            assert (status, pages) == ("ok", picked(twin, "auto")[2])
            assert len(pages) == 4
            assert reason == "the homepage is rendered: empty mount point"
            assert picked(shell, "never")[0] == "partial"

    def test_it_is_crawled_as_its_twin(self) -> None:
        with served(shell_answer) as shell, served(static_answer) as twin:
            found = crawled(shell, "auto")
            assert len(found) == len(PATHS) == 30
            assert found == crawled(twin, "never")
            assert shell.seen.count("/app.js") == 1

    def test_every_record_says_why_it_was_rendered(self, tmp_path: Path) -> None:
        with served(shell_answer) as shell:
            pages = list(
                honeyguide.crawl(
                    shell.url + "/",
                    topic="alarm",
                    policy=POLICY,
                    render="auto",
                    store=tmp_path / "s.db",
                    max_pages=5,
                )
            )
            said = [
                point["reason"]
                for page in pages
                for point in page.record["points"]
                if point["rule"] == "rendered"
            ]
            helped = "rendered: empty mount point, rendering helped on its site"
            assert said == ["rendered: empty mount point", *[helped] * 4]
            # The same call resumes, and remembers that rendering helps there.
            more = list(
                honeyguide.crawl(
                    shell.url + "/",
                    topic="alarm",
                    policy=POLICY,
                    render="auto",
                    store=tmp_path / "s.db",
                    max_pages=6,
                )
            )
            assert [page.url for page in more[:5]] == [page.url for page in pages]
            assert more[5].reasons[-1] == helped


@needs_browser
def test_a_static_site_is_hardly_rendered() -> None:
    """20 static pages of which one looks like a shell: that one is tried, and none after it."""
    links = "".join(f'<a href="/{n}">Page {n}</a>' for n in range(20))
    pages: dict[str, tuple[str, str | bytes]] = {
        f"/{n}": (
            "text/html",
            f"<html><body>{links}<p>{' '.join(f'word{n}{k}' for k in range(99))}</p><script>x = 1</script></body></html>",
        )
        for n in range(20)
    }
    pages |= {
        f"/{n}": ("text/html", SHELL.replace("<div", f"<a href=/{n + 1}>next</a><div")) for n in (3, 4, 5)
    }
    with served(pages={"/": pages["/0"], **pages}) as site:
        found = list(honeyguide.crawl(site.url + "/", policy=POLICY, render="auto"))
        assert len(found) == 21
        rules = [
            point["rule"] for page in found for point in page.record["points"] if point["rule"] in _RENDERED
        ]
        assert rules == ["rendered-in-vain"]


@needs_browser
def test_requests_of_a_page_are_paced_like_pages(tmp_path: Path) -> None:
    files = "".join(f'<script src="/{n}.js"></script>' for n in range(4))
    script = "document.getElementById('root').innerHTML += " + repr(body_of("/"))
    pages: dict[str, tuple[str, str | bytes]] = {f"/{n}.js": ("text/javascript", script) for n in range(4)}
    pages["/robots.txt"] = ("text/plain", "User-agent: *\nDisallow: /2.js")
    pages["/"] = ("text/html", SHELL.replace('<script src="/app.js"></script>', files))
    with served(pages=pages) as site:
        (page,) = honeyguide.crawl(
            site.url + "/", policy=POLICY, render="auto", max_pages=1, store=tmp_path / "s.db"
        )
        assert "/2.js" not in site.seen
        assert {"/0.js", "/1.js", "/3.js"} <= set(site.seen)
        assert page.html.count(b"We plan") == 24


class TestWithoutABrowser:
    """What is wrong is one sentence, before anything is requested."""

    def test_without_the_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("honeyguide.adapters.render.browser.find_spec", lambda _name: None)
        with pytest.raises(InputError, match=r"rendering needs a library: pip install 'playwright>=1\.65'"):
            honeyguide.pick("acme.example", render="auto")
        with pytest.raises(InputError, match="rendering needs a library"):
            list(honeyguide.crawl("https://acme.example/", render="always"))

    def test_a_command_leaves_no_store_behind(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr("honeyguide.adapters.render.browser.find_spec", lambda _name: None)
        store = tmp_path / "s.db"
        words = [
            "crawl",
            "https://acme.example/",
            "--topic",
            "fire",
            "--render",
            "auto",
            "--store",
            str(store),
        ]
        done = CliRunner().invoke(root, words)
        assert done.exit_code == 1
        assert done.stderr == "Error: rendering needs a library: pip install 'playwright>=1.65'\n"
        assert not store.exists()

    def test_without_a_browser(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr("honeyguide.adapters.render.browser.find_spec", lambda _name: object())
        monkeypatch.setattr("shutil.which", lambda _name: None)
        monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
        with pytest.raises(InputError, match="rendering needs Chromium: install"):
            honeyguide.pick("acme.example", render="always")

    def test_a_mode_that_there_is_not(self) -> None:
        with pytest.raises(
            InputError, match="no way to render is named 'sometimes'; there are never, auto, always"
        ):
            honeyguide.crawl("https://acme.example/", render="sometimes")
