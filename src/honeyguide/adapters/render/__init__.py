"""Pages that scripts make: a browser without a network, whose requests our own fetcher answers. Owns playwright."""
