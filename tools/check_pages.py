"""Check pages and robots.txt against other people's test suites, given as JSON files.

    python tools/check_pages.py SUITES_DIR... [--verbose]

Two files are known by their names, wherever they are below the directories:
`html5lib_tree_construction.json` says which tree a browser makes of markup. From that tree follow the links of a page and
its visible text, and both must be what `parse_page` gives. `protego_robots.json` says which URLs a robots.txt allows.
A case *passes*, is *overridden* (we do otherwise on purpose; the reason is named) or *fails*. Failures are listed, and of
the overridden cases how many there are for each reason; --verbose lists those, too. The exit code is 1 if anything fails.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide.adapters.html.guards import is_page
from honeyguide.adapters.html.page import parse_page
from honeyguide.adapters.http.robots import read_robots
from honeyguide.core.url.scope import not_a_page
from honeyguide.core.url.url import Url
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = Url.parse("https://a.example/b/")
SITE = "https://www.site.local/"
LISTED = 50  # failures of one suite


class Result(NamedTuple):
    """How one case came out."""

    outcome: str  # pass, overridden, fail
    note: str = ""
    case: str = ""


# --- trees --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Node:
    """An element, or a text if it has one."""

    name: str
    text: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)

    def inside(self, *unseen: str) -> Iterator[Node]:
        """Give everything in it, in order, but not what some elements hold."""
        for child in self.children:
            yield child
            if child.name not in unseen:
                yield from child.inside(*unseen)


_LINE = re.compile(r"\| ( *)(.*)", re.DOTALL)
_ATTRIBUTE = re.compile(r"([^=]+)=\"(.*)\"", re.DOTALL)
_ELEMENT = re.compile(r"<(?:(svg|math) )?([^>!?]+)>")
_TEXT, _OTHER = "#text", "#other"


def read_tree(told: str) -> Node:
    """Read a tree as the suite writes it: a line for each node, two spaces for each level."""
    path = [Node("#root")]
    for line in _joined(told):
        found = _LINE.fullmatch(line)
        if found is None:
            raise ValueError(line)
        depth, what = len(found[1]) // 2, found[2]
        del path[depth + 1 :]
        element = _ELEMENT.fullmatch(what)
        if what.startswith('"'):
            path[-1].children.append(Node(_TEXT, what[1:-1]))
        elif element:
            path.append(Node(element[2]))
            path[-2].children.append(path[-1])
        elif what == "content":  # of a template
            path.append(Node("#content"))
            path[-2].children.append(path[-1])
        elif not what.startswith("<") and (pair := _ATTRIBUTE.fullmatch(what)):
            path[-1].attributes[pair[1].replace(" ", ":")] = pair[2]
        else:
            path[-1].children.append(Node(_OTHER))
    return path[0]


def _joined(told: str) -> Iterator[str]:
    """Put texts together that go over several lines."""
    line = ""
    for part in told.split("\n"):
        if part.startswith("| ") and line:
            yield line
            line = part
        else:
            line = f"{line}\n{part}" if line else part
    if line:
        yield line


# --- html5lib: what a browser sees ----------------------------------------------------------------------------------

# What nobody sees: a document's head, code, and what stands in for frames, scripts, drawings where they are not shown.
_UNSEEN = (
    "head",
    "title",
    "script",
    "style",
    "template",
    "noscript",
    "iframe",
    "noembed",
    "noframes",
    "datalist",
    "desc",
)


def expected_links(tree: Node) -> list[str]:
    """Give the URLs that the tree links to, each once, in order; links in templates are no part of the page."""
    base = next(
        (
            n.attributes["href"]
            for n in tree.inside("template")
            if n.name == "base" and "href" in n.attributes
        ),
        "",
    )
    found: dict[str, None] = {}
    for node in tree.inside("template"):
        href = node.attributes.get("href") or (
            node.attributes.get("xlink:href") if node.name == "a" else None
        )
        if node.name in ("a", "area") and href and not not_a_page(href):
            try:
                found[Url.parse(href, Url.parse(base, PAGE)).text] = None
            except UrlError:
                continue
    return list(found)


def expected_text(tree: Node) -> str:
    """Give the letters that a reader sees; spaces are a matter of layout."""
    hidden = {
        id(part)
        for node in tree.inside()
        if "hidden" in node.attributes and node.name != "body"
        for part in node.inside()
    }
    shown = (node.text for node in tree.inside(*_UNSEEN) if node.name == _TEXT and id(node) not in hidden)
    return "".join("".join(shown).split())


def check_tree(case: dict[str, Any]) -> Result:
    """Compare what a page gives with what its tree promises."""
    shown = f"{case['data']!a} ({case['source'].rpartition('/')[2]})"
    tree = read_tree(case["expected_tree"])
    if case["fragment"] is not None or not any(node.name == "html" for node in tree.children):
        return Result("overridden", "a fragment, and not a page", shown)
    page = parse_page(case["data"], PAGE)
    links, text = [link.url.text for link in page.links], "".join(page.text.split())
    expected = (expected_links(tree), expected_text(tree))
    if (links, text) == expected:
        return Result("pass")
    told = f"{shown}: expected {expected!a}, got {(links, text)!a}"
    return Result(*_reason(case["data"], (links, text)), told)


def _reason(data: str, got: tuple[list[str], str]) -> tuple[str, str]:
    """Say why a page is read otherwise on purpose, if that is so."""
    if got == ([], "") and not is_page(data.encode()):
        is_xml = data.lstrip().startswith("<?xml")
        return (
            "overridden",
            "begins like XML that is no page"
            if is_xml
            else "control characters, as in a file that is no text",
        )
    if "<noscript" in data.lower():
        return "overridden", "noscript is read as by a reader without scripts"
    return "fail", ""


# --- robots.txt -----------------------------------------------------------------------------------------------------


def check_robots(case: dict[str, Any]) -> Result:
    """Compare a decision; of a whole User-Agent header, its product token counts."""
    agent = re.sub(r".*compatible; ([^/;)]+).*", r"\1", case["user_agent"])
    url = Url.parse(case["input"], SITE)
    got = read_robots(case["robots_txt"].encode(), agent).allows(url)
    told = f"{case['test']}: {agent!a} on {case['input']!a}: expected {case['expected']}, got {got}"
    if got == case["expected"]:
        return Result("pass")
    if not got and re.search(
        r"(?mi)^\s*user-agent:.*\n(\s*(?!allow|disallow|user-agent)[\w-]+:.*\n)+\s*user-agent:",
        case["robots_txt"],
    ):
        return Result("overridden", "RFC 9309 2.2.4: other records do not end a group", told)
    return Result("fail", "", told)


SUITES: dict[str, Callable[[dict[str, Any]], Result]] = {
    "html5lib_tree_construction.json": check_tree,
    "protego_robots.json": check_robots,
}


def run(name: str, results: list[Result], *, verbose: bool) -> bool:
    """Print the row of a suite, and what is not as expected. True if nothing failed."""
    counts = Counter(result.outcome for result in results)
    reasons = Counter(result.note for result in results if result.outcome == "overridden")
    sys.stdout.write(
        f"{name}: {len(results)} cases, {counts['pass']} pass, {counts['overridden']} overridden, {counts['fail']} fail\n"
    )
    for reason, count in reasons.most_common():
        sys.stdout.write(f"  {count:>5} overridden: {reason}\n")
    for result in [result for result in results if result.outcome == "fail"][: None if verbose else LISTED]:
        sys.stdout.write(f"    fail {result.case}\n")
    if verbose:
        sys.stdout.writelines(
            f"    {result.note}: {result.case}\n" for result in results if result.outcome == "overridden"
        )
    return not counts["fail"]


def main() -> int:
    """Run the suites that are there."""
    parser = argparse.ArgumentParser(description="Check pages and robots.txt against suites in JSON files.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="SUITES_DIR")
    parser.add_argument("--verbose", action="store_true", help="list what is overridden, too")
    options = parser.parse_args()
    files = [
        file for folder in options.folders for file in sorted(folder.rglob("*.json")) if file.name in SUITES
    ]
    if not files:
        parser.error(f"there is none of {', '.join(SUITES)} below these directories")
    good = True
    for file in files:
        cases = json.loads(file.read_text("utf-8"))
        good &= run(file.name, [SUITES[file.name](case) for case in cases], verbose=options.verbose)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
