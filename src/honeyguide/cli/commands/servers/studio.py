"""`honeyguide studio`: the page in the browser."""

from __future__ import annotations

import asyncio
import os
import webbrowser
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from honeyguide.app.runs import list_runs
from honeyguide.cli.command import Command, option, takes
from honeyguide.cli.options import STORE
from honeyguide.cli.output import note
from honeyguide.cli.stopping import until_stopped
from honeyguide.core.text.printable import printable
from honeyguide.errors import InputError

if TYPE_CHECKING:
    from honeyguide.studio.shell import Sources


@dataclass(frozen=True, slots=True)
class _Options:
    store: str | None = option("--store FILE", f"A store of crawls.  [default: {STORE}, if it is there]")
    picks: str | None = option("--picks FILE", "Records of picks, as pick -o writes them.")
    keep: str | None = option("--keep FILE", "Pages that pick --keep has kept, to try other rules on them.")
    port: int = option(
        "--port N", "The port on this machine; 0 takes a free one.", default=0, type=click.IntRange(0, 65_535)
    )
    no_open: bool = option("--no-open", "Print the address, and open no browser.")


@click.command(
    cls=Command,
    examples=(
        "honeyguide studio",
        "honeyguide studio --picks picks.jsonl --keep kept.db",
    ),
)
@takes(options=_Options)
def studio(options: _Options) -> None:
    """Look at picks, crawls and plans in a browser, ask why, and try other rules.

    The page is served on this machine only, and the printed address has a token that nobody else knows. Stores are only read;
    profiles and labels are saved where you say. Ctrl-C ends it.
    """
    store = options.store or (STORE if Path(STORE).exists() else None)
    if store is None and options.picks is None and options.keep is None:
        raise click.UsageError(
            "Name what to look at: --store FILE, --picks FILE or --keep FILE; honeyguide demo --studio shows an example."
        )
    if store is not None:
        list_runs(store)  # says what is wrong with it
    if options.picks is not None and not os.path.exists(options.picks):  # noqa: PTH110 - the path may be hostile; this never raises
        raise InputError("no such file; pick -o makes one", file=options.picks)
    from honeyguide.studio.shell import Sources

    with ExitStack() as stack:
        run_studio(
            Sources(store, options.picks), options.keep, stack, port=options.port, opens=not options.no_open
        )


def run_studio(
    sources: Sources, keep: str | None, stack: ExitStack, *, port: int = 0, opens: bool = True
) -> None:
    """Serve until Ctrl-C; also for the demo."""
    from honeyguide.studio.server import Studio, serve

    if keep is not None:
        from honeyguide.app.views.answers import opened_answers
        from honeyguide.app.views.what_if import WhatIf

        sources.what_if = WhatIf(stack.enter_context(opened_answers(keep, keeps=False, replays=True)))

    def ready(address: str) -> None:
        click.echo(printable(f"The studio is at {address}"))
        note("Ctrl-C ends it; the address is for you alone, because it has a token")
        if opens:
            webbrowser.open(address)

    async def work() -> str:
        try:
            await serve(Studio(sources, port), ready)
        except OSError as error:
            raise InputError(f"port {port} cannot be used: {error.strerror}; choose another --port") from None
        return ""

    asyncio.run(until_stopped(work()))
