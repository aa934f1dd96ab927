"""What a person looks at: picks that are replayed with other rules, and the runs of a store page by page."""
