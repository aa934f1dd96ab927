"""How much of a page survives as Markdown: `python -m bench.content DIR… [--peers]`.

Every converter is judged alike: its Markdown is parsed by a CommonMark parser, and what comes out is compared with the page's
own tree. The truth is the text of `main` (or role=main, or the only article, or the body) without landmarks, scripts, hidden
elements and form controls. It shares the idea of landmarks with our renderer, and is written without looking at it.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from bench.peers import offered
from honeyguide.adapters.html.charset import to_utf8
from honeyguide.adapters.html.content import main_content
from honeyguide.core.url.url import Url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from markdown_it.token import Token
    from selectolax.lexbor import LexborNode

    Convert = Callable[[bytes, str], str]

_WORD = re.compile(r"\w+")
_GONE = (
    'script,style,template,noscript,iframe,[style*="display:none"],[style*="display: none"],'
    "nav,button,select,textarea,input,datalist,dialog,object,svg,[hidden],"
    "[role=navigation],[role=banner],[role=contentinfo],[role=search],[aria-hidden=true],.headerlink,.linenos,.lineno,.navheader,.navfooter,.navbar,.breadcrumb,"
    ".breadcrumbs,.pagination"
)
_EDGES = "header,footer,aside"  # left out where they belong to the page, not to an article
_INLINE = frozenset(
    [
        "a",
        "abbr",
        "b",
        "bdi",
        "bdo",
        "cite",
        "code",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "ins",
        "kbd",
        "mark",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "tt",
        "u",
        "var",
    ]
)
_NAME = re.compile(r"[a-z]+")
_MENUS = frozenset(
    {"nav", "navigation", "menu", "header", "footer", "breadcrumb", "breadcrumbs", "sidebar", "topbar"}
)
_WHOLE = frozenset({"html", "body", "main", "article", "h1", "h2", "h3", "h4", "h5", "h6"})
_PERMALINKS = {"¶", "#", "§", ""}


@dataclass
class Parts:
    """What is compared: words, headings with their level, links, listings and list items."""

    words: Counter[str] = field(default_factory=Counter)
    headings: Counter[str] = field(default_factory=Counter)
    links: Counter[str] = field(default_factory=Counter)
    code: Counter[str] = field(default_factory=Counter)


def truth(body: bytes, url: str) -> Parts:
    """Read what a page has to say from its tree."""
    tree = LexborHTMLParser(to_utf8(body, None))
    base = tree.css_first("base[href]")
    root = urljoin(url, (base.attributes.get("href") or "") if base else "")
    for node in tree.css(_GONE):
        node.decompose()
    for node in tree.css(_EDGES):
        if not _is_inside(node, {"main", "article", "section"}):
            node.decompose()
    for node in tree.css("[class],[id]"):
        names = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"
        if (
            node.tag not in _WHOLE
            and not _MENUS.isdisjoint(_NAME.findall(names.lower()))
            and not node.css("h1")
        ):
            node.decompose()
    for node in tree.css("a"):
        if (node.attributes.get("href") or "").startswith("#") and node.text().strip() in _PERMALINKS:
            node.decompose()
    return _parts_of(_main(tree), root)


def _is_inside(node: LexborNode, tags: set[str]) -> bool:
    around = node.parent
    while around is not None:
        if around.tag in tags:
            return True
        around = around.parent
    return False


def _main(tree: LexborHTMLParser) -> LexborNode | None:
    for selector in ("main", "[role=main]", "article"):
        found = tree.css(selector)
        if len(found) == 1 and len(found[0].text()) > len(tree.body.text()) / 3 if tree.body else False:
            return found[0]
    return tree.body


def _parts_of(main: LexborNode | None, root: str) -> Parts:
    parts = Parts()
    if main is None:
        return parts
    for node in main.css("h1,h2,h3,h4,h5,h6"):
        if text := _folded(_text(node)):
            parts.headings[f"{node.tag} {text}"] += 1
    for node in main.css("a[href]"):
        href = (node.attributes.get("href") or "").strip()
        if (
            _folded(node.text())
            and not _is_inside(node, {"pre"})
            and not href.startswith("#")
            and urlsplit(target := _joined(root, href)).scheme in ("http", "https")
        ):
            parts.links[target] += 1
    for node in main.css("pre br"):
        node.replace_with("\n")
    for node in main.css("pre"):
        if text := _listing(node.text()):
            parts.code[text] += 1
    parts.words.update(_WORD.findall(_text(main).lower()))
    return parts


def _text(node: LexborNode) -> str:
    """Return the text of an element as a browser shows it: words end where blocks, cells and lines end."""
    inside = node.traverse(include_text=True)
    return "".join(
        (one.text_content or "") if one.tag == "-text" else "" if one.tag in _INLINE else " "
        for one in inside
    )


def _joined(root: str, href: str) -> str:
    try:
        return urljoin(root, href)
    except ValueError:
        return ""


def judge(markdown: str) -> Parts:
    """Read the same from Markdown."""
    parts = Parts()
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type in ("fence", "code_block"):
            parts.code[_listing(token.content)] += 1
            parts.words.update(_WORD.findall(token.content.lower()))
        elif token.type == "inline":
            text = "".join(_texts(token))
            parts.words.update(_WORD.findall(text.lower()))
            if before is not None and before.type == "heading_open":
                parts.headings[f"{before.tag} {_folded(text)}"] += 1
            parts.links.update(
                str(child.attrs["href"]) for child in token.children or () if child.type == "link_open"
            )
        elif token.type == "html_block":
            parts.words.update(_WORD.findall(re.sub(r"<[^>]*>", " ", token.content).lower()))
    return parts


def _texts(token: Token) -> Iterator[str]:
    for child in token.children or ():
        if child.type in ("text", "code_inline"):
            yield child.content
        elif child.type in ("softbreak", "hardbreak", "html_inline"):
            yield " "


def _folded(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _listing(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def _plain_url(url: str) -> str:
    """Compare URLs as a reader would: escapes and an empty path do not matter."""
    parts = urlsplit(url.replace("%28", "(").replace("%29", ")").replace("%20", " "))
    return parts._replace(netloc=parts.netloc.lower(), path=parts.path or "/").geturl()


# --- figures ---


@dataclass
class Figures:
    """The figures of one converter over all pages."""

    recall: list[float] = field(default_factory=list)
    precision: list[float] = field(default_factory=list)
    headings: list[int] = field(default_factory=lambda: [0, 0])
    links: list[int] = field(default_factory=lambda: [0, 0])
    code: list[int] = field(default_factory=lambda: [0, 0])
    seconds: float = 0.0
    failed: int = 0

    def add(self, want: Parts, got: Parts) -> None:
        common = (want.words & got.words).total()
        self.recall.append(common / want.words.total() if want.words else 1.0)
        self.precision.append(common / got.words.total() if got.words else 1.0)
        for figure, wanted, found in (
            (self.headings, want.headings, got.headings),
            (self.links, _spelled(want.links), _spelled(got.links)),
            (self.code, want.code, got.code),
        ):
            figure[0] += (wanted & found).total()
            figure[1] += wanted.total()

    def row(self, name: str) -> str:
        """Write one row of the table; links and headings are shares of all that the pages have."""
        pages = len(self.recall)
        shares = [
            f"{100 * have / of:.1f}" if of else "-" for have, of in (self.headings, self.links, self.code)
        ]
        low = sum(recall < 0.4 for recall in self.recall)
        return (
            f"| {name} | {100 * fmean(self.recall):.1f} | {100 * fmean(self.precision):.1f} | {' | '.join(shares)} | {low} |"
            f" {1000 * self.seconds / pages:.1f} | {self.failed} |"
        )


def _spelled(links: Counter[str]) -> Counter[str]:
    spelled: Counter[str] = Counter()
    for url, count in links.items():
        spelled[_plain_url(url)] += count
    return spelled


# --- converters ---


def _ours(body: bytes, url: str) -> str:
    return main_content(body, Url.parse(url)).markdown


def _trafilatura() -> Convert:
    extract = offered("trafilatura").extract

    def convert(body: bytes, url: str) -> str:
        return extract(body, url=url, favor_recall=True, include_links=True, output_format="markdown") or ""

    return convert


def _crawl4ai(name: str = "PruningContentFilter") -> Convert:
    """Crawl4AI with its faster scraping strategy and its default content filter, or the faster form of that."""
    config = offered("crawl4ai")
    filters = offered("crawl4ai.content_filter_strategy")
    scraper = offered("crawl4ai.content_scraping_strategy").LXMLWebScrapingStrategy()
    generator = config.DefaultMarkdownGenerator(content_filter=getattr(filters, name)())

    def convert(body: bytes, url: str) -> str:
        html = to_utf8(body, None).decode("utf-8", "replace")
        cleaned = scraper.scrap(url, html).cleaned_html or ""
        made = generator.generate_markdown(cleaned, base_url=url, citations=False)
        return str(made.fit_markdown or made.raw_markdown or "")

    return convert


CONVERTERS: dict[str, Callable[[], Convert]] = {
    "honeyguide": lambda: _ours,
    "trafilatura, recall settings": _trafilatura,
    "Crawl4AI fit_markdown": _crawl4ai,
    "Crawl4AI fit_markdown, LXML filter": lambda: _crawl4ai("PruningContentFilterLXML"),
}


def measure(
    pages: Iterable[tuple[Path, bytes]], names: Iterable[str], *, is_verbose: bool = False
) -> dict[str, Figures]:
    """Judge converters on pages."""
    converters = {name: CONVERTERS[name]() for name in names}
    figures = {name: Figures() for name in converters}
    for path, body in pages:
        url = f"https://pages.example/{path.name}"
        want = truth(body, url)
        for name, convert in converters.items():
            start = time.process_time()
            try:
                markdown = convert(body, url)
            except Exception:  # noqa: BLE001 - a peer may raise anything; that is a figure, too
                markdown = ""
                figures[name].failed += 1
            figures[name].seconds += time.process_time() - start
            figures[name].add(want, judge(markdown))
            if is_verbose:
                _show(path, name, figures[name], want, judge(markdown))
    return figures


def _show(path: Path, name: str, figures: Figures, want: Parts, got: Parts) -> None:
    print(
        f"{path} {name}: recall {figures.recall[-1]:.3f} precision {figures.precision[-1]:.3f}",
        file=sys.stderr,
    )
    for what in ("headings", "links", "code"):
        missing = getattr(want, what) - getattr(got, what)
        if missing:
            print(f"  {what} missing {missing.total()}: {str(list(missing)[:3])[:300]}", file=sys.stderr)
    lost = want.words - got.words
    more = got.words - want.words
    print(f"  lost {lost.total()} {list(lost)[:12]}  more {more.total()} {list(more)[:12]}", file=sys.stderr)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.content", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, help="folders of HTML pages")
    parser.add_argument("--peers", action="store_true", help="judge trafilatura and Crawl4AI, too")
    parser.add_argument("--verbose", action="store_true", help="say for each page what is missing")
    asked = parser.parse_args()
    files = sorted(file for folder in asked.folders for file in folder.rglob("*.htm*"))
    pages = [(file, file.read_bytes()) for file in files]
    names = list(CONVERTERS) if asked.peers else ["honeyguide"]
    figures = measure(pages, names, is_verbose=asked.verbose)
    print(f"{len(pages)} pages\n")
    print(
        "| converter | word recall | precision | headings with level | links | code exact | pages under 40 % recall | CPU ms a page | failed |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name in names:
        print(figures[name].row(name))


if __name__ == "__main__":
    main()
