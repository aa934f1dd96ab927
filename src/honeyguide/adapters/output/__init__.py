"""Files that we write: in one step, resumable after a kill, as tables, WARC or a folder of Markdown."""
