"""The rule language: conditions, facts, scorecards, their compiler, and the profile that holds them."""
