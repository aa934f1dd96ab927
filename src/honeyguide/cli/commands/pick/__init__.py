"""Commands that choose pages of a site: pick, select, eval, demo."""
