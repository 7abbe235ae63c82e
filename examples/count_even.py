def count_even(numbers):
    """Count the even numbers.

    >>> count_even([1, 2, 4])
    2
    >>> count_even([])
    0
    """
    count = 0
    for number in numbers:
        if number % 2 == 0:
            count += 1
        else:
            continue
    return count
