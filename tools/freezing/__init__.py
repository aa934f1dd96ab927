"""What `golden.py` is made of: the commands it runs, how their output is frozen, and how two sets are compared."""
