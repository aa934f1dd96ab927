"""The command line: arguments, tables, sentences, exit codes. Start reading at `main.py`."""
