"""Side by side with named peers: the same input, one run, ratios. Start with `python -m bench`."""
