"""Known URLs as rankers: those of files (files.py) and those of a store (store.py)."""
