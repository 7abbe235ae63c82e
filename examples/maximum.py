def maximum(numbers):
    """Return the largest number of a list, or None if it is empty.

    >>> maximum([1, 5, 3])
    5
    >>> maximum([])
    """
    best = None
    for number in numbers:
        if best is None or number > best:
            best = number
        else:
            continue
    return best
