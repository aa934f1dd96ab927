"""Pages and URLs: pages read, links listed and classified, URLs explained.

Owns: reading a page of HTML or Markdown, and where it is if nobody says so. Must not know: options, terminals, points.
Start reading at `load_page` and `link_records`.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.adapters.files.markdown import parse_markdown_links, readable
from honeyguide.adapters.files.read import name_of, read_bytes, read_text
from honeyguide.app.arguments import profile_of, url_of
from honeyguide.config import load_profile
from honeyguide.core.page.faults import FEW_LINKS, needs_scripts, scripted_links
from honeyguide.core.page.page import Link, Occurrence, Page
from honeyguide.core.records import SCHEMA, place_records
from honeyguide.core.records.command_records import (
    ListedLinkRecord,
    UrlRecord,
    UrlStep,
    UrlVerdictRecord,
)
from honeyguide.core.records.fields import columns
from honeyguide.core.url import scope
from honeyguide.core.url.url import Url, display, explain
from honeyguide.core.why import Why
from honeyguide.errors import InputError, UrlError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from honeyguide.core.records import Record
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.scope import Verdict
    from honeyguide.ports.fetch import Content

__all__ = ["Page"]  # front ends import it from here
MAX_MARKDOWN_LINKS = 20_000  # in one text; as many as a page in HTML may have
NOWHERE = "https://page.invalid/"  # where a page of unknown address is; RFC 6761: the name never exists
DEMO_BASE = "https://acme-fire.example/"
# How documents, images and archives begin.
_NOT_HTML = (b"%PDF", b"PK\x03\x04", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"\x1f\x8b")
LINK_COLUMNS = columns(ListedLinkRecord)


def parse_page(
    html: bytes | str, url: str | Url, content_type: str | None = None, *, with_groups: bool = False
) -> Page:
    """Read a page: title, headings, text, links; `with_groups` also the submenus and groups of cards that list each link."""
    from honeyguide.adapters.html import page as adapter  # a compiled library that URL commands never need

    return adapter.parse_page(html, url_of(url), content_type, with_groups=with_groups)


def main_content(html: bytes | str, url: str | Url, content_type: str | None = None) -> Content:
    """Return the main content of a page: `markdown`, `text`, `headings`, and `is_cut` if a limit cut it."""
    from honeyguide.adapters.html import content as adapter  # see parse_page

    body = html.encode("utf-8", "replace") if isinstance(html, str) else html
    return adapter.main_content(
        body, url_of(url), "text/html; charset=utf-8" if isinstance(html, str) else content_type
    )


def markdown(html: bytes | str, url: str | Url) -> str:
    r"""Return the main content of a page as Markdown, with absolute links.

    >>> markdown('<nav>Menu</nav><main><h1>Alarms</h1><p>See <a href="b">all</a>.</main>', "https://acme.example/a/")
    '# Alarms\n\nSee [all](https://acme.example/a/b).'
    """
    return main_content(html, url).markdown


def looks_like_shell(html: bytes | str, url: str | Url) -> Why | None:
    """Say why a page seems to need its scripts for its content or menu; None if it does not.

    >>> looks_like_shell('<div id="root"></div><script src="app.js"></script>', "https://acme.example/").text
    'has hardly any text or links, and scripts'
    """
    body = html.encode("utf-8", "replace") if isinstance(html, str) else html
    page = parse_page(html, url)
    if where := scripted_links(body) if len(page.links) <= FEW_LINKS else None:
        return Why("scripts", f"has its links in {where}")
    return Why("scripts", "has hardly any text or links, and scripts") if needs_scripts(page, body) else None


def extract_links(html: bytes | str, url: str | Url) -> tuple[Link, ...]:
    """Return the links of a page, each URL once, with all its occurrences.

    >>> [link.url.text for link in extract_links('<a href="about/">About</a>', "https://acme.example/")]
    ['https://acme.example/about']
    """
    from honeyguide.adapters.html import page as adapter  # see parse_page

    return adapter.extract_links(html, url_of(url))


def parse_markdown(text: str, url: str | Url) -> Page:
    """Read a Markdown text as a page: its links, each URL once, and the hrefs that lead to no page (URL-12).

    >>> [link.anchor for link in parse_markdown("[About](/about) [mail](mailto:a@b.example)", "https://a.example/").links]
    ['About']
    """
    hrefs = ((href, Occurrence(anchor)) for anchor, href in parse_markdown_links(text))
    page = page_of_hrefs(url_of(url), hrefs)
    unread = len(text) - len(readable(text))
    skipped = (*page.skipped, (f"{unread} characters of Markdown", "limit")) if unread else page.skipped
    return replace(page, text=text, skipped=skipped)


def page_of_hrefs(page: Url, hrefs: Iterable[tuple[str, Occurrence]]) -> Page:
    """Make a page of its hrefs: each URL is one link with all its occurrences, the rest is `skipped`."""
    everything = scope.Scope()
    found: dict[Url, tuple[int, list[Occurrence]]] = {}
    skipped: list[tuple[str, str]] = []
    over = order = 0  # the order counts every occurrence, as in HTML
    for href, occurrence in hrefs:
        verdict = scope.classify(href, page, everything)
        if len(found) + len(skipped) >= MAX_MARKDOWN_LINKS and verdict.url not in found:
            over += 1
        elif verdict.url is None:
            skipped.append((href, verdict.rule))
        else:
            found.setdefault(verdict.url, (order, []))[1].append(occurrence)
            order += 1
    if over:
        skipped.append((f"{over} more", "limit"))
    links = tuple(Link(url, tuple(occurrences), first) for url, (first, occurrences) in found.items())
    return Page(page, links=links, skipped=tuple(skipped))


class LoadedPage(NamedTuple):
    """A page of a file. `is_canonical`: its address is its canonical link, because none was given."""

    page: Page
    is_canonical: bool = False

    @property
    def is_nowhere(self) -> bool:
        """Whether nothing tells the page's address."""
        return self.page.url.text == NOWHERE


def load_page(file: str, base: str | None = None, input_format: str | None = None) -> LoadedPage:
    """Read a file of HTML or Markdown, which names ending in .md are; without `base`, its canonical link is its address."""
    is_markdown = (
        file.lower().endswith((".md", ".markdown")) if input_format is None else input_format == "markdown"
    )
    content = read_text(file) if is_markdown else read_bytes(file)
    if not content.strip():
        kind = "Markdown" if is_markdown else "HTML"
        raise InputError(f"is empty; give the {kind} of a page", file=name_of(file))
    if isinstance(content, bytes) and content.startswith(_NOT_HTML):
        raise InputError("is not HTML; give the HTML of a page", file=name_of(file))

    def parse(address: Url) -> Page:
        return (
            parse_page(content, address, with_groups=True)
            if isinstance(content, bytes)
            else parse_markdown(content, address)
        )

    if base is not None:
        return LoadedPage(parse(Url.parse(base)))
    page = parse(Url.parse(NOWHERE))
    canonical = _canonical(page)
    return LoadedPage(page) if canonical is None else LoadedPage(parse(canonical), is_canonical=True)


def demo_page() -> Page:
    """Read the homepage that comes with Honeyguide."""
    return parse_page((files("honeyguide") / "demo" / "page.html").read_bytes(), DEMO_BASE, with_groups=True)


def _canonical(page: Page) -> Url | None:
    try:
        found = None if page.canonical is None else Url.parse(page.canonical)
    except UrlError:
        return None
    return None if found is None or found.site == page.url.site else found


def classify(
    href: str, page: str | Url, *, seed: str | Url | None = None, profile: Profile | str | Path = "base"
) -> Verdict:
    """Say whether a link leads inside the site, outside, or nowhere a crawler goes, and which rule decided.

    >>> classify("mailto:a@b.example", "https://acme.example/").rule
    'scheme'
    """
    start = None if seed is None else url_of(seed)
    return scope.classify(href, url_of(page), profile_of(profile).scope, start)


def verdict_record(href: str, page: str | Url, seed: str | None = None) -> UrlVerdictRecord:
    """Classify a link, as a record."""
    verdict = classify(href, page, seed=seed)
    return {
        "schema": SCHEMA,
        "href": href,
        "url": None if verdict.url is None else verdict.url.text,
        "verdict": verdict.kind.value,
        "rule": verdict.rule,
        "id": verdict.id,
        "detail": verdict.detail or None,
    }


def link_records(page: Page) -> Iterator[Record]:
    """List the links of a page with their verdicts, then the hrefs that lead to no page."""
    for link in page.links:
        verdict = classify(link.url.as_linked, page.url)
        yield {
            "schema": SCHEMA,
            "url": link.url.text,
            "request_url": link.url.as_linked,
            "anchor_text": link.anchor,
            "title": link.title,
            "rel": link.rel,
            "position": link.position.value,
            "context": link.context,
            "occurrences": len(link.occurrences),
            "verdict": verdict.kind.value,
            "rule": verdict.rule,
            "detail": verdict.detail or None,
            **place_records(link),
        }
    for href, rule in page.skipped:
        known = {
            "schema": SCHEMA,
            "url": href,
            "verdict": "skip",
            "rule": rule,
            "positions": [],
            "menus": [],
            "headings": [],
        }
        yield {**dict.fromkeys(LINK_COLUMNS), **known}


def url_record(text: str, base: str | None = None) -> UrlRecord:
    """Explain a URL: its forms, and each step that changes it; raises `UrlError`."""
    page = None if base is None else Url.parse(base)
    parsed = Url.parse(text, page)
    steps: list[UrlStep] = [
        {"rule": step.rule, "name": step.name, "before": step.before, "after": step.after}
        for step in explain(text, page)
        if step.changed
    ]
    return {
        "schema": SCHEMA,
        "text": text,
        "base": None if page is None else page.as_linked,
        "url": parsed.text,
        "request_url": parsed.as_linked,
        "key": parsed.key(load_profile("base").scope.tracking),
        "display": display(parsed),
        "steps": steps,
    }
