"""Write the bundled Public Suffix List anew from the official file, https://publicsuffix.org/list/public_suffix_list.dat.

    python tools/public_suffixes.py public_suffix_list.dat > src/honeyguide/config/public_suffixes.txt

Rules of one label are left out, because every last label is a suffix anyway. The rules of one top-level domain stand on one
line, in ASCII, so that a look-up needs no conversion.
"""

import sys
from collections import defaultdict
from pathlib import Path

import idna

_HEADER = """\
// This Source Code Form is subject to the terms of the Mozilla Public
// License, v. 2.0. If a copy of the MPL was not distributed with this
// file, You can obtain one at https://mozilla.org/MPL/2.0/.
//
// The Public Suffix List (https://publicsuffix.org), in another layout: see tools/public_suffixes.py.
"""


def to_ascii(rule: str) -> str:
    """Spell each label of a rule in Punycode."""
    return ".".join(label if label.isascii() else idna.alabel(label).decode() for label in rule.split("."))


def compact(text: str) -> str:
    """Write all rules of several labels, one line for each top-level domain."""
    lines = [line.split()[0] for line in text.splitlines() if line.strip() and not line.startswith("//")]
    by_top = defaultdict(set)
    for rule in map(to_ascii, lines):
        if "." in rule:
            by_top[rule.rpartition(".")[2]].add(rule)
    rules = "".join(f"{' '.join(sorted(by_top[top]))}\n" for top in sorted(by_top))
    stamps = [line for line in text.splitlines() if line.startswith(("// VERSION", "// COMMIT"))]
    return _HEADER + "".join(f"{stamp}\n" for stamp in stamps) + rules


if __name__ == "__main__":
    sys.stdout.write(compact(Path(sys.argv[1]).read_text("utf-8")))
