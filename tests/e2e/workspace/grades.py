"""Marks, as a small class of students gets them."""


def longest_run(values):
    """The length of the longest run of equal neighbours.

    >>> longest_run([1, 1, 2, 2, 2, 3])
    3
    >>> longest_run([])
    0
    """
    best = 0
    current = 0
    previous = None
    for value in values:
        if value == previous:
            current += 1
        else:
            current = 1
        if current > best:
            best = current
        previous = value
    return best


def grade(points):
    """The grade for a number of points.

    >>> grade(95)
    'A'
    >>> grade(40)
    'F'
    """
    if points >= 90:
        letter = "A"
    else:
        letter = "F"
    return letter
