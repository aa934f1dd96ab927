"""When to visit known pages again: history, change rates, policies, ranking."""
