"""The pure core: no network, disk, clock, randomness, logging or async. Same input, same output, byte for byte."""
