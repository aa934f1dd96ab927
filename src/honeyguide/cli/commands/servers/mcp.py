"""`honeyguide mcp`: the tools of an agent, on standard input and output."""

from __future__ import annotations

import click

from honeyguide.cli.command import Command
from honeyguide.errors import InputError


@click.command(cls=Command, examples=("honeyguide mcp", "honeyguide mcp --store crawl.db"))
@click.option("--store", metavar="FILE", help="Let explain and plan read this store.")
@click.option(
    "--allow-private",
    is_flag=True,
    help="Let the agent reach private addresses; it cannot ask for that itself.",
)
def mcp(store: str | None, allow_private: bool) -> None:
    """Serve an agent: pick, crawl, explain and plan by the Model Context Protocol.

    The agent speaks to it on standard input and output. Pages and time of a crawl are bounded, results are short, and text from
    pages is marked as untrusted.
    """
    try:
        from honeyguide.contrib.mcp import make_server
    except ImportError:
        raise InputError("mcp needs the SDK of the protocol; pip install 'mcp>=2.3'") from None
    make_server(store, allow_private=allow_private).run()
