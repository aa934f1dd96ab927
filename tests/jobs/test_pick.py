"""The pick job on fakes: every way a site can answer becomes one record."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import FetchPolicy, errors, load_profile
from honeyguide.adapters.http.robots import read_robots
from honeyguide.app.pick import picker
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why
from honeyguide.errors import (
    AddressRefusedError,
    AskedToWaitError,
    ConfigError,
    DeclinedError,
    FetchError,
    ForbiddenError,
    NameNotFoundError,
    NotKeptError,
    NotTextError,
    TimedOutError,
    TooLargeError,
    UnreachableError,
)
from honeyguide.jobs.pick import MAX_REPLACING, PickRequest, pick_all
from honeyguide.jobs.politeness import PoliteFetcher
from honeyguide.ports.fetch import Fetched, Headers, Part, Validators
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

if TYPE_CHECKING:
    from honeyguide.core.records import Record
    from honeyguide.testing.fakes import Answer

PROSE = "Fire protection is what we do, every day, for owners of buildings of every size. " * 4
HOME = (
    "<title>Acme</title><nav><a href=/services>Services</a><a href=/about>About</a><a href=/gutters>Gutters</a>"
    "<a href=/siding>Siding</a><a href=/windows>Windows</a><a href=/locations>Locations</a></nav><p>Welcome to Acme. "
    + PROSE
)


def inner(name: str) -> bytes:
    return f"<title>{name}</title><h1>{name}</h1><p>All about {name}, told at length. {PROSE}{name}".encode()


WEB: dict[str, Answer] = {
    "https://acme.example/": HOME.encode(),
    **{
        f"https://acme.example/{name}": inner(name)
        for name in ("services", "about", "gutters", "siding", "windows")
    },
}


def pick(web: dict[str, Answer], site: str = "acme.example", **asked: Any) -> tuple[Record, FakeFetcher]:
    request = PickRequest(timings=False, **asked)
    fetcher = FakeFetcher(web)
    job = picker(request, fetcher, FrozenClock())
    return asyncio.run(job.pick(site)), fetcher


def paths(record: Record) -> list[str]:
    return [Url.parse(item["url"]).path for item in record["selected"]]


def test_a_site_becomes_a_record() -> None:
    record, fetcher = pick(WEB)
    assert (record["status"], record["homepage"], record["title"]) == ("ok", "https://acme.example/", "Acme")
    assert paths(record) == ["/services", "/about", "/gutters", "/siding"]
    first = record["selected"][0]
    assert (first["rank"], first["bucket"], first["title"], first["status"]) == (1, "hub", "services", 200)
    assert sum(reason["points"] for reason in first["points"]) == first["score"]
    assert len(record["candidates"]) == record["counts"]["links"] == 6
    assert record["requests"] == len(fetcher.requests) == 5
    assert "elapsed_s" not in record


def test_bare_names_are_probed_in_order() -> None:
    web: dict[str, Answer] = {
        "https://acme.example/": UnreachableError,
        "https://www.acme.example/": UnreachableError,
    }
    record, fetcher = pick(
        {
            **web,
            "http://acme.example/": b"<a href=/about>About</a>",
            "http://acme.example/about": inner("about"),
        }
    )
    assert fetcher.requests[:3] == [
        "https://acme.example/",
        "https://www.acme.example/",
        "http://acme.example/",
    ]
    assert (record["status"], paths(record)) == ("ok", ["/about"])


def test_the_final_url_is_the_seed() -> None:
    # URL-10: example.com that redirects to www.example.com is picked from as the www site.
    asked, final = Url.parse("https://acme.example/"), Url.parse("https://www.acme.example/en/")
    home = Fetched(
        final,
        asked,
        200,
        Headers("text/html"),
        b"<a href=team>About the team</a><a href=https://acme.example/x>Old</a>",
    )
    web: dict[str, Answer] = {
        "https://acme.example/": home,
        "https://www.acme.example/en/team": inner("team"),
    }
    record, fetcher = pick(web, scope="host")
    assert record["homepage"] == "https://www.acme.example/en/"
    assert fetcher.requests[1:] == ["https://www.acme.example/en/team"]
    assert record["counts"]["rejected_other_site"] == 1


class SlowFetcher(FakeFetcher):
    """A web where some paths never answer."""

    def __init__(self, web: dict[str, Answer], hanging: tuple[str, ...]) -> None:
        super().__init__(web)
        self.hanging = hanging
        self.cancelled: list[str] = []

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        if url.path in self.hanging:
            self.requests.append(url.as_linked)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.append(url.path)
                raise
        return await super().fetch(url, validators=validators, part=part)


def pick_slowly(*hanging: str, **asked: Any) -> tuple[Record, SlowFetcher, float]:
    fetcher, clock = SlowFetcher(WEB, hanging), FrozenClock()
    began = clock.now()
    job = picker(PickRequest(timings=False, **asked), fetcher, clock)
    return asyncio.run(job.pick("https://acme.example/")), fetcher, clock.now() - began


def test_a_page_that_never_ends_does_not_hold_its_site_longer_than_the_time_of_a_site() -> None:
    record, fetcher, passed_s = pick_slowly("/about")
    assert passed_s == FetchPolicy().site_timeout_s == 300.0
    late = "the site took more than 300 s; what was not fetched by then is missing"
    assert (record["status"], record["reason"]) == ("partial", late)
    assert paths(record) == ["/services", "/gutters", "/siding"]  # what was found by then
    assert record["replaced"] == [{"url": "https://acme.example/about", "reason": late, "by": None}]
    rejected = {Url.parse(item["url"]).path: item["rejected"] for item in record["candidates"]}
    assert rejected["/windows"] == {"rule": "untried", "reason": late}
    assert fetcher.cancelled == ["/about"]
    assert len(fetcher.requests) == record["requests"] == 5  # nothing is requested afterwards


def test_a_homepage_that_never_ends_is_a_timeout() -> None:
    record, fetcher, passed_s = pick_slowly("/")
    assert (record["status"], passed_s) == ("timeout", 300.0)
    assert "took more than 300 s" in (record["reason"] or "")
    assert fetcher.cancelled == ["/"]


def test_heads_that_never_end_cost_the_time_of_a_site_and_no_more() -> None:
    record, _, passed_s = pick_slowly("/about", "/services", strategy="blend", query="about services")
    assert (record["status"], passed_s) == ("partial", 300.0)


STATUS_OF: dict[type[FetchError], str] = {
    FetchError: "unreachable",
    NameNotFoundError: "dns_failed",
    UnreachableError: "unreachable",
    AskedToWaitError: "unreachable",
    TimedOutError: "timeout",
    ForbiddenError: "robots_disallowed",
    DeclinedError: "robots_disallowed",
    AddressRefusedError: "unreachable",
    NotKeptError: "not_kept",
    NotTextError: "empty",
    TooLargeError: "empty",
}


def test_every_fetch_error_has_its_status() -> None:
    kinds = {
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, FetchError)
    }
    assert kinds == STATUS_OF.keys()


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        *STATUS_OF.items(),
        (404, "http_error"),
        (503, "http_error"),
        (b"", "empty"),
        (b"  <p> </p>", "empty"),
    ],
)
def test_failures_are_statuses(answer: Answer, status: str) -> None:
    record, _ = pick({"https://acme.example/": answer}, "https://acme.example/")
    assert record["status"] == status
    assert record["reason"]
    assert record["selected"] == []


def test_the_failure_that_got_furthest_is_told() -> None:
    web: dict[str, Answer] = {
        "https://acme.example/": 500,
        "https://www.acme.example/": NameNotFoundError,
        "http://acme.example/": UnreachableError,
    }
    record, _ = pick(web)
    assert (record["status"], record["reason"]) == ("http_error", "the homepage answered 500")


@pytest.mark.parametrize(
    "site",
    [
        "",
        "   ",
        "http://",
        "a b",
        "https://exa mple/",
        "ftp://acme.example/",
        "x" * 100_000,
        "\x00",
        "1.2.3.4.5",
    ],
)
def test_what_is_no_address(site: str) -> None:
    record, fetcher = pick({}, site)
    assert record["status"] in ("unreachable", "http_error")
    assert record["reason"]
    assert record["site"] == site
    assert len(fetcher.requests) <= 3


def listing(count: int) -> bytes:
    links = "".join(f"<a href=/s{number}-repair>Repair of {number}</a> " for number in range(count))
    return f"<title>Acme</title><nav>{links}</nav><p>{PROSE}".encode()


def test_places_are_filled_from_further_down_within_bounds() -> None:
    # PICK-21: the next in order, however many before it are dead; only so many are tried.
    home: dict[str, Answer] = {"https://acme.example/": listing(40)}
    record, _ = pick(home | {f"https://acme.example/s{n}-repair": inner(str(n)) for n in range(24, 40)})
    assert paths(record) == [f"/s{number}-repair" for number in range(24, 28)]
    record, fetcher = pick(home)
    assert (record["status"], record["selected"]) == ("partial", [])
    assert len(fetcher.requests) == 1 + len(record["replaced"]) <= 1 + 4 + MAX_REPLACING
    assert record["counts"]["rejected_untried"] == 40 - len(record["replaced"]) > 0


def test_short_pages_count_where_nothing_better_is_left() -> None:
    # PICK-21: two sentences are content; an empty page is none.
    web = {
        f"https://acme.example/s{n}-repair": f"<h1>No. {n}</h1><p>We repair {n}.".encode() for n in range(4)
    }
    short, _ = pick({"https://acme.example/": listing(5), **web, "https://acme.example/s4-repair": b"<p>"})
    assert (short["status"], paths(short)) == ("ok", [f"/s{n}-repair" for n in range(4)])
    assert [item["text_chars"] for item in short["selected"]] == [18] * 4
    assert [Url.parse(item["url"]).path for item in short["replaced"]] == ["/s4-repair"]
    long = {f"https://acme.example/s{n}-repair": inner(str(n)) for n in range(2, 6)}
    better, _ = pick({"https://acme.example/": listing(6), **web, **long})
    assert paths(better) == [f"/s{n}-repair" for n in range(2, 6)]
    assert {item["reason"] for item in better["replaced"]} == {"is thin: 18 characters of text"}


@pytest.mark.parametrize(
    "home",
    [
        '<div id="root"></div><script src=app.js></script><noscript>You need to enable JavaScript</noscript>',
        "<script>location.href='/app'</script>",
        f"<p>{PROSE}{PROSE}</p><a onclick=go(1)>Services</a><a href='javascript:void(0)'>About</a>",
    ],
)
def test_sites_made_by_scripts_say_so(home: str) -> None:
    record, _ = pick({"https://acme.example/": home.encode()})
    assert (record["status"], "without JavaScript" in record["reason"]) == ("partial", True)


@pytest.mark.parametrize(
    ("title", "is_gone"),
    [
        ("Services | Acme (404) 555-0199", False),
        ("Fire alarm installation: model 14045", False),
        ("Acme, unfoundly not foundational", False),
        ("Error 404", True),
        ("404 | Acme", True),
        ("Page not found!", True),
        ("Error 404 | Acme 24/7", True),
        ("404 - Acme Services 2024", True),
        ("ページが見つかりません", True),
    ],
)
def test_what_a_page_says_of_itself_is_read_as_words(title: str, is_gone: bool) -> None:
    page = f"<title>{title}</title><h1>Hello</h1><p>Told here, and nowhere else. {PROSE}".encode()
    record, _ = pick({"https://acme.example/": listing(1), "https://acme.example/s0-repair": page})
    assert bool(record["replaced"]) == is_gone


def test_pages_made_by_scripts_are_empty() -> None:
    shell = b"<title>App</title><p>Please turn JavaScript on.</p><script src=app.js></script>"
    record, _ = pick({"https://acme.example/": listing(2), "https://acme.example/s0-repair": shell})
    assert (record["status"], record["selected"]) == ("partial", [])


def test_dead_and_empty_pages_are_replaced() -> None:
    # PICK-21: dead, empty, gone, the same page twice, a redirect to a place that is out.
    moved = Fetched(
        Url.parse("https://acme.example/locations/akron"),
        Url.parse("https://acme.example/gutters"),
        200,
        Headers("text/html"),
        inner("akron"),
    )
    record, _ = pick(
        {
            **WEB,
            "https://acme.example/services": 404,
            "https://acme.example/about": b"<p>About",
            "https://acme.example/gutters": moved,
        }
    )
    assert paths(record) == ["/siding", "/windows"]
    why = {Url.parse(item["url"]).path: item["reason"] for item in record["replaced"]}
    assert why["/services"] == "answered 404"
    assert why["/about"].startswith("is empty: ")
    assert why["/gutters"].startswith("redirects to /locations/akron: lists places served")
    outs = {Url.parse(c["url"]).path: c["rejected"]["rule"] for c in record["candidates"] if c["rejected"]}
    assert outs["/services"] == "replaced"
    scores = {Url.parse(item["url"]).path: item["score"] for item in record["candidates"]}
    assert scores["/services"] == 104  # PICK-20: what was decided before it was fetched stays


def test_a_page_that_says_it_is_not_there() -> None:
    record, _ = pick(
        {**WEB, "https://acme.example/services": b"<title>404 Page not found</title><p>" + PROSE.encode()}
    )
    assert record["replaced"][0]["reason"].startswith("says '404'")


def test_two_addresses_of_one_page_count_once() -> None:
    about = Url.parse("https://acme.example/about")
    twice = Fetched(
        about, Url.parse("https://acme.example/gutters"), 200, Headers("text/html"), inner("about")
    )
    record, _ = pick({**WEB, "https://acme.example/gutters": twice})
    assert paths(record) == ["/services", "/about", "/siding", "/windows"]
    assert record["replaced"] == [
        {
            "url": "https://acme.example/gutters",
            "reason": "is the same page as /about",
            "by": "https://acme.example/windows",
        }
    ]


def test_navigation_made_by_scripts_is_said() -> None:
    record, _ = pick(
        {
            "https://acme.example/": b"<title>Acme</title><div id=root></div><script src=app.js></script>Loading"
        }
    )
    assert record["status"] == "partial"
    assert "JavaScript" in record["reason"]


def test_a_homepage_without_inner_pages() -> None:
    record, _ = pick({"https://acme.example/": ("<p>" + PROSE * 3).encode()})
    assert (record["status"], record["reason"]) == (
        "partial",
        "the homepage links to no inner page that could be chosen",
    )


def test_heads_are_read_for_blend_and_a_failed_one_is_not_known() -> None:
    # PICK-11
    web = {
        **WEB,
        "https://acme.example/": b"<nav><a href=/services/a>Fire alarm</a><a href=/services/b>Fire doors</a><a href=/privacy>P</a></nav>",
    }
    web["https://acme.example/services/a"] = inner("fire sprinkler inspection")
    web["https://acme.example/services/b"] = TimedOutError
    record, fetcher = pick(web, strategy="blend")
    unknown = {
        Url.parse(c["url"]).path: c["unknown"]
        for c in record["candidates"]
        if c["score"] is not None or c["unknown"]
    }
    assert unknown["/services/a"] == ["head_description"]
    assert "head_title" in unknown["/services/b"]
    assert "https://acme.example/privacy" not in fetcher.requests


def test_only_heads_that_can_change_the_outcome_are_asked_for() -> None:
    links = "".join(f"<a href=/a/b/c/d/x{i}?q={i}>x</a>" for i in range(200))
    strong = "".join(
        f"<a href=/services/fire-inspection-{i}>Fire protection inspection</a>" for i in range(40)
    )
    _, fetcher = pick(
        {"https://acme.example/": f"<nav>{strong}</nav><footer>{links}".encode()}, strategy="blend"
    )
    heads = [url for url in fetcher.requests if "/services/" in url]
    assert len(set(heads)) <= 30 + 4 * 4
    assert not [url for url in fetcher.requests if "/a/b/c/d" in url]


QUERY = load_profile("fire-protection").query.text


class CountingFetcher(FakeFetcher):
    """Notes which heads were asked for, and how many requests were in flight at once."""

    def __init__(self, pages: dict[str, Answer]) -> None:
        super().__init__(pages)
        self.heads: list[str] = []
        self.in_flight = self.most = 0

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        self.heads += [url.path] if part is Part.HEAD else []
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        for _ in range(10):
            await asyncio.sleep(0)
        try:
            return await super().fetch(url, validators=validators, part=part)
        finally:
            self.in_flight -= 1


def blend_heads(strong: int, weak: int, delay_s: float) -> CountingFetcher:
    """Pick by blend from a site with pages that are the query itself, and others that are below them in the site."""
    names = [f"services/fire-inspection-{i:02}" for i in range(strong)]
    names += [f"a/b/services/fire-{i:02}" for i in range(weak)]
    page = f"<title>{QUERY}</title><meta name=description content='{QUERY}'><p>{PROSE}"
    links = "".join(f"<a href=/{name}>{QUERY}</a>" for name in names)
    web: dict[str, Answer] = {"https://acme.example/": f"<nav>{links}</nav><p>Welcome. {PROSE}".encode()}
    web |= {f"https://acme.example/{name}": f"{page} {name} {name} {name}".encode() for name in names}
    fetcher, clock = CountingFetcher(web), FrozenClock()
    polite = PoliteFetcher(fetcher, clock, read_robots, FetchPolicy(delay_s=delay_s, jitter=0))
    record = asyncio.run(picker(PickRequest("blend"), polite, clock).pick("acme.example"))
    assert len(record["selected"]) == 4
    return fetcher


def test_heads_are_not_read_once_they_change_nothing() -> None:
    # PICK-11: after five perfect heads, no head can lift a page that lies deeper in the site.
    fetcher = blend_heads(5, 20, 0.5)
    assert sorted(fetcher.heads) == [f"/services/fire-inspection-{i:02}" for i in range(5)]


@pytest.mark.parametrize(("delay_s", "most"), [(0.0, 5), (0.5, 1)])
def test_heads_are_read_five_at_a_time_where_the_delay_allows(delay_s: float, most: int) -> None:
    # PICK-11: without a delay; with one, a host is asked one thing after the other.
    fetcher = blend_heads(12, 0, delay_s)
    assert len(fetcher.heads) == 12
    assert fetcher.most == most


def test_content_and_evidence() -> None:
    record, _ = pick(WEB, content=True, profile="fire-protection", strategy="rules")
    first = record["selected"][0]
    assert first["markdown"]
    assert set(first) >= {"headings", "keywords", "evidence"}


def test_records_do_not_depend_on_how_many_run_at_once() -> None:
    sites = [f"https://s{i}.example/" for i in range(6)]
    web: dict[str, Answer] = {}
    for site in sites:
        web |= {url.replace("https://acme.example/", site): answer for url, answer in WEB.items()}
    runs = []
    for at_once in (1, 6):
        request = PickRequest(timings=False)
        records: dict[int, Record] = {}
        job = picker(request, FakeFetcher(web), FrozenClock())
        asyncio.run(pick_all(job, sites, at_once, records.__setitem__))
        runs.append(records)
    assert runs[0] == runs[1]
    assert [runs[0][i]["site"] for i in range(6)] == sites


def test_a_row_that_is_no_site_has_the_same_fields() -> None:
    record, _ = pick(WEB)
    job = picker(PickRequest(timings=False), FakeFetcher({}), FrozenClock())
    assert set(job.fail("x", Why("unreachable", "row 3 has no address"))) == set(record)


def test_unknown_strategies_and_profiles_are_refused() -> None:
    with pytest.raises(ConfigError, match="has no 'luck'"):
        pick(WEB, strategy="luck")


def test_a_site_whose_pages_all_fail_says_how_they_failed() -> None:
    record, _ = pick({"https://acme.example/": HOME.encode()})
    assert record["selected"] == []
    assert record["reason"] == (
        "no inner page was worth choosing; 6 links are rejected: 5 by replaced (answered 404), 1 by service-area"
    )
