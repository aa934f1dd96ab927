"""Profiles: listed, shown, checked, started, and written after learning; and the JSON Schemas that `tools/make_reference.py` makes of records.

Owns: the records of these uses, and the starter text. Must not know: what a profile may contain (`honeyguide.config` does).
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from honeyguide.adapters.output.write import check_regular, check_replaceable, replacing, unwritable
from honeyguide.app.tools.evaluate import figures, sentence
from honeyguide.config import bundled_profiles, load_profile, profile_source
from honeyguide.config.extend import read_profile, unused_terms
from honeyguide.config.shapes import MAX_CAP
from honeyguide.core.pick.learn import LEARNED, learned_rules
from honeyguide.core.records import SCHEMA
from honeyguide.core.text.printable import tidy
from honeyguide.errors import ConfigError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.app.tools.evaluate import LearnedProfile
    from honeyguide.core.pick.learn import ProfileChange, Proposal
    from honeyguide.core.records import Record
    from honeyguide.core.records.command_records import ProfileRecord
    from honeyguide.core.rules.language import Rule

SCHEMAS = ("pick", "crawl", "plan", "signals")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")


def list_profiles() -> Iterator[ProfileRecord]:
    """List the profiles that come with Honeyguide."""
    for name in bundled_profiles():
        profile = load_profile(name)
        yield {
            "schema": SCHEMA,
            "name": profile.name,
            "description": profile.description,
            "strategies": list(profile.strategies),
            "hash": profile.hash,
        }


def show_profile(name: str, *, as_json: bool) -> tuple[str, tuple[str, ...]]:
    """Return a profile as it is written; or joined with what it extends, as JSON, and what it replaces as a whole."""
    if not as_json:
        return profile_source(name), ()
    extended = read_profile(name)
    return json.dumps(extended.table, indent=2, ensure_ascii=False, default=str), extended.replaced


def check_profile(file: str) -> tuple[Record, tuple[str, ...]]:
    """Load a profile; return a record with everything that is wrong with it, and the terms that no rule uses."""
    unknown: Record = {"ok": False, "name": None, "hash": None, "replaced": [], "problems": []}
    record: Record = {"schema": SCHEMA, "file": file, **unknown}
    try:
        loaded = load_profile(file)
        extended = read_profile(file)
        unused = unused_terms(extended)
    except ConfigError as error:
        return {**record, "problems": str(error).split("\n")}, ()
    known = {"ok": True, "name": loaded.name, "hash": loaded.hash, "replaced": list(extended.replaced)}
    return {**record, **known}, tuple(map(str, unused))


def start_profile(name: str, extends: str) -> tuple[str, tuple[str, ...]]:
    """Write a commented profile with the words that the rules of its parent use; return the inherited strategies, too."""
    if not _NAME.fullmatch(name):
        raise InputError("use small letters, digits and hyphens", field="name")
    parent = load_profile(extends)  # says what is wrong with it
    table = read_profile(extends).table
    words = "".join(text for term, text in _TERMS.items() if term in table.get("terms", {}))
    words = re.sub("(?m)^(?=[a-z])", "# ", words)  # as it stands, the profile decides as its parent does
    query = _QUERY if parent.strategies else ""
    head = _HEAD.format(name=name, extends=json.dumps(extends))
    text = head + query + _OWN_WORDS + words + "".join(_examples(table, extends))
    return text, tuple(parent.strategies)


def _examples(table: Record, extends: str) -> Iterator[str]:
    """Show in comments what people change first: for picks if the profile has a strategy, else for crawls."""
    strategies = table.get("strategy", {})
    name = "portfolio" if "portfolio" in strategies else next(iter(strategies), None)
    if name is None:
        yield _SKIP
        yield from _rule_example(table, "link", "of links in a crawl", extends)
        return
    strategy = strategies[name]
    yield _PICKED.format(strategy=name, cap=strategy["cap"], more=min(strategy["cap"] + 2, MAX_CAP))
    yield from _rule_example(table, strategy["card"], f"of the strategy `{name}`", extends)


def _rule_example(table: Record, card: str, of: str, extends: str) -> Iterator[str]:
    """Show how a rule of a card pays other points: one for a single kind of pages if the first group has any."""
    group = table["scorecard"][card]["group"][0]
    alone = [rule for rule in group["rules"] if _is_of_one_kind(rule)]
    for rule in alone[-1:] or group["rules"][:1]:
        points = rule.get("points", 0)
        known = {"rule": rule["id"], "points": tidy(points), "changed": tidy(2 * points or 10)}
        about = " for pages of one kind" if alone else ""
        yield _RULE.format(card=card, group=group["name"], of=of, about=about, extends=extends, **known)


def _is_of_one_kind(rule: Record) -> bool:
    when = rule.get("when", {})
    return set(when) == {"bucket"} and isinstance(when["bucket"].get("is"), str)


def check_profile_file(path: Path, *, force: bool) -> None:
    """Refuse, before any work is done, a file that could not be written, or not be read as a profile."""
    if path.suffix != ".toml":
        raise InputError("should end in .toml, by which a profile is known", file=str(path))
    _check_free(path, force=force)
    check_replaceable(path, lambda _: True)


def write_profile(path: Path, text: str, *, force: bool) -> None:
    """Write a profile to a new file, or with `force` over an old one, which stays until the new one is whole."""
    try:
        _check_free(path, force=force)
        with replacing(path) as part:
            part.write_text(text, "utf-8", newline="\n")
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None


def _check_free(path: Path, *, force: bool) -> None:
    if path.exists() and not force:
        what = "exists already; choose another name with -o, or overwrite it with --force"
        raise InputError(what, file=str(path))
    check_regular(path)


# --- schemas ---


def load_schema(name: str) -> dict[str, Any]:
    """Load the JSON Schema of the records of `pick`, `crawl` or `plan`, or of the `signals` that plan reads."""
    schema: dict[str, Any] = json.loads(schema_text(name))
    return schema


def schema_text(name: str) -> str:
    """Read a schema as it is shipped."""
    if name not in SCHEMAS:
        raise InputError(f"no schema is named {name!r}; there are {', '.join(SCHEMAS)}", field="name")
    return (files("honeyguide") / "schemas" / f"{name}.json").read_text("utf-8")


_HEAD = """\
# A profile: what is worth a visit, as data. Check it with: honeyguide profile check {name}.toml
# See everything it inherits with: honeyguide profile show {name}.toml --format json
schema = 1
extends = {extends}
name = "{name}"
description = "Say here what kind of site this profile is for."
"""
_QUERY = """
# What the strategy `blend` looks for in titles, descriptions, link texts and addresses of the linked pages.
# [query]
# text = "services repair installation maintenance about"
"""
_OWN_WORDS = """
# Words that rules refer to as $name. Take the # away to replace the inherited list; NAME.add = [...] adds words to it.
[terms]
"""
_PICKED = """
# Pages that every pick is to have: kinds of pages, or words of their link texts and addresses. A wanted page may replace a better one.
# [want]
# pages = ["team"]

# Pages that no pick has, named in the same way:
# [never]
# pages = ["careers", "blog"]

# The most pages of a site that the strategy `{strategy}` takes: {cap} as inherited.
# [strategy.{strategy}]
# cap = {more}

# A filter rejects links before they are scored; this one reads the words of the last part of the address.
# [[filter]]
# id = "no-prices"
# reason = "about prices"
# when = {{ slug = {{ word = ["price*", "pricing", "fees"] }} }}
"""
_SKIP = """
# Links that a crawl does not follow; this rule reads the words of the last part of the address.
# [[skip]]
# id = "no-prices"
# reason = "about prices"
# when = { slug = { word = ["price*", "pricing", "fees"] } }
"""
_RULE = """
# The points of one rule, by its id: `{rule}` pays {points}{about} as inherited. Its condition and all other rules stay as they are.
# honeyguide profile show {extends} --format json lists cards, groups and rules; this is the card {of}.
# [[scorecard.{card}.group]]
# name = "{group}"
# rules = [{{ id = "{rule}", points = {changed} }}]
"""
_TERMS = {
    "trade_words": """\
# Beginnings of words that mean a service, in addresses and link texts: the strategy `portfolio`, the default.
trade_words = ["servic*", "install*", "repair*", "mainten*", "inspect*", "system*", "design*", "monitor*", "test*"]
""",
    "absolute": """\
# Words in an address that always mean a service; the strategy `rules` pays 85 points for one of them.
absolute = ["installation", "install", "maintenance", "inspection", "protection"]
""",
    "service_terms": """\
# Words in an address that often mean a service: 60 points.
service_terms = ["repair", "system", "design", "monitoring", "testing"]
""",
    "tier1": """\
# Strong and standard words for the strategy `blend`.
tier1 = ["installation", "maintenance", "inspection", "repair"]
""",
    "tier2": """\
tier2 = ["system", "testing", "design"]
""",
    "path_hints": """\
# Parts of an address that suggest a page worth reading, whatever the topic: crawls pay 2 points for one of them.
path_hints = ["docs", "/api", "reference", "manual", "guide", "tutorial"]
""",
}


# --- learned profiles ---


def profile_text(learned: LearnedProfile, path: Path) -> str:
    """Write the profile that extends the old one by what was learned; `path` is where it will be."""
    lesson, card = learned.lesson, learned.profile.strategies[learned.strategy].card
    source = learned.source
    if source not in bundled_profiles():
        source = os.path.relpath(Path(source).resolve(), path.resolve().parent)
        source = source if "/" in source else f"./{source}"
    about = f"{learned.profile.name}, with points learned from the labels of {learned.sites} sites"
    lines = [
        f"# Learned from the labels of {learned.sites} sites, and judged in {lesson.folds} folds on sites that were held out.",
        f"# Before: {figures(lesson.before)}",
        f"# After:  {figures(lesson.after)}",
        "schema = 1",
        f"extends = {quoted(source)}",
        f"name = {quoted(path.stem)}",
        f"description = {quoted(about)}",
    ]
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for group, rule, proposals in _changed_rules(learned):
        groups[group] += [f"  # {sentence(proposal, lesson.folds)}" for proposal in proposals]
        groups[group].append(f"  {{ {rule} }},")
    for name, rules in groups.items():
        mode = ['mode = "all"'] if name == LEARNED else []
        lines += [
            "",
            f"[[scorecard.{card}.group]]",
            f"name = {quoted(name)}",
            *mode,
            "rules = [",
            *rules,
            "]",
        ]
    for proposal in lesson.proposals:
        if proposal.change.kind == "drop":
            lines += ["", f"# {sentence(proposal, lesson.folds)}", f"[[strategy.{learned.strategy}.drop]]"]
            lines += [f"id = {quoted(proposal.change.name)}", "remove = true"]
    return "\n".join(lines) + "\n"


def _changed_rules(learned: LearnedProfile) -> Iterator[tuple[str, str, list[Proposal]]]:
    """Give the group, the text and the proposals of each rule that is changed or new."""
    strategy = learned.profile.strategies[learned.strategy]
    proposals = learned.lesson.proposals
    for group in learned.profile.cards[strategy.card].card.groups:
        for rule in group.rules:
            for proposal in proposals:
                if proposal.change.kind == "rule" and proposal.change.name == rule.id:
                    text = f"id = {quoted(rule.id)}, points = {tidy(proposal.change.points)}"
                    yield group.name, text, [proposal]
    by_change = {proposal.change: proposal for proposal in proposals}
    for rule, changes in learned_rules(by_change):
        yield LEARNED, _rule_text(rule, changes), [by_change[change] for change in changes]


def _rule_text(rule: Rule, changes: list[ProfileChange]) -> str:
    names = quoted([change.name for change in changes])
    words = f"any = [{{ slug = {{ word = {names} }} }}, {{ label = {{ word = {names} }} }}]"
    when = words if changes[0].kind == "word" else f"bucket = {{ is = {names} }}"
    said = f"id = {quoted(rule.id)}, reason = {quoted(rule.reason)}"
    return f"{said}, points = {tidy(rule.points)}, when = {{ {when} }}"


def quoted(value: Any) -> str:
    r"""Write a value as TOML: as JSON does, but for the one character that TOML allows only as an escape.

    >>> quoted(["a\x7f", True])
    '["a\\u007f", true]'
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
