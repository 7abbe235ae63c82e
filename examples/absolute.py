def absolute(x):
    """Return the absolute value of x.

    >>> absolute(-3)
    3
    >>> absolute(5)
    5
    """
    if x < 0:
        return -x
    else:
        return x
