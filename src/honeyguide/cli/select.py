"""`honeyguide select`: the pages worth a visit among the links of a page, or of each page of a file of links.

Owns: the command and its records (PICK-20). Must not know: filters, scores, order.
Start reading at `select`; what a person sees is in `funnel.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from honeyguide import app
from honeyguide.adapters.files import name_of, read_lines
from honeyguide.adapters.rows.known import kind_of
from honeyguide.adapters.rows.rowfiles import parse_object
from honeyguide.cli.addresses import address, some
from honeyguide.cli.choice import strategy_profile
from honeyguide.cli.command import Command
from honeyguide.cli.funnel import show_selection
from honeyguide.cli.output import output_options, say, write_records
from honeyguide.cli.pages import demo_page, placed_page
from honeyguide.cli.rowinput import input_format_option, on_error_option, rejecting
from honeyguide.core.page import Head
from honeyguide.core.records import SCHEMA, candidate_record
from honeyguide.core.url import Url
from honeyguide.errors import InputError, UrlError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from honeyguide.app.link_files import PageSelection
    from honeyguide.cli.output import Format
    from honeyguide.core.page import Page
    from honeyguide.core.profile import Profile
    from honeyguide.core.records import Record
    from honeyguide.core.select import Selection

NAMES = (
    "schema", "url", "anchor_text", "position", "rank", "category", "bucket", "score", "intrinsic_score",
    "contextual_score", "total_score", "matched", "selection_reason", "reasons", "parts", "out", "unknown", "positions",
)  # fmt: skip
COLUMNS = (*NAMES[:-3], "out.rule", "out.why", *NAMES[-2:])
MAX_HEADS = 20_000  # as many as a page may have links


@click.command(
    cls=Command,
    examples=(
        "honeyguide select --demo",
        "honeyguide select --demo --strategy blend --all",
        "honeyguide select home.html --base https://acme.example/ --cap 6 --exclude 'career|jobs'",
        "honeyguide select home.html --base https://acme.example/ --strategy blend --heads heads.jsonl --format jsonl",
        "honeyguide select - --base https://acme.example/ --profile company --format csv < home.html",
        "honeyguide select links.csv --strategy rules --cap 2",
    ),
)
@click.argument("file", metavar="[PAGE|FILE]", required=False)
@click.option(
    "--demo", is_flag=True, help="Use the homepage of a made-up company that comes with Honeyguide."
)
@click.option(
    "--base",
    metavar="URL",
    callback=address,
    help="The page's address; its canonical link if not given. Of FILE: the page of rows that name none.",
)
@click.option("--markdown", is_flag=True, help="Read PAGE as Markdown, whatever its name.")
@click.option(
    "--strategy",
    default="portfolio",
    show_default=True,
    metavar="NAME",
    help="How to choose: portfolio, rules, blend, or one of the profile's own.",
)
@click.option(
    "--profile", metavar="NAME", help="Name or path of the profile; the strategy's own if not given."
)
@click.option("--query", metavar="WORDS", help="What blend looks for, instead of the profile's words.")
@click.option(
    "--cap", type=click.IntRange(1, 1000), metavar="N", help="Choose at most N pages; the profile says 4."
)
@click.option("--include", metavar="PATTERN", help="Consider only URLs that match.")
@click.option("--exclude", metavar="PATTERN", help="Leave out URLs that match.")
@click.option(
    "--heads", metavar="FILE", help="JSON lines with url, title, description of linked pages, for blend."
)
@click.option("--all", "everything", is_flag=True, help="List every link of the page with its verdict.")
@input_format_option
@on_error_option
@output_options
def select(file: str | None, output: Format, **asked: Any) -> None:
    """Choose the pages worth a visit among the links of a page, and say why.

    PAGE is an HTML or Markdown file, or `-` for standard input. As JSON lines or CSV every link of the page is one
    record, chosen or not.

    FILE is CSV, JSON lines or Parquet with a link in each row: page and url, and anchor, title, rel, context and
    position where they are known. Of each page is chosen what would be chosen of it alone. Rows of one page stand
    together.
    """
    profile = strategy_profile(asked)
    given = {name: asked[name] for name in ("strategy", "query", "cap", "include", "exclude")}
    given["profile"] = profile
    if file is not None and (asked["kind"] is not None or kind_of(file) is not None):
        _check_rows(asked)
        with rejecting(asked["on_error"]) as rejected:
            found = app.select_files(file, base=asked["base"], kind=asked["kind"], reject=rejected, **given)
            found = some(found, [name_of(file)], rejected)
            _write_pages(found, profile, output, everything=asked["everything"])
        return
    page = _page(file, asked)
    heads = None if asked["heads"] is None else read_heads(asked["heads"], page.url)
    selection = app.select_links(page, page.url, heads=heads, **given)
    if output == "table":
        show_selection(selection, page, profile, everything=asked["everything"])
    else:
        write_records(output, _records(selection, page), COLUMNS)


def _check_rows(asked: dict[str, Any]) -> None:
    """Refuse what is meant for one page."""
    if asked["demo"]:
        raise click.UsageError("--demo brings its own page; leave out FILE.")
    if asked["markdown"]:
        raise click.UsageError("--markdown is for a PAGE; a FILE of links has rows.")
    if asked["heads"] is not None:
        raise click.UsageError(
            "--heads is for a PAGE; a FILE of links has them in columns head_title and head_description."
        )


def _write_pages(
    found: Iterable[PageSelection], profile: Profile, output: Format, *, everything: bool
) -> None:
    """Write page after page, as each is ready."""
    if output != "table":
        records = (
            {"schema": SCHEMA, "page": page.url.text, **record}
            for page, selection in found
            for record in _records(selection, page)
        )
        write_records(output, records, ("schema", "page", *COLUMNS[1:]))
        return
    pages = links = chosen = 0
    for page, selection in found:
        if pages:
            say()
        show_selection(selection, page, profile, everything=everything)
        pages += 1
        links += len(selection.candidates) + len(page.skipped)
        chosen += len(selection.selected)
    if pages != 1:
        say()
        say(f"{chosen:,} of {links:,} links on {pages:,} pages were chosen")


def _page(file: str | None, asked: dict[str, Any]) -> Page:
    if asked["demo"]:
        if file is not None or asked["base"] is not None:
            raise click.UsageError("--demo brings its own page; leave out PAGE and --base.")
        return demo_page()
    if file is None:
        raise click.UsageError("Give a PAGE, or --demo.")
    return placed_page(file, asked["base"], markdown=asked["markdown"])


def read_heads(file: str, page: Url) -> dict[str, Head]:
    """Read titles and descriptions of linked pages, by URL (PICK-11)."""
    heads: dict[str, Head] = {}
    for line, text in read_lines(file):
        if not text.strip():
            continue
        if len(heads) == MAX_HEADS:
            raise InputError(f"has more than {MAX_HEADS:,} heads; give those of one page", file=name_of(file))
        url, head = _head(parse_object(text, file, line), page, f"{name_of(file)} line {line}")
        heads[url.text] = head
    return heads


def _head(row: dict[str, Any], page: Url, where: str) -> tuple[Url, Head]:
    text = _text(row, "url", where)
    if not text:
        raise InputError("is missing", file=where, field="url")
    try:
        url = Url.parse(text, page)
    except UrlError as error:
        raise InputError(f"is not an http(s) URL: {error.why}", file=where, field="url") from None
    return url, Head(_text(row, "title", where), _text(row, "description", where))


def _text(row: dict[str, Any], name: str, where: str) -> str | None:
    value = row.get(name)
    if value is None or isinstance(value, str):
        return value
    raise InputError("should be text", file=where, field=name)


def _records(selection: Selection, page: Page) -> Iterator[Record]:
    """Write every link of a page down, chosen or not, then what is no link to a page."""
    for candidate in selection.candidates:
        yield {"schema": SCHEMA, **candidate_record(candidate)}
    for href, rule in page.skipped:
        yield _skipped(href, rule)


def _skipped(href: str, rule: str) -> Record:
    """Give an href that is no URL the same names, in the same order (URL-9)."""
    out = {"rule": rule, "why": f"URL-9: {rule.replace('-', ' ')}"}
    known = {
        "schema": SCHEMA,
        "url": href,
        "matched": [],
        "reasons": [],
        "parts": {},
        "out": out,
        "unknown": [],
        "positions": [],
    }
    return {**dict.fromkeys(NAMES), **known}
