"""A candidate in a process of its own: proxies for it beside the tests, and the messages between the two."""
