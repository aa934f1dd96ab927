"""A look at the fetched pages (PICK-21, SPEC 4b): gone, terms, doorways in pairs, the same text twice, thin pages."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from honeyguide.app.pick import picker
from honeyguide.core.url.url import Url
from honeyguide.jobs.pick import PickRequest
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

if TYPE_CHECKING:
    from honeyguide.core.records import Record
    from honeyguide.testing.fakes import Answer

MENU = "<nav><ul>{}</ul></nav>"
FOOTER = "<footer>" + "<p>Acme, 1 Long Lane, open on all days but Sunday.</p>" * 8 + "</footer>"
PROSE = (
    "we mend and build what people bring to us and we do so with care because a thing that is mended well lasts for years and "
    "costs less than a new one so that everybody who comes here once comes again and brings a friend along with him to see it "
)


def page(title: str, main: str, names: tuple[str, ...] = ()) -> bytes:
    menu = MENU.format("".join(f"<li><a href=/{n}>{n.replace('-', ' ').title()}</a></li>" for n in names))
    return f"<title>{title}</title>{menu}<main><h1>{title}</h1><p>{main}</main>{FOOTER}".encode()


def pick(texts: dict[str, bytes], **asked: Any) -> Record:
    home = page("Acme", PROSE, tuple(texts))
    web: dict[str, Answer] = {"https://acme.example/": home}
    web |= {f"https://acme.example/{name}": text for name, text in texts.items()}
    job = picker(PickRequest(timings=False, **asked), FakeFetcher(web), FrozenClock())
    return asyncio.run(job.pick("acme.example"))


def paths(record: Record) -> list[str]:
    return [Url.parse(item["url"]).path for item in record["selected"]]


def replaced(record: Record) -> dict[str, tuple[str, str | None]]:
    return {
        Url.parse(item["url"]).path: (item["reason"], item["by"] and Url.parse(item["by"]).path)
        for item in record["replaced"]
    }


def test_a_page_is_gone_by_its_own_text_whatever_its_menu_and_footer_say() -> None:
    names = ("zorbs", *(f"frabs-{n}" for n in range(9)))
    record = pick({"zorbs": page("Page not found", "Oh no.", names), "raths": page("Raths", PROSE)})
    assert paths(record) == ["/raths"]
    assert replaced(record) == {"/zorbs": ("says 'page not found' in its title or heading", None)}


def test_unknown_pages_that_read_like_terms_are_replaced() -> None:
    clauses = "".join(f"<p>{n}. The buyer pays what is due.</p>" for n in range(1, 8))
    legal = "The seller is liable; liability ends. Refunds need consent. Jurisdiction: here. " * 3
    texts = {f"z{n}": page(f"Z{n}", PROSE + f"{n} " * 40) for n in range(3)}
    record = pick({"zorbs": page("Zorbs", clauses), "raths": page("Raths", legal), **texts})
    assert paths(record) == ["/z0", "/z1", "/z2"]
    reason = "reads like terms and conditions"
    assert replaced(record) == {"/zorbs": (reason, "/z2"), "/raths": (reason, None)}


def test_two_pages_that_differ_in_a_name_are_doorways() -> None:
    towns = {
        f"zorbing-{town.lower()}": page(f"Zorbing in {town}", f"{PROSE} Come to {town}. {PROSE}")
        for town in ("Ashbrook", "Millhaven")
    }
    record = pick({"about": page("About", PROSE), **towns, "raths": page("Raths", PROSE + "raths " * 30)})
    assert paths(record) == ["/about", "/raths"]
    assert replaced(record)["/zorbing-ashbrook"][0] == (
        "differs only in a name from another page: /zorbing-millhaven"
    )


def test_two_pages_that_differ_in_an_ordinary_word_are_none() -> None:
    pair = {
        f"zorbing-{kind}": page(f"Zorbing {kind.title()}", f"{PROSE} for {kind} and more {PROSE}")
        for kind in ("hills", "slopes")
    }
    assert paths(pick(pair)) == ["/zorbing-hills", "/zorbing-slopes"]


def test_the_same_text_under_two_addresses_counts_once() -> None:
    text = page("Zorbs", PROSE)
    record = pick({"zorbs": text, "raths": text})
    assert paths(record) == ["/zorbs"]
    assert replaced(record) == {"/raths": ("has the same text as another page: /zorbs", None)}


def test_a_thin_page_yields_to_one_of_its_bucket_that_has_more() -> None:
    texts = {f"z{n}": page(f"Z{n}", PROSE + f"{n} " * 40) for n in range(4)}
    record = pick({"zorbs": page("Zorbs", "A few words about zorbs."), **texts})
    assert paths(record) == ["/z0", "/z1", "/z2", "/z3"]
    assert replaced(record) == {"/zorbs": ("is thin: 30 characters of text", "/z3")}


def test_a_thin_page_stays_where_no_page_of_its_bucket_has_more() -> None:
    texts = {f"z{n}": page(f"Z{n}", PROSE + f"{n} " * 40) for n in range(4)}
    record = pick({"about": page("About", "A few words about us."), **texts})
    assert paths(record) == ["/about", "/z0", "/z1", "/z2"]
    assert record["replaced"] == []
    assert (
        "is thin: 27 characters of text; no other page of its kind has more"
        in record["selected"][0]["reasons"]
    )


def test_other_strategies_do_not_look_at_what_pages_say() -> None:
    text = page("Zorbs", PROSE * 2)
    assert paths(pick({"repair-a": text, "repair-b": text}, strategy="rules")) == ["/repair-a", "/repair-b"]


def test_an_empty_page_is_never_picked() -> None:
    texts = {
        "about": b"<title>About</title><main></main>",
        "services": page("Services", "", ("zorbs", "raths")),
    }
    empty = pick({name: text.replace(b"<h1>Services</h1>", b"") for name, text in texts.items()})
    assert (paths(empty), empty["status"]) == ([], "partial")
    record = pick({**texts, "zorbs": page("Zorbs", PROSE)})
    assert "/about" not in paths(record)
    assert "/about" in replaced(record)
