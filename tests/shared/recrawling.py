"""What tests of visits to known pages share: pages of a small site, and a plan that makes some of them due."""

from __future__ import annotations

from honeyguide.adapters.store.sqlite.store import SqliteStore
from honeyguide.core.crawl.frontier import ScheduledVisit, digest_of
from honeyguide.core.url.url import Tracking, Url
from honeyguide.testing.fakes import response

QUICK = ("--allow-private", "--delay", "0", "--retries", "0")


def page(title: str, *links: str) -> bytes:
    """Write a page with enough words of its own, and links that name the topic."""
    words = "".join(f"<p>All about {title}, sentence {n}, in words of its own.</p>" for n in "abcdefgh")
    listed = " ".join(f'<p><a href="{href}">fire {href}</a></p>' for href in links)
    return response(f"<title>{title}</title><main><h1>{title}</h1>{words}{listed}</main>".encode())


def make_due(home: str, *paths: str, run: int = 1) -> None:
    """Schedule pages, as a plan does."""
    store = SqliteStore("honeyguide.db")
    found = next(one for one in store.runs.list() if one.id == run)
    digests = [digest_of(Url.parse(path, Url.parse(home)), Tracking()) for path in paths]
    due = [ScheduledVisit(digest, 0.0, place) for place, digest in enumerate(digests)]
    assert store.queue(found).schedule(due) == {one.digest for one in due}
    store.close()
