"""Text from strangers: folded, matched by patterns, searched for keywords, made safe to print."""
