"""What if the rules were others: a pick that was kept, made again with a changed profile, and what that changes.

Owns: the profile as text and as controls, both in step; picks from memory; what went and what came, and figures by labels.
Must not know: web pages, how files are kept. Start reading at `WhatIf`.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide.adapters.clock import SystemClock
from honeyguide.adapters.files.kept_responses import RememberingReader
from honeyguide.adapters.files.results import picked_of
from honeyguide.adapters.html.content import HtmlReader
from honeyguide.app.arguments import strategy_profile
from honeyguide.app.pick import picker
from honeyguide.app.tools.evaluate import figures_record
from honeyguide.app.tools.profiles import quoted
from honeyguide.config import load_profile
from honeyguide.config.extend import read_profile
from honeyguide.core.pick.evaluate import (
    ACCEPTABLE,
    CORE,
    JUNK,
    Gold,
    compare_sites,
    judge_site,
    page_name,
    site_key,
    total,
)
from honeyguide.core.text.printable import tidy
from honeyguide.errors import ConfigError, FetchError, InputError
from honeyguide.ports.fetch import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from honeyguide.adapters.files.kept_responses import KeptFetcher, KeptReader
    from honeyguide.app.views.kept_pick import KeptPick
    from honeyguide.core.page.page import Page
    from honeyguide.core.pick.evaluate import Picked
    from honeyguide.core.records import Record
    from honeyguide.core.rules.profile import Profile
    from honeyguide.core.url.url import Url
    from honeyguide.jobs.pick import Picker
    from honeyguide.ports.fetch import Fetched, Robots, Validators

LABELS = (CORE, ACCEPTABLE, JUNK)
MAX_MEMORY = 300_000_000  # bytes of bodies that are remembered beside what was read of them
MAX_WORDS = 2_000  # of a control
_LINE = re.compile(r"\bat line (\d+)")


class Control(NamedTuple):
    """A number or a list of the profile: its `kind` is points, cap, quota, words, want or filters, `place` the group of a rule."""

    kind: str
    name: str
    place: str
    words: str
    value: float | list[str]

    @property
    def key(self) -> str:
        """A name that no other control has."""
        return f"{self.kind}:{self.place}:{self.name}"


class TextProblem(NamedTuple):
    """A mistake in the text of a profile, and its line, if that is known."""

    line: int | None
    what: str


class _Memory(RememberingReader):
    """A fetcher and a reader that remember: a kept answer never changes, so each page is unpacked and read once."""

    def __init__(self, fetcher: KeptFetcher, reader: KeptReader) -> None:
        self._fetcher = fetcher
        self._reader = reader
        self._known: dict[tuple[str, str], Any] = {}
        self._bytes = 0

    async def fetch(
        self, url: Url, *, validators: Validators | None = None, part: Part = Part.PAGE
    ) -> Fetched:
        """Give an answer, or raise a failure, as it was kept."""
        key = part.value, url.as_linked
        if key not in self._known:
            try:
                self._keep(key, await self._fetcher.fetch(url, validators=validators, part=part))
            except FetchError as error:
                self._known[key] = error.with_traceback(None)
        if isinstance(self._known[key], FetchError):
            raise self._known[key]
        answer: Fetched = self._known[key]
        return answer

    async def robots(self, url: Url) -> Robots | None:
        """Give the sitemaps that robots.txt of an origin names."""
        return await self._fetcher.robots(url)

    def _keep(self, key: tuple[str, str], answer: Fetched) -> None:
        if self._bytes > MAX_MEMORY:
            self._known.clear()
            self._bytes = 0
        self._bytes += len(answer.body) + 2_000
        self._known[key] = answer

    def _read(self, way: str, body: bytes, url: Url, content_type: str | None) -> Page:
        key = f"read as {way}", url.as_linked
        if key not in self._known:
            self._known[key] = getattr(self._reader, way)(body, url, content_type)
        page: Page = self._known[key]
        return page


@dataclass
class WhatIf:
    """The picks of a file, again and again. `text` is the profile that is tried, `labels` what pages are, by site and page."""

    kept: KeptPick
    name: str = "mine"
    text: str = ""
    version: int = 0
    labels: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with the profile of the pick, unchanged."""
        self.sites = self.kept.sites()
        self.request = self.kept.request()
        self._memory = _Memory(self.kept.fetcher(None), self.kept.reader(HtmlReader()))
        self._before: dict[str, Picked] = {}
        self._first = self._job(self.request.profile)
        self.parent = str(self.request.profile or self._first.profile.name)
        if not self.text:
            about = f"{self._first.profile.name}, with changes of ours"
            head = {"schema": 1, "extends": self.parent, "name": self.name, "description": about}
            self.text = toml_text(head)
        self.unchanged = self.text
        self._now = self._first

    def other_profile(self, records: Iterable[Record]) -> str:
        """Say that the first of some picks was made by another profile than the pick that was kept last, if so."""
        record = next(iter(records), {})
        made, here = record.get("profile_hash"), self._first.profile
        if made in (None, here.hash):
            return ""
        return f"was picked by profile {record.get('profile')}, but What if starts from {self.parent}, the profile of the last pick --keep"

    def _job(self, profile: Profile | str | Path | None) -> Picker:
        job = picker(replace(self.request, profile=profile), self._memory, SystemClock())
        return replace(job, reader=self._memory)

    # --- the profile ---

    def change(self, text: str) -> list[TextProblem]:
        """Try another profile; gives its mistakes, and then the one before stays."""
        try:
            self._now = self._job_by(text)
        except ConfigError as error:
            return [
                TextProblem(_line_of(str(problem), problem.where, text), str(problem))
                for problem in error.problems
            ]
        self.text = text
        self.version += 1
        return []

    def controls(self) -> list[Control]:
        """List what of the profile can be changed by a control."""
        return list(_controls(read_profile(self.text).table, self.request.strategy))

    def first_values(self) -> dict[str, float | list[str]]:
        """Give the value of each control in the profile of the pick, before any change."""
        table = read_profile(self.unchanged).table
        return {one.key: one.value for one in _controls(table, self.request.strategy)}

    def set(self, key: str, value: float | list[str]) -> list[TextProblem]:
        """Change one control: the text changes with it."""
        return self.change(self._text_with(key, value))

    def _text_with(self, key: str, value: float | list[str]) -> str:
        found = next((control for control in self.controls() if control.key == key), None)
        if found is None:
            raise InputError(f"there is no control {key!r}")
        table = tomllib.loads(self.text)
        inherited = read_profile(self.parent).table
        _change(table, found._replace(value=value), self.request.strategy, inherited)
        return toml_text(table)

    def _job_by(self, text: str) -> Picker:
        loaded = load_profile(text if "\n" in text else f"{text}\n")
        return self._job(strategy_profile(self.request.strategy, loaded))

    # --- picks ---

    async def record(self, site: str) -> Record:
        """Pick from a site by the changed profile."""
        return await self._now.pick(site)

    async def record_with(self, site: str, key: str, value: float | list[str]) -> Record:
        """Pick from a site as if one control had another value; the profile that is tried stays."""
        return await self._job_by(self._text_with(key, value)).pick(site)

    async def record_before(self, site: str) -> Record:
        """Pick from a site by the profile of the pick; its record is there already if it was kept."""
        first = self._first
        made = first.profile.name, first.profile.hash, self.request.strategy, self.request.options
        like = dict(zip(("profile", "profile_hash", "strategy", "options"), made, strict=True))
        return self.kept.record(site, like) or await first.pick(site)

    async def compare(self, site: str) -> tuple[Picked, Picked, list[Record]]:
        """Give a site before and now, and which picks differ, with the reason of each."""
        if site not in self._before:
            self._before[site] = picked_of(await self.record_before(site), site)
        before = self._before[site]
        now = before if self._now is self._first else picked_of(await self.record(site), site)
        changes = [] if now is before else compare_sites(now, before)
        records = [{"site": site, "url": one.url, "change": one.kind, "reason": one.why} for one in changes]
        return before, now, [*records]

    # --- labels ---

    def label(self, site: str, url: str, label: str) -> None:
        """Say what a page is; an empty label takes it back."""
        if label and label not in LABELS:
            raise InputError(f"a label is one of {', '.join(LABELS)}", field="label")
        pages = self.labels.setdefault(site, {})
        pages.pop(url, None)
        if label:
            pages[url] = label
        if not pages:
            del self.labels[site]

    def label_records(self) -> Iterator[Record]:
        """Give the labels as `eval` and `learn` read them."""
        for site, pages in self.labels.items():
            yield {
                "site": site,
                **{kind: [url for url, one in pages.items() if one == kind] for kind in LABELS},
            }

    def figures(self, picked: Iterable[tuple[str, Picked]]) -> Record | None:
        """Judge the picks of labelled sites; None without any."""
        cap = self._now.options.cap or self._now.profile.strategies[self.request.strategy].cap
        judged = []
        for site, found in picked:
            if site in self.labels:
                pages = {page_name(url): label for url, label in self.labels[site].items()}
                judged.append(judge_site(Gold(site_key(site), pages), found, cap))
        return figures_record(total(judged)) if judged else None


# --- profiles as text ---


def _controls(table: Any, strategy: str) -> Iterator[Control]:
    settings = table["strategy"][strategy]
    yield Control("cap", "cap", "", "pages of a site at most", settings.get("cap", 4))
    for group in table["scorecard"][settings["card"]].get("group", []):
        for rule in group["rules"]:
            if isinstance(rule.get("points"), int | float):
                yield Control(
                    "points", rule["id"], group["name"], str(rule.get("reason", "")), rule["points"]
                )
    for name, most in settings.get("quota", {}).items():
        yield Control("quota", name, "", f"pages of the kind {name} at most", most)
    for name, words in table.get("terms", {}).items():
        if isinstance(words, list) and 0 < len(words) <= MAX_WORDS:
            yield Control("words", name, "", name.replace("_", " "), [str(word) for word in words])
    wanted = [str(word) for word in table.get("want", {}).get("pages", [])]
    yield Control("want", "pages", "", "kinds of pages, or words, that every pick is to have", wanted)
    rules = [*table.get("filter", []), *settings.get("filter", [])]
    yield Control(
        "filters", "filters", "", "delete a filter from the list, and it rejects nothing", _ids(rules)
    )


def _change(table: dict[str, Any], control: Control, strategy: str, inherited: dict[str, Any]) -> None:
    """Change the tables of a profile that extends another, whose tables are `inherited`."""
    settings = table.setdefault("strategy", {}).setdefault(strategy, {})
    if control.kind in ("words", "want"):
        place = table.setdefault("terms" if control.kind == "words" else "want", {})
        before = inherited.get("terms" if control.kind == "words" else "want", {}).get(control.name, [])
        place[control.name] = _edit(before, _list_of(control)) if before else _list_of(control)
    elif control.kind == "filters":
        kept = _list_of(control)
        _keep_filters(table, inherited, kept)
        _keep_filters(settings, inherited["strategy"].get(strategy, {}), kept)
    elif isinstance(control.value, list):
        raise InputError("should be a number", field=control.name)
    elif control.kind == "cap":
        settings["cap"] = int(control.value)
    elif control.kind == "quota":
        settings.setdefault("quota", {})[control.name] = int(control.value)
    else:
        card = read_profile(toml_text(table)).table["strategy"][strategy]["card"]
        groups = table.setdefault("scorecard", {}).setdefault(card, {}).setdefault("group", [])
        rules = _named(groups, "name", control.place).setdefault("rules", [])
        _named(rules, "id", control.name)["points"] = tidy(control.value)
    if not settings:
        del table["strategy"][strategy]


def _list_of(control: Control) -> list[str]:
    return control.value if isinstance(control.value, list) else []


def _edit(inherited: list[str], now: list[str]) -> dict[str, list[str]]:
    """Say how a list of words differs from an inherited one."""
    edit = {
        "add": [word for word in now if word not in inherited],
        "remove": [word for word in inherited if word not in now],
    }
    return {name: words for name, words in edit.items() if words}


def _keep_filters(table: dict[str, Any], inherited: dict[str, Any], kept: list[str]) -> None:
    """Remove the filters that are not kept: inherited ones by an entry that says so."""
    own = [rule for rule in table.get("filter", []) if rule.get("id") in kept and not rule.get("remove")]
    gone = [{"id": name, "remove": True} for name in _ids(inherited.get("filter", [])) if name not in kept]
    table["filter"] = own + gone
    if not table["filter"]:
        del table["filter"]


def _ids(rules: list[dict[str, Any]]) -> list[str]:
    return [str(rule["id"]) for rule in rules]


def _named(entries: list[dict[str, Any]], key: str, name: str) -> dict[str, Any]:
    """Find an entry of a list by its name, or add one."""
    for entry in entries:
        if entry.get(key) == name:
            return entry
    entries.append({key: name})
    return entries[-1]


def toml_text(table: dict[str, Any]) -> str:
    r"""Write tables as TOML: values first, then sections; comments are not kept.

    >>> print(toml_text({"schema": 1, "strategy": {"portfolio": {"cap": 3, "quota": {"hub": 1}}}}), end="")
    schema = 1
    <BLANKLINE>
    [strategy.portfolio]
    cap = 3
    quota = { hub = 1 }
    """
    return "\n".join(_sections(table)).lstrip("\n") + "\n"


def _sections(table: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[str]:
    inner = {name: value for name, value in table.items() if isinstance(value, dict) and len(path) < 2}
    lists = {name: value for name, value in table.items() if _is_tables(value)}
    values = {name: value for name, value in table.items() if name not in inner and name not in lists}
    if path and values:
        yield f"\n[{'.'.join(path)}]"
    yield from (f"{_key(name)} = {_value(value)}" for name, value in values.items())
    for name, value in inner.items():
        yield from _sections(value, (*path, _key(name)))
    for name, entries in lists.items():
        for entry in entries:
            yield f"\n[[{'.'.join((*path, _key(name)))}]]"
            yield from (f"{_key(one)} = {_value(value, is_wide=True)}" for one, value in entry.items())


def _is_tables(value: object) -> bool:
    return bool(value) and isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)


def _value(value: Any, *, is_wide: bool = False) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(name)} = {_value(one)}" for name, one in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        if is_wide and _is_tables(value):
            return "[\n" + "".join(f"  {_value(one)},\n" for one in value) + "]"
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool | int | float | str):
        return quoted(value)
    return str(value)  # a date


def _line_of(what: str, where: str, text: str) -> int | None:
    """Find the line of a mistake: TOML says it; else it is the last part of the path that a line of the text has."""
    if said := _LINE.search(what):
        return int(said[1])
    for part in reversed(re.findall(r"[\w-]+", where)):
        for number, line in enumerate(text.splitlines(), 1):
            if part in line:
                return number
    return None
