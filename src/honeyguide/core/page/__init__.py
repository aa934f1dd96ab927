"""Pages and links as plain data: what they are, when two say the same, when one is not worth its place."""
