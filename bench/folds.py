"""Rules of `portfolio` chosen inside folds: `python -m bench.folds --sites FILE --gold PATH [--english FILE]`.

Each fold chooses among the rules below on the other sites and is judged on its own: what new sites may expect. Then the whole
profile without its trade words, without words in other languages than English, and without both. Owns: the rules to choose
from, the folds, the table. Must not know: how picks are judged (`core.pick.evaluate` does). Start reading at `main`.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import tempfile
import tomllib
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide import pick_sites
from honeyguide.adapters.files.results import read_gold, read_picks
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.pick.evaluate import judge_site, match_sites, site_key
from honeyguide.core.records import json_line
from honeyguide.jobs.pick import PickRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from honeyguide.core.pick.evaluate import Gold

Table = dict[str, Any]
CAP, FOLDS = 4, 10
_KINDS = [
    "hub",
    "about",
    "team",
    "career",
    "contact",
    "news",
    "faq",
    "review",
    "money",
    "project",
    "proof",
    "industry",
    "product",
    "junk",
]


class Figures(NamedTuple):
    """What is judged of one site."""

    good: int
    junk: int
    core: int
    could: int


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.folds", description="Figures for rules chosen in folds."
    )
    parser.add_argument("--sites", type=Path, required=True, help="a file with one address a line")
    parser.add_argument("--gold", required=True, help="labels, as honeyguide eval reads them")
    parser.add_argument("--english", type=Path, help="a list of English words, one a line")
    asked = parser.parse_args()
    sites = asked.sites.read_text("utf-8").split()
    gold = read_gold(asked.gold)
    sites = [site for site in sites if site_key(site) in gold]
    bench = Bench(sites, gold)
    print("| profile | good | share | junk |\n|---|---:|---:|---:|")
    _print("no rule about groups, no look at pages", bench.run(frozenset()).values())
    _print("all rules", bench.run(frozenset(SWITCHES)).values())
    for name in SWITCHES:
        _print(f"without {name}", bench.run(frozenset(SWITCHES) - {name}).values())
    _print(f"rules chosen inside {FOLDS} folds", bench.folded().values())
    english = frozenset(asked.english.read_text("utf-8").lower().split()) if asked.english else None
    for name, words in (("trade words", None), ("words that are not English", english), ("both", english)):
        if name == "trade words" or english is not None:
            drop_trade = name != "words that are not English"
            change = partial(drop_words, english=words, trade=drop_trade)
            for chosen, rules in (("all rules", frozenset(SWITCHES)), ("no rule", frozenset[str]())):
                _print(f"{chosen}, without {name}", bench.run(rules, change).values())


def _print(name: str, figures: Iterable[Figures]) -> None:
    listed = list(figures)
    good, junk, core, could = (sum(column) for column in zip(*listed, strict=True))
    print(f"| {name} | {good} of {len(listed)} | {core / could:.1%} | {junk} |", flush=True)


# --- the rules to choose from -------------------------------------------------------------------------------------


def _strategy(table: Table) -> Table:
    strategy: Table = table["strategy"]["portfolio"]
    return strategy


def _drop(key: str, *ids: str) -> Callable[[Table], None]:
    def change(table: Table) -> None:
        _strategy(table)[key] = [rule for rule in _strategy(table)[key] if rule["id"] not in ids]

    return change


def _drop_points(*ids: str) -> Callable[[Table], None]:
    def change(table: Table) -> None:
        for group in table["scorecard"]["worth"]["group"]:
            group["rules"] = [rule for rule in group["rules"] if rule["id"] not in ids]

    return change


def _drop_bucket(fact: str) -> Callable[[Table], None]:
    def change(table: Table) -> None:
        _strategy(table)["bucket"] = [
            rule for rule in _strategy(table)["bucket"] if fact not in str(rule["when"])
        ]

    return change


def _hard_quota(table: Table) -> None:
    _strategy(table).pop("over_quota")
    _strategy(table)["quota"]["hub"] = 1


def _strict_doorways(table: Table) -> None:
    for rule in _strategy(table)["filter"]:
        if rule["id"] == "doorway":
            rule["when"].pop("not", None)


SWITCHES: Mapping[str, Callable[[Table], None]] = {
    "services headings": _drop_bucket("listed"),
    "points for services headings": _drop_points("listed", "listed-menu"),
    "points for cards": _drop_points("cards"),
    "side headings": _drop_points("side"),
    "end of the menu": _drop_points("ends-menu"),
    "hub by structure": _drop_bucket("leads"),
    "only in the footer": _drop("drop", "only-footer"),
    "other links": _drop("drop", "other-links"),
    "two hubs, soft quotas": _hard_quota,
    "headings over doorways": _strict_doorways,
    "terms": _drop("look", "terms"),
    "doorways in pairs": _drop("look", "name-twin"),
}


def drop_words(table: Table, english: frozenset[str] | None, *, trade: bool) -> None:
    """Remove trade words, and words of the lists for kinds of pages that are not English."""
    terms = table["terms"]
    if trade:
        terms["trade_words"] = ["zzzz"]
    for name in (
        *(f"{kind}_words" for kind in _KINDS),
        "hub_names",
        "about_names",
        "trade_words",
        "leftovers",
    ):
        if english is not None and name in terms:
            kept = [word for word in terms[name] if _is_english(word, english)]
            terms[name] = kept or ["zzzz"]


def _is_english(phrase: str, english: frozenset[str]) -> bool:
    return phrase.startswith("$") or all(
        word in english or (word.endswith("*") and any(known.startswith(word[:-1]) for known in english))
        for word in phrase.lower().split()
    )


# --- runs and folds -----------------------------------------------------------------------------------------------


class Bench:
    """Picks with variants of the profile, each once."""

    def __init__(self, sites: Sequence[str], gold: Mapping[str, Gold]) -> None:
        self._sites = sites
        self._gold = gold
        self._table = tomllib.loads((files("honeyguide") / "profiles" / "company.toml").read_text("utf-8"))
        self._known: dict[frozenset[str], dict[str, Figures]] = {}

    def run(self, rules: frozenset[str], change: Callable[[Table], None] | None = None) -> dict[str, Figures]:
        """Judge a variant that has only these rules."""
        if change is None and rules in self._known:
            return self._known[rules]
        table = copy.deepcopy(self._table)
        for name in SWITCHES.keys() - rules:
            SWITCHES[name](table)
        if change is not None:
            change(table)
        found = self._judged(table)
        if change is None:
            self._known[rules] = found
        return found

    def _judged(self, table: Table) -> dict[str, Figures]:
        with tempfile.TemporaryDirectory() as folder:
            profile, picks = Path(folder, "variant.json"), Path(folder, "picks.jsonl")
            profile.write_text(json_line(table), "utf-8")
            records: dict[int, Any] = {}
            request = PickRequest(profile=str(profile), cap=CAP)
            policy = FetchPolicy(allow_private=True, delay_s=0.0)
            asyncio.run(pick_sites(self._sites, request, policy, records.__setitem__))
            picks.write_text("".join(f"{json_line(records[place])}\n" for place in sorted(records)), "utf-8")
            run = read_picks(str(picks), keep_others=False)
        wanted = {site_key(site) for site in self._sites}
        matched = match_sites(wanted, run)
        figures = {}
        for site in sorted(wanted):
            judged = judge_site(self._gold[site], matched.get(site), CAP)
            could = min(CAP, judged.core_pages)
            figures[site] = Figures(int(judged.is_good), judged.junk, min(judged.core, could), could)
        return figures

    def folded(self) -> dict[str, Figures]:
        """Judge each fold by the rules that the other folds choose."""
        names = sorted(site_key(site) for site in self._sites)
        found = {}
        for fold in range(FOLDS):
            held = set(names[fold::FOLDS])
            rules = self._choose([name for name in names if name not in held])
            left_out = ", ".join(name for name in SWITCHES if name not in rules) or "none"
            print(f"<!-- fold {fold + 1}: rules left out: {left_out} -->", flush=True)
            found.update({name: self.run(rules)[name] for name in held})
        return found

    def _choose(self, names: Sequence[str]) -> frozenset[str]:
        """Add the rule that helps most as long as one helps, from none at all."""
        chosen: frozenset[str] = frozenset()
        best = self._worth(chosen, names)
        while more := [chosen | {name} for name in SWITCHES if name not in chosen]:
            worth, rules = max(
                ((self._worth(rules, names), sorted(rules)) for rules in more), key=lambda one: one[0]
            )
            if worth <= best:
                break
            chosen, best = frozenset(rules), worth
        return chosen

    def _worth(self, rules: frozenset[str], names: Sequence[str]) -> float:
        """Weigh core pages, junk and good sites of a variant on some sites."""
        figures = [self.run(rules)[name] for name in names]
        return sum(one.core - one.junk + one.good for one in figures)


if __name__ == "__main__":
    main()
