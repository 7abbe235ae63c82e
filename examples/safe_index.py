def safe_index(items, wanted):
    """Return the index of the wanted item, or -1 if it is not there.

    >>> safe_index(["a", "b"], "b")
    1
    >>> safe_index(["a", "b"], "z")
    -1
    """
    if wanted in items:
        return items.index(wanted)
    else:
        return -1
