def split_signs(numbers):
    """Split numbers into negative ones and all others.

    >>> split_signs([1, -2, 3, -4])
    ([-2, -4], [1, 3])
    """
    negative = []
    positive = []
    for number in numbers:
        if number < 0:
            negative.append(number)
        else:
            positive.append(number)
    return negative, positive
