"""What makes a run the same run, and what of it the store keeps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from honeyguide.config import load_profile
from honeyguide.core.crawl.frontier import Run
from honeyguide.core.url.url import Url
from honeyguide.errors import InputError
from honeyguide.jobs.request import CrawlRequest, key_of, resumed_request, spec_of

HOME = Url.parse("https://a.example/")


def test_the_key_is_the_one_that_stores_of_before_have() -> None:
    profile = load_profile("docs", topic="fire")
    spec = spec_of(CrawlRequest((HOME,), include=("/a",)), profile)
    seed = HOME.key(profile.scope.tracking)
    assert profile.hash != profile.own_hash
    assert spec.key == key_of(("focused", "fire", profile.hash, "/a", None, False, seed))


def test_the_hash_is_that_of_the_profile_whatever_the_topic() -> None:
    plain = load_profile("docs")
    for profile in (plain, load_profile("docs", topic="fire"), load_profile("docs", related=("smoke",))):
        assert spec_of(CrawlRequest((HOME,)), profile).profile_hash == plain.hash


@pytest.mark.parametrize(
    "written",
    [
        "",
        "[]",
        "5",
        '{"unknown": 1}',
        '{"traversal": 5}',
        '{"max_depth": "x"}',
        '{"max_depth": true}',
        '{"max_depth": 1.5}',
        '{"include": [1]}',
        '{"exclude": 0.5}',
        '{"follow_external": 1}',
        '{"profile": [1]}',
        '{"related": [1]}',
        '{"related": 1}',
        '{"render": "sometimes"}',
        '{"render": true}',
    ],
)
def test_a_request_that_nobody_wrote_is_one_sentence(written: str) -> None:
    spec = spec_of(CrawlRequest((HOME,)), load_profile("docs"))
    with pytest.raises(InputError, match="does not say how it was asked for"):
        resumed_request(Run(1, replace(spec, request=written), 0.0, 0.0))


def test_a_request_is_read_as_it_was_written() -> None:
    request = CrawlRequest(
        (HOME,), "bfs", max_depth=3, include=("/a",), exclude=("/b", "/c"), related=("smoke", "alarm")
    )
    saved = resumed_request(Run(1, spec_of(request, load_profile("docs")), 0.0, 0.0))
    assert (saved.traversal, saved.max_depth, saved.include, saved.exclude) == (
        "bfs",
        3,
        ("/a",),
        ("/b", "/c"),
    )
    assert (saved.related, saved.profile) == (("smoke", "alarm"), "docs")


def test_a_depth_of_zero_is_remembered_although_it_equals_false() -> None:
    spec = spec_of(CrawlRequest((HOME,), "bfs", max_depth=0), load_profile("docs"))
    assert resumed_request(Run(1, spec, 0.0, 0.0)).max_depth == 0


def test_a_crawl_that_renders_is_another_run_and_is_resumed_as_one() -> None:
    profile = load_profile("docs")
    plain, rendering = (spec_of(CrawlRequest((HOME,), render=mode), profile) for mode in ("never", "auto"))
    assert plain.key != rendering.key
    assert "render" not in (plain.request or "")
    assert [resumed_request(Run(1, spec, 0.0, 0.0)).render for spec in (plain, rendering)] == [
        "never",
        "auto",
    ]
