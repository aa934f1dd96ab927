"""Commands about what to fetch next: plan, watch, simulate."""
