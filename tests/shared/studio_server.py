"""A studio that tests open: its files, the server in a thread, and a client that asks as a browser or an attacker would."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from honeyguide.app.views.kept_pick import opened_kept_pick
from honeyguide.app.views.what_if import WhatIf
from honeyguide.cli.main import root
from honeyguide.studio.server import Studio, serve
from honeyguide.studio.shell import Sources
from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


HOSTILE = '</title><script>alert(1)</script><img src=x onerror="alert(2)">'
PROSE = "We repair roofs, every day, for owners of buildings of every size. " * 6
LINKS = ("services", "about", "gutters", "siding", "windows", "team", "contact", "blog/news")


def hostile_site() -> LoopbackServer:
    """Make a site whose titles, link texts and addresses try to be markup."""
    anchors = "".join(f"<a href=/{name}>{name} {HOSTILE}</a>" for name in LINKS)
    hostile = '<a href="/x?a=%22%3E%3Cscript%3E&quot;onmouseover=alert(3)">odd</a><a href="javascript:alert(4)">js</a>'
    home = f"<title>Roofs {HOSTILE.replace('<', '&lt;')}</title><nav>{anchors}{hostile}</nav><p>{PROSE}"
    pages = {
        f"/{name}": f"<title>{name} &lt;script&gt;</title><h1>{name}</h1><p>All about {name}. {PROSE}{name}"
        for name in LINKS
    }
    return LoopbackServer({path: response(text.encode()) for path, text in {"/": home, **pages}.items()})


@dataclass(frozen=True)
class Made:
    """Files of one pick and one crawl, and the address of the site, which is gone."""

    folder: Path
    address: str


def run(*args: str) -> Any:
    """Run a command that must not fail."""
    result = CliRunner().invoke(root, args, prog_name="honeyguide")
    assert result.exit_code in (0, 3), result.output
    return result


def make(folder: Path) -> Made:
    """Pick and crawl the hostile site into a folder."""
    quick = ("--allow-private", "--delay", "0", "--quiet")
    with served(hostile_site()) as (address,):
        run("pick", address, *quick, "--keep", f"{folder}/kept.db", "-o", f"{folder}/picks.jsonl")
        found = ("--store", f"{folder}/store.db", "-o", f"{folder}/pages.jsonl")
        run("crawl", address, *quick, "--topic", "roof|gutter", *found)
    return Made(folder, address)


class Client:
    """Asks a studio as a browser does, or as an attacker would."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self.origin = f"http://127.0.0.1:{studio.port}"
        self.cookie = f"{studio.cookie}={studio.token}"

    def ask(
        self, path: str, method: str = "GET", body: str | None = None, **headers: str
    ) -> tuple[int, dict[str, str], str]:
        """Send a request; `_` in the name of a header stands for `-`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.studio.port)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, sent)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, dict(answer.getheaders()), text

    def get(self, path: str) -> str:
        """Get a page that must be there."""
        status, _, text = self.ask(path, Cookie=self.cookie)
        assert status == 200, text
        return text

    def json(self, path: str) -> Any:
        """Get the records of a view."""
        return json.loads(self.get(path))

    def post(self, path: str, value: Any) -> Any:
        """Post as the page does."""
        _, _, text = self.ask(path, "POST", json.dumps(value), Cookie=self.cookie, Origin=self.origin)
        return json.loads(text)

    def events(self, path: str) -> list[Any]:
        """Read an event stream to its end."""
        return [json.loads(line[6:]) for line in self.get(path).splitlines() if line.startswith("data: ")]


@contextmanager
def opened(folder: Path, database: str | None = None) -> Iterator[Client]:
    """Serve what a folder has (store.db, picks.jsonl, kept.db), or a database, in a thread until the block ends."""
    loop, ready = asyncio.new_event_loop(), threading.Event()
    tasks: list[asyncio.Task[None]] = []
    found: list[Studio] = []

    def named(name: str) -> str | None:
        return str(folder / name) if (folder / name).exists() else None

    def work() -> None:
        asyncio.set_event_loop(loop)
        with ExitStack() as stack:
            sources = Sources(database or named("store.db"), named("picks.jsonl"))
            if kept := named("kept.db"):
                sources.what_if = WhatIf(
                    stack.enter_context(opened_kept_pick(kept, keeps=False, replays=True))
                )
            studio = Studio(sources)
            found.append(studio)
            tasks.append(loop.create_task(serve(studio, lambda _: ready.set())))
            with suppress(asyncio.CancelledError):  # the test ends it so
                loop.run_until_complete(tasks[0])
            loop.run_until_complete(loop.shutdown_default_executor())

    thread = threading.Thread(target=work)
    thread.start()
    assert ready.wait()
    try:
        yield Client(found[0])
    finally:
        loop.call_soon_threadsafe(tasks[0].cancel)
        thread.join()
        loop.close()
