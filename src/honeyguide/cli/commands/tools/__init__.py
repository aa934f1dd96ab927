"""Commands on single parts: links and pages, URLs, profiles."""
