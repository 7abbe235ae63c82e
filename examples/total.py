def total(numbers):
    """Return the sum of the numbers of a list, recursively.

    >>> total([1, 2, 3])
    6
    >>> total([])
    0
    """
    if not numbers:
        return 0
    else:
        return numbers[0] + total(numbers[1:])
