"""TOML to profiles: finding, merging, checking, hashing.

Owns: where profiles come from and how their mistakes are told. Must not know: what the rules mean (core does).
Start reading at `load_profile`. `shape` has the allowed keys, `check` says what is wrong with the tables of others,
`mend` puts stand-ins there so that the rest can be checked too, `conditions` reads `when`, `build` puts it together.
"""

from honeyguide.config.files import bundled_profiles, profile_source
from honeyguide.config.load import load_profile

__all__ = ["bundled_profiles", "load_profile", "profile_source"]
