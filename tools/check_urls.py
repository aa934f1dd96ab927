"""Check URL normalisation against other people's test suites, given as JSON files.

    python tools/check_urls.py SUITES_DIR... [--generated 1000000] [--verbose]

Each JSON file below the directories is read. Files of known names are compared case by case: a case *passes*, is
*overridden* (our rules ask for something else; the rule is named), or *fails*. The suites of other normalisers
contradict each other; where they do not agree with our rules the case *differs*. Failures are listed, of the overridden
cases the first 20 of a suite; --verbose lists all, and those that differ.
Every URL of every file, and as many generated ones as asked for, must also normalise to something that normalises to
itself, and nothing but `UrlError` may be raised. The exit code is 1 if anything fails.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from honeyguide.core.url.host import parse_host
from honeyguide.core.url.url import Url, explain, normalize
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

WEB = ("http:", "https:")
OUTCOMES = ("pass", "overridden", "differs", "fail", "skipped")
LISTED = 2_000  # lines of one kind and suite, at most


class Result(NamedTuple):
    """How one case came out."""

    outcome: str  # pass, overridden, differs, fail, skipped
    case: str
    note: str = ""


def tried(text: str, base: str | None = None) -> str | None:
    """Normalise, or None where that is refused."""
    try:
        return normalize(text, base)
    except UrlError:
        return None


def described(case: dict[str, Any], got: object) -> str:
    """Show a case on one line."""
    return f"{case['input']!a} on {case.get('base')!a}: expected {case['expected']!a}, got {got!a}"


def judge(case: dict[str, Any], expected: str, got: str | None, otherwise: str) -> Result:
    """Compare with a spelling that other rules ask for; where ours turn it into our result, they are the reason."""
    shown = described(case, got)
    if got == expected:
        return Result("pass", shown)
    if got is None:
        foreign = ":" in expected and not expected.lower().startswith(WEB)
        return Result("overridden", shown, "URL-9") if foreign else Result(otherwise, shown)
    if tried(expected) == got:
        rules = sorted({step.rule for step in explain(expected) if step.changed})
        return Result("overridden", shown, " ".join(rules))
    if "//" not in expected and expected.lower().startswith(WEB):
        return Result("overridden", shown, "URL-8")  # a scheme without slashes is relative in browsers
    return Result(otherwise, shown)


def check_whatwg(case: dict[str, Any]) -> Result:
    """Both forms must be what browsers make of it; what they refuse, and other schemes, must be refused."""
    expected, base = case["expected"], case.get("base")
    if expected is None or not expected.startswith(WEB):
        got = tried(case["input"], base)
        return Result("pass" if got is None else "fail", described(case, got))
    try:
        url = Url.parse(case["input"], base)
    except UrlError as error:
        return Result("fail", described(case, error.why))
    same = (
        url.text == tried(expected) == tried(case["input"], base)
        and url.as_linked == expected.partition("#")[0]
    )
    return Result("pass" if same else "fail", described(case, url))


def check_host(case: dict[str, Any]) -> Result:
    """Check one host name."""
    try:
        got: str | None = parse_host(case["input"])
    except UrlError:
        got = None
    return Result("pass" if got == case["expected"] else "fail", described(case, got))


def check_rfc(case: dict[str, Any]) -> Result:
    """Resolve and normalise; a path on its own stands on an invented site."""
    expected, base = case["expected"], case.get("base")
    if base is None and ":" not in expected:
        base, expected = "http://a.example/", f"http://a.example/{expected.lstrip('/')}"
    return judge(case, expected, tried(case["input"], base), "fail")


def check_dots(case: dict[str, Any]) -> Result:
    """Check dot segments in the paths of schemes like ours."""
    if case.get("scheme_class") != "special":
        return Result("skipped", described(case, None))
    site = "http://a.example"
    return judge(case, site + case["expected"], tried(site + case["input"]), "fail")


def check_other(case: dict[str, Any]) -> Result:
    """Compare with another normaliser, whose rules are not ours."""
    wanted = case.get("func") in {None, "canonicalize_url", "safe_url_string", "normalize_url"}
    if not (wanted and isinstance(case["expected"], str) and isinstance(case["input"], str)):
        return Result("skipped", described(case, None))
    return judge(case, case["expected"], tried(case["input"], case.get("base")), "differs")


SUITES: dict[str, Callable[[dict[str, Any]], Result]] = {
    "wpt_urltestdata": check_whatwg,
    "wpt_toascii": check_host,
    "rfc3986": check_rfc,
    "urlcanon_path_dots": check_dots,
    "urlcanon_semantic_precise": check_other,
    "w3lib_url": check_other,
    "crawl4ai_normalize": check_other,
}


def strings(value: object) -> Iterator[str]:
    """Find every string in a JSON document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


PIECES = (
    *(
        "http:",
        "https:",
        "HTTP:",
        "//",
        "/",
        "\\",
        "?",
        "#",
        "@",
        ":",
        ":80",
        ":443",
        ":8080",
        ".",
        "..",
        "./",
        "../",
    ),
    *(
        "%2e",
        "%2E%2e",
        "%252e",
        "%",
        "%4",
        "%41",
        "%7e",
        "%2f",
        "%C3%A9",
        "%00",
        "%ff",
        "a",
        "B",
        "c-d",
        "example.com",
    ),
    *(
        "xn--",
        "xn--bcher-kva",
        "0x7f",
        "127.0.0.1",
        "1",
        "256",
        "[::1]",
        "[",
        "]",
        "é",
        "ß",
        "İ",
        "价格",
        "\u200d",
        "א",
    ),
    *(
        "\ud800",
        "\x00",
        "\t",
        "\n",
        " ",
        "|",
        "^",
        "`",
        "{",
        "}",
        '"',
        "'",
        "<",
        ">",
        ";",
        "=",
        "&",
        "+",
        "~",
        "🌡",
    ),
    *(
        "www.",
        "index.html",
        "about",
        "services/",
        "q=1",
        "utm_source=x",
        "\uff0e",
        "\u3002",
        "\xad",
        "\ufeff",
        "//h",
    ),
)
BASES = (
    None,
    "http://example.com/a/b/?q#f",
    "https://user:p%41@h.example:8443/x//y/",
    "http://1.2.3.4/%7e/{x}",
    "about:blank",
)


def generated(count: int) -> Iterator[tuple[str, str | None]]:
    """Make up URLs, plausible and hostile; the same ones each time."""
    chance = random.Random(3986)  # noqa: S311 - test data, not secrets
    starts = ("", "http://", "https://", "https://example.com/", "/", "http://example.com")
    for _ in range(count):
        body = "".join(chance.choices(PIECES, k=chance.randint(0, 9)))
        yield chance.choice(starts) + body, chance.choice(BASES)


def check_stable(text: str, base: str | None = None) -> Result:
    """Check that what comes out of normalisation stays as it is, and that the long way round gives the same."""
    try:
        url = Url.parse(text, base)
    except UrlError:
        return Result("skipped", text)
    again = Url.parse(url.text)
    linked = Url.parse(url.as_linked)
    steps = explain(text, base)[-1].after
    same = (
        url.text == normalize(text, base) == again.text == linked.text == steps
        and linked.as_linked == url.as_linked
    )
    return Result(
        "pass" if same else "fail",
        f"{text!a} on {base!a}: {url.text!a}, then {again.text!a}, steps {steps!a}",
    )


def run(name: str, results: Iterable[Result], *, shown: int) -> bool:
    """Count the outcomes of one suite and print its row, then what failed or is overridden. True if nothing failed."""
    counts: Counter[str] = Counter()
    lines: dict[str, list[str]] = {"fail": [], "overridden": [], "differs": []}
    for result in results:
        counts[result.outcome] += 1
        if len(found := lines.get(result.outcome, [])) < LISTED:
            found.append(f"    {result.outcome} {result.note}: {result.case}\n")
    columns = (f"{counts[outcome]:>11}" for outcome in OUTCOMES)
    sys.stdout.write(f"{name:<36}{''.join(columns)}\n")
    for outcome, limit in (
        ("fail", LISTED),
        ("overridden", shown),
        ("differs", shown if shown == LISTED else 0),
    ):
        sys.stdout.writelines(lines[outcome][:limit])
        if len(lines[outcome]) > limit > 0:
            sys.stdout.write(f"    … and {counts[outcome] - limit} more\n")
    return not counts["fail"]


def main() -> int:
    """Run everything that was asked for."""
    parser = argparse.ArgumentParser(description="Check URL normalisation against suites in JSON files.")
    parser.add_argument("suites", nargs="+", type=Path, metavar="SUITES_DIR")
    parser.add_argument("--generated", type=int, default=0, metavar="N", help="also check N made-up URLs")
    parser.add_argument("--verbose", action="store_true", help="list all cases that are overridden or differ")
    options = parser.parse_args()
    files = [file for folder in options.suites for file in sorted(folder.glob("*.json"))]
    if not files and not options.generated:
        parser.error("there is no JSON file in these directories")
    shown = LISTED if options.verbose else 20
    sys.stdout.write(f"{'suite':<36}{''.join(f'{outcome:>11}' for outcome in OUTCOMES)}\n")
    good = True
    for file in files:
        content = json.loads(file.read_text(encoding="utf-8"))
        if check := SUITES.get(file.stem):
            good &= run(file.stem, map(check, content), shown=shown)
        found = sorted(set(strings(content)))
        stable = (check_stable(text, base) for text in found for base in (None, BASES[1]))
        good &= run(f"  stable: {file.stem}", stable, shown=0)
    if options.generated:
        made = (check_stable(text, base) for text, base in generated(options.generated))
        good &= run("  stable: generated", made, shown=0)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
