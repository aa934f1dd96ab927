"""What every adapter of a port promises, as test suites that any implementation can run."""
