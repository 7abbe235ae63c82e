def power(base, exponent):
    """Return base to the power of a non-negative exponent.

    >>> power(2, 5)
    32
    >>> power(7, 0)
    1
    """
    if exponent == 0:
        return 1
    else:
        return base * power(base, exponent - 1)
