"""`honeyguide score`: a link, the links of a file, or a page against a topic.

Owns: these commands and their records (TOPIC-1, TOPIC-2). Must not know: the points, how files are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from honeyguide import app
from honeyguide.adapters.files.read import name_of
from honeyguide.cli.command import MOST, CommandGroup, Number
from honeyguide.cli.commands.tools.links import load_page
from honeyguide.cli.files import check_kinds, input_format_option, on_error_option, rejecting
from honeyguide.cli.options import address, refusal, require_any
from honeyguide.cli.output import (
    Column,
    number,
    output_options,
    points,
    print_table,
    reason_lines,
    say,
    write_records,
)
from honeyguide.core.records import SCHEMA, point_records
from honeyguide.core.text.printable import tidy
from honeyguide.core.url.url import Url, display
from honeyguide.errors import InputError, UrlError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from honeyguide.app.pick.select import ScoredLink
    from honeyguide.cli.output import Format
    from honeyguide.core.records import Record
    from honeyguide.core.rules.language import Score


LINK_COLUMNS = (
    "schema",
    "url",
    "anchor_text",
    "context",
    "relevance_score",
    "position",
    "reasons",
    "points",
    "unknown",
)
PAGE_COLUMNS = ("schema", "url", "title", "relevance_score", "reasons", "points", "unknown")


@click.group(
    cls=CommandGroup,
    examples=("honeyguide score link https://acme.example/docs/api --topic API --anchor 'API reference'",),
)
def score() -> None:
    """Score a link or a page against a topic, 0 to 10, with the points that make it.

    `score links` takes a whole file of links.
    """


def topic_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --topic and --profile."""
    topic = click.option(
        "--topic", required=True, metavar="PATTERN", help="A regular expression: words, such as 'fire|alarm'."
    )
    profile = click.option(
        "--profile", default="docs", show_default=True, metavar="NAME", help="Name or path of the profile."
    )
    return topic(profile(command))


related_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--related", multiple=True, metavar="TERM", help="A term that is near to the topic; may be repeated."
)


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
@related_option
@output_options
def link_(url: str, output: Format, **known: Any) -> None:
    """Score one link by its URL, its text, the text around it and its position."""
    try:
        scored = Url.parse(url)
    except UrlError as error:
        raise InputError(refusal(error)) from None
    result = app.score_link(scored, **known)
    if output == "table":
        _show(result, display(scored))
        return
    texts = (known["anchor"], known["context"], known["position"])
    write_records(output, [_link_record(scored, texts, result)], LINK_COLUMNS)


def _link_record(url: Url, texts: tuple[str, str, str | None], result: Score) -> Record:
    """Write a link: its anchor text, its context and its position, and the points that make its score."""
    anchor, context, position = texts
    return {
        "schema": SCHEMA,
        "url": url.text,
        "anchor_text": anchor,
        "context": context,
        "relevance_score": tidy(result.value),
        "position": position,
        "reasons": list(result.words),
        "points": point_records(result.reasons),
        "unknown": list(result.unknown),
    }


@score.command(
    "links",
    examples=(
        "honeyguide score links known.csv --topic 'world|live' --top 10",
        "honeyguide score links - --input-format csv --topic world --min-score 1 --format csv < known.csv",
    ),
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@topic_options
@related_option
@input_format_option
@on_error_option
@click.option(
    "--top", type=click.IntRange(1, MOST), metavar="N", help="Print only the best N, the best first."
)
@click.option("--min-score", type=Number(0, 10), metavar="N", help="Print only scores of N and more.")
@output_options
def links_(files: tuple[str, ...], output: Format, on_error: str, **asked: Any) -> None:
    """Score the links of files: a row each, with url, and anchor, context and position where they are known.

    FILE is CSV, JSON lines or Parquet; several files and patterns are read as one, `-` is standard input. Links are
    printed in the order of the files, or with --top the best first. Large files are then read by columns, if the extra
    `bulk` is installed; the scores are the same.
    """
    check_kinds(files, asked["kind"])
    with rejecting(on_error) as rejected:
        found = app.score_links(files, reject=rejected, **asked)
        if asked["min_score"] is None:  # else there may be links, and none good enough
            found = require_any(found, map(name_of, files), rejected)
        if output == "table":
            columns = (Column("Score", right=True, keep=True), Column("URL and why"))
            print_table(columns, (_row(link) for link in found))
        else:
            write_records(output, (_scored_record(link) for link in found), LINK_COLUMNS)


def _scored_record(link: ScoredLink) -> Record:
    row = link.row
    position = None if row.position is None else row.position.value
    return _link_record(row.url, (row.anchor, row.context, position), link.score)


def _row(link: ScoredLink) -> list[str]:
    lines = [display(link.row.url), *(f"  {line}" for line in reason_lines(link.score))]
    return [number(link.score.value), "\n".join(lines)]


@score.command(
    "page",
    examples=(
        "honeyguide score page home.html --topic 'fire|alarm'",
        "honeyguide score page - --topic sprinkler --base https://acme.example/ --format jsonl < home.html",
    ),
)
@click.argument("file", metavar="PAGE")
@topic_options
@click.option(
    "--base", metavar="URL", callback=address, help="The page's address; its canonical link if not given."
)
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
        "reasons": list(result.words),
        "points": point_records(result.reasons),
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
