"""Ages."""

from __future__ import annotations

from honeyguide.core.clocks import ARTICLE_H, OLD_SPEED

EDGES_H = (0.0, *(2.0**power for power in range(15)))
FIRMNESS = 4.0


def first_weights(name: str) -> tuple[float, ...]:
    if name != "article":
        return (1.0,) * len(EDGES_H)
    ends = (*EDGES_H[1:], 2 * EDGES_H[-1])
    def r(age):
        return ARTICLE_H * age / (age + ARTICLE_H) + OLD_SPEED * age
    return tuple((r(b) - r(a)) / (b - a) for a, b in zip(EDGES_H, ends, strict=True))
