"""HTML on selectolax: pages, links, main content as Markdown, sitemaps and feeds."""
