"""A look at the pages that were selected and fetched: dead, empty, thin, or not what their links promised (PICK-21).

`Look` says what is wrong with each page. What their text says is measured here, rules of the strategy (`look`) decide: terms,
doorways that differ in a name, the same text twice. A strategy without such rules judges by what the homepage lacks.
Must not know: fetching, HTML, which words are legal ones (profile data). Start reading at `Look`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.page.faults import THIN, main_text, own_text, page_fault
from honeyguide.core.page.page import Link
from honeyguide.core.pick.location_pages import may_be_name, ordinary_words, plain_words
from honeyguide.core.pick.select import SelectionOptions, filter_links, reject_page
from honeyguide.core.rules.facts import slug_of
from honeyguide.core.text.fold import fold_case
from honeyguide.core.why import Why
from honeyguide.errors import NotKeptError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from honeyguide.core.page.page import Page
    from honeyguide.core.pick.select import Candidate
    from honeyguide.core.rules.facts import Value
    from honeyguide.core.rules.profile import FamilyWords, Profile
    from honeyguide.core.url.url import Url

_CLAUSE = re.compile(r"^(?:§ ?\d|\d{1,2}(?:\.\d{1,2})*[.)]) ?\S", re.MULTILINE)
_MAX_CHARS = 100_000  # of a text are measured
_SHINGLE = 3  # words
_ALIKE = 0.5  # share of such groups of words that doorways have in common


class Replacement(NamedTuple):
    """Why a selected page lost its place, and the page that took it, if there was one."""

    why: Why
    by: Url | None


class Arrival(NamedTuple):
    """A selected page as it arrived, or why it did not; `is_shell` if scripts seem to make its content."""

    page: Page | None = None
    failure: Why | None = None
    is_shell: bool = False


class Look:
    """Judges the fetched pages of one site."""

    def __init__(self, home: Page, profile: Profile, strategy_name: str) -> None:
        self._home = home
        self._profile = profile
        self._strategy_name = strategy_name
        self._strategy = profile.strategies[strategy_name]
        self.reads_text = bool(self._strategy.looks.rules)
        self._texts: dict[Url, str] = {}  # each page is compared with every other

    def text(self, page: Page) -> str:
        """Return what is measured of a page: its main text if the strategy looks at pages, else what the homepage lacks."""
        if page.url not in self._texts:
            read = main_text if self.reads_text else own_text
            self._texts[page.url] = read(page, self._home)
        return self._texts[page.url]

    def faults(self, selected: Iterable[Candidate], pages: Mapping[Url, Arrival]) -> dict[Url, Why]:
        """Say what is wrong with the selected pages; a page that is only `thin` may keep its place."""
        faults: dict[Url, Why] = {}
        seen: dict[Url, Url] = {}
        texts: dict[str, Url] = {}
        for candidate in selected:
            url, (page, failure, is_shell) = candidate.url, pages[candidate.url]
            if page is None:
                if failure is None or failure.rule != NotKeptError.rule:  # a replay judges that by its link
                    faults[url] = failure or Why("fetch-error", "did not arrive")
            elif page.url in seen:
                faults[url] = Why("same-page", f"is the same page as {seen[page.url].path}")
            else:
                seen[page.url] = url
                text = self.text(page)
                fault = self._redirect(candidate.link, page) or self._fault(page, text)
                if fault is None and self.reads_text:
                    first = texts.setdefault(text, url)
                    facts = text_facts(text, self._profile.content.legal)
                    facts["same_text"] = None if first == url else first.path
                    facts["name_twin"] = self._name_twin(page, text, pages)
                    fault = reject_page(candidate, facts, self._strategy)
                if fault is not None:
                    faults[url] = fault._replace(rule="shell") if fault.rule == THIN and is_shell else fault
        return faults

    def _redirect(self, link: Link, page: Page) -> Why | None:
        if page.url == link.url:
            return None
        arrived, options = Link(page.url, link.occurrences, link.order), SelectionOptions(page=self._home)
        (target,) = filter_links([arrived], self._home.url, self._profile, self._strategy_name, options)
        why = target.rejected
        return None if why is None else Why("redirect", f"redirects to {page.url.path}: {why.text}")

    def _fault(self, page: Page, text: str) -> Why | None:
        return page_fault(page, text, text if self.reads_text else page.text, self._profile.content)

    def _name_twin(self, page: Page, text: str, pages: Mapping[Url, Arrival]) -> str | None:
        others = (arrival.page for arrival in pages.values())
        return next(
            (
                other.url.path
                for other in others
                if other is not None
                and other is not page
                and is_name_twin((page, text), (other, self.text(other)), self._profile.families)
            ),
            None,
        )


def text_facts(text: str, legal: Sequence[str]) -> dict[str, Value]:
    r"""Measure the main text of a page; `legal` are beginnings of legal words.

    >>> text_facts("1. The buyer is liable.\n2. Liability ends.", ("liab", "buyer"))
    {'text_chars': 42.0, 'legal_words': 2.0, 'legal_density': 71.4, 'clauses': 2.0}
    """
    text = fold_case(text[:_MAX_CHARS])
    counts = [count for stem in legal if (count := text.count(stem))]
    density = 1000 * sum(counts) / len(text) if text else 0.0
    return {
        "text_chars": float(len(text)),
        "legal_words": float(len(counts)),
        "legal_density": round(density, 1),
        "clauses": float(len(_CLAUSE.findall(text))),
    }


def is_name_twin(one: tuple[Page, str], other: tuple[Page, str], words: FamilyWords) -> bool:
    """Tell whether two pages have nearly the same text, and slugs that differ in a name: a word never in lower case."""
    first, second = (plain_words(slug_of(page.url.segments)) for page, _ in (one, other))
    names = _difference(first, second, words)
    if names is None:
        return False
    common = [ordinary_words(page) for page, _ in (one, other)]
    if any(known is None or not known.isdisjoint(name) for known, name in zip(common, names, strict=True)):
        return False
    left, right = (_shingles(text) for _, text in (one, other))
    return bool(left and right) and len(left & right) >= _ALIKE * len(left | right)


def _difference(one: list[str], other: list[str], words: FamilyWords) -> tuple[list[str], list[str]] | None:
    """Return the words in which two slugs differ; None unless that may be a name in each, and they share other words."""
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    names = one[start : len(one) - end], other[start : len(other) - end]
    is_fixed = not words.generic.issuperset(one[:start] + one[len(one) - end :])
    return names if is_fixed and all(name and may_be_name(name, words) for name in names) else None


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = fold_case(text[:_MAX_CHARS]).split()
    return set(zip(*(words[start:] for start in range(_SHINGLE)), strict=False))
