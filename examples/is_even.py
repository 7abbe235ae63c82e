def is_even(n):
    """Return whether n is even.

    >>> is_even(4)
    True
    >>> is_even(7)
    False
    """
    if n % 2 == 0:
        return True
    else:
        return False
