"""The commands: `COMMANDS` in `cli/main.py` says which module has which."""
