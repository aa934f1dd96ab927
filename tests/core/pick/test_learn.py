"""What labels teach: points, words and drops with their evidence, judged on held-out sites; nothing where nothing pays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from honeyguide.app.arguments import strategy_profile
from honeyguide.app.tools.pages import parse_page
from honeyguide.core.pick.evaluate import Gold, page_name
from honeyguide.core.pick.learn import (
    Evidence,
    LabelledSite,
    ProfileChange,
    ProfileLearner,
    ProfileLesson,
    with_changes,
)
from honeyguide.core.pick.select import select_links
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why

if TYPE_CHECKING:
    from collections.abc import Iterable

PROFILE = strategy_profile("portfolio")
SITES = 8
MENU = ("services", "about", "alarm-repair", "roof-cleaning", "door-design", "projects", "contact")


def site(number: int, core: Iterable[str], junk: Iterable[str] = (), *, html: str = "") -> LabelledSite:
    home = Url.parse(f"https://site{number}.example/")
    links = "".join(f'<a href="/{name}">{name.replace("-", " ")}</a>' for name in MENU)
    page = parse_page(html or f"<nav>{links}</nav>", home, with_groups=True)
    labels = {
        page_name(f"/{path}"): label for label, paths in (("core", core), ("junk", junk)) for path in paths
    }
    return LabelledSite(Gold(home.site, labels), home, page.links, {}, {})


def learn(sites: Iterable[LabelledSite]) -> ProfileLesson:
    return ProfileLearner(sites, PROFILE, "portfolio", 4).learn()


def test_points_of_a_rule_rise_where_its_pages_are_wanted() -> None:
    lesson = learn(site(number, ["projects"]) for number in range(SITES))
    (proposal,) = lesson.proposals
    assert proposal.change[:2] == ("rule", "projects")
    assert proposal.change.points > 75 > (proposal.before or 0)
    assert proposal.evidence == Evidence(wanted=SITES, junk=0, other=0, sites=SITES)
    assert proposal.folds == lesson.folds == SITES
    assert (lesson.before.share, lesson.after.share) == (0.0, 1.0)


def test_changes_select_what_they_promise() -> None:
    sites = [site(number, ["projects"]) for number in range(SITES)]
    changed = with_changes(PROFILE, "portfolio", [one.change for one in learn(sites).proposals])
    home = Url.parse("https://new.example/")
    page = parse_page("".join(f'<nav><a href="/{name}">{name}</a></nav>' for name in MENU), home)
    assert "/projects" in {
        one.url.path for one in select_links(page.links, home, changed, "portfolio").selected
    }


def test_nothing_is_proposed_where_the_picks_are_right() -> None:
    lesson = learn(site(number, ["services", "about", "alarm-repair"]) for number in range(SITES))
    assert lesson.proposals == ()
    assert lesson.before == lesson.after
    assert lesson.before.share == 1.0


def test_nothing_is_proposed_where_every_site_wants_something_else() -> None:
    wanted = ["projects", "contact", "door-design", "services", "about", "alarm-repair"]
    lesson = learn(site(number, [name]) for number, name in enumerate(wanted))
    assert lesson.proposals == ()


def test_a_word_is_learned_that_no_rule_knows() -> None:
    def odd(number: int) -> LabelledSite:
        names = (
            "services",
            "about",
            "alarm-repair",
            "roof-cleaning",
            "door-design",
            f"zorb-{'abcdefgh'[number]}x",
        )
        links = "".join(f'<a href="/{name}">{name}</a>' for name in names)
        plain = site(number, [names[-1]], html=f"<nav>{links}</nav>")
        other = "".join(f'<a href="/{name}">{name}</a>' for name in ("frab-list", "quell-list"))
        return plain if number % 2 else site(number, [names[-1]], html=f"<nav>{links}{other}</nav>")

    lesson = learn(odd(number) for number in range(SITES))
    assert [one.change[:2] for one in lesson.proposals] == [("word", "zorb")]
    assert lesson.after.share == 1.0


def test_words_of_unwanted_picks_lose_points() -> None:
    own = ["arks", "bolts", "caps", "dyes", "elms", "figs", "guns", "hats"]  # no word in common

    def odd(number: int) -> LabelledSite:
        names = ("services", "about", "alarm-repair", f"zorb-service-{number}", own[number], "frabs")
        links = "".join(f'<a href="/{name}">{name}</a>' for name in names)
        return site(number, [*names[:3], names[4]], [names[3], names[5]], html=f"<nav>{links}</nav>")

    lesson = learn(odd(number) for number in range(SITES))
    assert [one.change for one in lesson.proposals] == [ProfileChange("word", "zorb", -40.0)]
    assert (lesson.before.picks.junk, lesson.after.picks.junk) == (SITES, 0)


def test_a_rule_that_rejects_wanted_pages_is_removed() -> None:
    def odd(number: int) -> LabelledSite:
        html = '<nav><a href="/about">About</a></nav><footer><a href="/zorbs">Zorbs</a></footer>'
        return site(number, ["zorbs"], html=html)

    lesson = learn(odd(number) for number in range(SITES))
    assert [one.change for one in lesson.proposals] == [ProfileChange("drop", "only-footer")]


def test_pages_that_no_rule_can_pick_are_counted() -> None:
    sites = [site(number, ["projects", "elsewhere", "contact"]) for number in range(SITES)]
    contact = Url.parse("https://site0.example/contact")
    lesson = learn([replace(sites[0], rejected={contact: Why("doorway", "one of many")}), *sites[1:]])
    assert (lesson.unlinked, lesson.filtered) == (SITES, {"doorway": 1})


def test_the_order_of_sites_does_not_matter_and_each_fold_is_reported() -> None:
    sites = [site(number, ["projects", "contact"]) for number in range(SITES)]
    heard: list[tuple[int, int]] = []
    lesson = ProfileLearner(sites, PROFILE, "portfolio", 4).learn(
        lambda done, steps: heard.append((done, steps))
    )
    assert lesson == learn(reversed(sites))
    assert heard == [(step, SITES + 1) for step in range(1, SITES + 2)]
