"""From a parsed page to Markdown: start reading at `content.py` beside this folder."""
