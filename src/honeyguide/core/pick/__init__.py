"""Choosing the pages of a site: selection, location pages, and how good the picks are."""
