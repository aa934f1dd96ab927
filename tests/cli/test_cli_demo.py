"""`honeyguide demo`: the site that comes with Honeyguide, its server, and the tour."""

from __future__ import annotations

import re
from http.client import HTTPConnection
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner
from patience import HANG_S

from honeyguide import extract_links
from honeyguide.cli.commands.servers import NEXT, demo
from honeyguide.demo import serve_demo

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The site, served."""
    with serve_demo() as served:
        yield served


def _get(address: str, path: str) -> tuple[int, str]:
    connection = HTTPConnection(urlsplit(address).netloc, timeout=HANG_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


@pytest.fixture(scope="module")
def tour() -> str:
    """What the command says."""
    result = CliRunner().invoke(demo, [], env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    return result.stdout


# --- the site ---------------------------------------------------------------------------------------------------


def test_the_site_is_served_on_this_machine_alone(address: str) -> None:
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
    status, home = _get(address, "/")
    assert status == 200
    assert "Larkspur Fire" in home


def test_every_link_leads_to_a_page_but_the_dead_one(address: str) -> None:
    _, home = _get(address, "/")
    inside = [link.url for link in extract_links(home, address) if link.url.text.startswith(address)]
    assert len(inside) > 15
    dead = [url.path for url in inside if _get(address, url.target)[0] != 200]
    assert dead == ["/services/kitchen-suppression", "/larkspur-brochure.pdf"]


@pytest.mark.parametrize(
    "path", ["/about", "/about/", "/calendar?month=2031-07", "/robots.txt", "/services/emergency-lighting"]
)
def test_pages_are_found(address: str, path: str) -> None:
    assert _get(address, path)[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/server.py",
        "/../server.py",
        "/..%2fserver.py",
        "//etc/passwd",
        "/about.html",
        "/index",
        "/services/",
        "/x" * 4000,
    ],
)
def test_no_other_file_is_served(address: str, path: str) -> None:
    status, body = _get(address, path)
    assert (status == 200) == (path == "/services/")
    assert "import" not in body


def test_the_server_is_gone_afterwards() -> None:
    with serve_demo() as served:
        assert _get(served, "/")[0] == 200
    with pytest.raises(OSError, match="refused"):
        _get(served, "/")


# --- the tour ---------------------------------------------------------------------------------------------------


def test_the_tour_has_every_step(tour: str) -> None:
    steps = re.findall(r"^(?:\d\. .*|Try next)$", tour, re.MULTILINE)
    assert steps == [
        "1. What was found",
        "2. What was rejected at once",
        "3. How the rest was ranked",
        "4. What was replaced",
        "5. The picks",
        "Try next",
    ]
    assert all(command in tour for command, _ in NEXT)


def test_the_picks_are_the_pages_that_say_what_the_company_does(tour: str) -> None:
    picks = tour[tour.index("5. The picks") : tour.index("Try next")]
    assert re.findall(r"^\d .* (/\S+)", picks, re.MULTILINE) == [
        "/services",
        "/about",
        "/services/sprinkler-installation",
        "/services/fire-alarm-inspection",
    ]


def test_the_dead_and_the_empty_page_are_replaced(tour: str) -> None:
    replaced = tour[tour.index("4. What was replaced") : tour.index("5. The picks")]
    assert re.search(r"/services/kitchen-suppression +answered 404", replaced)
    assert re.search(r"/services/fire-pump-testing +is empty", replaced)


@pytest.mark.parametrize(
    "rule", ["scheme", "doorway", "service-area", "extension", "disallowed-path", "other-site"]
)
def test_each_kind_of_link_is_put_out_by_its_rule(tour: str, rule: str) -> None:
    out = tour[tour.index("2. What was rejected") : tour.index("3. How the rest")]
    assert re.search(rf"^ +\d+ +{rule} ", out, re.MULTILINE)


def test_scores_come_with_their_points(tour: str) -> None:
    ranked = tour[tour.index("3. How the rest") : tour.index("4. What was replaced")]
    assert "+100 overview of all services" in ranked
    assert "rejected: not-worth-it" in ranked
