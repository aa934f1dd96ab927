"""`honeyguide explain --picks` and `select --explain`: what was decided about a link of a homepage, and why (PICK-20)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import read
from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from click.testing import Result

    Run = Callable[..., Result]

QUICK = ("--allow-private", "--delay", "0", "--retries", "0", "--no-timings")
HOME = b"""<title>Acme</title><nav><ul><li><a href="/services">Our Services</a><ul>
<li><a href="/services/boilers">Boilers</a></li><li><a href="/services/heaters">Heaters</a></li>
<li><a href="/services/pumps">Pumps</a></li></ul></li><li><a href="/about">About us</a></li></ul></nav>
<p>We repair things, and have done so for a long time. <a href="mailto:a@acme.example">Write</a></p>"""


def _page(title: str) -> bytes:
    text = f"{title} are what this page is about, and nothing else at all, for many words. " * 20
    return f"<title>{title}</title><h1>{title}</h1><main><p>{text}</p></main>".encode()


@pytest.fixture
def site(run: Run) -> Iterator[str]:
    """A site whose page on boilers is gone, and the file of a pick of three pages."""
    names = ("services", "services/heaters", "services/pumps", "about")
    pages = {f"/{name}": response(_page(name.rpartition("/")[2].title())) for name in names}
    with served(LoopbackServer({"/": response(HOME), **pages})) as (site,):
        assert run("pick", site, *QUICK, "--cap", "3", "-o", "picks.jsonl").exit_code == 0
        yield site


def sentences(result: Result) -> list[str]:
    assert result.exit_code == 0, result.stderr
    return result.stdout.splitlines()


def test_a_selected_page_has_its_groups_and_every_point(run: Run, site: str) -> None:
    (record,) = map(json.loads, Path("picks.jsonl").read_text("utf-8").splitlines())
    (heaters,) = (one for one in record["candidates"] if one["url"].endswith("/heaters"))
    said = sentences(run("explain", f"{site}services/heaters", "--picks", "picks.jsonl", "--format", "table"))
    assert said[:2] == [
        f"{site}services/heaters",
        f"Picked from {site}, the homepage of {site}, by strategy portfolio of profile company.",
    ]
    assert "By its address it is inside the site." in said
    assert "The homepage links it as 'Heaters', in navigation." in said
    assert "It is listed under the submenu 'Our Services'." in said
    for point in heaters["points"]:
        assert f"    +{point['points']:g} {point['reason']} ({point['rule']})" in said
    assert f"It was selected as number {heaters['rank']}." in said
    assert any(line.startswith("It was fetched with status 200, its title is 'Heaters'") for line in said)


def test_what_its_page_added_is_said_of_a_selected_page(run: Run) -> None:
    pages = {f"/{name}": response(_page(name.title())) for name in ("services", "about")}
    pages["/services/pumps"] = response(b"<main><h1>Pumps</h1><p>Pumps for houses and farms.</main>")
    with served(LoopbackServer({"/": response(HOME), **pages})) as (site,):
        run("pick", site, *QUICK, "--cap", "9", "-o", "picks.jsonl")
        said = sentences(
            run("explain", f"{site}services/pumps", "--picks", "picks.jsonl", "--format", "table")
        )
    thin = "is thin: 33 characters of text; no other page of its kind has more (thin)"
    assert f"Of the page itself: {thin}." in said


def test_a_rejected_page_names_its_rule_and_what_was_selected_instead(run: Run, site: str) -> None:
    record = json.loads(run("explain", "/services/pumps", "--picks", "picks.jsonl").stdout)
    taken = [one["url"] for one in json.loads(Path("picks.jsonl").read_text("utf-8"))["selected"]]
    assert (record["url"], record["rejected"]["rule"]) == (f"{site}services/pumps", "cap")
    assert record["candidate"]["menus"] == ["Our Services"]
    assert f"It was rejected by cap: {record['rejected']['reason']}." in record["sentences"]
    listed = record["sentences"][record["sentences"].index("Selected were:") + 1 :]
    assert [line.split()[1].rstrip(",") for line in listed] == taken


def test_a_dead_page_names_what_took_its_place(run: Run, site: str) -> None:
    whole = json.loads(Path("picks.jsonl").read_text("utf-8"))
    (dead,) = whole["replaced"]
    assert dead["url"] == f"{site}services/boilers"
    said = sentences(run("explain", dead["url"], "--picks", "picks.jsonl", "--format", "table"))
    assert said[-2:] == [
        f"It was selected at first, and lost its place: {dead['reason']}.",
        f"{dead['by']} took it.",
    ]
    newcomer = sentences(run("explain", dead["by"], "--picks", "picks.jsonl", "--format", "table"))
    assert newcomer[-1] == f"It took the place of {dead['url']}."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{site}nowhere", "On the homepage it is not linked."),
        ("mailto:a@acme.example", "On the homepage it leads to no page: "),
        ("{site}services/#top", "It was selected as number 1."),
    ],
)
def test_every_kind_of_link_has_its_sentence(run: Run, site: str, text: str, words: str) -> None:
    said = sentences(run("explain", text.format(site=site), "--picks", "picks.jsonl", "--format", "table"))
    assert any(line.startswith(words) for line in said), said


def test_parquet_and_csv_of_it(run: Run, site: str) -> None:
    pytest.importorskip("polars")  # an extra
    run("pick", site, *QUICK, "--cap", "3", "-o", "picks.parquet")
    asked = ("explain", f"{site}services/pumps", "--format", "table", "--picks")
    assert run(*asked, "picks.parquet").stdout == run(*asked, "picks.jsonl").stdout
    row = run("explain", f"{site}services/pumps", "--picks", "picks.jsonl", "--format", "csv").stdout
    assert row.startswith(
        "schema,text,url,site,homepage,strategy,profile,rank,rejected_rule,rejected_reason,"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("https://other.example/", "no record here is of its site"),
        ("/nowhere", "no homepage here links that path"),
        ("ftp://a.example/", "is not an address"),
    ],
)
def test_what_no_record_knows_is_one_sentence(run: Run, site: str, text: str, sentence: str) -> None:
    result = run("explain", text, "--picks", "picks.jsonl")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert sentence in result.stderr
    assert "--run is about a store" in run("explain", site, "--picks", "picks.jsonl", "--run", "1").stderr


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("pricing", "'pricing' is neither a path nor a URL; write '/pricing' or a whole URL\n"),
        (
            "about",
            "'about' is neither a path nor a URL; write '/about' or a whole URL, such as '{site}about'\n",
        ),
        ("our prices", "'our prices' is neither a path nor a URL; write '/our prices' or a whole URL\n"),
        ("other.example", "'other.example': no record here is of its site\n"),
    ],
)
def test_a_word_is_no_address_and_the_page_of_its_path_is_named(
    run: Run, site: str, text: str, sentence: str
) -> None:
    result = run("explain", text, "--picks", "picks.jsonl")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.endswith(sentence.format(site=site))


def test_a_file_name_of_a_linked_page_is_named_as_a_path(run: Run) -> None:
    home = HOME.replace(b"/about", b"/about.html")
    with served(LoopbackServer({"/": response(home)})) as (site,):
        assert run("pick", site, *QUICK, "-o", "picks.jsonl").exit_code in (0, 3)
        said = run("explain", "about.html", "--picks", "picks.jsonl").stderr
    assert f"write '/about.html' or a whole URL, such as '{site}about.html'" in said


def test_a_word_is_a_host_if_a_record_has_its_site_or_a_page_links_it(run: Run, site: str) -> None:
    record = Path("picks.jsonl").read_text("utf-8").replace(site, "https://intranet/")
    Path("intranet.jsonl").write_text(record, "utf-8")
    assert (
        json.loads(run("explain", "intranet", "--picks", "intranet.jsonl").stdout)["site"]
        == "https://intranet/"
    )
    file = run("explain", "about", "--picks", "missing.jsonl").stderr
    assert "missing.jsonl: cannot be read" in file


def test_a_file_of_another_kind_is_one_sentence(run: Run, crawled: Any) -> None:
    del crawled
    run("export", "pages", "-o", "pages.jsonl")
    result = run("explain", "/about", "--picks", "pages.jsonl")
    assert (result.exit_code, "give JSON lines or Parquet that honeyguide pick wrote" in result.stderr) == (
        1,
        True,
    )


def test_a_path_on_two_sites_is_explained_for_the_first_and_said(run: Run, site: str) -> None:
    text = Path("picks.jsonl").read_text("utf-8")
    Path("two.jsonl").write_text(text + text.replace(site, "https://b.example/"), "utf-8")
    result = run("explain", "/about", "--picks", "two.jsonl")
    assert json.loads(result.stdout)["site"] == site
    assert result.stderr == "Note: also linked by https://b.example/; a whole URL chooses\n"


def test_a_page_in_a_file_is_asked_by_select(run: Run) -> None:
    asked = ("select", "home.html", "--base", "https://acme.example/", "--explain")
    record = json.loads(run(*asked, "/careers").stdout)
    listed = [json.loads(line) for line in run(*asked[:-1]).stdout.splitlines()]
    (same,) = (one for one in listed if one["url"] == "https://acme.example/careers")
    assert record["candidate"] == {name: value for name, value in same.items() if name != "schema"}
    assert record["rejected"] == same["rejected"]
    assert "is for a PAGE" in run("select", "links.csv", "--explain", "/careers").stderr


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_table_of_picks_says_what_it_lacks_and_is_still_read_with_its_own_columns(
    run: Run, site: str, ending: str
) -> None:
    Path("list.csv").write_text(f"owner,website\nAnna,{site}\n", "utf-8")
    assert run("pick", "-i", "list.csv", *QUICK, "-o", f"p.{ending}").exit_code == 0
    assert "has no links of homepages" in run("explain", "/about", "--picks", f"p.{ending}").stderr
    assert "is a table, of which picks are not read" in run("diff", f"p.{ending}", f"p.{ending}").stderr
    assert {row["owner"] for row in read(f"p.{ending}")} == {"Anna"}


@pytest.mark.parametrize("linked", [True, False])
def test_the_homepage_is_never_a_pick(run: Run, *, linked: bool) -> None:
    home = HOME + b'<a href="/">Home</a>' if linked else HOME
    with served(LoopbackServer({"/": response(home)})) as (site,):
        run("pick", site, *QUICK, "-o", "picks.jsonl")
        for text in (site, "/"):
            said = sentences(run("explain", text, "--picks", "picks.jsonl", "--format", "table"))
            assert said[2].startswith("The site is partial")
            assert said[3] == "It is the homepage itself, which is never a pick."
            assert not any(line.startswith("By its address") for line in said)
            assert ("It was rejected by same-page: leads to the page itself." in said) == linked
