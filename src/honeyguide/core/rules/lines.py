"""Facts of many links at once, for a fraction of what they cost one by one. Start reading at `PageLines` and `describe_links`.

Each fact is defined in `facts.py`; property tests compare the two. Must not know: which rules exist.
"""

from __future__ import annotations

from functools import partial
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.core.rules.facts import FILL, JOIN, SPACES, Facts, label_of, stem_of, words_only
from honeyguide.core.text.fold import fold_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from honeyguide.core.page.page import Link

_WORDS = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) != "\n"} | str.maketrans(
    ascii_uppercase, ascii_lowercase
)


class Lines(NamedTuple):
    """The texts of one fact of many links, a line each; `owners` gives the place of the link that each belongs to."""

    text: str
    owners: Callable[[], Sequence[int]]


class PageLines(dict[str, Lines]):
    """The texts of the facts of many links, heads aside; each fact is made for all links when a card first reads it.

    A text may come twice or be empty, which the fact itself leaves out: no test tells the difference.
    """

    def __init__(self, links: Sequence[Link]) -> None:
        self.links = links

    def __missing__(self, field: str) -> Lines:
        if field in _LINES:
            self[field] = lines = _LINES[field](self)
            return lines
        fill = FILL[field]
        parts = [str(fill(link, None)).split(JOIN) for link in self.links]
        self[field] = lines = Lines("\n".join(map("\n".join, parts)), partial(_owners, parts))
        return lines


def _owners(texts: Iterable[Sequence[object]]) -> list[int]:
    return [place for place, one in enumerate(texts) for _ in one]


def _url_lines(page: PageLines) -> Lines:
    links = page.links
    text = "\n".join([link.url.text for link in links])
    text = "\n".join([str(FILL["url"](link, None)) for link in links]) if "%" in text else text.lower()
    return Lines(text, partial(range, len(links)))


def _target_lines(page: PageLines) -> Lines:
    text = "\n".join([(text := link.url.text)[text.index("/", 8) :] for link in page.links])
    return Lines(text.lower(), partial(range, len(page.links)))


def _path_lines(page: PageLines) -> Lines:
    text, owners = page["target"]
    if "?" in text:
        text = "\n".join([target.partition("?")[0] for target in text.split("\n")])
    return Lines(text, owners)


def _anchor_lines(page: PageLines) -> Lines:
    seen = [link.seen for link in page.links]
    return Lines(fold_lines([anchor for one in seen for anchor, _ in one]), partial(_owners, seen))


def _title_lines(page: PageLines) -> Lines:
    seen = [link.occurrences for link in page.links]
    return Lines(fold_lines([occurrence.title for one in seen for occurrence in one]), partial(_owners, seen))


def _context_lines(page: PageLines) -> Lines:
    seen = [link.occurrences for link in page.links]
    return Lines(
        fold_lines([occurrence.context for one in seen for occurrence in one]), partial(_owners, seen)
    )


_LINES: dict[str, Callable[[PageLines], Lines]] = {
    "url": _url_lines,
    "path": _path_lines,
    "target": _target_lines,
    "anchor": _anchor_lines,
    "title": _title_lines,
    "context": _context_lines,
}


class PageWords(dict[str, str]):
    """The words of the texts of one page (`words_only`), each text cut once."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        plain = [text for text in dict.fromkeys(texts) if text.isascii() and "%" not in text]
        lines = "\n".join(plain).translate(_WORDS).split("\n")
        if len(lines) == len(plain):
            self.update(zip(plain, [" ".join(line.split()) for line in lines], strict=True))

    def __missing__(self, text: str) -> str:
        self[text] = words = words_only(text)
        return words


def describe_links(links: Sequence[Link]) -> tuple[list[Facts], PageWords]:
    """Return the facts of links that nearly every selection reads, and the words of their anchor texts."""
    rows, lines = list(map(Facts, links)), PageLines(links)
    _add_addresses(rows, lines["target"].text)
    words = PageWords([anchor for link in links for anchor, _ in link.seen])
    folded, at = lines["anchor"].text.split("\n"), 0
    for row, link in zip(rows, links, strict=True):
        seen = link.seen
        end = at + len(seen)
        if end - at == 1:
            row["anchor"], row["label"] = folded[at], label_of(words[seen[0][0]])
        else:
            row["anchor"] = JOIN.join(dict.fromkeys([line for line in folded[at:end] if line]))
            row["label"] = JOIN.join(dict.fromkeys([label_of(words[anchor]) for anchor, _ in seen]))
        at = end
    return rows, words


def _add_addresses(rows: Sequence[Facts], text: str) -> None:
    """Add the facts of ordinary addresses; those of others, such as with escapes, are computed on first use."""
    if not text.isascii() or not text.replace("\n", "").isprintable() or text.count("\n") != len(rows) - 1:
        return
    for row, target, spaced in zip(rows, text.split("\n"), text.translate(SPACES).split("\n"), strict=True):
        path, _, query = target.partition("?")
        row["target"], row["path"], row["has_query"] = target, path, query != ""
        folder, _, last = path.rpartition("/")
        if "%" in path or ";" in path or "//" in path or "." in folder or (folder and not last):
            continue
        shown = spaced[: len(path)]
        row["plain_path"] = shown = " ".join(shown.split()) if "  " in shown or shown[-1] == " " else shown
        names = [name.strip() for name in shown.split("/")][1:] if last else []
        if "." in last:
            names[-1] = stem_of(last)
        row["path_length"], row["segment"] = float(len(names)), names[0] if names else ""
        if names and names[-1] == "index":
            del names[-1]  # an index file is named by its folder
        slug = names.pop() if names else ""
        row["slug"], row["slug_words"] = slug, slug.count(" ") + 1.0 if slug else 0.0
        row["folders"] = JOIN.join(names)
