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
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING

from honeyguide.core.rules.facts import plain, stem_of, words_only
from honeyguide.core.rules.lines import PageWords
from honeyguide.core.text.fold import compose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from honeyguide.core.page.page import Link, Page
    from honeyguide.core.rules.facts import Facts
    from honeyguide.core.rules.profile import FamilyWords
    from honeyguide.core.url.url import Url

_WORD = re.compile(r"[^\W_]+")
_INDEX = re.compile(r"index\.[a-z]{3,5}")
MAX_ANCHOR_WORDS = 6  # a longer anchor text is a sentence
PROSE_WORDS = 40  # different words in lower case: fewer are menus and headings, not prose
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


class Sibling:
    """A link as the family search sees it: folder, words of the slug, words of each short anchor text."""

    __slots__ = ("_capitals", "anchors", "folder", "link", "slug")

    def __init__(self, link: Link, texts: PageWords) -> None:
        segments = link.url.segments
        if segments and segments[-1].startswith("index.") and _INDEX.fullmatch(segments[-1]):
            segments = segments[:-1]
        self.link = link
        self.folder = "/" + "/".join(map(plain, segments[:-1])) if len(segments) > 1 else "/"
        self.slug = _spoken(stem_of(segments[-1]), texts) if segments else ""
        spoken = dict.fromkeys([_spoken(anchor, texts) for anchor, _ in link.seen])
        self.anchors = [words for words in spoken if words and words.count(" ") < MAX_ANCHOR_WORDS]
        self._capitals: set[str] | None = None

    @property
    def capitals(self) -> set[str]:
        """The words of the anchor texts that do not begin with a small letter: names are among them."""
        if self._capitals is None:
            texts = dict.fromkeys([anchor for anchor, _ in self.link.seen])
            words = [word for text in texts for word in _WORD.findall(text) if not word[0].islower()]
            self._capitals = {word.lower() for word in words if word.isascii()}
            self._capitals.update(*[plain_words(word) for word in words if not word.isascii()])
        return self._capitals


def _spoken(text: str, texts: PageWords) -> str:
    """Return the words of a text as slugs and anchors are compared."""
    is_plain = text.isascii() and "%" not in text  # as most are
    return texts[text] if is_plain else " ".join(plain_words(text))


def find_families(
    links: Sequence[Link], words: FamilyWords, page: Page | None = None, texts: PageWords | None = None
) -> dict[Url, str]:
    """Describe the family of each link that has one; without `page`, only a state beside a name shows that it is one."""
    known = PageWords() if texts is None else texts
    siblings = [Sibling(link, known) for link in links]
    if page is not None:  # /de is a language on a German page, not Delaware
        words = words._replace(states=words.states - {(page.language or "")[:2]})
    common = cache(lambda: None if page is None else ordinary_words(page))  # of which few pages need any
    found: dict[Url, str] = {}
    for shape, least, members in _large_shapes(siblings, words):
        names = _names(members, words)
        if least <= len(names) >= 0.75 * len(members) and _are_names(names, words, common):
            for sibling, _, _ in names:
                found.setdefault(sibling.link.url, f"{shape} ({len(names)} pages)")
    for sibling in siblings:
        if _is_town_and_state(sibling, words):
            found.setdefault(sibling.link.url, "a town and its state")
    return found


Member = tuple[Sibling, str, bool]  # a sibling, the part of it that changes, and whether that is a guess


def _large_shapes(siblings: Sequence[Sibling], words: FamilyWords) -> list[tuple[str, int, list[Member]]]:
    """Return the shapes that enough links have, each with the number that it needs, in the order of their sentences."""
    least = words.min_size
    noted: defaultdict[str, list[tuple[Sibling, str, bool]]] = defaultdict(list)
    for sibling in siblings:
        for shared, name, is_guess in _shapes_of(sibling, words):
            noted[shared].append((sibling, name, is_guess))
    shapes = []
    for shared, members in noted.items():
        if len(members) < least:
            continue
        found: defaultdict[int, dict[Url, Member]] = defaultdict(dict)
        for sibling, name, is_guess in members:
            # Capitals decide in "Tree surgeon Stamford"; without them a family needs twice as many pages.
            need = 2 * least if is_guess and sibling.capitals.issuperset(shared.split(" ")) else least
            found[need].setdefault(sibling.link.url, (sibling, name, is_guess))
        large = [(need, some) for need, some in found.items() if len(some) >= need]
        shapes += [(_sentence(shared), need, list(some.values())) for need, some in large]
    return sorted(shapes, key=itemgetter(0, 1))


def _sentence(shared: str) -> str:
    """Describe a shape by what its pages share: words, a folder, or only that a name follows "in"."""
    if not shared:
        return "links that read 'in' and a name"
    what = f"under {shared} that" if shared[0] == "/" else f"that share '{shared}' and"
    return f"pages {what} differ in a name"


def _shapes_of(sibling: Sibling, words: FamilyWords) -> Iterator[tuple[str, str, bool]]:
    """List the shapes of a link by each of its anchor texts: what is shared, what would be the name, whether that is a guess."""
    slug = sibling.slug
    bare = _without_state(slug, words)
    for anchor in dict.fromkeys([_without_state(anchor, words) for anchor in sibling.anchors]):
        before, is_part, after = f" {slug} ".partition(f" {anchor} ")
        if is_part:
            for fixed in f"{before} {after}".split():
                if fixed not in words.generic:
                    yield fixed, anchor, False
            if anchor == bare and _is_of_pages(sibling.folder, words):
                yield sibling.folder, anchor, False
        if name := _name_after_preposition(anchor, words):
            yield "", name, False
        if anchor == bare:
            for fixed, name in _guesses(bare, words):
                yield fixed, name, True


def _is_of_pages(folder: str, words: FamilyWords) -> bool:
    """Tell whether a folder is neither the root, nor that of a language, nor that of the services."""
    name = folder.rpartition("/")[2]
    return (len(name) > 2 or name in words.states) and name not in words.hubs


def _guesses(slug: str, words: FamilyWords) -> Iterator[tuple[str, str]]:
    """Guess which end of a slug is the name where the anchor repeats all of it."""
    cut = slug.find(" ")
    while cut > 0:
        start, end = slug[:cut], slug[cut + 1 :]
        if not words.generic.issuperset(start.split(" ")):
            yield start, end
        if not words.generic.issuperset(end.split(" ")):
            yield end, start
        cut = slug.find(" ", cut + 1)


def _names(members: list[Member], words: FamilyWords) -> list[Member]:
    """Return the members whose changing part may be a name."""
    return [
        (sibling, name, is_guess)
        for sibling, name, is_guess in members
        if sibling.capitals.issuperset(parts := name.split(" ")) and may_be_name(parts, words)
    ]


def _without_state(words: str, family: FamilyWords) -> str:
    rest, _, last = words.rpartition(" ")
    return rest if rest and last in family.states else words


def _name_after_preposition(anchor: str, words: FamilyWords) -> str:
    parts = anchor.split(" ")
    if words.before_names.isdisjoint(parts):
        return ""
    for place in range(1, len(parts) - 1):
        if parts[place] in words.before_names and len(parts) - place <= 4:
            return " ".join(parts[place + 1 :])
    return ""


def _are_names(
    names: list[Member], words: FamilyWords, ordinary: Callable[[], frozenset[str] | None]
) -> bool:
    beside_state = sum(  # of a guess, a state says nothing: /kitchen-remodeling-ct is no town
        not is_guess
        and not words.states.isdisjoint(f"{sibling.slug} {sibling.folder.replace('/', ' ')}".split())
        for sibling, _, is_guess in names
    )
    if 2 * beside_state >= len(names):
        return True
    common = ordinary()
    return common is not None and sum(
        common.isdisjoint(name.split(" ")) for _, name, _ in names
    ) >= 0.75 * len(names)


def may_be_name(name: Sequence[str], words: FamilyWords) -> bool:
    """Tell whether words may name a town: few, none of a trade, no number."""
    return len(name) <= 3 and not any(word.startswith(words.no_names) or word.isdigit() for word in name)


def _is_town_and_state(sibling: Sibling, words: FamilyWords) -> bool:
    """Recognise a single page such as /chicago--il, linked as "Chicago, IL"."""
    return any(
        (town := _without_state(anchor, words)) != anchor
        and f"{sibling.slug} ".startswith(f"{anchor} ")
        and may_be_name(town.split(" "), words)
        for anchor in sibling.anchors
    )


def ordinary_words(page: Page) -> frozenset[str] | None:
    """Collect the words that a page writes in lower case at least once, because names never are; None where case is no evidence."""
    if (page.language or "").startswith("de"):  # German capitalises every noun
        return None
    words = frozenset(map(ascii_form, filter(str.islower, set(_WORD.findall(page.text)))))
    return words if len(words) >= PROSE_WORDS else None


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


def describe_family(families: Mapping[Url, str], facts: Facts, link: Link, words: FamilyWords) -> str | None:
    """Describe a link's family, or its folder of places, such as /city/ or /markets/, for the fact `family`."""
    if families and link.url in families:
        return families[link.url]
    is_place = facts["segment"] in words.places and len(link.url.segments) > 1
    return f"in a folder of places, /{link.url.segments[0]}" if is_place else None
