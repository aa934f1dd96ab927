"""Measure how well the encoding of pages that declare none is detected, beside charset-normalizer.

    python tools/check_charset.py NAME=FOLDER[:CODEC,CODEC...] ... [--most 100] [--digest]

Each FOLDER holds pages of one language that declare their encoding; NAME is a language of `CODECS`, or any name if codecs are given. Pages are
encoded again, without what declares an encoding or a language, and with characters that the encoding lacks left out. A page is
right if it reads as it was written, whatever the codec is called. charset-normalizer is measured if it is installed. --digest
prints a hash of all answers: it must be the same on every Python.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from honeyguide.adapters.html.charset import charset_of, to_utf8

CODECS = {
    "ar": "cp1256", "cs": "cp1250,iso8859-2", "de": "cp1252", "el": "cp1253,iso8859-7", "es": "cp1252", "fr": "cp1252",
    "hr": "cp1250", "hu": "cp1250,iso8859-2", "it": "cp1252", "ja": "cp932,euc_jp", "ko": "cp949", "pl": "cp1250,iso8859-2",
    "pt": "cp1252", "ru": "cp1251,koi8-r,iso8859-5,cp866", "sv": "cp1252", "tr": "cp1254", "uk": "cp1251,koi8-u",
    "zh": "gb18030", "zh-tw": "big5hkscs",
}  # fmt: skip
LEAST_HIGH_BYTES = 6  # a page with fewer says nothing about its encoding
_DECLARES = re.compile(r"charset\s*=|encoding\s*=|\b(?:xml:)?lang\s*=", re.IGNORECASE)

Detector = Callable[[bytes], str]


def pages(folder: Path, codec: str, most: int) -> Iterator[bytes]:
    """Give the pages of a folder in an encoding, without declarations; those in ASCII say nothing."""
    for path in sorted(folder.rglob("*"))[: 20 * most]:
        if most <= 0:
            return
        if not path.is_file():
            continue
        text = _DECLARES.sub("x=", to_utf8(path.read_bytes()).decode("utf-8", "ignore"))
        page = text.encode(codec, "ignore")
        if len(page.translate(None, bytes(range(128)))) >= LEAST_HIGH_BYTES:
            most -= 1
            yield page


def detectors() -> dict[str, Detector]:
    """List what is measured."""
    found: dict[str, Detector] = {"honeyguide": lambda page: charset_of("text/html", page)}
    if importlib.util.find_spec("charset_normalizer"):
        other = importlib.import_module("charset_normalizer")

        def best(page: bytes) -> str:
            result = other.from_bytes(page).best()
            return str(result.encoding) if result else "ascii"

        found["charset-normalizer"] = best
    return found


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", metavar="NAME=FOLDER[:CODECS]")
    parser.add_argument("--most", type=int, default=100, metavar="N", help="pages of a folder and codec")
    parser.add_argument("--digest", action="store_true")
    asked = parser.parse_args()
    measured = detectors()
    digest, seconds, right, total = (
        hashlib.sha256(),
        dict.fromkeys(measured, 0.0),
        dict.fromkeys(measured, 0),
        0,
    )
    rows = [
        f"| language | encoding | pages | {' | '.join(measured)} |",
        f"|---|---|---|{'---|' * len(measured)}",
    ]
    for one in asked.folders:
        name, _, place = one.partition("=")
        folder, _, codecs = place.partition(":")
        for codec in (codecs or CODECS[name]).split(","):
            found = list(pages(Path(folder), codec, asked.most))
            cells = []
            for title, detect in measured.items():
                began = time.process_time()
                answers = [detect(page) for page in found]
                seconds[title] += time.process_time() - began
                good = sum(
                    page.decode(answer, "replace") == page.decode(codec, "replace")
                    for page, answer in zip(found, answers, strict=True)
                )
                right[title] += good
                cells.append(f"{100 * good / max(1, len(found)):.1f} %")
                if title == "honeyguide":
                    digest.update(repr((name, codec, answers)).encode())
            total += len(found)
            rows.append(f"| {name} | {codec} | {len(found)} | {' | '.join(cells)} |")
    shares = " | ".join(f"{100 * right[title] / max(1, total):.1f} %" for title in measured)
    times = " | ".join(f"{1000 * seconds[title] / max(1, total):.1f}" for title in measured)
    rows += [f"| all | | {total} | {shares} |", f"| ms of CPU per page | | | {times} |"]
    sys.stdout.write("\n".join(rows) + "\n")
    if asked.digest:
        sys.stdout.write(f"{digest.hexdigest()}  {sys.version.split()[0]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
