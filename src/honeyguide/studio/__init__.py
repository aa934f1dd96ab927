"""The studio: a page in the browser, served on this machine, to look at picks, crawls and plans, and to try other rules.

Must not know: how anything is decided or stored; it asks `honeyguide.app` and draws with `honeyguide.report`. Start reading at
`server.py`; `shell.py` is the frame of every page, `picks.py`, `what_if.py`, `crawls.py`, `live.py` and
`plans.py` are the views, `saving.py` writes what the user saves.
"""
