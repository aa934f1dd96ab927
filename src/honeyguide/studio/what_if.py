"""What if: the profile as controls and as TOML, both in step; the sites whose picks change, and figures by labels.

Must not know: how pages are chosen, TOML. Start reading at `controls`; `changes` gives the sites, one event each.
"""

from __future__ import annotations

import asyncio
import time
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

from honeyguide.errors import InputError
from honeyguide.report.sheet import clean, noun
from honeyguide.studio.saving import label_bar, label_buttons, save_form
from honeyguide.studio.shell import View, badge, linked, outward

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aiohttp import web

    from honeyguide.app.views.what_if import Control, TextProblem, WhatIf
    from honeyguide.core.records import Record
    from honeyguide.studio.shell import Sources

_HEADINGS = {
    "cap": "How many",
    "points": "Points for the {}",
    "quota": "At most of a kind",
    "words": "Words",
    "want": "Wanted pages",
    "filters": "Filters",
}
_CLOSED = ("words", "filters")  # long lists, which are opened by a click
_MAX_WORDS_CHARS = 200_000
_LEARN_FROM = 6  # labelled sites
EVERY_S = 0.1  # between two events: each costs the browser a drawing


async def controls(sources: Sources, _request: web.Request) -> View:
    """Show the controls, the profile as text, and the place where changed sites appear."""
    what_if = sources.require_what_if()
    listed, was = await asyncio.to_thread(lambda: (what_if.controls(), what_if.first_values()))
    groups = groupby(listed, lambda one: (one.kind, one.place))
    left = "".join(_group(kind, place, list(found), was) for (kind, place), found in groups)
    of = noun(len(what_if.sites), "kept site")
    body = f"""<p class="lead">Change a rule of <b>{escape(what_if.parent)}</b>: the picks of {of} are made again at once, without a request.</p>
<div class="what-if" data-what-if="{what_if.version}">
<section class="box headline" aria-label="What changes">
<p class="big" role="status" data-what-if-status>Nothing was changed yet.</p>
<ul class="chips" data-what-if-changes aria-label="Your changes"></ul>
<p class="actions"><a class="button narrow-only" href="#changes">See the sites</a><button type="button" data-undo="{escape(what_if.unchanged)}" disabled>Undo all changes</button></p>
</section>
<form class="controls" autocomplete="off" aria-label="Rules"><h2>Rules</h2><input type="search" data-find-control aria-label="Find a rule" placeholder="Find a rule">{left}</form>
<section class="changes" id="changes" aria-label="Sites that change"><h2>Sites that change</h2>
<div data-what-if-figures></div><div data-what-if-sites><div class="empty"><p>Change a number or a word in the rules: the sites whose picks change appear here, with what went and what came.</p></div></div></section>
<section class="profile" aria-label="Profile and labels"><h2><label for="toml">The profile as TOML</label></h2>
<div class="code"><div class="gutter" aria-hidden="true"></div><textarea id="toml" name="toml" rows="14" wrap="off" spellcheck="false" aria-describedby="problems">{escape(what_if.text)}</textarea></div>
<div id="problems" role="alert"></div>
{save_form("profile", "mine.toml")}
<h2>Labels</h2>{label_bar(sources)}</section>
</div>"""
    data = {"toml": what_if.text, "controls": [one._asdict() for one in listed], "sites": what_if.sites}
    return View("What if", data, body, "What if")


def _group(kind: str, place: str, found: list[Control], was: dict[str, Any]) -> str:
    fields = "".join(_field(one, was.get(one.key, one.value)) for one in found)
    count = f" <small>{len(found)} lists</small>" if kind == "words" else ""
    heading = f"<summary>{_HEADINGS[kind].format(escape(place))}{count}</summary>"
    return f'<details class="more"{"" if kind in _CLOSED else " open"}>{heading}{fields}</details>'


def _field(control: Control, was: Any) -> str:
    """Write a control; `was` is its value in the profile of the pick, which marks it as changed."""
    name, key = escape(control.name), escape(control.key)
    if isinstance(control.value, list):
        title = f"words of {control.words}" if control.kind == "words" else _HEADINGS[control.kind]
        words, first = (escape("\n".join(map(str, one))) for one in (control.value, was))
        return (
            f'<div class="field words"><label>{escape(control.words)}<textarea data-control="{key}" data-was="{first}" data-name="{escape(title)}" '
            f'rows="4" spellcheck="false">{words}</textarea></label></div>'
        )
    least = ' min="1"' if control.kind == "cap" else ' min="0"' if control.kind == "quota" else ""
    is_told = control.words and control.kind != "quota"
    about = f" <small>{escape(clean(control.words, 90))}</small>" if is_told else ""
    return (
        f'<div class="field"><label><span>{name}{about}</span>'
        f'<input type="number" step="{1 if control.kind != "points" else "any"}"{least} value="{control.value:g}" data-was="{was:g}" data-name="{name}" data-control="{key}"></label></div>'
    )


async def set_profile(sources: Sources, sent: Any) -> Any:
    """Try another text, or one control with another value; gives both in step, or what is wrong, with its line."""
    what_if = sources.require_what_if()
    if isinstance(sent.get("toml"), str):
        problems = await asyncio.to_thread(what_if.change, sent["toml"])
    else:
        problems = await asyncio.to_thread(what_if.set, str(sent.get("key")), _value(sent.get("value")))
    return _state(what_if, problems)


def _value(value: Any) -> float | list[str]:
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e6:
        return value
    if (
        isinstance(value, list)
        and all(isinstance(word, str) for word in value)
        and sum(map(len, value)) < _MAX_WORDS_CHARS
    ):
        return [word.strip() for word in value if word.strip()]
    raise InputError("the value should be a number below 1,000,000, or a list of words")


def _state(what_if: WhatIf, problems: list[TextProblem]) -> Any:
    values = {one.key: one.value for one in what_if.controls()}
    return {
        "toml": what_if.text,
        "version": what_if.version,
        "controls": values,
        "problems": [problem._asdict() for problem in problems],
    }


async def changes(sources: Sources, request: web.Request) -> AsyncIterator[Any]:
    """Give each site whose picks change, those in view first; ends early when the profile changes again."""
    what_if = sources.require_what_if()
    version, seen = what_if.version, set(request.query.get("first", "").split("\n"))
    sites = sorted(what_if.sites, key=lambda site: site not in seen)
    places = {site: place for place, site in enumerate(what_if.sites)}
    before, now, changed, drawn, listed, since = [], [], 0, [], [], 0.0
    for done, site in enumerate(sites, 1):
        old, new, found = await what_if.compare(site)
        if what_if.version != version:
            return
        before.append((site, old))
        now.append((site, new))
        if found:
            changed += 1
            listed += found
            drawn.append(_changed(what_if, site, found, places[site]))
        if time.monotonic() - since > EVERY_S or done == len(sites):
            since = time.monotonic()
            yield {"done": done, "of": len(sites), "changed": changed, "changes": listed, "html": drawn}
            drawn, listed = [], []
        await asyncio.sleep(0)
    yield {
        "finished": True,
        "of": len(sites),
        "changed": changed,
        "html": _figures(what_if.figures(before), what_if.figures(now), len(what_if.labels)),
    }


def _changed(what_if: WhatIf, site: str, found: list[Record], place: int) -> str:
    known = what_if.labels.get(site, {})
    signs = {"entered": ("+ came", "good"), "left": ("− went", "bad")}
    rows = []
    for one in found:
        word, style = signs.get(one["change"], ("↕ moved", ""))
        rows.append(
            f"<li><div>{badge(word, style)}</div><div>{outward(one['url'], site)} <small>{escape(clean(one['reason'], 300))}</small></div>"
            f"{label_buttons(site, one['url'], known)}</li>"
        )
    return f'<article class="box changed"><h3>{linked("/pick/site", site, n=place)}</h3><ul>{"".join(rows)}</ul></article>'


def _figures(before: Record | None, now: Record | None, labelled: int) -> str:
    """Compare the figures of labelled sites."""
    if before is None or now is None:
        return '<p class="soft">Label pages as wanted or junk, and figures before and after the change appear here.</p>'
    names = {"good": "good sites", "share": "share of wanted pages", "junk": "junk picks"}
    rows = "".join(
        f'<tr><th scope="row">{words}</th><td>{escape(_figure(before.get(name)))}</td><td>{escape(_figure(now.get(name)))}</td></tr>'
        for name, words in names.items()
    )
    offer = ""
    if labelled >= _LEARN_FROM:
        offer = (
            "<p>There are enough labels to learn from: save them, and run <code>honeyguide learn</code>.</p>"
        )
    head = '<th></th><th scope="col">before</th><th scope="col">now</th>'
    return f'<table class="figures"><caption>{noun(labelled, "labelled site")}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{offer}'


def _figure(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {one}" for name, one in value.items())
    return "–" if value is None else f"{value:.0%}" if isinstance(value, float) else str(value)
