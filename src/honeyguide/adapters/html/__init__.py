"""HTML on selectolax: pages, links, main content, sitemaps, feeds, and links in Markdown."""
