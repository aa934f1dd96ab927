"""What the jobs need from the world, as Protocols: fetching, the store, ranking."""
