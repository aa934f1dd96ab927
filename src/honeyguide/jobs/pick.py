"""Pick: from a site's address to one record with the few pages that matter.

The steps: reach the homepage, select, read heads where the strategy wants them, fetch the selected pages, replace those
that turn out empty. Every failure becomes a status and a sentence in the record. Start reading at `SitePick.run`.
Must not know: HTTP, HTML, rules (core has them), files.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from honeyguide.core.fetching import (
    NEVER,
    FetchPolicy,
    addresses_of,
    failure_of,
    failure_of_answer,
    most_telling,
)
from honeyguide.core.page.faults import THIN, needs_scripts
from honeyguide.core.page.page import Head
from honeyguide.core.pick.look import Arrival, Look, Replacement
from honeyguide.core.pick.select import SelectionOptions, filter_links, rank, score_candidates, undecided
from honeyguide.core.pick.wishes import missing_wishes
from honeyguide.core.records import SCHEMA, candidate_record, point_records
from honeyguide.core.rules.language import Reason
from honeyguide.core.text.fold import find_keywords
from honeyguide.core.text.printable import tidy
from honeyguide.core.why import Why
from honeyguide.errors import FetchError, ForbiddenError, TimedOutError, UrlError
from honeyguide.jobs.homepage import complete, language_choice, read_frames, why_empty, why_nothing
from honeyguide.jobs.results import fetch_or_fail
from honeyguide.jobs.sitemaps import Listing, SitemapRequest, list_pages
from honeyguide.ports.fetch import Part, RobotsFetcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from honeyguide.core.crawl.sitemap import Sitemap
    from honeyguide.core.page.page import Page
    from honeyguide.core.pick.select import Candidate, Selection
    from honeyguide.core.records.fields import PickOptions, PickRecord, SelectedRecord
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.url import Url
    from honeyguide.ports.fetch import Clock, Fetched, Fetcher, HomeReader

_Result = TypeVar("_Result")

MAX_HEADS, HEADS_AT_ONCE = 30, 5  # PICK-11
MAX_SITEMAPS, MAX_LISTED_PAGES = 5, 5_000  # of a site are read where its homepage links little
_LARGE = 500  # links: selecting from more runs in a thread, so that other sites need not wait
MAX_REPLACING = 30  # pages of a site that are fetched in place of dead and empty ones (PICK-21)


@dataclass(frozen=True, slots=True)
class PickRequest:
    """What to pick: the same for every site of a run. `profile`: None is the strategy's own.

    `content` is the field with the main content of a page, `markdown` or `text`; True is `markdown`.
    """

    strategy: str = "portfolio"
    profile: Profile | str | Path | None = None
    cap: int | None = None
    query: str | None = None
    content: bool | str = False
    include: str | Sequence[str] = ()
    exclude: str | Sequence[str] = ()
    scope: str | None = None
    want: str | Sequence[str] = ()
    never: str | Sequence[str] = ()
    timings: bool = True
    render: str = NEVER

    def __post_init__(self) -> None:
        for name in ("include", "exclude", "want", "never"):
            texts = getattr(self, name)
            if isinstance(texts, (str, list)):  # another type is said elsewhere
                object.__setattr__(self, name, (texts,) if isinstance(texts, str) else tuple(texts))

    @property
    def options(self) -> PickOptions:
        """The other settings, as records have them."""
        return {
            "cap": self.cap, "query": self.query, "include": list(self.include), "exclude": list(self.exclude), "scope": self.scope,
            "want": list(self.want), "never": list(self.never), "content": "markdown" if self.content is True else self.content or None,
            "render": None if self.render == NEVER else self.render,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Picker:
    """Picks from one site at a time; many may run at once on one polite fetcher."""

    fetcher: Fetcher
    reader: HomeReader
    clock: Clock
    profile: Profile
    request: PickRequest
    options: SelectionOptions = field(default_factory=SelectionOptions)
    read_sitemap: Callable[[bytes], Sitemap] | None = None
    site_timeout_s: float = FetchPolicy().site_timeout_s

    async def pick(self, site: str) -> PickRecord:
        """Make the record of a site; never raises for what a site does."""
        return await SitePick(self, site, self.clock.now()).run()

    def fail(self, site: str, failure: Why) -> PickRecord:
        """Make the record of a site that cannot be fetched, such as a row without an address."""
        return SitePick(self, site, self.clock.now()).record(failure)


@dataclass(slots=True)
class SitePick:
    """One site while it is being picked from."""

    picker: Picker
    site: str
    started: float
    requests: int = 0
    homepage: Url | None = None
    page: Page | None = None
    look: Look | None = None
    pages: dict[Url, Arrival] = field(default_factory=dict)
    answers: dict[Url, Fetched] = field(default_factory=dict)
    replaced: dict[Url, Replacement] = field(default_factory=dict)
    thin: dict[Url, Why] = field(default_factory=dict)
    unwanted: dict[Url, Why] = field(default_factory=dict)
    most: int = 0  # pages that are fetched at most
    is_late: bool = False
    notes: list[str] = field(default_factory=list)  # what to know of the homepage and of wishes

    async def run(self) -> PickRecord:
        """Pick from the site."""
        try:
            home, failure = await self._reach(addresses_of(self.site))
        except UrlError as error:
            home, failure = None, Why("unreachable", f"not an address: {error.why}")
        if home is None:
            return self.record(failure)
        profile, scope = self.picker.profile, self.picker.profile.scope
        least = profile.strategies[self.picker.request.strategy].sitemap_below
        page = await self._home(home)
        language = language_choice(page, scope) if least else None
        if language is not None and (entered := (await self._reach([language]))[0]) is not None:
            self.notes.append(f"the homepage only offers languages; {language.path} is taken for it")
            home, page = entered, await self._home(entered)
        self.homepage = home.url
        body = home.body
        if home.rendered is not None:
            self.notes.append(f"the homepage is {home.rendered.why.text}")
            body = b""  # no link is missing because its scripts were not run
        known = await complete(page, body, scope, least, self._listed)
        page = self.page = known.page
        self.notes += filter(None, [known.note])
        if not page.text.strip() and not page.links:
            return self.record(why_empty(page, body))
        look = self.look = Look(page, profile, self.picker.request.strategy)
        selection = await self._fetch_selected(look, await self._scored(page))
        if self.is_late:
            return self.record(Why("partial", self._late), selection)
        self.notes += missing_wishes(selection, profile)
        if not selection.selected:
            return self.record(why_nothing(selection, page, body, scope), selection)
        cap = self.picker.options.cap or profile.strategies[selection.strategy].cap
        is_whole = not known.is_scripted or len(selection.selected) >= cap
        return self.record(None if is_whole else Why("partial", known.note or ""), selection)

    async def _home(self, home: Fetched) -> Page:
        """Read a homepage with its frames."""
        page = self.picker.reader.home(home.body, home.url, home.headers.content_type)
        return await read_frames(page, self._fetch, self.picker.profile.scope)

    async def _listed(self, home: Url) -> Listing:
        """List the pages of the sitemap within the time of the site; nothing where the fetcher knows no robots.txt."""
        picker, clock = self.picker, self.picker.clock
        if picker.read_sitemap is None or not isinstance(picker.fetcher, RobotsFetcher):
            return Listing()
        request = SitemapRequest(
            sites=(home,), is_guess=True, max_files=MAX_SITEMAPS, max_pages=MAX_LISTED_PAGES
        )
        left_s = max(0.0, self.started + picker.site_timeout_s - clock.now())
        listing = await list_pages(request, picker.fetcher, picker.read_sitemap, left_s)
        self.requests += listing.files
        return listing

    @property
    def _late(self) -> str:
        limit_s = self.picker.site_timeout_s
        return f"the site took more than {limit_s:g} s; what was not fetched by then is missing"

    async def _reach(self, addresses: Iterable[Url]) -> tuple[Fetched | None, Why | None]:
        """Try the addresses that a site may have, in order; the first that answers with a page is the homepage."""
        failures: list[Why] = []
        for address in addresses:
            try:
                home = await self._get(address)
            except FetchError as error:
                failures.append(failure_of(error))
                if isinstance(error, ForbiddenError):
                    break  # the site answered, and said no
                continue
            if home.status < 300 and home.body:
                return home, None
            failures.append(failure_of_answer(home.status))
        return None, most_telling(failures)

    async def _get(self, url: Url, part: Part = Part.PAGE) -> Fetched:
        """Fetch within the time of the site: a request that is still running then is cancelled."""
        self.requests += 1
        clock, ends_at = self.picker.clock, self.started + self.picker.site_timeout_s
        fetch = asyncio.ensure_future(fetch_or_fail(url, self.picker.fetcher.fetch(url, part=part)))
        timer = asyncio.ensure_future(clock.sleep(max(0.0, ends_at - clock.now())))
        try:
            await asyncio.wait((fetch, timer), return_when=asyncio.FIRST_COMPLETED)
            if fetch.done():
                return fetch.result()
        finally:
            fetch.cancel()
            timer.cancel()
            await asyncio.gather(fetch, timer, return_exceptions=True)
        self.is_late = True
        raise TimedOutError(url.as_linked, self._late)

    async def _scored(self, page: Page) -> list[Candidate]:
        """Filter the links of the homepage once, and score them with the heads that can change the outcome."""
        profile, strategy = self.picker.profile, self.picker.request.strategy
        options = replace(self.picker.options, page=page)
        candidates = await self._compute(filter_links, page.links, page.url, profile, strategy, options)
        scored = await self._compute(score_candidates, candidates, profile, strategy)
        if not profile.strategies[strategy].reads_heads:
            return scored
        perfect = Head(profile.query.text, profile.query.text)
        bounds = {link.url: perfect for link in page.links}
        highest = await self._compute(score_candidates, candidates, profile, strategy, bounds)
        asked: set[Url] = set()
        while len(asked) < MAX_HEADS:
            open_ = undecided(await self._rank(scored), await self._rank(highest), profile)
            urls = [url for url in open_ if url not in asked][:HEADS_AT_ONCE]
            if not urls:
                break
            asked.update(urls)
            found = zip(urls, await asyncio.gather(*map(self._head, urls)), strict=True)
            # PICK-11: a head that failed is not known.
            heads = {url: head for url, head in found if head is not None}
            read = [candidate for candidate in candidates if candidate.url in urls]
            known = {
                c.url: c for c in score_candidates(read, profile, strategy, heads) if c.score is not None
            }
            scored = [known.get(c.url, c) if c.score is not None else c for c in scored]
            highest = [known.get(c.url, c) if c.score is not None else c for c in highest]
        return scored

    async def _head(self, url: Url) -> Head | None:
        try:
            got = await self._get(url, Part.HEAD)
        except FetchError:
            return None
        return self.picker.reader.head(got.body, got.headers.content_type) if got.status < 300 else None

    async def _rank(self, scored: list[Candidate], unwanted: Mapping[Url, Why] | None = None) -> Selection:
        picker = self.picker
        return await self._compute(
            rank, scored, picker.profile, picker.request.strategy, picker.options.cap, unwanted
        )

    async def _compute(self, function: Callable[..., _Result], *args: object) -> _Result:
        """Call a function; in a thread if the homepage has many links, so that other sites need not wait."""
        if self.page is None or len(self.page.links) <= _LARGE:
            return function(*args)
        return await asyncio.to_thread(function, *args)

    async def _fetch_selected(self, look: Look, scored: list[Candidate]) -> Selection:
        selection = await self._rank(scored)
        self.most = len(selection.selected) + MAX_REPLACING
        while True:
            new = [candidate for candidate in selection.selected if candidate.url not in self.pages]
            if len(self.pages) + len(new) > self.most or (new and self.is_late):
                tried = f"{len(self.pages)} pages of the site were tried before it"
                untried = Why("untried", self._late if self.is_late else tried)
                self.unwanted |= {c.url: untried for c in scored if c.url not in self.pages}
                selection = await self._rank(scored, self.unwanted)
                continue
            await self._fetch_all(new)
            found = look.faults(selection.selected, self.pages)
            self.thin = {url: fault for url, fault in found.items() if fault.rule == THIN}
            faults = {url: fault for url, fault in found.items() if url not in self.thin}
            faults = faults or await self._yielding(look, scored, selection)
            if not faults:
                return selection
            self.unwanted |= {url: Why("replaced", fault.text) for url, fault in faults.items()}
            before, selection = selection, await self._rank(scored, self.unwanted)
            self._note_replaced(faults, before, selection)

    def _note_replaced(self, faults: dict[Url, Why], before: Selection, now: Selection) -> None:
        """Remember which page took the place of each that is left out."""
        were = {candidate.url for candidate in before.selected}
        newcomers = iter([candidate.url for candidate in now.selected if candidate.url not in were])
        for url, fault in faults.items():
            self.replaced[url] = Replacement(fault, next(newcomers, None))

    async def _fetch_all(self, candidates: Sequence[Candidate]) -> None:
        urls = [candidate.url for candidate in candidates]
        self.pages.update(zip(urls, await asyncio.gather(*map(self._fetch, urls)), strict=True))

    async def _yielding(self, look: Look, scored: list[Candidate], selection: Selection) -> dict[Url, Why]:
        """Find a thin page whose place another page takes: one of its bucket, if the strategy looks at pages."""
        were = {candidate.url for candidate in selection.selected}
        for thin in [candidate for candidate in selection.selected if candidate.url in self.thin]:
            fault = self.thin[thin.url]
            others = await self._rank(scored, {**self.unwanted, thin.url: fault})
            new = [candidate for candidate in others.selected if candidate.url not in were][:1]
            unread = [candidate for candidate in new if candidate.url not in self.pages]
            is_over = bool(unread) and (self.is_late or len(self.pages) >= self.most)
            if not new or is_over or (look.reads_text and new[0].bucket != thin.bucket):
                continue
            await self._fetch_all(unread)
            wrong = look.faults(new, self.pages)
            if not wrong:
                return {thin.url: fault}
            self._note_replaced(wrong, others, selection)
        return {}

    async def _fetch(self, url: Url) -> Arrival:
        try:
            got = self.answers[url] = await self._get(url)
        except FetchError as error:
            return Arrival(failure=Why(error.rule, error.why))
        if got.status >= 300 or not got.body:
            nothing = "" if got.body or got.status >= 300 else " with nothing"
            return Arrival(failure=Why("http_error", f"answered {got.status}{nothing}"))
        page = self.picker.reader.page(got.body, got.url, got.headers.content_type)
        return Arrival(page, is_shell=got.rendered is None and needs_scripts(page, got.body))

    def record(self, failure: Why | None, selection: Selection | None = None) -> PickRecord:
        """Make the record of the site."""
        request, page = self.picker.request, self.page
        chosen = {candidate.url for candidate in selection.selected} if selection else set()
        record: PickRecord = {
            "schema": SCHEMA,
            "site": self.site,
            "homepage": self.homepage.as_linked if self.homepage else None,
            "status": failure.rule if failure else "ok",
            "reason": failure.text if failure else "; ".join(self.notes) or None,
            "strategy": request.strategy,
            "profile": self.picker.profile.name,
            "profile_hash": self.picker.profile.hash,
            "options": request.options,
            "title": page.title if page else None,
            "selected": [self._selected(c, self.look) for c in selection.selected]
            if selection and self.look
            else [],
            "candidates": [candidate_record(c) for c in selection.candidates] if selection else [],
            "skipped": [{"href": href, "rule": rule} for href, rule in page.skipped] if page else [],
            "counts": {**selection.counts, "skipped": len(page.skipped)} if selection and page else {},
            "replaced": [
                {"url": url.text, "reason": why.text, "by": by.text if by in self.pages else None}
                for url, (why, by) in self.replaced.items()
                if url not in chosen
            ],
            "requests": self.requests,
        }
        if request.timings:
            record["elapsed_s"] = round(self.picker.clock.now() - self.started, 3)
        return record

    def _selected(self, candidate: Candidate, look: Look) -> SelectedRecord:
        (page, missing, _), got = self.pages[candidate.url], self.answers.get(candidate.url)
        reasons = () if candidate.score is None else candidate.score.reasons
        if (thin := self.thin.get(candidate.url)) is not None:
            reasons += (Reason(THIN, 0.0, f"{thin.text}; no other page of its kind has more"),)
        if got is not None and got.rendered is not None:
            reasons += (Reason(got.rendered.why.rule, 0.0, got.rendered.why.text),)
        if missing is not None:
            reasons += (Reason(missing.rule, 0.0, "not kept: judged by its link alone"),)
        record: SelectedRecord = {
            "rank": candidate.rank,
            "url": candidate.url.text,
            "category": candidate.category,
            "bucket": candidate.bucket,
            "score": None if candidate.score is None else tidy(candidate.score.value),
            "reasons": [reason.text for reason in reasons if not reason.quiet],
            "points": point_records(reasons),
            "title": page.title if page else None,
            "text_chars": len(look.text(page)) if page else None,
            "status": got.status if got else None,
        }
        field = self.picker.request.options["content"]
        if field and got is not None and page is not None:
            content = self.picker.reader.content(got.body, got.url, got.headers.content_type)
            found = find_keywords(content.text, self.picker.profile.content.keywords)
            record |= {"text": content.text} if field == "text" else {"markdown": content.markdown}
            record |= {
                "is_cut": content.is_cut,
                "headings": list(content.headings),
                "keywords": [item.keyword for item in found],
                "evidence": [{"keyword": item.keyword, "text": item.text} for item in found],
            }
        return record


async def pick_all(
    picker: Picker, sites: Iterable[str], at_once: int, on_record: Callable[[int, PickRecord], None]
) -> None:
    """Pick from many sites, `at_once` in parallel; each record is handed over as it is finished."""
    queue = iter(enumerate(sites))

    async def work() -> None:
        for index, site in queue:
            on_record(index, await picker.pick(site))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, at_once)):
                group.create_task(work())
    except BaseExceptionGroup as failed:
        error = failed.exceptions[0]  # the other tasks were only cancelled
        raise error from error.__cause__
