"""Prove from a server's access log that a crawler kept its promises.

    python tools/check_polite.py access.log --delay 0.5 --per-host 5 [--robots robots.txt] [--max-pages 100] ...

The log is JSON lines,

    {"start": 1718000000.25, "end": 1718000000.31, "host": "a.example", "path": "/x", "status": 200, "agent": "..."}

with times in seconds since 1970 and, where the answer had one, "retry_after" in seconds; or what nginx writes with

    log_format polite '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent '
                      '"$http_referer" "$http_user_agent" $host $msec $request_time';

The promises: the delay between starts on one host, and robots.txt's Crawl-delay where that is longer; how many
requests are in flight, on one host and over all; robots.txt asked for first, and obeyed, also when it fails; the rest
that 429 and 503 ask for; budgets of pages, in all, of one host, in any hour. Exit code 0: all kept; 1: broken;
2: there is nothing to judge.

A server sees requests a little later than they start, so times have a slack. It does not add up: n requests take at
least n - 1 delays, less one slack.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from protego import Protego

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

HOUR_S = timedelta(hours=1).total_seconds()
_NGINX = re.compile(
    r'\S+ \S+ \S+ \[[^\]]*\] "\S+ (?P<path>\S+)[^"]*" (?P<status>\d+) \d+ "[^"]*" "(?P<agent>[^"]*)" '
    r"(?P<host>\S+) (?P<msec>[\d.]+) (?P<took>[\d.]+)\s*"
)
_RESTS = (429, 503)
_TICK_S = (
    0.002  # the resolution of a log: a request that ends and one that starts within it were not at a time
)
_TRIED_AGAIN = (0, 408, 429, 500, 502, 503, 504, 522, 524)


@dataclass(frozen=True, slots=True)
class Request:
    """One line of a log."""

    start: float
    end: float
    host: str
    path: str
    status: int
    agent: str = ""
    retry_after: float | None = None

    @property
    def is_robots(self) -> bool:
        """Whether it is robots.txt that was asked for."""
        return self.path.partition("?")[0] == "/robots.txt"


@dataclass(frozen=True, slots=True)
class Promise:
    """What is to be proved; None is not asked about."""

    delay_s: float = 0.0
    per_host: int | None = None
    concurrency: int | None = None
    robots: Mapping[str, str] = field(default_factory=dict)  # by host; "" is for all others
    token: str = "honeyguide"  # noqa: S105 - a product token, no secret
    max_crawl_delay_s: float = 30.0
    max_rest_s: float = 3600.0
    max_pages: int | None = None
    max_pages_per_host: int | None = None
    per_hour: int | None = None
    files: tuple[str, ...] = ()  # paths that are no pages: sitemaps
    slack_s: float = 0.05


@dataclass(frozen=True, slots=True)
class Verdict:
    """One promise: how it was kept, and where it was not."""

    name: str
    told: str
    broken: tuple[str, ...] = ()


def read_log(text: str) -> list[Request]:
    """Read a log of either format, in the order in which requests started; raises `ValueError` with the line's number."""
    requests = [_read_line(line, number) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    return sorted(requests, key=lambda one: one.start)


def _read_line(line: str, number: int) -> Request:
    if line.startswith("{"):
        try:
            row = json.loads(line)
            return Request(
                float(row["start"]), float(row["end"]), row["host"], row["path"], int(row["status"]),
                row.get("agent", ""), row.get("retry_after"),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"line {number}: no request can be read from it: {error}") from None
    found = _NGINX.fullmatch(line)
    if not found:
        raise ValueError(f"line {number}: neither JSON nor the format of nginx")
    end = float(found["msec"])
    start = end - float(found["took"])
    return Request(start, end, found["host"], found["path"], int(found["status"]), found["agent"])


def check(requests: Sequence[Request], promise: Promise) -> list[Verdict]:
    """Judge a log by all promises."""
    by_host: dict[str, list[Request]] = defaultdict(list)
    for request in requests:
        by_host[request.host].append(request)
    return [
        _verdict("delay", (_delay(host, own, promise) for host, own in by_host.items())),
        _verdict("in flight", [_flight(requests, by_host, promise)]),
        _verdict("robots.txt", (_robots(host, own, promise) for host, own in by_host.items())),
        _verdict("rest", (_rest(host, own, promise) for host, own in by_host.items())),
        _verdict("budgets", [_budgets(requests, by_host, promise)]),
        _verdict("agent", [_agent(requests, promise)]),
    ]


Found = tuple[str, list[str]]  # what was seen, and what was broken


def _verdict(name: str, found: Iterable[Found]) -> Verdict:
    told, broken = [], []
    for what, wrong in found:
        told.append(what)
        broken += wrong
    return Verdict(name, "; ".join(told[:5]) + ("; …" if len(told) > 5 else ""), tuple(broken))


def _rules(host: str, promise: Promise) -> Protego | None:
    text = promise.robots.get(host, promise.robots.get(""))
    return None if text is None else Protego.parse(text)


def _delay(host: str, own: Sequence[Request], promise: Promise) -> Found:
    """Any n requests take at least n - 1 delays; robots.txt comes before its own Crawl-delay is known."""
    rules = _rules(host, promise)
    asked_s = min((rules.crawl_delay(promise.token) if rules else None) or 0.0, promise.max_crawl_delay_s)
    broken: list[str] = []
    least, ahead = float("inf"), float("-inf")
    needed_s = 0.0
    for before, after in pairwise(own):
        gap_s = promise.delay_s if before.is_robots else max(promise.delay_s, asked_s)
        ahead = max(ahead, before.start - needed_s)
        needed_s += gap_s
        least = min(least, after.start - before.start)
        if after.start - needed_s < ahead - promise.slack_s:
            early_s = ahead - (after.start - needed_s)
            broken.append(f"{host}: {after.path} came {early_s:.3f} s early; the delay is {gap_s:g} s")
    return f"{host}: {len(own)} requests, least gap {least:.3f} s", broken


def _most_at_once(requests: Iterable[Request]) -> int:
    """Count the requests that ran at the same time."""
    moments = [
        moment for one in requests for moment in ((one.start, 1), (max(one.start, one.end - _TICK_S), -1))
    ]
    running = most = 0
    for _, change in sorted(moments):  # at one moment, ends come first
        running += change
        most = max(most, running)
    return most


def _flight(requests: Sequence[Request], by_host: Mapping[str, Sequence[Request]], promise: Promise) -> Found:
    """No more at a time than promised, on each host and over all."""
    most = {host: _most_at_once(own) for host, own in by_host.items()}
    everywhere = _most_at_once(requests)
    broken = [
        f"{host}: {count} at a time, {promise.per_host} promised"
        for host, count in most.items()
        if promise.per_host is not None and count > promise.per_host
    ]
    if promise.concurrency is not None and everywhere > promise.concurrency:
        broken.append(f"{everywhere} at a time over all hosts, {promise.concurrency} promised")
    return f"at most {max(most.values(), default=0)} on a host, {everywhere} over all", broken


def _robots(host: str, own: Sequence[Request], promise: Promise) -> Found:
    """Asked for first; obeyed; and a failing one closes the host (RFC 9309 2.3.1)."""
    rules, broken = _rules(host, promise), []
    last: int | None = None  # how robots.txt answered
    for one in own:
        if one.is_robots:
            last = one.status
        elif last is None:
            broken.append(f"{host}: {one.path} was asked for before robots.txt")
        elif last >= 500 or last == 429:
            broken.append(f"{host}: {one.path} was asked for although robots.txt answered {last}")
        elif rules and last < 300 and not rules.can_fetch(f"http://{host}{one.path}", promise.token):
            broken.append(f"{host}: {one.path} is disallowed")
    return f"{host}: asked {sum(one.is_robots for one in own)} times", broken


def _rest(host: str, own: Sequence[Request], promise: Promise) -> Found:
    """Nothing starts on a host that asked for rest; what was under way then does not count."""
    until, broken, rests = float("-inf"), [], 0
    ends = sorted((one for one in own if one.status in _RESTS and one.retry_after), key=lambda one: one.end)
    for one in own:
        while ends and ends[0].end <= one.start - promise.slack_s:
            asked = ends.pop(0)
            until = max(until, asked.end + min(asked.retry_after or 0.0, promise.max_rest_s))
            rests += 1
        if one.start < until - promise.slack_s:
            broken.append(f"{host}: {one.path} came {until - one.start:.3f} s before the end of a rest")
    return f"{host}: {rests} rests", broken


def _pages(requests: Iterable[Request], files: Sequence[str]) -> Iterator[Request]:
    """Leave out what is no page: robots.txt, sitemaps, redirects, and tries that were made again."""
    tried: dict[tuple[str, str], int] = {}
    for one in requests:
        again = tried.get((one.host, one.path)) in _TRIED_AGAIN
        tried[one.host, one.path] = one.status
        is_redirect = 300 <= one.status < 400 and one.status != 304
        if not (one.is_robots or is_redirect or again or one.path in files):
            yield one


def _budgets(
    requests: Sequence[Request], by_host: Mapping[str, Sequence[Request]], promise: Promise
) -> Found:
    """Pages in all, of one host, and in any hour."""
    pages = list(_pages(requests, promise.files))
    broken = []
    if promise.max_pages is not None and len(pages) > promise.max_pages:
        broken.append(f"{len(pages)} pages, {promise.max_pages} promised")
    for host, own in by_host.items():
        count = sum(1 for _ in _pages(own, promise.files))
        if promise.max_pages_per_host is not None and count > promise.max_pages_per_host:
            broken.append(f"{host}: {count} pages, {promise.max_pages_per_host} promised")
    if promise.per_hour is not None:
        for first, over in zip(pages, pages[promise.per_hour :], strict=False):
            if over.start - first.start < HOUR_S - promise.slack_s:
                broken.append(f"{over.host}: {over.path} is one page too many in an hour")
    return f"{len(pages)} pages", broken


def _agent(requests: Sequence[Request], promise: Promise) -> Found:
    """Whoever comes says who it is, and always the same."""
    agents = sorted({one.agent for one in requests})
    broken = [f"{one!r} does not name {promise.token}" for one in agents if promise.token not in one.lower()]
    if len(agents) > 1:
        broken.append(f"{len(agents)} different agents")
    return ", ".join(agents[:3]), broken


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", type=Path)
    parser.add_argument("--delay", type=float, default=0.5, dest="delay_s", metavar="S")
    parser.add_argument("--per-host", type=int, default=5, metavar="N")
    parser.add_argument("--concurrency", type=int, metavar="N")
    parser.add_argument(
        "--robots", action="append", default=[], metavar="[HOST=]FILE", help="may be repeated"
    )
    parser.add_argument("--token", default="honeyguide")
    parser.add_argument("--max-pages", type=int, metavar="N")
    parser.add_argument("--max-pages-per-host", type=int, metavar="N")
    parser.add_argument("--per-hour", type=int, metavar="N")
    parser.add_argument(
        "--file", action="append", default=[], dest="files", metavar="PATH", help="is no page"
    )
    parser.add_argument("--slack", type=float, default=0.05, dest="slack_s", metavar="S")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Check one log and say what was found."""
    asked = vars(_arguments().parse_args(arguments))
    named = [text.rpartition("=")[::2] for text in asked.pop("robots")]
    try:
        requests = read_log(asked.pop("log").read_text("utf-8"))
        robots = {host: Path(file).read_text("utf-8", "replace") for host, file in named}
    except (OSError, ValueError) as error:
        sys.stderr.write(f"Error: {error}\n")
        return 2
    if not requests:
        sys.stderr.write("Error: the log is empty\n")
        return 2
    verdicts = check(requests, Promise(robots=robots, **{**asked, "files": tuple(asked["files"])}))
    for verdict in verdicts:
        sys.stdout.write(f"{'BROKEN' if verdict.broken else 'kept  '}  {verdict.name}: {verdict.told}\n")
        sys.stdout.writelines(f"        {what}\n" for what in verdict.broken[:20])
    return 1 if any(verdict.broken for verdict in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
