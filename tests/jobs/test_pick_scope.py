"""Which hosts are one site (URL-10): `--scope` of pick, and what the record says where the scope is too narrow."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import errors, select_links
from honeyguide.app.pick import picker
from honeyguide.jobs.pick import PickRequest
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

if TYPE_CHECKING:
    from honeyguide.core.records import Record
    from honeyguide.testing.fakes import Answer

PROSE = "We mend roofs and gutters in every season, and we have done so for thirty years. " * 4
HOME = f"""<title>Acme</title><p>{PROSE}<nav><a href="https://acme.example/">Home</a>
<a href="https://acme.example/services">Services</a><a href="https://acme.example/about">About us</a>
<a href="https://shop.acme.example/">Shop</a><a href="https://facebook.example/acme">Facebook</a></nav>"""
WWW = "https://www.acme.example/"


def page(name: str) -> bytes:
    return f"<title>{name}</title><h1>{name}</h1><p>All about {name}. {PROSE}{name}".encode()


WEB: dict[str, Answer] = {
    WWW: HOME.encode(),
    "https://acme.example/services": page("services"),
    "https://acme.example/about": page("about"),
    "https://shop.acme.example/": page("shop"),
}


def pick(web: dict[str, Answer], **asked: Any) -> Record:
    job = picker(PickRequest(timings=False, **asked), FakeFetcher(web), FrozenClock())
    return asyncio.run(job.pick(WWW))


def urls(record: Record) -> list[str]:
    return [item["url"] for item in record["selected"]]


def rejections(record: Record) -> dict[str, str]:
    return {c["url"]: c["rejected"]["rule"] for c in record["candidates"] if c["rejected"]}


def test_portfolio_takes_both_spellings_of_a_host_for_one_site() -> None:
    record = pick(WEB)
    assert urls(record) == ["https://acme.example/services", "https://acme.example/about"]
    assert rejections(record) == {
        "https://acme.example/": "homepage",
        "https://shop.acme.example/": "other-site",
        "https://facebook.example/acme": "other-site",
    }
    assert record["options"]["scope"] is None


@pytest.mark.parametrize("asked", [{"scope": "host"}, {"strategy": "rules"}, {"strategy": "blend"}])
def test_where_the_host_rejects_every_link_the_record_names_the_option(asked: dict[str, str]) -> None:
    # URL-10 to the letter is the default of `rules` and `blend`.
    record = pick(WEB, **asked)
    assert record["status"] == "partial"
    assert record["reason"] == (
        "the homepage is on www.acme.example, but its links lead to other hosts (URL-10); "
        "--scope www follows 2 links to acme.example"
    )


def test_domain_takes_all_hosts_of_the_registrable_domain() -> None:
    record = pick(WEB, scope="domain")
    assert "https://shop.acme.example/" in urls(record)  # its homepage is not the homepage of the site
    assert rejections(record)["https://facebook.example/acme"] == "other-site"


def test_a_page_under_both_spellings_is_one_page_on_the_host_of_the_homepage() -> None:
    html = (
        "<a href=https://acme.example/services>Services</a><a href=/services>What we do</a>"
        "<a href=https://www.acme.example/about>About</a><a href=https://acme.example/about>About us</a>"
    )
    chosen = select_links(html, WWW)
    assert [c.url.text for c in chosen.selected] == [f"{WWW}services", f"{WWW}about"]
    assert [c.rejected.rule for c in chosen.candidates if c.rejected] == ["duplicate", "duplicate"]
    apart = select_links(html, WWW, scope="host")
    assert [c.rejected.rule for c in apart.candidates if c.rejected] == ["other-site", "other-site"]


def test_a_redirect_to_the_other_spelling_stays_on_the_site() -> None:
    home = HOME.replace("https://acme.example/services", "/services")
    record = pick({**WEB, WWW: home.encode(), f"{WWW}services": page("services")}, scope="www")
    assert f"{WWW}services" in urls(record)
    assert record["replaced"] == []


def test_an_unknown_scope_is_one_sentence() -> None:
    with pytest.raises(errors.InputError, match="no scope is named 'world'; there are host, www, domain"):
        select_links(HOME, WWW, scope="world")
