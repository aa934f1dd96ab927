"""What chooses among links, for `pick` and `select` alike: a strategy, and the profile that has it.

Owns: settling the two, and saying what of the rest they leave unused. Must not know: how anything is chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from honeyguide import app
from honeyguide.app.given import check_strategy
from honeyguide.cli.output import note
from honeyguide.config import load_profile
from honeyguide.core.select import goes_by_query

if TYPE_CHECKING:
    from honeyguide.core.profile import Profile


def strategy_profile(asked: dict[str, Any]) -> Profile:
    """Load the profile that chooses: the one that is named, or the strategy's own; it must have the strategy."""
    strategy = asked["strategy"]
    profile = load_profile(asked["profile"] or app.default_profile(strategy))
    check_strategy(profile, strategy)
    if asked["query"] is not None and not goes_by_query(profile, strategy):
        others = " or ".join(name for name in profile.strategies if goes_by_query(profile, name))
        advice = f"; --strategy {others} does" if others else ""
        note(f"strategy {strategy} does not choose by --query{advice}")
    return profile
