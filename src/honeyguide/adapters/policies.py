"""Recrawl policies by name: our own, and those of other packages.

Owns: the entry points of the group `honeyguide.policies`. Must not know: what policies do. Start reading at `load_policy`.
An entry point is a function of a profile and priors that returns a `core.recrawl.policies.RecrawlPolicy`; it is loaded
only when its name is requested. Our own names come first.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from honeyguide.core.recrawl.policies import POLICIES
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from honeyguide.core.recrawl.policies import RecrawlPolicy
    from honeyguide.core.recrawl.priors import Priors
    from honeyguide.core.rules.profile import Profile


GROUP = "honeyguide.policies"


def policy_names() -> list[str]:
    """List the names of all policies, our own first."""
    others = {entry.name for entry in entry_points(group=GROUP)} - POLICIES.keys()
    return [*POLICIES, *sorted(others)]


def load_policy(name: str, profile: Profile, priors: Priors) -> RecrawlPolicy:
    """Make the policy of that name."""
    if name in POLICIES:
        return POLICIES[name](profile, priors)
    for entry in entry_points(group=GROUP, name=name):
        try:
            policy: RecrawlPolicy = entry.load()(profile, priors)
        except Exception as error:  # whatever the code of another package raises
            raise InputError(
                f"the policy {shown(name)} of {entry.value} cannot be made: {type(error).__name__}: {error}"
            ) from error
        return policy
    known = ", ".join(policy_names())
    raise InputError(f"there is no policy {shown(name)}; there are {known}")
