"""Bytes to pages and lists: HTML, main content, sitemaps, feeds.

Owns: `documents.py` (the port), `html.py` with `dom.py`, `walk.py`, `elements.py`, `about.py` and `charset.py`, the guards before the parser (`tame.py`,
`depth.py`), `content.py`, `sitemap.py`, `feed.py`. Must not know: the network, scores, stores. Start reading at
`html.parse_page`.
"""
