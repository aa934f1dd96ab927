"""What the site's own groups decide in `portfolio`: kinds of headings, hubs by structure, quotas, doorways (SPEC 4b)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide import select_links

if TYPE_CHECKING:
    from honeyguide.core.pick.select import Candidate, Selection


def selected(html: str) -> Selection:
    return select_links(html, "https://acme.example/")


def by_path(selection: Selection) -> dict[str, Candidate]:
    return {candidate.url.path: candidate for candidate in selection.candidates}


def paths(selection: Selection) -> list[str]:
    return [candidate.url.path for candidate in selection.selected]


def submenu(label: str, *names: str) -> str:
    listed = "".join(f"<li><a href=/{name}>{name.replace('-', ' ').title()}</a></li>" for name in names)
    return f"<li>{label}<ul>{listed}</ul></li>"


def cards(heading: str, *names: str) -> str:
    listed = "".join(
        f"<div class=card><a href=/{name}>{name.replace('-', ' ').title()}</a></div>" for name in names
    )
    return f"<section><h2>{heading}</h2><div>{listed}</div></section>"


def test_unknown_pages_under_a_services_heading_are_services() -> None:
    page = by_path(selected(f"<main>{cards('Our Services', 'zorbs', 'frabs', 'quells')}</main>"))
    assert [page[path].bucket for path in ("/zorbs", "/frabs", "/quells")] == ["services"] * 3
    score = page["/zorbs"].score
    assert score is not None
    assert "listed under 'Our Services'" in score.words


def test_service_areas_and_quick_links_are_no_services_headings() -> None:
    for heading in ("Service Areas", "Service Links", "Industries and Services"):
        page = by_path(selected(f"<main>{cards(heading, 'zorbs', 'frabs', 'quells')}</main>"))
        assert page["/zorbs"].bucket == "other", heading


def test_a_submenu_of_the_hub_lists_services_whatever_its_label() -> None:
    page = by_path(
        selected(
            "<nav><ul><li><a href=/about>About</a></li>"
            f"{submenu('<a href=/services>Zorbing</a>', 'frabs', 'quells', 'mimps')}</ul></nav>"
        )
    )
    assert (page["/services"].bucket, page["/frabs"].bucket) == ("hub", "services")


def test_without_a_word_for_it_the_entry_of_the_largest_submenu_is_the_hub() -> None:
    html = (
        "<nav><ul><li><a href=/about>About</a></li>"
        f"{submenu('<a href=/zorbing>Zorbing</a>', 'frabs', 'quells', 'mimps', 'tovs')}"
        f"{submenu('<a href=/gimble>Gimble</a>', 'wabes', 'raths', 'borogs')}</ul></nav>"
    )
    page = by_path(selected(html))
    assert (page["/zorbing"].bucket, page["/gimble"].bucket) == ("hub", "other")
    assert page["/quells"].bucket == "services"
    by_words = by_path(
        selected(html.replace("<nav><ul>", "<nav><ul><li><a href=/services>Services</a></li>"))
    )
    assert (by_words["/services"].bucket, by_words["/zorbing"].bucket) == ("hub", "other")


def test_a_heading_of_cards_that_names_an_entry_makes_it_the_hub() -> None:
    html = "<nav><ul><li><a href=/zorbs>Zorbs</a></li><li><a href=/raths>Raths</a></li></ul></nav>"
    page = by_path(selected(f"{html}<main>{cards('All our zorbs', 'frabs', 'quells', 'mimps')}</main>"))
    assert (page["/zorbs"].bucket, page["/raths"].bucket) == ("hub", "other")


def test_pages_under_a_side_heading_come_last() -> None:
    page = by_path(
        selected(
            f"<main>{cards('Latest news', 'zorbs', 'frabs', 'quells')}{cards('At home', 'wabes', 'raths', 'tovs')}</main>"
        )
    )
    side, neutral = page["/zorbs"].score, page["/wabes"].score
    assert side is not None
    assert neutral is not None
    assert side.value == neutral.value - 25  # -20 for the side heading; +5 for a card under a neutral one


def test_unknown_pages_that_only_the_footer_links_are_rejected() -> None:
    footer = "<footer><a href=/zorbs>Zorbs</a><a href=/frabs>Frabs</a><a href=/services>Services</a></footer>"
    found = selected(f"<nav><ul><li><a href=/frabs>Frabs</a></li></ul></nav>{footer}")
    why = by_path(found)["/zorbs"].rejected
    assert why is not None
    assert why.rule == "only-footer"
    assert set(paths(found)) == {"/services", "/frabs"}  # also in the menu; of a kind that is known


def test_a_quota_never_leaves_a_place_empty_or_to_a_worse_page() -> None:
    names = ("services", "what-we-do", "capabilities", "zorbs")
    found = selected(f"<nav><ul>{''.join(f'<li><a href=/{n}>{n}</a></li>' for n in names)}</ul></nav>")
    assert paths(found) == ["/services", "/what-we-do", "/capabilities", "/zorbs"]
    repairs = "".join(f"<li><a href=/roof-repair-{n}>{n}</a></li>" for n in "xy")
    found = selected(
        f"<nav><ul>{''.join(f'<li><a href=/{n}>{n}</a></li>' for n in names)}{repairs}</ul></nav>"
    )
    assert paths(found) == ["/services", "/what-we-do", "/roof-repair-x", "/roof-repair-y"]


def test_one_page_per_path_whatever_the_query() -> None:
    html = "<nav><a href=/zorbs?from=a>Zorbs</a><a href=/zorbs?from=b>Zorbs</a><a href=/zorbs>Zorbs</a></nav>"
    assert paths(selected(html)) == ["/zorbs"]
    scripts = "<nav><a href='/page.php?id=zorbs'>Zorbs</a><a href='/page.php?id=raths'>Raths</a></nav>"
    assert len(paths(selected(scripts))) == 2  # there the query is the page


def test_a_services_heading_overrules_the_doorway_filter() -> None:
    towns = ("roofing-ashbrook", "roofing-millhaven", "roofing-westfold")
    prose = "<p>" + " ".join(f"word{'abcdefghij'[n % 10]}{'klmnop'[n // 10]}" for n in range(60))
    links = "".join(f"<div class=card><a href=/{n}>{n.partition('-')[2].title()}</a></div>" for n in towns)
    for heading, bucket in (("Towns", None), ("Our Services", "services")):
        page = by_path(
            selected(f"<main><section><h2>{heading}</h2><div>{links}</div></section>{prose}</main>")
        )
        assert page["/roofing-ashbrook"].bucket == bucket, heading


def test_a_category_is_a_service_where_the_submenu_of_the_services_lists_it() -> None:
    entry = '<a href="/services">Services</a>'
    page = by_path(
        selected(
            f"<nav><ul>{submenu(entry, 'category/zorbs', 'category/frabs', 'category/quells')}"
            '<li><a href="/category/van">Van</a></li></ul></nav>'
        )
    )
    assert [page[f"/category/{name}"].bucket for name in ("zorbs", "frabs", "van")] == [
        "services",
        "services",
        "blog",
    ]


def test_the_last_entry_of_the_menu_comes_after_other_unknown_pages() -> None:
    entries = "".join(f'<a href="/{name}">{name}</a>' for name in ("zorbs", "frabs", "quells", "kapcs"))
    selection = selected(f"<nav>{entries}</nav><main><p>See <a href=/nirps>Nirps</a>.</main>")
    assert paths(selection) == ["/zorbs", "/frabs", "/quells", "/nirps"]
    reasons = by_path(selection)["/kapcs"].score
    assert reasons is not None
    assert "the last entry of the menu" in reasons.words


def test_three_entries_are_no_menu_with_an_end() -> None:
    entries = "".join(f'<a href="/{name}">{name}</a>' for name in ("zorbs", "frabs", "quells"))
    page = by_path(selected(f"<nav>{entries}</nav><main><p>See <a href=/nirps>Nirps</a>.</main>"))
    assert len({page[path].score for path in ("/zorbs", "/quells")}) == 1


def top_menu(*entries: str) -> str:
    listed = "".join(
        entry if entry.startswith("<li>") else f"<li><a href=/{entry}>{entry.title()}</a></li>"
        for entry in entries
    )
    return f"<nav><ul>{listed}</ul></nav>"


ZORBS = submenu("<a href=/zorbs>Zorbs</a>", "old-zorbs", "new-zorbs", "red-zorbs")


def test_the_largest_submenu_has_no_hub_where_cards_stand_under_a_services_heading() -> None:
    html = (
        top_menu(ZORBS, "frabs", "quells", "nirps")
        + f"<main>{cards('Our Services', 'frabs', 'quells', 'nirps')}</main>"
    )
    selection = selected(html)
    assert by_path(selection)["/zorbs"].bucket == "other"
    assert paths(selection)[:3] == ["/frabs", "/quells", "/nirps"]


def test_the_largest_submenu_has_no_hub_where_other_entries_of_the_menu_are_the_cards() -> None:
    html = top_menu(ZORBS, "frabs", "quells", "nirps", "kapcs")
    assert by_path(selected(html))["/zorbs"].bucket == "hub"
    beside = by_path(selected(f"{html}<main>{cards('Good to know', 'frabs', 'quells', 'nirps')}</main>"))
    assert beside["/zorbs"].bucket == "other"
    own = by_path(
        selected(f"{html}<main>{cards('Good to know', 'old-zorbs', 'new-zorbs', 'red-zorbs')}</main>")
    )
    assert own["/zorbs"].bucket == "hub"


def test_a_query_named_s_is_a_search_only_at_the_root() -> None:
    page = by_path(selected("<nav><a href=/show.php?s=zorbs>Zorbs</a> <a href=/?s=zorbs>Find</a></nav>"))
    assert page["/show.php"].rejected is None
    search = page["/"].rejected
    assert search is not None
    assert search.rule == "no-content"


def test_a_page_of_products_that_labels_the_only_submenu_is_the_hub() -> None:
    entry = submenu("<a href=/products>Modules</a>", "products/zorbs", "products/frabs", "products/quells")
    assert by_path(selected(top_menu(entry, "nirps", "kapcs")))["/products"].bucket == "hub"


def test_an_about_page_in_the_footer_loses_nothing() -> None:
    footer = "<footer><a href=/about>About</a> <a href=/roof-repair>Roof repair</a></footer>"
    page = by_path(selected(f"<nav><a href=/zorbs>Zorbs</a></nav>{footer}"))
    assert [float(page[path].score or 0) for path in ("/about", "/roof-repair")] == [90, 69]
