"""Folding text, cutting it into words, and finding phrases and keywords in it. Start reading at `fold`.

Must not know: rules, pages. Folding makes matching case-blind with plain substring tests. It is chosen so that a literal
term and the same term as a pattern of the regex engine agree: one character folds to at most one character.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

EVIDENCE_CHARS = 60  # on either side of a keyword: with it, a line of a terminal
_NUMBERS = re.compile(r"\d+")
HALF = re.compile("[\ud800-\udfff]")  # half a character: from bytes that are not UTF-8, or escapes in JSON
# Characters that a case-blind match of the regex engine takes for one letter, but lower() keeps apart.
_ONE_LETTER = {
    "ſ": "s", "ς": "σ", "µ": "μ", "ϐ": "β", "ϑ": "θ", "ϕ": "φ", "ϖ": "π", "ϰ": "κ", "ϱ": "ρ", "ϵ": "ε",
    "ẛ": "ṡ", "ͅ": "ι", "ι": "ι",
}  # fmt: skip
# Dashes that look like one: "service‑area" with a non-breaking hyphen is "service-area" to a reader.
_DASHES = "‐‑‒–—―−﹘﹣－"
# Invisible format characters: they split words for a machine, but not for a reader.
_INVISIBLE = "\xad\u061c\u180e\ufeff" + "".join(
    map(chr, [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)])
)
_REPLACED = {**_ONE_LETTER, **dict.fromkeys(_DASHES, "-"), **dict.fromkeys(_INVISIBLE, "")}
_FOLDED = re.compile(f"[{re.escape(''.join(_REPLACED))}]")  # str.translate is slow

# A word is a run of letters and digits; each Chinese, Japanese or Korean character is a word of its own.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_ASCII_WORDS = bytes(
    ord(chr(code).lower()) if chr(code).isalnum() and code < 128 else 32 for code in range(256)
)
# Most text consists of these, and of a few characters that fold without regard to their neighbours.
_PRINTED = bytes(range(32, 127)) + b"\n"
_ORDINARY = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ\n", b"abcdefghijklmnopqrstuvwxyz ")
_LINES = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz")
_JOINING = frozenset(map(chr, range(0x1100, 0x1200)))  # the parts of Korean syllables
_REMEMBERED = 10_000  # characters
_LONG = 500  # characters: from here on the fast way pays for plain ASCII, too
_MANY_REPLACED = 64  # different characters that the fast way replaces: each is one pass over the text
# Sorting marks is quadratic in the length of a run of them. The class is wider than marks, because `re` has none for them:
# no letters, digits, spaces or ASCII.
MAX_RUN = 32  # marks in a row; real text has at most five, and Unicode's own format for streams allows 30
_RUN = re.compile(rf"[^\w\s\x00-\x7f]{{{MAX_RUN + 1},}}")
_RUN_IN_SAMPLE = re.compile(r"[^\w\s\x00-\x7f]{2}")
_NARROW_MARKS = {"\uff9e": "\u3099", "\uff9f": "\u309a"}  # letters by their class, marks by their normal form


def fold(text: str) -> str:
    r"""Fold case, width, dashes, invisible characters and whitespace.

    >>> fold("  SERVICE\u00a0Area\u200b ")
    'service area'
    """
    if (len(text) > _LONG or not text.isascii()) and (quick := _fold_ordinary(text)) is not None:
        return quick
    folded = fold_case(text)
    # Of all white space only the space is printable; most text from pages has single spaces only.
    if folded.isprintable() and "  " not in folded and folded.strip(" ") == folded:
        return folded
    return " ".join(folded.split())


def fold_lines(texts: Sequence[str]) -> str:
    r"""Fold many texts at once, each as `fold` does, to one line each.

    >>> fold_lines(["Fire Alarms", "", " Über\tuns"])
    'fire alarms\n\nüber uns'
    """
    whole = "\n".join(texts)
    if whole.count("\n") == len(texts) - 1 and (folded := _fold_ordinary(whole, _LINES)) is not None:
        return folded
    return "\n".join(map(fold, texts))


def fold_words(texts: Sequence[str]) -> str:
    """Fold texts to one line each, to be cut into words: the white space of ASCII texts may stay."""
    whole = "\n".join(texts)
    is_plain = whole.isascii() and whole.count("\n") == len(texts) - 1
    return whole.lower() if is_plain else fold_lines(texts)


def _fold_ordinary(text: str, table: bytes = _ORDINARY) -> str | None:
    """Fold text with single spaces and line ends as bytes, several times as fast; None if it needs the slow way."""
    data = text.encode("utf-8", "surrogatepass")
    folded = data.translate(table)
    if b"  " in folded or folded[:1] == b" " or folded[-1:] == b" ":
        return None
    if table is _LINES and (b"\n " in folded or b" \n" in folded):
        return None
    whole = folded.decode("utf-8", "surrogatepass")
    replaced = 0
    for char in set(data.translate(None, _PRINTED).decode("utf-8", "surrogatepass")):
        to = _ALONE[char]
        if to is None or replaced > _MANY_REPLACED:
            return None
        if to != char:
            whole = whole.replace(char, to)
            replaced += 1
    return whole


class _Alone(dict[str, str | None]):
    """What a character folds to if its neighbours do not matter; None for others, such as accents and spaces."""

    def __missing__(self, char: str) -> str | None:
        if len(self) >= _REMEMBERED:
            self.clear()
        folded = "" if char < " " or "\ud800" <= char <= "\udfff" else fold_case(char)
        first = unicodedata.normalize("NFKC", char)[0]
        is_alone = folded.isprintable() and folded.split() == [folded] and first not in _JOINING
        self[char] = to = folded if is_alone and unicodedata.category(first)[0] != "M" else None
        return to


_ALONE = _Alone()


def fold_case(text: str) -> str:
    """Fold case, width, dashes and invisible characters, but no white space."""
    if text.isascii():
        return text.lower()
    if "\n" in text:  # lines fold independently, and most are ASCII
        return "\n".join([line.lower() if line.isascii() else fold_case(line) for line in text.split("\n")])
    lower = compose(text).replace("İ", "i").lower()
    return _FOLDED.sub(lambda match: _REPLACED[match[0]], lower)


def compose(text: str, form: Literal["NFKC", "NFD"] = "NFKC") -> str:
    """Normalise text by Unicode's rules; of marks in a row the first `MAX_RUN` stay, so that it takes linear time."""
    if len(text) > MAX_RUN:
        if form == "NFKC":
            for narrow, mark in _NARROW_MARKS.items():
                text = text.replace(narrow, mark)
        # Of a run that is too long, two neighbours are in the sample; most text needs no closer look.
        if _RUN_IN_SAMPLE.search(text[:: MAX_RUN // 2]):
            text = _RUN.sub(_cut_run, text)
    return unicodedata.normalize(form, text)


def _cut_run(run: re.Match[str]) -> str:
    """Drop marks beyond the limit; other characters of a run, such as dashes, stay."""
    kept, marks = [], 0
    for char in run[0]:
        marks = marks + 1 if unicodedata.category(char)[0] == "M" else 0
        if marks <= MAX_RUN:
            kept.append(char)
    return "".join(kept)


def tokens(folded: str) -> list[str]:
    """Cut folded text into words without an English plural s, so that `alarms` matches `alarm`."""
    return [singular(word) for word in raw_words(folded)]


def raw_words(folded: str) -> list[str]:
    """Cut folded text into words as they are."""
    return _word().findall(folded)


@cache
def _word() -> re.Pattern[str]:  # on first use, because compiling it takes some milliseconds
    return re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")


def ascii_words(text: str) -> list[bytes]:
    """Fold ASCII text and cut it into the same words, as bytes: several times as fast."""
    return text.encode().translate(_ASCII_WORDS).split()


def find_phrase(phrases: Iterable[str], text: str) -> str | None:
    """Return the first of some folded phrases that a text has as whole words.

    A number counts if it is the only one, comes first, or is called an error.

    >>> [find_phrase(["404"], text) for text in ("Error 404 | 24/7", "Acme (404) 555-0199", "404: Not found")]
    ['404', None, '404']
    """
    folded = fold(text)
    return next((phrase for phrase in phrases if phrase in folded and _stands_alone(phrase, folded)), None)


def _stands_alone(phrase: str, folded: str) -> bool:
    if not phrase.isdigit():  # other scripts write words without spaces
        return re.search(rf"(?<![a-z0-9]){re.escape(phrase)}(?![a-z0-9])", folded) is not None
    if set(_NUMBERS.findall(folded)) == {phrase}:
        return True
    return re.search(rf"(?:^|(?:error|erreur|fehler|errore|oops|http)\W*){phrase}(?!\w)", folded) is not None


def singular(word: str) -> str:
    """Drop a plural s; `gas` and `access` keep theirs."""
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word


class KeywordMatch(NamedTuple):
    """A keyword as the profile writes it, and the text around its first place."""

    keyword: str
    text: str


def find_keywords(text: str, keywords: Sequence[str], width: int = EVIDENCE_CHARS) -> list[KeywordMatch]:
    """Find each keyword and its first evidence, as rules find terms: case-blind, also inside of words.

    >>> find_keywords("We test alarms. We install Sprinkler systems in hotels.", ["sprinkler", "foam"], width=12)
    [KeywordMatch(keyword='sprinkler', text='… We install Sprinkler systems in …')]
    """
    shown = _plain(text)
    folded = fold_case(shown)
    if len(folded) != len(shown):  # a letter folds to two: positions agree only in the folded text
        shown = folded
    found = []
    for keyword in dict.fromkeys(keywords):
        sought = fold(keyword)
        place = folded.find(sought) if sought else -1
        if place >= 0:
            found.append(KeywordMatch(keyword, _around(shown, place, place + len(sought), width)))
    return found


def _plain(text: str) -> str:
    """Fold everything but case: the text stays readable, and its positions are those of the folded text."""
    if not text.isascii():
        hidden = {ord(char): None for char in set(text) if not fold_case(char)}
        text = compose(text.translate(hidden))
    return " ".join(text.split())


def _around(text: str, start: int, end: int, width: int) -> str:
    """Cut at word boundaries, about `width` characters before and after; dots show where text is left out."""
    reach = width + EVIDENCE_CHARS + 1
    before = _cut(text[max(start - reach, 0) : start][::-1], width)[::-1]
    after = _cut(text[end : end + reach], width)
    shown = f"{before}{text[start:end]}{after}".strip()
    return f"{'… ' if len(before) < start else ''}{shown}{' …' if end + len(after) < len(text) else ''}"


def _cut(text: str, width: int) -> str:
    """Cut a text at the last space within the width, else at the next one or, as in Chinese, anywhere."""
    if len(text) <= width or text[width] == " ":
        return text[:width]
    space = text.rfind(" ", 0, width)
    if space < 0:
        space = text.find(" ", width, width + EVIDENCE_CHARS)
    if space < 0:
        return text if len(text) <= width + EVIDENCE_CHARS else text[:width]
    return text[:space]
