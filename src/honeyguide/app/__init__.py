"""The composition root: everything that a command, a page, a plug-in or a notebook needs, as data.

Owns: putting core, jobs and adapters together. Must not know: options, terminals, sentences for people. Each module has
one use; `pick` and `tools` are folders, as in `cli.commands`. The public names are listed in `honeyguide/__init__.py`.
"""
