"""`honeyguide score`: a link or a page against a topic.

Owns: these two commands and their records (TOPIC-1, TOPIC-2). Must not know: the points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from honeyguide import app
from honeyguide.cli.command import Group
from honeyguide.cli.output import (
    Column,
    number,
    output_options,
    points,
    print_table,
    say,
    write_records,
)
from honeyguide.cli.pages import load_page
from honeyguide.core.records import SCHEMA, reason_records, tidy
from honeyguide.core.url import Url, display

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from honeyguide.cli.output import Format
    from honeyguide.core.rules import Score

LINK_COLUMNS = ("schema", "url", "anchor_text", "context", "relevance_score", "position", "points", "unknown")
PAGE_COLUMNS = ("schema", "url", "title", "relevance_score", "points", "unknown")


@click.group(
    cls=Group,
    examples=("honeyguide score link https://acme.example/docs/api --topic API --anchor 'API reference'",),
)
def score() -> None:
    """Score a link or a page against a topic, 0 to 10, with the points that make it."""


def topic_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --topic and --profile."""
    topic = click.option(
        "--topic", required=True, metavar="PATTERN", help="A regular expression: words, such as 'fire|alarm'."
    )
    profile = click.option(
        "--profile", default="docs", show_default=True, metavar="NAME", help="Name or path of the profile."
    )
    return topic(profile(command))


@score.command(
    "link",
    examples=(
        "honeyguide score link https://acme.example/docs/api --topic API --anchor 'API reference' --position navigation",
        "honeyguide score link https://acme.example/docs --topic 'API|接口' --anchor Endpoints --related endpoint --format jsonl",
    ),
)
@click.argument("url", metavar="URL")
@topic_options
@click.option("--anchor", default="", metavar="TEXT", help="The link's text.")
@click.option("--context", default="", metavar="TEXT", help="The text around the link.")
@click.option(
    "--position",
    type=click.Choice(["navigation", "main", "footer"]),
    help="Where on its page the link stands.",
)
@click.option(
    "--related", multiple=True, metavar="TERM", help="A term that is near to the topic; may be repeated."
)
@output_options
def link_(url: str, output: Format, **known: Any) -> None:
    """Score one link by its URL, its text, the text around it and its position."""
    address = Url.parse(url)
    result = app.score_link(address, **known)
    record = {
        "schema": SCHEMA,
        "url": address.text,
        "anchor_text": known["anchor"],
        "context": known["context"],
        "relevance_score": tidy(result.value),
        "position": known["position"],
        "points": reason_records(result.reasons),
        "unknown": list(result.unknown),
    }
    if output == "table":
        _show(result, display(address))
    else:
        write_records(output, [record], LINK_COLUMNS)


@score.command(
    "page",
    examples=(
        "honeyguide score page home.html --topic 'fire|alarm'",
        "honeyguide score page - --topic sprinkler --base https://acme.example/ --format jsonl < home.html",
    ),
)
@click.argument("file", metavar="PAGE")
@topic_options
@click.option("--base", metavar="URL", help="The page's address; its canonical link if not given.")
@output_options
def page_(file: str, topic: str, profile: str, base: str | None, output: Format) -> None:
    """Score a page, an HTML file or `-`, by its title, headings and text."""
    page = load_page(file, base)
    result = app.score_page(page, topic=topic, profile=profile)
    record = {
        "schema": SCHEMA,
        "url": page.url.text,
        "title": page.title,
        "relevance_score": tidy(result.value),
        "points": reason_records(result.reasons),
        "unknown": list(result.unknown),
    }
    if output == "table":
        _show(result, page.title or file)
    else:
        write_records(output, [record], PAGE_COLUMNS)


def _show(result: Score, what: str) -> None:
    """Print the value, then the points that make it."""
    say(f"{number(result.value)} of 10  {what}")
    say()
    if not result.reasons:
        say("No rule paid anything.")
        return
    columns = (Column("Points", right=True, keep=True), Column("Why"), Column("Rule", keep=True))
    print_table(columns, ([points(reason.points), reason.text, reason.rule] for reason in result.reasons))
