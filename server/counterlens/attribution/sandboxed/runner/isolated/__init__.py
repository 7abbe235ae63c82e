"""A candidate in a separate process: its proxies in the tests' process, and the messages between the two."""
