def divide(a, b):
    """Return a / b, or None if b is zero.

    >>> divide(6, 3)
    2.0
    >>> divide(1, 0)
    """
    if b == 0:
        return None
    else:
        return a / b
