"""Numbers in sentences: durations, shares and amounts, to two digits. Must not know: what is counted."""

from __future__ import annotations

_UNITS = ((8760.0, "year"), (24.0, "day"), (1.0, "hour"), (1 / 60, "minute"), (1 / 3600, "second"))
_WHOLE = {"60 seconds": "1 minute", "60 minutes": "1 hour", "24 hours": "1 day", "365 days": "1 year"}


def duration(hours: float) -> str:
    """Write a duration to two digits; what rounds to a whole larger unit is written in that unit.

    >>> duration(40.8), duration(72.0), duration(0.5), duration(1.0), duration(0.005), duration(23.8)
    ('1.7 days', '3 days', '30 minutes', '1 hour', '18 seconds', '1 day')
    """
    size, unit = next((item for item in _UNITS if hours >= item[0]), _UNITS[-1])
    number = amount(hours / size)
    text = f"{number} {unit}" if number == "1" else f"{number} {unit}s"
    return _WHOLE.get(text, text)


def every(hours: float) -> str:
    """Write how often something happens: `every day`, `every 3 days`."""
    return f"every {duration(hours).removeprefix('1 ')}"


def amount(number: float) -> str:
    """Write a number to two digits, or more if it has more before the point."""
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}".removesuffix(".0")


def percent(share: float) -> str:
    """Write a share in percent; 0 % is only written for nothing at all."""
    return "less than 1 %" if 0.0 < share < 0.005 else f"{100 * share:.0f} %"
