"""Fakes, a store in memory, and contract suites for whoever writes an adapter or a plug-in."""
