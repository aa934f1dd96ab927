"""URLs: normalisation (URL-1 to URL-8), hosts, and which links belong to a site (URL-9 to URL-11)."""
