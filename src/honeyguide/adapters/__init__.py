"""I/O and third-party libraries: each file owns one of them."""
