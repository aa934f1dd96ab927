"""Families of pages that differ only in a name: one page per town, the doorways of local search.

A family is found by shape, not by a list of towns: siblings share the fixed words of their slug or a folder, their anchor
text is the changing part alone, and there is evidence that this part is a name: a state beside it, "in" before it, or that
the page never writes the word in lower case. Which words name a trade, a state or a folder of places is profile data.
Start reading at `find_families`. Must not know: what happens to such pages (a filter of the profile decides).
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, cached_property
from operator import itemgetter
from typing import TYPE_CHECKING

from honeyguide.core.rules.facts import plain, stem_of, words_only
from honeyguide.core.text.fold import compose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from honeyguide.core.page.page import Link, Page
    from honeyguide.core.rules.profile import FamilyWords
    from honeyguide.core.url.url import Url

_WORD = re.compile(r"[^\W_]+")
_INDEX = re.compile(r"index\.[a-z]{3,5}")
MAX_ANCHOR_WORDS = 6  # a longer anchor text is a sentence
PROSE_WORDS = 40  # different words in lower case: fewer are menus and headings, not prose
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


@dataclass
class Sibling:
    """A link as the family search sees it: folder, words of the slug, words of each short anchor text."""

    link: Link
    folder: str
    slug: tuple[str, ...]
    anchors: tuple[tuple[str, ...], ...]

    @cached_property
    def capitals(self) -> set[str]:
        """The words of the anchor texts that do not begin with a small letter: names are among them."""
        texts = dict.fromkeys([anchor for anchor, _ in self.link.seen])
        words = [word for text in texts for word in _WORD.findall(text) if not word[0].islower()]
        return {one for word in words for one in plain_words(word)}


def find_families(links: Sequence[Link], words: FamilyWords, page: Page | None = None) -> dict[Url, str]:
    """Describe the family of each link that has one; without `page`, only a state beside a name shows that it is one."""
    siblings = [_sibling(link) for link in links]
    if page is not None:  # /de is a language on a German page, not Delaware
        words = words._replace(states=words.states - {(page.language or "")[:2]})
    common = cache(lambda: None if page is None else ordinary_words(page))  # of which few pages need any
    found: dict[Url, str] = {}
    for shape, least, members in _shapes(siblings, words):
        names = [
            (sibling, name)
            for sibling, name in members
            if may_be_name(name, words) and sibling.capitals.issuperset(name)
        ]
        if least <= len(names) >= 0.75 * len(members) and _are_names(names, words, common):
            for sibling, _ in names:
                found.setdefault(sibling.link.url, f"{shape} ({len(names)} pages)")
    for sibling in siblings:
        if _is_town_and_state(sibling, words):
            found.setdefault(sibling.link.url, "a town and its state")
    return found


Member = tuple[Sibling, tuple[str, ...]]  # a sibling, and the part of it that changes


def _shapes(siblings: Sequence[Sibling], words: FamilyWords) -> Iterator[tuple[str, int, list[Member]]]:
    found: dict[tuple[str, int], dict[Url, Member]] = defaultdict(dict)
    for sibling in siblings:
        for anchor in dict.fromkeys(_without_states(anchor, words) for anchor in sibling.anchors):
            for shape, least, name in _shapes_of(sibling, anchor, words):
                found[shape, least].setdefault(sibling.link.url, (sibling, name))
    large = [(key, members) for key, members in found.items() if len(members) >= key[1]]
    for (shape, least), members in sorted(large, key=itemgetter(0)):
        yield shape, least, list(members.values())


def _shapes_of(
    sibling: Sibling, anchor: tuple[str, ...], words: FamilyWords
) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """List the shapes of a link by one anchor text, each with the part that would be the name."""
    least = words.min_size
    for fixed in _fixed_words(sibling, anchor, words):
        yield f"pages that share '{fixed}' and differ in a name", least, anchor
    folder = sibling.folder.rpartition("/")[
        2
    ]  # neither the root, nor that of a language, nor that of the services
    is_folder = (len(folder) > 2 or folder in words.states) and folder not in words.hubs
    if is_folder and _without_states(sibling.slug, words) == anchor:
        yield f"pages under {sibling.folder} that differ in a name", least, anchor
    if name := _name_after_preposition(anchor, words):
        yield "links that read 'in' and a name", least, name
    if anchor == sibling.slug:
        yield from _guesses(sibling, words)


def _guesses(sibling: Sibling, words: FamilyWords) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Guess which end of a slug is the name where the anchor repeats all of it."""
    slug = sibling.slug
    for cut in range(1, len(slug)):
        for fixed, name in ((slug[:cut], slug[cut:]), (slug[cut:], slug[:cut])):
            if not words.generic.issuperset(fixed):
                # Capitals decide in "Tree surgeon Stamford"; without them a family needs twice as many pages.
                least = 2 * words.min_size if sibling.capitals.issuperset(fixed) else words.min_size
                yield f"pages that share '{' '.join(fixed)}' and differ in a name", least, name


def _fixed_words(sibling: Sibling, anchor: tuple[str, ...], words: FamilyWords) -> tuple[str, ...]:
    """Return the words of the slug that stand around the anchor's words, if the anchor is a part of it."""
    slug, size = sibling.slug, len(anchor)
    for start in range(len(slug) - size + 1):
        if slug[start : start + size] == anchor:
            rest = slug[:start] + slug[start + size :]
            return tuple(word for word in rest if word not in words.generic)
    return ()


def _without_states(slug: tuple[str, ...], words: FamilyWords) -> tuple[str, ...]:
    return slug[:-1] if len(slug) > 1 and slug[-1] in words.states else slug


def _name_after_preposition(anchor: tuple[str, ...], words: FamilyWords) -> tuple[str, ...]:
    for place in range(1, len(anchor) - 1):
        if anchor[place] in words.before_names and len(anchor) - place <= 4:
            return anchor[place + 1 :]
    return ()


def _are_names(
    names: list[Member], words: FamilyWords, ordinary: Callable[[], frozenset[str] | None]
) -> bool:
    folders = (sibling.folder.replace("/", " ").split() for sibling, _ in names)
    beside_state = sum(
        not words.states.isdisjoint((*sibling.slug, *folder))
        for (sibling, _), folder in zip(names, folders, strict=True)
    )
    if 2 * beside_state >= len(names):
        return True
    common = ordinary()
    return common is not None and sum(common.isdisjoint(name) for _, name in names) >= 0.75 * len(names)


def may_be_name(name: Sequence[str], words: FamilyWords) -> bool:
    """Tell whether words may name a town: few, none of a trade, no number."""
    return len(name) <= 3 and not any(word.startswith(words.no_names) or word.isdigit() for word in name)


def _is_town_and_state(sibling: Sibling, words: FamilyWords) -> bool:
    """Recognise a single page such as /chicago--il, linked as "Chicago, IL"."""
    return any(
        len(anchor) > 1
        and anchor[-1] in words.states
        and sibling.slug[: len(anchor)] == anchor
        and may_be_name(anchor[:-1], words)
        for anchor in sibling.anchors
    )


def ordinary_words(page: Page) -> frozenset[str] | None:
    """Collect the words that a page writes in lower case at least once, because names never are; None where case is no evidence."""
    if (page.language or "").startswith("de"):  # German capitalises every noun
        return None
    words = frozenset(map(ascii_form, filter(str.islower, set(_WORD.findall(page.text)))))
    return words if len(words) >= PROSE_WORDS else None


def _sibling(link: Link) -> Sibling:
    segments = link.url.segments
    if segments and segments[-1].startswith("index.") and _INDEX.fullmatch(segments[-1]):
        segments = segments[:-1]
    texts = dict.fromkeys([anchor for anchor, _ in link.seen])
    anchors = dict.fromkeys(
        [tuple(words) for text in texts if 0 < len(words := plain_words(text)) <= MAX_ANCHOR_WORDS]
    )
    return Sibling(
        link,
        "/" + "/".join(map(plain, segments[:-1])),
        tuple(plain_words(stem_of(segments[-1]))) if segments else (),
        tuple(anchors),
    )


def plain_words(text: str) -> list[str]:
    """Split text into folded words, the form in which slugs and anchors are compared."""
    if text.isascii() and "%" not in text:  # as most are
        return words_only(text).split()
    return _WORD.findall(ascii_form(plain(text)))


def ascii_form(text: str) -> str:
    """Write accents as slugs do, so that "Köln" meets /koeln.

    >>> ascii_form("köln"), ascii_form("nîmes")
    ('koeln', 'nimes')
    """
    if text.isascii():
        return text
    spelled = compose(text.translate(_GERMAN), "NFD")
    return "".join(c for c in spelled if not unicodedata.combining(c))


def singulars(path: str) -> frozenset[str]:
    """Return the words of a path; plurals count as singular."""
    return frozenset(word.rstrip("s") for word in plain_words(path))


def similar(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of words that two paths have in common, 0 to 1."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if one or other else 0.0


def describe_family(families: Mapping[Url, str], link: Link, words: FamilyWords) -> str | None:
    """Describe a link's family, or its folder of places, such as /city/ or /markets/, for the fact `family`."""
    if families and link.url in families:
        return families[link.url]
    segments = link.url.segments
    is_place = len(segments) > 1 and stem_of(segments[0]) in words.places
    return f"in a folder of places, /{segments[0]}" if is_place else None
