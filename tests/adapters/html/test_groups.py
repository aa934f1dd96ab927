"""How a page groups its links: labels of submenus and headings of cards, read from its tree (pick, strategy portfolio)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from honeyguide.adapters.html.page import parse_page
from honeyguide.core.url.url import Url

if TYPE_CHECKING:
    from types import FrameType

HOME = Url.parse("https://acme.example/")


def read(html: str) -> dict[str, tuple[str, str]]:
    """Return the label and the heading of each link by its path; the first of each that is not empty."""
    found = {}
    for link in parse_page(html, HOME, with_groups=True).links:
        menus = [occurrence.menu for occurrence in link.occurrences if occurrence.menu]
        headings = [occurrence.heading for occurrence in link.occurrences if occurrence.heading]
        found[link.url.path] = ((menus or [""])[0], (headings or [""])[0])
    return found


def entries(*names: str) -> str:
    return "".join(f"<li><a href=/{name}>{name.title()}</a></li>" for name in names)


def test_the_label_of_a_submenu_is_the_text_before_its_list() -> None:
    page = read(
        f"<nav><ul><li><a href=/about>About</a></li><li><a href=/work>What we do</a><ul>{entries('ovens', 'kilns', 'flues')}"
        "</ul></li></ul></nav>"
    )
    assert page["/ovens"] == page["/kilns"] == page["/flues"] == ("What we do", "")
    assert page["/about"] == page["/work"] == ("", "")


@pytest.mark.parametrize(
    "before",
    [
        "<a href=#>Ovens</a><button>▾</button>",
        "<div><a href=/all>Ovens</a></div>",
        "Ovens",
        "<h4>Ovens</h4><div></div>",
    ],
)
def test_a_label_may_stand_in_a_box_and_before_an_arrow(before: str) -> None:
    page = read(
        f"<nav><ul><li>{before}<div class=drop><ul>{entries('a', 'b', 'c')}</ul></div></li></ul></nav>"
    )
    assert [page[path][0] for path in ("/a", "/b", "/c")] == ["Ovens"] * 3


@pytest.mark.parametrize(
    "line",
    ["© 2026 Acme", "(C) Acme Corp | Web design by Tom", "Copyright Acme", "Acme. All Rights Reserved."],
)
def test_a_copyright_line_is_no_label(line: str) -> None:
    links = entries("a", "b", "c")
    assert read(f"<footer><p>{line}</p><ul>{links}</ul></footer>")["/a"] == ("", "")
    assert read(f"<footer><p>Ovens</p><ul>{links}</ul></footer>")["/a"] == ("Ovens", "")


@pytest.mark.parametrize(
    "html",
    [
        f"<nav><a href=/>Acme</a><ul>{entries('a', 'b', 'c')}</ul></nav>",  # a logo beside the whole menu
        f"<nav><b>Ovens</b><ul>{entries('a', 'b')}</ul></nav>",  # too few pages
        f"<nav><b>{'long ' * 13}</b><ul>{entries('a', 'b', 'c')}</ul></nav>",
        f"<nav><p><a href=/x>X</a><a href=/y>Y</a></p><ul>{entries('a', 'b', 'c')}</ul></nav>",
        # Most members stand in the menu without that label, too.
        f"<nav><ul>{entries('a', 'b')}</ul></nav><nav><b>Menu</b><ul>{entries('a', 'b', 'c')}</ul></nav>",
    ],
)
def test_what_labels_no_submenu(html: str) -> None:
    assert {menu for menu, _ in read(html).values()} == {""}


def test_the_heading_of_cards_is_the_first_outside_of_them() -> None:
    cards = "".join(f"<div class=card><h3>{n}</h3><p><a href=/{n}>More</a></p></div>" for n in "abc")
    page = read(
        f"<main><section><h1>Acme</h1></section><section><div><h2>Our <b>ovens</b></h2></div><div class=grid>{cards}</div>"
        "</section></main>"
    )
    assert [page[path] for path in ("/a", "/b", "/c")] == [("", "Our ovens")] * 3


def test_cards_need_three_pages_and_a_heading_inside_of_main() -> None:
    two = "".join(f"<div class=card><a href=/{n}>More</a></div>" for n in "abb")
    far = "".join(f"<p class=card><a href=/{n}>More</a></p>" for n in "xyz")
    page = read(f"<h1>Acme</h1><main><h2>Two</h2><div>{two}</div></main><h2>No</h2><footer>{far}</footer>")
    assert set(page.values()) == {("", "")}


def test_a_column_of_the_footer_has_both_names() -> None:
    page = read(f"<footer><div><h4>Ovens</h4><ul>{entries('a', 'b', 'c')}</ul></div></footer>")
    assert page["/a"] == ("Ovens", "Ovens")


def test_a_page_that_is_crawled_is_read_without_groups() -> None:
    links = parse_page(f"<nav><b>Ovens</b><ul>{entries('a', 'b', 'c')}</ul></nav>", HOME).links
    assert {occurrence.menu for link in links for occurrence in link.occurrences} == {""}


def calls(html: str, *, with_groups: bool) -> int:
    """Count the calls that reading a page makes."""
    steps = 0

    def count_call(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    parse_page(html, HOME, with_groups=with_groups)  # what is remembered is remembered before
    sys.setprofile(count_call)
    try:
        parse_page(html, HOME, with_groups=with_groups)
    finally:
        sys.setprofile(None)
    return steps


@pytest.mark.parametrize(
    "part",
    [
        "<div><span>"
        + "<b>" * 30
        + "x</span><ul><li><a href=/{n}>a</a><ul>",  # lists in lists, with long labels
        "<div class=a><h2>h</h2><div class=a></div><div class=a></div><a href=/{n}>a</a>",  # cards in cards
        "<p class=a><a href=/{n}>a</a></p><h2>h</h2>",  # side by side
    ],
)
@pytest.mark.parametrize("around", ["<nav>", "<main>", "<footer>"])
@pytest.mark.slow
def test_the_work_is_in_proportion_to_the_page(part: str, around: str) -> None:
    # PICK-21, hostile pages: every climb and every label is bounded, so that twice the page is twice the work.
    def extra(count: int) -> int:
        html = around + "".join(part.replace("{n}", str(n)) for n in range(count))
        return calls(html, with_groups=True) - calls(html, with_groups=False)

    assert 0 < extra(600) < 2.5 * extra(300)
