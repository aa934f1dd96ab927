"""Commands on single URLs, pages and profiles: url, links, score, profile."""
