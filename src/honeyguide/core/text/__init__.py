"""Text from strangers: folding, patterns, keywords, safe printing."""
