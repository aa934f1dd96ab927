"""The composition root: everything that a command, a page, a plug-in or a notebook needs, as data.

Owns: putting core, jobs and adapters together. Must not know: options, terminals, sentences for people. Each module has
one use; `tools` has those for a single URL, page or profile. The public names are listed in `honeyguide/__init__.py`.
"""
