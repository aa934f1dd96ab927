"""Tools for one URL, page or profile: links, url, score, profile."""
