"""Tags with very many attributes: whatever is let through has none, wherever values, comments and scripts seem to end."""

from __future__ import annotations

import re
from itertools import count
from random import Random

import pytest
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from honeyguide.adapters.html.guards import LARGE_BYTES, MAX_ATTRIBUTES, bound_markup

PADDING = b"<!--" + b"x" * LARGE_BYTES + b"-->"
MANY = MAX_ATTRIBUTES // 2
# `@` is a name that no other attribute has.
ATTRIBUTES = [
    unit * MANY for unit in (" @", "@/", ' @="v"', "@='v'", '@=">"', '@=\n">"', "@='>'", "@='\">'", "@= x ")
]
PIECES = [
    *(f"<{tag}>" for tag in ("p", "/p", "script", "/script", "svg", "/svg", "style", "/style", "title", "/title", "textarea", "select")),
    "<!--", "-->", '<p id="x">', "<p id='x'>", "<![CDATA[", "]]>", "<? ", "<", ">", "/>", "/", '"', "'", "=", '="', "='", ' = "', " =\n'",
    '">', "'>", '" >', " ", "\n", "x",
]  # fmt: skip


def most_attributes(markup: bytes) -> int:
    """Count the attributes of the element that has most."""
    tree = LexborHTMLParser(markup, options=LexborDocumentOptions.WO_EVENTS)
    return max(len(node.attributes) for node in tree.css("*"))


@pytest.mark.slow
def test_no_soup_hides_attributes() -> None:
    chance = Random(9)  # noqa: S311 - test data
    whole = over = 0
    for _ in range(1500):
        pieces = ["<a ", *chance.sample(ATTRIBUTES, 2), *chance.sample(PIECES, 6)]
        number = count()
        soup = re.sub("@", lambda _: f"q{next(number)}", "".join(chance.choices(pieces, k=16)))  # noqa: B023 - used at once
        markup = PADDING + soup.encode() + chance.choice((b"", b">", b'">', b"'>"))
        kept, left_out = bound_markup(markup)
        whole += not left_out
        over += left_out > 0
        assert most_attributes(kept) <= MAX_ATTRIBUTES, soup
    assert whole > 900, "nothing is let through any more"
    assert over > 50, "nothing has too many"


@pytest.mark.parametrize("end", [b" ", b"/", b"y", b"=y"])
def test_tags_in_tags_are_not_looked_at_again_and_again(end: bytes) -> None:
    """Looking at all of it from each `<` took minutes."""
    data = b"<a" * 6_000 + end * 4_000_000
    kept, left_out = bound_markup(data + b">")
    assert len(kept) + left_out == len(data) + 1
