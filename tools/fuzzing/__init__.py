"""Fuzzing: hostile input, made by seed, for everything that reads what strangers write.

`making` makes documents, `running` runs them and measures; `addresses`, `web`, `files` and `stores` hold what is read
and what must hold of it. Start reading at `running.fuzz`. Letting cases that reach new lines become seeds was tried:
the pieces and seeds of the targets reach the same lines without it.
"""
