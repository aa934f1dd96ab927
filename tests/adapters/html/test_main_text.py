"""Main text: what a page's digest is of, and what it is not (SPEC section 2, "content hash of the main text")."""

from __future__ import annotations

import pytest

from honeyguide.adapters.html.page import parse_page
from honeyguide.core.page.likeness import main_digest, page_text
from honeyguide.core.page.page import Position
from honeyguide.core.url.url import Url

URL = Url.parse("https://a.example/alarms")
STORY = "<h1>Fire alarms</h1>" + "".join(
    f"<p>An alarm of kind {kind} hears, smells or sees the fire before anybody does.</p>"
    for kind in ("one", "two", "three", "four")
)
MAIN = f"<main>{STORY}</main>"
MENU = "<nav><ul><li><a href=/>Home</a><li><a href=/b>Blog</a></ul></nav>"
LINES = "".join(
    f"<p>{word} street</p>" for word in ["ab", "cd", "ef", "gh", "ij", "kl", "mn", "op", "qr", "st", "uv"]
)


def digest(markup: str) -> str | None:
    return main_digest(page_text(parse_page(markup, URL)).main)


def main_of(markup: str) -> list[str]:
    return page_text(parse_page(markup, URL)).main.decode().split("\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            f"<header>15 May 2026</header>{MAIN}", f"<header>16 May 2026</header>{MAIN}", id="header"
        ),
        pytest.param(
            f"{MAIN}<aside><h2>Recent posts</h2><p>One</aside>",
            f"{MAIN}<aside><h2>Recent posts</h2><p>Two</aside>",
            id="aside",
        ),
        pytest.param(
            f"{MAIN}<footer>Be kind.</footer>", f"{MAIN}<footer>Be brave.</footer>", id="quote of the day"
        ),
        pytest.param(
            f"{STORY}<footer>Visitor 1,234 since May</footer>",
            f"{STORY}<footer>Visitor 1,235 since May</footer>",
            id="counter, no main",
        ),
        pytest.param(
            f"{STORY}<footer>15 May 2026{LINES}</footer>",
            f"{STORY}<footer>16 May 2026{LINES}</footer>",
            id="date before many lines, no main",
        ),
        pytest.param(MENU + MAIN, MENU.replace("</ul>", "<li><a href=/n>New</a></ul>") + MAIN, id="menu"),
        pytest.param(
            MENU + STORY,
            MENU.replace("</ul>", "<li><a href=/alarms/>Fire alarms</a></ul>") + STORY,
            id="menu entry that is the heading, no main",
        ),
        pytest.param(
            f"<main><ul class=menu><li><a href=/a>A</a></ul>{STORY}</main>",
            f"<main><ul class=menu><li><a href=/a>A</a><li><a href=/b>B</a></ul>{STORY}</main>",
            id="menu by its class, in main",
        ),
        pytest.param(
            f"<div><a href=/>Home</a> | <a href=/b>Blog</a> | <a href=/c>Contact</a></div>{STORY}",
            f"<div><a href=/>Home</a> | <a href=/b>Blog</a> | <a href=/n>New</a> | <a href=/c>Contact</a></div>{STORY}",
            id="row of links",
        ),
        pytest.param(
            f"<div role=banner><a href=/>Acme</a> 15 May</div><div role=main>{STORY}<a href=/x>x</a></div>Be kind.",
            f"<div role=banner><a href=/>Acme</a> 16 May</div><div role=main>{STORY}<a href=/x>x</a></div>Be brave.",
            id="roles",
        ),
        pytest.param(
            f"{STORY}<div role=complementary>One <a href=/1>more</a></div>",
            f"{STORY}<div role=complementary>Two <a href=/1>more</a></div>",
            id="role complementary",
        ),
        pytest.param(
            f"{STORY}<div class=site-footer>Be kind. <a href=/i>Imprint</a></div>",
            f"{STORY}<div class=site-footer>Be brave. <a href=/i>Imprint</a></div>",
            id="footer by its class",
        ),
        pytest.param(
            f"<article>{STORY}</article>Be kind.", f"<article>{STORY}</article>Be brave.", id="article"
        ),
        pytest.param(
            f"<main>{STORY}<p>Updated on 15 May 2026</main>",
            f"<main>{STORY}<p>Updated on 16 May 2026</main>",
            id="stamp at the end of main",
        ),
    ],
)
def test_what_is_no_main_text_is_no_change(before: str, after: str) -> None:
    assert parse_page(before, URL).text != parse_page(after, URL).text
    assert digest(before) == digest(after) is not None
    assert digest(before) != digest(after.replace("kind three", "kind nine"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "<main>Loading</main>" + STORY, "<main>Loading</main>" + STORY + "<p>News", id="empty main"
        ),
        pytest.param(
            f"<main></main><div>{STORY}", f"<main></main><div>{STORY}<p>News", id="main without text"
        ),
        pytest.param(
            f"<main hidden>{STORY}</main><p>Fire</p>",
            f"<main hidden>{STORY}</main><p>Smoke</p>",
            id="hidden main",
        ),
        pytest.param(f"<p>Short<nav>{STORY}", f"<p>Short<nav>{STORY}<p>News", id="all is menu"),
        pytest.param(f"<footer>{STORY}", f"<footer>{STORY}<p>News", id="all is footer, never closed"),
        pytest.param(f"<main>{STORY}", f"<main>{STORY}<p>News", id="main never closed"),
        pytest.param(f"<aside><main>{STORY}", f"<aside><main>{STORY}<p>News", id="main in aside"),
        pytest.param(f"{MAIN}<main>One</main>", f"{MAIN}<main>Two</main>", id="second main"),
        pytest.param(
            f"<main>{STORY}<main><p>One</main></main>",
            f"<main>{STORY}<main><p>Two</main></main>",
            id="main in main",
        ),
        pytest.param(
            f"{MAIN * 2}{'<p>' + 'x ' * 2000}", f"{MAIN * 2}{'<p>' + 'y ' * 2000}", id="much outside"
        ),
        pytest.param(
            f"<article>{STORY}</article><article>One</article>",
            f"<article>{STORY}</article><article>Two</article>",
            id="two articles",
        ),
        pytest.param(
            f"<article><header>One</header>{STORY}",
            f"<article><header>Two</header>{STORY}",
            id="article's header",
        ),
        pytest.param(
            f"<section><header><h2>One</h2></header>{STORY}</section>",
            f"<section><header><h2>Two</h2></header>{STORY}</section>",
            id="section's header",
        ),
        pytest.param(
            f"<article>{STORY}<aside>One</aside>", f"<article>{STORY}<aside>Two</aside>", id="article's note"
        ),
        pytest.param(
            f"<main>{STORY}<p>Room 3: 50", f"<main>{STORY}<p>Room 3: 60", id="price at the end of main"
        ),
        pytest.param(
            f"{STORY}<p>Room 3: 50</p><footer>x",
            f"{STORY}<p>Room 3: 60</p><footer>x",
            id="price before a footer",
        ),
        pytest.param(
            "<p><a href=/1>One</a> <a href=/2>Two</a> <a href=/3>Three</a></p>",
            "<p><a href=/1>One</a> <a href=/2>Two</a> <a href=/4>Four</a></p>",
            id="nothing but links",
        ),
        pytest.param(
            f"{STORY}<ul><li><a href=/1>One</a></ul>",
            f"{STORY}<ul><li><a href=/1>One</a><li><a href=/2>Two</a></ul>",
            id="list of links",
        ),
    ],
)
def test_what_may_be_main_text_is_a_change(before: str, after: str) -> None:
    assert digest(before) != digest(after)


def test_pages_without_landmarks_are_read_as_a_whole() -> None:
    page = parse_page(f"<div>{STORY}</div><p>15 May 2026", URL)
    assert page.main is None
    said = page_text(page)
    assert said.main == said.text
    assert said.lines == page.text.split("\n")[:-1]


def test_main_text_is_in_order_and_without_what_is_in_it_but_not_of_it() -> None:
    markup = "<p>out<main><p>a<nav>menu</nav><p>b<footer>end</footer></main><main><h2>c</h2>d</main>"
    assert main_of(markup) == ["a", "b", "c", "d"]


def test_many_parts_are_all_read() -> None:
    wide = main_of("<main>x<nav>y</nav></main>" * 300)
    assert wide == ["x"] * 300
    deep = main_of("<main><article><section><header>x" * 100 + "y")
    assert deep == [*["x"] * 99, "xy"]


@pytest.mark.parametrize(
    "block",
    [
        '<div class="menu"><p>Soup, {n} euros. <a href="/order">Order</a></p></div>',
        '<div class="masthead"><p>We are hiring {n} welders, today. <a href="/jobs">Apply</a></p></div>',
        '<div class="topbar">Version {n} of the programme is out: <a href="/new">see</a></div>',
    ],
)
def test_prose_beside_a_link_of_a_menu_is_content(block: str) -> None:
    page = "<main><h1>Acme</h1><p>What we have always said here, word by word.</p>{block}</main>"
    one, other = (main_of(page.format(block=block.format(n=number))) for number in (3, 4))
    assert one != other


@pytest.mark.parametrize(
    "name",
    [
        "nav",
        "navbar",
        "navbar-nav",
        "navigation",
        "main-nav",
        "site-nav",
        "nav-menu",
        "mobile-nav",
        "menu",
        "main-menu",
        "mobile-menu",
        "dropdown-menu",
        "sidemenu",
        "site-header",
        "masthead",
        "topbar",
        "breadcrumb",
        "breadcrumbs",
        "footer",
        "site-footer",
        "page-footer",
        "main-footer",
        "colophon",
    ],
)
def test_names_of_menus_and_footers_are_what_elements_are(name: str) -> None:
    block = '<div {}="{}"><a href="/jobs">Jobs</a></div>'
    for attribute in ("class", "id"):
        link = parse_page(f"<p>Acme</p>{block.format(attribute, name)}", URL).links[0]
        assert link.occurrences[0].position is not Position.MAIN
        other = parse_page(f"<p>Acme</p>{block.format(attribute, f'my{name}')}", URL).links[0]
        assert other.occurrences[0].position is Position.MAIN


def test_the_footer_of_a_quotation_ends_no_page() -> None:
    quoted = "<p>a<blockquote>b<footer>Ann</footer></blockquote><p>Visitors so far: 7"
    page, ended = (parse_page(text, URL).main for text in (quoted, "<p>a<p>b<footer>Acme, 2024</footer>"))
    assert page is not None
    assert ended is not None
    assert (page.is_ended, ended.is_ended) == (False, True)
