def parity(n):
    """Say whether n is even or odd.

    >>> parity(4)
    'even'
    >>> parity(7)
    'odd'
    """
    if n % 2 == 0:
        return "even"
    else:
        return "odd"
