"""Choosing the pages of a site: pick, select, eval."""
