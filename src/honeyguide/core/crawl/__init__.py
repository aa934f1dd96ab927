"""The crawl as pure data: the state machine, the frontier, judging pages and links, traps, limits."""
