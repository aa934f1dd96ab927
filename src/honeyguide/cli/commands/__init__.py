"""One module per command, grouped by job: pick, crawl, plan, and the tools on single URLs and files."""
