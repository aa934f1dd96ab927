"""What every `Fetcher` promises, whoever wrote it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from honeyguide.adapters.http.client import HttpFetcher
from honeyguide.core.fetching import FetchPolicy
from honeyguide.core.url.url import Url
from honeyguide.errors import FetchError, UnreachableError
from honeyguide.ports.fetch import Fetched, Fetcher, Headers
from honeyguide.testing.fakes import FakeFetcher, LoopbackServer, Script, reset, response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    World = Callable[[], AbstractAsyncContextManager[tuple[Fetcher, str]]]

PAGE = b"<title>Hi</title>"


@asynccontextmanager
async def fake() -> AsyncIterator[tuple[Fetcher, str]]:
    root = "http://fake.example"
    moved = Url.parse(f"{root}/moved")
    yield (
        FakeFetcher(
            {
                f"{root}/page": PAGE,
                f"{root}/moved": Fetched(moved, moved, 302, Headers(location="/page")),
                f"{root}/broken": UnreachableError,
            },
        ),
        root,
    )


@asynccontextmanager
async def real() -> AsyncIterator[tuple[Fetcher, str]]:
    answers: dict[str, bytes | Script] = {
        "/page": response(PAGE),
        "/moved": response(b"elsewhere", "Location: /page", status="302 Found"),
        "/broken": reset,
    }
    async with (
        LoopbackServer(answers) as server,
        HttpFetcher(FetchPolicy(allow_private=True), proxies={}) as fetcher,
    ):
        yield fetcher, server.root


both = pytest.mark.parametrize("world", [fake, real])


def ask(world: World, path: str) -> Fetched:
    async def run() -> Fetched:
        async with world() as (fetcher, root):
            return await fetcher.fetch(Url.parse(root + path))

    return asyncio.run(run())


@both
def test_a_page_is_its_bytes(world: World) -> None:
    got = ask(world, "/page")
    assert (got.status, got.body, got.hops, got.truncated) == (200, PAGE, (), False)
    assert got.headers.content_type == "text/html"
    assert got.url == got.request_url


@both
def test_a_missing_page_is_an_answer(world: World) -> None:
    got = ask(world, "/missing")
    assert (got.status, got.body) == (404, b"")


@both
def test_a_redirect_is_an_answer_and_is_not_followed(world: World) -> None:
    got = ask(world, "/moved")
    assert (got.status, got.headers.location, got.body) == (302, "/page", b"")
    assert got.url.text.endswith("/moved")


@both
def test_a_failure_is_one_of_our_errors_and_names_the_url(world: World) -> None:
    with pytest.raises(FetchError) as caught:
        ask(world, "/broken")
    assert caught.value.url.endswith("/broken")
    assert caught.value.retryable
