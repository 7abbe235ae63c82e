def mean(numbers):
    """Return the mean of the numbers, or 0 if there are none.

    >>> mean([1, 2, 3])
    2.0
    >>> mean([])
    0
    """
    if len(numbers) == 0:
        return 0
    else:
        return sum(numbers) / len(numbers)
