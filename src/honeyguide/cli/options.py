"""Options that several commands share: how to fetch, addresses, times, files; and the sentence where a value is wrong.

Owns: the rules of all commands that read or write files; `app.files` writes. Must not know: any command's records.
"""

from __future__ import annotations

import os
import shlex
from contextlib import closing, contextmanager, redirect_stdout
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from honeyguide.app.arguments import Access, check_no_login, fetch_policy, fields_of, read_logins, read_time
from honeyguide.app.files import (
    STDIN,
    Rejected,
    check_replaceable,
    expanded,
    kind_of,
    name_of,
    no_rows,
    store_name,
)
from honeyguide.cli.command import PARTIAL, Number, option, options_of
from honeyguide.cli.output import note
from honeyguide.cli.progress import RowProgress, count_of
from honeyguide.core.text.printable import printable
from honeyguide.core.url.steps import scheme_of, trim
from honeyguide.core.url.url import Url
from honeyguide.errors import ConfigError, InputError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from honeyguide.app.arguments import FetchPolicy

_Item = TypeVar("_Item")
STORE = "honeyguide.db"
INSIDE_WORDS = "; it also matches inside words: \\bORM\\b is the whole word"  # of a pattern
FORMATS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv"}
ALL_FORMATS = {**FORMATS, ".parquet": "parquet", ".pq": "parquet", ".xlsx": "xlsx"}
_REPORTS = (".html", ".htm", ".md", ".markdown")
_GENERATOR = b'<meta name="generator" content="honeyguide">'  # in the head of every HTML report


# --- options ---


def _headers(
    _ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    if not all("=" in text for text in texts):
        raise click.BadParameter("write NAME=VALUE, such as Accept-Language=de.")
    pairs = tuple(
        (name.strip(), value.strip(" \t")) for name, _, value in (text.partition("=") for text in texts)
    )
    _check_access(headers=pairs)
    return pairs


def _proxy(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    _check_access(proxy=text)
    return text


def _check_access(**values: Any) -> None:
    """Reject what cannot be sent; messages never have the value, because it may be a password."""
    try:
        Access(**values)
    except ConfigError as error:
        raise click.BadParameter(f"{error.problems[0].what}.") from None


def _logins(
    _ctx: click.Context, _option: click.Parameter, file: str | None
) -> tuple[tuple[str, str, str], ...]:
    try:
        return () if file is None else read_logins(file)
    except InputError as error:
        raise click.BadParameter(f"{printable(error.file)}: {error.what}.") from None


# Options that several commands have: each call declares a field. --concurrency means something else to each of them.
concurrency_option = partial(option, "--concurrency N", type=click.IntRange(1, 512))
store_option = partial(
    option,
    "--store FILE",
    "The store of crawls: a file, or postgresql://… for several machines.",
    default=STORE,
)
quiet_option = partial(option, "-q --quiet", "Do not say what was written to the file of -o.")
render_option = partial(
    option,
    "--render",
    "Run the scripts of pages in a browser (needs the extra render); auto: only where a page needs them.",
    default="never",
    type=click.Choice(["never", "auto", "always"]),
)
reports_option = partial(option, "--report FILE", "Write a report for people, .html or .md; may be repeated.")
input_format_option = partial(
    option,
    "--input-format",
    "What FILE is.  [default: by its name]",
    type=click.Choice(["csv", "jsonl", "parquet"]),
)
on_error_option = partial(
    option,
    "--on-error",
    "What to do with a wrong row; `skip` writes it to FILE.rejected.",
    default="stop",
    type=click.Choice(["stop", "skip"]),
)


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """How to fetch: what differs from the fetch policy. Some commands have their own --concurrency."""

    concurrency: int = concurrency_option("Requests at once.", default=32)
    delay: float | None = option(
        "--delay S", "Seconds between two requests to one host.  [default: 0.5]", type=Number(0, 3600)
    )
    timeout: float | None = option(
        "--timeout S", "Seconds for one request.  [default: 30]", type=Number(0.1, 3600)
    )
    retries: int | None = option(
        "--retries N",
        "Retries after a temporary failure.  [default: 2]",
        type=click.IntRange(0, 20),
    )
    user_agent: str | None = option("--user-agent TEXT", "The whole User-Agent header.")
    contact: str | None = option("--contact URL", "Where site owners reach you; part of the User-Agent.")
    headers: tuple[tuple[str, str], ...] = option(
        "--header NAME=VALUE",
        "Send a header to the sites of the command; may be repeated.",
        callback=_headers,
    )
    proxy: str | None = option(
        "--proxy URL",
        "Fetch through a proxy, http or https.  [default: HTTP_PROXY and HTTPS_PROXY]",
        callback=_proxy,
    )
    netrc: tuple[tuple[str, str, str], ...] = option(
        "--netrc FILE",
        "Send the logins of a netrc file to the sites of the command.",
        multiple=False,
        callback=_logins,
    )
    allow_private: bool = option("--allow-private", "Also fetch from this machine and private networks.")

    @property
    def policy(self) -> FetchPolicy:
        """The fetch policy with these changes."""
        return fetch_policy(**asdict(self))


@dataclass(frozen=True, slots=True)
class _PrintOptions:
    no_color: bool = option("--no-color", "")
    quiet: bool = option("--quiet", "")
    verbose: int = option("--verbose", "", count=True)


def common_options() -> list[click.Option]:
    """List the options that `honeyguide.toml` may set for all commands at once."""
    return [*options_of(FetchOptions), *options_of(_PrintOptions)]


def scope_option(usual: str, default: str | None = None) -> Any:
    """Declare --scope."""
    about = f"Hosts of one site: the same host; with and without www; all of the domain.{usual}"
    return option("--scope", about, default=default, type=click.Choice(["host", "www", "domain"]))


@dataclass(frozen=True, slots=True)
class KeepOptions:
    """How much of the pages themselves the store keeps."""

    no_keep: bool = option("--no-keep", "Keep no page contents in the store.")
    keep_limit: int = option(
        "--keep-limit MB",
        "Megabytes of compressed pages that the store keeps, the newest ones.",
        type=click.IntRange(1, 1_000_000),
        default=2_000,
    )

    @property
    def keep_bytes(self) -> int:
        """The room for pages in a store."""
        return 0 if self.no_keep else self.keep_limit * 1_000_000


def name_run(store: str, run: int, newest: int) -> str:
    """Write the options that name a run of a store, unless they are the defaults."""
    named = "" if store == STORE else f" --store {shlex.quote(store_name(store))}"
    return named + ("" if run == newest else f" --run {run}")


def format_option(*formats: str) -> Any:
    """Declare --format of a command that also writes files."""
    about = "How to write.  [default: by the name of -o, else a table in a terminal, JSON lines in a pipe]"
    return option("--format", about, type=click.Choice(["table", "jsonl", "csv", *formats]))


def content_option(what: str = "the main content of each page") -> Any:
    """Declare --content, whose value may be left out."""
    about = f"Add {what}, as Markdown unless `text` follows."
    kinds = click.Choice(["markdown", "text"])
    return option("--content [markdown|text]", about, type=kinds, is_flag=False, flag_value="markdown")


def column_option(*fields: str, usual: str = "") -> Any:
    """Declare --column: which column of a table is which field; a name alone is that of the first field."""
    others = (
        f", or FIELD=NAME for another field: {', '.join(fields[1:])}; may be repeated" if fields[1:] else ""
    )
    about = f"The column that has the {fields[0]}{others}."
    return option(
        "--column [FIELD=]NAME", f"{about}{usual}", multiple=True, callback=partial(_columns, fields)
    )


def _columns(
    fields: Sequence[str], _ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> dict[str, str]:
    """Read the names of columns, by field."""
    found: dict[str, str] = {}
    for text in texts:
        field, column = text.split("=", 1) if "=" in text else (fields[0], text)
        if field in found:
            raise click.BadParameter(f"{field} has a column already: {found[field]}.")
        found[field] = column
    try:
        fields_of(found, fields)
    except InputError as error:
        raise click.BadParameter(f"{error.what}.") from None
    return found


def moment(_ctx: click.Context, _option: click.Parameter, value: str | None) -> datetime | None:
    """Read an option that is a time."""
    try:
        return read_time(value)
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(f"{value!r} {error}.") from None


def address(_context: click.Context, _option: click.Parameter, text: Any) -> Any:
    """Check the address of an option or an argument, as its callback."""
    try:
        if text is not None:
            check_no_login([text])
            Url.parse(text)
    except InputError as error:
        raise click.BadParameter(f"{error.what}.") from None
    except UrlError as error:
        raise click.BadParameter(f"{refusal(error)}.") from None
    return text


def refusal(error: UrlError) -> str:
    """Say why a text is not an address: its beginning is missing, or what `UrlError` says."""
    if scheme_of(trim(error.text)):
        return printable(str(error))
    return f"{shown(error.text)} has no http:// or https:// in front"


@contextmanager
def rejected_options(hints: Mapping[str, str] | None = None) -> Iterator[None]:
    """Turn an error about a value of `app` into wrong usage of the option of that name, or of what `hints` says."""
    try:
        yield
    except InputError as error:
        if not error.field:
            raise
        hint = {"columns": "--column", **(hints or {})}.get(error.field, f"--{error.field}")
        raise click.BadParameter(f"{error.what}.", param_hint=hint) from None


# --- files ---


def destination(
    file: str | None, output: str | None, known: Mapping[str, str] = FORMATS, usual: str = "jsonl"
) -> tuple[str | None, str]:
    """Choose where records go, and their format: the file of -o, or None for standard output.

    Standard output is also `-`, or /dev/null, where it then goes. A file has the format of its name, or of --format if the name
    does not tell; standard output that of --format, or the `usual` one.
    """
    if file == os.devnull:
        context = click.get_current_context()
        nothing = context.with_resource(Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - the context closes it
        context.with_resource(redirect_stdout(nothing))
    if file not in (None, STDIN, os.devnull):
        return file, _format_of(file, output, known)
    if output in ("parquet", "xlsx"):
        raise click.UsageError(f"{output.capitalize()} needs a file: name it with -o.")
    return None, output or usual


def check_distinct(inputs: Iterable[str | None], outputs: Iterable[str | None]) -> None:
    """Reject a file that is both read and written, or written twice."""
    seen = {_place(file) for file in inputs if file is not None}
    for file in outputs:
        if file not in (None, STDIN, os.devnull):
            if _place(file) in seen:
                raise click.UsageError(
                    f"{shown(file)} is named twice; an output needs a file that is neither an input nor another output."
                )
            seen.add(_place(file))


def _place(file: str) -> Path:
    try:
        return Path(file).resolve()
    except (OSError, RuntimeError, ValueError):  # opening it will say what is wrong
        return Path(file)


def _format_of(file: str, output: str | None, known: Mapping[str, str]) -> str:
    if output == "table":
        raise click.UsageError("A table is for the terminal; leave out --format or -o.")
    suffix = Path(file).suffix.lower()
    named = known.get(suffix)
    if named and output and named != output:
        raise click.UsageError(
            f"{shown(file)} is {named} by its name; leave out --format {output}, or choose another name."
        )
    found = named or output or (None if suffix else "jsonl")
    if found is None:
        raise click.BadParameter(
            f"{shown(file)} should end in {', '.join(known)}; or choose a --format.", param_hint="-o"
        )
    return found


def check_reports(files: Iterable[str], command: str) -> None:
    """Reject reports whose names end neither in .html nor .md, or that `check_report` rejects."""
    for file in files:
        if not file.lower().endswith(_REPORTS):
            raise click.BadParameter(f"{shown(file)} is neither .html nor .md.", param_hint="--report")
        check_report(file, command)


def check_report(file: str, command: str) -> None:
    """Reject a report that cannot be written or would replace another kind of file; checked before the work."""
    from honeyguide.report.sheet import HEADINGS  # only for those who want one

    heading = HEADINGS[command]
    first, titled = f"# {heading}\n".encode(), f"<h1>{heading}</h1>".encode()

    def is_ours(head: bytes) -> bool:
        return head.startswith(first) or (_GENERATOR in head and titled in head)

    check_replaceable(Path(file), is_ours, option="--report")


def tell_written(files: Sequence[str | None], count: int, what: str) -> None:
    """Name the files that were written, and how many records they have."""
    if written := list(filter(None, files)):
        click.echo(printable(f"{', '.join(written)}: {count_of(count, what)}"), err=True)


def check_kinds(files: Iterable[str], kind: str | None) -> None:
    """Reject files whose format is known neither by --input-format nor by their name."""
    for file in (file for path in files for file in expanded(path)):
        if kind is None and kind_of(file) is None:
            raise click.UsageError(
                f"{printable(name_of(file))}: say what it is with --input-format csv, jsonl or parquet."
            )


def require_any(found: Iterable[_Item], files: Iterable[str], rejected: Rejected | None) -> Iterator[_Item]:
    """Yield all items; an error if files have no rows, neither good nor wrong ones."""
    is_empty = True
    for item in found:
        is_empty = False
        yield item
    if is_empty and not (rejected is not None and rejected.rows):
        raise no_rows(files, None)


@contextmanager
def reading_rows(on_error: str, *, quiet: bool) -> Iterator[tuple[Rejected | None, RowProgress]]:
    """Show how many rows are read, and collect wrong ones if --on-error is `skip`; then say how many, and exit with 3."""
    progress = RowProgress()
    if on_error != "skip":
        with progress.shown(quiet=quiet):
            yield None, progress
        return
    with closing(Rejected()) as rejected, progress.shown(quiet=quiet):
        yield rejected, progress
    rejected.clear()
    if rejected.rows:
        rows = count_of(rejected.rows, "row is", "rows are")
        note(f"{rows} rejected; see {', '.join(rejected.files)}")
        click.get_current_context().exit(PARTIAL)
