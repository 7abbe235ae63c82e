def sign(x):
    """Return -1 for negative numbers and 1 for all others.

    >>> sign(-3)
    -1
    >>> sign(5)
    1
    """
    if x < 0:
        return -1
    else:
        return 1
