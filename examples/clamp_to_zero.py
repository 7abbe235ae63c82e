def clamp_to_zero(x):
    """Return x, or zero if it is negative.

    >>> clamp_to_zero(-2)
    0
    >>> clamp_to_zero(3)
    3
    """
    if x < 0:
        return 0
    else:
        return x
