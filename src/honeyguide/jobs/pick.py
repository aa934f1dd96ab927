"""Pick: from a site's address to one record with the few pages that matter.

Owns: the order of steps: reach the homepage, choose, read heads where the strategy wants them, fetch the chosen,
replace what turns out empty. Must not know: HTTP, HTML, rules (core has them), files.
Start reading at `Picker.pick`. Every failure becomes a status and a sentence in the record.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.fetching.sites import Failure, addresses_of, worst
from honeyguide.core.page.faults import PageFault, lack_of, own_text, scripts_only
from honeyguide.core.page.page import Head
from honeyguide.core.pick.select import Out, Request, Selection, select_links, sift
from honeyguide.core.records import ASKED, SCHEMA, Record, candidate_record, reason_records
from honeyguide.core.text.keywords import find_keywords
from honeyguide.core.text.printable import tidy
from honeyguide.errors import FetchError, ForbiddenError, UrlError
from honeyguide.jobs.politeness import fetch_or_fail
from honeyguide.ports.fetch import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from honeyguide.core.page.page import Link, Page
    from honeyguide.core.pick.select import Candidate
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.url import Url
    from honeyguide.ports.fetch import Clock, Fetched, Fetcher, PageReader


HEADS_AT_MOST = 30  # PICK-11
_NO_SCRIPTS = "the homepage links to no page of its own without JavaScript, which is not run"
_RULES_NAMED = 3  # that put out most, in a sentence
_LARGE = 500  # links that are chosen from without letting other sites wait
MAX_REPLACING = 30  # pages of a site that are tried in place of dead and empty ones (PICK-21)


@dataclass(frozen=True, slots=True)
class PickRequest:
    """What is asked for: the same for every site of a run."""

    strategy: str = "portfolio"
    profile: str | None = None
    cap: int | None = None
    query: str | None = None
    content: bool = False
    include: str | None = None
    exclude: str | None = None
    timings: bool = True

    @property
    def asked(self) -> Record:
        """What the answer depends on beside strategy and profile; records say it."""
        return {name: getattr(self, name) for name in ASKED}


class FetchedPick(NamedTuple):
    """A chosen page that was fetched, or why it cannot be had."""

    fetched: Fetched | None = None
    page: Page | None = None
    failure: str | None = None


@dataclass(slots=True)
class SiteVisit:
    """One site while it is being picked from."""

    site: str
    request: PickRequest
    started: float
    requests: int = 0
    homepage: Url | None = None
    page: Page | None = None
    replaced: dict[Url, PageFault] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Picker:
    """Picks from one site at a time; many may run at once on one polite fetcher."""

    fetcher: Fetcher
    reader: PageReader
    clock: Clock
    profile: Profile
    asked: Request = field(default_factory=Request)

    async def pick(self, site: str, request: PickRequest) -> Record:
        """Make the record of a site; never raises for what a site does."""
        visit = SiteVisit(site, request, self.clock.now())
        home, failure = await self._reach(visit)
        if home is None:
            return self._record(visit, failure)
        visit.homepage = home.url
        visit.page = page = self.reader.page(home.body, home.url, home.headers.content_type)
        if not page.text.strip() and not page.links:
            is_made = scripts_only(page, home.body)
            empty = Failure("empty", "the homepage has no text and no links")
            return self._record(visit, Failure("partial", _NO_SCRIPTS) if is_made else empty)
        heads = await self._heads(visit, page)
        selection, arrivals = await self._fetch_chosen(visit, page, heads)
        nothing = _why_nothing(selection, page, home.body) if not selection.selected else None
        return self._record(visit, nothing, selection, arrivals)

    # --- the homepage ---

    async def _reach(self, visit: SiteVisit) -> tuple[Fetched | None, Failure | None]:
        """Try the addresses a site may have, in order; the first that answers with a page is it."""
        failures: list[Failure] = []
        try:
            addresses = addresses_of(visit.site)
        except UrlError as error:
            return None, Failure("unreachable", f"not an address: {error.why}")
        for address in addresses:
            try:
                home = await self._get(visit, address)
            except FetchError as error:
                failures.append(Failure.of(error))
                if isinstance(error, ForbiddenError):
                    break  # the site answered, and said no
                continue
            if home.status < 300 and home.body:
                return home, None
            failures.append(Failure.of_status(home.status))
        return None, worst(failures)

    async def _get(self, visit: SiteVisit, url: Url, part: Part = Part.PAGE) -> Fetched:
        visit.requests += 1
        return await fetch_or_fail(url, self.fetcher.fetch(url, part=part))

    # --- heads ---

    async def _heads(self, visit: SiteVisit, page: Page) -> Mapping[Url, Head]:
        """Read the heads that can still change the outcome (PICK-11); one that failed is not known."""
        if not self.profile.strategies[visit.request.strategy].reads_heads:
            return {}
        wanted = worth_asking(await self._select(visit, page, {}), await self._perfect(visit, page))
        found = await asyncio.gather(*(self._head(visit, url) for url in wanted))
        return {url: head for url, head in zip(wanted, found, strict=True) if head is not None}

    async def _head(self, visit: SiteVisit, url: Url) -> Head | None:
        try:
            got = await self._get(visit, url, Part.HEAD)
        except FetchError:
            return None
        return self.reader.head(got.body, got.headers.content_type) if got.status < 300 else None

    async def _perfect(self, visit: SiteVisit, page: Page) -> Selection:
        """Score every link as if its head said exactly what the query asks for."""
        best = Head(self.profile.query.text, self.profile.query.text)
        return await self._select(visit, page, {link.url: best for link in page.links})

    # --- the chosen ---

    async def _fetch_chosen(
        self, visit: SiteVisit, page: Page, heads: Mapping[Url, Head]
    ) -> tuple[Selection, dict[Url, FetchedPick]]:
        """Fetch the chosen pages; what is dead or empty gives its place to the next in order (PICK-21)."""
        arrivals: dict[Url, FetchedPick] = {}
        unwanted: dict[Url, Out] = {}
        most: int | None = None
        while True:
            selection = await self._select(visit, page, heads, unwanted)
            new = [candidate for candidate in selection.selected if candidate.url not in arrivals]
            most = len(new) + MAX_REPLACING if most is None else most
            if len(arrivals) + len(new) > most:
                untried = Out("untried", f"{len(arrivals)} pages of the site were tried before it")
                unwanted |= {link.url: untried for link in page.links if link.url not in arrivals}
                continue
            for candidate, arrival in zip(
                new, await asyncio.gather(*(self._arrive(visit, c) for c in new)), strict=True
            ):
                arrivals[candidate.url] = arrival
            bad = self._bad(selection, arrivals, page)
            if not bad:
                return await self._with_short(visit, page, heads, (selection, unwanted)), arrivals
            visit.replaced.update(bad)
            unwanted |= {url: Out("replaced", lack.why) for url, lack in bad.items()}

    async def _with_short(
        self,
        visit: SiteVisit,
        page: Page,
        heads: Mapping[Url, Head],
        so_far: tuple[Selection, dict[Url, Out]],
    ) -> Selection:
        """Take pages that say little for places that nothing better wants; they displace nothing."""
        selection, unwanted = so_far
        for url in [url for url, lack in visit.replaced.items() if lack.is_short]:
            less = {other: out for other, out in unwanted.items() if other != url}
            more = await self._select(visit, page, heads, less)
            if {c.url for c in more.selected} == {url, *(c.url for c in selection.selected)}:
                selection, unwanted = more, less
                del visit.replaced[url]
        return selection

    async def _select(
        self,
        visit: SiteVisit,
        page: Page,
        heads: Mapping[Url, Head],
        unwanted: Mapping[Url, Out] | None = None,
    ) -> Selection:
        """Choose among the links of a page; a page with thousands of them must not keep other sites waiting."""
        asked = replace(self.asked, heads=heads, page=page, unwanted=unwanted or {})
        values = (page.links, page.url, self.profile, visit.request.strategy, asked)
        if len(page.links) <= _LARGE:
            return select_links(*values)
        return await asyncio.to_thread(select_links, *values)

    async def _arrive(self, visit: SiteVisit, candidate: Candidate) -> FetchedPick:
        try:
            got = await self._get(visit, candidate.url)
        except FetchError as error:
            return FetchedPick(failure=error.why)
        if got.status >= 300 or not got.body:
            return FetchedPick(
                got,
                failure=f"answered {got.status}" + ("" if got.body or got.status >= 300 else " with nothing"),
            )
        return FetchedPick(got, self.reader.page(got.body, got.url, got.headers.content_type))

    def _bad(
        self, selection: Selection, arrivals: Mapping[Url, FetchedPick], home: Page
    ) -> dict[Url, PageFault]:
        """Say which of the chosen must go, and why; in order, so that the better of two doubles stays."""
        bad: dict[Url, PageFault] = {}
        seen: dict[Url, Url] = {}
        for candidate in selection.selected:
            got, page, failure = arrivals[candidate.url]
            if got is None or page is None:
                bad[candidate.url] = PageFault(failure or "did not arrive")
            elif lack := self._lack(candidate.link, page, home, selection.strategy):
                bad[candidate.url] = lack._replace(
                    is_short=lack.is_short and not scripts_only(page, got.body)
                )
            elif page.url in seen:
                bad[candidate.url] = PageFault(f"is the same page as {seen[page.url].path}")
            else:
                seen[page.url] = candidate.url
        return bad

    def _lack(self, link: Link, page: Page, home: Page, strategy: str) -> PageFault | None:
        """Say why a page that arrived does not count: a redirect that may not lead there, an empty shell."""
        if page.url != link.url:
            plan = self.profile.strategies[strategy]
            (target,) = sift([replace(link, url=page.url)], home.url, self.profile, plan, Request(page=home))
            if target.out is not None:
                return PageFault(f"redirects to {page.url.path}: {target.out.why}")
        return lack_of(page, home, self.profile.content)

    # --- the record ---

    def _record(
        self,
        visit: SiteVisit,
        failure: Failure | None,
        selection: Selection | None = None,
        arrivals: Mapping[Url, FetchedPick] | None = None,
    ) -> Record:
        selected = (
            [self._selected(visit, c, (arrivals or {})[c.url]) for c in selection.selected]
            if selection
            else []
        )
        record: Record = {
            "schema": SCHEMA,
            "site": visit.site,
            "homepage": visit.homepage.as_linked if visit.homepage else None,
            "status": failure.status if failure else "ok",
            "reason": failure.why if failure else None,
            "strategy": visit.request.strategy,
            "profile": self.profile.name,
            "profile_hash": self.profile.hash,
            "asked": visit.request.asked,
            "title": visit.page.title if visit.page else None,
            "selected": selected,
            "candidates": [candidate_record(c) for c in selection.candidates] if selection else [],
            "skipped": [{"href": href, "rule": rule} for href, rule in visit.page.skipped]
            if visit.page
            else [],
            "counts": {**selection.counts, "skipped": len(visit.page.skipped)}
            if selection and visit.page
            else {},
            "replaced": [{"url": url.text, "why": lack.why} for url, lack in visit.replaced.items()],
            "requests": visit.requests,
        }
        if visit.request.timings:
            record["elapsed_s"] = round(self.clock.now() - visit.started, 3)
        return record

    def _selected(self, visit: SiteVisit, candidate: Candidate, arrival: FetchedPick) -> Record:
        page, got = arrival.page, arrival.fetched
        record: Record = {
            "rank": candidate.rank,
            "url": candidate.url.text,
            "category": candidate.category,
            "bucket": candidate.bucket,
            "score": tidy(candidate.score.value) if candidate.score else None,
            "reasons": reason_records(candidate.score.reasons) if candidate.score else [],
            "title": page.title if page else None,
            "text_chars": len(own_text(page, visit.page)) if page and visit.page else None,
            "status": got.status if got else None,
        }
        if visit.request.content and got is not None and page is not None:
            content = self.reader.content(got.body, got.url, got.headers.content_type)
            found = find_keywords(content.text, self.profile.content.keywords)
            record |= {
                "markdown": content.markdown,
                "headings": list(content.headings),
                "keywords": [item.keyword for item in found],
                "evidence": [{"keyword": item.keyword, "text": item.text} for item in found],
            }
        return record


def worth_asking(now: Selection, perfect: Selection) -> list[Url]:
    """Name the links whose head can still change the outcome, best first: they could reach the last place taken.

    A head can only add points, so the score without it is a lower bound and a perfect head the upper one.
    """
    best = {c.url: c.score.value for c in perfect.candidates if c.score is not None and c.is_good}
    floor = sorted((c.score.value for c in now.selected if c.score is not None), reverse=True)
    full = len(now.selected) == len(perfect.selected)
    bar = floor[-1] if full and floor else 0.0
    intrinsic = {
        c.url: (c.parts["intrinsic"].value if c.parts and "intrinsic" in c.parts else 0.0)
        for c in now.candidates
    }
    open_urls = [url for url, value in best.items() if value >= bar]
    return sorted(open_urls, key=lambda url: (-intrinsic.get(url, 0.0), url.text))[:HEADS_AT_MOST]


def _why_nothing(selection: Selection, page: Page, body: bytes) -> Failure:
    if scripts_only(page, body):
        return Failure("partial", _NO_SCRIPTS)
    why = (
        "no inner page was worth choosing"
        if selection.counts.get("candidates")
        else "the homepage links to no inner page that could be chosen"
    )
    return Failure("partial", f"{why}{_most_out(selection)}")


def _most_out(selection: Selection) -> str:
    """Name the rules that put most links out: it may be the user's own."""
    outs = Counter(one.out.rule for one in selection.candidates if one.out is not None)
    named = [
        f"{count:,} by {rule}" for rule, count in sorted(outs.items(), key=lambda one: (-one[1], one[0]))
    ]
    links = "1 link is" if outs.total() == 1 else f"{outs.total():,} links are"
    return f"; {links} out: {', '.join(named[:_RULES_NAMED])}" if named else ""


def failed_record(site: str, status: str, reason: str, request: PickRequest) -> Record:
    """Make the record of a site that was never asked, such as a row without an address."""
    return {
        "schema": SCHEMA, "site": site, "homepage": None, "status": status, "reason": reason,
        "strategy": request.strategy, "profile": request.profile, "profile_hash": None, "asked": request.asked,
        "title": None,
        "selected": [], "candidates": [], "skipped": [], "counts": {}, "replaced": [], "requests": 0,
        **({"elapsed_s": 0.0} if request.timings else {}),
    }  # fmt: skip


async def pick_all(
    picker: Picker,
    sites: Iterable[str],
    request: PickRequest,
    at_once: int,
    on_record: Callable[[int, Record], None],
) -> None:
    """Pick from many sites, some at once; each record is handed over as it is finished."""
    queue = iter(enumerate(sites))

    async def work() -> None:
        for index, site in queue:
            on_record(index, await picker.pick(site, request))

    async with asyncio.TaskGroup() as group:
        for _ in range(max(1, at_once)):
            group.create_task(work())
