"""Text that lies, and what it must have become wherever a person reads it."""

from __future__ import annotations

import re

from click.testing import Result

from honeyguide.core.text.printable import MAX_MARKS

ESCAPES = {
    "colour": "\x1b[31mred\x1b[0m",
    "title": "\x1b]0;your password?\x07",
    "link": "\x1b]8;;https://evil.example/\x1b\\click\x1b]8;;\x1b\\",
    "clear": "\x1b[2J\x1b[H\x1bc",
    "c1": "\x9b31m\x9d0;x\x9c\x90q\x9c",
    "overwrite": "innocent\rgulity!\x08\x08",
    "lines": "a\nError: all is well\x85b\u2028c\u2029d\x0be\x0cf",
    "override": "\u202egnp.exe\u202c",
    "isolate": "\u2066a\u2069\u2067b\u2069\u2068c\u2069\u061c\u200e\u200f",
    "hidden": "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg\U000e0041\U000e0042",
    "selectors": "a\ufe00\ufe01\U000e0100\U000e0101",
    "marks": "z" + "\u0300\u0489\u20dd" * 30,
    "blank": "a\u3164\u115f\u2800\uffa0b",
    "nul": "a\x00b\x7fc",
    "half": "a\ud800b\udfffc",
    "markup": "[red]a[/red] [link=https://evil.example]b[/link] [/] :smile: [bold",
}
SHOWN_BLANK = set("\u115f\u1160\u2800\u3164\uffa0\u034f")

ALL = "".join(text for name, text in ESCAPES.items() if name not in ("lines", "half"))
HTML = ALL.replace("<", "").replace('"', "")


def check(text: str) -> None:
    """What a person looks at: lines, and nothing in them that is not simply there to be read."""
    for char in text.replace("\n", ""):
        assert char.isprintable(), ascii(char)
        assert char not in SHOWN_BLANK, ascii(char)
    for run in re.findall("[\u0300-\u036f\u0483-\u0489\u20d0-\u20f0]+", text):
        assert len(run) <= MAX_MARKS


def check_data(text: str) -> None:
    """What a program reads, and a person may look at: everything is there, as letters or as escapes."""
    assert all(char.isprintable() for char in text.replace("\n", ""))
    assert text.split("\n") == [*text.splitlines(), ""]


def check_as(kind: str, result: Result) -> None:
    assert not isinstance(result.exception, Exception)
    assert result.output
    check(result.stderr)
    (check_data if kind == "jsonl" and result.stdout else check)(result.stdout)


def check_name(name: str) -> None:
    parts = name.split("/")
    assert name.isascii()
    assert name.isprintable()
    assert len(name) <= 200
    for part in parts:
        assert part not in ("", ".", "..")
        assert part[0] not in ".-"
        assert part[-1] not in ". "
        assert len(part) <= 100
        assert not set(part) & set('<>:"\\|?*\x00')
        assert not re.fullmatch(r"(?i)(con|prn|aux|nul|conin\$|conout\$|com\d|lpt\d)(\..*)?", part)
