"""A small company site of our own, for the first run: its pages, and a server for them.

Owns: the made-up company Larkspur Fire, and nothing else. Start reading at `server.py`.
"""
