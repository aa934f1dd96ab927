"""Where crawls and their history are kept."""
