"""A link is described when somebody asks for it, and is then like any other."""

from __future__ import annotations

import pickle

from honeyguide.adapters.html.page import extract_links
from honeyguide.core.page.page import Link, Occurrence, Position
from honeyguide.core.url.url import Url

URL = Url.parse("https://a.example/alarms")
SAID = (Occurrence("Alarms", "All alarms", "nofollow", Position.MAIN, "We test alarms."),)


def test_a_link_is_described_once_and_only_if_somebody_asks() -> None:
    calls: list[int] = []

    def describe() -> tuple[Occurrence, ...]:
        calls.append(1)
        return SAID

    link = Link(URL, describe, 3, [("Alarms", Position.MAIN)])
    assert (link.anchor, link.position, calls) == ("Alarms", Position.MAIN, [])
    assert (link.title, link.context, link.rel, calls) == ("All alarms", "We test alarms.", "nofollow", [1])


def test_a_described_link_equals_one_that_had_its_occurrences() -> None:
    late, early = Link(URL, lambda: SAID, 3, [("Alarms", Position.MAIN)]), Link(URL, SAID, 3)
    assert late == early
    assert hash(late) == hash(early)
    assert pickle.loads(pickle.dumps(Link(URL, lambda: SAID, 3, early.seen))) == early  # noqa: S301 - our own bytes


def test_the_order_of_questions_changes_no_context() -> None:
    """Anchors of a long text are searched one after the other, whoever asks first."""
    words = [" ".join(f"{letter}{number}" for number in range(60)) for letter in "pqrs"]
    html = f"<p>{words[0]} <a href=/1>same</a> {words[1]} <a href=/2>same</a> {words[2]} <a href=/3>same</a> {words[3]}"
    forward = [link.context for link in extract_links(html, URL)]
    backward = [link.context for link in reversed(extract_links(html, URL))]
    assert forward == backward[::-1]
    assert [context.partition(" same ")[0].split()[-1] for context in forward] == ["p59", "q59", "r59"]
