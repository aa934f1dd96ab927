"""`honeyguide links`, `score` and `url`: links of a page, scores against a topic, normalised and explained URLs.

Owns: the commands and their tables. Must not know: how pages are read and scored (`app.tools.pages`).
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from honeyguide.app.arguments import profile_on
from honeyguide.app.files import STDIN, name_of, read_lines
from honeyguide.app.tools import pages as scores
from honeyguide.app.tools.pages import (
    LINK_COLUMNS,
    NOWHERE,
    URL_COLUMNS,
    VERDICT_COLUMNS,
    link_records,
    load_page,
    url_record,
    verdict_record,
)
from honeyguide.cli.command import MOST, Command, CommandGroup, Number
from honeyguide.cli.options import (
    address,
    check_kinds,
    input_format_option,
    on_error_option,
    refusal,
    rejecting,
    require_any,
)
from honeyguide.cli.output import (
    Column,
    emit,
    note,
    number,
    output_options,
    point_lines,
    points,
    print_table,
    say,
    short_url,
)
from honeyguide.core.text.printable import printable
from honeyguide.core.url.url import Url, display
from honeyguide.errors import InputError, UrlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from honeyguide.app.tools.pages import LoadedPage, Page
    from honeyguide.cli.command import Decorator
    from honeyguide.core.records import Record

base_option: Decorator = click.option("--base", metavar="URL", callback=address, help="The page's address.  [default: its canonical link]")  # fmt: skip


@click.command(
    cls=Command,
    examples=(
        "honeyguide links home.html --base https://acme.example/",
        "honeyguide links notes.md --base https://acme.example/ --format csv",
        "honeyguide links - --base https://acme.example/ --format jsonl < home.html",
    ),
)
@click.argument("file", metavar="PAGE")
@base_option
@click.option("--input-format", type=click.Choice(["html", "markdown"]), help="What PAGE is.  [default: by its name]")  # fmt: skip
@output_options
def links(file: str, base: str | None, input_format: str | None, **_output: str) -> None:
    """List the links of a page, with the verdict on each.

    PAGE is an HTML or Markdown file, or `-` for standard input. Each URL is listed once, in the order of the page; links
    that lead to no page come last.
    """
    page = loaded_page(file, base, input_format)
    emit(link_records(page), LINK_COLUMNS, partial(_show, page=page.url.text))


def loaded_page(file: str, base: str | None, input_format: str | None = None) -> Page:
    """Read a page, and note where it is if --base does not say so."""
    loaded = load_page(file, base, input_format)
    note_address(loaded)
    page = loaded.page
    if loaded.is_nowhere and any(link.url.site == page.url.site for link in page.links):
        note(f"no --base is given; relative links are shown under {NOWHERE}")
    return page


def note_address(loaded: LoadedPage) -> None:
    """Note that a page was given no address and has one itself."""
    if loaded.is_canonical:
        note(f"no --base is given; the page says it is {loaded.page.url}")


def _show(records: Iterable[Record], page: str) -> None:
    rows = [_row(record, page) for record in records]
    columns = (
        Column("Position", keep=True),
        Column("Times", right=True, keep=True),
        Column("Verdict", keep=True),
    )
    print_table((*columns, Column("Link and text")), rows)
    say()
    say(f"{len(rows):,} links on {page}")


def _row(record: Record, page: str) -> list[str]:
    verdict = record["verdict"] if record["verdict"] == "inside" else f"{record['verdict']}: {record['rule']}"
    times = "-" if record["occurrences"] is None else str(record["occurrences"])
    text = f'\n  "{record["anchor_text"]}"' if record["anchor_text"] else ""
    shown = record["url"] if record["occurrences"] is None else short_url(record["url"], page)
    return [record["position"] or "-", times, verdict, shown + text]


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
    emit([scored.record], scores.LINK_SCORE_COLUMNS, partial(_show_score, name=display(parsed)))


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
        emit((link.record for link in found), scores.LINK_SCORE_COLUMNS, _show_links)


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
    emit([record], scores.PAGE_SCORE_COLUMNS, partial(_show_score, name=page.title or file))


def _show_score(records: Iterable[Record], name: str) -> None:
    for record in records:
        say(f"{number(record['relevance_score'])} of 10  {name}")
        say()
        if not record["points"]:
            say("No rule paid anything.")
            return
        columns = (Column("Points", right=True, keep=True), Column("Why"), Column("Rule", keep=True))
        rows = ([points(paid["points"]), paid["reason"], paid["rule"]] for paid in record["points"])
        print_table(columns, rows)


@click.group(cls=CommandGroup, examples=("honeyguide url normalize HTTP://Acme.example:80/about/",))
def url() -> None:
    """Normalise, classify and explain URLs."""


@url.command(
    examples=(
        "honeyguide url normalize HTTP://Acme.example:80/%7Eanna/ https://acme.example/a/../b",
        "honeyguide url normalize team/ --base https://acme.example/about/",
        "honeyguide url normalize - < urls.txt",
    )
)
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@click.option("--base", metavar="URL", callback=address, help="The page of relative URLs.")
def normalize(urls: tuple[str, ...], base: str | None) -> None:
    """Print the normalised form of each URL, one on each line; `-` reads URLs from standard input.

    A text that is not an http(s) URL is named on standard error, and the exit code is then 1.
    """
    page = None if base is None else Url.parse(base)
    failed = False
    for text in _texts(urls):
        try:
            sys.stdout.write(f"{Url.parse(text, page).text}\n")
        except UrlError as error:
            failed = True
            click.echo(printable(f"Error: {_why(error, base)}"), err=True)
    if failed:
        click.get_current_context().exit(1)


@url.command(
    examples=(
        "honeyguide url classify /about mailto:info@acme.example --base https://acme.example/",
        "honeyguide url classify - --base https://acme.example/ --format csv < urls.txt",
    )
)
@click.argument("hrefs", metavar="HREF...", nargs=-1, required=True)
@click.option("--base", metavar="URL", callback=address, required=True, help="The page of the links.")
@click.option("--seed", metavar="URL", callback=address, help="The homepage that decides what is inside.  [default: the page of --base]")  # fmt: skip
@output_options
def classify(hrefs: tuple[str, ...], base: str, seed: str | None, **_output: str) -> None:
    """Print whether links lead inside the site, outside, or nowhere a crawler goes, and the rule that decided."""
    page = Url.parse(base)
    emit((verdict_record(href, page, seed) for href in _texts(hrefs)), VERDICT_COLUMNS, _show_verdicts)


def _show_verdicts(records: Iterable[Record]) -> None:
    columns = (Column("Link"), Column("Verdict", keep=True), Column("Rule", keep=True), Column("Why"))
    rows = (
        [r["href"], r["verdict"], r["id"], " ".join(filter(None, (r["rule"], r["detail"])))] for r in records
    )
    print_table(columns, rows)


@url.command(
    "explain",
    examples=(
        "honeyguide url explain HTTP://Acme.example:80/a/../%7Eanna/?utm_source=x#top",
        "honeyguide url explain ../team/ --base https://acme.example/about/history/",
    ),
)
@click.argument("text", metavar="URL")
@click.option("--base", metavar="URL", callback=address, help="The page of a relative URL.")
@output_options
def explain_(text: str, base: str | None, **_output: str) -> None:
    """Print each step that changes a URL, with its rule, and the forms that result."""
    try:
        record = url_record(text, base)
    except UrlError as error:
        raise InputError(_why(error, base)) from None
    emit([record], URL_COLUMNS, _show_steps)


def _show_steps(records: Iterable[Record]) -> None:
    for record in records:
        if record["steps"]:
            rows = [["", "as given", record["steps"][0]["before"]]]
            rows += [[step["rule"], step["name"], step["after"]] for step in record["steps"]]
            print_table((Column("Rule", keep=True), Column("Step", keep=True), Column("URL")), rows)
            say()
        else:
            note("nothing changes: the URL is normalised already")
        for label, name in _FORMS:
            say(f"{label:<11} {record[name]}")


_FORMS = (("Normalised", "url"), ("As linked", "request_url"), ("Key", "key"), ("Display", "display"))


def _why(error: UrlError, base: str | None) -> str:
    """Say why a text is not a URL; without --base, its beginning may be missing."""
    return str(error) if base is not None else f"{refusal(error)}; a relative one needs --base"


def _texts(arguments: Iterable[str]) -> Iterator[str]:
    """Yield the arguments; `-` stands for the lines of standard input that are not blank."""
    for text in arguments:
        if text == STDIN:
            yield from (line.strip() for _, line in read_lines(STDIN) if line.strip())
        else:
            yield text
