"""Homepages that misbehave: each becomes a record with a status and a reason, and the run goes on."""

from __future__ import annotations

import asyncio
import gzip
from dataclasses import replace
from typing import Any

import pytest
from patience import HANG_S

from honeyguide import pick_sites
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.records import Record
from honeyguide.jobs.pick import PickRequest
from honeyguide.testing.fakes import LoopbackServer, Script, drip, reset, response, silence

PROSE = b"<p>" + b"We test and repair what keeps people safe, every day of the year. " * 8
INNER = b"<title>Inner</title><h1>Inner</h1>" + PROSE + b"Told at length, and only here."
OPEN_ENDED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
BOMB = gzip.compress(bytes(5_000_000))
POLICY = FetchPolicy(
    allow_private=True,
    delay_s=0.0,
    retries=0,
    read_timeout_s=HANG_S,
    total_timeout_s=HANG_S,
    max_decoded_bytes=2_000_000,
)


def homepage(links: int) -> bytes:
    return response(PROSE + b"".join(b'<a href="/in/repair-%d">Repair %d</a>' % (i, i) for i in range(links)))


SITES: dict[str, tuple[bytes | Script, str]] = {
    "/fine": (response(PROSE + b'<nav><a href="/in/repair-1">Repair</a></nav>'), "ok"),
    "/pdf": (response(b"%PDF-1.7", kind="application/pdf"), "empty"),
    "/empty": (response(b""), "empty"),
    "/blank": (response(b"<html><body> </body></html>"), "empty"),
    "/bomb": (response(BOMB, "Content-Encoding: gzip"), "empty"),
    "/endless": (drip(OPEN_ENDED, b"x" * 65_536, every_s=0), "empty"),
    "/reset": (reset, "unreachable"),
    "/loop": (response(b"", "Location: /loop", status="302 Found"), "unreachable"),
    "/elsewhere": (response(b"", "Location: ftp://x.example/", status="302 Found"), "unreachable"),
    "/gone": (response(b"gone", status="410 Gone"), "http_error"),
    "/broken": (response(b"oops", status="500 Internal Server Error"), "http_error"),
    "/many": (homepage(10_000), "ok"),
    "/scripts": (response(b"<div id=app></div><script src=a.js></script>Loading"), "partial"),
}
ROBOTS = {
    "page": response(b"<!doctype html><title>Welcome</title><p>Disallow: /", kind="text/html"),
    "huge": response(b"User-agent: *\nDisallow: /never\n" * 60_000, kind="text/plain"),
}


SLOW: dict[str, bytes | Script] = {"/drip": drip(OPEN_ENDED, b"x", every_s=0.05), "/silent": silence}


def pick_from(
    sites: list[str], answers: dict[str, bytes | Script], policy: FetchPolicy = POLICY
) -> dict[str, Record]:
    records: dict[int, Record] = {}

    async def run() -> None:
        async with LoopbackServer(answers) as server:
            addresses = [server.root + site for site in sites]
            await pick_sites(addresses, PickRequest(timings=False), policy, records.__setitem__, at_once=8)

    asyncio.run(run())
    return {site: records[index] for index, site in enumerate(sites)}


@pytest.mark.slow
def test_each_becomes_a_record_and_the_run_goes_on() -> None:
    inner: dict[str, Any] = {
        f"/in/repair-{i}": response(INNER + b" ".join(b"part%d-%d" % (i, n) for n in range(300)))
        for i in range(10)
    }
    records = pick_from(list(SITES), {**inner, **{site: answer for site, (answer, _) in SITES.items()}})
    assert {site: record["status"] for site, record in records.items()} == {
        site: status for site, (_, status) in SITES.items()
    }
    for site, record in records.items():
        assert (record["reason"] is None) == (record["status"] == "ok"), site
    assert records["/many"]["counts"]["links"] == 10_000
    assert len(records["/many"]["selected"]) == 4


def test_sites_that_never_end_are_timeouts() -> None:
    records = pick_from(list(SLOW), SLOW, replace(POLICY, read_timeout_s=0.5, total_timeout_s=1.0))
    assert {record["status"] for record in records.values()} == {"timeout"}
    assert all(record["reason"] for record in records.values())


@pytest.mark.parametrize("kind", sorted(ROBOTS))
def test_a_robots_file_that_is_none_is_harmless(kind: str) -> None:
    answers = {"/robots.txt": ROBOTS[kind], "/fine": SITES["/fine"][0], "/in/repair-1": response(INNER)}
    assert pick_from(["/fine"], answers)["/fine"]["status"] == "ok"


def test_a_robots_file_that_says_no() -> None:
    answers = {
        "/robots.txt": response(b"User-agent: *\nDisallow: /", kind="text/plain"),
        "/fine": SITES["/fine"][0],
    }
    record = pick_from(["/fine"], answers)["/fine"]
    assert record["status"] == "robots_disallowed"
