def fizz(n):
    """Return 'fizz' for multiples of three and the number itself otherwise.

    >>> fizz(9)
    'fizz'
    >>> fizz(4)
    4
    """
    if n % 3 == 0:
        return "fizz"
    else:
        return n
