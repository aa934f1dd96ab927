"""Labels of pages, and saving: where labels and the profile are until they are saved, and the files that they are saved to.

Must not know: how pages are chosen or judged. Start reading at `save`.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from honeyguide.app.tools.profiles import write_profile
from honeyguide.errors import InputError
from honeyguide.report.sheet import noun

if TYPE_CHECKING:
    from honeyguide.app.views.what_if import WhatIf
    from honeyguide.studio.shell import Sources

LABELS = {"core": "wanted", "acceptable": "fine", "junk": "junk"}
_ENDS = {"profile": ".toml", "labels": ".jsonl"}
_USE = {"profile": "honeyguide pick … --profile {}", "labels": "honeyguide eval … --gold {}"}
_MAX_URL = 4_000  # characters


def label_buttons(site_name: str, url: str, known: Any) -> str:
    """Write the buttons that say what a page is."""
    return (
        '<span class="labels" role="group" aria-label="Label">'
        + "".join(
            f'<button type="button" data-label="{label}" data-site="{escape(site_name)}" data-url="{escape(url)}" '
            f'aria-pressed="{"true" if known.get(url) == label else "false"}">{word}</button>'
            for label, word in LABELS.items()
        )
        + "</span>"
    )


def label_bar(sources: Sources) -> str:
    """Write the bar that says where labels are, and saves them."""
    what_if = sources.require_what_if()
    return (
        f'<div class="box save-bar" data-labels><p role="status" data-label-status>{escape(labels_said(sources))}</p>'
        f"{save_form('labels', 'labels.jsonl', is_off=not what_if.labels)}</div>"
    )


def save_form(what: str, path: str, *, is_off: bool = False) -> str:
    """Write the form that saves the profile or the labels."""
    return (
        f'<form class="row save" data-save="{what}"><label><span>Save {what} as</span> <input name="path" value="{path}" required spellcheck="false"></label>'
        f'<button{" disabled" if is_off else ""}>Save {what}</button><span role="status" data-save-status></span></form>'
    )


def labels_said(sources: Sources) -> str:
    """Say how many pages are labelled, and where their labels are."""
    what_if = sources.require_what_if()
    count = sum(map(len, what_if.labels.values()))
    if not count:
        return "No page is labelled yet. Label pages as wanted, fine or junk to measure what a change of rules is worth."
    said = f"{noun(count, 'page')} of {noun(len(what_if.labels), 'site')} {'is' if count == 1 else 'are'} labelled"
    if sources.saved.get("labels") == _lines(what_if):
        return f"{said}, and saved."
    return f"{said}. The labels are only in this studio until you save them."


def unsaved(sources: Sources) -> str:
    """Say what would be lost if the studio ended now; nothing if all is saved."""
    what_if = sources.what_if
    if what_if is None:
        return ""
    lines, count = _lines(what_if), sum(map(len, what_if.labels.values()))
    lost = [noun(count, "label")] if lines and sources.saved.get("labels") != lines else []
    lost += (
        ["a changed profile"] if what_if.text not in (what_if.unchanged, sources.saved.get("profile")) else []
    )
    return " and ".join(lost)


def _lines(what_if: WhatIf) -> str:
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in what_if.label_records())


async def set_label(sources: Sources, sent: Any) -> Any:
    """Say what a page is."""
    what_if = sources.require_what_if()
    site, url, label = (sent.get(name) for name in ("site", "url", "label"))
    are_texts = isinstance(site, str) and isinstance(url, str) and isinstance(label, str)
    if not are_texts or site not in what_if.sites or len(url) > _MAX_URL:
        raise InputError("a label needs a site of the studio, a url and a label")
    what_if.label(site, url, label)
    return {
        "label": what_if.labels.get(site, {}).get(url, ""),
        "sites": len(what_if.labels),
        "said": labels_said(sources),
    }


async def save(sources: Sources, sent: Any) -> Any:
    """Write the profile, or the labels, to the file that the user names; a file that exists is replaced only if the user says so."""
    what_if, what, path = sources.require_what_if(), sent.get("what"), sent.get("path")
    if what not in _ENDS or not isinstance(path, str) or not path.endswith(_ENDS[what]) or "\0" in path:
        raise InputError("name a file that ends in .toml for a profile, in .jsonl for labels")
    content = what_if.text if what == "profile" else _lines(what_if)
    if not content:
        raise InputError("no page is labelled yet")
    target, replaces = Path(path).absolute(), sent.get("replace") is True  # noqa: ASYNC240 - of one name
    if target.is_file() and not replaces:
        return {"exists": str(target), "said": f"{target} exists already. Nothing was written."}
    write_profile(target, content, force=replaces)
    sources.saved[what] = content
    said = f"Saved {target}. Use it with: {_USE[what].format(path)}"
    return {"saved": str(target), "said": said, "labels": labels_said(sources)}
