"""How a site groups its own pages: the submenus and groups of cards that list a link, and the hub that they point to.

The label of a submenu and the heading of cards come with the links (`Occurrence`); rules of the strategy say what kind of
heading each is, `[groups]` which buckets make up a group of services. Start reading at `describe_groups`.
Must not know: HTML, which words are good, what a group is worth (scorecards decide).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.page.page import Position
from honeyguide.core.rules.facts import JOIN, Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from honeyguide.core.page.page import Link
    from honeyguide.core.rules.facts import Value
    from honeyguide.core.rules.profile import Strategy

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
Buckets = dict[str, str | None]  # of links, by the text of their URL
NO_GROUPS: GroupFacts = {
    "listed": "",
    "under": None,
    "leads": False,
    "in_largest_menu": False,
    "ends_menu": False,
    "group_share": 0.0,
}


def describe_groups(
    links: Sequence[Link], strategy: Strategy, buckets_of: Callable[[], Buckets], words: Mapping[str, str]
) -> dict[str, GroupFacts]:
    """Return the facts of each link that is in a group, leads one or ends the menu, by the text of its URL.

    `buckets_of` gives the buckets of all links if there are no groups; `words` has the words of each text.
    """
    groups = _groups_of(links, words)
    entries = _menu_entries(links, words)
    facts: defaultdict[str, GroupFacts] = defaultdict(NO_GROUPS.copy)
    if len(entries) >= _MENU:
        facts[list(entries.values())[-1].url.text]["ends_menu"] = True
    if not groups:
        return dict(facts)
    rules = strategy.groups
    buckets = buckets_of()

    def kind_of(group: _Group) -> str:
        entry = entries.get(group.words)
        row = Facts(
            heading=group.words,
            heading_words=float(len(group.words.split())),
            owner=None if entry is None else buckets[entry.url.text],
            is_menu=group.is_menu,
        )
        rule = strategy.headings.first(row)
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
        of_services = sum([buckets[link.url.text] == rules.services for link in group.members])
        share = of_services / len(group.members)
        _add(facts, group, kind_of(group), share, is_largest=group is largest)
    if hub is not None:
        facts[hub]["leads"] = True
    return dict(facts)


def _add(
    facts: defaultdict[str, GroupFacts], group: _Group, kind: str, share: float, *, is_largest: bool
) -> None:
    """Add the facts of a group to those of its members; most are in no other."""
    kinds = [kind, f"{kind}-{'menu' if group.is_menu else 'cards'}"]
    for link in group.members:
        one = facts[link.url.text]
        before = str(one["listed"]).split(JOIN) if one["listed"] else []
        if one["under"] is None or (kind == "services" and "services" not in before):
            one["under"] = group.text
        one["listed"] = JOIN.join(dict.fromkeys([*before, *kinds]))
        one["group_share"] = max(share, float(one["group_share"] or 0.0))
        one["in_largest_menu"] = bool(one["in_largest_menu"]) or is_largest


def _groups_of(links: Sequence[Link], words: Mapping[str, str]) -> list[_Group]:
    """Collect the links under each label and heading; spellings that differ in case or punctuation are one."""
    found: dict[tuple[bool, str], _Group] = {}
    for link in links:
        for occurrence in link.occurrences:
            for is_menu, text in ((True, occurrence.menu), (False, occurrence.heading)):
                if text and (spoken := words[text]):
                    group = found.get((is_menu, spoken))
                    if group is None:
                        group = found[is_menu, spoken] = _Group(is_menu, text, spoken, [])
                    if not group.members or group.members[-1] is not link:
                        group.members.append(link)
    return [group for group in found.values() if len(group.members) >= _LEAST]


def _menu_entries(links: Sequence[Link], words: Mapping[str, str]) -> dict[str, Link]:
    """Return the entries of the top menu by their words; the first of each wins."""
    entries: dict[str, Link] = {}
    for link in links:
        for occurrence in link.occurrences:
            if occurrence.position is Position.NAVIGATION and not occurrence.menu:
                entries.setdefault(words[occurrence.anchor], link)
    entries.pop("", None)
    return entries


def _hub_by_structure(
    groups: list[_Group],
    entries: dict[str, Link],
    buckets: Buckets,
    wanted: frozenset[str],
) -> str | None:
    """Find the entry of the menu that labels the largest submenu, else the one that a heading of cards names."""
    led: list[tuple[bool, int, str, _Group]] = []
    for group in groups:
        members = {link.url.text for link in group.members}
        if sum([buckets[member] in wanted for member in members]) < _MOSTLY * len(members):
            continue
        if group.is_menu:
            named = [entries[group.words]] if group.words in entries else []
        else:
            named = [link for words, link in entries.items() if f" {words} " in f" {group.words} "]
        led += [
            (group.is_menu, len(members), link.url.text, group)
            for link in named
            if buckets[link.url.text] in wanted and link.url.text not in members
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
