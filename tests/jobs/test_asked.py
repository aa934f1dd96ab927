"""What makes a run the same run, and what of it the store keeps."""

from __future__ import annotations

from honeyguide.config import load_profile
from honeyguide.core.frontier import key_of
from honeyguide.core.url import Url
from honeyguide.jobs.asked import CrawlRequest, spec_of

HOME = Url.parse("https://a.example/")


def test_the_key_is_the_one_that_stores_of_before_have() -> None:
    profile = load_profile("docs", topic="fire")
    spec = spec_of(CrawlRequest((HOME,), include="/a"), profile)
    seed = HOME.key(profile.scope.tracking)
    assert profile.hash != profile.own_hash
    assert spec.key == key_of(("focused", "fire", profile.hash, "/a", None, False, seed))


def test_the_hash_is_that_of_the_profile_whatever_the_topic() -> None:
    plain = load_profile("docs")
    for profile in (plain, load_profile("docs", topic="fire"), load_profile("docs", related=("smoke",))):
        assert spec_of(CrawlRequest((HOME,)), profile).profile_hash == plain.hash
