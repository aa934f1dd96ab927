"""Commands about crawls: crawl, explain, export, runs."""
