"""Text, folded and cut into words once, on entry.

Owns: `fold`, `tokens`, `first_said`, `HALF`. Must not know: rules, pages.
Folding makes matching case-blind with plain substring tests, and it is chosen so that a literal term and the same
term as a pattern in the regex engine agree (`core.pattern`): one character folds to at most one character.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


_NUMBERS = re.compile(r"\d+")
HALF = re.compile("[\ud800-\udfff]")  # half a character: from bytes that are no UTF-8, or escapes in JSON
# Characters that the regex engine takes for one letter in a case-blind match, but which lower() keeps apart.
_ONE_LETTER = {
    "ſ": "s", "ς": "σ", "µ": "μ", "ϐ": "β", "ϑ": "θ", "ϕ": "φ", "ϖ": "π", "ϰ": "κ", "ϱ": "ρ", "ϵ": "ε",
    "ẛ": "ṡ", "ͅ": "ι", "ι": "ι",
}  # fmt: skip
# Dashes that look like one: "service‑area" with a non-breaking hyphen is "service-area" to a reader.
_DASHES = "‐‑‒–—―−﹘﹣－"
# Invisible format characters: they split words for a machine and for nobody else.
_INVISIBLE = (
    0x00AD,
    0x061C,
    0x180E,
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
)


_FOLD = str.maketrans(
    {**_ONE_LETTER, **dict.fromkeys(_DASHES, "-"), **{chr(code): None for code in _INVISIBLE}}
)


_REPLACED = {chr(code): to or "" for code, to in _FOLD.items()}
_FOLDED = re.compile(f"[{re.escape(''.join(map(chr, _FOLD)))}]")  # translating character by character is slow


# A word is a run of letters and digits; each Chinese, Japanese or Korean character is a word of its own.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_ASCII_WORDS = bytes(
    ord(chr(code).lower()) if chr(code).isalnum() and code < 128 else 32 for code in range(256)
)


# Most text has none but these, and a few characters that change by themselves.
_PRINTED = bytes(range(32, 127)) + b"\n"
_ORDINARY = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ\n", b"abcdefghijklmnopqrstuvwxyz ")
_JOINING = frozenset(map(chr, range(0x1100, 0x1200)))  # the parts of Korean syllables
_REMEMBERED = 10_000  # characters
_LONG = 500  # characters from which on this pays for plain ASCII, too


def fold(text: str) -> str:
    r"""Fold case, width, dashes, invisible characters and whitespace.

    >>> fold("  SERVICE\u00a0Area\u200b ")
    'service area'
    """
    if (len(text) > _LONG or not text.isascii()) and (quick := _fold_ordinary(text)) is not None:
        return quick
    folded = fold_case(text)
    # Of all white space only the space is printable. Most text from pages has nothing but single spaces inside.
    if folded.isprintable() and "  " not in folded and folded.strip(" ") == folded:
        return folded
    return " ".join(folded.split())


def _fold_ordinary(text: str) -> str | None:
    """Fold text with single spaces and line ends, as bytes: several times as fast; None leaves it to the slow way."""
    data = text.encode("utf-8", "surrogatepass")
    folded = data.translate(_ORDINARY)
    if b"  " in folded or folded[:1] == b" " or folded[-1:] == b" ":
        return None
    odd = [
        (char, _ALONE[char]) for char in set(data.translate(None, _PRINTED).decode("utf-8", "surrogatepass"))
    ]
    whole = folded.decode("utf-8", "surrogatepass")
    for char, to in odd:
        if to is None:
            return None
        if to != char:
            whole = whole.replace(char, to)
    return whole


class _Alone(dict[str, str | None]):
    """What characters fold to whose neighbours have no say in that; None for all others, such as accents and spaces."""

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
    """Fold case, width, dashes and invisible characters, but keep whitespace as it is.

    >>> fold_case("İSTANBUL ﬁre‑alarm")
    'istanbul fire-alarm'
    """
    if text.isascii():
        return text.lower()
    if "\n" in text:  # no character changes with those on another line, and most lines are ASCII
        return "\n".join([line.lower() if line.isascii() else fold_case(line) for line in text.split("\n")])
    lower = unicodedata.normalize("NFKC", text).replace("İ", "i").lower()
    return _FOLDED.sub(lambda match: _REPLACED[match[0]], lower)


def tokens(folded: str) -> list[str]:
    """Cut folded text into words, an English plural s dropped, so that `alarms` meets `alarm`.

    >>> tokens("fire alarms & access-control")
    ['fire', 'alarm', 'access', 'control']
    """
    return [singular(word) for word in raw_words(folded)]


def raw_words(folded: str) -> list[str]:
    """Cut folded text into words as they are."""
    return _word().findall(folded)


@cache
def _word() -> re.Pattern[str]:
    """Compile what a word is when one is first asked for: it takes some milliseconds."""
    return re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")


def ascii_words(text: str) -> list[bytes]:
    """Fold ASCII text and cut it into the same words, as bytes: several times as fast, and much text is ASCII."""
    return text.encode().translate(_ASCII_WORDS).split()


def first_said(phrases: Iterable[str], text: str) -> str | None:
    """Find the first of some folded phrases that a text says, as whole words.

    A number counts where it is the only one, or comes first, or is called an error.

    >>> [first_said(["404", "not found"], text) for text in ("Error 404 | 24/7", "Acme (404) 555-0199", "404: Not found")]
    ['404', None, '404']
    """
    folded = fold(text)
    for phrase in phrases:
        if phrase not in folded:
            continue
        if phrase.isdigit():
            if set(_NUMBERS.findall(folded)) == {phrase} or _is_named(phrase, folded):
                return phrase
        elif _stands_in(phrase, folded):
            return phrase
    return None


def _is_named(number: str, folded: str) -> bool:
    """Tell whether a text begins with a number, or says what it is the number of, whatever other numbers it has."""
    return re.search(rf"(?:^|(?:error|erreur|fehler|errore|oops|http)\W*){number}(?!\w)", folded) is not None


def _stands_in(phrase: str, folded: str) -> bool:
    """Tell whether a phrase stands in a text with no letter or digit of ASCII right beside it."""
    at = folded.find(phrase)
    while at >= 0:
        around = folded[at - 1 : at] + folded[at + len(phrase) : at + len(phrase) + 1]
        if not any(char.isascii() and char.isalnum() for char in around):
            return True
        at = folded.find(phrase, at + 1)
    return False


def singular(word: str) -> str:
    """Drop a plural s; `gas` and `access` keep theirs."""
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word
