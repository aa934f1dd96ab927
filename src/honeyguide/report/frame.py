"""What all reports have around them: a heading; in HTML the head, one style sheet, a policy that allows nothing else.

Owns: `HEADINGS`, by which a report is known again, and `opening`. Must not know: what a report says. Texts must be escaped by whoever gives them.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files

# The first heading of the reports of each command, no two of which have the same.
HEADINGS = {
    "pick": "Pages worth a visit",
    "crawl": "What a crawl found",
    "plan": "What to visit next",
    "simulate": "What recrawl policies are worth",
}
# Nothing may be loaded, run or even dressed, whatever a page managed to put into its title: the one style sheet is known
# by its hash. A frame or a sandbox cannot be forbidden from inside a file.
_POLICY = "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'"


def opening(title: str, heading: str, below: str, style: str) -> str:
    """Write everything down to the line below the first heading; `style` is added to the common style sheet."""
    sheet = f"\n{(files('honeyguide.report') / 'style.css').read_text('utf-8')}{style}"
    digest = base64.b64encode(hashlib.sha256(sheet.encode("utf-8")).digest()).decode("ascii")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY.format(hash=digest))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="honeyguide">
<title>{title}</title>
<style>{sheet}</style>
</head>
<body>
<header><h1>{heading}</h1>
<p class="soft">{below}</p></header>
"""
