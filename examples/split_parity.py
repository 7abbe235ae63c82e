def split_parity(numbers):
    """Split numbers into even and odd ones.

    >>> split_parity([1, 2, 3, 4])
    ([2, 4], [1, 3])
    """
    even = []
    odd = []
    for number in numbers:
        if number % 2 == 0:
            even.append(number)
        else:
            odd.append(number)
    return even, odd
