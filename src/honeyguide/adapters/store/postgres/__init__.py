"""The store in a PostgreSQL database, for several machines on one crawl."""
