"""Every pattern of docs/reference/topic-patterns.md finds what the page says, and none of what comes near."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from honeyguide import score_link, score_page

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "topic-patterns.md"
BLOCK = re.compile(r"```text\ntopic: (.+)\nfinds: (.+)\nnot:   (.+)\n```")
BLOCKS = BLOCK.findall(PAGE.read_text("utf-8"))


def scores(topic: str, text: str) -> tuple[float, float, float]:
    """Score a made-up page, its three texts, and a link to it."""
    html = f"<title>{text}</title><h1>{text}</h1><p>It is about: {text}. A fine day.</p>"
    texts = score_page(title=text, headings=[text], content=f"It is about: {text}. A fine day.", topic=topic)
    return score_page(html, topic=topic), texts, score_link("https://a.example/x", anchor=text, topic=topic)


def test_the_page_has_patterns_for_each_domain() -> None:
    text = PAGE.read_text("utf-8")
    assert len(BLOCKS) == text.count("```text") >= 10
    assert {"## APIs", "## Security", "## Pricing", "## Several languages"} <= set(text.splitlines())


@pytest.mark.parametrize(("topic", "finds", "near"), BLOCKS)
def test_a_pattern_finds_its_texts_and_nothing_near(topic: str, finds: str, near: str) -> None:
    for text in finds.split("; "):
        page, texts, link = scores(topic, text)
        assert page >= 5, text
        assert texts >= 5, text
        assert link == 5, text
    for text in near.split("; "):
        assert scores(topic, text) == (0, 0, 0), text
