def contains(items, wanted):
    """Return whether the wanted item is among the items.

    >>> contains([1, 2, 3], 2)
    True
    >>> contains([1, 2, 3], 9)
    False
    """
    for item in items:
        if item == wanted:
            return True
        else:
            continue
    return False
