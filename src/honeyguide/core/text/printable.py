"""Making text from strangers safe to show, and writing numbers for people.

Must not know: where the text goes. Start reading at `printable`, for people; `escaped` is for JSON, where no character
may be lost.
"""

from __future__ import annotations

import re
import unicodedata
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


Number = TypeVar("Number", float, float | None)
MAX_MARKS = 6  # on one letter: no script needs more, and a hundred would cover the lines around it
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # invisible letters
# Invisible marks. U+FE0E and U+FE0F are not among them: they choose how a character looks.
_HIDDEN_MARKS = frozenset("\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f").union(
    map(chr, range(0xFE00, 0xFE0E)), map(chr, range(0xE0100, 0xE01F0))
)
# Characters that JSON allows, but that a terminal obeys, an editor takes for a new line, nobody sees, or no file can
# hold; listed here, because Python versions have different versions of Unicode.
_UNSAFE = re.compile(
    "[\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ud800-\udfff\ufe00-\ufe0d\ufeff\ufff0-\uffff\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def printable(text: str) -> str:
    r"""Make text safe for a terminal: no escapes, no line breaks, nothing that turns, hides or piles up letters.

    >>> printable("a\tb\x1b[31m \u202ec")
    'a b\\x1b[31m c'
    """
    return text if text.isascii() and text.isprintable() else "".join(_visible(text, _escape))


def legible(text: str) -> str:
    """Make text safe as `printable` does, but drop characters that cannot be shown instead of escaping them."""
    return text if text.isascii() and text.isprintable() else "".join(_visible(text, lambda _: ""))


def html_table(header: Iterable[str], rows: Iterable[Iterable[object]], caption: str = "") -> str:
    """Write a table as HTML for notebooks; text from strangers is shown as text.

    >>> html_table(("URL",), [("<b>",)])
    '<table><tr><th>URL</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """

    def line(cells: Iterable[object], tag: str) -> str:
        texts = ("" if cell is None else escape(legible(str(cell))) for cell in cells)
        return "<tr>" + "".join(f"<{tag}>{text}</{tag}>" for text in texts) + "</tr>"

    named = f"<caption>{escape(legible(caption))}</caption>" if caption else ""
    return f"<table>{named}{line(header, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"


def _visible(text: str, replace: Callable[[str], str]) -> Iterator[str]:
    marks = 0
    for char in text:
        marks = marks + 1 if char >= "\u0300" and unicodedata.category(char) in ("Mn", "Me") else 0
        if marks > MAX_MARKS or char in _HIDDEN_MARKS:
            continue
        if char in _BLANK or (char.isspace() and char not in "\x1c\x1d\x1e\x1f\x85"):
            yield " "
        else:
            yield char if char.isprintable() else replace(char)


def _escape(char: str) -> str:
    return "" if unicodedata.category(char) == "Cf" else ascii(char)[1:-1]


def escaped(json: str, *, pairs: bool = True) -> str:
    """Escape unsafe characters in JSON; a JSON reader gets the same values.

    Characters beyond U+FFFF become two escapes, unless `pairs` is false: only JSON reads two as one character.
    """
    if json.isascii() and "\x7f" not in json:
        return json  # most records, and a search costs more than writing them

    def escape(match: re.Match[str]) -> str:
        code = ord(match[0])
        if code < 0x10000:
            return f"\\u{code:04x}"
        return f"\\u{0xD7C0 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}" if pairs else match[0]

    return _UNSAFE.sub(escape, json)


def is_deeper(value: Any, most: int) -> bool:
    """Return whether lists and tables are nested deeper than `most`."""
    level = [value]
    for _ in range(most + 1):
        inner = [part for part in level if isinstance(part, dict | list)]
        if not inner:
            return False
        level = [item for part in inner for item in (part.values() if isinstance(part, dict) else part)]
    return True


def tidy(number: Number) -> Number:
    """Write 94.0 as 94."""
    return int(number) if number is not None and number == int(number) else number


def rounded(value: float | None) -> float | None:
    """Keep four decimals of a share in a record: what follows them is the processor's."""
    return None if value is None else round(value, 4)


def number(value: float | None) -> str:
    """Write a number for people, with at most three decimals; a dash stands for an unknown one."""
    return "-" if value is None else str(tidy(round(value, 3)))


def points(value: float) -> str:
    """Write the points of a rule: `+80`, `-5`, `+0`."""
    return number(value) if value < 0 else f"+{number(value)}"


_UNITS = ((8760.0, "year"), (24.0, "day"), (1.0, "hour"), (1 / 60, "minute"), (1 / 3600, "second"))
_WHOLE = {"60 seconds": "1 minute", "60 minutes": "1 hour", "24 hours": "1 day", "365 days": "1 year"}


def duration(hours: float) -> str:
    """Write a duration to two digits; what rounds to a whole larger unit is written in that unit.

    >>> duration(40.8), duration(72.0), duration(0.5), duration(1.0), duration(0.005), duration(23.8)
    ('1.7 days', '3 days', '30 minutes', '1 hour', '18 seconds', '1 day')
    """
    size, unit = next((item for item in _UNITS if hours >= item[0]), _UNITS[-1])
    number = amount(hours / size)
    text = f"{number} {unit}" if number == "1" else f"{number} {unit}s"
    return _WHOLE.get(text, text)


def every(hours: float) -> str:
    """Write how often something happens: `every day`, `every 3 days`."""
    return f"every {duration(hours).removeprefix('1 ')}"


def amount(number: float) -> str:
    """Write a number to two digits, or more if it has more before the point."""
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}".removesuffix(".0")


def percent(share: float) -> str:
    """Write a share in percent; 0 % is only written for nothing at all."""
    return "less than 1 %" if 0.0 < share < 0.005 else f"{100 * share:.0f} %"
