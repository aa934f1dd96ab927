"""How a site groups its own pages: the submenus and groups of cards that list a link, and the hub that they point to.

The label of a submenu and the heading of cards come with the links (`Occurrence`); rules of the strategy say what kind of
heading each is, `[groups]` which buckets make up a group of services. Start reading at `describe_groups`.
Must not know: HTML, which words are good, what a group is worth (scorecards decide).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.page.page import Position
from honeyguide.core.rules.facts import JOIN, Facts, words_only

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from honeyguide.core.page.page import Link
    from honeyguide.core.rules.facts import Value
    from honeyguide.core.rules.profile import Strategy
    from honeyguide.core.url.url import Url

_LEAST = 3  # pages that make a group
_MENU = 4  # entries that make a menu
_MOSTLY = 0.75  # of a group that a hub leads are pages that may be services


class _Group(NamedTuple):
    """Links under one label or heading; `text` as written, `words` as rules read it."""

    is_menu: bool
    text: str
    words: str
    members: list[Link]


GroupFacts = dict[str, "Value"]
NO_GROUPS: GroupFacts = {
    "listed": "",
    "under": None,
    "leads": False,
    "in_largest_menu": False,
    "ends_menu": False,
    "group_share": 0.0,
}


def describe_groups(
    links: Sequence[Link], plan: Strategy, bucket_of: Callable[[Link], str | None]
) -> dict[Url, GroupFacts]:
    """Return the facts of each link that is in a group, leads one or ends the menu, by its URL; `bucket_of` knows no groups."""
    groups = _groups_of(links)
    entries = _menu_entries(links)
    facts: defaultdict[Url, GroupFacts] = defaultdict(NO_GROUPS.copy)
    if len(entries) >= _MENU:
        facts[list(entries.values())[-1].url]["ends_menu"] = True
    if not groups:
        return dict(facts)
    rules = plan.groups
    buckets: dict[Url, str | None] = {link.url: bucket_of(link) for link in links}

    def kind_of(group: _Group) -> str:
        entry = entries.get(group.words)
        row = Facts(
            heading=group.words,
            heading_words=float(len(group.words.split())),
            owner=None if entry is None else buckets[entry.url],
            is_menu=group.is_menu,
        )
        rule = plan.headings.first(row)
        return rule.id if rule else "neutral"

    hub = None
    if rules.hub not in buckets.values():
        named = [group for group in groups if kind_of(group) == rules.services]
        hub = _hub_by_structure(named or groups, entries, buckets, rules.members)
    if hub is not None:
        buckets[hub] = rules.hub
    menus = [group for group in groups if group.is_menu]
    largest = max(menus, key=lambda group: len(group.members), default=None)
    for group in groups:
        kind = kind_of(group)
        share = sum(buckets[link.url] == rules.services for link in group.members) / len(group.members)
        for link in group.members:
            _add(facts[link.url], group, kind, share, is_largest=group is largest)
    if hub is not None:
        facts[hub]["leads"] = True
    return dict(facts)


def _add(facts: GroupFacts, group: _Group, kind: str, share: float, *, is_largest: bool) -> None:
    kinds = [*str(facts["listed"]).split(JOIN), kind, f"{kind}-{'menu' if group.is_menu else 'cards'}"]
    if facts["under"] is None or (kind == "services" and "services" not in kinds[:-2]):
        facts["under"] = group.text
    facts["listed"] = JOIN.join(dict.fromkeys(filter(None, kinds)))
    facts["group_share"] = max(share, float(facts["group_share"] or 0.0))
    facts["in_largest_menu"] = bool(facts["in_largest_menu"]) or is_largest


def _groups_of(links: Sequence[Link]) -> list[_Group]:
    """Collect the links under each label and heading; spellings that differ in case or punctuation are one."""
    found: dict[tuple[bool, str], _Group] = {}
    for link in links:
        for occurrence in link.occurrences:
            for is_menu, text in ((True, occurrence.menu), (False, occurrence.heading)):
                words = words_only(text) if text else ""
                if words:
                    group = found.setdefault((is_menu, words), _Group(is_menu, text, words, []))
                    if not group.members or group.members[-1] is not link:
                        group.members.append(link)
    return [group for group in found.values() if len(group.members) >= _LEAST]


def _menu_entries(links: Sequence[Link]) -> dict[str, Link]:
    """Return the entries of the top menu by their words; the first of each wins."""
    entries: dict[str, Link] = {}
    for link in links:
        for occurrence in link.occurrences:
            if occurrence.position is Position.NAVIGATION and not occurrence.menu:
                entries.setdefault(words_only(occurrence.anchor), link)
    entries.pop("", None)
    return entries


def _hub_by_structure(
    groups: list[_Group],
    entries: dict[str, Link],
    buckets: dict[Url, str | None],
    wanted: frozenset[str],
) -> Url | None:
    """Find the entry of the menu that labels the largest submenu, else the one that a heading of cards names."""
    led: list[tuple[bool, int, Url, _Group]] = []
    for group in groups:
        counts = Counter(buckets[link.url] in wanted for link in group.members)
        if counts[True] < _MOSTLY * len(group.members):
            continue
        if group.is_menu:
            named = [entries[group.words]] if group.words in entries else []
        else:
            named = [link for words, link in entries.items() if f" {words} " in f" {group.words} "]
        led += [
            (group.is_menu, len(group.members), link.url, group)
            for link in named
            if buckets[link.url] in wanted and link not in group.members
        ]
    best = max(led, key=lambda one: one[:2], default=None)
    return best[2] if best is not None and _are_its_cards(best[3], groups, entries) else None


def _are_its_cards(group: _Group, groups: list[_Group], entries: dict[str, Link]) -> bool:
    """Tell whether the page shows the pages of a submenu as cards at least as often as other entries of the menu."""
    cards = {link.url for one in groups if not one.is_menu for link in one.members}
    listed = {link.url for one in groups if one.is_menu for link in one.members}
    beside = {link.url for words, link in entries.items() if words != group.words} - listed
    own = cards.intersection(link.url for link in group.members)
    return not group.is_menu or len(cards & beside) <= len(own)
