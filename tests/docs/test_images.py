"""The pictures of the docs: small, made by tools/screenshots.py, and none that loads something from another server."""

from pathlib import Path

import screenshots

IMAGES = sorted(screenshots.IMAGES.iterdir())


def test_each_view_has_a_small_picture() -> None:
    """A picture that nobody can make again is not there, and none is too large for a page."""
    made = {"terminal.svg", *(f"studio-{name}.png" for name in screenshots.VIEWS)}
    assert {path.name for path in IMAGES} == made
    assert {path.name for path in IMAGES if path.stat().st_size > screenshots.MAX_BYTES} == set()


def test_the_session_loads_nothing() -> None:
    """rich would load its fonts from another server."""
    text = (screenshots.IMAGES / "terminal.svg").read_text("utf-8")
    assert "url(http" not in text
    assert "@font-face" not in text
    assert "honeyguide&#160;pick" in text
    assert str(Path.home()) not in text


def test_what_was_overwritten_is_not_shown() -> None:
    """A progress line gives way to the line after it."""
    assert screenshots.settled("1 of 2\r2 of 2\r\nbar\r\n\x1b[1A\x1b[2Kdone\r\n") == "2 of 2\ndone"
