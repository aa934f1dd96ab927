"""`honeyguide score`: a link, the links of a file, or a page against a topic; `app.tools.score` scores them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from honeyguide.app.arguments import profile_on
from honeyguide.app.files import name_of
from honeyguide.app.tools import score as scores
from honeyguide.cli.command import MOST, CommandGroup, Number
from honeyguide.cli.commands.tools.links import base_option, loaded_page
from honeyguide.cli.files import check_kinds, input_format_option, on_error_option, rejecting
from honeyguide.cli.options import refusal, require_any
from honeyguide.cli.output import Column, emit, number, output_options, point_lines, points, print_table, say
from honeyguide.core.url.url import Url, display
from honeyguide.errors import InputError, UrlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from honeyguide.cli.command import Decorator
    from honeyguide.core.records import Record


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
    topic = click.option("--topic", required=True, metavar="PATTERN", help="A regular expression: words, such as 'fire|alarm'.")  # fmt: skip
    profile = click.option("--profile", default="docs", show_default=True, metavar="NAME", help="Name or path of the profile.")  # fmt: skip
    return topic(profile(command))


related_option: Decorator = click.option("--related", multiple=True, metavar="TERM", help="A term that is near to the topic; may be repeated.")  # fmt: skip


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
@click.option("--position", type=click.Choice(["navigation", "main", "footer"]), help="Where on its page the link is.")  # fmt: skip
@related_option
@output_options
def link_(  # noqa: PLR0913 - click passes each option by its name
    url: str,
    topic: str,
    profile: str,
    related: tuple[str, ...],
    anchor: str,
    context: str,
    position: str | None,
    **_output: str,
) -> None:
    """Score one link by its URL, its text, the text around it and its position."""
    try:
        parsed = Url.parse(url)
    except UrlError as error:
        raise InputError(refusal(error)) from None
    row = scores.link_row(parsed, anchor, context, position)
    scored = scores.ScoredLink(row, profile_on(profile, topic, related).score("link", row.facts))
    emit([scored.record], scores.LINK_COLUMNS, partial(_show, name=display(parsed)))


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
@click.option("--top", type=click.IntRange(1, MOST), metavar="N", help="Print only the best N, the best first.")  # fmt: skip
@click.option("--min-score", type=Number(0, 10), metavar="N", help="Print only scores of N and more.")
@output_options
def links_(  # noqa: PLR0913 - click passes each option by its name
    files: tuple[str, ...],
    topic: str,
    profile: str,
    related: tuple[str, ...],
    kind: str | None,
    on_error: str,
    top: int | None,
    min_score: float | None,
    **_output: str,
) -> None:
    """Score the links of files: a row each, with url, and anchor, context and position where they are known.

    FILE is CSV, JSON lines or Parquet; several files and patterns are read as one, `-` is standard input. Links are
    printed in the order of the files, or with --top the best first. Large files are then read by columns, if the extra
    `bulk` is installed; the scores are the same.
    """
    check_kinds(files, kind)
    with rejecting(on_error) as rejected:
        found = scores.score_links(
            files,
            topic=topic,
            profile=profile,
            related=related,
            top=top,
            min_score=min_score,
            input_format=kind,
            reject=rejected,
        )
        if min_score is None:  # else there may be links, and none good enough
            found = require_any(found, map(name_of, files), rejected)
        emit((link.record for link in found), scores.LINK_COLUMNS, _show_links)


def _show_links(records: Iterable[Record]) -> None:
    columns = (Column("Score", right=True, keep=True), Column("URL and why"))
    texts = ((r, "\n  ".join([display(r["url"]), *point_lines(r)])) for r in records)
    print_table(columns, ([number(record["relevance_score"]), text] for record, text in texts))


@score.command(
    "page",
    examples=(
        "honeyguide score page home.html --topic 'fire|alarm'",
        "honeyguide score page - --topic sprinkler --base https://acme.example/ --format jsonl < home.html",
    ),
)
@click.argument("file", metavar="PAGE")
@topic_options
@base_option
@output_options
def page_(file: str, topic: str, profile: str, base: str | None, **_output: str) -> None:
    """Score a page, an HTML file or `-`, by its title, headings and text."""
    page = loaded_page(file, base)
    record = scores.page_score_record(page, scores.score_page(page, topic=topic, profile=profile))
    emit([record], scores.PAGE_COLUMNS, partial(_show, name=page.title or file))


def _show(records: Iterable[Record], name: str) -> None:
    for record in records:
        say(f"{number(record['relevance_score'])} of 10  {name}")
        say()
        if not record["points"]:
            say("No rule paid anything.")
            return
        columns = (Column("Points", right=True, keep=True), Column("Why"), Column("Rule", keep=True))
        rows = ([points(paid["points"]), paid["reason"], paid["rule"]] for paid in record["points"])
        print_table(columns, rows)
