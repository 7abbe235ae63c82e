"""A candidate in a separate process: proxies for it beside the tests, and the messages between the two."""
