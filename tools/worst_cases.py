"""Measure the worst input that is known for every library call on a stranger's text, at the limit of its size.

    python tools/worst_cases.py [NAME...]

Prints the table of SECURITY.md: what is called, for what, its bound, the worst of the inputs tried here, and its seconds
of CPU. A row that takes longer than `SLOW_S` makes the exit code 1. To add an input, add it to its row below.
"""

from __future__ import annotations

import json
import random
import sys
import time
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from honeyguide.adapters.files.markdown import parse_markdown_links
from honeyguide.adapters.files.rows import csv_rows, parse_object
from honeyguide.adapters.html.charset import to_utf8
from honeyguide.adapters.html.content import main_content
from honeyguide.adapters.html.page import parse_page
from honeyguide.adapters.html.sitemaps import read_sitemap
from honeyguide.adapters.http.robots import read_robots
from honeyguide.config.files import parse as parse_profile
from honeyguide.core.page.likeness import page_text, sketch_of
from honeyguide.core.rules.facts import plain
from honeyguide.core.text.fold import find_keywords, fold
from honeyguide.core.text.pattern import compile_pattern
from honeyguide.core.text.printable import escaped, printable
from honeyguide.core.url.url import Url
from honeyguide.errors import HoneyguideError

if TYPE_CHECKING:
    from collections.abc import Callable

SLOW_S = 10.0
MB = 1 << 20
URL = Url.parse("https://a.example/")
RANDOM = random.Random(1)  # noqa: S311 - the same inputs every time


class Row(NamedTuple):
    """A call, what it is for, the bound in words, what calls it, and the inputs by name."""

    call: str
    use: str
    bound: str
    read: Callable[[str], object]
    inputs: dict[str, str]


def fill(piece: str, size: int, start: str = "") -> str:
    """Repeat a piece up to a size in bytes of UTF-8."""
    return start + piece * ((size - len(start)) // len(piece.encode()))


def repeated(pieces: str, size: int) -> dict[str, str]:
    """Make one input of each piece, separated by bars."""
    return {f"`{piece}`": fill(piece, size) for piece in pieces.split("|")}


def chars(code: int, last: int) -> str:
    """List the characters of a range, without halves of pairs."""
    return "".join(chr(n) for n in range(code, last) if not 0xD800 <= n <= 0xDFFF)


TEXT = {
    "`á̱` for ever": "a" + "\u0301\u0323" * 500_000,
    "30 marks on each letter": ("a" + "\u0301\u0323" * 15) * 32_000,
    "narrow voicing marks": "a" + "\uff9e\u0301" * 500_000,
    "every letter of Unicode": ("x" + chars(0xA1, 0x110000))[:1_000_000],
    "capitals of all scripts": (chars(0x391, 0x556) + chars(0x10A0, 0x10C6) + chars(0xFF21, 0xFF3B)) * 1_700,
    "letters that become eighteen": "\ufdfa" * 1_000_000,
    "capital sigmas": "Σ" * 1_000_000,
    "spaces": "é " * 500_000,
}
PATTERNS = {
    "`a.{160}!`": ("a.{160}!", "ab"),
    "`(?:a?b?){350}!`": ("(?:a?b?){350}!", "ab"),
    "`(?:.?){160}!`": ("(?:.?){160}!", "ab"),
    "`aaa…!?b`, 1,400 letters": ("a" * 1_400 + "!?b", "a"),
    "`(?:接.{0,80}){2}!`": ("(?:接.{0,80}){2}!", "接続"),
    "35 words that share 10 letters": ("|".join("a" * 10 + chr(98 + n) for n in range(35)), "a"),
    "450 words": ("\\b(?:" + "|".join(f"word{n}" for n in range(450)) + ")s?\\b", "word"),
}
RANDOM_TEXTS = {
    letters: "".join(RANDOM.choices(letters, k=1_000_000))
    for letters in dict.fromkeys(letters for _, letters in PATTERNS.values())
}


def search(case: str) -> None:
    """Search and count; a pattern that is refused costs nothing."""
    pattern, letters = PATTERNS[case]
    text = RANDOM_TEXTS[letters]
    with suppress(HoneyguideError):
        compiled = compile_pattern(pattern)
        compiled.search(text)
        compiled.count(text)


def hosts(label: str, count: int) -> str:
    """Link many international hosts from one page."""
    return "".join(f"<a href=//{chr(0x4E00 + n)}{label}.example/>x</a>" for n in range(count))


def ask_robots(text: str) -> None:
    """Read a robots.txt and ask it about many URLs."""
    rules = read_robots(text.encode())
    for n in range(1_000):
        rules.allows(Url.parse(f"https://a.example/{'a' * (n % 200)}?b={n}"))


MARKUP = (
    "<p>a|<h2>a</h2>|<div>|<div>a</div>|<font>|<b><p>|<a href=/a>b</a>|<a href=//b/>|<ul><li>a|<table><tr><td>a|<td>a|<tr>|<option>|"
    "<svg><title>a|<a b=c |<a b |<!--|<![CDATA[|</p>|<p|&amp;|&notin|<script>|<style>a|<nav><a href=?>b</a>|<main><p>a|<article>a|<select>|"
    "<template>|<math>|<form>|<a href=a>|<i><a href=b>|<frameset>|<title>|<noscript><a href=/>|a\n|\0|<title><h1>"
)
MARKDOWN = "[a](|[|]|![|[a](/b) |*|**a |*a_b|_|`|``a|~|<|<a |&|\\|> |- |  - a\n|> a\n|1. |# a\n|```\n|    a\n|[a]: /b\n|[a]: <|[a][b]|\n"
TOML = "a.|[a.b]\n|[[a]]\n|a = [|a = {b = |'''|a = \"\\u0041\"\n|# a\n|a.b.c = 1\n|a = 1\n|a = 1979-05-27T07:32:00Z\n"

ROWS = [
    Row("`unicodedata.normalize`, `str.lower`, `re`", "folding", "1,000,000 characters", fold, TEXT),
    Row("the same", "keywords of content", "1,000,000 characters", lambda t: find_keywords(t, ["fire"]), TEXT),
    Row("`re2`, `re`", "a pattern on a text", "1,500 steps; 1,000,000 characters", search, {c: c for c in PATTERNS}),
    Row(
        "`idna`, Punycode", "hosts of a page", "1,000 hosts of 63 letters", lambda t: parse_page(t, URL),
        {"different letters": hosts(chars(0x5000, 0x5000 + 62), 20_000), "not valid": hosts("\u200d", 20_000)},
    ),
    Row("`urllib.parse.unquote`, `re`", "a URL", "65,536 characters", lambda t: plain(Url.parse(f"https://b.example/{t}").text),
        repeated("%41|%C3%A9|%|../|./|//|;a=b|?a=b&|é|\\|%2e%2e/|:", 65_000)),
    Row("lexbor, `re`", "a page", "10 MB, 250,000 tags", lambda t: parse_page(t, URL), repeated(MARKUP, 10 * MB)),
    Row("lexbor, our renderer", "content", "2 MB, 400,000 tokens", lambda t: main_content(t.encode(), URL), repeated(MARKUP, 2 * MB)),
    Row("codecs, `re`", "the charset of a page", "10 MB", lambda t: to_utf8(t.encode("latin-1", "replace")),
        repeated("a|é|<meta charset=|<meta |<!--|\\|<a b=|\x1b$B|&", 10 * MB)),
    Row("`zlib.crc32`, `re`", "likeness of pages", "1,000,000 characters", lambda t: sketch_of(page_text(parse_page(f"<p>{t}", URL)).text),
        repeated("a b |a<br>|2024 |é ", 1_000_000)),
    Row("markdown-it-py", "links of a Markdown file", "2,000,000 characters, 100,000 marks", parse_markdown_links, repeated(MARKDOWN, 5_000_000)),
    Row("`re`, `html.unescape`, `email.utils`", "a sitemap or feed", "50 MB, 50,000 entries", lambda t: read_sitemap(t.encode()),
        {**{f"`{p}`": fill(p, 50 * MB, "<urlset>") for p in ("<url><loc>http://a/</loc>", "<loc>", "<!--", "<url>", "&amp;", "<loc>&amp;</loc>", "<")},
         "a feed of dates": fill("<item><link>http://a/</link><pubDate>Mon, 1 Jan 2024 00:00:00 +0000</pubDate></item>", 50 * MB, "<rss>")}),
    Row("`zlib`", "a sitemap that is packed", "50 MB unpacked", lambda t: read_sitemap(zlib.compress(t.encode() * 10, wbits=31)),
        {"a bomb": " " * (50 * MB)}),
    Row("our rules of robots.txt", "a robots.txt, then 1,000 URLs", "512,000 bytes", ask_robots,
        {f"`{p}`": fill(p, 512_000, "User-agent: *\n") for p in
         ("Disallow: /a\n", "Disallow: /*a*a*a*a*a$\n", "Disallow: " + "*a" * 500 + "\n", "User-agent: b\n", "Sitemap: http://a/\n", "a", "Disallow: /%41\n")}),
    Row("`json.loads`", "a line of rows", "1,000,000 bytes", lambda t: parse_object(t, "f", 1),
        {"`[[[`": "[" * 1_000_000, '`{"a":1,`': "{" + '"a":1,' * 140_000 + '"b":1}', "long number": '{"a":' + "1" * 900_000 + "}",
         "escapes": '{"a":"' + "\\u00e9" * 160_000 + '"}', "names": "{" + ",".join(f'"{n}":1' for n in range(90_000)) + "}"}),
    Row("`csv.reader`", "a line of rows", "1,000,000 bytes", lambda t: list(csv_rows([(1, "url", None), (2, t, None)], "f", list)), repeated(',|"|""|a|",|\'', 1_000_000)),
    Row("`tomllib.loads`", "a profile", "262,144 bytes", lambda t: parse_profile(t, "p.toml"),
        {**repeated(TOML, 262_000), "many keys": "\n".join(f"a{n} = 1" for n in range(22_000)), "many tables": "\n".join(f"[a{n}.b]" for n in range(25_000))}),
    Row("`json.dumps`, `re`", "a record", "1,000,000 characters", lambda t: printable(t) + escaped(json.dumps(t, ensure_ascii=False)),
        {**TEXT, "control characters": "\x1b" * 1_000_000, "line separators": "\u2028" * 1_000_000}),
]  # fmt: skip


def seconds_of(row: Row, text: str) -> float:
    """Return the seconds of CPU for one input; what is refused with a sentence counts as well."""
    start = time.process_time()
    with suppress(HoneyguideError):
        row.read(text)
    return time.process_time() - start


def main(names: list[str]) -> int:
    """Print the table."""
    sys.stdout.write("| Call | For | Bound | Worst of | Worst input | Seconds |\n|---|---|---|---|---|---|\n")
    slow = False
    for row in ROWS:
        if names and not any(name in row.use for name in names):
            continue
        times = {name: seconds_of(row, text) for name, text in row.inputs.items()}
        worst = max(times, key=lambda name: times[name])
        slow = slow or times[worst] > SLOW_S
        shown = worst.replace("\n", "\\n").replace("\0", "\\0").replace("|", "\\|")
        sys.stdout.write(
            f"| {row.call} | {row.use} | {row.bound} | {len(times)} | {shown} | {times[worst]:.1f} |\n"
        )
        sys.stdout.flush()
    return int(slow)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
