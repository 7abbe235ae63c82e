def larger(a, b):
    """Return the larger of a and b.

    >>> larger(1, 2)
    2
    >>> larger(7, 3)
    7
    """
    if a > b:
        return a
    else:
        return b
