def gcd(a, b):
    """Return the greatest common divisor of a and b.

    >>> gcd(12, 18)
    6
    >>> gcd(7, 3)
    1
    """
    if b == 0:
        return a
    else:
        return gcd(b, a % b)
