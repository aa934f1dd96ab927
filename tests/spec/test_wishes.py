"""`--want` and `--never`, `[want]` and `[never]`: what a user wants of every site, without copying a card."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from honeyguide import errors, load_profile, select_links
from honeyguide.app.pick import picker
from honeyguide.cli.main import root
from honeyguide.jobs.pick import PickRequest
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

if TYPE_CHECKING:
    from honeyguide.core.pick.select import Selection

A = "https://acme.example/"
HOME = """<nav><a href=/services>Services</a><a href=/about>About us</a><a href=/roof-repair>Roof repair</a>
<a href=/gutter-cleaning>Gutter cleaning</a><a href=/siding-installation>Siding</a><a href=/pricing>Pricing</a>
<a href=/careers>Careers</a><a href=/blog>Blog</a><a href=/contact>Contact</a></nav>
<p><a href=/loyal-owners title="References of our customers">They say</a> <a href=/privacy>Pricing of privacy</a>"""


def chosen(**asked: Any) -> Selection:
    return select_links(HOME, A, **asked)


def paths(selection: Selection) -> list[str]:
    return [candidate.url.path for candidate in selection.selected]


def rejection(selection: Selection, path: str) -> tuple[str, str] | None:
    (found,) = [candidate for candidate in selection.candidates if candidate.url.path == path]
    return found.rejected


def test_without_wishes_the_price_list_is_not_worth_a_visit() -> None:
    assert paths(chosen()) == ["/services", "/about", "/roof-repair", "/gutter-cleaning"]
    found = rejection(chosen(), "/pricing")
    assert found is not None
    assert found[0] == "not-worth-it"


@pytest.mark.parametrize(
    ("want", "path"),
    [
        ("pricing", "/pricing"),  # a word of slug and anchor
        ("money", "/pricing"),  # a bucket of the profile
        ("references", "/loyal-owners"),  # a word of the title
        ("they say", "/loyal-owners"),  # two words of the anchor
        ("loyal-owners", "/loyal-owners"),  # a slug as it is in the address
        ("Careers", "/careers"),
    ],
)
def test_the_best_wanted_page_has_a_place(want: str, path: str) -> None:
    selection = chosen(want=want)
    assert paths(selection) == ["/services", "/about", "/roof-repair", path]
    last = selection.selected[-1]
    assert last.score is not None
    assert (last.score.words[-1], last.score.reasons[-1].rule) == (f"wanted: {want.lower()}", "want")
    assert sum(reason.points for reason in last.score.reasons) == last.score
    assert "wanted" in (last.selection_reason or "")
    assert rejection(selection, "/gutter-cleaning") == ("reserved", f"a place is kept for {want.lower()}")
    assert selection.counts["rejected_reserved"] > 0


def test_only_whole_words_count() -> None:
    assert paths(chosen(want="pric")) == paths(chosen())


def test_several_wishes_have_a_place_each_and_the_cap_holds() -> None:
    assert paths(chosen(want="pricing,blog")) == ["/services", "/about", "/pricing", "/blog"]
    assert paths(chosen(want=["pricing", "blog"], cap=2)) == ["/pricing", "/blog"]
    assert paths(chosen(want="pricing,blog,careers", cap=2)) == ["/pricing", "/careers"]


def test_a_wish_passes_no_filter() -> None:
    # PICK-1: /privacy is never useful, whatever its anchor says.
    found = rejection(chosen(want="privacy"), "/privacy")
    assert found is not None
    assert found[0] == "disallowed-path"


def test_never_rejects_by_a_rule_of_that_name() -> None:
    selection = chosen(never="about,gutter")
    assert paths(selection) == ["/services", "/roof-repair", "/siding-installation", "/loyal-owners"]
    assert rejection(selection, "/about") == ("never", "never wanted: about")
    assert rejection(selection, "/gutter-cleaning") == ("never", "never wanted: gutter")
    assert selection.counts["rejected_never"] == 2


def test_never_wins_over_a_wish_for_the_same_page() -> None:
    assert "/pricing" not in paths(chosen(want="money", never="pricing"))


@pytest.mark.parametrize("strategy", ["rules", "blend"])
def test_wishes_hold_for_every_strategy(strategy: str) -> None:
    selection = chosen(strategy=strategy, want="pricing", never="roof")
    assert "/pricing" in paths(selection)
    assert "/roof-repair" not in paths(selection)


def test_a_profile_has_wishes_without_a_card(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'schema = 1\nextends = "company"\nname = "mine"\ndescription = "Prices."\n'
        '[want]\npages = ["pricing"]\n[never]\npages = ["about"]\n'
    )
    profile = load_profile(file)
    assert paths(chosen(profile=profile)) == ["/services", "/roof-repair", "/gutter-cleaning", "/pricing"]
    more = chosen(profile=profile, want="blog")
    assert paths(more) == ["/services", "/roof-repair", "/pricing", "/blog"]
    assert profile.hash != load_profile("company").hash


def test_mistakes_of_a_profile_are_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'schema = 1\nextends = "company"\nname = "mine"\ndescription = "x"\n[want]\npages = ["$nothing"]\n'
    )
    with pytest.raises(errors.ConfigError, match=r"want\.pages.*the term \$nothing is not defined"):
        load_profile(file)


def test_a_profile_wants_nothing_that_it_never_wants(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = 'schema = 1\nextends = "company"\nname = "mine"\ndescription = "d"\n[want]\npages = ["projects", "team"]\n'
    file.write_text(f'{text}[never]\npages = ["Projects"]\n')
    with pytest.raises(errors.ConfigError) as error:
        load_profile(file)
    what = "'projects' is also in want.pages; leave one of them out"
    assert [str(problem) for problem in error.value.problems] == [f"never.pages: {what}"]


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ({"want": "a,,b"}, "'' is no word"),
        ({"never": "x" * 201}, "is no word"),
        ({"want": ",".join(f"w{n}" for n in range(101))}, "names 101 kinds of pages; 100 are the most"),
        ({"never": "/drains"}, "is an address, not a word; include and exclude take addresses"),
        ({"want": "Blog", "never": "blog"}, "'blog' is wanted and never wanted"),
    ],
)
def test_bad_wishes_are_one_sentence(asked: dict[str, str], what: str) -> None:
    with pytest.raises(errors.InputError, match=what):
        chosen(**asked)


def test_the_record_says_what_was_asked_for_and_what_is_missing() -> None:
    prose = "<p>" + "Roofs and gutters, mended in every season, for thirty years. " * 6
    names = (
        "services",
        "about",
        "roof-repair",
        "gutter-cleaning",
        "siding-installation",
        "pricing",
        "loyal-owners",
    )
    web = {f"{A}{name}": f"<h1>{name}</h1>{prose}{name}".encode() for name in names}
    request = PickRequest(timings=False, want=("pricing", "webcam"), never=("about",))
    job = picker(request, FakeFetcher({A: (HOME + prose).encode(), **web}), FrozenClock())
    record = asyncio.run(job.pick(A))
    assert [page["url"].removeprefix(A) for page in record["selected"]][-1] == "pricing"
    assert (record["options"]["want"], record["options"]["never"]) == (["pricing", "webcam"], ["about"])
    assert (record["status"], record["reason"]) == ("ok", "nothing was found that is wanted as webcam")
    areas = (HOME + prose + "<a href=/service-areas>Service areas</a>").encode()
    other = picker(replace(request, want=("areas",)), FakeFetcher({A: areas, **web}), FrozenClock())
    said = "what is wanted as areas is rejected by the rule service-area"
    assert asyncio.run(other.pick(A))["reason"] == said
    small = picker(replace(request, cap=1, want=("pricing", "roof")), job.fetcher, FrozenClock())
    assert asyncio.run(small.pick(A))["reason"] == "no place was left for pricing: a larger cap has one"


def test_a_wanted_page_that_is_gone_gives_its_place_to_the_next_that_is_wanted() -> None:
    # PICK-21
    prose = "<p>" + "Roofs and gutters, mended in every season, for thirty years. " * 6
    home = HOME.replace("They say", "Pricing for loyal owners") + prose
    names = ("services", "about", "roof-repair", "gutter-cleaning", "loyal-owners")
    web = {f"{A}{name}": f"<h1>{name}</h1>{prose}{name}".encode() for name in names}
    job = picker(
        PickRequest(timings=False, want=("pricing",)), FakeFetcher({A: home.encode(), **web}), FrozenClock()
    )
    record = asyncio.run(job.pick(A))
    assert "loyal-owners" in [page["url"].removeprefix(A) for page in record["selected"]]


def test_on_the_command_line(tmp_path: Path) -> None:
    page = tmp_path / "home.html"
    page.write_text(HOME)
    arguments = [
        "select",
        str(page),
        "--base",
        A,
        "--want",
        "pricing",
        "--never",
        "careers,about",
        "--format",
        "table",
    ]
    result = CliRunner().invoke(root, arguments)
    assert result.exit_code == 0
    assert "+0 wanted: pricing" in result.output
    assert "never wanted: about" in result.output
    assert result.stderr == ""


def test_a_word_that_is_nearly_a_kind_is_noted(tmp_path: Path) -> None:
    page = tmp_path / "home.html"
    page.write_text(HOME)
    asked = ["select", str(page), "--base", A, "--want", "Project,pricing", "--never", "career,team"]
    result = CliRunner().invoke(root, asked)
    assert result.exit_code == 0
    assert result.stderr == (
        "Note: project is searched as a word; did you mean the kind projects?\n"
        "Note: career is searched as a word; did you mean the kind careers?\n"
    )


def test_candidates_stay_in_document_order_where_a_quota_postpones_pages() -> None:
    # PICK-20: every link, in document order; three hubs are over the quota of two.
    html = (
        "<nav><a href=/services>Services</a><a href=/solutions>Solutions</a><a href=/what-we-do>What we do</a>"
        "<a href=/about>About us</a></nav>"
    )
    selection = select_links(html, A)
    assert [c.url.path for c in selection.candidates] == ["/services", "/solutions", "/what-we-do", "/about"]
    assert [c.rank for c in selection.selected] == list(range(1, len(selection.selected) + 1))
