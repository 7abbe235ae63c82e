def smaller(a, b):
    """Return the smaller of a and b.

    >>> smaller(1, 2)
    1
    >>> smaller(7, 3)
    3
    """
    if a < b:
        return a
    else:
        return b
