def first_or(items, default):
    """Return the first of the items, or the default if there are none.

    >>> first_or([3, 4], 0)
    3
    >>> first_or([], 0)
    0
    """
    if items:
        return items[0]
    else:
        return default
