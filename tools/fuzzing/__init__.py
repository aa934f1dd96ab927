"""Fuzzing: hostile input, made by seed, for everything that reads what strangers write.

`making` makes documents, `running` runs them and measures, `coverage` says which of them were new, and `targets` and
its neighbours hold what is read and what must hold. Start reading at `running.fuzz`.
"""
