"""What if: the profile as controls and as TOML, both in step; the sites whose picks change; labels and figures; saving.

Must not know: how pages are chosen, TOML. Start reading at `controls`; `changes` gives the sites, one event each.
"""

from __future__ import annotations

import asyncio
import json
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from honeyguide.app.tools.profiles import write_profile
from honeyguide.errors import InputError
from honeyguide.report.sheet import clean, noun
from honeyguide.studio.picks import label_buttons
from honeyguide.studio.shell import View, linked, outward

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aiohttp import web

    from honeyguide.app.views.what_if import Control, TextProblem, WhatIf
    from honeyguide.core.records import Record
    from honeyguide.studio.shell import Sources

_HEADINGS = {"cap": "How many", "points": "Points", "quota": "At most of a kind", "words": "Words"}
_MAX_WORDS_CHARS = 200_000
_LEARN_FROM = 6  # labelled sites


async def controls(sources: Sources, _request: web.Request) -> View:
    """Show the controls, the profile as text, and the place where changed sites appear."""
    trial = sources.the_trial()
    listed = await asyncio.to_thread(trial.controls)
    left = "".join(_group(kind, list(found)) for kind, found in groupby(listed, lambda one: one.kind))
    body = f"""<p class="soft">Change a number, a word or the text: the picks of {noun(len(trial.sites), "kept site")} are made again at once, without a request.</p>
<div class="two" data-trial="{trial.version}">
<form class="controls" autocomplete="off"><h2>Rules of {escape(trial.parent)}</h2>{left}</form>
<section aria-label="What changes"><h2><label for="toml">The same as a profile</label></h2>
<textarea id="toml" name="toml" rows="7" spellcheck="false" aria-describedby="problems">{escape(trial.text)}</textarea>
<div id="problems" role="alert"></div>
<h2>What changes</h2><p role="status" data-trial-status>Nothing was changed yet.</p>
<div class="save"><button type="button" data-undo="{escape(trial.unchanged)}">Undo all changes</button>
<form class="row" data-save="profile"><label>Profile <input name="path" value="mine.toml" required></label><button>Save profile</button></form>
<form class="row" data-save="labels"><label>Labels <input name="path" value="labels.jsonl" required></label><button>Save labels</button></form></div>
<p role="status" data-save-status></p>
<div data-trial-figures></div><div data-trial-sites></div></section>
</div>"""
    data = {"toml": trial.text, "controls": [one._asdict() for one in listed], "sites": trial.sites}
    return View("What if", data, body, "What if")


def _group(kind: str, found: list[Control]) -> str:
    fields = "".join(map(_field, found))
    if kind != "words":
        return f"<fieldset><legend>{_HEADINGS[kind]}</legend>{fields}</fieldset>"
    return (
        f'<details class="more"><summary>{_HEADINGS[kind]} ({len(found)} lists)</summary>{fields}</details>'
    )


def _field(control: Control) -> str:
    name, key = escape(control.name), escape(control.key)
    if isinstance(control.value, list):
        words = escape("\n".join(control.value))
        return f'<label class="words">{escape(control.words)}<textarea data-control="{key}" rows="4" spellcheck="false">{words}</textarea></label>'
    least = ' min="1"' if control.kind == "cap" else ' min="0"' if control.kind == "quota" else ""
    about = f" <small>{escape(clean(control.words, 90))}</small>" if control.words else ""
    return (
        f'<label class="field"><span>{name}{about}</span>'
        f'<input type="number" step="{1 if control.kind != "points" else "any"}"{least} value="{control.value:g}" data-control="{key}"></label>'
    )


async def set_profile(sources: Sources, sent: Any) -> Any:
    """Try another text, or one control with another value; gives both in step, or what is wrong, with its line."""
    trial = sources.the_trial()
    if isinstance(sent.get("toml"), str):
        problems = await asyncio.to_thread(trial.change, sent["toml"])
    else:
        problems = await asyncio.to_thread(trial.set, str(sent.get("key")), _value(sent.get("value")))
    return _state(trial, problems)


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


def _state(trial: WhatIf, problems: list[TextProblem]) -> Any:
    values = {one.key: one.value for one in trial.controls()}
    return {
        "toml": trial.text,
        "version": trial.version,
        "controls": values,
        "problems": [problem._asdict() for problem in problems],
    }


async def changes(sources: Sources, request: web.Request) -> AsyncIterator[Any]:
    """Give each site whose picks change, those in view first; ends early when the profile changes again."""
    trial = sources.the_trial()
    version, seen = trial.version, set(request.query.get("first", "").split("\n"))
    sites = sorted(trial.sites, key=lambda site: site not in seen)
    before, now, changed = [], [], 0
    for done, site in enumerate(sites, 1):
        old, new, found = await trial.compare(site)
        if trial.version != version:
            return
        before.append((site, old))
        now.append((site, new))
        changed += bool(found)
        event = {"done": done, "of": len(sites), "changed": changed, "site": site, "changes": found}
        yield {**event, "html": _changed(trial, site, found, trial.sites.index(site)) if found else ""}
        await asyncio.sleep(0)
    yield {
        "finished": True,
        "of": len(sites),
        "changed": changed,
        "html": _figures(trial.figures(before), trial.figures(now), len(trial.labels)),
    }


def _changed(trial: WhatIf, site: str, found: list[Record], place: int) -> str:
    known = trial.labels.get(site, {})
    signs = {"entered": ("+", "came", "good"), "left": ("−", "went", "bad")}
    rows = []
    for one in found:
        sign, word, style = signs.get(one["change"], ("↕", "moved", "some"))
        rows.append(
            f'<li><span class="badge {style}">{sign} {word}</span> {outward(one["url"])} <small>{escape(clean(one["reason"], 300))}</small> '
            f"{label_buttons(site, one['url'], known)}</li>"
        )
    return f'<article class="box changed"><h3>{linked("/pick/site", site, n=place)}</h3><ul class="plain">{"".join(rows)}</ul></article>'


def _figures(before: Record | None, now: Record | None, labelled: int) -> str:
    """Compare the figures of labelled sites."""
    if before is None or now is None:
        return '<p class="soft">Label pages as wanted or junk, and figures before and after appear here.</p>'
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
    return f'<table class="small"><caption>{noun(labelled, "labelled site")}</caption><thead><tr><th></th><th scope="col">before</th><th scope="col">now</th></tr></thead><tbody>{rows}</tbody></table>{offer}'


def _figure(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {one}" for name, one in value.items())
    return "–" if value is None else f"{value:.0%}" if isinstance(value, float) else str(value)


async def set_label(sources: Sources, sent: Any) -> Any:
    """Say what a page is."""
    trial = sources.the_trial()
    site, url, label = (sent.get(name) for name in ("site", "url", "label"))
    if (
        not isinstance(site, str)
        or site not in trial.sites
        or not isinstance(url, str)
        or not isinstance(label, str)
        or len(url) > 4_000
    ):
        raise InputError("a label needs a site of the studio, a url and a label")
    trial.label(site, url, label)
    return {"label": trial.labels.get(site, {}).get(url, ""), "sites": len(trial.labels)}


async def save(sources: Sources, sent: Any) -> Any:
    """Write the profile, or the labels, to the file that the user names; another file is never overwritten."""
    trial, what, path = sources.the_trial(), sent.get("what"), sent.get("path")
    ends = {"profile": ".toml", "labels": ".jsonl"}
    if what not in ends or not isinstance(path, str) or not path.endswith(ends[what]) or "\0" in path:
        raise InputError("name a file that ends in .toml for a profile, in .jsonl for labels")
    target = Path(path).absolute()  # noqa: ASYNC240 - of one name
    lines = "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in trial.label_records())
    if what == "labels" and not lines:
        raise InputError("no page is labelled yet")
    write_profile(target, trial.text if what == "profile" else lines, force=str(target) in sources.saved)
    sources.saved.add(str(target))
    said = f"honeyguide pick … --profile {path}" if what == "profile" else f"honeyguide eval … --gold {path}"
    return {"saved": str(target), "said": f"Saved {target}; use it with {said}"}
