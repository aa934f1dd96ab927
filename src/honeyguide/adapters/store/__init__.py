"""Where crawls and their history are kept: a SQLite file, and its twin in memory.

Owns: `sqlite.py` (the store), `frontier.py`, `history.py`, `ledger.py` (what became of URLs), `owners.py` (who holds leases),
`counters.py`, the SQL in `sql/` with `queries.py` and `schema.py`; `memory*.py` behind the same ports; and `stored.py`, which
opens a store as a table that can be ranked. Must not know: rules, pages, the network. Start reading at `sqlite.SqliteStore`.
"""
