"""A running crawl or watch on the terminal: the work, its lines, and the words at its end."""
