"""Files of rows, and rules over their columns: known URLs, links, pages as CSV, JSON lines or Parquet.

Owns: opening them (`known.py`, `rowfiles.py`), what rows mean (`link_rows.py`, `page_rows.py`), the rules as columns
(`bulk.py`, `columns.py`, `text_tests.py`, `dialect.py`, `signal_columns.py`, `link_columns.py`, `rate_columns.py`), ranking
(`ranker.py`, `rate_ranker.py`) and plans as tables (`plan_tables.py`). Must not know: the network, stores. Start reading at
`known.open_known`. Columns need polars, an extra: whoever needs these modules imports them when it does.
"""
