"""Ways to get a page into the picks of its site: one control changed at a time, and tried.

Owns: which changes are tried, and what each brings. Nothing is guessed: a way is listed because the pick was made with it. Must
not know: web pages, how pages are chosen. Start reading at `ways_in`.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from honeyguide.adapters.files.results import picked_of
from honeyguide.core.pick.evaluate import compare_sites
from honeyguide.core.text.fold import fold
from honeyguide.core.text.printable import tidy
from honeyguide.errors import ConfigError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.app.views.what_if import Control, WhatIf
    from honeyguide.core.records import Record

MAX_TRIES = 40  # picks of the site
MAX_WAYS = 6
_MORE_PLACES = 4  # added to the cap, one by one
_MAX_WORDS = 5  # of a list that are taken out
_SUFFIX = re.compile(r"\.[a-z]{3,5}$")


class Way(NamedTuple):
    """A control with another value by which the page is picked, a sentence, and the other picks of the site that change."""

    key: str
    value: float | list[str]
    words: str
    others: list[Record]


async def ways_in(what_if: WhatIf, site: str, url: str) -> list[Way]:
    """Try what may get a page in, by the profile as it is tried now; the smallest changes of each kind that do."""
    before = await what_if.record(site)
    page = next((one for one in before["candidates"] if one["url"] == url), None)
    if page is None:
        raise InputError("no link of the homepage leads to this page, so no rule can pick it", field="url")
    ways: list[Way] = []
    if any(one["url"] == url for one in before["selected"]):
        return ways  # every change would seem to help
    for control, value, words in islice(_tries(what_if.controls(), page, before["selected"]), MAX_TRIES):
        if any(way.key == control.key for way in ways):
            continue  # a smaller change of this control does
        try:
            record = await what_if.record_with(site, control.key, value)
        except ConfigError:
            continue
        if any(one["url"] == url for one in record["selected"]):
            changes = compare_sites(picked_of(record, site), picked_of(before, site))
            others = [
                {"url": one.url, "change": one.kind, "reason": one.why} for one in changes if one.url != url
            ]
            ways.append(Way(control.key, value, words, [*others]))
    return sorted(ways, key=lambda way: len(way.others))[:MAX_WAYS]


def _tries(
    controls: list[Control], page: Record, selected: list[Record]
) -> Iterator[tuple[Control, float | list[str], str]]:
    """Give changes that may help: more places, more points for what it has, words and filters that reject it, a wish."""
    paid = {point["rule"] for point in page["points"]}
    score = page["score"] or 0.0
    gap = max([one["score"] or 0.0 for one in selected], default=score) - score
    least = min([one["score"] or 0.0 for one in selected], default=score) - score
    text = fold(f"{page['url']} {page['anchor_text'] or ''}".replace("-", " ").replace("_", " "))
    for control in controls:
        now = control.value
        if isinstance(now, list):
            if found := _list_try(control, now, page, text):
                yield control, *found
        elif control.kind == "cap":
            for more in range(1, _MORE_PLACES + 1):
                yield control, now + more, f"pick up to {now + more:g} pages of a site instead of {now:g}"
        elif control.kind == "quota" and control.name == page["bucket"]:
            yield control, now + 1, f"allow {now + 1:g} pages of the kind {control.name} instead of {now:g}"
        elif control.kind == "points" and (control.name in paid or now < 0):
            for points in dict.fromkeys((least + 1, gap + 1)):
                if points > 0:
                    value = tidy(round(now + points, 1))
                    yield (
                        control,
                        value,
                        f"pay {value:g} points instead of {now:g} for “{control.words or control.name}”",
                    )


def _list_try(control: Control, now: list[str], page: Record, text: str) -> tuple[list[str], str] | None:
    """Give the change of a list that may help: words of the page, or the filter that rejects it, removed; a word of it wanted."""
    if control.kind == "want":
        slug = unquote(urlsplit(page["url"]).path).rstrip("/").rpartition("/")[2]
        word = _SUFFIX.sub("", slug).replace("_", "-")
        return ([*now, word], f"want pages with the word “{word}”") if word and word not in now else None
    if control.kind == "filters":
        rule = (page["rejected"] or {}).get("rule")
        kept = [name for name in now if name != rule]
        return (kept, f"remove the filter “{rule}”") if len(kept) < len(now) else None
    found = [word for word in now if fold(word).strip("/").replace("-", " ") in text][:_MAX_WORDS]
    rest = [word for word in now if word not in found]
    return (rest, f"remove {', '.join(map(repr, found))} from the words “{control.words}”") if found else None
