"""The command line: `honeyguide`.

Each command is a module of its own, imported when the command is called; data goes to standard output, messages to standard
error. Exit codes: 0 done, 1 error, 2 usage, 3 stopped by a budget or partial, 130 interrupted. Start reading at `main`.
"""

from __future__ import annotations

import atexit
import errno
import gc
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from honeyguide import __version__
from honeyguide.__main__ import INTERRUPTED, UNCHANGED
from honeyguide.cli import stopping
from honeyguide.cli.command import CommandGroup
from honeyguide.cli.output import no_color_option
from honeyguide.core.text.printable import printable
from honeyguide.errors import HoneyguideError

if TYPE_CHECKING:
    from collections.abc import Sequence

ERROR = 1
# New objects before cycles are looked for: a page makes thousands and hardly any cycle, but each closed connection is one.
_MANY_OBJECTS = (50_000, 5, 5)


# Each command: its module below `cli.commands`, where a click command has the command's name, and its summary. The module
# is loaded when the command is called.
COMMANDS = {
    "demo": ("servers", "Show a first run, step by step, on a made-up company site."),
    "pick": ("pick", "Pick the pages worth a visit of each site, and say why."),
    "crawl": ("crawl", "Follow a topic through a site, best links first, and say why."),
    "explain": ("runs", "Explain why a URL was fetched, picked or rejected."),
    "runs": ("runs", "List the crawls of a store."),
    "workers": ("workers", "List the processes that work on the crawls of a store."),
    "rescore": ("runs", "Score the pages of a crawl by another topic or profile, without fetching anything."),
    "export": ("runs", "Write what a crawl found: pages, links, external links, or rejected URLs."),
    "diff": ("evaluate", "Say what changed from one file of picks or plans to another, and why."),
    "eval": ("evaluate", "Judge the picks of a run by labels of your own."),
    "learn": ("evaluate", "Propose other points and words for a profile, from pages that you labelled."),
    "select": ("select", "Choose the pages worth a visit among the links of a page."),
    "links": ("tools.links", "List the links of a page, with the verdict on each."),
    "score": ("tools.links", "Score a link or a page against a topic."),
    "plan": ("plan", "Rank known URLs by what a visit is worth now."),
    "import": ("watch", "Bring known URLs and their visits from files into a store."),
    "simulate": (
        "simulate",
        "Compare recrawl policies in worlds whose changes are known, and traversals on the pages of a store.",
    ),
    "watch": ("watch", "Visit the pages of a store again, the best first, until stopped."),
    "url": ("tools.url", "Normalise, classify and explain URLs."),
    "profile": ("tools.profile", "List, show, check and start profiles."),
    "studio": ("servers", "Look at picks, crawls and plans in a browser, ask why, and try other rules."),
    "mcp": ("servers", "Serve an agent: pick, crawl, explain and plan by the Model Context Protocol."),
    "schema": ("tools.profile", "Print the JSON Schema of the records of pick, crawl or plan."),
}


class Root(CommandGroup):
    """The outermost group: it turns every error into one sentence and an exit code."""

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        """Read the arguments; click would call an interrupt an abort."""
        try:
            return super().make_context(*args, **more)
        except KeyboardInterrupt:
            click.echo(printable(UNCHANGED), err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; no traceback reaches the user."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader stopped reading (`| head`): not an error
            _forget_output()
            ctx.exit(0)
        except (
            KeyboardInterrupt
        ):  # a command with more to say catches it; what is written is written in one step
            click.echo(printable(UNCHANGED), err=True)
            ctx.exit(INTERRUPTED)
        except HoneyguideError as error:
            _fail(ctx, str(error))
        except OSError as error:
            _fail(ctx, printable(_words(error)))
        except click.UsageError as error:
            raise _readable(error) from None
        except (click.exceptions.Exit, click.Abort, click.ClickException):
            raise
        except Exception as error:  # a bug of ours: one sentence instead of a traceback
            if os.environ.get("HONEYGUIDE_DEBUG"):
                raise
            what = f"internal error, {type(error).__name__}: {printable(str(error))}"
            _fail(ctx, f"{what}; this is a bug, HONEYGUIDE_DEBUG=1 shows where")
        else:
            return result


@click.group(
    cls=Root,
    lazy=COMMANDS,
    examples=(
        "honeyguide pick acme.example",
        "honeyguide crawl https://docs.example.org/ --topic 'asyncio|coroutine' --max-pages 500 -o pages.jsonl",
        "honeyguide select home.html --base https://acme.example/ --format csv",
        "honeyguide url explain HTTP://Acme.example:80/a/../b/",
        "honeyguide plan known.csv --top 10",
    ),
)
@click.version_option(__version__, "-V", "--version", prog_name="honeyguide", message="%(prog)s %(version)s")
@no_color_option
def root() -> None:
    """Say which pages of a site are worth a visit, and why.

    Commands print a table for a person and JSON lines for a pipe; --format chooses. export writes no table.
    """


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line; always ends with `SystemExit`."""
    if args is None:  # a process of its own
        stopping.guard()
    gc.set_threshold(*_MANY_OBJECTS)
    # All files are closed by then, and the last searches for cycles would take a fifth of a short run.
    atexit.register(gc.freeze)
    if sys.stdout is None:  # closed by the caller (`>&-`)
        sys.stdout = _ClosedOutput(Path(os.devnull).open("wb"), encoding="utf-8")  # noqa: SIM115 - open to the end
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")  # a terminal without the letter shows its number
    try:
        root.main(None if args is None else list(args), prog_name="honeyguide")
    except OSError as error:  # help and version are printed before there is a command to invoke
        click.echo(printable(f"Error: {_words(error)}"), err=True)
        raise SystemExit(ERROR) from None
    finally:
        try:
            sys.stdout.flush()
        except OSError:  # nobody reads on, or the disk is full; the command itself has said so
            _forget_output()


class _ClosedOutput(io.TextIOWrapper):
    """Standard output that is closed: writing to it fails, as on a full disk."""

    def write(self, text: str, /) -> int:
        """Reject all text."""
        if text:
            raise OSError(errno.EBADF, "is closed; let it go to a file or a pipe", "standard output")
        return 0


def _fail(ctx: click.Context, message: str) -> None:
    for line in message.split("\n"):
        click.echo(printable(f"Error: {line}"), err=True)
    ctx.exit(ERROR)


def _words(error: OSError) -> str:
    return f"{error.filename or 'output'}: {error.strerror or error}"


def _readable(error: click.UsageError) -> click.UsageError:
    """Make our own usage errors printable, because they name files; click quotes values in its own."""
    is_ours = type(error) in (click.UsageError, click.BadParameter)
    return click.UsageError(printable(error.format_message()), error.ctx) if is_ours else error


def _forget_output() -> None:
    """Send the interpreter's last flush to the null device, or it would complain about the closed pipe."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # not a real stream: nothing will be flushed
        return
