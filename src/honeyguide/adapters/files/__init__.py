"""Files that users name, read: rows, links, sites, labels, Parquet."""
